//! Checks of a cluster before a run: version, permissions, quota, nodes and image.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::client::{ApiError, ApiErrorKind, Client};
use crate::objects::{BATCH, CORE, Shape};
use crate::permissions::{HUB_PERMISSION, PERMISSIONS};
use crate::quantity;

/// The first minor version of Kubernetes 1 whose Jobs have retries per index and a replacement policy, without feature gates.
const MINOR_MIN: u64 = 29;

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The thing that was checked.
    pub what: String,
    /// The finding, or what is missing.
    pub outcome: Result<String, Missing>,
}

/// Something that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The finding.
    pub why: String,
    /// The next step.
    pub remedy: String,
    /// Whether a run is impossible.
    pub is_fatal: bool,
}

fn works(what: &str, found: impl Into<String>) -> Check {
    Check { what: what.to_owned(), outcome: Ok(found.into()) }
}

fn lacks(what: &str, why: impl Into<String>, remedy: impl Into<String>, is_fatal: bool) -> Check {
    let missing = Missing { why: why.into(), remedy: remedy.into(), is_fatal };
    Check { what: what.to_owned(), outcome: Err(missing) }
}

/// Checks everything that a run of this shape needs, and what else the hub in a pod does.
pub fn examine(client: &Client, shape: &Shape, is_hub_in_cluster: bool) -> Vec<Check> {
    let version = match client.get("/version", &[]) {
        Ok(version) => check_version(&version),
        Err(error) => {
            let remedy = match error.kind {
                ApiErrorKind::Unauthenticated => "log in to the cluster again, and check --context",
                _ => "check --context, and that `kubectl cluster-info` answers",
            };
            return vec![lacks("server", error.message, remedy, true)];
        }
    };
    let mut checks = vec![version];
    checks.extend(permissions(client, shape, is_hub_in_cluster));
    checks.push(trial(client, shape));
    checks.push(match client.list(&client.path(CORE, "resourcequotas"), &[]) {
        Ok(quotas) => check_quota(&quotas, shape),
        Err(error) => unreadable("quota", &error, "a quota that is too small is shown once pods are refused"),
    });
    let nodes = client.list(&format!("{CORE}/nodes"), &[]);
    match &nodes {
        Ok(nodes) => {
            let pods = client.list(
                &format!("{CORE}/pods"),
                &[("fieldSelector", "status.phase!=Succeeded,status.phase!=Failed")],
            );
            checks.push(check_nodes(nodes, pods.as_deref().ok(), shape));
        }
        Err(error) => {
            checks.push(unreadable("nodes", error, "agents that fit no node are shown once they wait"))
        }
    }
    let events = client
        .get(&client.path(CORE, "events"), &[("fieldSelector", "involvedObject.kind=Pod"), ("limit", "500")]);
    checks.push(check_image(
        nodes.as_deref().unwrap_or_default(),
        &events.unwrap_or_default(),
        &shape.pods.image,
    ));
    checks
}

fn unreadable(what: &str, error: &ApiError, remedy: &str) -> Check {
    lacks(what, format!("not checkable: {}", error.message), remedy, false)
}

fn check_version(version: &Value) -> Check {
    let number = |field: &str| {
        let text = version[field].as_str().unwrap_or_default();
        text.trim_end_matches(|char: char| !char.is_ascii_digit()).parse::<u64>().ok()
    };
    let shown = version["gitVersion"].as_str().unwrap_or("an unknown version");
    match (number("major"), number("minor")) {
        (Some(1), Some(minor)) if minor < MINOR_MIN => {
            let why = format!("Kubernetes {shown}: its Jobs have no retries per index");
            lacks("server", why, format!("use a cluster of Kubernetes 1.{MINOR_MIN} or newer"), true)
        }
        _ => works("server", format!("Kubernetes {shown}")),
    }
}

