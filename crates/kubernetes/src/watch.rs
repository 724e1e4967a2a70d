//! The state of a run's pods, read from the API server's answers: the reasons that keep agents from starting, and failed agents.
//!
//! [`Watch::step`] takes one [`Snapshot`] and gives what is new. It requests nothing and reads no clock.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::objects::Shape;

/// Maximum length of a reason, characters.
const REASON_CHARS_MAX: usize = 400;

/// The API server's answers at one time.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The Job; `None` if there is none.
    pub job: Option<Value>,
    /// Its pods.
    pub pods: Vec<Value>,
    /// Events of the Job and its pods; empty where they cannot be read.
    pub events: Vec<Value>,
}

/// Agents that cannot start for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Number of agents.
    pub agents: usize,
    /// The reason, as the cluster gives it.
    pub why: String,
}

/// One thing that is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The reasons that keep agents from starting now, in place of the earlier ones; empty once there are none.
    Obstacles(Vec<Obstacle>),
    /// The pod of an agent ended before the test did. The Job may start another one.
    Failed {
        /// Index of the agent.
        index: u32,
        /// The reason.
        why: String,
    },
    /// The Job starts no further pod for an agent.
    GivenUp {
        /// Index of the agent.
        index: u32,
        /// The reason.
        why: String,
    },
    /// The Job was deleted by someone else.
    Deleted,
}

/// Remembers what was reported.
#[derive(Debug)]
pub struct Watch {
    name: String,
    agents: u32,
    image: String,
    memory: String,
    obstacles: Vec<Obstacle>,
    /// Pods that were seen without an end: by identifier, their index.
    live: BTreeMap<String, u32>,
    /// Pods whose failure was reported.
    ended: BTreeSet<String>,
    /// By index: the last reason of a failure.
    failures: BTreeMap<u32, String>,
    given_up: BTreeSet<u32>,
    is_deleted: bool,
}

impl Watch {
    /// The watch of a Job that was just created.
    pub fn new(shape: &Shape) -> Watch {
        Watch {
            name: shape.name.clone(),
            agents: shape.agents,
            image: shape.pods.image.clone(),
            memory: shape.pods.memory.clone(),
            obstacles: Vec::new(),
            live: BTreeMap::new(),
            ended: BTreeSet::new(),
            failures: BTreeMap::new(),
            given_up: BTreeSet::new(),
            is_deleted: false,
        }
    }

    /// Takes a snapshot and gives what is new.
    pub fn step(&mut self, snapshot: &Snapshot) -> Vec<Notice> {
        let Some(job) = &snapshot.job else {
            let is_news = !std::mem::replace(&mut self.is_deleted, true);
            return is_news.then_some(Notice::Deleted).into_iter().collect();
        };
        let mut notices = self.failed_pods(&snapshot.pods);
        notices.extend(self.given_up(job));
        let obstacles = self.obstacles_of(job, snapshot);
        if obstacles != self.obstacles {
            self.obstacles.clone_from(&obstacles);
            notices.push(Notice::Obstacles(obstacles));
        }
        notices
    }

    /// Pods that have failed, or vanished without an end.
    fn failed_pods(&mut self, pods: &[Value]) -> Vec<Notice> {
        let mut notices = Vec::new();
        let mut before = std::mem::take(&mut self.live);
        for pod in pods {
            let (Some(uid), Some(index)) = (pod["metadata"]["uid"].as_str(), index_of(pod)) else { continue };
            before.remove(uid);
            match pod["status"]["phase"].as_str() {
                Some("Failed") if self.ended.insert(uid.to_owned()) => {
                    notices.push(self.fail(index, reason_of_failure(pod, &self.memory)));
                }
                Some("Failed" | "Succeeded") => {}
                _ => drop(self.live.insert(uid.to_owned(), index)),
            }
        }
        for index in before.into_values() {
            notices.push(self.fail(index, "its pod was deleted".to_owned()));
        }
        notices
    }

    fn fail(&mut self, index: u32, why: String) -> Notice {
        self.failures.insert(index, why.clone());
        Notice::Failed { index, why }
    }

