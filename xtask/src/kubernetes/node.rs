//! A node for tests: it registers itself, runs pods as processes of this machine, and reports their states, as a kubelet does.
//!
//! A pod gets a network namespace, a host name, the volumes of its Secrets and of its service account, empty folders, the user of its
//! security context, and the memory limit of its container as a control group. There is one image, [`IMAGE`], which is the program under test.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::{Instant, SystemClock};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::api::Api;
use super::network::{Namespace, Network};

/// A file of a volume. Its folder alone if it has no name.
struct Mounted {
    folder: String,
    name: String,
    bytes: Vec<u8>,
}

/// The image that every node has.
pub(super) const IMAGE: &str = "plimsoll:test";

const LOOK_EVERY: Duration = Duration::from_millis(200);
const LEASE_EVERY: Duration = Duration::from_secs(2);

/// The last bytes of a log that become a pod's message, as kubelets do it.
const MESSAGE_BYTES: usize = 2048;

/// The memory control groups (version 1).
const GROUPS: &str = "/sys/fs/cgroup/memory";

/// A node that runs until it is dropped.
pub(super) struct Node {
    pub(super) name: String,
    stop: Arc<AtomicBool>,
    /// Whether the node vanishes silently, as with its power.
    is_dead: Arc<AtomicBool>,
    /// Names of pods whose processes are to be killed.
    killed: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

/// The settings of a node.
pub(super) struct NodeSettings {
    pub(super) name: String,
    pub(super) cores: u32,
    pub(super) program: PathBuf,
    pub(super) folder: PathBuf,
    /// The API server as pods reach it, and its authority.
    pub(super) server: SocketAddr,
    pub(super) ca_pem: String,
}

impl Node {
    pub(super) fn start(api: Api, network: Arc<Network>, settings: NodeSettings) -> anyhow::Result<Node> {
        let (stop, is_dead) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let name = settings.name.clone();
        let killed = Arc::<Mutex<Vec<String>>>::default();
        let agent = Agent {
            killed: killed.clone(),
            api,
            network,
            settings,
            pods: BTreeMap::new(),
            rejected: BTreeMap::new(),
            stop: stop.clone(),
            is_dead: is_dead.clone(),
        };
        agent.register()?;
        let thread = std::thread::Builder::new().name(name.clone()).spawn(move || agent.work());
        Ok(Node { name, stop, is_dead, killed, thread: Some(thread.context("start a node")?) })
    }

    /// Kills the process of a pod, if this node runs it.
    pub(super) fn kill(&self, pod: &str) {
        self.killed.lock().unwrap_or_else(PoisonError::into_inner).push(pod.to_owned());
    }

    /// Ends the node and its processes silently.
    pub(super) fn die(&self) {
        self.is_dead.store(true, Ordering::Relaxed);
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic has shown its message.
            let _ = thread.join();
        }
    }
}

struct Agent {
    api: Api,
    network: Arc<Network>,
    settings: NodeSettings,
    /// Pods with a process, by their identifier.
    pods: BTreeMap<String, Running>,
    /// Pods that wait, by their identifier, with the state that was reported.
    rejected: BTreeMap<String, String>,
    stop: Arc<AtomicBool>,
    is_dead: Arc<AtomicBool>,
    killed: Arc<Mutex<Vec<String>>>,
}

struct Running {
    path: String,
    child: Child,
    namespace: Namespace,
    log: PathBuf,
    group: PathBuf,
    started: String,
    /// When the process is killed that was asked to end.
    kill_at: Option<Instant>,
    has_ended: bool,
}

