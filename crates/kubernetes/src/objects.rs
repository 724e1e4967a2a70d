//! The objects of a run as values: an Indexed Job with the agents, or with the hub, and a Secret with their token.
//!
//! The Job owns the Secret. Whatever ends the program that created them, the Job ends by its deadline or its agents' exit codes,
//! is deleted by its time to live, and the Secret with it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::access::check_name;
use crate::quantity;

/// The API that Jobs belong to.
pub const BATCH: &str = "/apis/batch/v1";

/// The API that Pods, Secrets and Events belong to.
pub const CORE: &str = "/api/v1";

/// The folder of the token in agents, and the file in it.
pub const TOKEN_FOLDER: &str = "/run/secrets/plimsoll";
/// The key of the token in its Secret.
pub const TOKEN_KEY: &str = "token";

/// Time after its end until a Job is deleted, with everything it owns. The program deletes it at once; this is for one that cannot.
const LINGER: Duration = Duration::from_secs(120);

/// New pods for an agent that failed, before its place stays empty.
const RETRIES_PER_AGENT: u32 = 2;

/// The folder of a hub in its pod: the files of the test, and what it writes.
pub const HUB_FOLDER: &str = "/run/plimsoll";

/// The port at which a hub in a pod takes requests of the command that started it.
pub const HUB_PORT: u16 = 7001;

/// Maximum size of that folder: run files, exports and the log.
const HUB_FOLDER_SIZE: &str = "4Gi";

/// Time for an agent to hand over its results when its pod is deleted.
const GRACE: Duration = Duration::from_secs(30);

/// The user of the image, which has no rights.
const USER: u32 = 65_532;

/// Exit codes of agents that decide about new pods.
#[derive(Clone, Copy, Debug)]
pub struct ExitCodes {
    /// The hub refuses the agent, or its settings are invalid: other pods fare no better.
    pub refused: u8,
    /// The hub does not answer: a new pod finds none either.
    pub hub_lost: u8,
    /// A defect of the program: it would repeat.
    pub panic: u8,
}

/// The choices of a user about pods, as typed.
#[derive(Clone, Debug, Default)]
pub struct PodsAsked {
    /// The image of agents.
    pub image: Option<String>,
    /// Cores of each agent, as a quantity.
    pub cpu: Option<String>,
    /// Memory of each agent, as a quantity.
    pub memory: Option<String>,
    /// Labels that a node must have: `KEY=VALUE`.
    pub node_selector: Vec<String>,
    /// Taints that are tolerated: `KEY`, `KEY:EFFECT` or `KEY=VALUE:EFFECT`.
    pub tolerations: Vec<String>,
    /// Kueue's queue.
    pub queue: Option<String>,
    /// Name of a Secret for the image's registry.
    pub pull_secret: Option<String>,
}

/// The choices of a user about pods.
#[derive(Clone, Debug, PartialEq)]
pub struct Pods {
    /// The image of agents.
    pub image: String,
    /// Cores of each agent, as a quantity.
    pub cpu: String,
    /// Memory of each agent, as a quantity.
    pub memory: String,
    node_selector: BTreeMap<String, String>,
    tolerations: Vec<Value>,
    /// Kueue's queue.
    pub queue: Option<String>,
    pull_secret: Option<String>,
}

/// Default of the cores of an agent.
const CPU: &str = "1";

/// Default of the memory of an agent.
const MEMORY: &str = "1Gi";

/// The smallest memory of an agent, bytes: the program and a few VUs.
const MEMORY_BYTES_MIN: f64 = 64.0 * 1_048_576.0;

impl PodsAsked {
    /// Resolves the choices.
    ///
    /// # Errors
    /// One is invalid, or the image is missing.
    pub fn resolve(self) -> Result<Pods, String> {
        let image = self.image.filter(|image| !image.is_empty()).ok_or(
            "no image: set --image to an image of this version of Plimsoll that the cluster can pull, for example \
             registry.example/plimsoll:0.1.0",
        )?;
        if image.chars().any(|char| char.is_whitespace() || char.is_control()) {
            return Err(format!("invalid --image `{image}`: expected NAME:TAG without spaces"));
        }
        let cpu = self.cpu.unwrap_or_else(|| CPU.to_owned());
        if quantity::parse(&cpu).is_none_or(|cores| cores < 0.1) {
            return Err(format!(
                "invalid --agent-cpu `{cpu}`: expected cores, at least 100m, for example 2 or 500m"
            ));
        }
        let memory = self.memory.unwrap_or_else(|| MEMORY.to_owned());
        if quantity::parse(&memory).is_none_or(|bytes| bytes < MEMORY_BYTES_MIN) {
            return Err(format!(
                "invalid --agent-memory `{memory}`: expected at least 64Mi, for example 2Gi"
            ));
        }
        let label = |text: &String| {
            let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
            let pair = pair.map(|(key, value)| (key.to_owned(), value.to_owned()));
            pair.ok_or_else(|| {
                format!("invalid --node-selector `{text}`: expected KEY=VALUE, for example pool=load")
            })
        };
        if let Some(name) = &self.pull_secret {
            check_name("--image-pull-secret", name)?;
        }
        if let Some(name) = &self.queue {
            check_name("--queue", name)?;
        }
        Ok(Pods {
            image,
            cpu,
            memory,
            node_selector: self.node_selector.iter().map(label).collect::<Result<_, _>>()?,
            tolerations: self.tolerations.iter().map(|text| toleration(text)).collect::<Result<_, _>>()?,
            queue: self.queue,
            pull_secret: self.pull_secret,
        })
    }
}

