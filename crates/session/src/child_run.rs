//! Runs in child processes whose files are read and deleted. Measurements of the generator use them, so that work of the parent
//! process does not distort the result.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use runfile::Reader;
use runs::{Exit, Failure};

/// Variables that would make such runs write, serve or skip files.
const VARIABLES: [&str; 5] = ["ADDRESS", "LINGER", "NO_STORE", "OUT", "SUMMARY_EXPORT"];

/// A temporary folder that is deleted when this is dropped.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates a folder for this process alone.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn new(what: &str) -> Result<Scratch, Failure> {
        let path = std::env::temp_dir().join(format!("plimsoll-{what}-{}", std::process::id()));
        let made = std::fs::create_dir_all(&path);
        made.map_err(|error| fail(format!("make the folder {}: {error}", path.display())))?;
        Ok(Scratch(path))
    }

    /// Returns the folder's path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If it cannot be removed, the system cleans its temporary folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A run in a child process.
pub struct ChildRun {
    child: Child,
    runs: PathBuf,
}

impl ChildRun {
    /// Starts `plimsoll run` with these arguments; `runs` is the folder for its run file.
    ///
    /// # Errors
    /// The process cannot be started.
    pub fn start(
        words: impl IntoIterator<Item = impl AsRef<OsStr>>,
        runs: PathBuf,
    ) -> Result<ChildRun, Failure> {
        let failed = |error: std::io::Error| fail(format!("start a part of the test: {error}"));
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        for name in VARIABLES {
            command.env_remove(format!("K6_{name}")).env_remove(format!("PLIMSOLL_{name}"));
        }
        command.args(["run", "--quiet", "--no-thresholds", "--summary-mode", "disabled"]);
        command.arg("--runs").arg(&runs).args(words);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().map_err(failed)?;
        Ok(ChildRun { child, runs })
    }

    /// Waits for the run to end and opens its file.
    ///
    /// # Errors
    /// The run failed, or its file cannot be read.
    pub fn finish(mut self) -> Result<Reader, Failure> {
        let status =
            self.child.wait().map_err(|error| fail(format!("wait for a part of the test: {error}")))?;
        if !status.success() {
            return Err(fail(format!("make a part of the test: it ended with {status}")));
        }
        let missing = || fail("find a part of the test: it stored nothing".to_owned());
        let files = std::fs::read_dir(&self.runs).map_err(|_| missing())?;
        let mut paths = files.flatten().map(|file| file.path());
        let is_run = |path: &PathBuf| path.extension().is_some_and(|end| end == runfile::EXTENSION);
        runs::open(&paths.find(is_run).ok_or_else(missing)?)
    }
}

impl Drop for ChildRun {
    fn drop(&mut self) {
        // A child that is dropped before its end was abandoned; killing one that has ended does nothing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a failure whose text continues "failed to".
pub fn fail(what: String) -> Failure {
    Failure::new(Exit::Other, format!("failed to {what}"))
}
