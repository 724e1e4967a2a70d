//! Differences between server metrics of both sides, such as CPU use.

use stats::{Estimate, RatioEstimate, adjusted_p_values, log_ratio};

use super::verdict::{self, Effort};
use super::{Options, Verdict, Why};

/// A metric of which less is better, with its value in every run of both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Display name.
    pub name: String,
    /// Seconds from one value to the next.
    pub step_s: f64,
    /// The values of each run of the first side.
    pub a: Vec<Vec<f64>>,
    /// The values of each run of the second side.
    pub b: Vec<Vec<f64>>,
}

/// A server metric of both sides, and the verdict on its difference.
#[derive(Clone, Debug)]
pub struct LevelRow {
    /// Display name.
    pub name: String,
    /// The first side's mean; `None` where it is not above 0.
    pub a: Option<f64>,
    /// The second side's.
    pub b: Option<f64>,
    /// Their ratio with its interval.
    pub ratio: Option<RatioEstimate>,
    /// The smallest share of false findings at which this row is one, over all levels.
    pub q_value: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

/// Compares levels, each with the care that [`super::compare`] takes of what is measured each second.
pub fn levels(levels: &[Level], options: &Options) -> Vec<LevelRow> {
    let mut rows: Vec<LevelRow> = levels.iter().map(|level| row(level, options.confidence)).collect();
    let p_value = |row: &LevelRow| row.ratio.map_or(f64::NAN, |ratio| ratio.p_value);
    let q_values = adjusted_p_values(&rows.iter().map(p_value).collect::<Vec<f64>>());
    for ((row, level), q_value) in rows.iter_mut().zip(levels).zip(q_values) {
        let Some(ratio) = &row.ratio else { continue };
        row.verdict = verdict::on_ratio(ratio, q_value, options.margin, true, effort(level), options);
        row.q_value = Some(q_value);
    }
    rows
}

fn row(level: &Level, confidence: f64) -> LevelRow {
    let (a, b) = (estimate(&level.a), estimate(&level.b));
    let ratio = a.as_ref().zip(b.as_ref()).map(|(a, b)| log_ratio(a, b, confidence));
    LevelRow {
        name: level.name.clone(),
        a: a.map(|estimate| estimate.value),
        b: b.map(|estimate| estimate.value),
        ratio,
        q_value: None,
        verdict: Verdict::NotAvailable(Why::NoValues),
    }
}

fn estimate(runs: &[Vec<f64>]) -> Option<Estimate> {
    Estimate::of_seconds(&runs.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn effort(level: &Level) -> Effort {
    let minutes = |runs: &[Vec<f64>]| runs.iter().map(Vec::len).sum::<usize>() as f64 * level.step_s / 60.0;
    Effort { minutes: minutes(&level.a).min(minutes(&level.b)), runs: level.a.len().min(level.b.len()) }
}

#[cfg(test)]
mod tests {
    use stats::Random;

    use super::*;

    /// Three runs a side of a minute each, around a mean.
    fn side(mean: f64, seed: u64) -> Vec<Vec<f64>> {
        let mut random = Random::new(seed);
        let mut run = || (0..60).map(|_| mean * (1.0 + 0.05 * random.normal())).collect();
        (0..3).map(|_| run()).collect()
    }

    #[track_caller]
    fn check(a: Vec<Vec<f64>>, b: Vec<Vec<f64>>, expect: Verdict) {
        let level = Level { name: "cpu".to_owned(), step_s: 1.0, a, b };
        let rows = levels(&[level], &Options::default());
        assert_eq!(rows[0].verdict, expect, "{rows:?}");
    }

    #[test]
    fn levels_become_words() {
        check(side(0.4, 1), side(0.5, 2), Verdict::Regressed);
        check(side(0.4, 3), side(0.3, 4), Verdict::Improved);
        check(side(0.4, 5), side(0.4, 6), Verdict::Equivalent);
        check(side(0.0, 7), side(0.4, 8), Verdict::NotAvailable(Why::NoValues));
        check(Vec::new(), side(0.4, 9), Verdict::NotAvailable(Why::NoValues));
    }
}
