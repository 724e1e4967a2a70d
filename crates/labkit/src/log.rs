//! A structured log: one JSON object per line.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::{Clock, SystemClock};
use serde_json::Value;

/// A log takes no more than this; then it says so and is silent, and what is not written is counted.
const BYTES_MAX: u64 = 256 << 20;

/// A log file.
#[derive(Debug)]
pub struct Log {
    file: Mutex<(File, u64)>,
    /// How long each line waits for the disk, in nanoseconds; zero where it does not.
    sync_ns: AtomicU64,
    lines_lost: AtomicU64,
}

impl Log {
    /// Begins a log.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path) -> io::Result<Log> {
        let file = Mutex::new((File::create(path)?, 0));
        Ok(Log { file, sync_ns: AtomicU64::new(0), lines_lost: AtomicU64::new(0) })
    }

    /// From now on each line is on the disk before the next is written, which takes at least so long.
    pub fn set_sync(&self, takes: Option<Duration>) {
        let takes_ns = takes.map_or(0, |takes| u64::try_from(takes.as_nanos()).unwrap_or(u64::MAX));
        self.sync_ns.store(takes_ns, Ordering::Relaxed);
    }

    /// Writes a line, and gives how long it waited for the disk. The time is added to what is written.
    pub fn line(&self, level: &str, message: &str, mut fields: Value) -> Duration {
        if let Some(fields) = fields.as_object_mut() {
            fields.insert("time_unix_ns".to_owned(), SystemClock.wall_unix_ns().into());
            fields.insert("level".to_owned(), level.into());
            fields.insert("message".to_owned(), message.into());
        }
        let line = format!("{fields}\n");
        let mut guard = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, written) = &mut *guard;
        *written += line.len() as u64;
        // A disk that is full must not end the service whose log it is.
        if *written > BYTES_MAX || file.write_all(line.as_bytes()).is_err() {
            self.lines_lost.fetch_add(1, Ordering::Relaxed);
        }
        let takes = Duration::from_nanos(self.sync_ns.load(Ordering::Relaxed));
        if takes.is_zero() {
            return Duration::ZERO;
        }
        let before = SystemClock::now();
        let _ = file.sync_data();
        std::thread::sleep(takes.saturating_sub(SystemClock::now().since(before)));
        SystemClock::now().since(before)
    }

    /// Lines that could not be written.
    pub fn lines_lost(&self) -> u64 {
        self.lines_lost.load(Ordering::Relaxed)
    }
}
