//! Limits of concurrency: a service, a pool or a critical section that takes `k` at a time while further work waits.
//!
//! The evidence is spans alone, whatever their names. The utilisation law gives the mean number that is open, X·S (Denning and Buzen,
//! 1978). At a limit that number is close to an integer `k`; a span begins only when another has ended; and no span begins while `k`
//! others are open. Independent spans would do so often: an arrival finds a number of open spans that has a Poisson distribution (the
//! infinite-server queue; Wolff, 1982, "Poisson arrivals see time averages").
//!
//! Spans that begin at a distance from each other, but not at the ends of others, pass a rate limit ([`pace`]).
//!
//! Spans that contain their own wait, such as calls whose span begins before they have a connection, show the limit by their ends: no
//! two ends that are `k` apart are closer than one service time ([`in_line`]).
//!
//! Not: paced work, which begins at even intervals and not at the ends of other work, and work that is never queued.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::thresholds::concurrency::{
    AT_ONCE_MAX, BUSY_MAX, BUSY_MIN, CLOSE, CROWDED_MAX, EXPECTED_MIN, FOLLOWS_MIN, FOLLOWS_WITHIN,
    IN_LINE_MIN, QUICKEST_MAX, SPANS_MIN,
};

/// A limit of concurrency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ConcurrencyLimit {
    /// Most open at a time.
    pub(super) at_once: f64,
    /// Mean number open at a time.
    pub(super) open: f64,
    /// Mean duration, seconds.
    pub(super) mean_s: f64,
}

/// Returns the limit that spans show, if they show one.
///
/// Each span is its start and its length, nanoseconds. Each stands for `weight` spans, of which the others were not traced.
pub(super) fn limit(spans: &[(i64, u64)], weight: f64) -> Option<ConcurrencyLimit> {
    let mut spans = spans.to_vec();
    spans.sort_unstable();
    // Without the tenth at each end: at its beginning and its end a run has no queue.
    let spans = spans.get(spans.len() / 10..spans.len() * 9 / 10).filter(|spans| spans.len() >= SPANS_MIN)?;
    let (first_ns, last_ns) = (spans.first()?.0, spans.last()?.0);
    let length_ns = last_ns.abs_diff(first_ns).max(1) as f64;
    let total_ns: f64 = spans.iter().map(|(_, span_ns)| *span_ns as f64).sum();
    let traced = total_ns / length_ns;
    let open = traced * weight;
    let at_once = open.round().max(1.0);
    if !(BUSY_MIN..=BUSY_MAX).contains(&(open / at_once)) {
        return None;
    }
    let mean_ns = total_ns / spans.len() as f64;
    let Starts { crowded, following } = starts(spans, at_once as usize, mean_ns / at_once * FOLLOWS_WITHIN);
    let expected = spans.len() as f64 * at_least(at_once as usize, traced);
    let is_limit = expected >= EXPECTED_MIN
        && crowded <= expected * CROWDED_MAX
        && following >= spans.len() as f64 / weight * FOLLOWS_MIN;
    is_limit.then_some(ConcurrencyLimit { at_once, open, mean_s: mean_ns / 1e9 })
}

/// Returns the rate at which spans begin, per second, if none begins shortly after another: a rate limit lets them pass one by one.
///
/// The interval is the run's length over the number of spans, traced or not. Distances of independent starts are exponential, so that
/// many are much shorter.
pub(super) fn pace(spans: &[(i64, u64)], weight: f64) -> Option<f64> {
    let mut starts: Vec<i64> = spans.iter().map(|(start_ns, _)| *start_ns).collect();
    starts.sort_unstable();
    let starts =
        starts.get(starts.len() / 10..starts.len() * 9 / 10).filter(|starts| starts.len() > SPANS_MIN)?;
    let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1].abs_diff(pair[0]) as f64).collect();
    let interval_ns = gaps.iter().sum::<f64>() / gaps.len() as f64 / weight;
    let close = gaps.iter().filter(|gap| **gap < interval_ns * CLOSE).count() as f64;
    let expected = gaps.len() as f64 * (1.0 - (-CLOSE / weight).exp());
    (interval_ns > 0.0 && expected >= EXPECTED_MIN && close <= expected * CROWDED_MAX)
        .then(|| 1e9 / interval_ns)
}

