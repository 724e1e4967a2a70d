//! Where bytes go: a file, a compressed file, or standard output.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::OutputError;

/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 64 * 1024;

/// An open destination.
pub(crate) enum Sink {
    Plain(BufWriter<Box<dyn Write + Send>>),
    Gzip(GzEncoder<BufWriter<File>>),
}

/// Standard output's name in `--out`.
const STDOUT: &str = "-";

impl Sink {
    /// Opens `path`: standard output for none and for `-`, compressed for a name that ends in `.gz`.
    pub(crate) fn open(path: &str) -> Result<Sink, OutputError> {
        if path.is_empty() || path == STDOUT {
            return Ok(Sink::Plain(BufWriter::with_capacity(BUFFER_BYTES, Box::new(io::stdout()))));
        }
        let file =
            File::create(path).map_err(|source| OutputError::Create { path: path.to_owned(), source })?;
        Ok(if path.ends_with(".gz") {
            let buffered = BufWriter::with_capacity(BUFFER_BYTES, file);
            Sink::Gzip(GzEncoder::new(buffered, Compression::default()))
        } else {
            Sink::Plain(BufWriter::with_capacity(BUFFER_BYTES, Box::new(file)))
        })
    }

    /// The destination's name for messages.
    pub(crate) fn name(path: &str) -> &str {
        if path.is_empty() || path == STDOUT { "stdout" } else { path }
    }

    /// Writes what is gathered, and the end of a compressed file.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Sink::Plain(mut plain) => plain.flush(),
            Sink::Gzip(gzip) => gzip.finish()?.flush(),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Plain(plain) => plain.write(bytes),
            Sink::Gzip(gzip) => gzip.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Plain(plain) => plain.flush(),
            Sink::Gzip(gzip) => gzip.flush(),
        }
    }
}
