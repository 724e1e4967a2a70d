//! A cluster for the cases: servers, a network, nodes, and runs of the program in namespaces of their own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use kubernetes::permissions::Subject;
use model::SystemClock;
use serde_json::{Value, json};

use super::api::Api;
use super::network::Network;
use super::node::{IMAGE, Node, NodeSettings};
use super::recorder::Recorder;
use super::servers::{ADMIN, Servers, TESTER, kubeconfig_named};

/// Cores that each node states.
const CORES: u32 = 4;

/// A cluster. Dropping it ends everything.
pub(super) struct Cluster {
    // Nodes end before the servers that they report to, and the network after them.
    nodes: std::sync::Mutex<Vec<Node>>,
    servers: Servers,
    network: Arc<Network>,
    program: PathBuf,
    folder: PathBuf,
    /// The API server as pods reach it.
    server: SocketAddr,
    records: bool,
}

/// A case's namespace and what it needs.
pub(super) struct Bench<'a> {
    cluster: &'a Cluster,
    pub(super) namespace: String,
    pub(super) api: Api,
    folder: PathBuf,
}

/// A run in the store.
#[derive(Debug)]
pub(super) struct StoredRun {
    pub(super) requests: u64,
    pub(super) agents: usize,
}

/// A run of the program that has begun.
pub(super) struct Started {
    child: Child,
    recorder: Option<Recorder>,
    folder: PathBuf,
    began: model::Instant,
}

/// A run of the program that is over.
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    pub(super) text: String,
    pub(super) seconds: f64,
    folder: PathBuf,
}

impl Cluster {
    pub(super) fn start(folder: &Path, program: &Path, records: bool) -> anyhow::Result<Cluster> {
        let servers = Servers::start(folder)?;
        let network = Network::create()?;
        let server =
            servers.url.trim_start_matches("https://").parse().context("read the server's address")?;
        let cluster = Cluster {
            nodes: std::sync::Mutex::default(),
            servers,
            network,
            program: copied(program, folder)?,
            folder: folder.to_owned(),
            server: Network::relay(server)?,
            records,
        };
        cluster.add_node("node-a")?;
        Ok(cluster)
    }

    /// Adds a node.
    pub(super) fn add_node(&self, name: &str) -> anyhow::Result<()> {
        let settings = NodeSettings {
            name: name.to_owned(),
            cores: CORES,
            program: self.program.clone(),
            folder: self.folder.join("pods"),
            server: self.server,
            ca_pem: self.servers.ca_pem.clone(),
        };
        let node = Node::start(self.servers.api(ADMIN)?, self.network.clone(), settings)?;
        self.nodes().push(node);
        let api = self.servers.api(ADMIN)?;
        // The taint of a new node is removed once it is ready.
        eventually(Duration::from_secs(30), "a usable node", || {
            let node = api.get(&format!("/api/v1/nodes/{name}"))?;
            Ok(node["spec"]["taints"].as_array().is_none_or(Vec::is_empty))
        })
    }

    fn nodes(&self) -> std::sync::MutexGuard<'_, Vec<Node>> {
        self.nodes.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// A namespace for a case, in which the user of the tests has the least permissions, as the program prints them.
    pub(super) fn namespace(&self, case: &str) -> anyhow::Result<Bench<'_>> {
        let api = self.servers.api(ADMIN)?;
        let namespace = format!("case-{case}");
        api.create(
            "/api/v1/namespaces",
            &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}),
        )?;
        let tester = Subject::User("tester".to_owned());
        for (_, object) in kubernetes::permissions::roles_with_hub(&namespace, &tester, "plimsoll") {
            let of_rbac = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}");
            let path = match object["kind"].as_str() {
                Some("Role") => format!("{of_rbac}/roles"),
                Some("RoleBinding") => format!("{of_rbac}/rolebindings"),
                _ => format!("/api/v1/namespaces/{namespace}/serviceaccounts"),
            };
            api.create(&path, &object)?;
        }
        let folder = self.folder.join(case);
        std::fs::create_dir_all(&folder).context("create a folder")?;
        let account = format!("/api/v1/namespaces/{namespace}/serviceaccounts/default");
        eventually(Duration::from_secs(20), "a service account", || Ok(api.get(&account).is_ok()))?;
        Ok(Bench { cluster: self, namespace, api, folder })
    }
}