    /// Agents that get no further pod.
    fn given_up(&mut self, job: &Value) -> Vec<Notice> {
        let status = &job["status"];
        let failed = condition(status, "Failed").or_else(|| condition(status, "FailureTarget"));
        let indexes = match failed {
            // Indexes that have completed are over as well, and their agents are no longer waited for.
            Some(_) => (0..self.agents).collect(),
            None => indexes(status["failedIndexes"].as_str().unwrap_or_default(), self.agents),
        };
        let of_job = failed.map(|it| message(it).unwrap_or_else(|| "the Job failed".to_owned()));
        let news: Vec<u32> = indexes.into_iter().filter(|index| self.given_up.insert(*index)).collect();
        let why = |index: &u32| self.failures.get(index).cloned().or_else(|| of_job.clone());
        let notice = |index: u32| Notice::GivenUp {
            index,
            why: why(&index).unwrap_or_else(|| "its pods failed".to_owned()),
        };
        news.into_iter().map(notice).collect()
    }

    fn obstacles_of(&self, job: &Value, snapshot: &Snapshot) -> Vec<Obstacle> {
        let mut counts = BTreeMap::<String, usize>::new();
        let mut present = BTreeSet::new();
        for pod in &snapshot.pods {
            let phase = pod["status"]["phase"].as_str().unwrap_or_default();
            if phase != "Failed" {
                present.extend(index_of(pod));
            }
            if let Some(why) = self.obstacle_of_pod(pod, phase, &snapshot.events) {
                *counts.entry(shown(&why)).or_default() += 1;
            }
        }
        let of_job = self.obstacle_of_job(job, &snapshot.events);
        let is_missing = |index: &u32| !present.contains(index) && !self.given_up.contains(index);
        for index in (0..self.agents).filter(is_missing) {
            // The Job waits before it starts another pod for an agent that failed.
            if let Some(why) = of_job.as_ref().or_else(|| self.failures.get(&index)) {
                *counts.entry(shown(why)).or_default() += 1;
            }
        }
        counts.into_iter().map(|(why, agents)| Obstacle { agents, why }).collect()
    }

    /// The reason for which the Job has no pod for an agent.
    fn obstacle_of_job(&self, job: &Value, events: &[Value]) -> Option<String> {
        if let Some(suspended) = condition(&job["status"], "Suspended") {
            let queue = job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"].as_str();
            let Some(queue) = queue else { return message(suspended) };
            let news = latest(events, |event| is_about(event, "Job", &self.name));
            let news = news.and_then(|event| event["message"].as_str());
            let colon = if news.is_some() { ": " } else { "" };
            return Some(format!(
                "the queue {queue} has not admitted the Job{colon}{}",
                news.unwrap_or_default()
            ));
        }
        let event =
            latest(events, |event| is_about(event, "Job", &self.name) && event["reason"] == "FailedCreate")?;
        let text = event["message"].as_str()?;
        let text = text.strip_prefix("Error creating: ").unwrap_or(text);
        // The name of the pod is random, and there is no such pod.
        let text = text
            .strip_prefix("pods \"")
            .and_then(|text| text.split_once("\" is "))
            .map_or(text, |(_, text)| text);
        Some(format!("the pod cannot be created: {text}"))
    }

    fn obstacle_of_pod(&self, pod: &Value, phase: &str, events: &[Value]) -> Option<String> {
        let status = &pod["status"];
        let name = pod["metadata"]["name"].as_str().unwrap_or_default();
        let of_event = |reasons: &[&str]| {
            let is_one =
                |event: &Value| event["reason"].as_str().is_some_and(|reason| reasons.contains(&reason));
            let event = latest(events, |event| is_about(event, "Pod", name) && is_one(event));
            event.and_then(|event| event["message"].as_str()).map(str::to_owned)
        };
        if phase == "Running" {
            let is_silent = status["conditions"].as_array().into_iter().flatten().any(|condition| {
                condition["type"] == "Ready"
                    && condition["status"] == "False"
                    && condition["reason"] == "NodeNotReady"
            });
            let silent = is_silent.then(|| "its node does not report".to_owned());
            return silent
                .or_else(|| of_event(&["NodeNotReady"]).map(|_| "its node does not report".to_owned()));
        }
        if phase != "Pending" {
            return None;
        }
        if let Some(condition) = unscheduled(status) {
            let why = message(condition).or_else(|| condition["reason"].as_str().map(str::to_owned))?;
            return Some(format!("no node fits: {why}"));
        }
        let waiting = &status["containerStatuses"][0]["state"]["waiting"];
        let said = waiting["message"].as_str().unwrap_or_default();
        match waiting["reason"].as_str().unwrap_or_default() {
            "ErrImagePull" | "ImagePullBackOff" | "InvalidImageName" | "ErrImageNeverPull"
            | "ImageInspectError" => {
                let said = of_event(&["Failed"])
                    .filter(|_| said.is_empty() || said.starts_with("Back-off"))
                    .unwrap_or(said.to_owned());
                Some(format!("the image {} cannot be pulled: {said}", self.image))
            }
            reason @ ("CreateContainerConfigError" | "CreateContainerError" | "RunContainerError") => {
                Some(format!("the container cannot be created: {reason}: {said}"))
            }
            _ => of_event(&["FailedMount", "FailedCreatePodSandBox", "NetworkNotReady"])
                .map(|text| format!("the pod cannot be set up: {text}")),
        }
    }
}

