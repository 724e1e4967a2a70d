//! Kneedle: the knee of throughput over load is where the curve is farthest above its chord.
//!
//! V. Satopää, J. Albrecht, D. Irwin and B. Raghavan, "Finding a 'Kneedle' in a Haystack" (2011), for a concave and rising curve.
//! Levels are few and are not smoothed; what falls is pooled first, as throughput does not rise and fall by itself.

use model::capacity::Estimate;

use crate::capacity::points::{Point, isotonic};

/// The paper's sensitivity: how far the difference must fall after its maximum, in mean steps of the load.
const SENSITIVITY: f64 = 1.0;

/// Fewer levels have a chord, and hardly a curve.
const LEVELS_MIN: usize = 4;

/// A curve that rises above its chord by less is straight.
const DIFFERENCE_MIN: f64 = 0.05;

pub(super) fn knee(points: &[Point]) -> Result<Estimate, &'static str> {
    if points.len() < LEVELS_MIN {
        return Err("there are fewer than 4 levels");
    }
    let throughput: Vec<f64> = points.iter().map(|point| point.throughput_per_s).collect();
    let (loads, curve) =
        (unit(points.iter().map(|point| point.load)), unit(isotonic(&throughput).into_iter()));
    let (Some(loads), Some(curve)) = (loads, curve) else { return Err("throughput does not rise") };
    let differences: Vec<f64> = curve.iter().zip(&loads).map(|(curve, load)| curve - load).collect();
    let step = 1.0 / (points.len() - 1) as f64;
    let at = (1..points.len() - 1)
        .filter(|at| differences[*at] >= differences[at - 1] && differences[*at] >= differences[at + 1])
        .find(|at| {
            let threshold = differences[*at] - SENSITIVITY * step;
            differences[*at] >= DIFFERENCE_MIN
                && differences[at + 1..].iter().any(|difference| *difference < threshold)
        })
        .ok_or("throughput bends nowhere by more than its noise")?;
    let load = |index: usize| points[index].load;
    Ok(Estimate { value: load(at), lower: load(at - 1), upper: load(at + 1) })
}

/// Values scaled to the range from 0 to 1; `None` where they are all the same.
fn unit(values: impl Iterator<Item = f64> + Clone) -> Option<Vec<f64>> {
    let (least, most) = (values.clone().fold(f64::INFINITY, f64::min), values.clone().fold(0.0, f64::max));
    (most > least).then(|| values.map(|value| (value - least) / (most - least)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(curve: &[(f64, f64)]) -> Vec<Point> {
        curve.iter().map(|(load, rate)| Point { load: *load, throughput_per_s: *rate, time_s: 1.0 }).collect()
    }

    #[track_caller]
    fn check(curve: &[(f64, f64)], expect: Result<f64, &str>) {
        assert_eq!(knee(&points(curve)).map(|knee| knee.value), expect, "{curve:?}");
    }

    #[test]
    fn the_bend_is_found() {
        let bent: Vec<(f64, f64)> = (1..=10).map(|load| (f64::from(load), f64::from(load.min(4)))).collect();
        check(&bent, Ok(4.0));
        // The curve of the paper's figure 2, y = −1/x + 5, has its knee at √(0.1 · 10) of its range, between 0.1 and 10.
        let paper: Vec<(f64, f64)> =
            (1..=100).map(|x| f64::from(x) / 10.0).map(|x| (x, 5.0 - 1.0 / x)).collect();
        check(&paper, Ok(1.0));
    }

    #[test]
    fn straight_and_flat_curves_have_none() {
        let straight: Vec<(f64, f64)> = (1..=6).map(|load| (f64::from(load), f64::from(load))).collect();
        check(&straight, Err("throughput bends nowhere by more than its noise"));
        check(&[(1.0, 5.0), (2.0, 5.0), (3.0, 5.0), (4.0, 5.0)], Err("throughput does not rise"));
        check(&straight[..3], Err("there are fewer than 4 levels"));
    }
}
