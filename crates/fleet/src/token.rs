//! The token file: the secret that agents show, and the certificate that they expect.

use bytes::Bytes;

/// The first word of a token file: its version.
const PREFIX: &str = "plimsoll-agent-1";

/// Bytes of a token.
const TOKEN_BYTES: usize = 32;

/// The largest token file, bytes.
pub const TOKEN_FILE_BYTES_MAX: u64 = 4096;

/// A run's token, and the SHA-256 of its hub's certificate where the connection is encrypted.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// The secret.
    pub secret: Bytes,
    /// SHA-256 of the certificate.
    pub certificate: Option<[u8; 32]>,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

/// The error in a token file. Its text never shows what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it is no token file: expected the line that `plimsoll run --agents-listen … --token-file FILE` writes"
)]
pub struct TokenError;

impl Token {
    /// A new token from random bytes.
    pub fn new(random: [u8; TOKEN_BYTES], certificate: Option<[u8; 32]>) -> Token {
        Token { secret: Bytes::copy_from_slice(&random), certificate }
    }

    /// The line of the file.
    pub fn to_line(&self) -> String {
        let certificate = self.certificate.map_or_else(|| "-".to_owned(), |sha256| hex(&sha256));
        format!("{PREFIX} {} {certificate}", hex(&self.secret))
    }

    /// Reads the line of the file.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(text: &str) -> Result<Token, TokenError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [PREFIX, secret, certificate] = words[..] else { return Err(TokenError) };
        let certificate = match certificate {
            "-" => None,
            text => Some(unhex(text).and_then(|bytes| bytes.try_into().ok()).ok_or(TokenError)?),
        };
        let secret = unhex(secret).filter(|bytes| bytes.len() == TOKEN_BYTES).ok_or(TokenError)?;
        Ok(Token { secret: secret.into(), certificate })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        for certificate in [None, Some([7; 32])] {
            let token = Token::new([200; 32], certificate);
            assert_eq!(Token::parse(&format!("{}\n", token.to_line())), Ok(token));
        }
    }

    #[test]
    fn other_files_are_refused_without_being_shown() {
        let good = Token::new([1; 32], None).to_line();
        for text in [
            "",
            "secret",
            &good.replace('-', "x"),
            &good[..40],
            "plimsoll-agent-1 zz -",
            "plimsoll-agent-1 +1 -",
        ] {
            assert_eq!(Token::parse(text), Err(TokenError), "{text}");
            assert!(!TokenError.to_string().contains("secret"));
        }
        assert!(!format!("{:?}", Token::new([0xab; 32], None)).contains("ab"));
    }
}
