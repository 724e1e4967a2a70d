//! Files and streams read within a limit.
//!
//! A path may name a device that never ends, or a FIFO without a writer. Such a path is refused before it is opened, and
//! the limit counts the bytes that arrive: the length that the file system reports may be zero (`/proc`) or grow meanwhile.
//!
//! This crate knows nothing of scripts, settings and how errors are shown.

use std::fs::{File, FileType, Metadata};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Reads a regular file; at most `bytes_max` bytes.
///
/// # Errors
/// The file cannot be read, is larger, or is a directory, device, FIFO or socket.
pub fn read_regular(path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    must_be_regular(&metadata)?;
    if metadata.len() > bytes_max {
        return Err(too_large(bytes_max));
    }
    read_stream(File::open(path)?, bytes_max)
}

/// Opens a regular file, to be read piece by piece.
///
/// # Errors
/// The file cannot be read, or is a directory, device, FIFO or socket.
pub fn open_regular(path: &Path) -> Result<File> {
    must_be_regular(&std::fs::metadata(path)?)?;
    File::open(path)
}

/// Reads a file that the user names; at most `bytes_max` bytes. It may be a pipe of the shell, such as `<(…)` and `/dev/stdin`.
///
/// # Errors
/// The file cannot be read, is larger, or is a directory.
pub fn read_given(path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    if std::fs::metadata(path)?.is_dir() {
        return Err(Error::new(ErrorKind::IsADirectory, "it is a directory"));
    }
    read_stream(File::open(path)?, bytes_max)
}

/// The same as text in UTF-8.
///
/// # Errors
/// As above, or the file is not UTF-8 text.
pub fn read_given_text(path: &Path, bytes_max: u64) -> Result<String> {
    String::from_utf8(read_given(path, bytes_max)?)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Reads a stream to its end; at most `bytes_max` bytes.
///
/// # Errors
/// The stream cannot be read, or is longer.
pub fn read_stream(stream: impl Read, bytes_max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(too_large(bytes_max));
    }
    Ok(bytes)
}

fn must_be_regular(metadata: &Metadata) -> Result<()> {
    let Some(kind) = irregular(metadata.file_type()) else { return Ok(()) };
    let error = if metadata.is_dir() { ErrorKind::IsADirectory } else { ErrorKind::InvalidInput };
    Err(Error::new(error, format!("it is a {kind}, and only regular files are read")))
}

fn irregular(kind: FileType) -> Option<&'static str> {
    Some(match kind {
        _ if kind.is_file() => return None,
        _ if kind.is_dir() => "directory",
        _ if kind.is_fifo() => "FIFO",
        _ if kind.is_socket() => "socket",
        _ => "device",
    })
}

fn too_large(bytes_max: u64) -> Error {
    let limit = match bytes_max >> 20 {
        0 => format!("{bytes_max} bytes"),
        mebibytes => format!("{mebibytes} MiB"),
    };
    Error::new(ErrorKind::FileTooLarge, format!("it is larger than {limit}, which is the limit"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &Path, bytes_max: u64, expect: std::result::Result<&[u8], &str>) {
        match (read_regular(path, bytes_max), expect) {
            (Ok(bytes), Ok(expect)) => assert_eq!(bytes, expect),
            (Err(error), Err(expect)) => assert!(error.to_string().contains(expect), "{error}"),
            (got, expect) => panic!("{got:?}, expected {expect:?}"),
        }
    }

    #[test]
    fn regular_files_are_read_up_to_the_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "abc").expect("written");
        check(&path, 3, Ok(b"abc"));
        check(&path, 2, Err("larger than 2 bytes"));
        check(&folder.path().join("b"), 3, Err("No such file"));
        // Its length is zero for the file system.
        assert!(open_regular(&path).is_ok());
        assert!(read_regular(Path::new("/proc/self/status"), 1 << 20).is_ok_and(|bytes| !bytes.is_empty()));
        check(Path::new("/proc/self/status"), 3, Err("larger than 3 bytes"));
    }

    #[test]
    fn other_kinds_of_files_are_refused_without_opening_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let fifo = folder.path().join("fifo");
        assert!(
            std::process::Command::new("mkfifo").arg(&fifo).status().is_ok_and(|status| status.success())
        );
        check(&fifo, 3, Err("it is a FIFO, and only regular files are read"));
        check(Path::new("/dev/zero"), 3, Err("it is a device"));
        assert!(open_regular(&fifo).is_err_and(|error| error.to_string().contains("it is a FIFO")));
        check(folder.path(), 3, Err("it is a directory"));
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
        check(&socket, 3, Err("it is a socket"));
    }

    #[test]
    fn a_file_that_the_user_names_may_be_a_pipe() {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        std::io::Write::write_all(&mut writer, b"abc").expect("it is read");
        drop(writer);
        let path = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
        assert_eq!(read_given(Path::new(&path), 3).ok().as_deref(), Some(&b"abc"[..]));
        let endless = read_given(Path::new("/dev/zero"), 3);
        assert!(endless.is_err_and(|error| error.to_string().contains("larger than 3 bytes")));
        assert!(read_given(Path::new("/"), 3).is_err_and(|error| error.to_string().contains("directory")));
    }

    #[test]
    fn text_is_utf_8() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        std::fs::write(&path, b"a\xff").expect("written");
        assert!(read_given_text(&path, 3).is_err_and(|error| error.to_string().contains("UTF-8")));
    }
}
