//! A network that carries nothing: requests are under way, nothing comes back, and TCP sends again.

use model::{Amount, Fault};

use crate::validity::judge::{Case, Limits, Ruling};
use crate::validity::second::Second;

/// A silent second is invalid at once: the target was not observed.
const LIMITS: Limits = Limits::new(0.0, 0.0);

/// Silence in so many seconds in a row is no coincidence.
const SILENT_SECONDS_MIN: usize = 2;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    if case.seconds.iter().all(|second| second.in_flight_ms == 0.0) {
        return Ruling::NotApplicable;
    }
    let silent = silent_runs(&case.seconds);
    case.by_second(Fault::Network, Amount::Count, LIMITS, |second| {
        second.pulse.segments_repeated?;
        let run = silent.iter().find(|run| run.contains(&second.index));
        Some(run.map_or(0.0, |run| f64::from(run.end - run.start)))
    })
}

/// Retransmissions in such seconds, as a share of all segments. A slow target is silent, too, and others in the network
/// namespace send a segment again now and then.
const REPEATED_SHARE_MIN: f64 = 0.01;

/// Seconds in a row in which nothing came and TCP sent again.
fn silent_runs(seconds: &[Second]) -> Vec<std::ops::Range<u32>> {
    let is_silent = |second: &&Second| second.received == 0.0 && second.in_flight_ms > 0.0;
    let runs = crate::validity::judge::ranges(seconds.iter().filter(is_silent).map(|second| second.index));
    let sent_again = |run: &std::ops::Range<u32>| {
        let inside = || seconds.iter().filter(|second| run.contains(&second.index));
        let repeated: f64 = inside().filter_map(|second| second.pulse.segments_repeated).sum();
        let segments: f64 = inside().filter_map(|second| second.pulse.segments).sum();
        repeated > 0.0 && repeated > REPEATED_SHARE_MIN * segments
    };
    runs.into_iter().filter(|run| run.len() >= SILENT_SECONDS_MIN).filter(sent_again).collect()
}

#[cfg(test)]
mod tests {
    use model::{Grade, Vital};

    use super::*;
    use crate::validity::testing::{Run, grade};

    fn cut(from: u32, to: u32, repeated: f64) -> Run {
        Run::clean(30).change(|index, second| {
            if (from..to).contains(&index) {
                second.received = 0.0;
                second.set(Vital::SegmentsRepeated, repeated);
                second.set(Vital::SegmentsSent, 200.0);
            }
        })
    }

    #[test]
    fn silence_with_repetition_is_a_cut() {
        assert_eq!(grade(Fault::Network, &cut(5, 6, 3.0)), Grade::Valid);
        assert_eq!(grade(Fault::Network, &cut(5, 7, 3.0)), Grade::Degraded);
        assert_eq!(grade(Fault::Network, &cut(5, 15, 3.0)), Grade::Invalid);
    }

    #[test]
    fn a_slow_target_is_silent_too() {
        assert_eq!(grade(Fault::Network, &cut(5, 15, 0.0)), Grade::Valid);
        assert_eq!(grade(Fault::Network, &cut(5, 15, 1.0)), Grade::Valid);
    }
}
