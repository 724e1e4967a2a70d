//! Where things are, and what cargo knows about them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::Value;

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// `cargo`, the one that runs us if one does.
///
/// Its variables about our own package are not passed on: some build scripts read them, and all that depends on those
/// would be built again each time, 15 minutes of it.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    for (name, _) in std::env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
        {
            command.env_remove(name);
        }
    }
    command
}

/// The workspace's own crates, by `cargo metadata`. Uses no network.
pub(crate) fn metadata() -> anyhow::Result<Value> {
    let output = cargo()
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .output()
        .context("run cargo metadata")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "read cargo's metadata: {complaint}");
    serde_json::from_slice(&output.stdout).context("parse cargo's metadata")
}

/// The folder that cargo builds into.
pub(crate) fn target_directory() -> anyhow::Result<PathBuf> {
    let metadata = metadata()?;
    let folder = metadata["target_directory"].as_str().context("find cargo's target directory")?;
    Ok(folder.into())
}
