//! A cache of points by minute: most seconds of a zoomed view lie in minutes that are read already.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use model::MetricId;

use super::locked;
use super::points::Row;

/// Maximum size of the cached rows of a run, bytes: hours of seconds, of one to four thousand bytes each.
const BYTES_MAX: usize = 64 << 20;

/// A metric, its step in windows, and a minute.
pub(super) type Place = (MetricId, u32, u32);

/// The rows of a minute, each with the first window of its step.
pub(super) type Minute = Arc<[(u32, Row)]>;

/// The cached minutes of a run.
#[derive(Debug, Default)]
pub(super) struct Columns(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    bytes: usize,
    minutes: HashMap<Place, Minute>,
}

impl Columns {
    /// Returns the rows of a minute; calls `read` if they are not cached.
    ///
    /// # Errors
    /// Errors of `read`.
    pub(super) fn minute<Error>(
        &self,
        place: Place,
        read: impl FnOnce() -> Result<Vec<(u32, Row)>, Error>,
    ) -> Result<Minute, Error> {
        if let Some(known) = locked(&self.0).minutes.get(&place) {
            return Ok(known.clone());
        }
        // Without the lock: other threads read other minutes meanwhile.
        let minute: Minute = read()?.into();
        let bytes: usize = minute.iter().map(|(_, row)| row.bytes()).sum();
        let mut kept = locked(&self.0);
        if kept.bytes + bytes <= BYTES_MAX && kept.minutes.insert(place, minute.clone()).is_none() {
            kept.bytes += bytes;
        }
        Ok(minute)
    }
}

#[cfg(test)]
mod tests {
    use model::metric::builtin::HTTP_REQ_DURATION;

    use super::super::points::Point;
    use super::*;

    #[test]
    fn a_minute_is_read_once_and_the_cache_stays_within_its_limit() {
        let columns = Columns::default();
        let rows = |count: u32| (0..count).map(|start| (start, Row::from_point(&Point::default()))).collect();
        let count = |minute, rows: Result<Vec<(u32, Row)>, &'static str>| {
            columns.minute((HTTP_REQ_DURATION, 1, minute), || rows).map(|minute| minute.len())
        };
        assert_eq!(count(0, Err("no")), Err("no"));
        assert_eq!(count(0, Ok(rows(60))), Ok(60));
        assert_eq!(count(0, Ok(Vec::new())), Ok(60));
        let too_many = BYTES_MAX / Row::from_point(&Point::default()).bytes() + 1;
        assert_eq!(count(1, Ok(rows(too_many as u32))), Ok(too_many));
        assert_eq!(count(1, Ok(rows(3))), Ok(3), "what is too much is read each time");
    }
}
