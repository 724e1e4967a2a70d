//! Stalls of a service: times in which requests were open and no span of it began or ended.

use std::collections::HashMap;

use model::SpanKind;

use super::case_view::View;
use super::thresholds::stalls::{
    BY_CHANCE_MAX, EDGES_MIN, STALL_NS_MIN, STALLS_MIN, TIMES_ANSWER, TIMES_USUAL, WAITING_MIN,
};

/// The stalls of a service.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stalls {
    /// Name of the service.
    pub(super) service: String,
    /// Number of stalls.
    pub(super) count: usize,
    /// Stalls per second.
    pub(super) per_s: f64,
    /// Mean length of a stall, seconds.
    pub(super) mean_s: f64,
    /// Coefficient of variation of the lengths.
    pub(super) variation: f64,
    /// Stalled share of the run.
    pub(super) share: f64,
    /// Share of response time spent in stalls, including requests that wait to be accepted.
    pub(super) explains: f64,
}

/// Start and end of a request, nanoseconds.
type Open = (i64, i64);

/// Returns the stalls of the service with the longest total; `None` if no service stalled.
pub(super) fn longest(view: &View<'_>) -> Option<Stalls> {
    let mut open: HashMap<&str, Vec<Open>> = HashMap::new();
    for (key, step) in view.paths.steps.iter().filter(|(key, _)| key.kind == SpanKind::Server) {
        let times = step.times_ns.iter().map(|(start_ns, length_ns)| {
            (*start_ns, start_ns.saturating_add(i64::try_from(*length_ns).unwrap_or(i64::MAX)))
        });
        open.entry(&key.service).or_default().extend(times);
    }
    let services = view.paths.edges.iter().filter_map(|(service, edges)| {
        let open = open.get_mut(&**service).map(std::mem::take)?;
        of_service(view, service, edges, open)
    });
    services.collect::<Vec<_>>().into_iter().max_by(|a, b| a.share.total_cmp(&b.share))
}

fn of_service(view: &View<'_>, service: &str, edges: &[i64], mut open: Vec<Open>) -> Option<Stalls> {
    if edges.len() < EDGES_MIN {
        return None;
    }
    open.sort_unstable();
    let length_s = edges.last()?.saturating_sub(*edges.first()?) as f64 / 1e9;
    let least_ns = least_ns(edges, &open);
    let gaps = edges.windows(2).map(|pair| (pair[0], pair[1]));
    let long: Vec<Open> =
        gaps.filter(|(from_ns, to_ns)| to_ns.saturating_sub(*from_ns) >= least_ns).collect();
    let (seen, unseen): (Vec<Open>, Vec<Open>) =
        long.into_iter().partition(|(from_ns, to_ns)| is_open(&open, *from_ns, *to_ns));
    let mut stalls = seen;
    stalls.extend(waited_for(view, unseen, open.len(), length_s));
    if stalls.len() < STALLS_MIN || length_s <= 0.0 {
        return None;
    }
    stalls.sort_unstable();
    let lengths_s: Vec<f64> = stalls.iter().map(seconds).collect();
    let count = stalls.len() as f64;
    let sum_s: f64 = lengths_s.iter().sum();
    let mean_s = sum_s / count;
    let variance = lengths_s.iter().map(|stall_s| (stall_s - mean_s).powi(2)).sum::<f64>() / count;
    let inside_ns: f64 = open.iter().map(|request| inside_ns(&stalls, request)).sum();
    let at_door = (waiting(view, &stalls, length_s) / view.level.in_flight().max(f64::MIN_POSITIVE))
        .min(view.share_outside());
    Some(Stalls {
        service: service.to_owned(),
        count: stalls.len(),
        per_s: count / length_s,
        mean_s,
        variation: variance.sqrt() / mean_s,
        share: (sum_s / length_s).min(1.0),
        explains: (view.share_of_paths(inside_ns) + at_door).min(1.0),
    })
}

/// Minimum length of a stall.
fn least_ns(edges: &[i64], open: &[Open]) -> i64 {
    let mut gaps: Vec<i64> = edges.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    gaps.sort_unstable();
    let mut lengths: Vec<i64> =
        open.iter().map(|(start_ns, end_ns)| end_ns.saturating_sub(*start_ns)).collect();
    lengths.sort_unstable();
    let answer_ns = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
    let usual_ns = gaps.get(gaps.len() / 2).copied().unwrap_or(0).saturating_mul(TIMES_USUAL);
    STALL_NS_MIN.max(usual_ns).max(answer_ns.saturating_mul(TIMES_ANSWER))
}