impl Bench<'_> {
    /// Starts `plimsoll run --kubernetes` with a script and further flags, as the user with the least permissions.
    pub(super) fn start(&self, script: &str, flags: &[&str]) -> anyhow::Result<Started> {
        self.start_as(TESTER, script, flags)
    }

    /// Starts it as another user.
    pub(super) fn start_as(&self, token: &str, script: &str, flags: &[&str]) -> anyhow::Result<Started> {
        self.spawn(token, &self.words(script, flags)?, None)
    }

    /// Runs `plimsoll run --kubernetes` to its end; with `--record` its exchanges with the server are kept under a name.
    pub(super) fn recorded(
        &self,
        name: &str,
        token: &str,
        script: &str,
        flags: &[&str],
    ) -> anyhow::Result<Ran> {
        self.spawn(token, &self.words(script, flags)?, Some(name))?.wait()
    }

    /// Runs another subcommand to its end; with `--record` its exchanges with the server are kept under a name.
    pub(super) fn verb(&self, token: &str, words: &[&str], record: Option<&str>) -> anyhow::Result<Ran> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        self.spawn(token, &words, record)?.wait()
    }

    /// Starts a command.
    pub(super) fn begin(&self, token: &str, words: &[&str]) -> anyhow::Result<Started> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        self.spawn(token, &words, None)
    }

    pub(super) fn write_script(&self, script: &str) -> anyhow::Result<()> {
        std::fs::write(self.folder.join("script.js"), script).context("write a script")
    }

    /// The runs in the store of this case, as their files have them.
    pub(super) fn stored_runs(&self) -> anyhow::Result<Vec<StoredRun>> {
        let runs = self.folder.join("runs");
        let files = std::fs::read_dir(&runs).context("list the runs")?;
        let paths = files.filter_map(|file| Some(file.ok()?.path()));
        let is_run = |path: &PathBuf| path.extension().is_some_and(|end| end == runfile::EXTENSION);
        paths.filter(is_run).map(|path| self.stored_run(&path)).collect()
    }

    fn stored_run(&self, path: &Path) -> anyhow::Result<StoredRun> {
        let reader = runfile::Reader::open(path).with_context(|| format!("open {}", path.display()))?;
        let path = path.to_str().context("name a run")?;
        let report = self.json(&["report", path, "--format", "json"])?;
        let endpoints = report["endpoints"].as_array().into_iter().flatten();
        let requests = endpoints.filter_map(|it| it["requests"].as_u64()).sum();
        Ok(StoredRun { requests, agents: reader.header().agents.len() })
    }

    /// The JSON that a command prints.
    fn json(&self, words: &[&str]) -> anyhow::Result<Value> {
        let mut command = Command::new(&self.cluster.program);
        command.args(words).env("PLIMSOLL_RUNS", self.folder.join("runs"));
        let output = command.output().context("start the program")?;
        serde_json::from_slice(&output.stdout).with_context(|| format!("read the answer to {words:?}"))
    }

    fn words(&self, script: &str, flags: &[&str]) -> anyhow::Result<Vec<String>> {
        self.write_script(script)?;
        let (hub, image) = (self.hub_address()?, format!("--image={IMAGE}"));
        let has_image = flags.iter().any(|flag| flag.starts_with("--image"));
        let own = [
            "run",
            "--quiet",
            "--no-page",
            "--summary-export=summary.json",
            "--kubernetes",
            &hub,
            "script.js",
        ];
        let words = own.into_iter().chain((!has_image).then_some(image.as_str()));
        let words = words.chain(flags.iter().copied());
        Ok(words.map(str::to_owned).collect())
    }

    /// The flag with a free address of this machine for the pods.
    pub(super) fn hub_address(&self) -> anyhow::Result<String> {
        let socket = std::net::TcpListener::bind((Network::HOST, 0)).context("find a free port")?;
        Ok(format!("--hub-address={}", socket.local_addr().context("find a free port")?))
    }

    fn spawn(&self, token: &str, words: &[String], record: Option<&str>) -> anyhow::Result<Started> {
        let servers = &self.cluster.servers;
        let name = record.filter(|_| self.cluster.records);
        let recorder =
            name.map(|name| Recorder::start(name, &self.namespace, servers.api(token)?)).transpose()?;
        let config = match &recorder {
            Some(recorder) => {
                kubeconfig_named(&self.folder, "recorded.yaml", &recorder.url, "none", &self.namespace)?
            }
            None => servers.kubeconfig(token, &self.namespace)?,
        };
        let log = std::fs::File::create(self.folder.join("log.txt")).context("create a log")?;
        let mut command = Command::new(&self.cluster.program);
        command.args(words).current_dir(&self.folder).env("KUBECONFIG", config);
        command.env("PLIMSOLL_RUNS", self.folder.join("runs")).stdin(Stdio::null());
        command.stdout(log.try_clone().context("share a log")?).stderr(log);
        let child = command.spawn().context("start the program")?;
        Ok(Started { child, recorder, folder: self.folder.clone(), began: SystemClock::now() })
    }

    /// The number of objects of a kind in the namespace.
    pub(super) fn count(&self, root: &str, resource: &str) -> anyhow::Result<usize> {
        Ok(self.api.list(&format!("{root}/namespaces/{}/{resource}", self.namespace))?.len())
    }

    /// Waits until the namespace has no Job, Secret or pod any more; gives the seconds.
    pub(super) fn emptied(&self, limit: Duration) -> anyhow::Result<f64> {
        let began = SystemClock::now();
        eventually(limit, "an empty namespace", || {
            let jobs = self.count("/apis/batch/v1", "jobs")?;
            Ok(jobs + self.count("/api/v1", "secrets")? + self.count("/api/v1", "pods")? == 0)
        })?;
        Ok(SystemClock::now().since(began).as_secs_f64())
    }

    /// The pods of the namespace.
    pub(super) fn pods(&self) -> anyhow::Result<Vec<Value>> {
        self.api.list(&format!("/api/v1/namespaces/{}/pods", self.namespace))
    }

    /// The cluster.
    pub(super) fn cluster(&self) -> &Cluster {
        self.cluster
    }
}

