//! What can be served: a run, as far as this room knows it.

use api::Group;
use api::rest::{Metric, Status, StatusChange};

/// Why something cannot be done, as a fragment that reads after "failed to".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// A run that can be asked and told. Every call may come at any time, from the server's thread.
pub trait Live: Send + Sync + 'static {
    /// How it stands.
    fn status(&self) -> Status;

    /// Changes it.
    ///
    /// # Errors
    /// What was asked cannot be done now; nothing has changed then.
    fn change(&self, change: &StatusChange) -> Result<(), Refusal>;

    /// Its metrics so far, in order of their names.
    fn metrics(&self) -> Vec<Metric>;

    /// Its groups and checks so far.
    fn root_group(&self) -> Group;

    /// What `setup()` gave, as JSON.
    fn setup_data(&self) -> Option<String>;

    /// Gives it the data of a `setup()` that ran elsewhere; `None` where that gave nothing.
    ///
    /// # Errors
    /// It does not wait for its start.
    fn set_setup_data(&self, json: Option<String>) -> Result<(), Refusal>;

    /// Runs `setup()` and gives what it gave. Takes as long as that does.
    ///
    /// # Errors
    /// It does not wait for its start, or `setup()` failed.
    fn run_setup(&self) -> Result<Option<String>, Refusal>;

    /// Runs `teardown()`. Takes as long as that does.
    ///
    /// # Errors
    /// The test is not over, or `teardown()` failed.
    fn run_teardown(&self) -> Result<(), Refusal>;
}