impl Agent {
    fn register(&self) -> anyhow::Result<()> {
        let name = &self.settings.name;
        let labels = json!({"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"});
        let object =
            json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}});
        self.api.create("/api/v1/nodes", &object)?;
        let spec = json!({"holderIdentity": name, "leaseDurationSeconds": 8, "renewTime": now_micro()});
        let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}, "spec": spec});
        self.api.create("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", &lease)?;
        self.report_node()
    }

    fn report_node(&self) -> anyhow::Result<()> {
        let amounts = json!({"cpu": self.settings.cores.to_string(), "memory": "8Gi", "pods": "110"});
        let ready = json!({"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "node for tests",
                           "lastHeartbeatTime": now(), "lastTransitionTime": now()});
        let images = json!([{"names": [IMAGE], "sizeBytes": 1}]);
        let status =
            json!({"capacity": amounts, "allocatable": amounts, "conditions": [ready], "images": images});
        self.api
            .merge(&format!("/api/v1/nodes/{}/status", self.settings.name), &json!({"status": status}))?;
        Ok(())
    }

    fn work(mut self) {
        let mut next_lease = SystemClock::now();
        while !self.stop.load(Ordering::Relaxed) {
            if self.is_dead.load(Ordering::Relaxed) {
                self.kill_all();
                return;
            }
            if SystemClock::now() >= next_lease {
                next_lease = SystemClock::now() + LEASE_EVERY;
                let lease = format!(
                    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{}",
                    self.settings.name
                );
                note(self.api.merge(&lease, &json!({"spec": {"renewTime": now_micro()}})));
                note(self.report_node());
            }
            if let Err(error) = self.look() {
                eprintln!("node {}: {error:#}", self.settings.name);
            }
            std::thread::sleep(LOOK_EVERY);
        }
        self.kill_all();
    }

    fn kill_all(&mut self) {
        for running in self.pods.values_mut() {
            running.signal(Signal::SIGKILL);
            let _ = running.child.wait();
            running.clean();
        }
    }

    /// One round over the pods of this node.
    fn look(&mut self) -> anyhow::Result<()> {
        let pods =
            self.api.list(&format!("/api/v1/pods?fieldSelector=spec.nodeName%3D{}", self.settings.name))?;
        let mut present = Vec::new();
        for pod in &pods {
            let uid = text(&pod["metadata"]["uid"]);
            present.push(uid.clone());
            let is_terminating = pod["metadata"]["deletionTimestamp"].is_string();
            let is_over = ["Succeeded", "Failed"].contains(&text(&pod["status"]["phase"]).as_str());
            match self.pods.get_mut(&uid) {
                Some(running) if running.has_ended => {
                    if is_terminating {
                        note(self.api.delete(&format!("{}?gracePeriodSeconds=0", running.path)));
                    }
                }
                Some(running) => {
                    if is_terminating && running.kill_at.is_none() {
                        let grace = pod["metadata"]["deletionGracePeriodSeconds"].as_u64().unwrap_or(30);
                        running.kill_at = Some(SystemClock::now() + Duration::from_secs(grace));
                        running.signal(Signal::SIGTERM);
                    }
                }
                None if is_terminating || is_over => {
                    if is_terminating {
                        note(self.api.delete(&format!("{}?gracePeriodSeconds=0", path_of(pod))));
                    }
                }
                None => self.begin(pod, uid)?,
            }
        }
        self.reap(&present)
    }

    /// Starts a pod, or reports why it waits.
    fn begin(&mut self, pod: &Value, uid: String) -> anyhow::Result<()> {
        let container = &pod["spec"]["containers"][0];
        let image = text(&container["image"]);
        if image != IMAGE {
            return self.reject(pod, &uid, &image);
        }
        let Some(volumes) = self.volumes(pod)? else {
            let why = "MountVolume.SetUp failed for volume \"token\" : secret not found".to_owned();
            return self.event(pod, &uid, "FailedMount", &why);
        };
        let running = self.spawn(pod, &uid, &volumes)?;
        let state = json!({"running": {"startedAt": running.started}});
        let address = running.namespace.address.to_string();
        self.report(&running.path, pod, "Running", &state, true, Some(&address))?;
        self.pods.insert(uid, running);
        Ok(())
    }

    /// An image that cannot be pulled: first the error, then waiting, as kubelets report it.
    fn reject(&mut self, pod: &Value, uid: &str, image: &str) -> anyhow::Result<()> {
        let error = format!(
            "failed to pull and unpack image \"{image}\": failed to resolve reference \"{image}\": not found"
        );
        let before = self.rejected.get(uid).map(String::as_str);
        let (reason, message) = match before {
            None => ("ErrImagePull", error.clone()),
            Some("ErrImagePull") => {
                ("ImagePullBackOff", format!("Back-off pulling image \"{image}\": ErrImagePull: {error}"))
            }
            Some(_) => return Ok(()),
        };
        self.rejected.insert(uid.to_owned(), reason.to_owned());
        if reason == "ErrImagePull" {
            self.create_event(pod, "Failed", &format!("Failed to pull image \"{image}\": {error}"))?;
        }
        let state = json!({"waiting": {"reason": reason, "message": message}});
        self.report(&path_of(pod), pod, "Pending", &state, false, None)
    }

    fn event(&mut self, pod: &Value, uid: &str, reason: &str, why: &str) -> anyhow::Result<()> {
        if self.rejected.insert(uid.to_owned(), reason.to_owned()).is_some() {
            return Ok(());
        }
        self.create_event(pod, reason, why)
    }

    fn create_event(&self, pod: &Value, reason: &str, why: &str) -> anyhow::Result<()> {
        let metadata = &pod["metadata"];
        let namespace = text(&metadata["namespace"]);
        let object =
            json!({"kind": "Pod", "namespace": namespace, "name": metadata["name"], "uid": metadata["uid"]});
        let event = json!({
            "apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": reason, "message": why,
            "metadata": {"generateName": format!("{}.", text(&metadata["name"])), "namespace": namespace},
            "involvedObject": object, "source": {"component": "kubelet", "host": self.settings.name},
            "firstTimestamp": now(), "lastTimestamp": now(), "count": 1,
        });
        self.api.create(&format!("/api/v1/namespaces/{namespace}/events"), &event)?;
        Ok(())
    }

    /// The files of a pod's Secrets. `None` while a Secret is missing.
    fn volumes(&self, pod: &Value) -> anyhow::Result<Option<Vec<Mounted>>> {
        let mut files = Vec::new();
        let namespace = text(&pod["metadata"]["namespace"]);
        let mounts = pod["spec"]["containers"][0]["volumeMounts"].as_array().cloned().unwrap_or_default();
        for volume in pod["spec"]["volumes"].as_array().into_iter().flatten() {
            let mount =
                mounts.iter().find(|mount| mount["name"] == volume["name"]).context("find a mount")?;
            let folder = text(&mount["mountPath"]);
            if volume["projected"].is_object() {
                files.extend(self.account(pod, &folder)?);
            } else if volume["emptyDir"].is_object() {
                files.push(Mounted { folder: folder.clone(), name: String::new(), bytes: Vec::new() });
            }
            let Some(name) = volume["secret"]["secretName"].as_str() else { continue };
            let path = format!("/api/v1/namespaces/{namespace}/secrets/{name}");
            let (status, answer) = self.api.answer("GET", &path, None, "application/json")?;
            if status == 404 {
                return Ok(None);
            }
            let secret: Value = serde_json::from_str(&answer).context("read a Secret")?;
            for (key, value) in secret["data"].as_object().into_iter().flatten() {
                let bytes = STANDARD.decode(text(value)).context("decode a Secret")?;
                files.push(Mounted { folder: folder.clone(), name: key.clone(), bytes });
            }
        }
        Ok(Some(files))
    }

    /// The files of the pod's service account.
    fn account(&self, pod: &Value, folder: &str) -> anyhow::Result<[Mounted; 3]> {
        let namespace = text(&pod["metadata"]["namespace"]);
        let account = text(&pod["spec"]["serviceAccountName"]);
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token");
        let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}});
        let token = text(&self.api.create(&path, &request)?["status"]["token"]);
        let file = |(name, text): (&str, String)| Mounted {
            folder: folder.to_owned(),
            name: name.to_owned(),
            bytes: text.into_bytes(),
        };
        Ok([("token", token), ("ca.crt", self.settings.ca_pem.clone()), ("namespace", namespace)].map(file))
    }

    fn spawn(&self, pod: &Value, uid: &str, volumes: &[Mounted]) -> anyhow::Result<Running> {
        let container = &pod["spec"]["containers"][0];
        let folder = self.settings.folder.join(uid);
        std::fs::create_dir_all(&folder).context("create a pod's folder")?;
        let mut script = "mount -t tmpfs tmpfs /run\n".to_owned();
        for (number, Mounted { folder: mount, name: key, bytes }) in volumes.iter().enumerate() {
            let mount = mount.strip_prefix("/var").unwrap_or(mount);
            ensure!(mount.starts_with("/run/"), "mount {mount}: only paths below /run are known here");
            if key.is_empty() {
                script += &format!("mkdir -p {mount} && chmod 777 {mount}\n");
                continue;
            }
            let source = folder.join(format!("secret-{number}"));
            std::fs::write(&source, bytes).context("write a Secret")?;
            script += &format!(
                "mkdir -p {mount} && cp {} {mount}/{key} && chmod 444 {mount}/{key}\n",
                source.display()
            );
        }
        let hostname =
            pod["spec"]["hostname"].as_str().map_or_else(|| text(&pod["metadata"]["name"]), str::to_owned);
        script += &format!("hostname {hostname}\n");
        let user = pod["spec"]["securityContext"]["runAsUser"].as_u64().unwrap_or(0);
        script += &format!(
            "exec setpriv --reuid {user} --regid {user} --clear-groups --no-new-privs --bounding-set -all \
             env -i HOME=/ PATH=/usr/bin:/bin KUBERNETES_SERVICE_HOST={} KUBERNETES_SERVICE_PORT={} \"$@\"\n",
            self.settings.server.ip(),
            self.settings.server.port()
        );
        let group = Path::new(GROUPS).join(format!("plk-{uid}"));
        std::fs::create_dir_all(&group).context("create a control group")?;
        let limit = text(&container["resources"]["limits"]["memory"]);
        let bytes = kubernetes::quantity::parse(&limit).unwrap_or(1e9) as u64;
        std::fs::write(group.join("memory.limit_in_bytes"), bytes.to_string()).context("limit the memory")?;
        // The control group first: the namespaces have a /sys of their own.
        let enter = format!(
            "echo $$ > {}/cgroup.procs; exec ip netns exec \"$0\" unshare --mount --uts sh -ec '{script}' sh \"$@\"",
            group.display()
        );
        let log = folder.join("log");
        let file = File::create(&log).context("create a log")?;
        let namespace = self.network.namespace()?;
        let mut command = Command::new("sh");
        command.args(["-ec", &enter, &namespace.name]);
        command
            .arg(&self.settings.program)
            .args(container["args"].as_array().into_iter().flatten().map(text));
        command.stdin(Stdio::null()).stdout(file.try_clone().context("share a log")?).stderr(file);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().context("start a pod")?;
        let path = path_of(pod);
        Ok(Running { path, child, namespace, log, group, started: now(), kill_at: None, has_ended: false })
    }

    /// Reports processes that have ended, and kills those whose pods are gone or whose time is up.
    fn reap(&mut self, present: &[String]) -> anyhow::Result<()> {
        let killed = std::mem::take(&mut *self.killed.lock().unwrap_or_else(PoisonError::into_inner));
        let is_killed =
            |running: &Running| killed.iter().any(|name| running.path.ends_with(&format!("/{name}")));
        let mut ended = Vec::new();
        for (uid, running) in self.pods.iter_mut().filter(|(_, running)| !running.has_ended) {
            let is_late = running.kill_at.is_some_and(|at| SystemClock::now() >= at);
            if is_late || !present.contains(uid) || is_killed(running) {
                running.signal(Signal::SIGKILL);
            }
            if let Some(status) = running.child.try_wait().context("look at a pod")? {
                ended.push((uid.clone(), status));
            }
        }
        for (uid, status) in ended {
            let Some(running) = self.pods.get_mut(&uid) else { continue };
            running.has_ended = true;
            let state = running.terminated(status);
            running.clean();
            let path = running.path.clone();
            if let Ok(pod) = self.api.get(&path) {
                let phase = if status.success() { "Succeeded" } else { "Failed" };
                self.report(&path, &pod, phase, &state, false, None)?;
            }
        }
        self.pods.retain(|uid, running| present.contains(uid) || !running.has_ended);
        Ok(())
    }

    fn report(
        &self,
        path: &str,
        pod: &Value,
        phase: &str,
        state: &Value,
        is_ready: bool,
        address: Option<&str>,
    ) -> anyhow::Result<()> {
        let container = &pod["spec"]["containers"][0];
        let mut conditions: Vec<Value> = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.retain(|it| it["type"] != "Ready" && it["type"] != "ContainersReady");
        for kind in ["Ready", "ContainersReady"] {
            let status = if is_ready { "True" } else { "False" };
            conditions.push(json!({"type": kind, "status": status, "lastTransitionTime": now()}));
        }
        let of_container = json!({
            "name": container["name"], "image": container["image"], "imageID": "", "ready": is_ready, "started": is_ready,
            "restartCount": 0, "state": state, "lastState": {},
        });
        let mut status = json!({"phase": phase, "conditions": conditions, "containerStatuses": [of_container], "startTime": now()});
        if let Some(address) = address {
            status["podIP"] = address.into();
            status["podIPs"] = json!([{"ip": address}]);
        }
        self.api.merge(&format!("{path}/status"), &json!({ "status": status }))?;
        Ok(())
    }
}