/// Returns the limit of spans that contain their wait for it: `at_once` are served at a time, in `mean_s` each, of `open` that are open.
///
/// A limit of `k` spans that take `s` each lets `k / s` of them end per second, and never `k + 1` within `s`. The distance of
/// independent ends that are `k` apart has an Erlang distribution. The quickest span takes `s`, unlike calls under a rate limit, of which
/// the first ones pass at once, and unlike calls that all take long and are only made at even intervals.
pub(super) fn in_line(spans: &[(i64, u64)], weight: f64) -> Option<ConcurrencyLimit> {
    let shortest_s = spans.iter().map(|(_, span_ns)| *span_ns).min()? as f64 / 1e9;
    let total_s: f64 = spans.iter().map(|(_, span_ns)| *span_ns as f64 / 1e9).sum();
    let mut ends: Vec<i64> =
        spans.iter().map(|(start_ns, span_ns)| start_ns.saturating_add_unsigned(*span_ns)).collect();
    ends.sort_unstable();
    let ends = ends.get(ends.len() / 10..ends.len() * 9 / 10).filter(|ends| ends.len() >= SPANS_MIN)?;
    let length_s = ends.last()?.abs_diff(*ends.first()?) as f64 / 1e9;
    let per_s = (ends.len() - 1) as f64 * weight / length_s.max(f64::MIN_POSITIVE);
    let open = per_s * total_s / spans.len() as f64;
    let is_limit = |at_once: &usize| {
        let service_s = *at_once as f64 / per_s;
        let pairs = ends.iter().zip(&ends[*at_once..]);
        let is_close = |pair: &(&i64, &i64)| pair.1.abs_diff(*pair.0) as f64 / 1e9 < service_s * CLOSE;
        let expected = (ends.len() - at_once) as f64 * at_least(*at_once, *at_once as f64 * CLOSE / weight);
        (service_s * BUSY_MIN..=service_s * QUICKEST_MAX).contains(&shortest_s)
            && expected >= EXPECTED_MIN
            && pairs.filter(is_close).count() as f64 <= expected * CROWDED_MAX
    };
    let most = ((open / IN_LINE_MIN) as usize).min(AT_ONCE_MAX).min(ends.len() - 1);
    let at_once = (1..=most).find(is_limit)? as f64;
    Some(ConcurrencyLimit { at_once, open, mean_s: at_once / per_s })
}

/// How spans begin.
struct Starts {
    /// Spans that begin while at least so many others are open.
    crowded: f64,
    /// Spans that begin when another ends.
    following: f64,
}

/// Counts how spans begin. One that begins at most `within_ns` before or after the end of another follows it: a client hands a connection
/// on in the callback of a response, and ends the span of that response later in the same turn of its event loop.
fn starts(spans: &[(i64, u64)], at_once: usize, within_ns: f64) -> Starts {
    let early_ns = within_ns as i64;
    let mut open: BinaryHeap<Reverse<i64>> = BinaryHeap::new();
    let mut last_end_ns = None::<i64>;
    let mut starts = Starts { crowded: 0.0, following: 0.0 };
    for (start_ns, span_ns) in spans {
        let is_over = |end: &Reverse<i64>| end.0 <= start_ns.saturating_add(early_ns);
        while let Some(Reverse(end_ns)) = open.peek().copied().filter(is_over) {
            last_end_ns = Some(end_ns);
            open.pop();
        }
        if open.len() >= at_once {
            starts.crowded += 1.0;
        }
        if last_end_ns.is_some_and(|end_ns| start_ns.abs_diff(end_ns) as f64 <= within_ns) {
            starts.following += 1.0;
        }
        open.push(Reverse(start_ns.saturating_add_unsigned(*span_ns)));
    }
    starts
}

