//! The command line of agents: their flags, and the subcommands `agent` and `kubernetes`.
//!
//! The work is done in other crates: `session` runs hub and agents, `kubernetes` knows clusters. The crate must not know the other
//! subcommands.

mod agent;
mod cluster;
mod doctor;
mod flags;
mod in_cluster;

pub use agent::run as run_agent;
pub use cluster::{KubernetesFlags, run as run_kubernetes};
pub use doctor::run as examine_cluster;
pub use flags::{AgentFlags, AgentsFlags, ClusterDoctorFlags, ClusterFlags, OnAgentLossFlag};
pub use in_cluster::run as run_in_cluster;
