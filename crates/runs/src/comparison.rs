//! Comparison of two sides of stored runs: finds them by name and judges them.

use std::path::{Path, PathBuf};

use analysis::compare::{Comparability, Comparison, Options, Run, compare};
use catalogue::Catalogue;
use report::comparison::{ComparedRun, ComparisonReport};

use crate::{Candidate, Chosen, Exit, Failure, failed, open};

/// Maximum number of runs per side.
const SIDE_RUNS_MAX: usize = 100;

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
    let (of_a, of_b) = (side(a, catalogue)?, side(b, catalogue)?);
    // Users who name only one side often mean the run before the latest.
    if of_a.iter().any(|run| of_b.contains(run)) {
        let text = format!(
            "failed to compare {a:?} with {b:?}: a run is on both sides; name the runs before, then the runs after (they are \
             @prev and @last, unless you say so)"
        );
        return Err(Failure::new(Exit::Other, text));
    }
    judged(&of_a, &of_b, options)
}

/// Compares the runs of two sides.
///
/// # Errors
/// A run cannot be read.
pub fn judged(a: &[PathBuf], b: &[PathBuf], options: Options) -> Result<ComparisonReport, Failure> {
    let mut of_a = beside(a.iter().chain(b).collect(), |path| Candidate::open(path))?;
    let chosen = Chosen::among(&of_a[..a.len()], &of_a[a.len()..]);
    let mut runs_a = beside(of_a.iter_mut().collect(), |candidate| candidate.run(&chosen))?;
    let (of_b, runs_b) = (of_a.split_off(a.len()), runs_a.split_off(a.len()));
    let mut comparison = compare(&runs_a, &runs_b, &options);
    if let Some((a, b)) = chosen.hosts() {
        comparison.findings.push(Comparability::Hosts { a: a.clone(), b: b.clone() });
    }
    Ok(ComparisonReport {
        a: of_a.iter().zip(&runs_a).map(identity).collect(),
        b: of_b.iter().zip(&runs_b).map(identity).collect(),
        comparison,
        options,
        endpoints_left_out: chosen.left_out,
    })
}

/// Returns the exit of a process that is to fail on a regression: without any figure to judge, it cannot pass.
pub fn exit_on_regression(comparison: &Comparison) -> Exit {
    match comparison {
        comparison if comparison.has_regressed() => Exit::Regressed,
        comparison if !comparison.is_judged() => Exit::NotJudged,
        _ => Exit::Ok,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_are_read() {
        for (text, expect) in [("5%", Some(0.05)), ("0.1", Some(0.1)), ("2.5 %", Some(0.025)), ("x", None)] {
            assert_eq!(share(text), expect, "{text}");
        }
    }
}
