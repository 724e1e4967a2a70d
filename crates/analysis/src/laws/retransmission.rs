//! Times after which TCP sends a SYN again.

use histo::Histogram;
use model::Trend;

/// The wait before the first repetition, in seconds (RFC 6298, section 2.1; Linux's `TCP_TIMEOUT_INIT`). Each further wait is
/// twice as long.
pub const FIRST_S: f64 = 1.0;

/// Repetitions that are recognised; Linux gives up after six.
const LOST_MAX: u32 = 5;

/// How much longer than the waits a connect may take and still be explained by them, as a share. Wider bands would call
/// every slow connect a loss.
const OVER_SHARE_MAX: f64 = 0.1;

/// A step of the sequence 1, 3, 7, 15, 31 s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// SYNs that were lost before one was answered.
    pub lost: u32,
    /// The sum of the waits, in seconds.
    pub after_s: f64,
}

/// The step that explains a connect time, if one does.
pub fn step(connect_s: f64) -> Option<Step> {
    (1..=LOST_MAX)
        .map(of_lost)
        .find(|step| (step.after_s..=step.after_s * (1.0 + OVER_SHARE_MAX)).contains(&connect_s))
}

fn of_lost(lost: u32) -> Step {
    Step { lost, after_s: FIRST_S * (2f64.powi(lost as i32) - 1.0) }
}

/// Waits after which a lost SYN is answered that are looked for in a distribution, in seconds (RFC 6298, section 2).
const AFTER_LOST_SYNS_S: [f64; 3] = [1.0, 3.0, 7.0];

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
    for after_s in AFTER_LOST_SYNS_S {
        let here = between(after_s * 0.995, after_s * 1.1);
        let around = between(after_s * 0.88, after_s * 0.985).max(between(after_s * 1.15, after_s * 1.255));
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
    fn steps_double() {
        for (connect_s, lost) in [
            (0.99, None),
            (1.0, Some(1)),
            (1.1, Some(1)),
            (1.11, None),
            (3.04, Some(2)),
            (3.31, None),
            (7.02, Some(3)),
            (11.29, None),
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
        check(&[(5.0, 500)], 0, 0.0);
        // A broad distribution has as many around the step as in it.
        check(&[(880.0, 6_000)], 0, 0.0);
    }
}
