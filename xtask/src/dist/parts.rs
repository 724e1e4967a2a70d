//! The files that are shipped, in a folder of their own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use super::{notices, sbom};
use crate::workspace;

/// Shells with completions, and the names of their files.
pub(super) const SHELLS: &[(&str, &str)] = &[
    ("bash", "plimsoll.bash"),
    ("zsh", "_plimsoll"),
    ("fish", "plimsoll.fish"),
    ("powershell", "plimsoll.ps1"),
];

/// The shipped files.
pub(super) struct Parts {
    /// Their folder, which is also the archive's.
    pub(super) folder: PathBuf,
    /// The folder's name: program, version, target.
    pub(super) name: String,
    pub(super) version: String,
    pub(super) target: String,
    /// Seconds since the epoch of all files.
    pub(super) epoch_s: u64,
    /// The same in the form of mails (RFC 5322).
    pub(super) date: String,
    /// Name and address of who makes the packages.
    pub(super) maintainer: String,
}

impl Parts {
    /// Puts together everything around the program, and the list of its crates beside it.
    pub(super) fn collect(program: &Path, target: &str, dist: &Path) -> anyhow::Result<Parts> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let name = format!("plimsoll-{version}-{target}");
        let epoch_s = epoch_s()?;
        let folder = dist.join(&name);
        for part in ["man", "completions", "guide"] {
            let part = folder.join(part);
            std::fs::create_dir_all(&part).with_context(|| format!("create {}", part.display()))?;
        }
        copy(program, &folder.join("plimsoll"))?;
        copy(&workspace::root().join("LICENSE"), &folder.join("LICENSE"))?;
        copy(&workspace::root().join("README.md"), &folder.join("README.md"))?;
        copy(&workspace::root().join("CHANGELOG.md"), &folder.join("CHANGELOG.md"))?;
        copy_guides(&folder.join("guide"))?;
        run(program, &["man".into(), folder.join("man").display().to_string()])?;
        for (shell, file) in SHELLS {
            let text = run(program, &["completions".into(), (*shell).into()])?;
            write(&folder.join("completions").join(file), &text)?;
        }
        let crates = sbom::Crates::resolve(target)?;
        write(&folder.join("THIRD-PARTY-LICENSES.txt"), notices::text(&crates)?.as_bytes())?;
        let document = serde_json::to_string_pretty(&crates.document(&time(epoch_s, "+%Y-%m-%dT%H:%M:%SZ")?))
            .context("write the list of crates")?;
        write(&dist.join(format!("{name}.cdx.json")), document.as_bytes())?;
        let (date, maintainer) = (time(epoch_s, "+%a, %d %b %Y %H:%M:%S +0000")?, maintainer()?);
        Ok(Parts { folder, name, version, target: target.to_owned(), epoch_s, date, maintainer })
    }
}

/// The time of the sources: `SOURCE_DATE_EPOCH` (reproducible-builds.org), otherwise that of the commit.
fn epoch_s() -> anyhow::Result<u64> {
    if let Ok(text) = std::env::var("SOURCE_DATE_EPOCH") {
        return text.parse().with_context(|| format!("read SOURCE_DATE_EPOCH {text:?}"));
    }
    let shown =
        Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(workspace::root()).output();
    let shown = shown.context("run git")?;
    let text = String::from_utf8_lossy(&shown.stdout).trim().to_owned();
    text.parse().with_context(|| format!("read the commit's time {text:?}; set SOURCE_DATE_EPOCH"))
}

/// The time in UTC, in a form of `date`.
fn time(epoch_s: u64, form: &str) -> anyhow::Result<String> {
    let shown =
        Command::new("date").env("LC_ALL", "C").args(["-u", "-d", &format!("@{epoch_s}"), form]).output();
    Ok(String::from_utf8_lossy(&shown.context("run date")?.stdout).trim().to_owned())
}

/// Who makes the packages: `DEBFULLNAME` and `DEBEMAIL`, as Debian's tools read them, otherwise the author of the commit.
fn maintainer() -> anyhow::Result<String> {
    if let (Ok(name), Ok(address)) = (std::env::var("DEBFULLNAME"), std::env::var("DEBEMAIL")) {
        return Ok(format!("{name} <{address}>"));
    }
    let shown =
        Command::new("git").args(["log", "-1", "--format=%an <%ae>"]).current_dir(workspace::root()).output();
    let text = String::from_utf8_lossy(&shown.context("run git")?.stdout).trim().to_owned();
    ensure!(text.contains('<'), "read the commit's author; set DEBFULLNAME and DEBEMAIL");
    Ok(text)
}

fn copy_guides(to: &Path) -> anyhow::Result<()> {
    let from = workspace::root().join("docs/guide");
    for entry in std::fs::read_dir(&from).with_context(|| format!("read {}", from.display()))? {
        let path = entry.context("read the guides")?.path();
        copy(&path, &to.join(path.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

pub(super) fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::copy(from, to).with_context(|| format!("copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("write {}", path.display()))
}

/// Runs the program that is shipped; what it printed.
fn run(program: &Path, words: &[String]) -> anyhow::Result<Vec<u8>> {
    let output = Command::new(program).args(words).stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("run {}", program.display()))?;
    ensure!(
        output.status.success(),
        "run {} {words:?}: {}",
        program.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(output.stdout)
}
