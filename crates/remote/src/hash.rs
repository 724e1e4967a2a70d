//! SHA-256 of a module, as hexadecimal digits.

use sha2::{Digest, Sha256};

/// A SHA-256 in 64 lowercase hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hash(String);

impl Hash {
    /// The hash of some bytes.
    pub fn digest(bytes: &[u8]) -> Hash {
        Hash(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The same from its digits; `None` when they are not 64 lowercase ones.
    pub fn parse(text: &str) -> Option<Hash> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (text.len() == 64 && text.bytes().all(is_digit)).then(|| Hash(text.to_owned()))
    }

    /// Its digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Hash {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_sha_256() {
        // FIPS 180-4, the example of one block.
        let expect = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Hash::digest(b"abc").as_str(), expect);
        assert_eq!(Hash::parse(expect), Some(Hash::digest(b"abc")));
    }

    #[test]
    fn nothing_else_is_one() {
        for text in ["", "../../etc/passwd", &"A".repeat(64), &"g".repeat(64), &"a".repeat(63)] {
            assert_eq!(Hash::parse(text), None, "{text}");
        }
    }
}
