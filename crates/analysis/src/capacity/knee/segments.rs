//! Two straight lines that meet: the knee of throughput over load is where they do.
//!
//! The place is tried along the loads, and the one of the least squares counts (D. J. Hudson, 1966). Its interval comes of a wild
//! bootstrap: residuals keep their level and change their sign at random (C. F. J. Wu, 1986), as the few levels there are cannot
//! stand for each other.

use model::capacity::Estimate;
use stats::Random;

use crate::capacity::points::Point;

/// Four numbers are fitted; with fewer levels they always fit.
const LEVELS_MIN: usize = 5;

/// Places that are tried between the second level and the last but one.
const PLACES: usize = 200;

const REPLICATES: usize = 199;

const SEED: u64 = 1;

/// Maximum ratio of the second slope to the first for the bend to count as a knee.
const SLOPE_MAX: f64 = 0.8;

/// A fit: sum of squared residuals, breakpoint, both slopes, and the fitted value of each level.
struct Fit {
    squares: f64,
    place: f64,
    slopes: (f64, f64),
    fitted: Vec<f64>,
}

pub(super) fn knee(points: &[Point]) -> Result<Estimate, &'static str> {
    if points.len() < LEVELS_MIN {
        return Err("there are fewer than 5 levels");
    }
    let loads: Vec<f64> = points.iter().map(|point| point.load).collect();
    let rates: Vec<f64> = points.iter().map(|point| point.throughput_per_s).collect();
    let best = best(&loads, &rates).ok_or("no two lines fit the levels")?;
    if best.slopes.0 <= 0.0 || best.slopes.1 > SLOPE_MAX * best.slopes.0 {
        return Err("throughput does not bend");
    }
    let mut random = Random::new(SEED);
    let mut places: Vec<f64> = (0..REPLICATES)
        .filter_map(|_| {
            let turned = |(fitted, rate): (&f64, &f64)| {
                fitted + (rate - fitted) * if random.below(2) == 0 { 1.0 } else { -1.0 }
            };
            let rates: Vec<f64> = best.fitted.iter().zip(&rates).map(turned).collect();
            self::best(&loads, &rates).map(|fit| fit.place)
        })
        .collect();
    places.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| places.get((share * places.len().saturating_sub(1) as f64).round() as usize);
    let (lower, upper) = (at(0.025).copied(), at(0.975).copied());
    Ok(Estimate {
        value: best.place,
        lower: lower.unwrap_or(best.place).min(best.place),
        upper: upper.unwrap_or(best.place).max(best.place),
    })
}

fn best(loads: &[f64], rates: &[f64]) -> Option<Fit> {
    let (from, to) = (loads[1], loads[loads.len() - 2]);
    let places = (0..=PLACES).map(|step| from + (to - from) * step as f64 / PLACES as f64);
    places.filter_map(|place| fit(loads, rates, place)).min_by(|a, b| a.squares.total_cmp(&b.squares))
}

/// y = a + b·min(x − k, 0) + c·max(x − k, 0), by least squares.
fn fit(loads: &[f64], rates: &[f64], place: f64) -> Option<Fit> {
    let row = |load: f64| [1.0, (load - place).min(0.0), (load - place).max(0.0)];
    let rows: Vec<[f64; 3]> = loads.iter().map(|load| row(*load)).collect();
    let [level, before, after] = super::super::squares::solve(&rows, rates, &vec![1.0; rates.len()])?;
    let fitted: Vec<f64> = rows.iter().map(|row| level + before * row[1] + after * row[2]).collect();
    let squares = fitted.iter().zip(rates).map(|(fitted, rate)| (rate - fitted).powi(2)).sum();
    Some(Fit { squares, place, slopes: (before, after), fitted })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::testing::close;

    fn points(rate: impl Fn(f64) -> f64) -> Vec<Point> {
        let loads = [10.0, 20.0, 30.0, 40.0, 60.0, 80.0, 100.0];
        loads.map(|load| Point { load, throughput_per_s: rate(load), time_s: 1.0 }).to_vec()
    }

    #[test]
    fn the_place_where_two_lines_meet_is_found() {
        let found = knee(&points(|load| 2.0 * load.min(45.0))).expect("a knee");
        close(found.value, 45.0, 0.4);
        close(found.lower, found.upper, 0.5);
    }

    #[test]
    fn noise_widens_the_interval() {
        let mut noise = [3.0, -4.0, 2.0, -3.0, 4.0, -2.0, 3.0].into_iter();
        let mut levels = points(|load| 2.0 * load.min(45.0));
        levels.iter_mut().for_each(|level| level.throughput_per_s += noise.next().unwrap_or(0.0));
        let found = knee(&levels).expect("a knee");
        assert!(found.lower < 45.0 && 45.0 < found.upper && found.upper - found.lower > 2.0, "{found:?}");
    }

    #[test]
    fn a_straight_line_has_no_knee() {
        assert_eq!(knee(&points(|load| load)), Err("throughput does not bend"));
        assert_eq!(knee(&points(|load| load)[..4]), Err("there are fewer than 5 levels"));
    }
}
