//! Random numbers, from the operating system's by way of a generator per thread.

use rand::Rng;

/// Fills a slice.
pub fn fill(bytes: &mut [u8]) {
    rand::rng().fill_bytes(bytes);
}

/// So many random bytes.
pub fn bytes(count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    fill(&mut bytes);
    bytes
}

/// A random UUID, version 4 (RFC 9562, 5.4).
pub fn uuid() -> String {
    let mut bytes = [0_u8; 16];
    fill(&mut bytes);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_uuid_says_its_version() {
        let uuid = super::uuid();
        assert_eq!(uuid.len(), 36, "{uuid}");
        assert_eq!(uuid.as_bytes()[14], b'4', "{uuid}");
        assert!(b"89ab".contains(&uuid.as_bytes()[19]), "{uuid}");
        assert_ne!(uuid, super::uuid());
    }
}
