//! Whether a file is as it was written.

use std::path::Path;

use crate::beside::{self, JOURNAL, LOG, has_content};
use crate::format::{FORMAT_OF_CHECKSUMS, MINUTE, TEN};
use crate::lock::Lock;
use crate::reader::{BROKEN_SEAL, Reader, real_file};
use crate::seal::Tail;
use crate::{Damage, ReadError, State, Want};

/// The state of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verification {
    /// Every page matches its checksum.
    Sound {
        /// How many there are.
        pages: u64,
    },
    /// Something is not as it was written.
    Damaged {
        /// The damaged pages, by table.
        damages: Vec<Damage>,
        /// Unreadable parts, in words: minutes, totals, or why the file cannot be opened.
        lost: Vec<String>,
    },
    /// Nothing says how it was written. Everything in it can be read.
    Unverified(Unverified),
}

/// Why there are no checksums of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unverified {
    /// The run goes on.
    Live,
    /// Its process was killed.
    Partial,
    /// Its format has none.
    OldFormat(i64),
    /// Another program wrote to it after its end, or the disk was full then.
    NotSealed,
}

/// Reads a whole file and compares it with its checksums.
///
/// # Errors
/// There is no such file, it cannot be read, or it is none of ours.
pub fn verify(path: &Path) -> Result<Verification, ReadError> {
    let actual = real_file(path)?;
    beside::check(&actual)?;
    let is_plain = !Lock::is_held(&actual) && !has_content(&actual, LOG) && !has_content(&actual, JOURNAL);
    let failed = |source| ReadError::Open { path: path.to_owned(), source };
    let tail = if is_plain { Tail::read(&actual).map_err(failed)? } else { Tail::None };
    match tail {
        Tail::Broken => Ok(Verification::Damaged { damages: Vec::new(), lost: vec![BROKEN_SEAL.to_owned()] }),
        Tail::Seal(seal) => {
            let damages = seal.check_all().map_err(|error| error.of_file(path))?;
            if damages.is_empty() {
                return Ok(Verification::Sound { pages: seal.pages() });
            }
            Ok(Verification::Damaged { damages, lost: lost(path) })
        }
        Tail::None | Tail::Pending(_) => without_seal(path),
    }
}

fn without_seal(path: &Path) -> Result<Verification, ReadError> {
    let reader = match Reader::open(path) {
        Err(ReadError::Corrupt { what, .. }) => {
            return Ok(Verification::Damaged { damages: Vec::new(), lost: vec![what] });
        }
        opened => opened?,
    };
    let lost = reader.unreadable();
    if !lost.is_empty() {
        return Ok(Verification::Damaged { damages: Vec::new(), lost });
    }
    Ok(Verification::Unverified(match reader.state() {
        State::Live => Unverified::Live,
        _ if reader.format < FORMAT_OF_CHECKSUMS => Unverified::OldFormat(reader.format),
        State::Partial => Unverified::Partial,
        State::Complete => Unverified::NotSealed,
    }))
}

/// Describes the unreadable parts of a damaged file.
fn lost(path: &Path) -> Vec<String> {
    match Reader::open(path) {
        Ok(reader) => reader.unreadable(),
        Err(error) => vec![error.damage()],
    }
}

impl Reader {
    /// Checks all pages of a file that has checksums.
    ///
    /// # Errors
    /// It is damaged.
    pub(crate) fn check_all(&self) -> Result<(), ReadError> {
        let Some(seal) = &self.seal else { return Ok(()) };
        let damages = seal.check_all().map_err(|error| error.of_file(&self.path))?;
        match damages.first() {
            None => Ok(()),
            Some(damage) => Err(self.corrupt(damage.to_string())),
        }
    }

    /// Reads everything, and gives what cannot be read.
    fn unreadable(&self) -> Vec<String> {
        let mut lost = Vec::new();
        let mut note = |error: Option<ReadError>| {
            let what = error.map(|error| error.damage());
            lost.extend(what.filter(|what| !lost.contains(what)));
        };
        for minute in self.minutes(0..u32::MAX).unwrap_or_default() {
            let number = minute.start / MINUTE;
            note(self.minute(minute, |_| Want::Whole, |_, _, _| {}).err());
            let tens = self.chunk_cells((number, TEN), |_| true, |_| Want::Whole, |_, _, _| {});
            note(tens.err());
        }
        for (windows, number) in self.rollups().unwrap_or_default() {
            note(self.rollup_cells((windows, number), |_| true, |_, _| {}).err());
        }
        let all = 0..u32::MAX;
        note(self.range().err());
        note(self.thresholds().err());
        note(self.log().err());
        note(self.errors().err());
        note(self.exemplars(all.clone()).err());
        note(self.load(all).err());
        note(self.marks().err());
        note(self.notes().err());
        note(self.anchors().err());
        note(self.generator_states().err());
        note(self.signals().err());
        note(self.records().err());
        note(self.gaps().err());
        note(self.traces().err());
        note(self.operations().err());
        lost
    }

    fn rollups(&self) -> Result<Vec<(u32, u32)>, ReadError> {
        self.rows("SELECT windows, number FROM rolled ORDER BY windows, number", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
    }
}
