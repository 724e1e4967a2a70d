//! Runs the hostile suite and keeps the tables of `docs/reliability.md`.
//!
//! The suite runs the tests with hostile input, their long forms included, and faults of the machine as real runs of the program.
//! Its results are kept as JSON under `docs/reliability`; the tables are made of them.

mod faults;
mod hour;
mod suite;
mod target;
mod tests;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use lexopt::{Arg, ValueExt};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::workspace;
use suite::Outcome;

const USAGE: &str = "\
cargo xtask hostile: runs the hostile suite and rewrites the tables of docs/reliability.md
  --group NAME     only groups whose names contain NAME; the results of the others are kept
  --table          rewrites the tables from the stored results
  --hour           runs 10,000 VUs for an hour with faults instead
  --minutes N      length of that run
  --vus N          number of VUs of that run [default: 10,000]
  --seed N         seed of its faults [default: 1]
  --profile NAME   cargo's profile of tests and program [default: dev]
  --program FILE   program to run [default: the one of that profile in cargo's target directory]
";

/// VUs of the long run.
const VUS: u32 = 10_000;

/// Minutes of a run whose figures are stored.
const STORED_MINUTES: u32 = 60;

#[derive(Default)]
struct Options {
    group: Option<String>,
    table: bool,
    minutes: Option<u32>,
    vus: Option<u32>,
    seed: Option<u64>,
    profile: Option<String>,
    program: Option<PathBuf>,
}

impl Options {
    fn profile(&self) -> &str {
        self.profile.as_deref().unwrap_or("dev")
    }
}

pub(crate) fn main(mut parser: lexopt::Parser) -> anyhow::Result<()> {
    let mut options = Options::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("target") => return target::serve(parser.value()?.parse()?),
            Arg::Long("group") => options.group = Some(parser.value()?.string()?),
            Arg::Long("table") => options.table = true,
            Arg::Long("hour") => options.minutes = Some(STORED_MINUTES),
            Arg::Long("minutes") => options.minutes = Some(parser.value()?.parse()?),
            Arg::Long("vus") => options.vus = Some(parser.value()?.parse()?),
            Arg::Long("seed") => options.seed = Some(parser.value()?.parse()?),
            Arg::Long("profile") => options.profile = Some(parser.value()?.string()?),
            Arg::Long("program") => options.program = Some(parser.value()?.into()),
            Arg::Long("help") => {
                print!("{USAGE}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    match options {
        Options { table: true, .. } => write_tables(),
        Options { minutes: Some(minutes), .. } => long_run(minutes, &options),
        _ => run_suite(&options),
    }
}

/// Returns the program to run.
fn program(options: &Options) -> anyhow::Result<PathBuf> {
    match &options.program {
        Some(program) => std::path::absolute(program).context("find the program"),
        None => {
            let profile = options.profile();
            let built =
                workspace::cargo().args(["build", "-q", "-p", "plimsoll", "--profile", profile]).status();
            ensure!(built.context("run cargo build")?.success(), "build the program");
            let folder = if profile == "dev" { "debug" } else { profile };
            Ok(workspace::target_directory()?.join(folder).join("plimsoll"))
        }
    }
}

fn run_suite(options: &Options) -> anyhow::Result<()> {
    let is_chosen = |name: &str| options.group.as_ref().is_none_or(|part| name.contains(part.as_str()));
    let mut found: Vec<Outcome> = Vec::new();
    let groups: Vec<_> = tests::GROUPS.iter().filter(|group| is_chosen(group.name)).collect();
    if !groups.is_empty() {
        let programs = tests::Programs::build(options.profile())?;
        for group in groups {
            found.push(group.run(&programs).with_context(|| format!("run the group {:?}", group.name))?);
        }
    }
    if is_chosen(FAULTS) {
        found.extend(faults::run(&program(options)?)?);
    }
    if found.is_empty() {
        bail!("find a group named {:?}", options.group.as_deref().unwrap_or_default());
    }
    print!("{}", suite::table(&found));
    let mut stored: Vec<Outcome> = load("suite.json")?.unwrap_or_default();
    stored.retain(|stored| !found.iter().any(|outcome| outcome.name == stored.name));
    stored.extend(found.iter().cloned());
    // In the order of the lists; groups that no longer exist are left out.
    let names: Vec<&str> = tests::GROUPS.iter().map(|group| group.name).chain(faults::names()).collect();
    let place = |outcome: &Outcome| names.iter().position(|name| *name == outcome.name);
    stored.retain(|outcome| place(outcome).is_some());
    stored.sort_by_key(place);
    store("suite.json", &stored)?;
    write_tables()?;
    let broken: Vec<&str> =
        found.iter().filter(|outcome| outcome.is_broken()).map(|outcome| outcome.name.as_str()).collect();
    ensure!(broken.is_empty(), "hold in these groups: {}", broken.join("; "));
    Ok(())
}

/// The name by which `--group` chooses the runs with faults.
const FAULTS: &str = "Fault";

fn long_run(minutes: u32, options: &Options) -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("plimsoll-hour-{}", std::process::id()));
    let settings = hour::Settings {
        program: program(options)?,
        minutes,
        vus: options.vus.unwrap_or(VUS),
        seed: options.seed.unwrap_or(1),
        folder,
    };
    let figures = hour::measure(&settings)?;
    println!("{}", serde_json::to_string_pretty(&figures).context("write the figures")?);
    println!("files: {}", settings.folder.display());
    if minutes >= STORED_MINUTES {
        store("hour.json", &figures)?;
        write_tables()?;
    }
    ensure!(figures.violations.is_empty(), "hold the laws: {}", figures.violations.join("; "));
    Ok(())
}