fn permissions(client: &Client, shape: &Shape, is_hub_in_cluster: bool) -> Vec<Check> {
    let review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let ask = |group: &str, resource: &str, verb: &str| {
        let (resource, part) = resource.split_once('/').unwrap_or((resource, ""));
        let mut attributes =
            json!({"namespace": shape.namespace, "group": group, "resource": resource, "verb": verb});
        if !part.is_empty() {
            attributes["subresource"] = part.into();
        }
        let object = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        });
        client.create(review, &object, false).map(|answer| answer["status"]["allowed"] == true)
    };
    let check = |it: &crate::permissions::Permission| {
        let mut denied = Vec::new();
        for verb in it.verbs {
            match ask(it.group, it.resource, verb) {
                Ok(true) => {}
                Ok(false) => denied.push(*verb),
                Err(error) => return unreadable(it.resource, &error, "see `plimsoll kubernetes rbac`"),
            }
        }
        if denied.is_empty() {
            return works(it.resource, it.verbs.join(", "));
        }
        let why = format!("no permission to {} them: {}", denied.join(", "), it.purpose);
        let flag = if is_hub_in_cluster { " --hub-in-cluster" } else { "" };
        let remedy = format!(
            "plimsoll kubernetes rbac --namespace {} --user NAME{flag} prints the Role",
            shape.namespace
        );
        lacks(it.resource, why, remedy, it.is_needed)
    };
    let of_hub = is_hub_in_cluster.then_some(&HUB_PERMISSION);
    PERMISSIONS.iter().chain(of_hub).map(check).collect()
}

/// Lets the server check the Job without creating it: its admission, policies and defaults.
fn trial(client: &Client, shape: &Shape) -> Check {
    match client.create(&client.path(BATCH, "jobs"), &shape.job(), true) {
        Ok(_) => works("job", format!("the server accepts the Job of {} agents (dry run)", shape.agents)),
        Err(error) => lacks("job", error.message, "change what the server refuses", true),
    }
}

fn check_quota(quotas: &[Value], shape: &Shape) -> Check {
    let agents = f64::from(shape.agents);
    let cpu = quantity::parse(&shape.pods.cpu).unwrap_or_default() * agents;
    let memory = quantity::parse(&shape.pods.memory).unwrap_or_default() * agents;
    let needs = [
        ("pods", agents),
        ("count/pods", agents),
        ("cpu", cpu),
        ("requests.cpu", cpu),
        ("limits.cpu", cpu),
        ("memory", memory),
        ("requests.memory", memory),
        ("limits.memory", memory),
        ("count/jobs.batch", 1.0),
        ("secrets", 1.0),
        ("count/secrets", 1.0),
    ];
    let mut short = Vec::new();
    for quota in quotas {
        let name = quota["metadata"]["name"].as_str().unwrap_or_default();
        for (resource, need) in needs {
            let amount = |part: &str| quota["status"][part][resource].as_str().and_then(quantity::parse);
            let Some(hard) = amount("hard") else { continue };
            let left = (hard - amount("used").unwrap_or_default()).max(0.0);
            if left + 1e-9 < need {
                let is_memory = resource.ends_with("memory");
                let show = |value: f64| if is_memory { quantity::bytes(value) } else { format!("{value}") };
                short.push(format!(
                    "{resource} has {} left in {name}, the plan needs {}",
                    show(left),
                    show(need)
                ));
            }
        }
    }
    match (short.is_empty(), quotas.len()) {
        (true, 0) => works("quota", "no quota in the namespace"),
        (true, _) => works("quota", format!("{} agents fit", shape.agents)),
        (false, _) => {
            lacks("quota", short.join("; "), "raise the quota, or use fewer or smaller agents", true)
        }
    }
}

