//! Notes and baselines that users set on the page, in one small file beside the runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use runs::bounded::read_limited;
use serde::{Deserialize, Serialize};

use super::locked;

/// Name of the file in the folder of the runs.
const NAME: &str = "page.json";

/// Maximum size of the file, bytes.
const BYTES_MAX: u64 = 4 << 20;

/// Maximum number of runs with a remark.
const RUNS_MAX: usize = 10_000;

/// Maximum length of a note, bytes.
const NOTE_BYTES_MAX: usize = 4_000;

/// The remark on a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Remark {
    /// The note.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Whether runs of the same script are compared with this one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_baseline: bool,
    /// The script of a baseline; each script has one.
    #[serde(skip_serializing_if = "String::is_empty")]
    script: String,
}

/// An error of writing a remark; its text continues "failed to".
#[derive(Debug, thiserror::Error)]
pub(super) enum RemarkError {
    #[error("keep the note: it has more than {NOTE_BYTES_MAX} bytes")]
    TooLong,
    #[error("keep another note: there are {RUNS_MAX} already")]
    TooMany,
    #[error("read {}: {why}", path.display())]
    Read { path: PathBuf, why: String },
    #[error("write {}: {source}", path.display())]
    Write { path: PathBuf, source: std::io::Error },
}

/// The file of remarks. It is read each time, because several processes may serve one folder.
#[derive(Debug)]
pub(super) struct Remarks {
    path: PathBuf,
    writing: Mutex<()>,
}

type All = BTreeMap<String, Remark>;

impl Remarks {
    /// Returns the remarks on the runs in a folder. The file is created with the first remark.
    pub(super) fn new(folder: &Path) -> Remarks {
        Remarks { path: folder.join(NAME), writing: Mutex::default() }
    }

    /// Returns all remarks; none if the file is missing or unreadable.
    pub(super) fn all(&self) -> All {
        self.read().unwrap_or_default()
    }

    /// Returns the remark on a run.
    pub(super) fn get(&self, run: &str) -> Remark {
        self.all().remove(run).unwrap_or_default()
    }

    /// Stores a note.
    pub(super) fn note(&self, run: &str, note: &str) -> Result<Remark, RemarkError> {
        if note.len() > NOTE_BYTES_MAX {
            return Err(RemarkError::TooLong);
        }
        self.change(run, |all| all.entry(run.to_owned()).or_default().note = note.to_owned())
    }

    /// Sets or clears a run as the baseline of its script; setting replaces the previous baseline.
    pub(super) fn baseline(&self, run: &str, script: &str, is_baseline: bool) -> Result<Remark, RemarkError> {
        self.change(run, |all| {
            if is_baseline {
                all.values_mut().filter(|remark| remark.script == script).for_each(Remark::unpin);
            }
            let remark = all.entry(run.to_owned()).or_default();
            remark.unpin();
            if is_baseline {
                (remark.is_baseline, remark.script) = (true, script.to_owned());
            }
        })
    }

    fn change(&self, run: &str, change: impl FnOnce(&mut All)) -> Result<Remark, RemarkError> {
        let _writing = locked(&self.writing);
        // An unreadable file is not overwritten.
        let mut all = self.read()?;
        change(&mut all);
        all.retain(|_, remark| *remark != Remark::default());
        if all.len() > RUNS_MAX {
            return Err(RemarkError::TooMany);
        }
        self.write(&all).map_err(|source| RemarkError::Write { path: self.path.clone(), source })?;
        Ok(all.remove(run).unwrap_or_default())
    }

    fn read(&self) -> Result<All, RemarkError> {
        let failed = |why: String| RemarkError::Read { path: self.path.clone(), why };
        match read_limited(&self.path, BYTES_MAX) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| failed(error.to_string())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(All::new()),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// Writes a temporary file and renames it, so that readers see either the old or the new content.
    fn write(&self, all: &All) -> std::io::Result<()> {
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let beside = self.path.with_extension(format!("json.{}", std::process::id()));
        std::fs::write(&beside, serde_json::to_string_pretty(all)?)?;
        std::fs::rename(&beside, &self.path)
    }
}

impl Remark {
    fn unpin(&mut self) {
        self.is_baseline = false;
        self.script = String::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_has_one_baseline() {
        let folder = tempfile::tempdir().expect("a folder");
        let remarks = Remarks::new(&folder.path().join("runs"));
        remarks.note("a", "first").expect("written");
        remarks.baseline("a", "x.js", true).expect("written");
        remarks.baseline("c", "y.js", true).expect("written");
        remarks.baseline("b", "x.js", true).expect("written");
        let is_baseline = |run: &str| Remarks::new(&folder.path().join("runs")).get(run).is_baseline;
        assert_eq!(["a", "b", "c"].map(is_baseline), [false, true, true]);
        assert_eq!(remarks.get("a").note, "first");
        remarks.baseline("b", "x.js", false).expect("written");
        remarks.note("a", "").expect("written");
        assert_eq!(remarks.all().keys().collect::<Vec<_>>(), ["c"]);
        assert!(remarks.note("a", &"x".repeat(NOTE_BYTES_MAX + 1)).is_err());
    }

    #[test]
    fn what_is_not_understood_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(NAME), "{").expect("written");
        let remarks = Remarks::new(folder.path());
        assert!(remarks.note("a", "x").is_err() && remarks.all().is_empty());
        assert_eq!(std::fs::read_to_string(folder.path().join(NAME)).expect("it is there"), "{");
    }
}
