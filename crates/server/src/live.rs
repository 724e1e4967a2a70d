//! A run as the server sees it.

use api::Group;
use api::rest::{Metric, Status, StatusChange};

/// The reason of a refusal, as a fragment that reads after "failed to".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// A run that clients can inspect and control. Calls come at any time, from the server's thread.
pub trait Live: Send + Sync + 'static {
    /// Returns the status.
    fn status(&self) -> Status;

    /// Changes the run.
    ///
    /// # Errors
    /// The change is not possible now; the run is unchanged.
    fn change(&self, change: &StatusChange) -> Result<(), Refusal>;

    /// Returns the metrics so far, sorted by name.
    fn metrics(&self) -> Vec<Metric>;

    /// Returns the groups and checks so far.
    fn root_group(&self) -> Group;

    /// Returns the result of `setup()` as JSON.
    fn setup_data(&self) -> Option<String>;

    /// Sets the result of a `setup()` that ran elsewhere; `None` if it returned nothing.
    ///
    /// # Errors
    /// The run is not waiting for its start.
    fn set_setup_data(&self, json: Option<String>) -> Result<(), Refusal>;

    /// Runs `setup()` and returns its result. Blocks until it ends.
    ///
    /// # Errors
    /// The run is not waiting for its start, or `setup()` failed.
    fn run_setup(&self) -> Result<Option<String>, Refusal>;

    /// Runs `teardown()`. Blocks until it ends.
    ///
    /// # Errors
    /// The test is not over, or `teardown()` failed.
    fn run_teardown(&self) -> Result<(), Refusal>;
}
