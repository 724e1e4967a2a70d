//! `grpc.health.v1.Health`, whose messages are small enough to write by hand.

use crate::error::DecodeError;
use crate::raw::{Raw, Reader, put_bytes};

/// The method.
pub const CHECK_PATH: &str = "/grpc.health.v1.Health/Check";

/// The request for a service's health; the empty name stands for the server.
pub fn request(service: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(service.len() + 8);
    if !service.is_empty() {
        put_bytes(&mut out, 1, service.as_bytes());
    }
    out
}

/// The health that a response states: 0 unknown, 1 serving, 2 not serving, 3 service unknown.
///
/// # Errors
/// It is no response.
pub fn status_of(response: &[u8]) -> Result<u32, DecodeError> {
    let (mut reader, mut status) = (Reader::new(response), 0);
    while let Some((number, raw)) = reader.next_field()? {
        if let (1, Raw::Varint(value)) = (number, raw) {
            status = value as u32;
        }
    }
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages() {
        assert_eq!(request(""), b"");
        assert_eq!(request("a.B"), b"\x0a\x03a.B");
        assert_eq!(status_of(b"").unwrap(), 0);
        assert_eq!(status_of(b"\x08\x02").unwrap(), 2);
        assert!(status_of(b"\x08").is_err());
    }
}
