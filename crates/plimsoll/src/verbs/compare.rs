//! `plimsoll compare`: what changed from some runs to others, and whether they may be compared at all.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use analysis::compare::{Options, Run, compare};
use catalogue::Catalogue;
use plan::GoDuration;
use report::comparison::{self, ComparedRun, ComparisonReport};

use crate::common::Common;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::{CompareFlags, CompareFormat, JudgeFlags};
use crate::logger;
use crate::stored::{self, Candidate, Chosen};

/// Runs of a side at most.
const SIDE_RUNS_MAX: usize = 100;

/// Quantiles at most: each is a row for every series.
const QUANTILES_MAX: usize = 20;

/// Runs the verb.
///
/// # Errors
/// A flag cannot be read, a side names no run, or a run cannot be read.
pub(crate) fn run(flags: &CompareFlags, common: &Common) -> Result<Exit, Failure> {
    let report = between(&flags.a, &flags.b, options(&flags.judge)?, &common.catalogue()?)?;
    let lang = flags.lang.lang();
    let text = match flags.format {
        CompareFormat::Text => {
            let may_colour = common.may_colour && flags.output.is_none() && std::io::stdout().is_terminal();
            comparison::text(&report, lang, logger::style(may_colour))
        }
        CompareFormat::Md => comparison::markdown(&report, lang),
        CompareFormat::Json => comparison::json::render(&report),
    };
    match &flags.output {
        None => crate::print(&text),
        Some(path) => std::fs::write(path, text).map_err(|error| {
            let text = format!("failed to write the comparison to {}: {error}", path.display());
            Failure::new(Exit::Other, text)
        })?,
    }
    Ok(exit(&report, &flags.judge))
}

/// Compares the runs that two sides name.
///
/// # Errors
/// A side names no run, both name the same one, or a run cannot be read.
pub(crate) fn between(
    a: &str,
    b: &str,
    options: Options,
    catalogue: &Catalogue,
) -> Result<ComparisonReport, Failure> {
    let (of_a, of_b) = (side(a, catalogue)?, side(b, catalogue)?);
    // Who names one side often means the run before the last.
    if of_a.iter().any(|run| of_b.contains(run)) {
        let text = format!(
            "failed to compare {a:?} with {b:?}: a run is on both sides; name the runs before, then the runs after (they are \
             @prev and @last, unless you say so)"
        );
        return Err(Failure::new(Exit::Other, text));
    }
    judged(&of_a, &of_b, options)
}

/// The runs of two sides, judged against each other.
///
/// # Errors
/// A run cannot be read.
pub(super) fn judged(a: &[PathBuf], b: &[PathBuf], options: Options) -> Result<ComparisonReport, Failure> {
    let mut of_a = beside(a.iter().chain(b).collect(), |path| Candidate::open(path))?;
    let chosen = Chosen::among(of_a.iter());
    let mut runs_a = beside(of_a.iter_mut().collect(), |candidate| candidate.run(&chosen))?;
    let (of_b, runs_b) = (of_a.split_off(a.len()), runs_a.split_off(a.len()));
    Ok(ComparisonReport {
        a: of_a.iter().zip(&runs_a).map(identity).collect(),
        b: of_b.iter().zip(&runs_b).map(identity).collect(),
        comparison: compare(&runs_a, &runs_b, &options),
        options,
        endpoints_left_out: chosen.left_out,
    })
}

/// How the process ends after a comparison.
pub(super) fn exit(report: &ComparisonReport, flags: &JudgeFlags) -> Exit {
    let has_failed = flags.fail_on.is_some() && report.comparison.has_regressed();
    if has_failed { Exit::Regressed } else { Exit::Ok }
}

