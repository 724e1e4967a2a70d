//! One row per series and figure.

use std::ops::Range;

use stats::{
    ErrorRatio, ErrorSide, Estimate, PlanStrata, RatioEstimate, SheetPart, Split, adjusted_p_values,
    error_ratio, follows_load, independent_samples_min, log_ratio, over_dispersion, paired,
};

use super::input::Indexed;
use super::verdict::{self, Effort};
use super::{Options, Refusal, Verdict, Why, exact};

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

/// How a row was decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// By an interval around the figures.
    #[default]
    Interval,
    /// By ranks: no value of one side lies among those of the other.
    Ranks,
    /// By the margin in milliseconds: the relative margin alone would not make the sides equivalent.
    MarginMs,
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
    /// How the ratio and its interval were found.
    pub method: Method,
    /// The comparison of shares of errors.
    pub errors: Option<ErrorRatio>,
    /// The smallest share of false findings at which this row is one, over all rows of all pairs of sides.
    pub q_value: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

/// A side's runs with the seconds that are judged.
pub(super) type Side<'a> = (&'a [Indexed<'a>], &'a [Range<usize>]);

/// Everything that rows are made from.
pub(super) struct Sides<'a> {
    pub(super) a: Side<'a>,
    pub(super) b: Side<'a>,
    /// The figures that are not judged.
    pub(super) refusal: Option<Refusal>,
    /// The parts of the plan, where seconds are compared at equal elapsed time.
    pub(super) strata: Option<PlanStrata>,
    pub(super) options: &'a Options,
}

/// The rows of some pairs of sides with their verdicts. The more rows there are in all of them, the more certain each has to be.
pub(super) fn rows(pairs: &[Sides]) -> Vec<Vec<Row>> {
    let of_pair = |sides: &Sides| -> Vec<Row> {
        let mut rows = vec![throughput(sides)];
        rows.extend(all_series_rows(sides));
        rows
    };
    let mut all: Vec<Vec<Row>> = pairs.iter().map(of_pair).collect();
    let p_value = |row: &Row| match (&row.ratio, &row.errors) {
        (Some(ratio), _) => ratio.p_value,
        (None, Some(errors)) => errors.p_value,
        (None, None) => f64::NAN,
    };
    let p_values: Vec<f64> = all.iter().flatten().map(p_value).collect();
    let mut q_values = adjusted_p_values(&p_values).into_iter();
    for (rows, sides) in all.iter_mut().zip(pairs) {
        let effort = effort(sides.a, sides.b);
        for (row, q_value) in rows.iter_mut().zip(q_values.by_ref()) {
            judge(row, q_value, effort, sides);
        }
    }
    all
}

