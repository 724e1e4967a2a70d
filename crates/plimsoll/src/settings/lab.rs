//! Lab scripts: their runs find the system, its evidence sources and its spans without flags.

use std::path::Path;

use crate::lab_script::LabScript;

/// Returns the lab system of this script. A program built without the lab finds none.
#[cfg(feature = "lab")]
pub(crate) fn lab_script(script: &Path) -> Option<LabScript> {
    crate::lab_system::find(script)
}

/// Returns the lab system of this script. A program built without the lab finds none.
#[cfg(not(feature = "lab"))]
pub(crate) fn lab_script(_: &Path) -> Option<LabScript> {
    None
}
