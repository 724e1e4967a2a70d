//! Agents as pods of a Kubernetes cluster: the objects of a run, and reports about its pods to the hub.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use fleet::{AgentReports, OnStart};
use kubernetes::client::ApiErrorKind;
use kubernetes::objects::{ExitCodes, Owner, Pods, PodsAsked, Shape, Work};
use kubernetes::watch::{Notice, Obstacle, Watch};
use kubernetes::{Access, AccessAsked, Client, Deployment};
use model::LogLevel;
use runs::{Exit, Failure};

use crate::Context;
use crate::hub_address::address;
use crate::logger::Logger;

/// The variable with the Job that owns those of agents, in a hub that runs in a pod: `NAME:UID`.
pub(crate) const OWNER_VARIABLE: &str = "PLIMSOLL_KUBERNETES_OWNER";

/// Interval at which pods are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Interval at which the end of the run is looked for.
const END_EVERY: Duration = Duration::from_millis(100);

/// Exit codes of agents that decide about new pods.
pub const EXIT_CODES: ExitCodes = ExitCodes {
    refused: Exit::InvalidConfig.code(),
    hub_lost: Exit::HubLost.code(),
    panic: Exit::Panic.code(),
};

/// The flags about a cluster, as typed.
#[derive(Clone, Debug, Default)]
pub struct ClusterAsked {
    /// The cluster and its namespace.
    pub access: AccessAsked,
    /// The choices about pods.
    pub pods: PodsAsked,
    /// The address at which pods find the hub.
    pub hub_address: Option<String>,
}

/// A cluster that runs agents.
#[derive(Clone, Debug)]
pub struct ClusterSettings {
    access: AccessAsked,
    pods: Pods,
    hub: String,
}

impl ClusterAsked {
    /// Resolves the flags, with the address that the hub listens at.
    ///
    /// # Errors
    /// A flag is invalid or missing.
    pub fn resolve(self, listen: Option<SocketAddr>) -> Result<(ClusterSettings, SocketAddr), Failure> {
        let ClusterAsked { access, pods, hub_address } = self;
        let Some(hub) = hub_address else {
            let text = "no address of the hub for the pods: set --hub-address to HOST:PORT of this machine, as pods of the \
                        cluster reach it, for example 10.0.0.5:7000";
            return Err(refused(text));
        };
        let hub = address("--hub-address", &hub)?;
        if is_loopback(&hub) {
            let text = format!(
                "invalid --hub-address `{hub}`: a pod reaches itself there; use an address of this machine's network"
            );
            return Err(refused(text));
        }
        let port = hub.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or_default();
        let listen = listen.unwrap_or(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port));
        let pods = pods.resolve().map_err(refused)?;
        Ok((ClusterSettings { access, pods, hub }, listen))
    }
}

/// Opens a client of the cluster.
///
/// # Errors
/// No cluster is configured, or its credentials are invalid.
pub fn client(asked: &AccessAsked, context: &Context) -> Result<Client, Failure> {
    let variable = |name: &str| context.env.get(name).map(str::to_owned);
    let access = Access::resolve(asked, &variable).map_err(refused)?;
    Client::new(access).map_err(|why| Failure::new(Exit::Other, format!("failed to use the cluster: {why}")))
}

impl ClusterSettings {
    /// The facts of the objects of a run.
    pub fn shape(&self, namespace: &str, name: String, agents: u32, deadline: Duration) -> Shape {
        let work = Work::Agents { hub: self.hub.clone() };
        new_shape(namespace, name, agents, deadline, work, self.pods.clone())
    }

    /// Creates the objects of a run.
    ///
    /// # Errors
    /// The cluster is unreachable or refuses an object.
    pub(crate) fn start(
        &self,
        agents: u32,
        run: &str,
        deadline: Duration,
        token: &str,
        context: &Context,
    ) -> Result<Removal, Failure> {
        let client = client(&self.access, context)?;
        let access = client.access().clone();
        let shape = self.shape(&access.namespace, format!("plimsoll-{run}"), agents, deadline);
        let shape = Shape { owner: owner(context), ..shape };
        let deployment = Deployment::create(client, shape, token)
            .map_err(|error| Failure::new(exit_of(error.kind), error.message))?;
        let Shape { name, namespace, .. } = &deployment.shape;
        let text = format!(
            "the Job {name} in the namespace {namespace} ({}) starts {agents} agents, which connect to {}",
            access.origin, self.hub
        );
        context.logger.report(&text);
        Ok(Removal::new(deployment, context.logger.clone()))
    }
}

/// The facts of a Job of this program.
pub(crate) fn new_shape(
    namespace: &str,
    name: String,
    agents: u32,
    deadline: Duration,
    work: Work,
    pods: Pods,
) -> Shape {
    let namespace = namespace.to_owned();
    Shape { name, namespace, owner: None, agents, work, pods, deadline, exit_codes: EXIT_CODES }
}

