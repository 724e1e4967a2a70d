//! Facts that a run's file holds twice, from two independent sources.

use analysis::audit::{Family, TwiceFact};
use model::metric::builtin::{HTTP_REQS, VUS_MAX};
use model::{Aggregate, Window, Work};
use runfile::Reader;
use tally::Totals;

use crate::{Failure, failed};

/// Maximum number of requests that a VU may have in flight when it is interrupted: the default batch size of `http.batch()`. They
/// are counted at their start, and may have no sample.
const UNDER_WAY_PER_VU: f64 = 20.0;

/// Maximum relative difference between two counts of many requests.
const COUNTS_APART_MAX: f64 = 0.01;

/// Maximum difference between two clocks, seconds: the limit above which validity reports a step of the wall clock.
const CLOCKS_APART_MAX_S: f64 = 0.1;

/// The same as a share of the time: twice the slew rate of `adjtime(3)`.
const CLOCKS_APART_MAX_SHARE: f64 = 0.001;

/// Returns the facts that are recorded twice.
///
/// # Errors
/// The file is damaged.
pub(super) fn facts(reader: &Reader, window: &Window, totals: &Totals) -> Result<Vec<TwiceFact>, Failure> {
    Ok(requests(window, totals).into_iter().chain(length(reader)?).collect())
}

/// Compares requests counted when made with requests measured.
fn requests(window: &Window, totals: &Totals) -> Option<TwiceFact> {
    let Some(Aggregate::Counter(measured)) = totals.metric(HTTP_REQS) else { return None };
    let loads = window.load.iter().filter(|load| load.work == Work::Requests);
    let made = loads.map(|load| load.finished).sum::<u64>() as f64;
    if made == 0.0 {
        // Imported runs and old files have no such count.
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

/// Compares the time from the first to the last window by the monotonic and by the wall clock.
fn length(reader: &Reader) -> Result<Option<TwiceFact>, Failure> {
    // The machines of a merged run have separate clocks.
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
