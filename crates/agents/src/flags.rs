//! Flags of tests that run on several agents, and of agents.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fleet::OnLoss;
use runs::{Exit, Failure};
use session::agents::{AgentsAsked, AgentsSettings};
use session::cluster::ClusterAsked;
use session::hub_in_cluster::HubInCluster;

/// Default of `--hub-account`.
pub(crate) const HUB_ACCOUNT: &str = "plimsoll";

/// Agents of a test.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Agents")]
pub struct AgentsFlags {
    /// Split the test over N agents: processes of this machine, of others with --agents-listen, or pods with --kubernetes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub agents: Option<u32>,
    /// Start with N agents if not all are ready in time [default: all]
    #[arg(long, value_name = "N", requires = "agents", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub agents_min: Option<u32>,
    /// Time in which agents join and initialise their VUs [default: 2m]
    #[arg(long, value_name = "DURATION", requires = "agents")]
    pub arm_timeout: Option<String>,
    /// Reaction to the loss of an agent: continue with less load, rebalance, or abort [default: continue]
    #[arg(long, value_name = "ACTION", requires = "agents")]
    pub on_agent_loss: Option<OnAgentLossFlag>,
    /// Wait for agents of other machines at this address, IP:PORT, encrypted; needs --token-file
    #[arg(long, value_name = "ADDRESS", requires = "agents")]
    pub agents_listen: Option<String>,
    /// Write the token that agents need to this file, for this run
    #[arg(long, value_name = "FILE", requires = "agents_listen")]
    pub token_file: Option<PathBuf>,
    /// Run the agents as pods of a Kubernetes cluster
    #[arg(long, requires = "agents", help_heading = "Kubernetes")]
    pub kubernetes: bool,
    /// Address of this machine as pods reach it: HOST:PORT
    #[arg(long, value_name = "ADDRESS", requires = "kubernetes", help_heading = "Kubernetes")]
    pub hub_address: Option<String>,
    /// Run the hub as a pod, too, where pods cannot reach this machine; its output and results come here
    #[arg(long, requires = "kubernetes", conflicts_with_all = ["hub_address", "agents_listen"], help_heading = "Kubernetes")]
    pub hub_in_cluster: bool,
    /// Service account of the hub's pod [default: plimsoll]
    #[arg(long, value_name = "NAME", requires = "hub_in_cluster", help_heading = "Kubernetes")]
    pub hub_account: Option<String>,
    /// The cluster and its pods.
    #[command(flatten)]
    pub cluster: ClusterFlags,
}

/// A cluster and the pods of agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Kubernetes")]
pub struct ClusterFlags {
    /// Kubeconfig file [default: KUBECONFIG, else ~/.kube/config, else the pod's service account]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Context in the kubeconfig file [default: the current one]
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// Namespace of the agents [default: the context's]
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Image of the agents, of this version of Plimsoll
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,
    /// Name of a Secret with the credentials of the image's registry
    #[arg(long, value_name = "NAME")]
    pub image_pull_secret: Option<String>,
    /// Cores of each agent, as request and limit [default: 1]
    #[arg(long, value_name = "CORES")]
    pub agent_cpu: Option<String>,
    /// Memory of each agent, as request and limit [default: 1Gi]
    #[arg(long, value_name = "SIZE")]
    pub agent_memory: Option<String>,
    /// Run agents only on nodes with this label; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub node_selector: Vec<String>,
    /// Tolerate this taint of nodes: KEY, KEY:EFFECT or KEY=VALUE:EFFECT; repeatable
    #[arg(long, value_name = "TAINT")]
    pub toleration: Vec<String>,
    /// Queue of Kueue that admits the Job
    #[arg(long, value_name = "NAME")]
    pub queue: Option<String>,
}

/// Flags of `plimsoll doctor` about a cluster.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Kubernetes")]
pub struct ClusterDoctorFlags {
    /// Check a Kubernetes cluster: version, permissions, quota, nodes and image
    #[arg(long)]
    pub kubernetes: bool,
    /// Number of agents of the plan [default: 1]
    #[arg(long, value_name = "N", requires = "kubernetes", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub agents: Option<u32>,
    /// Check what --hub-in-cluster needs, too
    #[arg(long, requires = "kubernetes")]
    pub hub_in_cluster: bool,
    /// The cluster and its pods.
    #[command(flatten)]
    pub cluster: ClusterFlags,
}

