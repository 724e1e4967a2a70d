//! The state of a lab: one directory per lab, and in it one file that its supervisor keeps.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::LabError;
use crate::process::Identity;
use crate::servers::Offer;

/// The file's name.
const FILE: &str = "state.json";

/// A state file is never longer.
const BYTES_MAX: u64 = 1 << 20;

/// Where labs are, unless the variable says where.
const VARIABLE: &str = "PLIMSOLL_LAB_DIR";

/// The contents of a lab's `state.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The system's name.
    pub system: String,
    /// The variant's name.
    pub variant: String,
    /// How far it is.
    pub phase: Phase,
    /// Why it could not be started.
    pub error: Option<String>,
    /// The parent of all its processes; while it is being started, the process that starts it.
    pub supervisor: Identity,
    /// The boot during which it was started; process numbers mean nothing in another.
    pub boot_id: String,
    /// Its processes.
    pub parts: Vec<LabProcess>,
    /// Where its users go.
    pub url: String,
    /// Where the service is ready, shows its metrics and takes faults.
    pub control_url: String,
    /// How to reach its servers, by name, passwords included.
    pub servers: BTreeMap<String, String>,
    /// How to ask its servers what they do, by name, passwords included.
    #[serde(default)]
    pub offers: BTreeMap<String, Offer>,
    /// The base URL that its services send spans to.
    #[serde(default)]
    pub otlp: Option<String>,
    /// The core that all of it runs on, where it was bound to one.
    pub core: Option<usize>,
    /// Milliseconds from the start to the first answer.
    pub ready_after_ms: Option<u64>,
}

/// How far a lab is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Some of it does not answer yet.
    Starting,
    /// All of it answered.
    Ready,
    /// It could not be started, and nothing of it runs.
    Failed,
}

/// A process of a lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabProcess {
    /// Its name.
    pub name: String,
    /// Which process it is.
    pub identity: Identity,
    /// Its log file.
    pub log: PathBuf,
    /// How it ended, if it ended without being asked to.
    pub ended: Option<String>,
}

impl State {
    /// Reads the state of the lab in `directory`; nothing where there is no lab.
    ///
    /// # Errors
    /// There is a file that cannot be read.
    pub fn read(directory: &Path) -> Result<Option<State>, LabError> {
        let path = directory.join(FILE);
        let fail = |error: std::io::Error| LabError::file("read", &path, error);
        let length = match std::fs::metadata(&path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(fail(error)),
        };
        if length > BYTES_MAX {
            return Err(fail(std::io::ErrorKind::FileTooLarge.into()));
        }
        let text = std::fs::read(&path).map_err(fail)?;
        serde_json::from_slice(&text).map(Some).map_err(|error| fail(error.into()))
    }

    /// Replaces the file at once, so that a reader sees the old state or the new one.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), LabError> {
        let text = serde_json::to_vec_pretty(self).map_err(|error| LabError::Other(error.to_string()))?;
        let (path, next) = (directory.join(FILE), directory.join(".state.json.next"));
        write_privately(&next, &text)?;
        std::fs::rename(&next, &path).map_err(|error| LabError::file("write", &path, error))
    }

    /// Whether the supervisor still runs.
    pub fn is_supervised(&self) -> bool {
        self.boot_id == crate::process::boot_id() && self.supervisor.is_alive()
    }
}

/// Where the labs of this user are: `PLIMSOLL_LAB_DIR`, or a folder among the temporary files.
///
/// Not in the user's home: PostgreSQL runs as another user where the lab is root's, and that one may not enter it.
///
/// # Errors
/// The folder cannot be made, or other users could change it.
pub fn directory() -> Result<PathBuf, LabError> {
    let own = rustix::process::geteuid().as_raw();
    let default = || std::env::temp_dir().join(format!("plimsoll-lab-{own}"));
    let root = std::env::var_os(VARIABLE).map_or_else(default, PathBuf::from);
    make_enterable(&root)?;
    Ok(root)
}

/// Makes a directory that others can enter and only this user can change or list.
pub(crate) fn make_enterable(path: &Path) -> Result<(), LabError> {
    let made = std::fs::DirBuilder::new().mode(0o711).create(path);
    let opened = match made {
        // Whatever the process's mask took away.
        Ok(()) => std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o711)),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    };
    opened.map_err(|error| LabError::file("create", path, error))?;
    // Another user may have created it first: its name is no secret.
    let metadata = std::fs::symlink_metadata(path).map_err(|error| LabError::file("look at", path, error))?;
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
    let is_closed = metadata.permissions().mode() & 0o022 == 0;
    if metadata.is_dir() && is_own && is_closed { Ok(()) } else { Err(LabError::Unsafe(path.to_owned())) }
}

/// Writes a file that only this user can read.
pub(crate) fn write_privately(path: &Path, bytes: &[u8]) -> Result<(), LabError> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let written = options.open(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| LabError::file("write", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_others_can_change_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("labs");
        make_enterable(&path).expect("it is made");
        make_enterable(&path).expect("it is there");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).expect("it is ours");
        assert!(matches!(make_enterable(&path), Err(LabError::Unsafe(_))));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path(), &link).expect("a link");
        assert!(matches!(make_enterable(&link), Err(LabError::Unsafe(_))));
    }

    #[test]
    fn a_torn_state_is_an_error_and_none_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(State::read(folder.path()).expect("no lab is no error"), None);
        std::fs::write(folder.path().join(FILE), "{\"system\":").expect("a file");
        assert!(State::read(folder.path()).is_err());
    }
}
