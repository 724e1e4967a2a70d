//! The script that brings lodash and moment, 134 KB of them: fetched from npm when the bench runs and not kept.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::bench::{Bench, script_path};

/// The libraries: package, and the file in it.
const LIBRARIES: &[(&str, &str)] =
    &[("lodash@4.17.21", "package/lodash.min.js"), ("moment@2.30.1", "package/min/moment.min.js")];

/// The committed script, copied beside its libraries.
///
/// # Errors
/// A library could not be fetched: a reason to skip the case, said in one line.
pub(super) fn beside(bench: &Bench, script: &str) -> anyhow::Result<PathBuf> {
    for (package, file) in LIBRARIES {
        fetch(&bench.folder, package, file).with_context(|| format!("fetch {package}"))?;
    }
    let copy = bench.folder.join(script);
    std::fs::copy(script_path(script), &copy).context("copy the script beside its libraries")?;
    Ok(copy)
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
