//! Random names, for what has to be new each time.

use std::fmt::Write as _;

/// `bytes` random bytes in hexadecimal.
pub(crate) fn hex(bytes: usize) -> String {
    let mut random = vec![0; bytes];
    // Where the system has no randomness, zeros still make a valid boundary and a valid client nonce, and nothing
    // here is a secret.
    let _ = getrandom::fill(&mut random);
    to_hex(&random)
}

/// `bytes` in lower-case hexadecimal.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
