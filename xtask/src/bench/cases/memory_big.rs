//! Memory per VU of a script that brings lodash and moment, which are fetched from npm and not kept.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

use super::memory;
use crate::bench::page::Report;
use crate::bench::{Bench, script_path};

/// The libraries: package, and the file in it.
const LIBRARIES: &[(&str, &str)] =
    &[("lodash@4.17.21", "package/lodash.min.js"), ("moment@2.30.1", "package/min/moment.min.js")];

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    for (package, file) in LIBRARIES {
        if let Err(error) = fetch(&bench.folder, package, file) {
            return Ok(Report::skipped(format!("{package} could not be fetched: {error:#}")));
        }
    }
    let script = bench.folder.join("big.js");
    std::fs::copy(script_path("big.js"), &script).context("copy the script beside its libraries")?;
    memory::measure(bench, &script, "memory, big script")
}

fn fetch(folder: &Path, package: &str, file: &str) -> anyhow::Result<()> {
    let packed = Command::new("npm").args(["pack", "--silent", package]).current_dir(folder).output();
    let packed = packed.context("run npm")?;
    ensure!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr).trim());
    let archive = String::from_utf8_lossy(&packed.stdout).trim().to_owned();
    let depth = file.matches('/').count().to_string();
    let status = Command::new("tar")
        .args(["-xzf", &archive, "--strip-components", &depth, file])
        .current_dir(folder)
        .status()
        .context("run tar")?;
    ensure!(status.success(), "unpack {archive}");
    Ok(())
}
