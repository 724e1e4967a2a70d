//! Comparison of two sides of stored runs: finds them by name and judges them.

use std::ops::Range;
use std::path::{Path, PathBuf};

use analysis::compare::{Comparability, Comparison, Options, Run, compare_evidence, compare_with_baseline};
use analysis::diagnosis::Level;
use catalogue::Catalogue;
use report::comparison::{ComparedRun, ComparisonReport};

use crate::diagnosis::evidence_level;
use crate::{Candidate, Chosen, Exit, Failure, failed, open};

/// Maximum number of runs per side.
const SIDE_RUNS_MAX: usize = 100;

/// Maximum number of sides, with the baseline: the others are two tables of four columns at most on a terminal.
pub const SIDES_MAX: usize = 8;

/// The letters of sides, the baseline first.
const LETTERS: &str = "ABCDEFGH";

/// Compares the runs that two sides name.
///
/// # Errors
/// A side names no run, both name the same one, or a run cannot be read.
pub fn between(
    a: &str,
    b: &str,
    options: Options,
    catalogue: &Catalogue,
) -> Result<ComparisonReport, Failure> {
    one(with_baseline(&[a.to_owned(), b.to_owned()], &options, catalogue)?)
}

/// Compares the runs that each of several sides names with those of the first.
///
/// # Errors
/// There are too many sides, a side names no run, two name the same one, or a run cannot be read.
pub fn with_baseline(
    sides: &[String],
    options: &Options,
    catalogue: &Catalogue,
) -> Result<Vec<ComparisonReport>, Failure> {
    if sides.len() > SIDES_MAX {
        let text = format!(
            "failed to compare {} sides: the limit is {SIDES_MAX}; write runs of one side with commas between them",
            sides.len()
        );
        return Err(Failure::new(Exit::Other, text));
    }
    let paths = sides.iter().map(|text| side(text, catalogue)).collect::<Result<Vec<_>, _>>()?;
    for (place, (text, runs)) in sides.iter().zip(&paths).enumerate() {
        let before = paths[..place].iter().position(|other| other.iter().any(|run| runs.contains(run)));
        if let Some(before) = before {
            let other = &sides[before];
            let text = format!(
                "failed to compare {other:?} with {text:?}: a run is on both sides; name each run once, the baseline first (two \
                 are @prev and @last, unless you say so)"
            );
            return Err(Failure::new(Exit::Other, text));
        }
    }
    judged_with_baseline(&paths, options)
}

/// Compares the runs of two sides.
///
/// # Errors
/// A run cannot be read.
pub fn judged(a: &[PathBuf], b: &[PathBuf], options: Options) -> Result<ComparisonReport, Failure> {
    one(judged_with_baseline(&[a.to_vec(), b.to_vec()], &options)?)
}

/// The comparison of two sides.
fn one(reports: Vec<ComparisonReport>) -> Result<ComparisonReport, Failure> {
    reports.into_iter().next().ok_or_else(|| Failure::new(Exit::Other, "nothing to compare".to_owned()))
}

/// Compares the runs of each of several sides with those of the first.
fn judged_with_baseline(sides: &[Vec<PathBuf>], options: &Options) -> Result<Vec<ComparisonReport>, Failure> {
    let mut candidates = beside(sides.iter().flatten().collect(), |path| Candidate::open(path))?;
    let ranges = ranges(sides);
    let Some((first, others)) = ranges.split_first() else { return Ok(Vec::new()) };
    let of_others: Vec<&[Candidate]> = others.iter().map(|range| &candidates[range.clone()]).collect();
    let chosen = Chosen::among(&candidates[first.clone()], &of_others);
    let read = beside(candidates.iter_mut().collect(), |candidate| {
        Ok((candidate.run(&chosen)?, evidence_level(candidate.reader())?))
    })?;
    let (runs, levels): (Vec<Run>, Vec<Level>) = read.into_iter().unzip();
    let names: Vec<ComparedRun> = candidates.iter().zip(&runs).map(identity).collect();
    let sides = |ranges: &[Range<usize>]| ranges.iter().map(|range| &runs[range.clone()]).collect::<Vec<_>>();
    let comparisons = compare_with_baseline(&runs[first.clone()], &sides(others), options);
    let of_levels: Vec<&[Level]> = others.iter().map(|range| &levels[range.clone()]).collect();
    let evidence = compare_evidence(&levels[first.clone()], &of_levels);
    let pairs = comparisons.into_iter().zip(evidence).zip(others).enumerate();
    let report = |(place, ((mut comparison, evidence), range)): (usize, ((Comparison, _), &Range<usize>))| {
        if let Some((a, b)) = chosen.hosts(place) {
            comparison.findings.push(Comparability::Hosts { a: a.clone(), b: b.clone() });
        }
        ComparisonReport {
            a: names[first.clone()].to_vec(),
            b: names[range.clone()].to_vec(),
            letter_b: LETTERS.chars().nth(place + 1).unwrap_or('B'),
            comparison,
            evidence,
            options: options.clone(),
            endpoints_left_out: chosen.left_out,
        }
    };
    Ok(pairs.map(report).collect())
}

