//! Results that several answers about a run share, computed once and kept while the run's file is unchanged.
//!
//! A screen sends three or four questions at a time, and a zoom repeats them. Without this cache each would add up the run and read
//! all of its seconds again.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use model::{GeneratorState, Trace, Validity, Window};
use report::RunReport;
use report::evidence::Collected;
use runs::validity::StoredFacts;

use super::cache::Stamp;
use super::columns::Columns;
use super::locked;

/// Maximum number of runs in the cache: the two sides of a comparison.
pub(super) const RUNS_MAX: usize = 2;

/// Maximum number of cached ranges per run: the whole run and the latest views.
const PARTS_MAX: usize = 3;

/// Maximum number of cached points of server-side evidence per run, 16 bytes each.
const POINTS_MAX: usize = 2_000_000;

/// Maximum number of tag sets of a run whose sums are cached; larger sums take too much memory.
const TAG_SETS_MAX: usize = 1_000;

/// A value computed by its first user while others wait.
#[derive(Debug)]
pub(super) struct Once<T> {
    made: OnceLock<T>,
    making: Mutex<()>,
}

impl<T> Default for Once<T> {
    fn default() -> Once<T> {
        Once { made: OnceLock::new(), making: Mutex::new(()) }
    }
}

impl<T> Once<T> {
    /// Returns the value; computes it if necessary.
    ///
    /// # Errors
    /// Errors of `make`; the next caller tries again.
    pub(super) fn get<Error>(&self, make: impl FnOnce() -> Result<T, Error>) -> Result<&T, Error> {
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let _making = locked(&self.making);
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let made = make()?;
        Ok(self.made.get_or_init(|| made))
    }
}

/// Cached results of a range of a run, or of the whole run.
#[derive(Debug, Default)]
pub(super) struct PartStudy {
    /// The sum of the range, and its length.
    pub(super) sum: Once<(Window, Duration)>,
    /// Validity, and the requests per second in the busiest second.
    pub(super) judged: Once<(Validity, Option<f64>)>,
    /// The document that reports are made of.
    pub(super) document: Once<RunReport>,
}

/// Cached results of a run.
#[derive(Debug, Default)]
pub(super) struct Study {
    /// Inputs of the validity rules for the whole run: reading only a range costs in proportion to its length.
    pub(super) facts: Once<StoredFacts>,
    /// States of the generator.
    pub(super) states: Once<Vec<GeneratorState>>,
    /// Columns over time.
    pub(super) columns: Columns,
    /// Stored traces.
    pub(super) traces: Once<Vec<Trace>>,
    collected: Mutex<Option<Arc<Collected>>>,
    parts: Mutex<VecDeque<(Range<u32>, Arc<PartStudy>)>>,
    is_ahead: AtomicBool,
}

impl Study {
    /// Returns the cache of a range of the run; `tag_sets` is the run's number of tag sets.
    pub(super) fn part(&self, range: &Range<u32>, tag_sets: usize) -> Arc<PartStudy> {
        if tag_sets > TAG_SETS_MAX {
            return Arc::default();
        }
        let mut parts = locked(&self.parts);
        let known = parts.iter().position(|part| part.0 == *range).and_then(|place| parts.remove(place));
        let part = known.unwrap_or_else(|| (range.clone(), Arc::default()));
        parts.push_back(part.clone());
        while parts.len() > PARTS_MAX {
            parts.pop_front();
        }
        part.1
    }

    /// Returns server-side evidence; calls `read` if it is not cached. Evidence that is too large is read each time.
    ///
    /// # Errors
    /// Errors of `read`.
    pub(super) fn collected<Error>(
        &self,
        read: impl FnOnce() -> Result<Collected, Error>,
    ) -> Result<Arc<Collected>, Error> {
        // Other callers wait meanwhile and need not read it again.
        let mut kept = locked(&self.collected);
        if let Some(known) = &*kept {
            return Ok(known.clone());
        }
        let collected = Arc::new(read()?);
        let points: usize = collected.signals.iter().map(|signal| signal.points.len()).sum();
        if points <= POINTS_MAX {
            *kept = Some(collected.clone());
        }
        Ok(collected)
    }

    /// Marks the run as being read ahead. Returns true for the first caller, who must start it.
    pub(super) fn goes_ahead(&self) -> bool {
        !self.is_ahead.swap(true, Ordering::Relaxed)
    }
}

