//! Metadata: keys and values beside the messages.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Why metadata cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// The key has characters that none may have.
    #[error("header key {0:?} contains illegal characters not in [0-9a-z-_.]")]
    Key(String),
    /// The value has characters that only binary ones may have.
    #[error(
        "header key {0:?} contains value with non-printable ASCII characters; binary values need a key that ends in \"-bin\""
    )]
    Value(String),
}

/// Checks a key in lower case with its value.
///
/// # Errors
/// One of them cannot be sent.
pub fn check(key: &str, value: &[u8]) -> Result<(), MetadataError> {
    let is_of_key = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'-' | b'_' | b'.');
    if key.is_empty() || !key.bytes().all(is_of_key) {
        return Err(MetadataError::Key(key.to_owned()));
    }
    if !is_binary(key) && !value.iter().all(|byte| (0x20..=0x7e).contains(byte)) {
        return Err(MetadataError::Value(key.to_owned()));
    }
    Ok(())
}

/// Whether a key's values are bytes.
pub(crate) fn is_binary(key: &str) -> bool {
    key.ends_with("-bin")
}

const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_encode_padding(false)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

/// The text that carries a binary value.
pub fn encode_binary(value: &[u8]) -> String {
    GeneralPurpose::new(&STANDARD, CONFIG).encode(value)
}

/// The bytes that a text carries under a key that ends in `-bin`; `None` for any other key, and for what is no base64.
pub fn decode_binary(key: &str, text: &[u8]) -> Option<Vec<u8>> {
    if !is_binary(key) {
        return None;
    }
    GeneralPurpose::new(&STANDARD, CONFIG).decode(text.trim_ascii()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values() {
        assert_eq!(check("x-a_b.9", b"printable ~"), Ok(()));
        assert_eq!(check("x-bin", b"\xff\x00"), Ok(()));
        assert_eq!(check("X", b""), Err(MetadataError::Key("X".into())));
        assert_eq!(check("", b""), Err(MetadataError::Key(String::new())));
        assert_eq!(check("a:b", b""), Err(MetadataError::Key("a:b".into())));
        assert_eq!(check("x", b"a\nb"), Err(MetadataError::Value("x".into())));
    }

    #[test]
    fn binary_values_travel_as_text() {
        assert_eq!(encode_binary(&[0xff, 0]), "/wA");
        assert_eq!(decode_binary("x-bin", b"/wA="), Some(vec![0xff, 0]));
        assert_eq!(decode_binary("x-bin", b"/wA"), Some(vec![0xff, 0]));
        assert_eq!(decode_binary("x", b"/wA"), None);
        assert_eq!(decode_binary("x-bin", b"?"), None);
    }
}
