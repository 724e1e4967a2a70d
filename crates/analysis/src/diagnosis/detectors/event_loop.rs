//! A blocked event loop: one callback holds the only thread, and every request waits for its next turn.
//!
//! The evidence is the event loop delay that Node.js reports (`perf_hooks.monitorEventLoopDelay`). A request that arrives at a random
//! time waits for the residual of a delay, E\[d²\] / 2 E\[d\] (Kleinrock 1975, section 5.2). The mean and the 99th percentile bound
//! E\[d²\] from below, so the wait is a lower bound too; and a request waits at least once.
//!
//! Not: the delay of an idle loop, which is the resolution of its timer.

use model::diagnosis::{Change, Claim, CostClass, FigureName, Hypothesis, Note, Remedy};
use model::{Signal, SignalId, Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::series;
use super::super::thresholds::event_loop::{RESOLUTION_S, SHARE_MIN};

/// Finds event loops that most of a request waits for.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let loops = view.signals(&[SignalId::NodejsLagMean]);
    let findings = loops.into_iter().filter_map(|mean| finding(view, mean));
    findings.map(|hypothesis| Observation::Found(Box::new(hypothesis), Depth::Cause)).collect()
}

fn finding(view: &View<'_>, mean: &Signal) -> Option<Hypothesis> {
    let tail = view
        .level
        .series(SignalId::NodejsLagP99)
        .find(|tail| tail.source == mean.source && tail.labels == mean.labels);
    let mean_s = series::mean(view.level, mean)?;
    let tail_s = tail.and_then(|tail| series::mean(view.level, tail)).unwrap_or(mean_s);
    let wait_s = wait_min_s(mean_s, tail_s);
    let share = (wait_s / view.level.mean_s().filter(|mean_s| *mean_s > 0.0)?).min(1.0);
    if share < SHARE_MIN {
        return None;
    }
    let place = series::place(mean).to_owned();
    let claim = Claim::EventLoopBlocked { place: place.clone(), wait_s, delay_s: tail_s, time_share: share };
    Some(Hypothesis {
        strength: Strength::Limit,
        explains: Some(share),
        numbers: vec![
            exact(FigureName::QueueWait, wait_s, Unit::Seconds).noted(Note::LowerBound),
            exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
        ],
        queries: [Some(mean), tail].into_iter().flatten().map(|signal| view.query(signal)).collect(),
        cost: CostClass::Logic,
        prediction: view.without(share, Change::LoopFree),
        ..draft(claim, Remedy::MoveOffEventLoop { place: place.clone() }, place)
    })
}

/// Returns a lower bound of the mean wait of an arrival for its turn, seconds, beyond that of an idle loop.
fn wait_min_s(mean_s: f64, tail_s: f64) -> f64 {
    if mean_s <= 0.0 {
        return 0.0;
    }
    // One delay of a hundred is at least the 99th percentile, and the square of the mean is at most the mean of squares.
    let square_min = (0.01 * tail_s * tail_s).max(mean_s * mean_s);
    (square_min / (2.0 * mean_s) - RESOLUTION_S / 2.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, with_evidence};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn requests_wait_for_the_residual_of_a_delay() {
        // An idle loop; equal delays of 200 ms; one delay of 2 s among ninety-nine of 10 ms; no delays.
        let rows = [(0.01, 0.011, 0.0), (0.2, 0.2, 0.095), (0.0299, 2.0, 0.664), (0.0, 0.0, 0.0)];
        for (mean_s, tail_s, wait_s) in rows {
            let found_s = wait_min_s(mean_s, tail_s);
            assert!((found_s - wait_s).abs() < 1e-3, "{mean_s} {tail_s}: {found_s}");
        }
    }

    #[test]
    fn a_loop_that_requests_wait_for_is_named() {
        let case = |mean, tail| {
            let labels = [("instance", "shop:9464")];
            let signals =
                vec![flat("nodejs_lag_mean", &labels, 10, mean), flat("nodejs_lag_p99", &labels, 10, tail)];
            with_evidence(level(10, 10, 0.3), signals, Vec::new())
        };
        check(detect, &case(0.2, 0.25), &["event loop blocked: shop:9464"]);
        check(detect, &case(0.011, 0.013), &[]);
        check(detect, &level(10, 10, 0.3), &[]);
    }
}
