//! What a run's file tells twice, from two places that do not know of each other.

use analysis::audit::{Family, TwiceFact};
use model::metric::builtin::{HTTP_REQS, VUS_MAX};
use model::{Aggregate, Window, Work};
use runfile::Reader;
use tally::Totals;

use crate::{Failure, failed};

/// Requests that a VU may have under way when it is called off: `http.batch()` makes so many at once unless it is told
/// otherwise. They are counted where they begin, and may have no sample.
const UNDER_WAY_PER_VU: f64 = 20.0;

/// How far two counts of many requests may be apart, as a share.
const COUNTS_APART_MAX: f64 = 0.01;

/// How far two clocks may be apart, in seconds: what the validity calls a step of the wall clock.
const CLOCKS_APART_MAX_S: f64 = 0.1;

/// And as a share of the time: a clock that is being set right runs so much faster or slower, twice what `adjtime(3)` does.
const CLOCKS_APART_MAX_SHARE: f64 = 0.001;

/// The facts.
///
/// # Errors
/// The file is damaged.
pub(super) fn facts(reader: &Reader, window: &Window, totals: &Totals) -> Result<Vec<TwiceFact>, Failure> {
    Ok(requests(window, totals).into_iter().chain(length(reader)?).collect())
}

/// Requests, where they are made and where they are measured.
fn requests(window: &Window, totals: &Totals) -> Option<TwiceFact> {
    let Some(Aggregate::Counter(measured)) = totals.metric(HTTP_REQS) else { return None };
    let loads = window.load.iter().filter(|load| load.work == Work::Requests);
    let made = loads.map(|load| load.finished).sum::<u64>() as f64;
    if made == 0.0 {
        // Imported runs and old files do not tell.
        return None;
    }
    let vus = match totals.metric(VUS_MAX) {
        Some(Aggregate::Gauge(gauge)) => gauge.max,
        _ => 0.0,
    };
    Some(TwiceFact {
        fact: "the number of requests",
        sources: [("the samples", measured.count as f64), ("the count of what was under way", made)],
        tolerance: (vus * UNDER_WAY_PER_VU).max(made * COUNTS_APART_MAX),
        family: Family::Plain,
    })
}

/// The time from the first to the last window, by the clock that only goes on and by the clock on the wall.
fn length(reader: &Reader) -> Result<Option<TwiceFact>, Failure> {
    // The machines that made the parts of a merged run have clocks of their own.
    if !reader.header().merged_from.is_empty() {
        return Ok(None);
    }
    let anchors = reader.anchors().map_err(|error| failed(&error))?;
    let (Some(first), Some(last)) = (anchors.first(), anchors.last()) else { return Ok(None) };
    let monotonic_s = last.at.since(first.at).as_secs_f64();
    let wall_s = last.wall_unix_ns.saturating_sub(first.wall_unix_ns) as f64 / 1e9;
    Ok((monotonic_s > 0.0).then_some(TwiceFact {
        fact: "the length",
        sources: [("the monotonic clock", monotonic_s), ("the wall clock", wall_s)],
        tolerance: CLOCKS_APART_MAX_S.max(monotonic_s * CLOCKS_APART_MAX_SHARE),
        family: Family::Time,
    }))
}