/// Counts the agents that fit the nodes. Without `pods`, other pods are not counted.
fn check_nodes(nodes: &[Value], pods: Option<&[Value]>, shape: &Shape) -> Check {
    let job = shape.job();
    let pod = &job["spec"]["template"]["spec"];
    let mut used = BTreeMap::<&str, (f64, f64)>::new();
    for pod in pods.unwrap_or_default() {
        let Some(node) = pod["spec"]["nodeName"].as_str() else { continue };
        let of = |resource: &str| {
            let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
            let requests = containers.filter_map(|it| it["resources"]["requests"][resource].as_str());
            requests.filter_map(quantity::parse).sum::<f64>()
        };
        let sum = used.entry(node).or_default();
        *sum = (sum.0 + of("cpu"), sum.1 + of("memory"));
    }
    let cpu = quantity::parse(&shape.pods.cpu).unwrap_or(1.0);
    let memory = quantity::parse(&shape.pods.memory).unwrap_or(1.0);
    let (mut usable, mut places, mut cores) = (0, 0.0, 0.0);
    for node in nodes.iter().filter(|node| is_usable(node, pod)) {
        let name = node["metadata"]["name"].as_str().unwrap_or_default();
        let allocatable = |resource: &str| {
            node["status"]["allocatable"][resource].as_str().and_then(quantity::parse).unwrap_or_default()
        };
        let (used_cpu, used_memory) = used.get(name).copied().unwrap_or_default();
        let (free_cpu, free_memory) = (allocatable("cpu") - used_cpu, allocatable("memory") - used_memory);
        usable += 1;
        cores += free_cpu.max(0.0);
        places += (free_cpu / cpu).min(free_memory / memory).max(0.0).floor();
    }
    let basis = if pods.is_some() {
        "free"
    } else {
        "in total, other pods not counted (no permission to list all pods)"
    };
    let need = cpu * f64::from(shape.agents);
    let found = format!(
        "{usable} of {} nodes usable, {cores:.1} cores {basis}; the plan needs {need:.1}",
        nodes.len()
    );
    if places >= f64::from(shape.agents) {
        return works("nodes", found);
    }
    let why = format!("{places:.0} of {} agents fit: {found}", shape.agents);
    lacks(
        "nodes",
        why,
        "add nodes, lower --agent-cpu or --agent-memory, or see --node-selector and --toleration",
        false,
    )
}

fn is_usable(node: &Value, pod: &Value) -> bool {
    let labels = &node["metadata"]["labels"];
    let selector = pod["nodeSelector"].as_object();
    let matches = selector.is_none_or(|wanted| wanted.iter().all(|(key, value)| labels[key] == *value));
    let tolerates = |taint: &Value| {
        let tolerations = pod["tolerations"].as_array().into_iter().flatten();
        let mut tolerations = tolerations.filter(|it| it["key"] == taint["key"]);
        tolerations.any(|it| {
            let has_effect = it["effect"].is_null() || it["effect"] == taint["effect"];
            has_effect && (it["operator"] == "Exists" || it["value"] == taint["value"])
        })
    };
    let taints = node["spec"]["taints"].as_array().into_iter().flatten();
    let mut taints = taints.filter(|taint| taint["effect"] != "PreferNoSchedule");
    let mut conditions = node["status"]["conditions"].as_array().into_iter().flatten();
    let is_ready = conditions.any(|it| it["type"] == "Ready" && it["status"] == "True");
    matches && is_ready && node["spec"]["unschedulable"] != true && taints.all(tolerates)
}

