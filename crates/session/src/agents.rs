//! The hub's side of a run on agents: packs the test, opens the socket, and starts local agents.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use engine::RunConfig;
use fleet::tls::HubCertificate;
use fleet::token::{TOKEN_FILE_BYTES_MAX, Token};
use fleet::{Fleet, HubSettings, OnLoss, OnSecrets};
use model::plan::{Compat, Executor, Segment};
use plan::vu_demand;
use runs::{Exit, Failure};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Context;
use crate::cluster::{ClusterAsked, ClusterSettings, Removal};
use crate::packing::{archive_of, bytes_of};
use crate::test::Test;

/// Default of `--arm-timeout`.
const ARM_TIMEOUT: Duration = Duration::from_secs(120);

/// Time at the end of a run in which agents hand over their results.
const ENDING: Duration = Duration::from_secs(120);

/// The longest time for which a test in a cluster waits for its resume.
const PAUSE_MAX: Duration = Duration::from_secs(24 * 3600);

/// The variable that hands a local agent its token.
pub const TOKEN_VARIABLE: &str = "PLIMSOLL_AGENT_TOKEN";

/// The address of a hub whose agents are processes of this machine.
const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

/// Settings of a run on agents.
#[derive(Clone, Debug)]
pub struct AgentsSettings {
    /// Number of agents.
    pub count: u32,
    /// Number of agents that is enough when the time to arm is over.
    pub least: u32,
    /// Time in which agents join and initialise their VUs.
    pub arm_timeout: Duration,
    /// The reaction to the loss of an agent.
    pub on_loss: OnLoss,
    /// Agents of other machines; `None` for processes of this machine.
    pub remote: Option<Remote>,
}

/// Agents of other machines.
#[derive(Clone, Debug)]
pub struct Remote {
    /// The address that the hub listens at.
    pub listen: SocketAddr,
    /// The way that their token goes.
    pub token: TokenWay,
}

/// The way of the token to agents of other machines.
#[derive(Clone, Debug)]
pub enum TokenWay {
    /// A file, which the user copies.
    File(PathBuf),
    /// A Secret of the cluster that runs the agents.
    Cluster(Box<ClusterSettings>),
}

/// The flags of a run on agents, as typed.
#[derive(Clone, Debug, Default)]
pub struct AgentsAsked {
    /// Number of agents.
    pub count: u32,
    /// Number of agents that is enough; all if unset.
    pub least: Option<u32>,
    /// Time to arm; two minutes if unset.
    pub arm_timeout: Option<String>,
    /// The reaction to the loss of an agent.
    pub on_loss: OnLoss,
    /// The address for agents of other machines.
    pub listen: Option<String>,
    /// The file for their token.
    pub token_file: Option<PathBuf>,
    /// The cluster that runs them.
    pub cluster: Option<ClusterAsked>,
}

impl AgentsAsked {
    /// Resolves the flags.
    ///
    /// # Errors
    /// A flag is invalid.
    pub fn resolve(self) -> Result<AgentsSettings, Failure> {
        let refuse = |text: String| Failure::new(Exit::InvalidConfig, text);
        let AgentsAsked { count, least, arm_timeout, on_loss, listen, token_file, cluster } = self;
        let least = least.unwrap_or(count);
        if least > count {
            return Err(refuse(format!(
                "invalid --agents-min {least}: the test has {count} agents (--agents)"
            )));
        }
        let parse_timeout = |text: String| {
            let timeout = runs::parse_length("--arm-timeout", &text, Exit::InvalidConfig)?;
            if timeout.is_zero() {
                return Err(refuse(format!("invalid --arm-timeout {text}: it must be longer than nothing")));
            }
            Ok(timeout)
        };
        let arm_timeout = arm_timeout.map(parse_timeout).transpose()?.unwrap_or(ARM_TIMEOUT);
        let parse_address = |text: String| {
            let expected = "expected IP:PORT, for example 0.0.0.0:7000";
            let address = text.parse::<SocketAddr>();
            address.map_err(|_| refuse(format!("invalid --agents-listen `{text}`: {expected}")))
        };
        let address = listen.map(parse_address).transpose()?;
        let remote = match (cluster, address, token_file) {
            (Some(_), _, Some(_)) => {
                let text =
                    "failed to use --token-file with --kubernetes: a Secret holds the token; leave it out";
                return Err(refuse(text.to_owned()));
            }
            (Some(cluster), address, None) => {
                let (cluster, listen) = cluster.resolve(address)?;
                Some(Remote { listen, token: TokenWay::Cluster(Box::new(cluster)) })
            }
            (None, Some(listen), Some(path)) => Some(Remote { listen, token: TokenWay::File(path) }),
            (None, Some(_), None) => {
                let text = "no place for the agents' token: set --token-file, such as --token-file token";
                return Err(refuse(text.to_owned()));
            }
            (None, None, _) => None,
        };
        Ok(AgentsSettings { count, least, arm_timeout, on_loss, remote })
    }
}

