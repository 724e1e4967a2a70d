//! `plimsoll compare`: compares two sides of runs, and checks whether they are comparable.

use std::io::IsTerminal;

use analysis::compare::Options;
use report::comparison::{self, ComparisonReport};
use runs::comparison::{exit_on_regression, share, with_baseline};
use runs::{Exit, Failure};
use session::Context;
use session::logger;

use crate::destination;
use crate::flags::{CompareFlags, CompareFormat, JudgeFlags};

/// Maximum number of quantiles: each is a row for every series.
const QUANTILES_MAX: usize = 20;

/// Runs the subcommand.
///
/// # Errors
/// A flag cannot be parsed, a side names no run, or a run cannot be read.
pub(crate) fn run(flags: &CompareFlags, context: &Context) -> Result<Exit, Failure> {
    let (options, catalogue) = (options(&flags.judge)?, context.catalogue()?);
    let sides = sides(&flags.sides);
    let lang = flags.lang.lang();
    let may_colour = context.may_colour
        && destination::file(flags.output.as_deref()).is_none()
        && std::io::stdout().is_terminal();
    let reports = with_baseline(&sides, &options, &catalogue)?;
    let text = match flags.format {
        CompareFormat::Text => comparison::many_text(&reports, lang, logger::style(may_colour)),
        CompareFormat::Md => comparison::many_markdown(&reports, lang),
        CompareFormat::Json => comparison::many_json(&reports),
    };
    destination::write(&text, flags.output.as_deref(), "comparison")?;
    Ok(exit(&reports, &flags.judge))
}

/// Returns the sides: the last two runs where none is named, and the last one beside a single one.
fn sides(named: &[String]) -> Vec<String> {
    let defaults = ["@prev", "@last"].map(str::to_owned);
    let missing = defaults.into_iter().skip(named.len());
    named.iter().cloned().chain(missing).collect()
}

/// Returns the exit of the process after comparisons.
pub(super) fn exit(reports: &[ComparisonReport], flags: &JudgeFlags) -> Exit {
    let comparisons = reports.iter().map(|report| &report.comparison);
    flags.fail_on.map_or(Exit::Ok, |_| exit_on_regression(comparisons))
}

/// Parses the options of the comparison.
///
/// # Errors
/// A flag cannot be parsed.
pub(super) fn options(flags: &JudgeFlags) -> Result<Options, Failure> {
    let fail = |flag: &str, text: &str, hint: &str| {
        Failure::new(Exit::Other, format!("failed to read {flag} {text:?}: {hint}"))
    };
    let margin = share(&flags.margin).filter(|margin| (0.0..1.0).contains(margin));
    let margin_ms = flags.margin_ms.parse::<f64>().ok().filter(|ms| ms.is_finite() && *ms >= 0.0);
    if flags.quantiles.len() > QUANTILES_MAX {
        let text = format!("failed to read --quantiles: the limit is {QUANTILES_MAX}");
        return Err(Failure::new(Exit::Other, text));
    }
    let quantile = |text: &String| {
        quantile(text).ok_or_else(|| fail("--quantiles", text, "write p50,p95,p99.9, between 0 and 100"))
    };
    let slo = flags.slo.as_deref().map(|text| {
        let ms = runs::parse_length("--slo", text, Exit::Other)?.as_secs_f64() * 1000.0;
        if ms > 0.0 { Ok(ms) } else { Err(fail("--slo", text, "write a time: 300ms, 1.5s")) }
    });
    Ok(Options {
        quantiles: flags.quantiles.iter().map(quantile).collect::<Result<_, _>>()?,
        margin: margin.ok_or_else(|| fail("--margin", &flags.margin, "write 5% or 0.05"))?,
        margin_ms: margin_ms.ok_or_else(|| fail("--margin-ms", &flags.margin_ms, "write a number"))?,
        slo_ms: slo.transpose()?,
        despite_unequal_load: flags.despite_unequal_load,
        despite_no_steady_part: flags.despite_no_steady_part,
        ..Options::default()
    })
}

/// Parses `p99.9`, `99.9` or `p(99.9)` as a share of 1.
fn quantile(text: &str) -> Option<f64> {
    let text = text.trim();
    let text = text.strip_prefix('p').unwrap_or(text);
    let text = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    let percent = text.parse::<f64>().ok()?;
    (percent > 0.0 && percent < 100.0).then_some(percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_sides_are_the_last_runs() {
        let named = |runs: &[&str]| sides(&runs.iter().map(|run| (*run).to_owned()).collect::<Vec<_>>());
        assert_eq!(named(&[]), ["@prev", "@last"]);
        assert_eq!(named(&["ab12"]), ["ab12", "@last"]);
        assert_eq!(named(&["a", "b", "c"]), ["a", "b", "c"]);
    }

    #[test]
    fn quantiles_are_read() {
        for (text, expect) in [
            ("p50", Some(0.5)),
            ("95", Some(0.95)),
            ("p(99.9)", Some(99.9 / 100.0)),
            ("p0", None),
            ("p100", None),
            ("pNaN", None),
            ("median", None),
        ] {
            assert_eq!(quantile(text), expect, "{text}");
        }
    }
}