/// Looks for the image on nodes and in the events of pods. Only a pod can show whether it can be pulled.
fn check_image(nodes: &[Value], events: &Value, image: &str) -> Check {
    let has = |node: &&Value| {
        let images = node["status"]["images"].as_array().into_iter().flatten();
        let names = images.flat_map(|it| it["names"].as_array().into_iter().flatten());
        names.filter_map(Value::as_str).any(|name| name == image || name.ends_with(&format!("/{image}")))
    };
    let present = nodes.iter().filter(has).count();
    if present > 0 {
        return works("image", format!("{image} is present on {present} of {} nodes", nodes.len()));
    }
    let quoted = format!("\"{image}\"");
    let items = events["items"].as_array().into_iter().flatten();
    let about = items.filter(|event| event["message"].as_str().is_some_and(|text| text.contains(&quoted)));
    let mut pulled = about.filter(|event| event["reason"] == "Pulled");
    if pulled.next().is_some() {
        return works("image", format!("{image} was pulled by another pod of the namespace"));
    }
    let why = format!("not checkable: no node and no event names {image}");
    lacks("image", why, "the run shows whether it can be pulled; it needs this version of Plimsoll", false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::PodsAsked;
    use crate::objects::tests::shape;

    fn outcome(check: Check) -> (bool, String) {
        match check.outcome {
            Ok(found) => (true, found),
            Err(missing) => (false, missing.why),
        }
    }

    fn node(cpu: &str, change: &dyn Fn(&mut Value)) -> Value {
        let mut node = json!({
            "metadata": {"name": "n", "labels": {"pool": "load"}},
            "spec": {},
            "status": {
                "allocatable": {"cpu": cpu, "memory": "8Gi"},
                "conditions": [{"type": "Ready", "status": "True"}],
                "images": [{"names": ["registry.example/plimsoll:0.1.0"]}],
            },
        });
        change(&mut node);
        node
    }

    #[test]
    fn old_servers_are_refused() {
        let check = |minor: &str, expect: bool| {
            let version = json!({"major": "1", "minor": minor, "gitVersion": format!("v1.{minor}.0")});
            assert_eq!(outcome(check_version(&version)).0, expect, "{minor}");
        };
        check("28", false);
        check("29", true);
        check("28+", false);
        check("36", true);
    }

    #[test]
    fn a_quota_is_compared_with_the_plan() {
        let check = |hard: &str, used: &str, expect: &str| {
            let status = json!({"hard": {"requests.cpu": hard}, "used": {"requests.cpu": used}});
            let quota = json!({"metadata": {"name": "team"}, "status": status});
            assert_eq!(outcome(check_quota(&[quota], &shape(PodsAsked::default()))).1, expect);
        };
        check("4", "1", "3 agents fit");
        check("4", "1500m", "requests.cpu has 2.5 left in team, the plan needs 3");
        assert!(outcome(check_quota(&[], &shape(PodsAsked::default()))).0);
    }

    #[test]
    fn only_usable_nodes_count() {
        let check = |asked: PodsAsked, change: &dyn Fn(&mut Value), expect: (bool, &str)| {
            let (is_well, text) = outcome(check_nodes(&[node("4", change)], Some(&[]), &shape(asked)));
            assert_eq!(is_well, expect.0, "{text}");
            assert!(text.contains(expect.1), "{text}");
        };
        let tainted = |node: &mut Value| {
            node["spec"]["taints"] = json!([{"key": "dedicated", "value": "load", "effect": "NoSchedule"}]);
        };
        check(
            PodsAsked::default(),
            &|_| {},
            (true, "1 of 1 nodes usable, 4.0 cores free; the plan needs 3.0"),
        );
        let large = PodsAsked { cpu: Some("2".to_owned()), ..PodsAsked::default() };
        check(large, &|_| {}, (false, "2 of 3 agents fit"));
        check(PodsAsked::default(), &tainted, (false, "0 of 3 agents fit"));
        let tolerant =
            PodsAsked { tolerations: vec!["dedicated=load:NoSchedule".to_owned()], ..PodsAsked::default() };
        check(tolerant, &tainted, (true, "1 of 1"));
        let choosy = PodsAsked { node_selector: vec!["pool=other".to_owned()], ..PodsAsked::default() };
        check(choosy, &|_| {}, (false, "0 of 1 nodes usable"));
    }

    #[test]
    fn an_image_is_found_on_nodes_and_in_events() {
        let check = |nodes: &[Value], events: &Value, expect: &str| {
            let text = outcome(check_image(nodes, events, "plimsoll:0.1.0")).1;
            assert!(text.contains(expect), "{text}");
        };
        check(&[node("1", &|_| {})], &json!({}), "present on 1 of 1 nodes");
        let event =
            json!({"reason": "Pulled", "message": "Successfully pulled image \"plimsoll:0.1.0\" in 2s"});
        check(&[], &json!({"items": [event]}), "was pulled by another pod");
        check(&[], &json!({}), "not checkable");
    }
}
