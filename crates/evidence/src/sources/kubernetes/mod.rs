//! Kubernetes, through its API server: pods, autoscalers and their events.
//!
//! Plain HTTP and JSON suffice for five lists, and are much lighter than a client of the whole API. The source reads one namespace
//! and never writes; a Role in that namespace is enough. The tests use responses built from the published API, as of
//! Kubernetes 1.34 (core/v1, apps/v1, autoscaling/v2) and KEDA 2.18 (keda.sh/v1alpha1), not a real server. Names and
//! structures follow k8s.io/api 0.37.0-beta.0 and KEDA's types.

mod objects;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::Duration;

use model::{Evidence, Instant, Record, RecordKind, Signal, SystemClock};
use serde_json::Value;

use super::Kind;
use crate::contract::{About, Check, ErrorKind, Moment, Period, Source, SourceError};
use crate::gathered::Gathered;
use crate::http::{self, Client};
use crate::settings::{Settings, SettingsError};

/// This kind of source.
pub(super) const KIND: Kind = Kind {
    name: "kubernetes",
    provides: "Kubernetes: replicas, restarts, killed containers, scaling events, limits and images of one namespace.",
    example: "https://127.0.0.1:6443",
    settings: &[
        ("namespace", "namespace [default: default; the pod's own with the address in-cluster]"),
        ("ca", "PEM file of the API server's certificate authority"),
        ("step", "interval between queries [default: 5s]"),
    ],
    open,
};

/// The address that selects the service account of the pod.
const IN_CLUSTER: &str = "in-cluster";
const IN_CLUSTER_URL: &str = "https://kubernetes.default.svc";
const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Default and minimum interval between queries.
const STEP: Duration = Duration::from_secs(5);
const STEP_MIN: Duration = Duration::from_secs(1);
/// Timeout of a query, and latest start of a further one within a call: their sum stays below [`crate::contract::CALL_LIMIT`].
const QUESTION_LIMIT: Duration = Duration::from_secs(2);
const BEGIN_LIMIT: Duration = Duration::from_millis(7_500);

/// Number of objects per page of a list.
const PAGE_OBJECTS: &str = "250";
const OBJECTS_MAX: usize = 2_000;
/// Maximum number of series of a namespace.
const SERIES_MAX: usize = 2_000;
/// Maximum number of events of one run.
const HAPPENINGS_MAX: usize = 1_000;

/// A list of objects.
#[derive(Clone, Copy, Debug)]
struct List {
    /// Name of the resource in a Role.
    name: &'static str,
    group: &'static str,
    /// API path before `namespaces/NAME`.
    root: &'static str,
    /// Whether the source is useless without it.
    is_needed: bool,
}

const PODS: List = List { name: "pods", group: "", root: "/api/v1", is_needed: true };
const EVENTS: List = List { name: "events", group: "", root: "/api/v1", is_needed: false };
const DEPLOYMENTS: List =
    List { name: "deployments", group: "apps", root: "/apis/apps/v1", is_needed: false };
const AUTOSCALERS: List = List {
    name: "horizontalpodautoscalers",
    group: "autoscaling",
    root: "/apis/autoscaling/v2",
    is_needed: false,
};
const SCALED_OBJECTS: List =
    List { name: "scaledobjects", group: "keda.sh", root: "/apis/keda.sh/v1alpha1", is_needed: false };
const LISTS: [List; 5] = [PODS, EVENTS, DEPLOYMENTS, AUTOSCALERS, SCALED_OBJECTS];

struct Kubernetes {
    about: About,
    client: Client,
    namespace: String,
    step: Duration,
    gathered: Gathered,
    /// Start of the run on the wall clock.
    begun_ns: Option<i64>,
    evidence: HashSet<String>,
    beyond: u64,
    /// Lists that could not be read, with the reasons.
    troubles: BTreeMap<&'static str, String>,
}

fn open(settings: &Settings) -> Result<Box<dyn Source>, SettingsError> {
    let is_inside = settings.address == IN_CLUSTER;
    let address = if is_inside { IN_CLUSTER_URL } else { &settings.address };
    let (base, _) = http::address(address).map_err(|why| settings.wrong("address", why))?;
    let own = |name: &str| std::fs::read_to_string(Path::new(ACCOUNT).join(name)).ok().filter(|_| is_inside);
    let token = settings.credential.clone().or_else(|| own("token"));
    let token = token.map(|token| token.trim().to_owned());
    let authorization = http::authorization(None, token.as_deref());
    let ca = match settings.values.get("ca") {
        Some(path) => {
            let read = std::fs::read(path);
            Some(read.map_err(|error| settings.wrong("ca", &format!("the file cannot be read: {error}")))?)
        }
        None => own("ca.crt").map(String::into_bytes),
    };
    let client = match ca {
        Some(pem) => Client::trusting(&base, authorization, QUESTION_LIMIT, &pem)
            .map_err(|why| settings.wrong("ca", why))?,
        None => Client::patient(&base, authorization, QUESTION_LIMIT),
    };
    let own_namespace = own("namespace").unwrap_or_else(|| "default".to_owned());
    let namespace = settings.text("namespace", own_namespace.trim());
    let is_name = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-';
    if namespace.is_empty() || !namespace.chars().all(is_name) {
        return Err(settings.wrong("namespace", "expected the name of a namespace"));
    }
    let step = settings.duration("step", STEP)?;
    if step < STEP_MIN {
        return Err(settings.wrong("step", "the minimum is 1s"));
    }
    Ok(Box::new(Kubernetes {
        about: About { name: settings.name.clone(), kind: KIND.name, address: format!("{base} {namespace}") },
        client,
        namespace,
        step,
        gathered: Gathered::new(SERIES_MAX),
        begun_ns: None,
        evidence: HashSet::new(),
        beyond: 0,
        troubles: BTreeMap::new(),
    }))
}