/// `plimsoll agent`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = AGENT_EXAMPLES)]
pub struct AgentFlags {
    /// Address of the hub: HOST:PORT
    #[arg(long, value_name = "ADDRESS")]
    pub hub: String,
    /// File with the token, as the hub wrote it
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Name of this agent in logs [default: the host's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

const AGENT_EXAMPLES: &str = "\
An agent gets the script, its files, variables and secrets from the hub, runs its part of the test, and exits.

Examples:
  plimsoll run --agents 2 --agents-listen 10.0.0.5:7000 --token-file token script.js   on the hub's machine
  plimsoll agent --hub 10.0.0.5:7000 --token-file token                                on each other machine";

/// Values of `--on-agent-loss`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnAgentLossFlag {
    /// Go on with less load.
    Continue,
    /// Let the others take the load over.
    Rebalance,
    /// End the run.
    Abort,
}

impl AgentsFlags {
    /// Resolves the flags; `None` without `--agents`.
    ///
    /// # Errors
    /// A flag is invalid, or belongs to another one that is missing.
    pub fn resolve(&self) -> Result<Option<AgentsSettings>, Failure> {
        if !self.kubernetes && self.cluster != ClusterFlags::default() {
            let text =
                "failed to use the flags about a cluster without --kubernetes; add it, with --agents N";
            return Err(Failure::new(Exit::InvalidConfig, text));
        }
        let Some(count) = self.agents else { return Ok(None) };
        let cluster = self.kubernetes.then(|| self.cluster.asked(self.hub_address.clone()));
        let asked = AgentsAsked {
            count,
            least: self.agents_min,
            arm_timeout: self.arm_timeout.clone(),
            on_loss: match self.on_agent_loss {
                Some(OnAgentLossFlag::Abort) => OnLoss::Abort,
                Some(OnAgentLossFlag::Rebalance) => OnLoss::Rebalance,
                Some(OnAgentLossFlag::Continue) | None => OnLoss::Continue,
            },
            listen: self.agents_listen.clone(),
            token_file: self.token_file.clone(),
            cluster,
        };
        asked.resolve().map(Some)
    }

    /// The hub in a cluster that runs this command, without its words and files; `None` if this process is the hub.
    ///
    /// # Errors
    /// A flag is invalid.
    pub fn hub_in_cluster(&self) -> Result<Option<HubInCluster>, Failure> {
        if !self.hub_in_cluster {
            return Ok(None);
        }
        let account = self.hub_account.clone().unwrap_or_else(|| HUB_ACCOUNT.to_owned());
        kubernetes::access::check_name("--hub-account", &account)
            .map_err(|text| Failure::new(Exit::InvalidConfig, text))?;
        let asked = AgentsAsked {
            count: self.agents.unwrap_or(1),
            arm_timeout: self.arm_timeout.clone(),
            ..Default::default()
        };
        let arm_timeout = asked.resolve()?.arm_timeout;
        Ok(Some(HubInCluster {
            cluster: self.cluster.asked(None),
            account,
            arm_timeout,
            ..Default::default()
        }))
    }

    /// Whether agents of other machines are waited for, which users start.
    pub fn are_started_by_users(&self) -> bool {
        self.agents_listen.is_some() && !self.kubernetes
    }
}

impl ClusterFlags {
    /// Returns the flags about a cluster.
    pub fn asked(&self, hub_address: Option<String>) -> ClusterAsked {
        ClusterAsked {
            access: kubernetes::AccessAsked {
                kubeconfig: self.kubeconfig.clone(),
                context: self.context.clone(),
                namespace: self.namespace.clone(),
            },
            pods: kubernetes::objects::PodsAsked {
                image: self.image.clone(),
                cpu: self.agent_cpu.clone(),
                memory: self.agent_memory.clone(),
                node_selector: self.node_selector.clone(),
                tolerations: self.toleration.clone(),
                queue: self.queue.clone(),
                pull_secret: self.image_pull_secret.clone(),
            },
            hub_address,
        }
    }
}
