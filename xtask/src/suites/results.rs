//! The result of each case of each file, as a document that two tools are compared by.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

/// Cases by file.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Results {
    /// The tool's own words for its version.
    pub(super) tool: String,
    pub(super) files: BTreeMap<String, FileResult>,
    /// Files that no tool was asked to run, by why.
    #[serde(default)]
    pub(super) left_out: BTreeMap<String, usize>,
}

/// One file.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct FileResult {
    /// Whether each case passed, by its name.
    pub(super) cases: BTreeMap<String, bool>,
    /// Features that the file says it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) features: Vec<String>,
    /// Why cases failed, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) why: BTreeMap<String, String>,
}

impl FileResult {
    pub(super) fn passed(&self) -> usize {
        self.cases.values().filter(|passed| **passed).count()
    }
}

impl Results {
    pub(super) fn read(path: &Path) -> anyhow::Result<Results> {
        let bytes = std::fs::read(path).with_context(|| format!("read {}", path.display()))?;
        serde_json::from_slice(&bytes).with_context(|| format!("read results in {}", path.display()))
    }

    pub(super) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        std::fs::write(path, text).with_context(|| format!("write {}", path.display()))
    }
}