impl Source for Kubernetes {
    fn about(&self) -> About {
        self.about.clone()
    }

    fn probe(&mut self) -> Vec<Check> {
        let begun = SystemClock::now();
        let mut checks = Vec::new();
        for list in LISTS {
            checks.push(match self.list(&list, begun) {
                Ok(objects) => Check::works(list.name, format!("{}", objects.len())),
                Err(error) if error.kind == ErrorKind::NotFound && !list.is_needed => {
                    Check::works(list.name, "not used in this cluster")
                }
                Err(SourceError { kind, message: why }) => {
                    let remedy = if kind == ErrorKind::Forbidden {
                        role(&self.namespace)
                    } else {
                        "set address to the API server (kubectl cluster-info), ca to its certificate authority, and provide a token".to_owned()
                    };
                    match list.is_needed {
                        true => Check::fails(list.name, why, remedy),
                        false => Check::lacks(list.name, why, remedy),
                    }
                }
            });
            if checks.iter().any(|check| check.outcome.as_ref().is_err_and(|missing| missing.is_fatal)) {
                break;
            }
        }
        checks
    }

    fn period(&self) -> Option<Duration> {
        Some(self.step)
    }

    fn sample(&mut self, now: Moment) -> Result<Evidence, SourceError> {
        let begun = SystemClock::now();
        let begun_ns = *self.begun_ns.get_or_insert(now.wall_ns);
        let pods = self.list(&PODS, begun)?;
        let deployments = self.optional(&DEPLOYMENTS, begun);
        let scalers = self.optional(&AUTOSCALERS, begun);
        let events = self.optional(&EVENTS, begun);
        let levels = [
            (&PODS, objects::pods(&pods)),
            (&DEPLOYMENTS, objects::deployments(&deployments)),
            (&AUTOSCALERS, objects::scalers(&scalers)),
        ];
        for (list, levels) in levels {
            for level in levels {
                let signal = self.signal(list, level, now.at);
                self.gathered.add(signal);
            }
        }
        let happened = objects::killed(&pods).into_iter().chain(objects::events(&events));
        // Current events carry their own time, which may be after now by the difference of the clocks.
        let records = self.happenings(happened.collect(), begun_ns, i64::MAX, |wall_ns| {
            let ago_ns = u64::try_from(now.wall_ns.saturating_sub(wall_ns)).unwrap_or(0);
            Instant::from_ns(now.at.as_ns().saturating_sub(ago_ns))
        });
        Ok(Evidence { signals: self.gathered.take_due(now.at), records, ..Evidence::default() })
    }

    fn look_back(&mut self, period: &Period) -> Result<Evidence, SourceError> {
        let begun = SystemClock::now();
        let signals = self.gathered.take();
        let asked = match self.list(&PODS, begun) {
            Ok(pods) => pods,
            // Signals collected before the failure are kept, and the failure is reported with them.
            Err(trouble) if !signals.is_empty() => {
                self.troubles.insert(PODS.name, trouble.message);
                Vec::new()
            }
            Err(trouble) => return Err(trouble),
        };
        let [events, deployments, scalers, scaled] =
            [EVENTS, DEPLOYMENTS, AUTOSCALERS, SCALED_OBJECTS].map(|list| self.optional(&list, begun));
        let happened = objects::killed(&asked).into_iter().chain(objects::events(&events));
        let (from_ns, to_ns) = (period.from.wall_ns, period.to.wall_ns);
        let mut records =
            self.happenings(happened.collect(), from_ns, to_ns, |wall_ns| period.instant(wall_ns));
        let configured = objects::configured_deployments(&deployments)
            .into_iter()
            .chain(objects::configured_scalers(&scalers))
            .chain(objects::configured_scaled_objects(&scaled));
        let record =
            |(subject, fields)| self.record(RecordKind::Configuration, period.to.at, subject, fields);
        records.extend(configured.map(record));
        records.extend(self.left_out(period.to.at));
        Ok(Evidence { signals, records, ..Evidence::default() })
    }
}