/// The part of an agent's settings that only the session reads. It holds secrets, and is never stored.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Assignment {
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) secrets: BTreeMap<String, BTreeMap<String, String>>,
    /// Servers of secrets, which each agent asks by itself.
    pub(crate) secret_servers: BTreeMap<String, Vec<String>>,
    pub(crate) is_strict: bool,
    pub(crate) is_once: bool,
    pub(crate) selected_scenarios: Vec<String>,
    pub(crate) workers: Option<usize>,
    pub(crate) wants_samples: bool,
    pub(crate) trace_share: f64,
    pub(crate) vu_bytes: Option<u64>,
    pub(crate) process_bytes: Option<u64>,
}

/// A hub that is ready to begin.
pub(crate) struct OpenHub {
    pub(crate) fleet: Fleet,
    /// The token file or the objects of a cluster, which are removed with this.
    pub(crate) _lent: (Option<TokenFile>, Option<Removal>),
}

impl AgentsSettings {
    /// Packs the test and opens the socket.
    ///
    /// # Errors
    /// The test cannot be shared by so many agents, or the address is unavailable.
    pub(crate) fn open(
        &self,
        test: &Test,
        context: &Context,
        config: &RunConfig,
        run: &str,
        trace_share: f64,
    ) -> Result<OpenHub, Failure> {
        self.check(test)?;
        let archive = pack(test)?;
        let settings = self.assignment(test, context, config, trace_share);
        let settings = serde_json::to_vec(&settings).map_err(|error| failed(Exit::Other, &error))?;
        let (listener, certificate) = self.listen()?;
        let address = listener.local_addr().map_err(|error| failed(Exit::CannotServe, &error))?;
        let token = Token::new(random()?, certificate.as_ref().map(|it| it.sha256));
        context.redactor.add_declared([token.to_line()]);
        let mut lent = (None, None);
        match self.remote.as_ref().map(|remote| &remote.token) {
            Some(TokenWay::File(path)) => lent.0 = Some(TokenFile::write(path, &token)?),
            Some(TokenWay::Cluster(cluster)) => {
                let deadline = self.deadline(test);
                lent.1 = Some(cluster.start(self.count, run, deadline, &token.to_line(), context)?);
            }
            None => {}
        }
        let on_start = lent.1.as_ref().map(|cluster| cluster.reporting(context));
        let children = match &self.remote {
            Some(_) => Vec::new(),
            None => self.children(context, address, &token)?,
        };
        let lifecycle = &test.plan.lifecycle;
        let settings = HubSettings {
            run: run.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            token: token.secret.clone(),
            agents: self.count,
            agents_min: self.least,
            arm_timeout: self.arm_timeout,
            on_loss: self.on_loss,
            archive_sha256: Bytes::copy_from_slice(&Sha256::digest(&archive)),
            archive,
            settings: settings.into(),
            has_setup: test.script.bundle.has("setup") && !lifecycle.no_setup,
            has_teardown: test.script.bundle.has("teardown") && !lifecycle.no_teardown,
            setup_timeout: lifecycle.setup_timeout,
            teardown_timeout: lifecycle.teardown_timeout,
            load_max: vu_demand(&test.plan).duration_max,
            is_paused: lifecycle.paused,
            vus_min: test.plan.scenarios.iter().map(vus_of).min().unwrap_or(1),
            shared: test.plan.scenarios.iter().map(|scenario| shared_of(&scenario.executor)).collect(),
        };
        if let Some(TokenWay::File(path)) = self.remote.as_ref().map(|remote| &remote.token) {
            let text = format!(
                "waiting for {} agents; start each with: plimsoll agent --hub HOST:{} --token-file {}",
                self.count,
                address.port(),
                path.display()
            );
            context.logger.report(&text);
        }
        let redactor = context.redactor.clone();
        let on_secrets: OnSecrets = Box::new(move |secrets| redactor.add_declared(secrets));
        let fleet = Fleet { settings, listener, certificate, children, on_start, on_secrets };
        Ok(OpenHub { fleet, _lent: lent })
    }