/// The places of each side's runs among all runs.
fn ranges(sides: &[Vec<PathBuf>]) -> Vec<Range<usize>> {
    let mut start = 0;
    let range = |side: &Vec<PathBuf>| {
        let range = start..start + side.len();
        start = range.end;
        range
    };
    sides.iter().map(range).collect()
}

/// Returns the exit of a process that is to fail on a regression: without any figure to judge, it cannot pass. Of several comparisons
/// one regression is enough.
pub fn exit_on_regression<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> Exit {
    let exit = |comparison: &Comparison| match comparison {
        comparison if comparison.has_regressed() => Exit::Regressed,
        comparison if !comparison.is_judged() => Exit::NotJudged,
        _ => Exit::Ok,
    };
    let exits: Vec<Exit> = comparisons.into_iter().map(exit).collect();
    // A regression is known whatever else could not be judged.
    match exits.contains(&Exit::Regressed) {
        true => Exit::Regressed,
        false => exits.into_iter().fold(Exit::Ok, Exit::or_worse),
    }
}

/// Processes several runs in parallel: reading takes longer than judging.
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

/// Returns the files of the runs that a side names.
fn side(text: &str, catalogue: &Catalogue) -> Result<Vec<PathBuf>, Failure> {
    // A path may contain a comma.
    let words: Vec<&str> = if Path::new(text).is_file() { vec![text] } else { text.split(',').collect() };
    let mut paths = Vec::new();
    for word in words {
        match word.strip_prefix("tag:") {
            Some(tag) => paths.extend(tagged(tag, catalogue)?),
            None => paths.push(catalogue.find(word).map_err(|error| failed(&error))?),
        }
        if paths.len() > SIDE_RUNS_MAX {
            let text = format!("failed to compare {text:?}: the limit is {SIDE_RUNS_MAX} runs per side");
            return Err(Failure::new(Exit::Other, text));
        }
    }
    Ok(paths)
}

/// Returns the runs of the catalogue with a tag, by start time. Unreadable files have no tags.
fn tagged(tag: &str, catalogue: &Catalogue) -> Result<Vec<PathBuf>, Failure> {
    let (name, value) = tag.split_once('=').ok_or_else(|| {
        Failure::new(Exit::Other, format!("failed to read \"tag:{tag}\": write tag:NAME=VALUE"))
    })?;
    let mut paths = Vec::new();
    for entry in catalogue.list().map_err(|error| failed(&error))? {
        let path = catalogue.bring(&entry).map_err(|error| failed(&error))?;
        let Ok(reader) = open(&path) else { continue };
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

/// Parses a share: `5%` or `0.05`.
pub fn share(text: &str) -> Option<f64> {
    match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok().map(|percent| percent / 100.0),
        None => text.parse().ok(),
    }
}

/// Parses `p99.9`, `99.9` or `p(99.9)` as a share of 1.
pub fn quantile(text: &str) -> Option<f64> {
    let text = text.trim();
    let text = text.strip_prefix('p').unwrap_or(text);
    let text = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    let percent = text.parse::<f64>().ok()?;
    (percent > 0.0 && percent < 100.0).then_some(percent / 100.0)
}

#[cfg(test)]
mod tests {
    use analysis::compare::{Measure, Method, Row, Verdict, Why};

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
    fn one_regression_fails_and_one_unjudged_side_cannot_pass() {
        let of = |verdict| {
            let row = Row {
                series: "GET /".to_owned(),
                measure: Measure::Mean,
                a: None,
                b: None,
                ratio: None,
                method: Method::Interval,
                errors: None,
                q_value: None,
                verdict,
            };
            Comparison { rows: vec![row], ..Comparison::default() }
        };
        let (worse, same) = (of(Verdict::Regressed), of(Verdict::Equivalent));
        let unjudged = of(Verdict::NotAvailable(Why::TooShort));
        assert_eq!(exit_on_regression([&same, &same]), Exit::Ok);
        assert_eq!(exit_on_regression([&same, &unjudged]), Exit::NotJudged);
        assert_eq!(exit_on_regression([&unjudged, &same, &worse]), Exit::Regressed);
    }

    #[test]
    fn margins_are_read() {
        for (text, expect) in [("5%", Some(0.05)), ("0.1", Some(0.1)), ("2.5 %", Some(0.025)), ("x", None)] {
            assert_eq!(share(text), expect, "{text}");
        }
    }
}