impl Cluster {
    /// Ends a node silently.
    pub(super) fn kill_node(&self, name: &str) {
        self.nodes().iter().filter(|node| node.name == name).for_each(Node::die);
    }

    /// Kills the process of a pod, whichever node runs it.
    pub(super) fn kill_pod(&self, name: &str) {
        self.nodes().iter().for_each(|node| node.kill(name));
    }
}

impl Started {
    /// The text that it has printed so far.
    pub(super) fn text(&self) -> String {
        std::fs::read_to_string(self.folder.join("log.txt")).unwrap_or_default()
    }

    pub(super) fn signal(&self, signal: nix::sys::signal::Signal) {
        // It may have ended, which the case finds out by itself.
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(self.child.id().cast_signed()), signal);
    }

    pub(super) fn wait(mut self) -> anyhow::Result<Ran> {
        let status = self.child.wait().context("wait for the program")?;
        let seconds = SystemClock::now().since(self.began).as_secs_f64();
        if let Some(recorder) = self.recorder.take() {
            recorder.save()?;
        }
        Ok(Ran { code: status.code(), text: self.text(), seconds, folder: self.folder })
    }
}

impl Ran {
    /// A count of the summary.
    pub(super) fn metric(&self, name: &str) -> anyhow::Result<u64> {
        let text = std::fs::read_to_string(self.folder.join("summary.json")).context("read the summary")?;
        let summary: Value = serde_json::from_str(&text).context("parse the summary")?;
        Ok(summary["metrics"][name]["count"].as_f64().unwrap_or_default() as u64)
    }

    /// Whether the folder of the command has a file that is not empty.
    pub(super) fn has_file(&self, name: &str) -> bool {
        std::fs::metadata(self.folder.join(name)).is_ok_and(|it| it.len() > 0)
    }

    /// Checks the exit code and a text of the log.
    pub(super) fn expect(&self, code: i32, says: &str) -> anyhow::Result<()> {
        if self.code == Some(code) && self.text.contains(says) {
            return Ok(());
        }
        bail!("expect exit code {code} and {says:?}, and find {:?} and:\n{}", self.code, self.text)
    }
}

/// Waits for a condition.
pub(super) fn eventually(
    limit: Duration,
    what: &str,
    mut holds: impl FnMut() -> anyhow::Result<bool>,
) -> anyhow::Result<()> {
    let until = SystemClock::now() + limit;
    while !holds()? {
        if SystemClock::now() >= until {
            bail!("wait for {what}: it did not come within {} s", limit.as_secs());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// A copy of the program that pods can read.
fn copied(program: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let copy = folder.join("plimsoll");
    std::fs::copy(program, &copy).with_context(|| format!("copy {}", program.display()))?;
    Ok(copy)
}
