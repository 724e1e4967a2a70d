//! Files and streams as text, within a limit.

use std::path::Path;

/// Reads a file as text, replacing invalid UTF-8; at most `bytes_max` bytes.
///
/// # Errors
/// The file cannot be read, or is larger.
pub fn read_limited(path: &Path, bytes_max: u64) -> std::io::Result<String> {
    let file = std::fs::File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(std::io::Error::new(std::io::ErrorKind::IsADirectory, "it is a directory"));
    }
    read_text(file, bytes_max)
}

/// Reads a stream as text, replacing invalid UTF-8; at most `bytes_max` bytes.
///
/// # Errors
/// The stream cannot be read, or is longer.
pub fn read_text(stream: impl std::io::Read, bytes_max: u64) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(stream, bytes_max + 1), &mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let text = format!("it is larger than {} MiB", bytes_max >> 20);
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, text));
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
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