/// The exit for a refusal of an object.
pub(crate) fn exit_of(kind: ApiErrorKind) -> Exit {
    match kind {
        ApiErrorKind::Forbidden | ApiErrorKind::Invalid | ApiErrorKind::NotFound => Exit::InvalidConfig,
        _ => Exit::Other,
    }
}

/// The Job of the hub that this process is, if it runs in one.
fn owner(context: &Context) -> Option<Owner> {
    let (name, uid) = context.env.get(OWNER_VARIABLE)?.split_once(':')?;
    Some(Owner { name: name.to_owned(), uid: uid.to_owned() })
}

/// The objects of a run, which are removed with this.
pub(crate) struct Removal {
    deployment: Arc<Deployment>,
    logger: Arc<Logger>,
}

impl Removal {
    pub(crate) fn new(deployment: Deployment, logger: Arc<Logger>) -> Removal {
        Removal { deployment: Arc::new(deployment), logger }
    }

    pub(crate) fn deployment(&self) -> &Deployment {
        &self.deployment
    }

    /// Starts reports about pods to the hub, on a thread of its own.
    pub(crate) fn reporting(&self, context: &Context) -> OnStart {
        let (deployment, logger) = (self.deployment.clone(), context.logger.clone());
        Box::new(move |reports| {
            let spare = logger.clone();
            let body = move || report(&deployment, &reports, &logger);
            if let Err(error) = std::thread::Builder::new().name("kubernetes".into()).spawn(body) {
                let text = format!("failed to watch the pods: {error}; their state is not shown");
                spare.say(LogLevel::Warn, text);
            }
        })
    }
}

impl Drop for Removal {
    fn drop(&mut self) {
        let Shape { name, namespace, .. } = &self.deployment.shape;
        if let Err(error) = self.deployment.remove() {
            let text = format!(
                "failed to remove the Job {name}: {error}; it is deleted by itself after its end, or now by: kubectl \
                 delete job {name} --namespace {namespace}"
            );
            self.logger.say(LogLevel::Error, text);
        }
    }
}

/// Looks at the pods until the run is over.
fn report(deployment: &Deployment, reports: &AgentReports, logger: &Logger) {
    let mut watch = Watch::new(&deployment.shape);
    let (mut is_blind, mut reported) = (false, HashSet::new());
    while !reports.is_over() {
        match deployment.look() {
            Ok(snapshot) => {
                is_blind = false;
                for notice in watch.step(&snapshot) {
                    pass(&notice, &deployment.shape, reports, logger, &mut reported);
                }
            }
            Err(error) if !std::mem::replace(&mut is_blind, true) => {
                logger.say(LogLevel::Warn, format!("failed to look at the pods: {error}; trying again"));
            }
            Err(_) => {}
        }
        let mut waited = Duration::ZERO;
        while waited < LOOK_EVERY && !reports.is_over() {
            std::thread::sleep(END_EVERY);
            waited += END_EVERY;
        }
    }
}

/// Passes a notice on. `reported` has the reasons of failures that the log has already.
fn pass(
    notice: &Notice,
    shape: &Shape,
    reports: &AgentReports,
    logger: &Logger,
    reported: &mut HashSet<String>,
) {
    match notice {
        Notice::Obstacles(obstacles) => {
            for obstacle in obstacles.iter().filter(|obstacle| !reported.contains(&obstacle.why)) {
                logger.say(LogLevel::Warn, sentence(obstacle, shape.agents));
            }
            let all: Vec<String> =
                obstacles.iter().map(|obstacle| sentence(obstacle, shape.agents)).collect();
            reports.hindered(all.join("; "));
        }
        Notice::Failed { index, why } => {
            let name = shape.agent_name(*index);
            reported.insert(why.clone());
            logger.say(LogLevel::Warn, format!("the pod of agent {name} failed: {why}"));
            reports.vanished(name, why.clone());
        }
        Notice::GivenUp { index, why } => reports.gave_up(shape.agent_name(*index), why.clone()),
        Notice::Deleted => {
            let text = format!(
                "the Job {} was deleted by someone else, so its agents ended before the test did; the results are partial",
                shape.name
            );
            reports.ended(text);
        }
    }
}

fn sentence(obstacle: &Obstacle, agents: u32) -> String {
    let verb = if obstacle.agents == 1 { "waits" } else { "wait" };
    format!("{} of {agents} agents {verb}: {}", obstacle.agents, obstacle.why)
}

fn is_loopback(hub: &str) -> bool {
    let host = hub.rsplit_once(':').map_or(hub, |(host, _)| host).trim_matches(['[', ']']);
    host == "localhost"
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback() || address.is_unspecified())
}

fn refused(text: impl Into<String>) -> Failure {
    Failure::new(Exit::InvalidConfig, text)
}