/// Works on several runs side by side: reading takes longer than judging.
fn beside<T: Send, R: Send>(
    items: Vec<T>,
    work: impl Fn(T) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, Failure> {
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done = Vec::with_capacity(items.len());
    let mut items = items.into_iter().peekable();
    while items.peek().is_some() {
        let some: Vec<T> = items.by_ref().take(at_once).collect();
        std::thread::scope(|scope| -> Result<(), Failure> {
            let work = &work;
            let threads: Vec<_> = some.into_iter().map(|one| scope.spawn(move || work(one))).collect();
            for thread in threads {
                done.push(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
            }
            Ok(())
        })?;
    }
    Ok(done)
}

fn identity((candidate, run): (&Candidate, &Run)) -> ComparedRun {
    let header = candidate.reader().header();
    ComparedRun {
        id: header.run_id.clone(),
        name: header.name.clone().unwrap_or_default(),
        script: header.script.clone(),
        started_unix_ns: header.started_wall_ns,
        target_version: header.target_version.clone().unwrap_or_default(),
        seconds: run.load.len(),
    }
}

/// The files of the runs that a side names.
fn side(text: &str, catalogue: &Catalogue) -> Result<Vec<PathBuf>, Failure> {
    // A path may have a comma in it.
    let words: Vec<&str> = if Path::new(text).is_file() { vec![text] } else { text.split(',').collect() };
    let mut paths = Vec::new();
    for word in words {
        match word.strip_prefix("tag:") {
            Some(tag) => paths.extend(tagged(tag, catalogue)?),
            None => paths.push(catalogue.find(word).map_err(|error| stored::failed(&error))?),
        }
        if paths.len() > SIDE_RUNS_MAX {
            let text = format!("failed to compare {text:?}: a side has at most {SIDE_RUNS_MAX} runs");
            return Err(Failure::new(Exit::Other, text));
        }
    }
    Ok(paths)
}

/// The runs of the catalogue with a tag, in order of their start. Files that cannot be read have none.
fn tagged(tag: &str, catalogue: &Catalogue) -> Result<Vec<PathBuf>, Failure> {
    let (name, value) = tag.split_once('=').ok_or_else(|| {
        Failure::new(Exit::Other, format!("failed to read \"tag:{tag}\": write tag:NAME=VALUE"))
    })?;
    let mut paths = Vec::new();
    for entry in catalogue.list().map_err(|error| stored::failed(&error))? {
        let path = catalogue.bring(&entry).map_err(|error| stored::failed(&error))?;
        let Ok(reader) = stored::open(&path) else { continue };
        if reader.header().tags.get(name).is_some_and(|is| is == value) {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        let text = format!("failed to find a run with the tag {tag:?} in {}", catalogue.place());
        return Err(Failure::new(Exit::Other, text));
    }
    Ok(paths)
}

/// What was asked for.
///
/// # Errors
/// A flag cannot be read.
pub(super) fn options(flags: &JudgeFlags) -> Result<Options, Failure> {
    let fail = |flag: &str, text: &str, hint: &str| {
        Failure::new(Exit::Other, format!("failed to read {flag} {text:?}: {hint}"))
    };
    let margin = share(&flags.margin).filter(|margin| (0.0..1.0).contains(margin));
    let margin_ms = flags.margin_ms.parse::<f64>().ok().filter(|ms| ms.is_finite() && *ms >= 0.0);
    if flags.quantiles.len() > QUANTILES_MAX {
        let text = format!("failed to read --quantiles: {QUANTILES_MAX} are the most");
        return Err(Failure::new(Exit::Other, text));
    }
    let quantile = |text: &String| {
        quantile(text).ok_or_else(|| fail("--quantiles", text, "write p50,p95,p99.9, between 0 and 100"))
    };
    let slo = flags.slo.as_deref().map(|text| {
        let time = GoDuration::parse(text).map(|time| time.to_std().as_secs_f64() * 1000.0);
        let ms = time.or_else(|| text.parse().ok()).filter(|ms: &f64| ms.is_finite() && *ms > 0.0);
        ms.ok_or_else(|| fail("--slo", text, "write a time: 300ms, 1.5s"))
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

/// `5%` or `0.05`
pub(crate) fn share(text: &str) -> Option<f64> {
    match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok().map(|percent| percent / 100.0),
        None => text.parse().ok(),
    }
}

/// `p99.9`, `99.9` or `p(99.9)` as a share of 1.
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

    #[test]
    fn margins_are_read() {
        for (text, expect) in [("5%", Some(0.05)), ("0.1", Some(0.1)), ("2.5 %", Some(0.025)), ("x", None)] {
            assert_eq!(share(text), expect, "{text}");
        }
    }
}