    /// The longest time from the creation of agents to the end of the run.
    fn deadline(&self, test: &Test) -> Duration {
        let lifecycle = &test.plan.lifecycle;
        // They gather at the beginning, after `setup()`, and once more with fewer.
        let gathering = self.arm_timeout.saturating_mul(3);
        let functions = lifecycle.setup_timeout + lifecycle.teardown_timeout + ENDING;
        let paused = if lifecycle.paused { PAUSE_MAX } else { Duration::ZERO };
        vu_demand(&test.plan).duration_max.saturating_add(gathering + functions + paused)
    }

    fn check(&self, test: &Test) -> Result<(), Failure> {
        let refuse = |text: String| Err(Failure::new(Exit::InvalidConfig, text));
        if test.plan.segment != Segment::default() {
            return refuse(
                "--agents splits the test itself; leave out --execution-segment and --execution-segment-sequence"
                    .to_owned(),
            );
        }
        let vus = vu_demand(&test.plan).vus_max;
        if vus < u64::from(self.count) {
            return refuse(format!(
                "the test has {vus} VUs, fewer than its {} agents: use --agents {} or more VUs",
                self.count,
                vus.max(1)
            ));
        }
        Ok(())
    }

    fn assignment(&self, test: &Test, context: &Context, config: &RunConfig, trace_share: f64) -> Assignment {
        let script::Handover { known: secrets, servers: secret_servers } =
            context.secrets.handover(self.count);
        let memory = test.script.source.memory;
        let is_local = self.remote.is_none();
        // Local agents share this machine.
        let share = |bytes: u64| if is_local { bytes / u64::from(self.count) } else { bytes };
        let half = || host::memory_bytes_max().filter(|_| is_local).map(|bytes| bytes / 2);
        let process_bytes = memory.process_bytes.or_else(half);
        let workers = (config.workers / self.count as usize).max(1);
        Assignment {
            env: test.env.clone(),
            secrets,
            secret_servers,
            is_strict: test.plan.compat == Compat::Strict,
            is_once: test.options.once,
            selected_scenarios: test.options.selected_scenarios.clone(),
            workers: is_local.then_some(workers),
            wants_samples: config.wants_samples,
            trace_share,
            vu_bytes: memory.vu_bytes,
            process_bytes: process_bytes.map(share),
        }
    }

    fn listen(&self) -> Result<(TcpListener, Option<HubCertificate>), Failure> {
        let address = self.remote.as_ref().map_or(LOOPBACK, |remote| remote.listen);
        let listener = TcpListener::bind(address).map_err(|error| {
            let next = match error.kind() {
                std::io::ErrorKind::AddrInUse => {
                    "; another hub or program listens there: choose another port"
                }
                _ => "",
            };
            Failure::new(
                Exit::CannotServe,
                format!("failed to listen for agents at {address}: {error}{next}"),
            )
        })?;
        // Beyond this machine nothing travels in the clear, and one way is enough.
        let certificate = match &self.remote {
            Some(_) => Some(HubCertificate::generate().map_err(|error| failed(Exit::Other, &error))?),
            None => None,
        };
        Ok((listener, certificate))
    }

