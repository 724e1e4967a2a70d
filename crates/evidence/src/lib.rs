//! What servers did in the same seconds: asked of their own instruments, beside a run or after it.
//!
//! A [`Source`] is one place that tells something: a Prometheus, a database, a broker. Each kind is one file in
//! [`sources`] and one line in [`sources::KINDS`]. A [`Collector`] asks several of them, each on a thread of its own, and
//! hands over what they told; a source that fails or lags leaves a [`model::Gap`] with its reason, and never makes the load
//! wait. The room knows nothing of run files, of what the numbers mean, and of who looks at them.

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
