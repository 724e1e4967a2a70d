//! Measures how often the analysis is right where the truth is known, and keeps the tables of `docs/analysis.md`.
//!
//! Each case has parts; a part's raw result is kept as JSON under `docs/analysis`, and a part that has one is not measured
//! again unless asked. So a run that was cut off goes on where it stopped.

mod cases;
mod gallery;
mod lab;
mod page;
mod simulate;

use std::path::PathBuf;

use anyhow::{Context, bail};
use lexopt::{Arg, ValueExt};
use model::SystemClock;
use serde_json::Value;

use crate::workspace;
use page::Table;

const USAGE: &str = "\
cargo xtask evaluate: measures the analysis against known truth and rewrites the tables of docs/analysis.md
  --case NAME      only this case; may be repeated
  --part NAME      measures only this part where its result is missing; the table has those that there are
  --again          measures parts that already have a result, too
  --replay         gallery only: diagnoses the kept runs again, without load
  --list           names the cases
";

/// Something to measure.
struct Case {
    name: &'static str,
    /// The parts that are measured one after the other, each with a result of its own.
    parts: Parts,
    /// Measures a part.
    measure: fn(&str) -> anyhow::Result<Value>,
    /// Shows the results of all parts that there are.
    table: fn(&[(&str, Value)]) -> Table,
}

/// The parts of a case.
enum Parts {
    /// Those of a list.
    Listed(&'static [&'static str]),
    /// Those that files describe.
    Described(fn() -> anyhow::Result<Vec<String>>),
}

impl Parts {
    fn names(&self) -> anyhow::Result<Vec<String>> {
        match self {
            Parts::Listed(names) => Ok(names.iter().map(|name| (*name).to_owned()).collect()),
            Parts::Described(read) => read(),
        }
    }
}

/// The command line.
struct Options {
    cases: Vec<String>,
    parts: Vec<String>,
    again: bool,
    /// Diagnose kept runs instead of measuring.
    replay: bool,
}

pub(crate) fn main(parser: lexopt::Parser) -> anyhow::Result<()> {
    let Some(options) = parse(parser)? else { return Ok(()) };
    if options.replay {
        let replayed = cases::replay_gallery(&options.parts)?;
        eprintln!("gallery: {replayed} kept runs diagnosed again");
    }
    let wanted =
        |case: &&Case| options.cases.is_empty() || options.cases.iter().any(|name| name == case.name);
    let mut missed = Vec::new();
    for case in cases::ALL.iter().filter(wanted) {
        let results = results(case, &options)?;
        let borrowed: Vec<(&str, Value)> =
            results.iter().map(|(part, value)| (part.as_str(), value.clone())).collect();
        let table = (case.table)(&borrowed);
        let text = table.markdown();
        println!("## {}\n\n{text}", case.name);
        page::write(&workspace::root().join("docs/analysis.md"), case.name, &text)?;
        missed.extend(table.missed().map(|line| format!("{}: {line}", case.name)));
    }
    if missed.is_empty() {
        return Ok(());
    }
    bail!("reach what is required:\n{}", missed.join("\n"))
}

/// The results of a case's parts, measured where they are missing.
fn results(case: &Case, options: &Options) -> anyhow::Result<Vec<(String, Value)>> {
    let parts = case.parts.names()?;
    let is_wanted = |part: &str| options.parts.is_empty() || options.parts.iter().any(|name| name == part);
    let is_missing =
        |part: &str| !options.replay && (options.again || !result_path(case.name, part).exists());
    let missing = parts.iter().filter(|part| is_wanted(part) && is_missing(part)).count();
    let mut progress = Progress { left: missing, took_s: cases::part_s(case.name), measured: 0 };
    let mut results = Vec::new();
    for part in parts {
        let path = result_path(case.name, &part);
        if is_wanted(&part) && is_missing(&part) {
            eprintln!("{} {part}{}", case.name, progress.text());
            let began = SystemClock::now();
            let value = (case.measure)(&part).with_context(|| format!("measure {} {part}", case.name))?;
            progress.add(SystemClock::now().since(began).as_secs_f64());
            keep(&path, &value)?;
        }
        if !path.exists() {
            continue;
        }
        let text = std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        let value = serde_json::from_str(&text).with_context(|| format!("parse {}", path.display()))?;
        results.push((part, value));
    }
    Ok(results)
}

