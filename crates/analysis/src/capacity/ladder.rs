//! A word for each level of load.

use std::cmp::Ordering;

use model::capacity::Verdict;

use super::knee;
use super::points::Point;

/// Throughput that falls below the largest before it by more than this has collapsed.
const COLLAPSE_SHARE: f64 = 0.1;

/// Below this, more load brings hardly more throughput: the exponent of throughput over load between two levels.
const ELASTICITY_SATURATED: f64 = 0.2;

/// A verdict for each level, the levels in ascending order of their load; `is_broken` says of each whether an objective does not
/// hold there.
pub fn verdicts(points: &[Point], is_broken: &[bool]) -> Vec<Verdict> {
    let strongest = knee::strongest(points).ok();
    (0..points.len())
        .map(|index| verdict(points, index, strongest, is_broken.get(index) == Some(&true)))
        .collect()
}

/// Whether a level's throughput fell from what lower loads reached.
pub fn is_collapse(points: &[Point], index: usize) -> bool {
    let lower = points[..index].iter().filter(|point| point.load < points[index].load);
    let before = lower.map(|point| point.throughput_per_s).fold(0.0, f64::max);
    points[index].throughput_per_s < before * (1.0 - COLLAPSE_SHARE)
}

/// `strongest` is the level of the knee; without one no level is at it or past it.
fn verdict(points: &[Point], index: usize, strongest: Option<usize>, is_broken: bool) -> Verdict {
    let point = points[index];
    if is_collapse(points, index) {
        return Verdict::Collapse;
    }
    if is_broken {
        return Verdict::SloExceeded;
    }
    let Some(before) = points[..index].iter().rev().find(|before| before.load < point.load) else {
        return Verdict::Baseline;
    };
    let elasticity =
        (point.throughput_per_s / before.throughput_per_s).ln() / (point.load / before.load).ln();
    match strongest.map(|strongest| index.cmp(&strongest)) {
        _ if elasticity < ELASTICITY_SATURATED => Verdict::Saturated,
        None | Some(Ordering::Less) => Verdict::Normal,
        Some(Ordering::Equal) => Verdict::Knee,
        Some(Ordering::Greater) => Verdict::PastKnee,
    }
}

#[cfg(test)]
mod tests {
    use super::super::points::tests::ideal;
    use super::*;

    fn judged(points: &[Point], slo_s: f64) -> Vec<Verdict> {
        let is_broken: Vec<bool> = points.iter().map(|point| point.time_s > slo_s).collect();
        verdicts(points, &is_broken)
    }

    #[test]
    fn the_ladder_names_the_worst_first() {
        use Verdict::{Baseline, Collapse, Knee, Saturated, SloExceeded};
        assert_eq!(judged(&ideal(), 4.0), [Baseline, Knee, Saturated, Saturated, SloExceeded, SloExceeded]);
        let mut fallen = ideal();
        fallen[5].throughput_per_s = 8.9;
        assert_eq!(verdicts(&fallen, &[])[5], Collapse);
        fallen[5].throughput_per_s = 9.1;
        assert_eq!(verdicts(&fallen, &[])[5], Saturated);
        assert_eq!(judged(&ideal()[..1], 0.5), [SloExceeded]);
    }

    #[test]
    fn a_load_that_is_measured_twice_is_no_step() {
        let twice = [ideal()[0], ideal()[0]];
        assert_eq!(verdicts(&twice, &[]), [Verdict::Baseline, Verdict::Baseline]);
    }
}
