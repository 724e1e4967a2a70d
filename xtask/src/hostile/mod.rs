//! Runs the hostile suite and keeps the tables of `docs/reliability.md`.

mod hour;
mod target;

use std::path::PathBuf;

use anyhow::{Context, ensure};
use lexopt::Arg;

use crate::workspace;

const USAGE: &str = "\
cargo xtask hostile: runs the hostile suite and rewrites the tables of docs/reliability.md
  --hour           runs 10,000 VUs for an hour with faults instead
  --minutes N      length of that run
  --vus N          number of VUs of that run [default: 10,000]
  --seed N         seed of its faults [default: 1]
  --program FILE   program to run [default: the dev build in cargo's target directory]
";

/// VUs of the long run.
const VUS: u32 = 10_000;

#[derive(Default)]
struct Options {
    minutes: Option<u32>,
    vus: Option<u32>,
    seed: Option<u64>,
    program: Option<PathBuf>,
}

pub(crate) fn main(mut parser: lexopt::Parser) -> anyhow::Result<()> {
    let mut options = Options::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("target") => return target::serve(parser.value()?.to_string_lossy().parse()?),
            Arg::Long("hour") => options.minutes = Some(60),
            Arg::Long("minutes") => options.minutes = Some(parser.value()?.to_string_lossy().parse()?),
            Arg::Long("vus") => options.vus = Some(parser.value()?.to_string_lossy().parse()?),
            Arg::Long("seed") => options.seed = Some(parser.value()?.to_string_lossy().parse()?),
            Arg::Long("program") => options.program = Some(parser.value()?.into()),
            Arg::Long("help") => {
                print!("{USAGE}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let program = match options.program.take() {
        Some(program) => program,
        None => workspace::target_directory()?.join("debug/plimsoll"),
    };
    if let Some(minutes) = options.minutes {
        return long_run(minutes, &options, program);
    }
    Ok(())
}

fn long_run(minutes: u32, options: &Options, program: PathBuf) -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("plimsoll-hour-{}", std::process::id()));
    let settings = hour::Settings {
        program,
        minutes,
        vus: options.vus.unwrap_or(VUS),
        seed: options.seed.unwrap_or(1),
        folder,
    };
    let figures = hour::measure(&settings)?;
    println!("{}", serde_json::to_string_pretty(&figures).context("write the figures")?);
    println!("files: {}", settings.folder.display());
    if minutes >= 60 {
        let text = serde_json::to_string_pretty(&figures).context("write the figures")?;
        let folder = workspace::root().join("docs/reliability");
        std::fs::create_dir_all(&folder).context("create docs/reliability")?;
        std::fs::write(folder.join("hour.json"), text).context("store the figures")?;
    }
    ensure!(figures.violations.is_empty(), "hold the laws: {}", figures.violations.join("; "));
    Ok(())
}

/// Returns the peak of resident memory of a process, KiB.
fn peak_kib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
