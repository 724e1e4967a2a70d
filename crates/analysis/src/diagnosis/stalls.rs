//! When a service stood still: requests were open, and nothing of it began or ended.

use std::collections::HashMap;

use model::SpanKind;

use super::view::View;

/// A shorter time is no stall: between two things that happen there is always some.
const STALL_NS_MIN: i64 = 45_000_000;

/// A stall is so many times as long as the usual time between two things that happen.
const TIMES_USUAL: i64 = 15;

/// A stall is so many times as long as what the service does takes in the middle; or it is what it does.
const TIMES_ANSWER: i64 = 3;

/// Fewer stalls show no rule.
const STALLS_MIN: usize = 5;

/// Fewer beginnings and ends show no usual time.
const EDGES_MIN: usize = 100;

/// The stalls of a service.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stalls {
    /// Which service.
    pub(super) service: String,
    /// How many.
    pub(super) count: usize,
    /// How many per second.
    pub(super) per_s: f64,
    /// Their mean length, seconds.
    pub(super) mean_s: f64,
    /// How much lengths vary: their standard deviation as a share of the mean.
    pub(super) variation: f64,
    /// The share of the time that they are.
    pub(super) share: f64,
}

/// The stalls of the service that stood still for longest; none where nobody did.
pub(super) fn of(view: &View<'_>) -> Option<Stalls> {
    let mut open: HashMap<&str, Vec<(i64, i64)>> = HashMap::new();
    for (key, step) in view.paths.steps.iter().filter(|(key, _)| key.kind == SpanKind::Server) {
        let times = step.times_ns.iter().map(|(start_ns, length_ns)| {
            (*start_ns, start_ns.saturating_add(i64::try_from(*length_ns).unwrap_or(i64::MAX)))
        });
        open.entry(&key.service).or_default().extend(times);
    }
    let services = view.paths.edges.iter().filter_map(|(service, edges)| {
        let open = open.get_mut(&**service).map(std::mem::take)?;
        of_service(service, edges, open)
    });
    services.collect::<Vec<_>>().into_iter().max_by(|a, b| a.share.total_cmp(&b.share))
}

fn of_service(service: &str, edges: &[i64], mut open: Vec<(i64, i64)>) -> Option<Stalls> {
    if edges.len() < EDGES_MIN {
        return None;
    }
    let mut gaps: Vec<i64> = edges.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    gaps.sort_unstable();
    let mut lengths: Vec<i64> =
        open.iter().map(|(start_ns, end_ns)| end_ns.saturating_sub(*start_ns)).collect();
    lengths.sort_unstable();
    let answer_ns = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
    let usual_ns =
        gaps[gaps.len() / 2].saturating_mul(TIMES_USUAL).max(answer_ns.saturating_mul(TIMES_ANSWER));
    let least_ns = STALL_NS_MIN.max(usual_ns);
    open.sort_unstable();
    let long = edges.windows(2).filter(|pair| pair[1].saturating_sub(pair[0]) >= least_ns);
    let stalls: Vec<f64> = long
        .filter(|pair| is_open(&open, pair[0], pair[1]))
        .map(|pair| pair[1].saturating_sub(pair[0]) as f64 / 1e9)
        .collect();
    let length_s = edges.last()?.saturating_sub(*edges.first()?) as f64 / 1e9;
    if stalls.len() < STALLS_MIN || length_s <= 0.0 {
        return None;
    }
    let count = stalls.len() as f64;
    let sum_s: f64 = stalls.iter().sum();
    let mean_s = sum_s / count;
    let variance = stalls.iter().map(|stall_s| (stall_s - mean_s).powi(2)).sum::<f64>() / count;
    Some(Stalls {
        service: service.to_owned(),
        count: stalls.len(),
        per_s: count / length_s,
        mean_s,
        variation: variance.sqrt() / mean_s,
        share: (sum_s / length_s).min(1.0),
    })
}

/// Whether a request was open all the time between the two. Those that began before are in order of their start, and of the
/// last so many one is enough.
fn is_open(open: &[(i64, i64)], from_ns: i64, to_ns: i64) -> bool {
    const LOOKED_AT: usize = 64;
    let before = open.partition_point(|(start_ns, _)| *start_ns <= from_ns);
    open[before.saturating_sub(LOOKED_AT)..before].iter().any(|(_, end_ns)| *end_ns >= to_ns)
}

#[cfg(test)]
pub(super) mod testing {
    use super::super::case::Level;
    use super::super::testing::{sampled, span};
    use model::{Span, SpanKind};

    /// A service that is asked each 5 ms for what takes it 8 ms, and in each period stands still for so long.
    pub(in super::super) fn standing_still(level: Level, period_ms: u64, still_ms: u64) -> Level {
        let length_ms = level.seconds.len() as u64 * 1000;
        let wakes = |ms: f64| {
            let (period, still) = (period_ms as f64, still_ms as f64);
            let into = ms % period;
            if into < still { ms - into + still } else { ms }
        };
        let traces = (0..length_ms / 5).map(|number| {
            let start_ms = number as f64 * 5.0;
            let end_ms = wakes(start_ms + 8.0);
            let begins_ms = wakes(start_ms);
            let length_ms = (end_ms - begins_ms).max(0.5);
            let root = Span { kind: SpanKind::Server, ..span(1, 0, "shop", "GET /", begins_ms, length_ms) };
            let mut trace = sampled(0, vec![root]);
            trace.id = u128::from(number) + 1;
            trace
        });
        Level { traces: traces.collect(), ..level }
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use super::super::testing::level;
    use super::*;

    #[test]
    fn a_service_whose_work_takes_long_does_not_stand_still() {
        let mut level = testing::standing_still(level(20, 10, 0.1), 1000, 150);
        level.traces.iter_mut().for_each(|trace| trace.spans[0].duration *= 50);
        let case = Case { levels: vec![level] };
        assert_eq!(of(&View::of(&case).expect("a run")), None);
    }

    #[test]
    fn stalls_are_found_with_their_length() {
        let still =
            |still_ms| Case { levels: vec![testing::standing_still(level(20, 10, 0.1), 1000, still_ms)] };
        let case = still(150);
        let found = of(&View::of(&case).expect("a run")).expect("it stood still");
        assert!((found.mean_s - 0.15).abs() < 0.02 && (found.per_s - 1.0).abs() < 0.1, "{found:?}");
        assert!((found.share - 0.15).abs() < 0.02 && found.variation < 0.1, "{found:?}");
        assert_eq!(of(&View::of(&still(0)).expect("a run")), None);
    }
}
