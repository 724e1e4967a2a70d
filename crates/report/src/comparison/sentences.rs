//! Findings, figures and verdicts in words of a language.

use analysis::compare::{
    ALL_SERIES, Answer, Changes, Comparability, Measure, Method, More, Options, Row, SideName, Verdict, Why,
};
use analysis::steady::{STEADY_SECONDS_MIN, Steady, Unsteady};
use model::{Fault, Grade};

use super::{ComparisonReport, Tally};
use crate::Lang;
use crate::number;

/// Escapes a foreign name for the place it is shown in.
pub(super) type Shown<'a> = &'a dyn Fn(&str) -> String;

/// How many digits of a script's hash are shown.
const HASH_DIGITS: usize = 12;

/// A finding with its figures.
pub(super) fn finding(
    finding: &Comparability,
    report: &ComparisonReport,
    lang: Lang,
    shown: Shown<'_>,
) -> String {
    let letter = |side: SideName| match side {
        SideName::A => 'A',
        SideName::B => report.letter_b,
    };
    let seconds = |seconds: f64| number::duration(seconds * 1000.0, None);
    match finding {
        Comparability::NoRun(side) => lang.comparison_no_run(letter(*side)),
        Comparability::UnequalRate { a, b } => {
            lang.comparison_unequal_rate(format!("{a:.2}"), format!("{b:.2}"))
        }
        Comparability::UnequalVus { a, b } => {
            lang.comparison_unequal_vus(number::plain(*a), number::plain(*b))
        }
        Comparability::UnequalPlan => lang.comparison_unequal_plan().to_owned(),
        Comparability::OpenAndClosed => lang.comparison_open_and_closed().to_owned(),
        Comparability::Untrusted { side, run, grade, faults } => {
            let text = lang.comparison_run_validity(shown(run), letter(*side), grade_word(*grade, lang));
            match affected(faults, lang) {
                None => text,
                Some(affected) => {
                    let topics: Vec<&str> =
                        faults.iter().map(|fault| crate::validity::topic_of(*fault, lang)).collect();
                    lang.comparison_affected(text, topics.join(", "), affected)
                }
            }
        }
        Comparability::NoSteadyPart { side, run, why } => {
            lang.comparison_no_steady(shown(run), letter(*side), unsteady(*why, lang))
        }
        Comparability::DifferentScripts { a, b } => lang.comparison_scripts(hash(a, shown), hash(b, shown)),
        Comparability::DifferentDurations { shortest_s, longest_s } => {
            lang.comparison_durations(seconds(*shortest_s), seconds(*longest_s))
        }
        Comparability::LoadUnknown => lang.comparison_load_unknown().to_owned(),
        Comparability::ClosedLoop => lang.comparison_closed_loop().to_owned(),
        Comparability::TargetVersions { a, b } => lang.comparison_versions(shown(a), shown(b)),
        Comparability::Hosts { a, b } => lang.comparison_hosts(shown(a), shown(b)),
        Comparability::OnlyOn { side, series } => lang.comparison_only_on(shown(series), letter(*side)),
    }
}

/// The figures that faults of a measurement change; `None` without a fault.
fn affected(faults: &[Fault], lang: Lang) -> Option<&'static str> {
    let changes_counts = |fault: &Fault| {
        matches!(
            fault,
            Fault::Dropped
                | Fault::DroppedByTarget
                | Fault::DroppedByGenerator
                | Fault::DroppedWhileStarting
                | Fault::Coverage
                | Fault::Recorded
                | Fault::WindowsLost
                | Fault::WorkersLost
        )
    };
    let counts = faults.iter().filter(|fault| changes_counts(fault)).count();
    match counts {
        _ if faults.is_empty() => None,
        0 => Some(lang.comparison_affected_times()),
        counts if counts == faults.len() => Some(lang.comparison_affected_rates()),
        _ => Some(lang.comparison_affected_both()),
    }
}

fn hash(hash: &str, shown: Shown<'_>) -> String {
    shown(&hash.chars().take(HASH_DIGITS).collect::<String>())
}

