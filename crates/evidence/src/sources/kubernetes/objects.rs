//! Parses objects of the API. Objects that lack a field are left out.

use std::collections::BTreeMap;

use model::{Datum, SignalId};
use serde_json::Value;

use crate::lines::harmless;
use crate::wall;

/// Fields of a record.
pub(super) type Fields = BTreeMap<String, Datum>;

/// Maximum length of a message, characters.
const MESSAGE_CHARS_MAX: usize = 300;
/// Maximum number of containers of a pod, and of triggers or metrics of a scaler.
const PARTS_MAX: usize = 20;

/// Reasons of events about scaling and termination; of other events only warnings are kept.
const REASONS: [&str; 8] = [
    "SuccessfulRescale",
    "ScalingReplicaSet",
    "KEDAScaleTargetActivated",
    "KEDAScaleTargetDeactivated",
    "Killing",
    "Preempted",
    "Evicted",
    "TaintManagerEviction",
];

/// Fields of a KEDA trigger that are recorded. Others can contain an address with a password.
const TRIGGER_FIELDS: [&str; 10] = [
    "queueName",
    "mode",
    "value",
    "activationValue",
    "threshold",
    "activationThreshold",
    "queueLength",
    "listName",
    "listLength",
    "metricType",
];

/// The current value of a signal.
#[derive(Debug, PartialEq)]
pub(super) struct Level {
    pub(super) signal: SignalId,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) value: f64,
}

/// A single event.
#[derive(Debug, PartialEq)]
pub(super) struct Happened {
    /// Stable identity across reads.
    pub(super) identity: String,
    pub(super) wall_ns: i64,
    pub(super) subject: String,
    pub(super) fields: Fields,
}

/// Returns pods by phase, and restarts of their containers.
pub(super) fn pods(pods: &[Value]) -> Vec<Level> {
    let mut phases: BTreeMap<&str, f64> =
        ["Pending", "Running", "Failed"].map(|phase| (phase, 0.0)).into_iter().collect();
    for pod in pods {
        *phases.entry(pod["status"]["phase"].as_str().unwrap_or("Unknown")).or_default() += 1.0;
    }
    let phases = phases.into_iter().map(|(phase, value)| level(SignalId::Pods, &[("phase", phase)], value));
    let restarts = pods.iter().flat_map(|pod| {
        containers(pod).filter_map(|status| {
            let labels = [("pod", name(pod)), ("container", text(&status["name"]))];
            Some(level(SignalId::ContainerRestarts, &labels, status["restartCount"].as_f64()?))
        })
    });
    phases.chain(restarts).collect()
}

/// Returns replicas of deployments: existing, ready, and desired.
pub(super) fn deployments(deployments: &[Value]) -> Vec<Level> {
    let levels = deployments.iter().flat_map(|deployment| {
        let status = &deployment["status"];
        // The API omits a count of zero.
        let count = |value: &Value| value.as_f64().unwrap_or(0.0);
        [
            (SignalId::DeploymentReplicas, count(&status["replicas"])),
            (SignalId::DeploymentReplicasAvailable, count(&status["availableReplicas"])),
            (SignalId::DeploymentReplicasWanted, count(&deployment["spec"]["replicas"])),
        ]
        .map(|(signal, value)| level(signal, &[("deployment", name(deployment))], value))
    });
    levels.collect()
}

/// Returns replicas of autoscalers: existing, desired, and maximum.
pub(super) fn scalers(scalers: &[Value]) -> Vec<Level> {
    let levels = scalers.iter().flat_map(|scaler| {
        let (status, spec) = (&scaler["status"], &scaler["spec"]);
        let counts = [
            (SignalId::HpaReplicas, &status["currentReplicas"]),
            (SignalId::HpaReplicasWanted, &status["desiredReplicas"]),
            (SignalId::HpaReplicasLimit, &spec["maxReplicas"]),
        ];
        let labels = [("horizontalpodautoscaler", name(scaler))];
        counts.map(|(signal, value)| level(signal, &labels, value.as_f64().unwrap_or(0.0)))
    });
    levels.collect()
}

/// Returns the latest abnormal termination of each container.
pub(super) fn killed(pods: &[Value]) -> Vec<Happened> {
    let all = pods.iter().flat_map(|pod| containers(pod).map(move |status| (pod, status)));
    let killed = all.filter_map(|(pod, status)| {
        // A container that is not restarted stays in this state.
        let ended = [&status["lastState"]["terminated"], &status["state"]["terminated"]];
        let ended =
            ended.into_iter().find(|ended| ended["exitCode"].as_i64().is_some_and(|code| code != 0))?;
        let finished_at = text(&ended["finishedAt"]);
        let mut fields = Fields::new();
        fields.insert("reason".to_owned(), text(&ended["reason"]).into());
        fields.insert("exit_code".to_owned(), ended["exitCode"].as_f64()?.into());
        let subject = format!("pod/{}/{}", name(pod), text(&status["name"]));
        let identity = format!("{} {subject} {finished_at}", text(&pod["metadata"]["uid"]));
        Some(Happened { identity, wall_ns: wall::parse(finished_at)?, subject, fields })
    });
    killed.collect()
}

/// Returns events of core/v1 about scaling and termination, and warnings.
pub(super) fn events(events: &[Value]) -> Vec<Happened> {
    let telling =
        events.iter().filter(|event| event["type"] == "Warning" || REASONS.contains(&text(&event["reason"])));
    let happened = telling.filter_map(|event| {
        let times = [
            &event["series"]["lastObservedTime"],
            &event["lastTimestamp"],
            &event["eventTime"],
            &event["firstTimestamp"],
        ];
        let wall_ns = times.into_iter().filter_map(Value::as_str).find_map(wall::parse)?;
        let about = &event["involvedObject"];
        let mut fields = Fields::new();
        fields.insert("reason".to_owned(), harmless(text(&event["reason"]), MESSAGE_CHARS_MAX).into());
        fields.insert("message".to_owned(), harmless(text(&event["message"]), MESSAGE_CHARS_MAX).into());
        Some(Happened {
            identity: format!("{} {wall_ns}", text(&event["metadata"]["uid"])),
            wall_ns,
            subject: format!("{}/{}", text(&about["kind"]).to_lowercase(), text(&about["name"])),
            fields,
        })
    });
    happened.collect()
}

