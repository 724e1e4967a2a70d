//! One test on many machines: a hub that names the start and merges, and agents that run parts of the schedule.
//!
//! [`Hub`] and [`Agent`] are values that take the time and one input and give outputs; `simulation` runs them on seeded networks
//! in simulated time. Agents dial the hub. A [`link::Link`] numbers frames and sends them again until they are acknowledged, so
//! that a window counts once whatever the connections do. `serve` and [`dial`] own sockets and the clock; [`run`] is
//! `engine::run` with agents in the place of worker threads. The crate must not know scripts, flags and stored runs.

pub mod agent;
mod book;
pub mod clock;
pub mod codec;
pub mod convert;
pub mod dial;
pub mod hub;
pub mod link;
pub mod message;
mod run;
mod serve;
mod stream;
pub mod tls;
pub mod token;
pub mod window;

#[cfg(test)]
mod exactness;
#[cfg(test)]
mod scale;
#[cfg(test)]
mod simulation;

pub use agent::{Agent, AgentInput, AgentOutput, AgentSettings, Farewell, Task};
pub use book::part_of;
pub use hub::{Hub, HubEnd, HubEvent, HubInput, HubOutput, HubSettings, OnLoss};
pub use run::{AgentReports, Fleet, OnSecrets, OnStart, run};