/// The most recently used runs.
#[derive(Debug)]
pub(super) struct Studies {
    runs_max: usize,
    kept: Mutex<VecDeque<Kept>>,
}

#[derive(Debug)]
struct Kept {
    path: PathBuf,
    stamp: Stamp,
    study: Arc<Study>,
}

impl Studies {
    /// Returns an empty cache of `runs_max` runs.
    pub(super) fn new(runs_max: usize) -> Studies {
        Studies { runs_max, kept: Mutex::default() }
    }

    /// Returns the cache of a run whose file has this stamp.
    pub(super) fn study(&self, path: &Path, stamp: Stamp) -> Arc<Study> {
        let mut kept = locked(&self.kept);
        let place = kept.iter().position(|one| one.path == path);
        let known = place.and_then(|place| kept.remove(place)).filter(|one| one.stamp == stamp);
        let one = known.unwrap_or_else(|| Kept { path: path.to_owned(), stamp, study: Arc::default() });
        let study = one.study.clone();
        kept.push_back(one);
        while kept.len() > self.runs_max {
            kept.pop_front();
        }
        study
    }
}

#[cfg(test)]
mod tests {
    use model::{Instant, Signal};

    use super::*;

    #[test]
    fn what_failed_is_made_again_and_what_was_made_stays() {
        let once = Once::default();
        assert_eq!(once.get(|| Err::<u32, _>("no")), Err("no"));
        assert_eq!(once.get(|| Ok::<_, &str>(1)), Ok(&1));
        assert_eq!(once.get(|| Ok::<_, &str>(2)), Ok(&1));
    }

    #[test]
    fn the_runs_that_were_looked_at_last_are_kept() {
        let studies = Studies::new(2);
        let study = |name: &str| studies.study(Path::new(name), Stamp::default());
        let (a, b) = (study("a"), study("b"));
        assert!(Arc::ptr_eq(&a, &study("a")));
        study("c");
        assert!(Arc::ptr_eq(&a, &study("a")) && !Arc::ptr_eq(&b, &study("b")));
        assert_eq!(locked(&studies.kept).len(), 2);
        let none = Studies::new(0);
        assert!(!Arc::ptr_eq(
            &none.study(Path::new("a"), Stamp::default()),
            &none.study(Path::new("a"), Stamp::default())
        ));
    }

    #[test]
    fn the_parts_that_were_looked_at_last_are_kept() {
        let study = Study::default();
        let first = study.part(&(0..10), 1);
        for end in 11..11 + PARTS_MAX as u32 {
            assert!(Arc::ptr_eq(&study.part(&(0..end), 1), &study.part(&(0..end), 1)));
        }
        assert!(!Arc::ptr_eq(&first, &study.part(&(0..10), 1)));
        let huge = TAG_SETS_MAX + 1;
        assert!(!Arc::ptr_eq(&study.part(&(0..5), huge), &study.part(&(0..5), huge)));
        assert!(study.goes_ahead() && !study.goes_ahead());
    }

    #[test]
    fn what_servers_told_is_read_once_unless_it_is_too_much() {
        let collected = |points: usize| {
            let signal = Signal {
                source: String::new(),
                name: "".into(),
                labels: Default::default(),
                unit: String::new(),
                query: String::new(),
                step: Duration::ZERO,
                points: vec![(Instant::ZERO, 0.0); points],
            };
            Collected { signals: vec![signal], ..Collected::default() }
        };
        let check = |points: usize, is_kept: bool| {
            let study = Study::default();
            assert!(study.collected(|| Err::<Collected, _>("no")).is_err());
            let first = study.collected(|| Ok::<_, &str>(collected(points))).expect("read");
            let second = study.collected(|| Ok::<_, &str>(collected(1))).expect("read");
            assert_eq!(Arc::ptr_eq(&first, &second), is_kept, "{points}");
        };
        check(POINTS_MAX, true);
        check(POINTS_MAX + 1, false);
    }

    #[test]
    fn a_changed_file_is_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run");
        std::fs::write(&path, "a").expect("written");
        let studies = Studies::new(2);
        let before = studies.study(&path, Stamp::read(&path));
        assert!(Arc::ptr_eq(&before, &studies.study(&path, Stamp::read(&path))));
        std::fs::write(&path, "longer").expect("written");
        assert!(!Arc::ptr_eq(&before, &studies.study(&path, Stamp::read(&path))));
    }
}