/// Returns the probability of at least `count` by a Poisson distribution.
fn at_least(count: usize, mean: f64) -> f64 {
    let mut term = (-mean).exp();
    let mut less = 0.0;
    for number in 0..count {
        less += term;
        term *= mean / (number + 1) as f64;
    }
    (1.0 - less).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repeatable number from 0 to 1.
    fn spread(number: u64) -> f64 {
        (number.wrapping_mul(2_654_435_761) % 1_000_003) as f64 / 1_000_003.0
    }

    /// Five hundred spans of about 20 ms, each on the slot that is free first.
    fn queued(slots: usize) -> Vec<(i64, u64)> {
        let mut free_ns = vec![0_i64; slots];
        let span = |number| {
            let slot = free_ns.iter_mut().min().expect("a slot");
            let start_ns = *slot + 100_000;
            let length_ns = (20e6 * (0.5 + spread(number))) as u64;
            *slot = start_ns + length_ns as i64;
            (start_ns, length_ns)
        };
        (0..500).map(span).collect()
    }

    /// Spans of 20 ms that begin by chance, on average so many at a time.
    fn independent(open: f64) -> Vec<(i64, u64)> {
        let length_ns = 500.0 * 20e6 / open;
        (0..500).map(|number| ((spread(number * 7919 + 1) * length_ns) as i64, 20_000_000)).collect()
    }

    #[test]
    fn slots_that_are_always_taken_are_a_limit() {
        for slots in [1, 2, 4] {
            let found = limit(&queued(slots), 1.0).expect("a limit");
            assert_eq!(found.at_once, slots as f64);
            assert!((found.open / found.at_once - 1.0).abs() < 0.1, "{found:?}");
        }
    }

    #[test]
    fn a_part_of_the_spans_shows_the_limit() {
        for slots in [1, 2] {
            let half =
                queued(slots).into_iter().zip(0..).filter(|(_, number)| spread(*number * 104_729 + 7) < 0.5);
            let half: Vec<(i64, u64)> = half.map(|(span, _)| span).collect();
            let found = limit(&half, 500.0 / half.len() as f64).expect("a limit");
            assert_eq!(found.at_once, slots as f64);
        }
    }

    #[test]
    fn spans_that_end_after_they_handed_their_slot_on_show_the_limit() {
        let late = |(start_ns, length_ns): &(i64, u64)| (*start_ns, length_ns + 600_000);
        for slots in [1, 2, 4] {
            let spans: Vec<(i64, u64)> = queued(slots).iter().map(late).collect();
            assert_eq!(limit(&spans, 1.0).expect("a limit").at_once, slots as f64);
        }
    }

    #[test]
    fn even_starts_have_a_pace() {
        let paced = |number: u64| (number as i64 * 20_000_000 + (spread(number) * 1e6) as i64, 51_000_000);
        let all: Vec<(i64, u64)> = (0..500).map(paced).collect();
        let rate = pace(&all, 1.0).expect("a pace");
        assert!((rate - 50.0).abs() < 0.5, "{rate}");
        let third = |number: &u64| spread(number * 104_729 + 7) < 0.33;
        let traced: Vec<(i64, u64)> = (0..500).filter(third).map(paced).collect();
        let rate = pace(&traced, 500.0 / traced.len() as f64).expect("a pace");
        assert!((rate - 50.0).abs() < 2.0, "{rate}");
        assert_eq!(pace(&independent(2.0), 1.0), None);
        assert_eq!(pace(&all[..20], 1.0), None, "too few to decide");
        assert_eq!(pace(&[(7, 100); 200], 1.0), None, "all at once");
    }

    /// Five hundred calls of about 100 ms on so many slots, by users who call again 5 ms after each answer.
    fn evenly(slots: usize, users: usize) -> Vec<(i64, u64)> {
        let mut free_ns = vec![0_i64; slots];
        let mut ready_ns: Vec<i64> = (0..users as i64).map(|user| user * 3_000_000).collect();
        let call = |number| {
            let user = ready_ns.iter_mut().min().expect("a user");
            let slot = free_ns.iter_mut().min().expect("a slot");
            let asked_ns = *user;
            let end_ns = asked_ns.max(*slot) + 100_000_000 + (spread(number) * 5e6) as i64;
            (*slot, *user) = (end_ns, end_ns + 5_000_000);
            (asked_ns, end_ns.abs_diff(asked_ns))
        };
        (0..500).map(call).collect()
    }

    #[test]
    fn calls_that_wait_inside_their_spans_show_the_limit_by_their_ends() {
        for slots in [1, 2, 4] {
            let calls = evenly(slots, slots * 8);
            let found = in_line(&calls, 1.0).expect("a limit");
            assert_eq!(found.at_once, slots as f64);
            assert!((found.mean_s / 0.1 - 1.0).abs() < 0.1, "{found:?}");
            assert!((found.open / (slots * 8) as f64 - 1.0).abs() < 0.1, "{found:?}");
        }
        // As many are served as call, in the time of the callee.
        assert_eq!(in_line(&evenly(16, 16), 1.0), None);
        assert_eq!(in_line(&independent(4.0), 1.0), None);
        // Calls of a planned load, at even intervals.
        let planned: Vec<(i64, u64)> = (0..500).map(|number| (number * 20_000_000, 85_000_000)).collect();
        assert_eq!(in_line(&planned, 1.0), None);
        // A rate limit: the first calls pass at once.
        let paced = (0..500).map(|number: i64| {
            let end_ns = 50_000_000 * (number - 20).max(0) + number * 100_000;
            let asked_ns = if number < 16 { end_ns - 500_000 } else { end_ns - 800_000_000 };
            (asked_ns, end_ns.abs_diff(asked_ns))
        });
        assert_eq!(in_line(&paced.collect::<Vec<_>>(), 1.0), None);
        assert_eq!(in_line(&evenly(2, 16)[..20], 1.0), None, "too few to decide");
        assert_eq!(in_line(&[], 1.0), None);
    }

    #[test]
    fn independent_and_paced_work_has_no_limit() {
        for open in [0.3, 1.0, 2.0, 4.0] {
            assert_eq!(limit(&independent(open), 1.0), None, "{open}");
        }
        // Every 20 ms for 51 ms: never three at a time, and none because another has ended.
        let paced: Vec<(i64, u64)> = (0..500).map(|number| (number * 20_000_000, 51_000_000)).collect();
        assert_eq!(limit(&paced, 1.0), None);
        assert_eq!(limit(&queued(1)[..20], 1.0), None, "too few to decide");
        assert_eq!(limit(&[], 1.0), None);
    }
}
