//! One run, from the banner to the exit code: a script becomes a test, and the run's events reach its listeners in order.
//!
//! The crate knows nothing of verbs and flags: the binary turns those into settings.

mod context;
mod detached;
mod ending;
pub mod env;
pub mod evidence;
pub mod exit;
mod explain;
mod header;
mod listener;
pub mod live;
pub mod logger;
pub mod loki;
mod outputs;
pub mod page;
pub mod program;
pub mod receiving;
pub mod recording;
pub mod reports;
mod run;
pub mod secrets;
pub mod signals;
pub mod source;
pub mod summary;
pub mod terminal;
pub mod test;
mod watch;

pub use context::{Context, plan_failure, refuse_first};
pub use header::RecordSettings;
pub use run::{Finished, Names, Observer, SessionSettings, run};