/// A toleration, written as `kubectl taint` writes taints.
fn toleration(text: &str) -> Result<Value, String> {
    let refuse = || {
        format!(
            "invalid --toleration `{text}`: expected KEY, KEY:EFFECT or KEY=VALUE:EFFECT with the effect NoSchedule, \
             PreferNoSchedule or NoExecute, for example dedicated=load:NoSchedule"
        )
    };
    let (pair, effect) = text.split_once(':').map_or((text, None), |(pair, effect)| (pair, Some(effect)));
    let (key, value) = pair.split_once('=').map_or((pair, None), |(key, value)| (key, Some(value)));
    let is_effect = |effect: &str| ["NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&effect);
    if key.is_empty() || effect.is_some_and(|effect| !is_effect(effect)) {
        return Err(refuse());
    }
    let mut toleration = json!({"key": key, "operator": "Exists"});
    if let Some(value) = value {
        toleration["operator"] = "Equal".into();
        toleration["value"] = value.into();
    }
    if let Some(effect) = effect {
        toleration["effect"] = effect.into();
    }
    Ok(toleration)
}

/// The program in the pods of a Job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Agents.
    Agents {
        /// The address at which they find the hub: HOST:PORT.
        hub: String,
    },
    /// The hub, which starts agents by itself.
    Hub {
        /// The service account with the permissions for that.
        account: String,
    },
}

/// The facts of a Job.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Name of the Job and of the Secret.
    pub name: String,
    /// Namespace of both.
    pub namespace: String,
    /// The Job that owns this one; `None` if the program removes it by itself.
    pub owner: Option<Owner>,
    /// Number of pods: agents, or one hub.
    pub agents: u32,
    /// The program in them.
    pub work: Work,
    /// The choices about pods.
    pub pods: Pods,
    /// Time from the start of the Job after which it ends, whatever happens.
    pub deadline: Duration,
    /// Exit codes of agents.
    pub exit_codes: ExitCodes,
}

/// An object that owns others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its name.
    pub name: String,
    /// Its unique identifier.
    pub uid: String,
}

impl Owner {
    fn reference(&self) -> Value {
        json!([{"apiVersion": "batch/v1", "kind": "Job", "name": self.name, "uid": self.uid}])
    }
}

impl Work {
    fn component(&self) -> &'static str {
        match self {
            Work::Agents { .. } => "agent",
            Work::Hub { .. } => "hub",
        }
    }

    fn args(&self) -> Value {
        let token = format!("{TOKEN_FOLDER}/{TOKEN_KEY}");
        match self {
            Work::Agents { hub } => json!(["agent", "--hub", hub, "--token-file", token]),
            Work::Hub { .. } => {
                let listen = format!("0.0.0.0:{HUB_PORT}");
                json!([
                    "kubernetes",
                    "hub",
                    "--listen",
                    listen,
                    "--token-file",
                    token,
                    "--folder",
                    HUB_FOLDER
                ])
            }
        }
    }
}

impl Shape {
    /// The name of an agent, which is the host name of its pod.
    pub fn agent_name(&self, index: u32) -> String {
        format!("{}-{index}", self.name)
    }

