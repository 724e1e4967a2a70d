//! Reads the seconds of a stored run for the rules of validity.

use std::ops::Range;
use std::thread::Builder;

use analysis::validity::{Facts, TrendFacts};
use model::metric::builtin::{DATA_RECEIVED, DROPPED_ITERATIONS, HTTP_REQS, ITERATION_LATENESS};
use model::{Brief, MetricId, SeriesKey};
use runfile::{Reader, State, Want};

use crate::{Failure, failed};

/// Metrics that the rules read second by second, besides those that they read in brief.
const METRICS: [MetricId; 4] = [DATA_RECEIVED, DROPPED_ITERATIONS, HTTP_REQS, ITERATION_LATENESS];

/// Minimum number of minutes to read in two threads: fewer are read sooner than a file is opened again.
const HALVED_MINUTES_MIN: usize = 4;

/// Adds the windows of these minutes. `each` also receives the series that `is_wanted` selects and those that the rules read.
///
/// # Errors
/// The file is damaged.
pub(super) fn add(
    reader: &Reader,
    minutes: &[Range<u32>],
    facts: &mut Facts,
    is_wanted: impl Fn(SeriesKey) -> bool,
    mut each: impl FnMut(u32, SeriesKey, Brief<'_>),
) -> Result<(), Failure> {
    let want = |key: SeriesKey| match key.metric {
        metric if METRICS.contains(&metric) => Want::Whole,
        metric if TrendFacts::METRICS.contains(&metric) || is_wanted(key) => Want::Brief,
        _ => Want::Nothing,
    };
    for minute in minutes {
        let mut briefs = vec![TrendFacts::default(); minute.len()];
        let windows = reader.minute(minute.clone(), want, |index, key, brief| {
            let place = index.saturating_sub(minute.start) as usize;
            if let Some(briefs) = briefs.get_mut(place) {
                briefs.add(key.metric, &brief);
            }
            each(index, key, brief);
        });
        for window in windows.map_err(|error| failed(&error))? {
            let nothing = TrendFacts::default();
            let briefs = briefs.get((window.index - minute.start) as usize).unwrap_or(&nothing);
            facts.add_window_in_brief(&window, briefs);
        }
    }
    Ok(())
}

/// Adds the windows for the rules alone, in half the time: another thread reads the later half. One thread adds up each minute, so
/// the numbers are identical to the last bit.
///
/// # Errors
/// The file is damaged; the error names the first of several damaged minutes.
pub(super) fn add_in_halves(
    reader: &Reader,
    minutes: &[Range<u32>],
    facts: &mut Facts,
) -> Result<(), Failure> {
    let add = |reader: &Reader, minutes: &[Range<u32>], facts: &mut Facts| {
        self::add(reader, minutes, facts, |_| false, |_, _, _| {})
    };
    let (first, later) = minutes.split_at(minutes.len() / 2);
    if minutes.len() < HALVED_MINUTES_MIN {
        return add(reader, minutes, facts);
    }
    let Some(other) = again(reader) else { return add(reader, minutes, facts) };
    std::thread::scope(|scope| {
        let read_later = move || {
            let mut facts = Facts::default();
            add(&other, later, &mut facts).map(|()| facts)
        };
        let thread = Builder::new().name("seconds".into()).spawn_scoped(scope, read_later);
        add(reader, first, facts)?;
        let Ok(thread) = thread else { return add(reader, later, facts) };
        facts.append_windows(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        Ok(())
    })
}

/// Opens the same run once more; `None` if the file may have been replaced.
fn again(reader: &Reader) -> Option<Reader> {
    let is_over = |reader: &Reader| reader.state() == State::Complete;
    let other =
        Some(reader).filter(|reader| is_over(reader)).and_then(|reader| Reader::open(reader.path()).ok())?;
    (is_over(&other) && other.header().run_id == reader.header().run_id).then_some(other)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::metric::builtin::{HTTP_REQ_BLOCKED, HTTP_REQ_DURATION};
    use model::{
        Aggregate, Instant, Mark, MetricKind, MetricRegistry, RunEvent, TagInterner, TagSet, TagSetId, Window,
    };
    use runfile::{Ending, Header, Writer};

    use super::*;

    /// Times whose sum depends on the order of addition.
    fn window(index: u32, tags: &[TagSetId]) -> Arc<Window> {
        let at = |second: u32| Instant::from_ns(u64::from(second + 1) * 1_000_000_000);
        let series = [HTTP_REQ_DURATION, HTTP_REQ_BLOCKED].into_iter().flat_map(|metric| {
            tags.iter().map(move |tags| {
                let mut aggregate = Aggregate::empty(MetricKind::Trend);
                let value = f64::from(index * 7 + tags.0 * 13 + u32::from(metric.0)) / 7.0;
                aggregate.record(value, Mark::Measured, at(index));
                (SeriesKey { metric, tags: *tags }, aggregate)
            })
        });
        let mut series: Vec<_> = series.collect();
        series.sort_by_key(|series| series.0);
        Arc::new(Window { index, start: at(index), end: at(index + 1), series, ..Window::default() })
    }

    #[test]
    fn halves_say_what_the_whole_says() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.plimsoll");
        let (registry, tags) = (Arc::new(MetricRegistry::default()), Arc::new(TagInterner::default()));
        let mut writer = Writer::create(&path, &Header::default(), registry, tags.clone()).expect("a writer");
        let sets: Vec<TagSetId> = (0..20)
            .map(|number| tags.intern(TagSet::new([("url".into(), format!("/{number}").into())])))
            .collect();
        for index in 0..430 {
            writer.on_event(&RunEvent::Window(window(index, &sets)));
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
        let report = writer.finish(Ending::default());
        assert!(report.error.is_none() && report.windows_lost == 0, "{report:?}");
        let reader = Reader::open(&path).expect("a reader");
        for range in [0..430, 59..301, 100..170] {
            let minutes = reader.minutes(range).expect("minutes");
            let (mut alone, mut halves) = (Facts::default(), Facts::default());
            add(&reader, &minutes, &mut alone, |_| false, |_, _, _| {}).expect("readable");
            add_in_halves(&reader, &minutes, &mut halves).expect("readable");
            assert_eq!(format!("{alone:?}"), format!("{halves:?}"));
        }
    }
}