    /// The commands of local agents. They get nothing of this process's settings but what the hub sends.
    fn children(
        &self,
        context: &Context,
        address: SocketAddr,
        token: &Token,
    ) -> Result<Vec<(String, Command)>, Failure> {
        let program = std::env::current_exe().map_err(|error| failed(Exit::Other, &error))?;
        let is_setting = |name: &&String| name.starts_with("K6_") || name.starts_with("PLIMSOLL_");
        let settings: Vec<&String> = context.env.all().keys().filter(is_setting).collect();
        let child = |number: u32| {
            let name = format!("local-{number}");
            let mut command = Command::new(&program);
            for name in &settings {
                command.env_remove(name);
            }
            command
                .args(["agent", "--log-output", "none", "--name", &name, "--hub", &address.to_string()])
                .env(TOKEN_VARIABLE, token.to_line())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                // Signals of the terminal go to the hub, which passes them on.
                .process_group(0);
            (name, command)
        };
        Ok((1..=self.count).map(child).collect())
    }
}

/// VUs of a scenario in the whole test: those that are ready when it starts, else those that it may add.
fn vus_of(scenario: &model::Scenario) -> u64 {
    let (ready, spare) = schedule::vus(&scenario.executor, &Segment::default());
    u64::from(if ready > 0 { ready } else { spare })
}

/// The iterations of a scenario that its VUs share.
fn shared_of(executor: &Executor) -> Option<u64> {
    match executor {
        Executor::SharedIterations { iterations, .. } => Some(*iterations),
        _ => None,
    }
}

/// The test as an archive.
fn pack(test: &Test) -> Result<Bytes, Failure> {
    let archive = archive_of(&test.script, test.options.clone(), None)?;
    let bytes = bytes_of(&archive)?;
    check_size(bytes.len() as u64)?;
    Ok(bytes.into())
}

fn check_size(bytes: u64) -> Result<(), Failure> {
    let limit = fleet::agent::ARCHIVE_BYTES_MAX;
    if bytes <= limit {
        return Ok(());
    }
    let text = format!(
        "the script and its files are {} MiB, and agents take {} MiB; read large files from the target instead",
        bytes.div_ceil(1 << 20),
        limit >> 20
    );
    Err(Failure::new(Exit::InvalidConfig, text))
}

fn random() -> Result<[u8; 32], Failure> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| failed(Exit::Other, &error))?;
    Ok(bytes)
}

fn failed(exit: Exit, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(exit, format!("failed to {error}"))
}

/// A token file that belongs to one run.
pub(crate) struct TokenFile(PathBuf);

impl TokenFile {
    /// Writes the file for its owner alone. A token file of an earlier run is replaced, and nothing else.
    fn write(path: &Path, token: &Token) -> Result<TokenFile, Failure> {
        let refuse = |error: std::io::Error| {
            let text = format!("failed to write the token file {}: {error}", path.display());
            Failure::new(Exit::InvalidConfig, text)
        };
        match files::read_given_text(path, TOKEN_FILE_BYTES_MAX) {
            Ok(text) if Token::parse(&text).is_ok() => std::fs::remove_file(path).map_err(refuse)?,
            Ok(_) => {
                let text = format!(
                    "failed to write the token file {}: the file exists and is something else; choose another path",
                    path.display()
                );
                return Err(Failure::new(Exit::InvalidConfig, text));
            }
            // What cannot be read for another reason cannot be created either.
            Err(_) => {}
        }
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(path).map_err(refuse)?;
        writeln!(file, "{}", token.to_line()).map_err(refuse)?;
        Ok(TokenFile(path.to_owned()))
    }
}

impl Drop for TokenFile {
    fn drop(&mut self) {
        // It may have been removed already.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_above_the_limit_is_refused() {
        let limit = fleet::agent::ARCHIVE_BYTES_MAX;
        assert!(check_size(limit).is_ok());
        let failure = check_size(limit + 1).expect_err("it is too large");
        assert_eq!(failure.exit, Exit::InvalidConfig);
        assert!(failure.text.contains("are 257 MiB, and agents take 256 MiB"), "{}", failure.text);
    }
}
