//! Rows of CSV and NDJSON files, in constant memory, through cursors that all VUs share.

mod cursor;
mod index;
mod read;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use self::cursor::{AtEnd, Cursor, Next, Order, Rules};
pub(crate) use self::read::{Form, Header, Row, RowSource};

/// Cursors of one script. A script that opens more opens them in a loop.
pub(crate) const CURSORS_MAX: usize = 1_000;

/// The cursors of a script, by file and options.
#[derive(Default)]
pub(crate) struct Cursors(Mutex<HashMap<String, Arc<Mutex<Cursor>>>>);

impl Cursors {
    /// The cursor with this key.
    pub(crate) fn get(&self, key: &str) -> Option<Arc<Mutex<Cursor>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Adds a cursor, or returns the one that is there already; `None` when there are too many.
    pub(crate) fn add(&self, key: String, cursor: Cursor) -> Option<Arc<Mutex<Cursor>>> {
        let mut cursors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cursors.len() >= CURSORS_MAX && !cursors.contains_key(&key) {
            return None;
        }
        Some(cursors.entry(key).or_insert_with(|| Arc::new(Mutex::new(cursor))).clone())
    }
}
