//! Reads files of other tools, compressed or not, and reports progress.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use flate2::bufread::MultiGzDecoder;
use import::{HEAD_BYTES, Kind, WHOLE_BYTES_MAX};
use model::{Instant, SystemClock};
use runs::bounded::read_text;
use runs::{Exit, Failure};
use session::logger::Logger;

/// Magic number of gzip (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

const BUFFER_BYTES: usize = 256 << 10;

/// Interval between progress messages.
const REPORT_EVERY: Duration = Duration::from_secs(3);

/// The receiver of progress messages.
pub(in crate::verbs) struct Watch {
    pub(in crate::verbs) label: String,
    /// The log; `None` hides progress.
    pub(in crate::verbs) logger: Option<Arc<Logger>>,
}

/// A file that reports its reading progress.
struct Watched {
    file: File,
    read_bytes: u64,
    all_bytes: u64,
    reported: Instant,
    label: String,
    logger: Option<Arc<Logger>>,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read_bytes += count as u64;
        let now = SystemClock::now();
        if let Some(logger) = self.logger.as_ref().filter(|_| now.since(self.reported) >= REPORT_EVERY) {
            self.reported = now;
            let percent = self.read_bytes.saturating_mul(100) / self.all_bytes.max(1);
            logger.report(&format!("{}, {percent} %", self.label));
        }
        Ok(count)
    }
}

/// Opens a file and decompresses it if necessary.
///
/// # Errors
/// The file cannot be read.
pub(in crate::verbs) fn open(path: &Path, watch: &Watch) -> Result<Box<dyn BufRead>, Failure> {
    watched(File::open(path), &path.display().to_string(), watch)
}

/// Opens standard input as a file, by its descriptor: `/dev/stdin` leads through `/proc`, which containers may lack.
///
/// # Errors
/// It cannot be read.
pub(in crate::verbs) fn open_standard_input(watch: &Watch) -> Result<Box<dyn BufRead>, Failure> {
    let descriptor = std::io::stdin().as_fd().try_clone_to_owned();
    watched(descriptor.map(File::from), "standard input", watch)
}

fn watched(file: std::io::Result<File>, name: &str, watch: &Watch) -> Result<Box<dyn BufRead>, Failure> {
    let fail = |error: std::io::Error| Failure::new(Exit::Other, format!("failed to read {name}: {error}"));
    let file = file.map_err(fail)?;
    let metadata = file.metadata().map_err(fail)?;
    if metadata.is_dir() {
        return Err(fail(std::io::Error::new(std::io::ErrorKind::IsADirectory, "it is a directory")));
    }
    let watched = Watched {
        file,
        read_bytes: 0,
        all_bytes: metadata.len(),
        reported: SystemClock::now(),
        label: watch.label.clone(),
        logger: watch.logger.clone(),
    };
    let mut plain = BufReader::with_capacity(BUFFER_BYTES, watched);
    let is_compressed = plain.fill_buf().map_err(fail)?.starts_with(&GZIP);
    Ok(match is_compressed {
        true => Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(plain))),
        false => Box::new(plain),
    })
}

/// Returns the given format, or detects it.
///
/// # Errors
/// The file cannot be read, or its format is unknown.
pub(super) fn kind_of(path: &Path, declared: Option<Kind>) -> Result<Kind, Failure> {
    if let Some(kind) = declared {
        return Ok(kind);
    }
    let mut head = Vec::new();
    let mut input = open(path, &Watch { label: String::new(), logger: None })?.take(HEAD_BYTES as u64);
    // A truncated compressed file may still reveal its format.
    let _ = input.read_to_end(&mut head);
    Kind::detect(&head).ok_or_else(|| {
        let all: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
        let text = format!(
            "failed to import {}: unrecognised format; specify one of {}",
            path.display(),
            all.join(", ")
        );
        Failure::new(Exit::Other, text)
    })
}

/// Returns a file's text as a whole.
///
/// # Errors
/// The file cannot be read, or is larger than any summary.
pub(super) fn read_whole(path: &Path) -> Result<String, Failure> {
    let input = open(path, &Watch { label: String::new(), logger: None })?;
    read_text(input, WHOLE_BYTES_MAX)
        .map_err(|error| Failure::new(Exit::Other, format!("failed to read {}: {error}", path.display())))
}
