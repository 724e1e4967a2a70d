//! One file at every second of a run: changed pages behind the last page of the file, until they are in their places.
//!
//! SQLite writes a transaction into a log beside the file, and copies the log's pages into the file later. A process that is
//! killed while it copies leaves a file that cannot be read without its log. So the pages that are about to be copied are
//! appended to the file first, behind the pages that its header counts, where SQLite does not look. A reader that finds a file
//! without its log and with such pages applies them to a copy. Copying the pages to their places ends with cutting the file to
//! its pages, which removes them.
//!
//! Nothing here is flushed to the disk: after a loss of power the log is there, and only processes are killed without it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use model::{Clock, Instant, SystemClock};
use rusqlite::Connection;

use crate::beside::{LOG, beside};

/// The first bytes of the footer.
const MAGIC: &[u8; 8] = b"plimredo";
/// The layout of the pages.
const VERSION: u32 = 1;
/// Bytes of the footer: [`MAGIC`], then six integers of 32 bits, little-endian.
const FOOTER_BYTES: usize = 32;
/// Bytes of the log's header. See <https://www.sqlite.org/walformat.html>.
const LOG_HEADER_BYTES: u64 = 32;
/// Bytes before each page of the log.
const FRAME_HEADER_BYTES: u64 = 24;
/// Pages of the log that are appended, 64 MiB: more than a minute of 10,000 series. Beyond, a kill while they are copied needs the
/// log.
const FRAMES_MAX: u64 = 16_384;
/// How much longer the writer does other work than this: a slow disk must not make it fall behind the load.
const PAUSES_PER_WORK: u32 = 3;

/// The file of a run in progress, beside SQLite's connection to it.
///
/// It stays open for as long as the connection: closing any descriptor of a file drops all locks that this process holds on it
/// (`fcntl(2)`), and SQLite's are such.
#[derive(Debug)]
pub(crate) struct Redo {
    file: File,
    log: File,
    page_bytes: u64,
    not_before: Instant,
}

impl Redo {
    /// Opens the file and its log, which is there after the first transaction.
    pub(crate) fn open(path: &Path, page_bytes: u32) -> io::Result<Redo> {
        Ok(Redo {
            file: File::options().read(true).write(true).open(path)?,
            log: File::open(beside(path, LOG))?,
            page_bytes: page_bytes.into(),
            not_before: Instant::ZERO,
        })
    }

    /// Whether the file that is written is not the one at its path any more: it or its folder was deleted.
    pub(crate) fn is_gone(&self, path: &Path) -> bool {
        let identity =
            |facts: io::Result<std::fs::Metadata>| facts.ok().map(|facts| (facts.dev(), facts.ino()));
        identity(std::fs::metadata(path)) != identity(self.file.metadata())
    }

    /// Brings what the log holds into the file. Never waits for a reader. What a full disk refuses stays in the log.
    pub(crate) fn settle(&mut self, connection: &Connection) {
        let before = SystemClock.now();
        if before < self.not_before {
            return;
        }
        // The log holds what cannot be brought into the file, and the next second tries again.
        let _ = self.append(connection);
        let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        let after = SystemClock.now();
        self.not_before = after + after.since(before) * PAUSES_PER_WORK;
    }