impl Running {
    fn signal(&self, signal: Signal) {
        // It may have ended.
        let _ = killpg(Pid::from_raw(self.child.id().cast_signed()), signal);
    }

    fn terminated(&self, status: ExitStatus) -> Value {
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(255);
        let control = std::fs::read_to_string(self.group.join("memory.oom_control")).unwrap_or_default();
        let is_oom =
            control.lines().any(|line| line.strip_prefix("oom_kill ").is_some_and(|count| count != "0"));
        let reason = match (code, is_oom) {
            (0, _) => "Completed",
            (_, true) => "OOMKilled",
            _ => "Error",
        };
        let log = std::fs::read(&self.log).unwrap_or_default();
        let message = String::from_utf8_lossy(&log[log.len().saturating_sub(MESSAGE_BYTES)..]).into_owned();
        let message = if code == 0 { String::new() } else { message };
        json!({"terminated": {"exitCode": code, "reason": reason, "message": message, "startedAt": self.started, "finishedAt": now()}})
    }

    fn clean(&self) {
        self.namespace.remove();
        // Its processes are gone, or will be in a moment; the group is then empty.
        let _ = std::fs::remove_dir(&self.group);
    }
}

fn note<T>(result: anyhow::Result<T>) {
    if let Err(error) = result {
        eprintln!("node: {error:#}");
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn path_of(pod: &Value) -> String {
    let metadata = &pod["metadata"];
    format!("/api/v1/namespaces/{}/pods/{}", text(&metadata["namespace"]), text(&metadata["name"]))
}

/// The time as RFC 3339 in seconds, and as Leases have it in microseconds.
fn now() -> String {
    date("+%Y-%m-%dT%H:%M:%SZ")
}

fn now_micro() -> String {
    date("+%Y-%m-%dT%H:%M:%S.%6NZ")
}

fn date(form: &str) -> String {
    let output = Command::new("date").args(["-u", form]).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}
