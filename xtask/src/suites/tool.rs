//! A tool that runs k6 scripts, and processes of it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use anyhow::Context;
use model::SystemClock;

use crate::workspace;

/// How often a process is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Bytes of output that are read.
const OUTPUT_BYTES_MAX: u64 = 64 << 20;

/// A binary.
#[derive(Clone, Default)]
pub(super) struct Tool(Option<PathBuf>);

impl Tool {
    pub(super) fn at(path: PathBuf) -> Tool {
        Tool(Some(path))
    }

    fn path(&self) -> anyhow::Result<PathBuf> {
        let path = match &self.0 {
            Some(path) => path.clone(),
            None => workspace::target_directory()?.join("release/plimsoll"),
        };
        path.canonicalize().with_context(|| format!("find the tool {}", path.display()))
    }

    /// The name and version that the tool prints.
    pub(super) fn version(&self) -> anyhow::Result<String> {
        let output =
            Command::new(self.path()?).arg("version").output().context("ask the tool for its version")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let first = text.lines().next().unwrap_or_default();
        Ok(first.split(" (").next().unwrap_or(first).to_owned())
    }

    /// Runs `main.js` of a folder; returns each line that it logged, as the script gave it. A process that takes too long is
    /// ended, and what it logged before counts.
    pub(super) fn run(&self, folder: &Path, limit: Duration) -> anyhow::Result<String> {
        let log = folder.join("log");
        let output = File::create(&log).context("create a log")?;
        let mut child = Command::new(self.path()?)
            .args(["run", "--quiet", "--no-color", "--no-usage-report", "--log-format", "raw", "main.js"])
            .current_dir(folder)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(output)
            .spawn()
            .context("start the tool")?;
        let end = SystemClock::now() + limit;
        while child.try_wait().context("wait for the tool")?.is_none() {
            if SystemClock::now() > end {
                child.kill().context("end the tool")?;
                child.wait().context("wait for the tool's end")?;
                break;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        let size = std::fs::metadata(&log).context("look at the log")?.len();
        anyhow::ensure!(size <= OUTPUT_BYTES_MAX, "read a log of {size} bytes: it is too long");
        Ok(String::from_utf8_lossy(&std::fs::read(&log).context("read the log")?).into_owned())
    }
}

/// Does each of the items on one of a few threads; the results are in no order.
pub(super) fn in_parallel<T: Send, R: Send>(
    jobs: usize,
    items: Vec<T>,
    work: impl Fn(T) -> anyhow::Result<R> + Sync,
) -> anyhow::Result<Vec<R>> {
    let (queue, total) = (Mutex::new(items), Mutex::new(Vec::new()));
    let take = || queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs)
            .map(|_| {
                scope.spawn(|| {
                    while let Some(item) = take() {
                        let result = work(item)?;
                        total.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(result);
                    }
                    anyhow::Ok(())
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    Ok(total.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}
