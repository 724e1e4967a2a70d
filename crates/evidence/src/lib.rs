//! Server-side evidence: queries the servers' own instruments during or after a run.
//!
//! A [`Source`] is one instrument: a Prometheus, a database, a broker. Each kind is one file in [`sources`] and one line in
//! [`sources::KINDS`]. A [`Collector`] queries several of them, each on a separate thread, and returns their evidence; a
//! source that fails or lags leaves a [`model::Gap`] with its reason, and never delays the load. The crate must not know
//! run files, analysis or reports.

mod answer;
mod collector;
pub mod contract;
#[cfg(test)]
mod encrypted;
mod flame;
mod gathered;
mod http;
mod lines;
mod packs;
mod settings;
pub mod sources;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod trial;
mod wall;

pub use collector::{Collector, SourceState};
pub use contract::{About, Check, Moment, Period, Source, SourceError};
pub use settings::{Settings, SettingsError, password_variable};
