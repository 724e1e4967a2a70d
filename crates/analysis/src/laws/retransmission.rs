//! Times after which TCP sends a SYN again.

use histo::Histogram;
use model::Trend;

/// The wait before the first repetition, in seconds (RFC 6298, section 2.1; Linux's `TCP_TIMEOUT_INIT`).
pub const FIRST_S: f64 = 1.0;

/// Waits until a SYN is answered whose first repetitions are lost, in seconds: each wait is twice as long as the one before
/// (RFC 6298, section 5.5).
const DOUBLED_S: [f64; 5] = [1.0, 3.0, 7.0, 15.0, 31.0];

/// The same since Linux 6.5, which repeats four times at intervals of a second before it doubles them (`tcp_syn_linear_timeouts` in
/// the kernel's documentation of `ip-sysctl`).
const LINEAR_S: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 11.0, 19.0];

/// How much longer than the waits a connect may take and still be explained by them, as a share. Wider bands would call
/// every slow connect a loss.
const OVER_DOUBLED_MAX: f64 = 0.1;

/// The same for waits at intervals of a second, whose bands lie closer together.
const OVER_LINEAR_MAX: f64 = 0.05;

/// A step of one of the sequences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// SYNs that were lost before one was answered.
    pub lost: u32,
    /// The sum of the waits, in seconds.
    pub after_s: f64,
}

/// The step that explains a connect time, if one does.
pub fn step(connect_s: f64) -> Option<Step> {
    let of = |waits_s: &[f64], over_max: f64| {
        let steps = (1..).zip(waits_s).map(|(lost, after_s)| Step { lost, after_s: *after_s });
        let mut steps =
            steps.filter(|step| (step.after_s..=step.after_s * (1.0 + over_max)).contains(&connect_s));
        steps.next()
    };
    of(&DOUBLED_S, OVER_DOUBLED_MAX).or_else(|| of(&LINEAR_S, OVER_LINEAR_MAX))
}

/// Waits of both sequences that are looked for in distributions of times, in seconds. Longer ones are too rare to stand out.
pub const AFTER_LOST_SYNS_S: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0];

/// A step stands out of a distribution where its band holds more than so many times as many values as the bands beside it.
const STANDS_OUT: u64 = 3;

/// Times that lost SYNs explain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Retransmitted {
    /// How many.
    pub count: u64,
    /// The sum of their waits, in seconds.
    pub total_s: f64,
}

/// Counts the times (in milliseconds) that stand out at the waits of lost SYNs, beyond as many as the times around have. A broad
/// distribution has no such step.
pub fn retransmitted(times: &Trend) -> Retransmitted {
    let histogram: Histogram = times.values.to_histogram();
    let between = |from_s: f64, to_s: f64| -> u64 {
        let inside =
            histogram.buckets().filter(|bucket| bucket.lower >= from_s * 1e3 && bucket.upper <= to_s * 1e3);
        inside.map(|bucket| bucket.count).fold(0, u64::saturating_add)
    };
    let mut found = Retransmitted::default();
    for (at, after_s) in AFTER_LOST_SYNS_S.into_iter().enumerate() {
        let here = between(after_s * 0.995, after_s * 1.1);
        let next_s = AFTER_LOST_SYNS_S.get(at + 1).map_or(f64::INFINITY, |next_s| next_s * 0.985);
        let above = between(after_s * 1.15, (after_s * 1.255).min(next_s));
        let around = between(after_s * 0.88, after_s * 0.985).max(above);
        if here > around.saturating_mul(STANDS_OUT) {
            found.count += here - around;
            found.total_s += (here - around) as f64 * after_s;
        }
    }
    found
}

/// Counts the times that are above zero: of connect times, the connections that were opened.
pub fn count_above_zero(times: &Trend) -> u64 {
    let histogram: Histogram = times.values.to_histogram();
    let above = histogram.buckets().filter(|bucket| bucket.upper > 0.0).map(|bucket| bucket.count);
    above.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use model::Mark;

    use super::*;

    #[test]
    fn steps_double_or_come_each_second_at_first() {
        for (connect_s, lost) in [
            (0.99, None),
            (1.0, Some(1)),
            (1.1, Some(1)),
            (1.11, None),
            (2.04, Some(2)),
            (2.5, None),
            (3.04, Some(2)),
            (3.31, None),
            (4.02, Some(4)),
            (4.4, None),
            (7.02, Some(3)),
            (11.29, Some(7)),
            (12.0, None),
            (31.5, Some(5)),
            (63.0, None),
            (f64::NAN, None),
        ] {
            assert_eq!(step(connect_s).map(|step| step.lost), lost, "{connect_s}");
        }
    }

    fn times(steps: &[(f64, u32)]) -> Trend {
        let mut trend = Trend::default();
        for (ms, count) in steps {
            (0..*count).for_each(|at| trend.record(ms + f64::from(at) * 0.1, Mark::Measured));
        }
        trend
    }

    #[test]
    fn steps_stand_out() {
        let check = |steps: &[(f64, u32)], count: u64, total_s: f64| {
            assert_eq!(retransmitted(&times(steps)), Retransmitted { count, total_s }, "{steps:?}");
        };
        check(&[(5.0, 500), (1_004.0, 40), (3_020.0, 7)], 47, 61.0);
        check(&[(5.0, 500), (1_004.0, 40), (2_004.0, 20), (4_010.0, 9), (5_010.0, 9)], 78, 161.0);
        check(&[(5.0, 500)], 0, 0.0);
        // A broad distribution has as many around the step as in it.
        check(&[(880.0, 6_000)], 0, 0.0);
    }
}