// The rows of all series. Many series are shared by as many threads as there are cores.
fn all_series_rows(sides: &Sides) -> Vec<Row> {
    let names: Vec<&str> = names(sides.a.0, sides.b.0).collect();
    let of_some =
        |names: &[&str]| -> Vec<Row> { names.iter().flat_map(|name| series_rows(name, sides)).collect() };
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
fn names<'a>(a: &'a [Indexed<'a>], b: &'a [Indexed<'a>]) -> impl Iterator<Item = &'a str> {
    let first = a.first().map_or([].as_slice(), |run| run.run.series.as_slice());
    let common = first.iter().map(|series| series.name.as_str());
    common.filter(move |name| a.iter().chain(b).all(|run| run.series(name).is_some()))
}

fn empty(series: &str, measure: Measure, why: Why) -> Row {
    Row {
        series: series.to_owned(),
        measure,
        a: None,
        b: None,
        ratio: None,
        method: Method::Interval,
        errors: None,
        q_value: None,
        verdict: Verdict::NotAvailable(why),
    }
}

/// The row with its figures alone, if there is a reason to say no more.
fn refused(row: Row, why: Option<Why>) -> Row {
    match why {
        Some(why) => Row { ratio: None, verdict: Verdict::NotAvailable(why), ..row },
        None => row,
    }
}

/// A figure of both sides.
type Estimates = (Option<Estimate>, Option<Estimate>);

/// Both figures with the errors that they have at equal elapsed time, where seconds are compared so.
fn beside(estimates: Estimates, sides: &Sides, follows_load: bool) -> Estimates {
    match (estimates, &sides.strata) {
        ((Some(a), Some(b)), Some(strata)) => {
            let (a, b) = paired(&a, &b, strata, follows_load);
            (Some(a), Some(b))
        }
        (estimates, _) => estimates,
    }
}

/// A p-value below this part of the accepted error is clear, whatever the other rows show.
const CLEAR: f64 = 0.1;

/// A row by its interval, unless there is a reason against one; and by ranks or by the values between where it is short and
/// undecided.
fn row(
    (series, measure): (&str, Measure),
    (a, b): Estimates,
    why: Option<Why>,
    sides: &Sides,
    blocks: impl Fn(Side) -> Option<Vec<f64>>,
    split: impl Fn() -> Option<RatioEstimate>,
) -> Row {
    let compared = compared(series, measure, (a, b), sides.options);
    let why = match sides.refusal {
        Some(Refusal::Whole(why)) => return refused(compared, Some(why)),
        Some(Refusal::ExceptRanks(why)) => Some(why),
        None => why,
    };
    let is_below = |value: Option<f64>| value.is_some_and(|value| value < sides.options.margin_ms);
    if is_duration(measure) && is_below(compared.a) && is_below(compared.b) {
        return refused(compared, Some(Why::BelowMargin));
    }
    let is_decided = |ratio: &RatioEstimate| {
        let is_clear = ratio.p_value < (1.0 - sides.options.confidence) * CLEAR;
        is_clear && ratio.interval.lower > 0.0 && ratio.interval.upper.is_finite()
    };
    let is_open = why.is_some() || !compared.ratio.as_ref().is_some_and(is_decided);
    let is_short = exact::is_short(sides.a.1) && exact::is_short(sides.b.1);
    if let Some((a, b)) = compared.a.zip(compared.b).filter(|_| is_open && is_short) {
        let blocks = blocks(sides.a).zip(blocks(sides.b));
        let ratio = blocks.and_then(|(of_a, of_b)| {
            exact::ratio(a, b, [of_a.as_slice(), of_b.as_slice()], sides.strata.is_some())
        });
        // Four blocks a side prove no more than so much, however far they are apart.
        let is_surer = |ratio: &RatioEstimate| {
            why.is_some() || compared.ratio.as_ref().is_none_or(|known| ratio.p_value < known.p_value)
        };
        if let Some(ratio) = ratio.filter(is_surer) {
            return Row { ratio: Some(ratio), method: Method::Ranks, ..compared };
        }
        let is_endless =
            |ratio: &RatioEstimate| ratio.interval.lower <= 0.0 || ratio.interval.upper.is_infinite();
        let is_uncertain = match why {
            None => compared.ratio.as_ref().is_some_and(is_endless),
            Some(why) => matches!(why, Why::Unsupported { .. }),
        };
        if let Some(ratio) = is_uncertain.then(split).flatten() {
            return Row { ratio: Some(ratio), ..compared };
        }
    }
    refused(compared, why)
}

fn compared(series: &str, measure: Measure, (a, b): Estimates, options: &Options) -> Row {
    let ratio = a.as_ref().zip(b.as_ref()).map(|(a, b)| log_ratio(a, b, options.confidence));
    Row {
        a: a.map(|estimate| estimate.value),
        b: b.map(|estimate| estimate.value),
        ratio,
        ..empty(series, measure, Why::NoValues)
    }
}

fn throughput(sides: &Sides) -> Row {
    let finished = |(runs, parts): Side| -> Option<Vec<Vec<f64>>> {
        let of_run = |(run, part): (&Indexed<'_>, &Range<usize>)| -> Vec<f64> {
            let seconds = run.run.load.get(part.start..part.end.min(run.run.load.len())).unwrap_or_default();
            seconds.iter().map(|second| second.finished as f64).collect()
        };
        Some(runs.iter().zip(parts).map(of_run).collect())
    };
    rate_row((ALL_SERIES, Measure::Throughput), sides, follow(ITERATIONS, sides), finished)
}

/// The series of whole iterations: where VUs wait for the target, their time is what decides how many there are.
const ITERATIONS: &str = "iteration_duration";

/// Whether the mean of a series follows the load on one side more than on the other: then all of its figures do.
fn follow(name: &str, sides: &Sides) -> bool {
    let means = (part(name, sides.a).mean(), part(name, sides.b).mean());
    match (&means, &sides.strata) {
        ((Some(a), Some(b)), Some(strata)) => follows_load(a, b, strata),
        _ => false,
    }
}

/// A row of what is counted each second.
fn rate_row(
    name: (&str, Measure),
    sides: &Sides,
    follows: bool,
    counts: impl Fn(Side) -> Option<Vec<Vec<f64>>>,
) -> Row {
    let estimates = (per_second(counts(sides.a)), per_second(counts(sides.b)));
    let blocks = |side: Side| {
        let mean = |block: &[f64]| block.iter().sum::<f64>() / block.len() as f64;
        let runs = counts(side)?;
        Some(runs.iter().flat_map(|run| run.chunks_exact(exact::BLOCK_S).map(mean)).collect())
    };
    row(name, beside(estimates, sides, follows), None, sides, blocks, || None)
}

fn per_second(runs: Option<Vec<Vec<f64>>>) -> Option<Estimate> {
    Estimate::of_seconds(&runs?.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn series_rows(name: &str, sides: &Sides) -> Vec<Row> {
    let (part_a, part_b) = (part(name, sides.a), part(name, sides.b));
    let follows = follow(name, sides);
    let means = beside((part_a.mean(), part_b.mean()), sides, follows);
    let of_blocks = |side: Side| block_figures(name, side, |part| part.mean());
    let few = few_seconds(name, sides);
    let confidence = sides.options.confidence;
    let of_means = means.0.as_ref().zip(means.1.as_ref()).map(|(a, b)| log_ratio(a, b, confidence));
    let mut rows = vec![row((name, Measure::Mean), means, few, sides, of_blocks, || None)];
    let quantiles = &sides.options.quantiles;
    for (tail_a, tail_b) in part_a.quantiles(quantiles).into_iter().zip(part_b.quantiles(quantiles)) {
        let quantile = tail_a.quantile;
        let split = || {
            let (a, b) = (tail_a.estimate.as_ref()?, tail_b.estimate.as_ref()?);
            split((&part_a, a), (&part_b, b), quantile, sides)
        };
        let (a, b) = beside((tail_a.estimate.clone(), tail_b.estimate.clone()), sides, follows);
        let why = unsupported(quantile, [(&a, &part_a), (&b, &part_b)]);
        let of_blocks = |side: Side| block_figures(name, side, |part| in_block(part, quantile));
        let mut row = row((name, Measure::Quantile(quantile)), (a, b), why, sides, of_blocks, split);
        row.ratio = row.ratio.map(|ratio| cautious(ratio, of_means.as_ref(), sides));
        rows.push(row);
    }
    rows.push(error_row(name, sides));
    rows.push(rate_row((name, Measure::Goodput), sides, follows, |side| good(name, side, sides.options)));
    rows
}

/// How uncertain a quantile is at least, as a share of the uncertainty of the mean. Measured, by false changes and by the share of pairs
/// with a factor of 2 that is seen.
const OF_MEAN_MIN: f64 = 0.6;

/// A quantile's ratio with the least uncertainty that it has on a short plan of varying load. Few of the seconds are at the quantile,
/// and a level that wanders moves them together: they show less noise than there is.
fn cautious(ratio: RatioEstimate, of_means: Option<&RatioEstimate>, sides: &Sides) -> RatioEstimate {
    let is_short = exact::is_short(sides.a.1) && exact::is_short(sides.b.1);
    match of_means.filter(|_| is_short && sides.strata.is_some()) {
        Some(of_means) => ratio.at_least_as_uncertain(of_means, OF_MEAN_MIN, sides.options.confidence),
        None => ratio,
    }
}

/// A quantile by a value between those of both sides, where they went through the same plan.
fn split(
    a: (&SheetPart, &Estimate),
    b: (&SheetPart, &Estimate),
    quantile: f64,
    sides: &Sides,
) -> Option<RatioEstimate> {
    let strata = sides.strata.as_ref()?;
    Split { quantile, strata, block_s: exact::BLOCK_S, confidence: sides.options.confidence }.ratio(a, b)
}

fn part<'a>(name: &str, (runs, parts): Side<'a>) -> SheetPart<'a> {
    let of_run =
        |(run, part): (&'a Indexed<'a>, &Range<usize>)| Some((&run.series(name)?.sheet, part.clone()));
    SheetPart::new(&runs.iter().zip(parts).filter_map(of_run).collect::<Vec<_>>())
}

/// A figure of each block of a side; `None` if a block has none.
fn block_figures(
    name: &str,
    (runs, parts): Side,
    figure: impl Fn(&SheetPart) -> Option<Estimate>,
) -> Option<Vec<f64>> {
    let blocks =
        runs.iter().zip(parts).flat_map(|(run, part)| exact::blocks(part).map(move |block| (run, block)));
    let of_block = |(run, block): (&Indexed<'_>, Range<usize>)| {
        Some(figure(&SheetPart::new(&[(&run.series(name)?.sheet, block)]))?.value)
    };
    blocks.map(of_block).collect()
}

/// A quantile of a block, if at least one value is expected beyond it.
fn in_block(part: &SheetPart, quantile: f64) -> Option<Estimate> {
    let beyond = part.population() as f64 * (1.0 - quantile);
    (beyond >= 1.0).then(|| part.quantiles(&[quantile]).pop()?.estimate).flatten()
}

/// Why a mean proves nothing, if values of too few seconds are behind it: one request has no variance.
fn few_seconds(name: &str, sides: &Sides) -> Option<Why> {
    let measured = |(runs, parts): Side| -> usize {
        let of_run = |(run, part): (&Indexed<'_>, &Range<usize>)| {
            let counts = run.series(name)?.sheet.counts().skip(part.start).take(part.len());
            Some(counts.filter(|(measured, _)| *measured > 0).count())
        };
        runs.iter().zip(parts).filter_map(of_run).sum()
    };
    let have = measured(sides.a).min(measured(sides.b)) as u64;
    let needed = independent_samples_min(MEDIAN);
    match have {
        0 => None,
        have => (have < needed).then_some(Why::Unsupported { needed, have }),
    }
}

/// A mean needs values of as many seconds as the median needs independent samples.
const MEDIAN: f64 = 0.5;

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

fn error_row(name: &str, sides: &Sides) -> Row {
    let (a, b) = (error_side(name, sides.a), error_side(name, sides.b));
    let share = |side: &ErrorSide| (side.total > 0).then(|| side.errors as f64 / side.total as f64);
    Row {
        a: share(&a),
        b: share(&b),
        errors: error_ratio(&a, &b, sides.options.confidence),
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

/// The good responses of each second of each run.
fn good(name: &str, (runs, parts): Side, options: &Options) -> Option<Vec<Vec<f64>>> {
    let of_run = |(run, part): (&Indexed<'_>, &Range<usize>)| -> Option<Vec<f64>> {
        let sheet = &run.series(name)?.sheet;
        let good: Vec<u64> = match options.slo_ms {
            Some(slo_ms) => sheet.at_most(slo_ms),
            None => sheet.counts().map(|(measured, _)| measured).collect(),
        };
        Some(good.get(part.start..part.end.min(good.len()))?.iter().map(|count| *count as f64).collect())
    };
    runs.iter().zip(parts).map(of_run).collect()
}

fn effort((runs_a, parts_a): Side, (runs_b, parts_b): Side) -> Effort {
    let minutes = |parts: &[Range<usize>]| parts.iter().map(Range::len).sum::<usize>() as f64 / 60.0;
    Effort { minutes: minutes(parts_a).min(minutes(parts_b)), runs: runs_a.len().min(runs_b.len()) }
}

/// Gives a row its verdict, unless it was refused one.
fn judge(row: &mut Row, q_value: f64, effort: Effort, sides: &Sides) {
    let options = sides.options;
    if let Some(ratio) = &row.ratio {
        let lower_is_better = !matches!(row.measure, Measure::Goodput | Measure::Throughput);
        let absolute = row.a.filter(|_| is_duration(row.measure)).map_or(0.0, |a| options.margin_ms / a);
        let margin = options.margin.max(absolute);
        row.verdict = verdict::on_ratio(ratio, q_value, margin, lower_is_better, effort, options);
        if row.verdict == Verdict::Equivalent && !verdict::is_within(ratio, options.margin) {
            row.method = Method::MarginMs;
        }
    } else if let Some(errors) = &row.errors {
        let found = verdict::on_errors(errors, q_value, effort, options);
        row.verdict = match (found, sides.refusal) {
            // At unequal load, equal shares prove nothing.
            (Verdict::Equivalent | Verdict::Inconclusive(_), Some(Refusal::Whole(why))) => {
                Verdict::NotAvailable(why)
            }
            (found, _) => found,
        };
    } else {
        return;
    }
    row.q_value = Some(q_value);
}

fn is_duration(measure: Measure) -> bool {
    matches!(measure, Measure::Mean | Measure::Quantile(_))
}
