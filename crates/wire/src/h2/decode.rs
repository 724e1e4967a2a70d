//! From HTTP/2 header fields to a response's head, which all readers know as lines of text.

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, SET_COOKIE};

use crate::headers::{Headers, Noted};
use crate::status::status_text;

/// The version as k6 spells it.
pub(super) const PROTO: &str = "HTTP/2.0";

/// Status and fields as the lines of an HTTP/1.1 head. HTTP/2 has no reason phrase; as in Go, it is the usual one.
pub(super) fn head(status: u16, fields: &HeaderMap) -> Headers {
    let size: usize = fields.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    let mut head = Vec::with_capacity(size + 64);
    head.extend_from_slice(format!("{PROTO} {status} {}\r\n", status_text(status)).as_bytes());
    for (name, value) in fields {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    let noted = Noted {
        sets_cookies: fields.contains_key(SET_COOKIE),
        is_coded: fields.contains_key(CONTENT_ENCODING),
    };
    Headers::new(Bytes::from(head), noted)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn fields_become_lines() {
        let mut fields = HeaderMap::new();
        fields.append("content-encoding", HeaderValue::from_static("br"));
        fields.append("x-a", HeaderValue::from_static("1"));
        fields.append("x-a", HeaderValue::from_bytes(b"\xff").unwrap());
        let head = head(404, &fields);
        assert_eq!(
            head.as_bytes(),
            b"HTTP/2.0 404 Not Found\r\ncontent-encoding: br\r\nx-a: 1\r\nx-a: \xff\r\n\r\n"
        );
        assert_eq!(head.get("X-A"), Some(&b"1"[..]));
        assert_eq!(head.noted(), Noted { sets_cookies: false, is_coded: true });
    }
}
