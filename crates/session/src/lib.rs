//! One run, from the banner to the exit code: prepares the test, runs it, and passes its events to listeners in order.
//!
//! The crate must not know subcommands and flags: the binary converts those to settings.

pub mod agent;
mod agent_options;
pub mod agents;
pub mod browser_spans;
pub mod child_run;
pub mod cluster;
mod context;
mod detached;
mod ending;
pub mod env;
pub mod evidence;
mod exit;
mod explain;
mod failure_lines;
mod header;
mod hidden_tags;
mod hub_address;
pub mod hub_in_cluster;
mod listener;
pub mod live;
pub mod logger;
pub mod loki;
mod outputs;
pub mod packing;
pub mod page;
pub mod program;
pub mod project;
pub mod receiving;
mod recording;
pub mod reports;
mod run;
pub mod secrets;
mod share;
pub mod signals;
pub mod source;
pub mod summary;
pub mod terminal;
pub mod test;
pub mod typings;
mod watch;

pub use context::{Context, plan_failure, refuse_first};
pub use header::RecordSettings;
pub use run::{Finished, Names, Observer, SessionSettings, run};
