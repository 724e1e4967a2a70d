//! Files and streams as text, within a limit.

use std::path::Path;

/// Reads a file that the user names as text, replacing invalid UTF-8; at most `bytes_max` bytes. It may be a pipe.
///
/// # Errors
/// The file cannot be read, is larger, or is a directory.
pub fn read_limited(path: &Path, bytes_max: u64) -> std::io::Result<String> {
    files::read_given(path, bytes_max).map(lossy)
}

/// Reads a stream as text, replacing invalid UTF-8; at most `bytes_max` bytes.
///
/// # Errors
/// The stream cannot be read, or is longer.
pub fn read_text(stream: impl std::io::Read, bytes_max: u64) -> std::io::Result<String> {
    files::read_stream(stream, bytes_max).map(lossy)
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_beyond_the_limit_is_refused() {
        assert_eq!(read_text(&b"abc"[..], 3).ok().as_deref(), Some("abc"));
        assert!(read_text(&b"abcd"[..], 3).is_err());
        assert_eq!(read_text(&b"a\xff"[..], 3).ok().as_deref(), Some("a\u{fffd}"));
    }
}
