//! The settings that a run of the lab's own script needs no flags for.

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
