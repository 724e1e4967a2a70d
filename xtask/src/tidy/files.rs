//! The text files of the repository.

use std::path::Path;

use anyhow::Context;

use crate::workspace;

/// Folders that hold nothing written by hand.
const SKIPPED: &[&str] = &[".git", "target", "node_modules", ".venv", "__pycache__"];

/// A file that is UTF-8 text.
#[derive(Debug)]
pub(super) struct TextFile {
    /// Its path from the root, with `/` between the parts.
    pub(super) path: String,
    /// Its text.
    pub(super) text: String,
}

impl TextFile {
    /// The part of its name after the last dot; empty without one.
    pub(super) fn extension(&self) -> &str {
        Path::new(&self.path).extension().and_then(|extension| extension.to_str()).unwrap_or_default()
    }
}

/// All text files, in order of their paths.
pub(super) fn all() -> anyhow::Result<Vec<TextFile>> {
    let root = workspace::root();
    let mut found = Vec::new();
    collect(&root, &root, &mut found)?;
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<TextFile>) -> anyhow::Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("list {}", folder.display()))?;
        let (path, kind) = (entry.path(), entry.file_type().context("read a file's type")?);
        if SKIPPED.iter().any(|skipped| entry.file_name() == *skipped) {
            continue;
        }
        if kind.is_dir() {
            collect(root, &path, found)?;
        } else if kind.is_file() {
            found.extend(read(root, &path)?);
        }
    }
    Ok(())
}

/// The file, unless it is not text.
fn read(root: &Path, path: &Path) -> anyhow::Result<Option<TextFile>> {
    let bytes = std::fs::read(path).with_context(|| format!("read {}", path.display()))?;
    let Ok(text) = String::from_utf8(bytes) else { return Ok(None) };
    let relative = path.strip_prefix(root).unwrap_or(path);
    Ok(Some(TextFile { path: relative.to_string_lossy().replace('\\', "/"), text }))
}
