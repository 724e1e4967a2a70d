//! Flags of runs on agents, and of `plimsoll agent`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fleet::OnLoss;
use session::agents::AgentsAsked;

/// Agents that share a test.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Agents")]
pub(crate) struct AgentsFlags {
    /// Split the test over N agents: processes of this machine, or of others with --agents-listen
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) agents: Option<u32>,
    /// Start with N agents if not all are ready in time [default: all]
    #[arg(long, value_name = "N", requires = "agents", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) agents_min: Option<u32>,
    /// Time in which agents join and initialise their VUs [default: 2m]
    #[arg(long, value_name = "DURATION", requires = "agents")]
    pub(crate) arm_timeout: Option<String>,
    /// Reaction to the loss of an agent: continue with less load, rebalance, or abort [default: continue]
    #[arg(long, value_name = "ACTION", requires = "agents")]
    pub(crate) on_agent_loss: Option<OnAgentLossFlag>,
    /// Wait for agents of other machines at this address, IP:PORT, encrypted; needs --token-file
    #[arg(long, value_name = "ADDRESS", requires_all = ["agents", "token_file"])]
    pub(crate) agents_listen: Option<String>,
    /// Write the token that agents need to this file, for this run
    #[arg(long, value_name = "FILE", requires = "agents_listen")]
    pub(crate) token_file: Option<PathBuf>,
}

impl AgentsFlags {
    /// Returns the flags of a run on agents; `None` without `--agents`.
    pub(crate) fn asked(&self) -> Option<AgentsAsked> {
        Some(AgentsAsked {
            count: self.agents?,
            least: self.agents_min,
            arm_timeout: self.arm_timeout.clone(),
            on_loss: match self.on_agent_loss {
                Some(OnAgentLossFlag::Abort) => OnLoss::Abort,
                Some(OnAgentLossFlag::Rebalance) => OnLoss::Rebalance,
                Some(OnAgentLossFlag::Continue) | None => OnLoss::Continue,
            },
            listen: self.agents_listen.clone(),
            token_file: self.token_file.clone(),
        })
    }
}

/// Values of `--on-agent-loss`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnAgentLossFlag {
    Continue,
    Rebalance,
    Abort,
}

/// `plimsoll agent`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = AGENT_EXAMPLES)]
pub(crate) struct AgentFlags {
    /// Address of the hub: HOST:PORT
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) hub: String,
    /// File with the token, as the hub wrote it
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Name of this agent in logs [default: the host's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

const AGENT_EXAMPLES: &str = "\
An agent gets the script, its files, variables and secrets from the hub, runs its part of the test, and exits.

Examples:
  plimsoll run --agents 2 --agents-listen 10.0.0.5:7000 --token-file token script.js   on the hub's machine
  plimsoll agent --hub 10.0.0.5:7000 --token-file token                                on each other machine";
