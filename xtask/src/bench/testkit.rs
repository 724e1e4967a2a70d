//! A server of testkit on the server's core.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use anyhow::{Context, ensure};

use super::{process, server};
use crate::workspace;

/// A running server; dropping it stops it.
pub(super) struct Testkit {
    child: Child,
    /// Its address, such as `http://127.0.0.1:4711`.
    pub(super) url: String,
}

impl Testkit {
    /// Starts the server of this kind: `serve`, `hold`, ….
    pub(super) fn start(kind: &str) -> anyhow::Result<Testkit> {
        let mut child = process::pinned(server::CORE, &binary()?)
            .arg(kind)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("start testkit")?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("read what testkit prints")?;
        BufReader::new(stdout).read_line(&mut line).context("read testkit's address")?;
        Ok(Testkit { child, url: line.trim().trim_end_matches('/').to_owned() })
    }
}

impl Drop for Testkit {
    fn drop(&mut self) {
        // It ends when its standard input does.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Builds testkit, unless `TESTKIT_BIN` names one.
fn binary() -> anyhow::Result<PathBuf> {
    if let Some(path) = std::env::var_os("TESTKIT_BIN").filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    let built = workspace::cargo().args(["build", "--release", "--quiet", "--package", "testkit"]).status();
    ensure!(built.context("run cargo build")?.success(), "build testkit");
    Ok(workspace::target_directory()?.join("release/testkit"))
}
