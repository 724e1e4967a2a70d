//! Scripts of the lab: their runs find the system, its evidence sources and its spans without flags.

use std::path::Path;

use evidence::Settings;
use session::receiving::LabTraces;

/// The system of the lab that a script belongs to, while it is up.
pub(crate) struct LabScript {
    /// The variable of `__ENV` that holds its address, and the address.
    pub(crate) variable: (String, String),
    /// Its evidence sources.
    pub(crate) sources: Vec<Settings>,
    /// Its spans; `None` where they go to another receiver.
    pub(crate) traces: Option<LabTraces>,
}

/// Returns the system whose script this is. A program built without the lab finds none.
#[cfg(feature = "lab")]
pub(crate) fn lab_script(script: &Path) -> Option<LabScript> {
    crate::lab_system::find(script)
}

/// Returns the system whose script this is. A program built without the lab finds none.
#[cfg(not(feature = "lab"))]
pub(crate) fn lab_script(_: &Path) -> Option<LabScript> {
    None
}