/// Keeps the gaps without an open request that are too long for chance and in which requests must have waited. Only a sample of
/// requests has spans, and a request that arrives during a stall has none yet. Users who all think at the same time leave gaps
/// too, but then no request waits.
fn waited_for(view: &View<'_>, gaps: Vec<Open>, requests: usize, length_s: f64) -> Vec<Open> {
    if view.paths.is_biased || view.level.tasks.is_some() || length_s <= 0.0 {
        return Vec::new();
    }
    let per_s = requests as f64 / length_s;
    // Times between independent arrivals have an exponential distribution.
    let is_chance = |gap: &Open| requests as f64 * (-per_s * seconds(gap)).exp() > BY_CHANCE_MAX;
    let gaps: Vec<Open> = gaps.into_iter().filter(|gap| !is_chance(gap)).collect();
    let outside = view.level.in_flight() * view.share_outside();
    if outside >= waiting(view, &gaps, length_s) * WAITING_MIN { gaps } else { Vec::new() }
}

/// Returns the mean number of requests that wait for the end of these stalls: those that arrive meanwhile, each for half of the
/// stall, and at most one per user.
fn waiting(view: &View<'_>, stalls: &[Open], length_s: f64) -> f64 {
    let users = view.level.closed_vus.unwrap_or(f64::INFINITY);
    let of_one =
        |stall: &Open| (view.level.requests_per_s() * seconds(stall)).min(users) * seconds(stall) / 2.0;
    if length_s > 0.0 { stalls.iter().map(of_one).sum::<f64>() / length_s } else { 0.0 }
}

fn seconds((from_ns, to_ns): &Open) -> f64 {
    to_ns.saturating_sub(*from_ns) as f64 / 1e9
}

/// Returns the time that a request spends in stalls, nanoseconds. Stalls are in order and do not overlap.
fn inside_ns(stalls: &[Open], (start_ns, end_ns): &Open) -> f64 {
    let first = stalls.partition_point(|(_, to_ns)| to_ns <= start_ns);
    let those = stalls[first..].iter().take_while(|(from_ns, _)| from_ns < end_ns);
    those.map(|(from_ns, to_ns)| to_ns.min(end_ns).saturating_sub(*from_ns.max(start_ns)) as f64).sum()
}

/// Returns true if a request was open during the whole interval. Earlier requests are in order of their start; only the last so
/// many are checked.
fn is_open(open: &[Open], from_ns: i64, to_ns: i64) -> bool {
    const LOOKED_AT: usize = 64;
    let before = open.partition_point(|(start_ns, _)| *start_ns <= from_ns);
    open[before.saturating_sub(LOOKED_AT)..before].iter().any(|(_, end_ns)| *end_ns >= to_ns)
}

#[cfg(test)]
pub(super) mod testing {
    use super::super::case::Level;
    use super::super::testing::{sampled, span};
    use model::{Span, SpanKind};

    /// A service with an arrival every 5 ms and a service time of 8 ms that stalls for `stall_ms` in each period.
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
        assert_eq!(longest(&View::new(&case).expect("a run")), None);
    }

    #[test]
    fn stalls_are_found_with_their_length() {
        let still =
            |still_ms| Case { levels: vec![testing::standing_still(level(20, 10, 0.1), 1000, still_ms)] };
        let case = still(150);
        let found = longest(&View::new(&case).expect("a run")).expect("it stood still");
        assert!((found.mean_s - 0.15).abs() < 0.02 && (found.per_s - 1.0).abs() < 0.1, "{found:?}");
        assert!((found.share - 0.15).abs() < 0.02 && found.variation < 0.1, "{found:?}");
        assert_eq!(longest(&View::new(&still(0)).expect("a run")), None);
    }

    /// A fifth of the requests is traced, and none of these is open when a stall begins.
    #[test]
    fn nobody_has_to_be_seen_where_others_wait() {
        let case = |mean_s: f64| {
            let mut level = testing::standing_still(level(20, 200, mean_s), 1000, 150);
            level.traces.retain(|trace| {
                let start_ms = (trace.spans[0].start_ns - 100_000_000_000) / 1_000_000;
                trace.id % 2 == 0 && (160..980).contains(&(start_ms % 1000))
            });
            Case { levels: vec![level] }
        };
        // By Little's law two are in flight, and traces show less than one: the others wait to be accepted.
        let found = longest(&View::new(&case(0.02)).expect("a run")).expect("it stood still");
        assert!((18..=21).contains(&found.count) && found.explains > 0.3, "{found:?}");
        // Users who think at the same time leave the same gaps.
        assert_eq!(longest(&View::new(&case(0.009)).expect("a run")), None);
    }
}