fn folder() -> PathBuf {
    workspace::root().join("docs/reliability")
}

/// Returns a stored result, if there is one.
fn load<T: DeserializeOwned>(name: &str) -> anyhow::Result<Option<T>> {
    let path = folder().join(name);
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
    serde_json::from_str(&text).map(Some).with_context(|| format!("read {}", path.display()))
}

fn store(name: &str, result: &impl Serialize) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder()).context("create the folder of results")?;
    let text = serde_json::to_string_pretty(result).context("write a result")? + "\n";
    std::fs::write(folder().join(name), text).context("store a result")
}

/// Rewrites the tables from the stored results.
fn write_tables() -> anyhow::Result<()> {
    let page = workspace::root().join("docs/reliability.md");
    let old = std::fs::read_to_string(&page).with_context(|| format!("read {}", page.display()))?;
    std::fs::write(&page, rendered(old)?).with_context(|| format!("write {}", page.display()))
}

/// Returns the page with the tables of the stored results.
fn rendered(mut page: String) -> anyhow::Result<String> {
    if let Some(outcomes) = load::<Vec<Outcome>>("suite.json")? {
        page = replaced(&page, "suite", &suite::table(&outcomes))?;
    }
    if let Some(figures) = load::<hour::Figures>("hour.json")? {
        page = replaced(&page, "hour", &figures.table())?;
    }
    Ok(page)
}

/// Replaces the part of the page between `<!-- hostile:NAME -->` and `<!-- end -->`.
fn replaced(page: &str, name: &str, text: &str) -> anyhow::Result<String> {
    let opening = format!("<!-- hostile:{name} -->\n");
    let (before, rest) =
        page.split_once(&opening).with_context(|| format!("find {opening:?} on the page"))?;
    let (_, after) = rest.split_once("<!-- end -->").with_context(|| format!("find the end of {name}"))?;
    Ok(format!("{before}{opening}\n{text}\n<!-- end -->{after}"))
}

/// Returns the peak of resident memory of a process, KiB.
fn peak_kib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod own {
    use super::*;

    #[test]
    fn the_page_has_the_stored_results() {
        let page = workspace::root().join("docs/reliability.md");
        let page = std::fs::read_to_string(page).expect("the page");
        for name in ["suite", "hour"] {
            assert!(page.contains(&format!("<!-- hostile:{name} -->\n")), "{name}");
        }
        assert_eq!(rendered(page.clone()).expect("results"), page, "run cargo xtask hostile --table");
    }

    #[test]
    fn a_part_is_replaced() {
        let page = "a\n<!-- hostile:x -->\nold\n<!-- end -->\nb";
        let new = replaced(page, "x", "new").expect("a part");
        assert_eq!(new, "a\n<!-- hostile:x -->\n\nnew\n<!-- end -->\nb");
        assert!(replaced(page, "y", "new").is_err());
    }

    #[test]
    fn memory_has_a_peak() {
        assert!(peak_kib(std::process::id()).is_some_and(|kib| kib > 100));
    }
}