/// The remaining work, and how long it takes.
struct Progress {
    left: usize,
    /// The time of a part: first estimated, then measured, on average.
    took_s: Option<f64>,
    measured: u32,
}

impl Progress {
    fn add(&mut self, took_s: f64) {
        let before = f64::from(self.measured);
        let mean_s =
            (self.took_s.filter(|_| self.measured > 0).unwrap_or(0.0) * before + took_s) / (before + 1.0);
        (self.took_s, self.measured) = (Some(mean_s), self.measured + 1);
        self.left = self.left.saturating_sub(1);
    }

    fn text(&self) -> String {
        let minutes = self.took_s.map(|took_s| took_s * self.left as f64 / 60.0);
        minutes.map_or_else(String::new, |minutes| format!(": {} left, about {minutes:.0} min", self.left))
    }
}

fn result_path(case: &str, part: &str) -> PathBuf {
    workspace::root().join("docs/analysis").join(format!("{case}-{part}.json"))
}

fn keep(path: &std::path::Path, value: &Value) -> anyhow::Result<()> {
    let folder = path.parent().context("find the folder of the results")?;
    std::fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    let text = serde_json::to_string_pretty(value).context("write a result")? + "\n";
    std::fs::write(path, text).with_context(|| format!("write {}", path.display()))
}

fn parse(mut parser: lexopt::Parser) -> anyhow::Result<Option<Options>> {
    let mut options = Options { cases: Vec::new(), parts: Vec::new(), again: false, replay: false };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("case") => options.cases.push(parser.value()?.string()?),
            Arg::Long("part") => options.parts.push(parser.value()?.string()?),
            Arg::Long("again") => options.again = true,
            Arg::Long("replay") => options.replay = true,
            Arg::Long("list") => {
                cases::ALL.iter().for_each(|case| println!("{}", case.name));
                return Ok(None);
            }
            Arg::Long("help") => {
                print!("{USAGE}");
                return Ok(None);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let known = |name: &&String| cases::ALL.iter().any(|case| case.name == **name);
    match options.cases.iter().find(|name| !known(name)) {
        Some(unknown) => bail!("find the case {unknown:?}; see --list"),
        None if options.replay && options.cases != ["gallery"] => {
            bail!("replay kept runs: only --case gallery has them")
        }
        None => known_parts(options).map(Some),
    }
}

fn known_parts(options: Options) -> anyhow::Result<Options> {
    let mut known = Vec::new();
    for case in cases::ALL {
        known.extend(case.parts.names()?);
    }
    match options.parts.iter().find(|name| !known.contains(name)) {
        Some(unknown) => bail!("find the part {unknown:?}"),
        None => Ok(options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_as_it_was_measured() {
        let mut progress = Progress { left: 4, took_s: Some(60.0), measured: 0 };
        assert_eq!(progress.text(), ": 4 left, about 4 min");
        progress.add(20.0);
        progress.add(40.0);
        assert_eq!(progress.text(), ": 2 left, about 1 min");
    }

    #[test]
    fn every_case_has_its_place_on_the_page() {
        let page = std::fs::read_to_string(workspace::root().join("docs/analysis.md")).expect("the page");
        for case in cases::ALL {
            assert!(page.contains(&page::opening(case.name)), "{}", case.name);
        }
    }

    #[test]
    fn options_are_read() {
        let check = |arguments: &[&str], expect: bool| {
            assert_eq!(parse(lexopt::Parser::from_args(arguments)).is_ok(), expect, "{arguments:?}");
        };
        check(&["--case", "false-changes", "--again"], true);
        check(&["--case", "nothing"], false);
        check(&["--case", "predictions", "--part", "index-1"], true);
        check(&["--part", "nothing"], false);
        check(&["--case", "gallery", "--replay"], true);
        check(&["--replay"], false);
        check(&["--rounds", "2"], false);
    }
}
