//! The command's side: starts the pod, hands it the test, shows what it prints, and brings the results.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use catalogue::FileName;
use engine::RunControl;
use kubernetes::client::ApiErrorKind;
use kubernetes::objects::{HUB_PORT, Work};
use kubernetes::watch::{Notice, Watch};
use kubernetes::{ApiError, Deployment};
use model::{LogLevel, SystemClock};
use runs::{Exit, Failure};

use super::{Call, News, PART_BYTES, Written, is_below, join, split};
use crate::Context;
use crate::cluster::{ClusterAsked, OWNER_VARIABLE, Removal, client, new_shape};
use crate::signals::{self, Running, Turn};

/// The port at which the hub takes agents.
const AGENTS_PORT: u16 = 7000;

/// Interval at which the pod is looked at before it runs.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Time in which a pod that runs takes its first call, and a call that fails is repeated.
const REACH_MAX: Duration = Duration::from_secs(30);

/// Pause before a call is repeated.
const AGAIN_AFTER: Duration = Duration::from_millis(500);

/// Time after which the hub's pod ends, whatever happens: longer than any test, since it ends by itself without its command.
const DEADLINE: Duration = Duration::from_secs(30 * 86_400);

/// The largest file that is brought, bytes.
const FILE_BYTES_MAX: u64 = 8 << 30;

/// Variables of this machine that mean nothing in a pod.
const OWN_VARIABLES: &[&str] = &[
    "HOME",
    "HOSTNAME",
    "KUBECONFIG",
    "OLDPWD",
    "PATH",
    "PWD",
    "SHLVL",
    "TMPDIR",
    "_",
    // The packed test has the options of the config file, and the pod a store of its own.
    "K6_CONFIG",
    "PLIMSOLL_CONFIG",
    "K6_RUNS",
    "PLIMSOLL_RUNS",
];

/// The beginnings of further ones.
const OWN_PREFIXES: &[&str] = &["DBUS_", "KUBERNETES_", "LD_", "SSH_", "XDG_"];

/// A command whose hub runs in the cluster.
#[derive(Clone, Debug, Default)]
pub struct HubInCluster {
    /// The cluster, and the choices about pods.
    pub cluster: ClusterAsked,
    /// The service account of the hub.
    pub account: String,
    /// Time in which the pod starts.
    pub arm_timeout: Duration,
    /// The words of the command in the pod, without the hub's address.
    pub words: Vec<String>,
    /// Files of the test, by their paths in the folder of the command.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Runs the command in the cluster until it ends, and returns its exit.
///
/// # Errors
/// The pod cannot be started, or is lost.
pub fn run(asked: HubInCluster, context: &Context) -> Result<Exit, Failure> {
    let (turn, running) = (Turn::default(), Running::default());
    signals::listen(turn.clone(), running.clone(), context.logger.clone());
    let control = turn.first();
    // From here on a signal has objects to remove.
    running.set(true);
    let mut hub = Hub::start(&asked, &control, context)?;
    let exit = hub.work(&asked, &control)?;
    running.set(false);
    hub.bring_files()?;
    // The pod is removed anyway.
    let _ = hub.call(&Call::Leave, &[]);
    Ok(exit)
}

/// A hub in a pod.
struct Hub<'a> {
    removal: Removal,
    context: &'a Context,
    token: String,
    pod: String,
    address: String,
}

