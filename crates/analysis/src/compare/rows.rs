//! One row per series and figure.

use std::ops::Range;

use stats::{
    ErrorRatio, ErrorSide, Estimate, RatioEstimate, SheetPart, adjusted_p_values, error_ratio,
    independent_samples_min, log_ratio, over_dispersion,
};

use super::verdict::{self, Effort};
use super::{Options, Run, Verdict, Why};

/// Seconds of a block whose errors are counted together: longer than most bursts.
const ERROR_BLOCK_S: usize = 10;

/// The name of the rows that are about all series together.
pub const ALL_SERIES: &str = "";

/// The figure that a row compares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// The mean of the successes, in milliseconds.
    Mean,
    /// A quantile of all requests, those that failed or timed out ranking above every success, in milliseconds.
    Quantile(f64),
    /// The share of requests that failed or timed out.
    ErrorShare,
    /// Good responses per second.
    Goodput,
    /// Iterations finished per second, over all series.
    Throughput,
}

/// A figure of both sides, and the verdict on its difference.
#[derive(Clone, Debug)]
pub struct Row {
    /// The series; [`ALL_SERIES`] for what is about the run.
    pub series: String,
    /// The figure.
    pub measure: Measure,
    /// The first side's.
    pub a: Option<f64>,
    /// The second side's.
    pub b: Option<f64>,
    /// Their ratio with its interval; shares of errors have [`Row::errors`] instead.
    pub ratio: Option<RatioEstimate>,
    /// The comparison of shares of errors.
    pub errors: Option<ErrorRatio>,
    /// The smallest share of false findings at which this row is one, over all rows.
    pub q_value: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

/// A side's runs with the seconds that are judged.
type Side<'a> = (&'a [Run], &'a [Range<usize>]);

/// The rows that say that there is no steady part.
pub(super) fn without_steady_part(a: &[Run], b: &[Run], options: &Options) -> Vec<Row> {
    let row = |series: &str, measure| empty(series, measure, Why::NoSteadyPart);
    let mut rows: Vec<Row> = vec![row(ALL_SERIES, Measure::Throughput)];
    for series in names(a, b) {
        rows.extend(measures(options).map(|measure| row(series, measure)));
    }
    rows
}

/// All rows with their verdicts.
pub(super) fn rows(a: Side, b: Side, refusal: Option<Why>, options: &Options) -> Vec<Row> {
    let mut rows = vec![refused(throughput(a, b, options.confidence), refusal)];
    rows.extend(all_series_rows(a, b, refusal, options));
    let p_value = |row: &Row| match (&row.ratio, &row.errors) {
        (Some(ratio), _) => ratio.p_value,
        (None, Some(errors)) => errors.p_value,
        (None, None) => f64::NAN,
    };
    let q_values = adjusted_p_values(&rows.iter().map(p_value).collect::<Vec<f64>>());
    let effort = effort(a, b);
    for (row, q_value) in rows.iter_mut().zip(q_values) {
        judge(row, q_value, effort, options);
    }
    rows
}

/// The rows of all series. Many series are shared by as many threads as there are cores.
fn all_series_rows(a: Side, b: Side, refusal: Option<Why>, options: &Options) -> Vec<Row> {
    let names: Vec<&str> = names(a.0, b.0).collect();
    let of_some = |names: &[&str]| -> Vec<Row> {
        names.iter().flat_map(|name| series_rows(name, a, b, refusal, options)).collect()
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores == 1 || names.len() < SERIES_PER_THREAD_MIN * 2 {
        return of_some(&names);
    }
    let share = names.len().div_ceil(cores).max(SERIES_PER_THREAD_MIN);
    std::thread::scope(|scope| {
        let of_some = &of_some;
        let threads: Vec<_> = names.chunks(share).map(|some| scope.spawn(move || of_some(some))).collect();
        let rows = threads.into_iter();
        rows.flat_map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// For fewer, a thread is not worth its start.
const SERIES_PER_THREAD_MIN: usize = 8;

/// The series that both sides have, in the order of the first side.
fn names<'a>(a: &'a [Run], b: &'a [Run]) -> impl Iterator<Item = &'a str> {
    let first = a.first().map_or([].as_slice(), |run| run.series.as_slice());
    let common = first.iter().map(|series| series.name.as_str());
    common.filter(move |name| a.iter().chain(b).all(|run| run.series(name).is_some()))
}

fn measures(options: &Options) -> impl Iterator<Item = Measure> {
    let quantiles = options.quantiles.iter().map(|quantile| Measure::Quantile(*quantile));
    std::iter::once(Measure::Mean).chain(quantiles).chain([Measure::ErrorShare, Measure::Goodput])
}

fn empty(series: &str, measure: Measure, why: Why) -> Row {
    Row {
        series: series.to_owned(),
        measure,
        a: None,
        b: None,
        ratio: None,
        errors: None,
        q_value: None,
        verdict: Verdict::NotAvailable(why),
    }
}

fn throughput(a: Side, b: Side, confidence: f64) -> Row {
    let side = |(runs, parts): Side| {
        let of_run = |(run, part): (&Run, &Range<usize>)| -> Vec<f64> {
            let seconds = run.load.get(part.start..part.end.min(run.load.len())).unwrap_or_default();
            seconds.iter().map(|second| second.finished as f64).collect()
        };
        per_second(&runs.iter().zip(parts).map(of_run).collect::<Vec<_>>())
    };
    compared(ALL_SERIES, Measure::Throughput, side(a), side(b), confidence)
}

/// The row with its figures alone, if there is a reason to say no more.
fn refused(row: Row, why: Option<Why>) -> Row {
    match why {
        Some(why) => Row { ratio: None, verdict: Verdict::NotAvailable(why), ..row },
        None => row,
    }
}

fn per_second(runs: &[Vec<f64>]) -> Option<Estimate> {
    Estimate::of_seconds(&runs.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn series_rows(name: &str, a: Side, b: Side, refusal: Option<Why>, options: &Options) -> Vec<Row> {
    let (part_a, part_b) = (part(name, a), part(name, b));
    let row = |measure, estimates: (Option<Estimate>, Option<Estimate>)| {
        refused(compared(name, measure, estimates.0, estimates.1, options.confidence), refusal)
    };
    let mut rows = vec![row(Measure::Mean, (part_a.mean(), part_b.mean()))];
    let tails = part_a.quantiles(&options.quantiles).into_iter().zip(part_b.quantiles(&options.quantiles));
    for (tail_a, tail_b) in tails {
        let quantile = tail_a.quantile;
        let mut row = row(Measure::Quantile(quantile), (tail_a.estimate.clone(), tail_b.estimate.clone()));
        if let Some(why) = unsupported(quantile, [(&tail_a.estimate, &part_a), (&tail_b.estimate, &part_b)]) {
            row = refused(row, refusal.or(Some(why)));
        }
        rows.push(row);
    }
    rows.push(error_row(name, a, b, options.confidence));
    rows.push(row(Measure::Goodput, (goodput(name, a, options), goodput(name, b, options))));
    rows
}

fn part<'a>(name: &str, (runs, parts): Side<'a>) -> SheetPart<'a> {
    let of_run = |(run, part): (&'a Run, &Range<usize>)| Some((&run.series(name)?.sheet, part.clone()));
    SheetPart::new(&runs.iter().zip(parts).filter_map(of_run).collect::<Vec<_>>())
}

/// Why a quantile has no figure, if it has none.
fn unsupported(quantile: f64, sides: [(&Option<Estimate>, &SheetPart); 2]) -> Option<Why> {
    if sides.iter().any(|(_, part)| part.measured() == 0) {
        return Some(Why::NoValues);
    }
    if sides.iter().any(|(estimate, _)| estimate.is_none()) {
        return Some(Why::Censored);
    }
    let have = sides.iter().filter_map(|(estimate, part)| {
        let independent = estimate.as_ref()?.effective_number;
        Some(independent.min(part.population() as f64))
    });
    let have = have.reduce(f64::min)? as u64;
    let needed = independent_samples_min(quantile);
    (have < needed).then_some(Why::Unsupported { needed, have })
}

fn compared(
    series: &str,
    measure: Measure,
    a: Option<Estimate>,
    b: Option<Estimate>,
    confidence: f64,
) -> Row {
    let ratio = a.as_ref().zip(b.as_ref()).map(|(a, b)| log_ratio(a, b, confidence));
    Row {
        a: a.map(|estimate| estimate.value),
        b: b.map(|estimate| estimate.value),
        ratio,
        ..empty(series, measure, Why::NoValues)
    }
}

fn error_row(name: &str, a: Side, b: Side, confidence: f64) -> Row {
    let (a, b) = (error_side(name, a), error_side(name, b));
    let share = |side: &ErrorSide| (side.total > 0).then(|| side.errors as f64 / side.total as f64);
    Row {
        a: share(&a),
        b: share(&b),
        errors: error_ratio(&a, &b, confidence),
        ..empty(name, Measure::ErrorShare, Why::NoValues)
    }
}

fn error_side(name: &str, (runs, parts): Side) -> ErrorSide {
    let mut blocks: Vec<(u64, u64)> = Vec::new();
    for (run, part) in runs.iter().zip(parts) {
        let Some(series) = run.series(name) else { continue };
        let seconds: Vec<(u64, u64)> = series.sheet.counts().collect();
        let seconds = seconds.get(part.start..part.end.min(seconds.len())).unwrap_or_default();
        blocks.extend(seconds.chunks(ERROR_BLOCK_S).map(|block| {
            let errors: u64 = block.iter().map(|(_, censored)| censored).sum();
            (errors, errors + block.iter().map(|(measured, _)| measured).sum::<u64>())
        }));
    }
    let sums = blocks.iter().fold((0, 0), |sums, block| (sums.0 + block.0, sums.1 + block.1));
    ErrorSide { errors: sums.0, total: sums.1, dispersion: over_dispersion(&blocks) }
}

fn goodput(name: &str, (runs, parts): Side, options: &Options) -> Option<Estimate> {
    let of_run = |(run, part): (&Run, &Range<usize>)| -> Option<Vec<f64>> {
        let sheet = &run.series(name)?.sheet;
        let good: Vec<u64> = match options.slo_ms {
            Some(slo_ms) => sheet.at_most(slo_ms),
            None => sheet.counts().map(|(measured, _)| measured).collect(),
        };
        Some(good.get(part.start..part.end.min(good.len()))?.iter().map(|count| *count as f64).collect())
    };
    per_second(&runs.iter().zip(parts).map(of_run).collect::<Option<Vec<_>>>()?)
}

fn effort((runs_a, parts_a): Side, (runs_b, parts_b): Side) -> Effort {
    let minutes = |parts: &[Range<usize>]| parts.iter().map(Range::len).sum::<usize>() as f64 / 60.0;
    Effort { minutes: minutes(parts_a).min(minutes(parts_b)), runs: runs_a.len().min(runs_b.len()) }
}

/// Gives a row its verdict, unless it was refused one.
fn judge(row: &mut Row, q_value: f64, effort: Effort, options: &Options) {
    if let Some(ratio) = &row.ratio {
        let lower_is_better = !matches!(row.measure, Measure::Goodput | Measure::Throughput);
        let absolute = row.a.filter(|_| is_duration(row.measure)).map_or(0.0, |a| options.margin_ms / a);
        let margin = options.margin.max(absolute);
        row.verdict = verdict::on_ratio(ratio, q_value, margin, lower_is_better, effort, options);
    } else if let Some(errors) = &row.errors {
        row.verdict = verdict::on_errors(errors, q_value, effort, options);
    } else {
        return;
    }
    row.q_value = Some(q_value);
}

fn is_duration(measure: Measure) -> bool {
    matches!(measure, Measure::Mean | Measure::Quantile(_))
}