/// The index of the agent that runs in a pod.
fn index_of(pod: &Value) -> Option<u32> {
    let of = |place: &str| pod["metadata"][place]["batch.kubernetes.io/job-completion-index"].as_str();
    of("annotations").or_else(|| of("labels"))?.parse().ok()
}

/// The reason for which a pod failed.
fn reason_of_failure(pod: &Value, memory: &str) -> String {
    let status = &pod["status"];
    let terminated = &status["containerStatuses"][0]["state"]["terminated"];
    if terminated["reason"] == "OOMKilled" {
        return format!("out of memory (OOMKilled) with {memory}: raise --agent-memory, or use more agents");
    }
    if let Some(disrupted) = condition(status, "DisruptionTarget") {
        let reason = disrupted["reason"].as_str().unwrap_or("DisruptionTarget");
        return shown(&format!("evicted ({reason}): {}", message(disrupted).unwrap_or_default()));
    }
    if let Some(code) = terminated["exitCode"].as_i64() {
        let said = terminated["message"]
            .as_str()
            .and_then(|text| text.lines().rfind(|line| !line.trim().is_empty()));
        let reason =
            terminated["reason"].as_str().filter(|reason| *reason != "Error" && *reason != "Completed");
        let parts: Vec<String> = [reason, said].into_iter().flatten().map(str::to_owned).collect();
        let colon = if parts.is_empty() { "" } else { ": " };
        return shown(&format!("its pod ended with exit code {code}{colon}{}", parts.join(": ")));
    }
    let text = |field: &str| status[field].as_str().unwrap_or_default();
    shown(&format!("its pod failed: {} {}", text("reason"), text("message")))
}

fn unscheduled(status: &Value) -> Option<&Value> {
    let conditions = status["conditions"].as_array()?;
    conditions.iter().find(|it| it["type"] == "PodScheduled" && it["status"] == "False")
}

/// A condition that holds.
fn condition<'a>(status: &'a Value, kind: &str) -> Option<&'a Value> {
    let conditions = status["conditions"].as_array()?;
    conditions.iter().find(|it| it["type"] == kind && it["status"] == "True")
}

fn message(condition: &Value) -> Option<String> {
    condition["message"].as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn is_about(event: &Value, kind: &str, name: &str) -> bool {
    let object = &event["involvedObject"];
    object["kind"] == kind && object["name"] == name
}

/// The latest of some events. Times are RFC 3339 in UTC, which sort as text.
fn latest(events: &[Value], is_wanted: impl Fn(&Value) -> bool) -> Option<&Value> {
    let time = |event: &&Value| {
        let times =
            ["lastTimestamp", "eventTime"].map(|field| event[field].as_str().unwrap_or_default().to_owned());
        times.into_iter().max().unwrap_or_default()
    };
    events.iter().filter(|event| is_wanted(event)).max_by_key(time)
}

/// Parses a list of indexes such as `1,3-5`.
fn indexes(text: &str, agents: u32) -> Vec<u32> {
    let part = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?);
        Some(first..=last.min(agents.saturating_sub(1)))
    };
    text.split(',').filter_map(part).flatten().collect()
}

