//! Settings of a run of a lab script, which needs no flags for them.

use evidence::Settings;
use session::receiving::LabTraces;

/// The running lab system that a script belongs to.
pub(crate) struct LabScript {
    /// The variable of `__ENV` for the system's address, and the address.
    pub(crate) variable: (String, String),
    /// The system's evidence sources.
    pub(crate) sources: Vec<Settings>,
    /// The system's spans; `None` if they go to another receiver.
    pub(crate) traces: Option<LabTraces>,
}