fn grade_word(grade: Grade, lang: Lang) -> &'static str {
    match grade {
        Grade::Valid => lang.comparison_valid(),
        Grade::Unmeasured => lang.comparison_not_checked(),
        Grade::Degraded => lang.comparison_degraded(),
        Grade::Invalid => lang.comparison_invalid(),
    }
}

fn unsteady(why: Unsteady, lang: Lang) -> String {
    let ms = |ms: f64| number::duration(ms, None);
    match why {
        Unsteady::TooShort { seconds } => lang.comparison_too_short(seconds, STEADY_SECONDS_MIN),
        Unsteady::StillWarmingUp => lang.comparison_warming_up().to_owned(),
        Unsteady::LevelShift { at_s, before, after } => {
            lang.comparison_level_shift(at_s, ms(before), ms(after))
        }
    }
}

/// The heading of the seconds that were compared.
pub(super) fn parts(report: &ComparisonReport, lang: Lang) -> &'static str {
    if report.comparison.paired_s.is_some() { lang.comparison_paired() } else { lang.comparison_steady() }
}

/// The steady part of a run of so many seconds.
pub(super) fn steady(steady: &Steady, seconds: usize, lang: Lang) -> String {
    match steady {
        Steady::Seconds(part) => lang.comparison_steady_seconds(part.start, part.end, seconds),
        Steady::Never(why) => lang.comparison_steady_none(unsteady(*why, lang)),
    }
}

/// The series of a row; `shown` makes its name harmless.
pub(super) fn series(series: &str, lang: Lang, shown: Shown<'_>) -> String {
    if series == ALL_SERIES { lang.comparison_whole_run().to_owned() } else { shown(series) }
}

/// The name of a figure.
pub(super) fn figure(measure: Measure, lang: Lang) -> String {
    match measure {
        Measure::Mean => lang.comparison_mean().to_owned(),
        Measure::Quantile(quantile) => quantile_name(quantile),
        Measure::ErrorShare => lang.comparison_errors().to_owned(),
        Measure::Goodput => lang.comparison_goodput().to_owned(),
        Measure::Throughput => lang.comparison_throughput().to_owned(),
    }
}

/// `p99.9`
pub(super) fn quantile_name(quantile: f64) -> String {
    format!("p{}", number::plain(quantile * 100.0))
}

/// A side's value in its unit.
pub(super) fn value(measure: Measure, value: Option<f64>) -> String {
    let Some(value) = value else { return "–".to_owned() };
    match measure {
        Measure::Mean | Measure::Quantile(_) => number::duration(value, None),
        Measure::ErrorShare => format!("{:.3} %", value * 100.0),
        Measure::Goodput | Measure::Throughput if value < 1e6 => format!("{value:.2}/s"),
        Measure::Goodput | Measure::Throughput => format!("{}/s", number::readable(value)),
    }
}

/// The change and its interval: `×1.083 (1.021 … 1.143)`, or of shares of errors `+0.500 pp (+0.100 … +0.900)`.
pub(super) fn change(row: &Row) -> String {
    if let Some(change) = &row.ratio {
        return ratio(change.ratio, change.interval.lower, change.interval.upper);
    }
    let Some(errors) = &row.errors else { return "–".to_owned() };
    let points = |share: f64| format!("{:+.3}", share * 100.0);
    let interval = errors.difference_interval;
    format!("{} pp ({} … {})", points(errors.difference), points(interval.lower), points(interval.upper))
}

/// The change without its interval: `×1.083`, or of shares of errors `+0.500 pp`.
pub(super) fn brief(row: &Row) -> String {
    match (&row.ratio, &row.errors) {
        (Some(change), _) => format!("×{}", bound(change.ratio)),
        (None, Some(errors)) => format!("{:+.3} pp", errors.difference * 100.0),
        (None, None) => "–".to_owned(),
    }
}

/// `×1.083 (1.021 … 1.143)`
pub(super) fn ratio(ratio: f64, lower: f64, upper: f64) -> String {
    format!("×{} ({} … {})", bound(ratio), bound(lower), bound(upper))
}

/// From here on a ratio has no decimals.
const DECIMALS_BELOW: f64 = 100.0;

