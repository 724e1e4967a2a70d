//! Runs in processes of their own, whose files are read and thrown away: what measures the generator does it like this, so
//! that nothing of the process that asks is in it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use runfile::Reader;
use runs::{Exit, Failure};

/// Variables that would have such runs write, serve or leave out what is not theirs to decide.
const VARIABLES: [&str; 5] = ["ADDRESS", "LINGER", "NO_STORE", "OUT", "SUMMARY_EXPORT"];

/// A folder for what is thrown away; it goes when this is dropped.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// A new one, for this process alone.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn new(what: &str) -> Result<Scratch, Failure> {
        let path = std::env::temp_dir().join(format!("plimsoll-{what}-{}", std::process::id()));
        let made = std::fs::create_dir_all(&path);
        made.map_err(|error| fail(format!("make the folder {}: {error}", path.display())))?;
        Ok(Scratch(path))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is the temporary folder's to clean.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A run that is going in a process of its own.
pub(super) struct Apart {
    child: Child,
    runs: PathBuf,
}

impl Apart {
    /// Starts `plimsoll run` with these words; the folder `runs` is its own.
    ///
    /// # Errors
    /// It cannot be started.
    pub(super) fn start(
        words: impl IntoIterator<Item = impl AsRef<OsStr>>,
        runs: PathBuf,
    ) -> Result<Apart, Failure> {
        let failed = |error: std::io::Error| fail(format!("start a part of the test: {error}"));
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        for name in VARIABLES {
            command.env_remove(format!("K6_{name}")).env_remove(format!("PLIMSOLL_{name}"));
        }
        command.args(["run", "--quiet", "--no-thresholds", "--summary-mode", "disabled"]);
        command.arg("--runs").arg(&runs).args(words);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().map_err(failed)?;
        Ok(Apart { child, runs })
    }

    /// Waits for its end and opens what it stored.
    ///
    /// # Errors
    /// It failed, or stored nothing that can be read.
    pub(super) fn finish(mut self) -> Result<Reader, Failure> {
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

impl Drop for Apart {
    fn drop(&mut self) {
        // One that is not waited for was given up; one that is over cannot be ended again.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A failure whose text continues "failed to".
pub(super) fn fail(what: String) -> Failure {
    Failure::new(Exit::Other, format!("failed to {what}"))
}