/// A text of the cluster on one line, within a limit.
fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.trim_end_matches([' ', ':']).chars().take(REASON_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::objects::PodsAsked;
    use crate::objects::tests::shape;

    fn pod(uid: &str, index: u32, status: &Value) -> Value {
        let annotations = json!({"batch.kubernetes.io/job-completion-index": index.to_string()});
        json!({"metadata": {"uid": uid, "name": uid, "annotations": annotations}, "status": status})
    }

    fn watch() -> Watch {
        Watch::new(&shape(PodsAsked::default()))
    }

    fn step(watch: &mut Watch, pods: Vec<Value>) -> Vec<Notice> {
        watch.step(&Snapshot { job: Some(json!({})), pods, events: Vec::new() })
    }

    #[test]
    fn equal_obstacles_are_counted_and_reported_once() {
        let unscheduled = |uid, index| {
            let condition = json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                                   "message": "0/1 nodes are available: 1 Insufficient cpu."});
            pod(uid, index, &json!({"phase": "Pending", "conditions": [condition]}))
        };
        let pods = vec![unscheduled("a", 0), unscheduled("b", 1), pod("c", 2, &json!({"phase": "Running"}))];
        let mut watch = watch();
        let why = "no node fits: 0/1 nodes are available: 1 Insufficient cpu.".to_owned();
        assert_eq!(step(&mut watch, pods.clone()), [Notice::Obstacles(vec![Obstacle { agents: 2, why }])]);
        assert_eq!(step(&mut watch, pods), []);
        let running =
            (0..3).map(|index| pod(["a", "b", "c"][index as usize], index, &json!({"phase": "Running"})));
        assert_eq!(step(&mut watch, running.collect()), [Notice::Obstacles(Vec::new())]);
    }

    #[test]
    fn a_failed_pod_is_reported_once_and_its_successor_anew() {
        let mut watch = watch();
        let killed = json!({"phase": "Failed", "containerStatuses": [{"state": {"terminated":
            {"exitCode": 137, "reason": "OOMKilled"}}}]});
        let expect =
            "out of memory (OOMKilled) with 1Gi: raise --agent-memory, or use more agents".to_owned();
        let pods = vec![pod("a", 1, &killed)];
        let waits = Notice::Obstacles(vec![Obstacle { agents: 1, why: expect.clone() }]);
        assert_eq!(step(&mut watch, pods.clone()), [Notice::Failed { index: 1, why: expect.clone() }, waits]);
        assert_eq!(step(&mut watch, pods), []);
        let pods = vec![pod("a", 1, &killed), pod("b", 1, &killed)];
        assert_eq!(step(&mut watch, pods), [Notice::Failed { index: 1, why: expect }]);
    }

    #[test]
    fn a_pod_that_vanishes_has_failed() {
        let mut watch = watch();
        assert_eq!(step(&mut watch, vec![pod("a", 0, &json!({"phase": "Running"}))]), []);
        let why = "its pod was deleted".to_owned();
        let waits = Notice::Obstacles(vec![Obstacle { agents: 1, why: why.clone() }]);
        assert_eq!(step(&mut watch, Vec::new()), [Notice::Failed { index: 0, why }, waits]);
        assert_eq!(step(&mut watch, Vec::new()), []);
    }

    #[test]
    fn indexes_of_a_job_are_given_up_once() {
        let mut watch = watch();
        let snapshot = |status| Snapshot { job: Some(json!({ "status": status })), ..Snapshot::default() };
        let of = |notices: Vec<Notice>| -> Vec<u32> {
            let index = |notice| match notice {
                Notice::GivenUp { index, .. } => Some(index),
                _ => None,
            };
            notices.into_iter().filter_map(index).collect()
        };
        assert_eq!(of(watch.step(&snapshot(json!({"failedIndexes": "1"})))), [1]);
        let failed = json!([{"type": "Failed", "status": "True", "message": "too many"}]);
        assert_eq!(of(watch.step(&snapshot(json!({"failedIndexes": "1", "conditions": failed})))), [0, 2]);
        assert_eq!(watch.step(&Snapshot::default()), [Notice::Deleted]);
        assert_eq!(watch.step(&Snapshot::default()), []);
    }

    #[test]
    fn lists_of_indexes_are_bounded() {
        let check = |text: &str, expect: &[u32]| assert_eq!(indexes(text, 6), expect, "{text}");
        check("", &[]);
        check("1,3-5", &[1, 3, 4, 5]);
        check("0-4294967295", &[0, 1, 2, 3, 4, 5]);
        check("x,2", &[2]);
    }
}