fn bound(value: f64) -> String {
    match value {
        value if !value.is_finite() => "∞".to_owned(),
        // So wide an interval says no more with decimals.
        DECIMALS_BELOW.. => number::readable(value.round()),
        value => format!("{value:.3}"),
    }
}

/// The q-value; small ones as a bound.
pub(super) fn q_value(q_value: Option<f64>) -> String {
    match q_value {
        None => "–".to_owned(),
        Some(q_value) if q_value < 0.001 => "< 0.001".to_owned(),
        Some(q_value) => format!("{q_value:.3}"),
    }
}

/// The verdict of a row, with how it was found.
pub(super) fn row_verdict(row: &Row, options: &Options, lang: Lang) -> String {
    let margin = || number::duration(options.margin_ms, None);
    match (row.verdict, row.method) {
        (Verdict::Equivalent, Method::MarginMs) => lang.comparison_equivalent_ms(margin()),
        (Verdict::NotAvailable(Why::BelowMargin), _) => lang.comparison_why_below(margin()),
        (found, Method::Ranks) => lang.comparison_by_ranks(verdict(found, lang)),
        (found, _) => verdict(found, lang),
    }
}

/// The verdict, with what would decide it or why there is none.
pub(super) fn verdict(verdict: Verdict, lang: Lang) -> String {
    match verdict {
        Verdict::Improved => lang.comparison_improved().to_owned(),
        Verdict::Regressed => lang.comparison_regressed().to_owned(),
        Verdict::Equivalent => lang.comparison_equivalent().to_owned(),
        Verdict::Inconclusive(None) => lang.comparison_inconclusive(lang.comparison_more_none()),
        Verdict::Inconclusive(Some(More::Minutes(minutes))) => {
            let minutes = (minutes.ceil() as u64).max(1).to_string();
            lang.comparison_inconclusive(lang.comparison_more_minutes(minutes))
        }
        Verdict::Inconclusive(Some(More::Runs(runs))) => {
            lang.comparison_inconclusive(lang.comparison_more_runs(runs))
        }
        Verdict::NotAvailable(why) => lang.comparison_not_available(why_not(why, lang)),
    }
}

fn why_not(why: Why, lang: Lang) -> String {
    match why {
        Why::NoSteadyPart => lang.comparison_why_unsteady().to_owned(),
        Why::TooShort => lang.comparison_why_short(STEADY_SECONDS_MIN),
        Why::UnequalLoad => lang.comparison_why_load().to_owned(),
        Why::Unsupported { needed, have } => lang.comparison_why_support(have, needed),
        Why::Censored => lang.comparison_why_censored().to_owned(),
        Why::BelowMargin => lang.comparison_why_below(lang.comparison_margin().to_owned()),
        Why::NoValues => lang.comparison_why_none().to_owned(),
    }
}

/// The answer in one or two sentences.
pub(super) fn answer(report: &ComparisonReport, lang: Lang, shown: Shown<'_>) -> String {
    let comparison = &report.comparison;
    match comparison.answer() {
        Answer::NotComparable(place) => {
            let reason = finding(&comparison.findings[place], report, lang, shown);
            lang.comparison_answer_incomparable(reason)
        }
        Answer::AllFailed => lang.comparison_answer_failed().to_owned(),
        Answer::NothingInCommon => lang.comparison_answer_apart().to_owned(),
        Answer::NotJudged(why) => lang.comparison_answer_unjudged(why_not(why, lang)),
        Answer::Unchanged { inconclusive: 0, .. } => {
            lang.comparison_answer_equivalent(number::plain(report.options.margin * 100.0))
        }
        Answer::Unchanged { inconclusive, .. } => lang.comparison_answer_open(inconclusive),
        Answer::Changed { regressed, improved } if regressed.is_empty() => {
            lang.comparison_answer_improved(changes(&improved, report, lang, shown))
        }
        Answer::Changed { regressed, improved } if improved.is_empty() => {
            lang.comparison_answer_regressed(changes(&regressed, report, lang, shown))
        }
        Answer::Changed { regressed, improved } => lang.comparison_answer_mixed(
            changes(&regressed, report, lang, shown),
            changes(&improved, report, lang, shown),
        ),
    }
}