    pub(crate) fn append(&self, connection: &Connection) -> io::Result<()> {
        let frames = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(2)?));
        let known =
            connection.query_row("PRAGMA wal_checkpoint(NOOP)", [], frames).map_err(io::Error::other)?;
        let [end, start] = [known.0, known.1].map(|frame| u64::try_from(frame).unwrap_or(0));
        if start >= end || end - start > FRAMES_MAX {
            return Ok(());
        }
        let (latest, pages) = self.frames(start..end)?;
        let mut at = pages * self.page_bytes;
        let mut hasher = crc32fast::Hasher::new();
        let mut put = |bytes: &[u8], at: &mut u64| {
            hasher.update(bytes);
            *at += bytes.len() as u64;
            self.file.write_all_at(bytes, *at - bytes.len() as u64)
        };
        let numbers: Vec<u8> = latest.keys().flat_map(|page| page.to_le_bytes()).collect();
        put(&numbers, &mut at)?;
        let mut page = vec![0; self.page_bytes as usize];
        for frame in latest.values() {
            self.log.read_exact_at(&mut page, self.frame_at(*frame) + FRAME_HEADER_BYTES)?;
            put(&page, &mut at)?;
        }
        let mut footer = MAGIC.to_vec();
        let numbers = [u64::from(VERSION), self.page_bytes, pages, latest.len() as u64];
        numbers.iter().for_each(|number| footer.extend((*number as u32).to_le_bytes()));
        footer.extend(hasher.finalize().to_le_bytes());
        footer.extend(crc32fast::hash(&footer).to_le_bytes());
        self.file.write_all_at(&footer, at)
    }

    /// The last frame of each page among these, and the pages that the file has after them.
    fn frames(&self, range: std::ops::Range<u64>) -> io::Result<(BTreeMap<u32, u64>, u64)> {
        let mut latest = BTreeMap::new();
        let mut pages = 0;
        for frame in range {
            let mut header = [0; 8];
            self.log.read_exact_at(&mut header, self.frame_at(frame))?;
            let number =
                |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
            latest.insert(number(0), frame);
            if number(4) > 0 {
                pages = u64::from(number(4));
            }
        }
        Ok((latest, pages))
    }

    fn frame_at(&self, frame: u64) -> u64 {
        LOG_HEADER_BYTES + frame * (FRAME_HEADER_BYTES + self.page_bytes)
    }
}

/// Pages behind those of a file, which belong into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    page_bytes: u64,
    /// Pages of the file when they are in it.
    pages: u64,
    /// How many there are.
    count: u64,
}

impl Pending {
    /// Finds such pages at the end of a file; `None` if there are none, or not all of them.
    pub(crate) fn find(file: &File, file_bytes: u64) -> io::Result<Option<Pending>> {
        let mut footer = [0; FOOTER_BYTES];
        let Some(end) = file_bytes.checked_sub(FOOTER_BYTES as u64) else { return Ok(None) };
        file.read_exact_at(&mut footer, end)?;
        let number =
            |at: usize| u32::from_le_bytes([footer[at], footer[at + 1], footer[at + 2], footer[at + 3]]);
        let [version, page_bytes, pages, count, body_crc32, crc32] = [8, 12, 16, 20, 24, 28].map(number);
        let is_footer = footer.starts_with(MAGIC) && version == VERSION;
        if !is_footer || crc32fast::hash(&footer[..FOOTER_BYTES - 4]) != crc32 {
            return Ok(None);
        }
        let [page_bytes, pages, count] = [page_bytes, pages, count].map(u64::from);
        let pending = Pending { page_bytes, pages, count };
        let is_page = (512..=65_536).contains(&page_bytes) && count <= FRAMES_MAX;
        if !is_page || pending.start() + count * (4 + page_bytes) != end {
            return Ok(None);
        }
        let mut hasher = crc32fast::Hasher::new();
        let mut bytes = vec![0; page_bytes as usize];
        let mut at = pending.start();
        while at < end {
            let bytes = &mut bytes[..(end - at).min(page_bytes) as usize];
            file.read_exact_at(bytes, at)?;
            hasher.update(bytes);
            at += bytes.len() as u64;
        }
        Ok((hasher.finalize() == body_crc32).then_some(pending))
    }

    fn start(&self) -> u64 {
        self.pages * self.page_bytes
    }

    /// Puts the pages into their places.
    pub(crate) fn apply(&self, path: &Path) -> io::Result<()> {
        let file = File::options().read(true).write(true).open(path)?;
        let mut page = vec![0; self.page_bytes as usize];
        for place in 0..self.count {
            let mut number = [0; 4];
            file.read_exact_at(&mut number, self.start() + place * 4)?;
            let number = u64::from(u32::from_le_bytes(number));
            if number == 0 || number > self.pages {
                return Err(io::Error::other("a page on its way into the file has no place there"));
            }
            file.read_exact_at(&mut page, self.start() + self.count * 4 + place * self.page_bytes)?;
            file.write_all_at(&page, (number - 1) * self.page_bytes)?;
        }
        file.set_len(self.start())
    }
}
