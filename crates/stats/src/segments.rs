//! Two straight lines that meet: where a curve bends.

/// Two lines that meet at a knot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoSegments {
    /// Where they meet.
    pub knot: f64,
    /// The height there.
    pub height: f64,
    /// The slope before the knot.
    pub slope_before: f64,
    /// The slope after it.
    pub slope_after: f64,
    /// The sum of squared vertical distances from the points.
    pub squares: f64,
}

/// The fewest points: two on either side of the knot.
const POINTS_MIN: usize = 4;

/// Steps of the search within the gap between two points, each narrowing it to 62 %.
const SEARCH_STEPS: usize = 60;

/// The continuous curve of two straight lines that is nearest to the points in squares (Hudson, "Fitting Segmented Curves
/// Whose Join Points Have to be Estimated", 1966). `None` with fewer than four distinct, finite places.
pub fn two_segments(points: &[(f64, f64)]) -> Option<TwoSegments> {
    let mut points = points.to_vec();
    if points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return None;
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut places: Vec<f64> = points.iter().map(|(x, _)| *x).collect();
    places.dedup();
    if places.len() < POINTS_MIN {
        return None;
    }
    let gaps = places[1..places.len() - 1].windows(2);
    let fits = gaps.filter_map(|gap| best_within(&points, gap[0], gap[1]));
    fits.min_by(|a, b| a.squares.total_cmp(&b.squares))
}

/// The best knot in a gap, by golden sections: between two points the squares have one minimum at most.
fn best_within(points: &[(f64, f64)], mut from: f64, mut to: f64) -> Option<TwoSegments> {
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let mut best: Option<TwoSegments> = None;
    let mut keep = |fit: Option<TwoSegments>| -> f64 {
        let squares = fit.map_or(f64::INFINITY, |fit| fit.squares);
        if best.is_none_or(|best| squares < best.squares) {
            best = fit.or(best);
        }
        squares
    };
    keep(fit_at(points, from));
    keep(fit_at(points, to));
    for _ in 0..SEARCH_STEPS {
        let (left, right) = (to - ratio * (to - from), from + ratio * (to - from));
        if keep(fit_at(points, left)) <= keep(fit_at(points, right)) {
            to = right;
        } else {
            from = left;
        }
    }
    best
}

/// The lines for a known knot: least squares on `min(x − knot, 0)`, `max(x − knot, 0)` and a constant.
fn fit_at(points: &[(f64, f64)], knot: f64) -> Option<TwoSegments> {
    let row = |x: f64| [1.0, (x - knot).min(0.0), (x - knot).max(0.0)];
    let mut system = [[0.0; 4]; 3];
    for (x, y) in points {
        let row = row(*x);
        for (i, line) in system.iter_mut().enumerate() {
            for j in 0..3 {
                line[j] += row[i] * row[j];
            }
            line[3] += row[i] * y;
        }
    }
    let [height, slope_before, slope_after] = solve(system)?;
    let squares = points.iter().map(|(x, y)| {
        let [one, before, after] = row(*x);
        (y - height * one - slope_before * before - slope_after * after).powi(2)
    });
    Some(TwoSegments { knot, height, slope_before, slope_after, squares: squares.sum() })
}

/// Gaussian elimination with the largest pivot; `None` for a singular system.
fn solve(mut system: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for column in 0..3 {
        let pivot =
            (column..3).max_by(|a, b| system[*a][column].abs().total_cmp(&system[*b][column].abs()))?;
        system.swap(column, pivot);
        if system[column][column].abs() < f64::MIN_POSITIVE {
            return None;
        }
        for line in 0..3 {
            if line != column {
                let factor = system[line][column] / system[column][column];
                let pivot_line = system[column];
                system[line].iter_mut().zip(pivot_line).for_each(|(cell, above)| *cell -= factor * above);
            }
        }
    }
    Some([0, 1, 2].map(|line| system[line][3] / system[line][line]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bend_is_found_between_points() {
        let curve = |x: f64| if x < 4.3 { 1.0 } else { 1.0 + 3.0 * (x - 4.3) };
        let points: Vec<(f64, f64)> = (0..10).map(|x| (f64::from(x), curve(f64::from(x)))).collect();
        let found = two_segments(&points).expect("enough points");
        assert!((found.knot - 4.3).abs() < 1e-6 && found.squares < 1e-12, "{found:?}");
        assert!((found.slope_before).abs() < 1e-6 && (found.slope_after - 3.0).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn too_few_places_have_no_bend() {
        assert_eq!(two_segments(&[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]), None);
        assert_eq!(two_segments(&[(1.0, 1.0); 9]), None);
        assert_eq!(two_segments(&[(f64::NAN, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0)]), None);
    }
}
