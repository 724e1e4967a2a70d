//! The assignment of the process that serves a system.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::LabError;
use crate::parts;

/// The file within a lab's directory that holds it.
const FILE: &str = "service.json";

/// Where a system's service listens and where its servers are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The system's name.
    pub system: String,
    /// The variant's name.
    pub variant: String,
    /// Which of the system's processes is meant; empty for the service, which is the first.
    #[serde(default)]
    pub part: String,
    /// The loopback port that the service answers its users on.
    pub port: u16,
    /// The loopback port for `/ready`, `/metrics` and `/faults`.
    pub control_port: u16,
    /// Where the structured log is written.
    pub log: PathBuf,
    /// The base URL that spans go to (OTLP over HTTP); without one they go to where a run on this machine listens.
    pub otlp: Option<String>,
    /// Seconds between two runs of what the system does periodically.
    pub refresh_s: u64,
    /// How to reach each server, by its name; passwords included.
    pub servers: BTreeMap<String, String>,
}

impl Assignment {
    /// How to reach a server.
    ///
    /// # Errors
    /// The system did not ask for it.
    pub fn server(&self, name: &str) -> Result<&str, String> {
        self.servers
            .get(name)
            .map(String::as_str)
            .ok_or_else(|| format!("find {name} among the lab's servers"))
    }

    /// Asks for these processes beside the service and for no others; each serves the same system as the part of its name.
    /// They start and end while this goes on; one that ended without being asked to stays so.
    ///
    /// # Errors
    /// It cannot be written down.
    pub fn ask_for(&self, parts: &[&str]) -> Result<(), String> {
        let directory = self.log.parent().unwrap_or(Path::new("."));
        parts::ask(directory, parts).map_err(|error| error.to_string())
    }

    /// The same for one of those processes, with a log of its own.
    #[must_use]
    pub(crate) fn for_part(mut self, part: &str) -> Assignment {
        self.log.set_file_name(format!("{part}.jsonl"));
        part.clone_into(&mut self.part);
        self
    }

    /// Reads the assignment of the lab in `directory`.
    ///
    /// # Errors
    /// There is none that can be read.
    pub fn read(directory: &Path) -> Result<Assignment, LabError> {
        let path = directory.join(FILE);
        let text = std::fs::read(&path).map_err(|error| LabError::file("read", &path, error))?;
        serde_json::from_slice(&text).map_err(|error| LabError::file("read", &path, error.into()))
    }

    /// Writes it readable by its owner alone: it holds passwords.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), LabError> {
        let text = serde_json::to_vec_pretty(self).map_err(|error| LabError::Other(error.to_string()))?;
        crate::state::write_privately(&directory.join(FILE), &text)
    }
}