    /// The Job.
    pub fn job(&self) -> Value {
        // A hub that is gone has lost its run, and another one would begin it anew.
        let is_hub = matches!(self.work, Work::Hub { .. });
        let mut metadata = json!({"name": self.name, "namespace": self.namespace, "labels": self.labels()});
        let mut spec = json!({
            "completionMode": "Indexed",
            "completions": self.agents,
            "parallelism": self.agents,
            "backoffLimitPerIndex": if is_hub { 0 } else { RETRIES_PER_AGENT },
            // Never two pods for one part of the test.
            "podReplacementPolicy": "Failed",
            "activeDeadlineSeconds": self.deadline.as_secs(),
            "ttlSecondsAfterFinished": LINGER.as_secs(),
            "template": {"metadata": {"labels": self.labels()}, "spec": self.pod()},
        });
        if !is_hub {
            spec["podFailurePolicy"] = json!({"rules": self.failure_rules()});
        }
        if let Some(queue) = self.pods.queue.as_ref().filter(|_| !is_hub) {
            metadata["labels"]["kueue.x-k8s.io/queue-name"] = queue.as_str().into();
            // Kueue starts it once its quota has capacity.
            spec["suspend"] = true.into();
        }
        if let Some(owner) = &self.owner {
            metadata["ownerReferences"] = owner.reference();
        }
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})
    }

    /// The Secret with the token. With an owner it is deleted when its owner is.
    pub fn secret(&self, token: &str, owner: Option<&Owner>) -> Value {
        let mut metadata = json!({"name": self.name, "namespace": self.namespace, "labels": self.labels()});
        if let Some(owner) = owner {
            metadata["ownerReferences"] = owner.reference();
        }
        let data = json!({TOKEN_KEY: token});
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "immutable": true, "stringData": data})
    }

    fn labels(&self) -> Map<String, Value> {
        let labels = [
            ("app.kubernetes.io/name", "plimsoll"),
            ("app.kubernetes.io/component", self.work.component()),
            ("app.kubernetes.io/instance", &self.name),
        ];
        labels.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
    }

    fn failure_rules(&self) -> Value {
        let ExitCodes { refused, hub_lost, panic } = self.exit_codes;
        let in_vain =
            json!({"containerName": "agent", "operator": "In", "values": [refused, panic, hub_lost]});
        json!([
            // Evictions, preemptions and lost nodes are no failures of the agent: it is replaced.
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            // Not the whole Job: one agent with a wrong clock, say, is no reason to end the others.
            {"action": "FailIndex", "onExitCodes": in_vain},
        ])
    }

    fn pod(&self) -> Value {
        let Pods { image, cpu, memory, node_selector, tolerations, pull_secret, .. } = &self.pods;
        // Requests are limits: a generator that is throttled measures itself.
        let resources = json!({"cpu": cpu, "memory": memory});
        let mut container = json!({
            "name": self.work.component(),
            "image": image,
            "args": self.work.args(),
            "resources": {"requests": resources, "limits": resources},
            "volumeMounts": [{"name": "token", "mountPath": TOKEN_FOLDER, "readOnly": true}],
            // The last lines of a failed agent stand in the status of its pod, and so in the hub's log.
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "capabilities": {"drop": ["ALL"]},
                "readOnlyRootFilesystem": true,
            },
        });
        let spread = json!({
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"app.kubernetes.io/instance": self.name}},
        });
        let mut pod = json!({
            "restartPolicy": "Never",
            "containers": [],
            "volumes": [{"name": "token", "secret": {"secretName": self.name, "defaultMode": 0o444}}],
            "topologySpreadConstraints": [spread],
            "terminationGracePeriodSeconds": GRACE.as_secs(),
            "automountServiceAccountToken": false,
            "enableServiceLinks": false,
            "securityContext": {
                "runAsNonRoot": true,
                "runAsUser": USER,
                "runAsGroup": USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
        });
        if let Work::Hub { account } = &self.work {
            pod["serviceAccountName"] = account.as_str().into();
            pod["automountServiceAccountToken"] = true.into();
            let folder = json!({"name": "folder", "emptyDir": {"sizeLimit": HUB_FOLDER_SIZE}});
            add(&mut pod["volumes"], folder);
            add(&mut container["volumeMounts"], json!({"name": "folder", "mountPath": HUB_FOLDER}));
        }
        add(&mut pod["containers"], container);
        if !node_selector.is_empty() {
            pod["nodeSelector"] = json!(node_selector);
        }
        if !tolerations.is_empty() {
            pod["tolerations"] = json!(tolerations);
        }
        if let Some(name) = pull_secret {
            pod["imagePullSecrets"] = json!([{"name": name}]);
        }
        pod
    }
}

