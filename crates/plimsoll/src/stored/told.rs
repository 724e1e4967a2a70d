//! What servers told about a stored run.

use std::ops::Range;

use model::{Epoch, Instant};
use report::evidence::Told;
use runfile::Reader;

use super::failed;
use crate::failure::Failure;

/// What servers told, about the part of a run that begins and ends so; `zero` is the start of its first second.
///
/// # Errors
/// The file is damaged.
pub(crate) fn told(reader: &Reader, zero: Instant, part: Range<Instant>) -> Result<Told, Failure> {
    let header = reader.header();
    let epoch = Epoch { at: Instant::from_ns(header.started_ns), wall_unix_ns: header.started_wall_ns };
    let seconds = |at: Instant| at.since(zero).as_secs_f64();
    Ok(Told {
        signals: reader.signals().map_err(|error| failed(&error))?,
        records: reader.records().map_err(|error| failed(&error))?,
        gaps: reader.gaps().map_err(|error| failed(&error))?,
        lost: reader.ending().map_or(0, |ending| ending.evidence_lost),
        zero,
        zero_unix_ns: epoch.wall_unix_ns(zero),
        part_s: seconds(part.start)..seconds(part.end),
    })
}