/// Returns images, limits and replicas of deployments, by container.
pub(super) fn configured_deployments(deployments: &[Value]) -> Vec<(String, Fields)> {
    let all = deployments.iter().flat_map(|deployment| {
        let spec = &deployment["spec"];
        list(&spec["template"]["spec"]["containers"]).map(move |container| (deployment, spec, container))
    });
    let configured = all.map(|(deployment, spec, container)| {
        let resources = &container["resources"];
        let mut fields = Fields::new();
        let mut take = |field: &str, value: &Value| {
            // Quantities are strings or numbers, as in the manifest.
            let value = value.as_f64().map(Datum::from).or_else(|| value.as_str().map(Datum::from));
            fields.extend(value.map(|value| (field.to_owned(), value)));
        };
        take("image", &container["image"]);
        take("replicas", &spec["replicas"]);
        take("cpu_limit", &resources["limits"]["cpu"]);
        take("memory_limit", &resources["limits"]["memory"]);
        take("cpu_request", &resources["requests"]["cpu"]);
        take("memory_request", &resources["requests"]["memory"]);
        (format!("deployment/{}/{}", name(deployment), text(&container["name"])), fields)
    });
    configured.collect()
}

/// Returns bounds and metrics of autoscalers.
pub(super) fn configured_scalers(scalers: &[Value]) -> Vec<(String, Fields)> {
    let configured = scalers.iter().map(|scaler| {
        let spec = &scaler["spec"];
        let metrics: Vec<String> = list(&spec["metrics"]).map(metric).collect();
        let mut fields = numbers(spec, &[("replicas_min", "minReplicas"), ("replicas_max", "maxReplicas")]);
        fields.insert("scales".to_owned(), target(&spec["scaleTargetRef"]).into());
        fields.insert("metrics".to_owned(), metrics.join("; ").into());
        (format!("horizontalpodautoscaler/{}", name(scaler)), fields)
    });
    configured.collect()
}

/// Returns bounds, times and triggers of KEDA's scaled objects.
pub(super) fn configured_scaled_objects(objects: &[Value]) -> Vec<(String, Fields)> {
    let configured = objects.iter().map(|object| {
        let spec = &object["spec"];
        let triggers: Vec<String> = list(&spec["triggers"]).map(trigger).collect();
        let mut fields = numbers(
            spec,
            &[
                ("replicas_min", "minReplicaCount"),
                ("replicas_max", "maxReplicaCount"),
                ("replicas_idle", "idleReplicaCount"),
                ("polling_interval_s", "pollingInterval"),
                ("cooldown_s", "cooldownPeriod"),
            ],
        );
        fields.insert("scales".to_owned(), target(&spec["scaleTargetRef"]).into());
        fields.insert("triggers".to_owned(), triggers.join("; ").into());
        (format!("scaledobject/{}", name(object)), fields)
    });
    configured.collect()
}

/// Describes a metric of autoscaling/v2, for example `Resource cpu averageUtilization=70`.
fn metric(metric: &Value) -> String {
    let kind = text(&metric["type"]);
    // The field with a metric's details has the name of its kind, starting in lower case.
    let part = metric.as_object().and_then(|fields| fields.values().find(|value| value.is_object()));
    let part = part.unwrap_or(&Value::Null);
    let what = [text(&part["name"]), text(&part["metric"]["name"])].concat();
    let target = ["averageUtilization", "averageValue", "value"].iter().find_map(|field| {
        let value = &part["target"][field];
        let value =
            value.as_str().map(str::to_owned).or_else(|| value.as_i64().map(|value| value.to_string()));
        value.map(|value| format!("{field}={value}"))
    });
    harmless(&format!("{kind} {what} {}", target.unwrap_or_default()), MESSAGE_CHARS_MAX)
}

/// Describes a trigger of KEDA, for example `rabbitmq queueName=scan.vision mode=QueueLength value=20`.
fn trigger(trigger: &Value) -> String {
    let evidence = TRIGGER_FIELDS.iter().filter_map(|field| {
        // The metric type stands outside the trigger's metadata.
        let value = trigger["metadata"][field].as_str().or(trigger[field].as_str())?;
        Some(format!(" {field}={value}"))
    });
    harmless(&format!("{}{}", text(&trigger["type"]), evidence.collect::<String>()), MESSAGE_CHARS_MAX)
}

fn target(reference: &Value) -> String {
    let kind = reference["kind"].as_str().unwrap_or("Deployment").to_lowercase();
    format!("{kind}/{}", text(&reference["name"]))
}

fn numbers(spec: &Value, fields: &[(&str, &str)]) -> Fields {
    let numbers =
        fields.iter().filter_map(|(name, field)| Some(((*name).to_owned(), spec[*field].as_f64()?.into())));
    numbers.collect()
}

fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    list(&pod["status"]["containerStatuses"])
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten().take(PARTS_MAX)
}

fn name(object: &Value) -> &str {
    text(&object["metadata"]["name"])
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn level(signal: SignalId, labels: &[(&str, &str)], value: f64) -> Level {
    let labels = labels.iter().map(|(label, value)| ((*label).to_owned(), (*value).to_owned())).collect();
    Level { signal, labels, value }
}
