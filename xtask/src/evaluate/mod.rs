//! Measures how often the analysis is right where the truth is known, and keeps the tables of `docs/analysis.md`.
//!
//! Each case has parts; a part's raw result is kept as JSON under `docs/analysis`, and a part that has one is not measured
//! again unless asked. So a run that was cut off goes on where it stopped.

mod cases;
mod page;
mod simulate;

use std::path::PathBuf;

use anyhow::{Context, bail};
use lexopt::{Arg, ValueExt};
use serde_json::Value;

use crate::workspace;
use page::Table;

const USAGE: &str = "\
cargo xtask evaluate: measures the analysis against known truth and rewrites the tables of docs/analysis.md
  --case NAME      only this case; may be repeated
  --again          measures parts that already have a result, too
  --list           names the cases
";

/// Something to measure.
struct Case {
    name: &'static str,
    /// What is measured one after the other, each with a result of its own.
    parts: &'static [&'static str],
    /// Measures a part.
    measure: fn(&str) -> anyhow::Result<Value>,
    /// Shows the results of all parts that there are.
    table: fn(&[(&str, Value)]) -> Table,
}

/// What was typed.
struct Options {
    cases: Vec<String>,
    again: bool,
}

pub(crate) fn main(parser: lexopt::Parser) -> anyhow::Result<()> {
    let Some(options) = parse(parser)? else { return Ok(()) };
    let wanted =
        |case: &&Case| options.cases.is_empty() || options.cases.iter().any(|name| name == case.name);
    let mut missed = Vec::new();
    for case in cases::ALL.iter().filter(wanted) {
        let results = results(case, options.again)?;
        let table = (case.table)(&results);
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
fn results(case: &Case, again: bool) -> anyhow::Result<Vec<(&'static str, Value)>> {
    let mut results = Vec::new();
    for part in case.parts {
        let path = result_path(case.name, part);
        if again || !path.exists() {
            eprintln!("{} {part}", case.name);
            let value = (case.measure)(part).with_context(|| format!("measure {} {part}", case.name))?;
            keep(&path, &value)?;
        }
        let text = std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        let value = serde_json::from_str(&text).with_context(|| format!("parse {}", path.display()))?;
        results.push((*part, value));
    }
    Ok(results)
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
    let mut options = Options { cases: Vec::new(), again: false };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("case") => options.cases.push(parser.value()?.string()?),
            Arg::Long("again") => options.again = true,
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
        None => Ok(Some(options)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        check(&["--rounds", "2"], false);
    }
}