impl<'a> Hub<'a> {
    /// Creates the objects, and waits until the pod runs.
    fn start(asked: &HubInCluster, control: &RunControl, context: &'a Context) -> Result<Hub<'a>, Failure> {
        let client = client(&asked.cluster.access, context)?;
        let pods = asked.cluster.pods.clone().resolve();
        let pods = pods.map_err(|text| Failure::new(Exit::InvalidConfig, text))?;
        let token = random()?;
        context.redactor.add_declared([token.clone()]);
        let (namespace, origin) = (client.access().namespace.clone(), client.access().origin.clone());
        let work = Work::Hub { account: asked.account.clone() };
        let name = format!("plimsoll-hub-{}", &random()?[..8]);
        let shape = new_shape(&namespace, name.clone(), 1, DEADLINE, work, pods);
        let deployment = Deployment::create(client, shape, &token).map_err(refusal)?;
        let removal = Removal::new(deployment, context.logger.clone());
        context
            .logger
            .report(&format!("the Job {name} in the namespace {namespace} ({origin}) starts the hub"));
        let (pod, address) = wait_for_pod(removal.deployment(), asked.arm_timeout, control, context)?;
        Ok(Hub { removal, context, token, pod, address })
    }

    /// Hands the test over, and shows what it prints until it ends.
    fn work(&mut self, asked: &HubInCluster, control: &RunControl) -> Result<Exit, Failure> {
        for (name, bytes) in &asked.files {
            let mut at = 0;
            for part in bytes.chunks(PART_BYTES) {
                self.call(&Call::Write { name: name.clone(), at }, part)?;
                at += part.len() as u64;
            }
            if bytes.is_empty() {
                self.call(&Call::Write { name: name.clone(), at }, &[])?;
            }
        }
        let mut words = asked.words.clone();
        let host =
            if self.address.contains(':') { format!("[{}]", self.address) } else { self.address.clone() };
        words.push(format!("--hub-address={host}:{AGENTS_PORT}"));
        let mut env = variables(self.context.env.all());
        let owner = &self.removal.deployment().job;
        env.insert(OWNER_VARIABLE.to_owned(), format!("{}:{}", owner.name, owner.uid));
        self.call(&Call::Begin { words, env }, &[])?;
        let (mut out, mut err, mut is_stopped) = (0, 0, false);
        loop {
            if control.is_stopped() && !std::mem::replace(&mut is_stopped, true) {
                self.call(&Call::Interrupt, &[])?;
            }
            let answer = self.call(&Call::Follow { out, err }, &[])?;
            let (news, text) = split::<News>(&answer).map_err(|why| self.invalid(&why))?;
            let printed =
                text.split_at_checked(news.out_bytes).ok_or_else(|| self.invalid("its end is missing"))?;
            // A closed terminal is no reason to end the test.
            let _ = std::io::stdout().write_all(printed.0).and_then(|()| std::io::stdout().flush());
            let _ = std::io::stderr().write_all(printed.1);
            out += printed.0.len() as u64;
            err += printed.1.len() as u64;
            if let Some(code) = news.exit {
                return Ok(Exit::of_code(code));
            }
        }
    }

    /// Adds run files to the store of this machine, and writes other files where the command is.
    fn bring_files(&mut self) -> Result<(), Failure> {
        let answer = self.call(&Call::List, &[])?;
        let (files, _) = split::<Vec<Written>>(&answer).map_err(|why| self.invalid(&why))?;
        for file in files {
            match file.name.split_once('/') {
                Some(("runs", name)) => {
                    // Files beside a run's are those of a run that is being written.
                    if let Some(name) = FileName::parse(name) {
                        self.bring_run(&file, &name)?;
                    }
                }
                Some(("work", name)) if is_below(name) => self.bring(&file, Path::new(name))?,
                _ => return Err(self.invalid("it names a file outside of its folder")),
            }
        }
        Ok(())
    }

    fn bring_run(&self, file: &Written, name: &FileName) -> Result<(), Failure> {
        let failed = |error: &dyn std::fmt::Display| {
            Failure::new(Exit::NotStored, format!("failed to store the run {}: {error}", name.id))
        };
        let catalogue = self.context.catalogue()?;
        let path = catalogue.begin(name).map_err(|error| failed(&error))?;
        self.bring(file, &path)?;
        catalogue.keep(&path).map_err(|error| failed(&error))
    }

    /// Writes a file of the pod, whole or not at all.
    fn bring(&self, file: &Written, path: &Path) -> Result<(), Failure> {
        let failed = |error: &dyn std::fmt::Display| {
            let text = format!("failed to bring {} from the hub: {error}", path.display());
            Failure::new(Exit::NotStored, text)
        };
        if file.bytes > FILE_BYTES_MAX {
            return Err(failed(&format!("it has {} bytes, the limit is {FILE_BYTES_MAX}", file.bytes)));
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(".part");
        let partial = PathBuf::from(partial);
        let brought = self.copy(file, &partial, &failed);
        let moved = brought.and_then(|()| std::fs::rename(&partial, path).map_err(|error| failed(&error)));
        moved.inspect_err(|_| {
            // An incomplete file is useless.
            let _ = std::fs::remove_file(&partial);
        })
    }

    fn copy(
        &self,
        file: &Written,
        to: &Path,
        failed: &dyn Fn(&dyn std::fmt::Display) -> Failure,
    ) -> Result<(), Failure> {
        let mut target = File::create(to).map_err(|error| failed(&error))?;
        let mut at = 0;
        while at < file.bytes {
            let bytes = self.call(&Call::Read { name: file.name.clone(), at }, &[])?;
            if bytes.is_empty() {
                return Err(failed(&format!("it ends after {at} of {} bytes", file.bytes)));
            }
            target.write_all(&bytes).map_err(|error| failed(&error))?;
            at += bytes.len() as u64;
        }
        Ok(())
    }

    /// Makes a call, again and again while the pod cannot be reached.
    fn call(&self, call: &Call, bytes: &[u8]) -> Result<Vec<u8>, Failure> {
        let message = join(call, bytes).map_err(|why| self.invalid(&why))?;
        let until = SystemClock::now() + REACH_MAX;
        loop {
            let client = &self.removal.deployment().client;
            let error = match client.call(&self.pod, HUB_PORT, &self.token, &message) {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let is_passing = matches!(error.kind, ApiErrorKind::Unreachable | ApiErrorKind::Other);
            if let Some(why) = self.end_of_pod() {
                return Err(Failure::new(Exit::Other, format!("the pod of the hub failed: {why}")));
            }
            if !is_passing || SystemClock::now() >= until {
                return Err(self.unreachable(&error));
            }
            std::thread::sleep(AGAIN_AFTER);
        }
    }

    /// Why the pod has ended, if it has.
    fn end_of_pod(&self) -> Option<String> {
        let deployment = self.removal.deployment();
        let snapshot = deployment.look().ok()?;
        let has_vanished = snapshot.job.is_none() || snapshot.pods.is_empty();
        let mut watch = Watch::new(&deployment.shape);
        let failed = watch.step(&snapshot).into_iter().find_map(|notice| match notice {
            Notice::Failed { why, .. } | Notice::GivenUp { why, .. } => Some(why),
            Notice::Obstacles(_) | Notice::Deleted => None,
        });
        failed.or_else(|| has_vanished.then(|| "someone else deleted it".to_owned()))
    }

    fn unreachable(&self, error: &ApiError) -> Failure {
        let next = match error.kind {
            ApiErrorKind::Forbidden => {
                let namespace = &self.removal.deployment().shape.namespace;
                format!(
                    "; the permissions that you need: plimsoll kubernetes rbac --namespace {namespace} --user NAME \
                     --hub-in-cluster"
                )
            }
            _ => String::new(),
        };
        Failure::new(Exit::Other, format!("failed to reach the hub in its pod: {}{next}", error.message))
    }

    fn invalid(&self, why: &str) -> Failure {
        Failure::new(Exit::Other, format!("the hub in the pod {} gave an invalid answer: {why}", self.pod))
    }
}

/// Waits until the pod runs; gives its name and address.
fn wait_for_pod(
    deployment: &Deployment,
    arm_timeout: Duration,
    control: &RunControl,
    context: &Context,
) -> Result<(String, String), Failure> {
    let until = SystemClock::now() + arm_timeout;
    let (mut watch, mut obstacle) = (Watch::new(&deployment.shape), String::new());
    loop {
        if control.is_stopped() {
            return Err(Failure::new(Exit::Signal, "the run did not start: stopped by a signal"));
        }
        let snapshot = deployment.look().map_err(refusal)?;
        for notice in watch.step(&snapshot) {
            match notice {
                Notice::Obstacles(obstacles) => {
                    obstacle = obstacles.into_iter().map(|it| it.why).collect::<Vec<_>>().join("; ");
                    if !obstacle.is_empty() {
                        context.logger.say(LogLevel::Warn, format!("the hub waits: {obstacle}"));
                    }
                }
                Notice::Failed { why, .. } | Notice::GivenUp { why, .. } => {
                    return Err(Failure::new(Exit::Other, format!("the pod of the hub failed: {why}")));
                }
                Notice::Deleted => {
                    return Err(Failure::new(Exit::Other, "the Job of the hub was deleted by someone else"));
                }
            }
        }
        let running = snapshot.pods.iter().find(|pod| pod["status"]["phase"] == "Running");
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        let found =
            running.and_then(|pod| Some((text(&pod["metadata"]["name"])?, text(&pod["status"]["podIP"])?)));
        if let Some(found) = found {
            return Ok(found);
        }
        if SystemClock::now() >= until {
            let colon = if obstacle.is_empty() { "" } else { ": " };
            let text = format!(
                "the hub did not start within {} s (--arm-timeout){colon}{obstacle}",
                arm_timeout.as_secs()
            );
            return Err(Failure::new(Exit::Other, text));
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// The variables of this process for the one in the pod.
fn variables(all: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let is_own = |name: &str| {
        OWN_VARIABLES.contains(&name) || OWN_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    all.iter().filter(|(name, _)| !is_own(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn refusal(error: ApiError) -> Failure {
    Failure::new(crate::cluster::exit_of(error.kind), error.message)
}

/// 128 random bits as text.
fn random() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::new(Exit::Other, format!("failed to read random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
