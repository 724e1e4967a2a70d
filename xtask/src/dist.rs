//! The program as it is shipped: the release without the lab, stripped, with its debug lines in a file beside it.
//!
//! Symbols go into `plimsoll.debug`, and the program names that file (`.gnu_debuglink`), so that backtraces, `perf` and debuggers
//! find lines where both lie in one folder (GDB manual, "Separate Debug Files").

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::workspace;

/// The size that the stripped program aims at.
const BYTES_AIM: u64 = 30 << 20;

pub(crate) fn main(mut parser: lexopt::Parser) -> anyhow::Result<()> {
    let mut with_lab = false;
    while let Some(argument) = parser.next().context("read the arguments")? {
        match argument {
            lexopt::Arg::Long("lab") => with_lab = true,
            other => bail!("dist [--lab]: {}", other.unexpected()),
        }
    }
    let folder = workspace::target_directory()?.join("dist");
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    build(with_lab)?;
    let built = workspace::target_directory()?.join("release/plimsoll");
    let (program, debug) = (folder.join("plimsoll"), folder.join("plimsoll.debug"));
    objcopy(&["--only-keep-debug"], &built, &debug)?;
    let link = format!("--add-gnu-debuglink={}", debug.display());
    objcopy(&["--strip-all", &link], &built, &program)?;
    let bytes = std::fs::metadata(&program).context("read the program's size")?.len();
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!("{}: {:.1} MiB (aim: {:.0} MiB)", program.display(), mib(bytes), mib(BYTES_AIM));
    println!("{}: debug lines", debug.display());
    Ok(())
}

fn build(with_lab: bool) -> anyhow::Result<()> {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--release", "--package", "plimsoll"]);
    if !with_lab {
        cargo.arg("--no-default-features");
    }
    ensure!(cargo.status().context("run cargo")?.success(), "build the release");
    Ok(())
}

fn objcopy(options: &[&str], from: &Path, to: &Path) -> anyhow::Result<()> {
    let status = Command::new("objcopy").args(options).args([from, to]).status();
    ensure!(status.context("run objcopy (package binutils)")?.success(), "write {}", to.display());
    Ok(())
}