impl Kubernetes {
    /// Requests the objects of a list, page by page.
    fn list(&mut self, list: &List, begun: Instant) -> Result<Vec<Value>, SourceError> {
        let path = self.path(list);
        let (mut objects, mut next) = (Vec::new(), String::new());
        loop {
            if SystemClock::now().since(begun) > BEGIN_LIMIT {
                return Err(SourceError::new(format!(
                    "the time limit was reached before {} was queried",
                    list.name
                )));
            }
            let mut parameters = vec![("limit", PAGE_OBJECTS)];
            if !next.is_empty() {
                parameters.push(("continue", &next));
            }
            let mut answer = self.client.json(&path, &parameters)?;
            let Some(items) = answer.get_mut("items").and_then(Value::as_array_mut) else {
                return Err(SourceError::new(format!("{path}: expected a JSON list")));
            };
            objects.append(items);
            next = answer["metadata"]["continue"].as_str().unwrap_or_default().to_owned();
            if next.is_empty() {
                return Ok(objects);
            }
            if objects.len() >= OBJECTS_MAX {
                let more = answer["metadata"]["remainingItemCount"].as_u64().unwrap_or(1);
                self.beyond = self.beyond.max(more);
                return Ok(objects);
            }
        }
    }

    /// Requests the objects of an optional list; an error is remembered.
    fn optional(&mut self, list: &List, begun: Instant) -> Vec<Value> {
        match self.list(list, begun) {
            Ok(objects) => objects,
            Err(error) => {
                if error.kind != ErrorKind::NotFound {
                    self.troubles.insert(list.name, error.message);
                }
                Vec::new()
            }
        }
    }

    fn path(&self, list: &List) -> String {
        format!("{}/namespaces/{}/{}", list.root, self.namespace, list.name)
    }

    fn signal(&self, list: &List, level: objects::Level, at: Instant) -> Signal {
        let mut labels = level.labels;
        labels.insert("namespace".to_owned(), self.namespace.clone());
        Signal {
            source: self.about.name.clone(),
            name: level.signal.into(),
            labels,
            unit: level.signal.unit().to_owned(),
            query: format!("GET {}", self.path(list)),
            step: self.step,
            points: vec![(at, level.value)],
        }
    }

    /// Returns events within a period that are not reported yet.
    fn happenings(
        &mut self,
        happened: Vec<objects::Happened>,
        from_ns: i64,
        to_ns: i64,
        at: impl Fn(i64) -> Instant,
    ) -> Vec<Record> {
        let mut records = Vec::new();
        for one in happened.into_iter().filter(|one| (from_ns..=to_ns).contains(&one.wall_ns)) {
            if self.evidence.contains(&one.identity) {
                continue;
            }
            if self.evidence.len() >= HAPPENINGS_MAX {
                self.beyond += 1;
                continue;
            }
            self.evidence.insert(one.identity);
            records.push(self.record(RecordKind::Happening, at(one.wall_ns), one.subject, one.fields));
        }
        records
    }

    fn left_out(&self, at: Instant) -> Vec<Record> {
        let troubles = self.troubles.iter().map(|(list, why)| {
            let fields = BTreeMap::from([("why".to_owned(), why.as_str().into())]);
            self.record(RecordKind::Warning, at, format!("{list} cannot be listed"), fields)
        });
        let beyond = (self.beyond + self.gathered.dropped > 0).then(|| {
            let fields = BTreeMap::from([
                ("objects".to_owned(), (self.beyond as f64).into()),
                ("points".to_owned(), (self.gathered.dropped as f64).into()),
            ]);
            self.record(
                RecordKind::Warning,
                at,
                "limits reached: some objects or points were left out".to_owned(),
                fields,
            )
        });
        troubles.chain(beyond).collect()
    }

    fn record(&self, kind: RecordKind, at: Instant, subject: String, fields: objects::Fields) -> Record {
        Record { source: self.about.name.clone(), kind, at, subject, fields }
    }
}

/// Returns the Role with exactly the permissions needed.
fn role(namespace: &str) -> String {
    let rules: String = LISTS
        .iter()
        .map(|list| {
            format!("- {{ apiGroups: [\"{}\"], resources: [{}], verbs: [list] }}\n", list.group, list.name)
        })
        .collect();
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{ name: plimsoll, namespace: {namespace} }}\n\
         rules:\n{rules}---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\n\
         metadata: {{ name: plimsoll, namespace: {namespace} }}\n\
         roleRef: {{ apiGroup: rbac.authorization.k8s.io, kind: Role, name: plimsoll }}\n\
         subjects: [{{ kind: ServiceAccount, name: plimsoll, namespace: {namespace} }}]\n"
    )
}

#[cfg(test)]
mod tests;