/// `1.9× throughput and 86 % lower p95 at POST checkout`
fn changes(changes: &Changes, report: &ComparisonReport, lang: Lang, shown: Shown<'_>) -> String {
    let row = |place: usize| &report.comparison.rows[place];
    let throughput = changes.throughput.map(|place| brief_change(row(place), lang));
    let lead = changes.lead.map(|place| {
        let change = brief_change(row(place), lang);
        let change = lang.comparison_at(change, series(&row(place).series, lang, shown));
        match changes.others.len() {
            0 => change,
            count => lang.comparison_at_others(change, count),
        }
    });
    match (throughput, lead) {
        (Some(throughput), Some(lead)) => lang.comparison_both(throughput, lead),
        (one, other) => one.or(other).unwrap_or_default(),
    }
}

/// `86 % lower p95`
fn brief_change(row: &Row, lang: Lang) -> String {
    let name = match row.measure {
        Measure::Throughput => lang.comparison_answer_throughput().to_owned(),
        measure => figure(measure, lang),
    };
    let Some(ratio) = row.ratio.map(|ratio| ratio.ratio).filter(|_| row.measure != Measure::ErrorShare)
    else {
        return lang.comparison_points(name, value(row.measure, row.a), value(row.measure, row.b));
    };
    let percent = (ratio - 1.0).abs() * 100.0;
    let percent = if percent < SMALL_PERCENT { format!("{percent:.1}") } else { format!("{percent:.0}") };
    match ratio {
        TIMES_MIN.. => lang.comparison_times(format!("{ratio:.1}"), name),
        1.0.. => lang.comparison_higher(percent, name),
        _ => lang.comparison_lower(percent, name),
    }
}

/// A larger ratio is shown as a factor.
const TIMES_MIN: f64 = 1.5;

/// A smaller percentage is shown with a decimal.
const SMALL_PERCENT: f64 = 10.0;

/// The closing sentence: verdicts counted, with the largest regression.
pub(super) fn closing(report: &ComparisonReport, lang: Lang, shown: Shown<'_>) -> String {
    let tally = Tally::count(&report.comparison.rows);
    let mut text = lang.comparison_closing(
        tally.regressed,
        tally.improved,
        tally.equivalent,
        tally.inconclusive,
        tally.not_available,
    );
    if let Some(worst) = report.worst() {
        let name = format!("{} {}", series(&worst.series, lang, shown), figure(worst.measure, lang));
        let (a, b) = (value(worst.measure, worst.a), value(worst.measure, worst.b));
        text += &format!(" {}", lang.comparison_worst(name, a, b));
    }
    text
}

/// Sentences about all rows: what the intervals leave out, and what is not shown.
pub(super) fn caveats(report: &ComparisonReport, hidden: usize, lang: Lang) -> Vec<String> {
    let mut caveats = Vec::new();
    if report.comparison.within_run_only {
        let runs = analysis::compare::RUNS_FOR_BETWEEN.to_string();
        caveats.push(lang.comparison_within_run(runs));
    }
    if hidden > 0 {
        caveats.push(lang.comparison_rows_hidden(hidden));
    }
    if report.endpoints_left_out > 0 {
        caveats.push(lang.comparison_endpoints_hidden(report.endpoints_left_out));
    }
    caveats.push(legend(report, lang));
    caveats
}

/// The meaning of intervals, margins and q-values.
pub(super) fn legend(report: &ComparisonReport, lang: Lang) -> String {
    let percent = number::plain(report.options.confidence * 100.0);
    let margin = number::plain(report.options.margin * 100.0);
    let margin_ms = number::duration(report.options.margin_ms, None);
    lang.comparison_legend(percent, margin, margin_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn very_wide_intervals_have_few_digits() {
        assert_eq!(ratio(0.212, 0.0, 2_174_379.651), "×0.212 (0.000 … 2.17 M)");
        assert_eq!(ratio(1.083, 1.021, 531.801), "×1.083 (1.021 … 532)");
        assert_eq!(ratio(1.083, 1.021, f64::INFINITY), "×1.083 (1.021 … ∞)");
        assert_eq!(value(Measure::Throughput, Some(2_174_379.651)), "2.17 M/s");
    }
}