fn add(list: &mut Value, value: Value) {
    if let Some(list) = list.as_array_mut() {
        list.push(value);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn shape(asked: PodsAsked) -> Shape {
        let asked = PodsAsked { image: Some("plimsoll:0.1.0".to_owned()), ..asked };
        Shape {
            name: "plimsoll-0a1b2c3d".to_owned(),
            namespace: "load".to_owned(),
            owner: None,
            agents: 3,
            work: Work::Agents { hub: "10.0.0.5:7000".to_owned() },
            pods: asked.resolve().expect("valid"),
            deadline: Duration::from_secs(600),
            exit_codes: ExitCodes { refused: 104, hub_lost: 124, panic: 109 },
        }
    }

    #[test]
    fn a_job_runs_each_agent_once_and_ends_by_itself() {
        let job = shape(PodsAsked::default()).job();
        let spec = &job["spec"];
        assert_eq!((&spec["completions"], &spec["parallelism"]), (&json!(3), &json!(3)));
        assert_eq!(spec["completionMode"], "Indexed");
        assert_eq!(spec["podReplacementPolicy"], "Failed");
        assert_eq!(spec["activeDeadlineSeconds"], 600);
        assert!(spec["ttlSecondsAfterFinished"].is_number() && spec["suspend"].is_null());
        let container = &spec["template"]["spec"]["containers"][0];
        assert_eq!(container["resources"]["requests"], container["resources"]["limits"]);
        let rules = spec["podFailurePolicy"]["rules"].as_array().expect("rules");
        let actions: Vec<_> = rules.iter().map(|rule| rule["action"].as_str().unwrap_or_default()).collect();
        assert_eq!(actions, ["Ignore", "FailIndex"]);
    }

    /// It is not started again, gets permissions by its account, and writes into one folder.
    #[test]
    fn a_hub_is_one_pod_with_an_account() {
        let queue = Some("tests".to_owned());
        let agents = shape(PodsAsked { queue, ..PodsAsked::default() });
        let hub = Shape { agents: 1, work: Work::Hub { account: "plimsoll".to_owned() }, ..agents.clone() };
        let job = hub.job();
        let pod = &job["spec"]["template"]["spec"];
        assert_eq!(job["spec"]["backoffLimitPerIndex"], 0);
        assert!(job["spec"]["podFailurePolicy"].is_null() && job["spec"]["suspend"].is_null());
        assert_eq!(
            (&pod["serviceAccountName"], &pod["automountServiceAccountToken"]),
            (&json!("plimsoll"), &json!(true))
        );
        assert_eq!(pod["containers"][0]["volumeMounts"][1]["mountPath"], HUB_FOLDER);
        let owner = Some(Owner { name: "hub".to_owned(), uid: "u-1".to_owned() });
        let job = Shape { owner, ..agents }.job();
        assert_eq!(job["metadata"]["ownerReferences"][0]["uid"], "u-1");
        assert_eq!(job["spec"]["template"]["spec"]["automountServiceAccountToken"], false);
    }

    #[test]
    fn choices_reach_the_pods() {
        let asked = PodsAsked {
            cpu: Some("2".to_owned()),
            node_selector: vec!["pool=load".to_owned()],
            tolerations: vec!["dedicated=load:NoSchedule".to_owned(), "spot".to_owned()],
            queue: Some("tests".to_owned()),
            pull_secret: Some("registry".to_owned()),
            ..PodsAsked::default()
        };
        let job = shape(asked).job();
        let pod = &job["spec"]["template"]["spec"];
        assert_eq!(pod["containers"][0]["resources"]["limits"]["cpu"], "2");
        assert_eq!(pod["nodeSelector"], json!({"pool": "load"}));
        let expect = json!([
            {"key": "dedicated", "operator": "Equal", "value": "load", "effect": "NoSchedule"},
            {"key": "spot", "operator": "Exists"},
        ]);
        assert_eq!(pod["tolerations"], expect);
        assert_eq!(pod["imagePullSecrets"], json!([{"name": "registry"}]));
        assert_eq!(job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], "tests");
        assert_eq!(job["spec"]["suspend"], true);
    }

    #[test]
    fn a_secret_goes_with_its_job() {
        let owner = Owner { name: "j".to_owned(), uid: "u-1".to_owned() };
        let secret = shape(PodsAsked::default()).secret("t0ken", Some(&owner));
        assert_eq!(secret["metadata"]["ownerReferences"][0]["uid"], "u-1");
        assert_eq!(secret["stringData"]["token"], "t0ken");
    }

    #[test]
    fn invalid_choices_are_refused_with_an_example() {
        let check = |change: fn(&mut PodsAsked), expect: &str| {
            let mut asked = PodsAsked { image: Some("i".to_owned()), ..PodsAsked::default() };
            change(&mut asked);
            let error = asked.resolve().expect_err("it is refused");
            assert!(error.contains(expect), "{error}");
        };
        check(|asked| asked.image = None, "set --image");
        check(|asked| asked.image = Some("a b".to_owned()), "invalid --image `a b`");
        check(|asked| asked.cpu = Some("many".to_owned()), "invalid --agent-cpu `many`");
        check(|asked| asked.cpu = Some("1m".to_owned()), "at least 100m");
        check(|asked| asked.memory = Some("1Mi".to_owned()), "invalid --agent-memory `1Mi`");
        check(|asked| asked.node_selector = vec!["pool".to_owned()], "expected KEY=VALUE");
        check(|asked| asked.tolerations = vec!["a:Never".to_owned()], "invalid --toleration `a:Never`");
        check(|asked| asked.queue = Some("A".to_owned()), "invalid --queue `A`");
    }
}
