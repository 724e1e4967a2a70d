//! k6's REST API: JSON:API documents (<https://jsonapi.org>), in the shapes of k6 v2.2.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Check, Group, Number};

/// A document with one resource, or with a list of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document<T> {
    /// Its subject.
    pub data: T,
}

/// One thing with a type and an id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resource<A, R = ()> {
    /// `status`, `metrics`, `groups`, `setupData`.
    #[serde(rename = "type", default)]
    pub kind: String,
    /// Its id among those of its type.
    #[serde(default)]
    pub id: String,
    /// Its type.
    pub attributes: A,
    /// Its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relationships: Option<R>,
}

/// How a test stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Status {
    /// See [`Phase`].
    pub status: u8,
    /// It waits for its start, or starts no iterations.
    pub paused: bool,
    /// VUs active now.
    pub vus: u64,
    /// VUs initialised.
    pub vus_max: u64,
    /// It was called off.
    pub stopped: bool,
    /// It is anywhere between the begin of its setup and the end of its teardown.
    pub running: bool,
    /// A threshold is crossed.
    pub tainted: bool,
}

/// Where a test is, by k6's number for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing has begun.
    #[default]
    Created = 0,
    /// VUs are being initialised.
    InitVus = 1,
    /// It waits for a start command.
    PausedBeforeRun = 4,
    /// It has begun.
    Started = 5,
    /// `setup()` runs.
    Setup = 6,
    /// The scenarios run.
    Running = 7,
    /// `teardown()` runs.
    Teardown = 8,
    /// It is over.
    Ended = 9,
}

/// A change of a test; absent fields stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct StatusChange {
    /// Pause, or go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// So many VUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vus: Option<i64>,
    /// So many VUs at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vus_max: Option<i64>,
    /// Call it off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<bool>,
}

/// A metric, or a sub-metric: the id is its name.
pub type Metric = Resource<MetricAttributes>;

/// The value of a metric so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricAttributes {
    /// `counter`, `gauge`, `rate`, `trend`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `default`, `time` (milliseconds), `data` (bytes).
    pub contains: String,
    /// Whether a threshold on it is crossed; `None` without thresholds.
    pub tainted: Option<bool>,
    /// Counter `count`, `rate`; gauge `value`; rate `rate`; trend `avg`, `max`, `med`, `min`, `p(90)`, `p(95)`. `None` is
    /// a quantile that lands among failures without a time.
    pub sample: BTreeMap<String, Option<Number>>,
}

/// A group: the id is that of its path.
pub type GroupResource = Resource<GroupAttributes, GroupRelationships>;

/// A group and its checks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupAttributes {
    /// See [`Group::path`].
    pub path: String,
    /// See [`Group::name`].
    pub name: String,
    /// Its checks; `None` rather than empty.
    pub checks: Option<Vec<CheckAttributes>>,
}

/// A check, its members in this document's order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckAttributes {
    /// See [`crate::path_id`].
    pub id: String,
    /// See [`Check::path`].
    pub path: String,
    /// See [`Check::name`].
    pub name: String,
    /// How often it held.
    pub passes: u64,
    /// How often it did not.
    pub fails: u64,
}

/// Where a group stands among others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupRelationships {
    /// The groups in it.
    pub groups: Document<Vec<Link>>,
    /// The group it is in.
    pub parent: Document<Option<Link>>,
}

/// A resource by its name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Its id.
    pub id: String,
}

/// The result of `setup()`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SetupData {
    /// As JSON; absent where it gave nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// An error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errors {
    /// Each for itself.
    pub errors: Vec<ErrorDetail>,
}

/// One thing that went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorDetail {
    /// The HTTP status, as a text.
    pub status: String,
    /// The kind of error.
    pub title: String,
    /// The error.
    pub detail: String,
}

impl<A, R> Resource<A, R> {
    /// Without relationships.
    pub fn new(kind: &str, id: &str, attributes: A) -> Resource<A, R> {
        Resource { kind: kind.to_owned(), id: id.to_owned(), attributes, relationships: None }
    }
}

/// A tree of groups as a list, each before those in it.
pub fn flatten(root: &Group) -> Vec<GroupResource> {
    const KIND: &str = "groups";
    let link = |group: &Group| Link { kind: KIND, id: group.id.clone() };
    let mut list = Vec::new();
    let mut left = vec![(root, None)];
    while let Some((group, parent)) = left.pop() {
        let attributes = GroupAttributes {
            path: group.path.clone(),
            name: group.name.clone(),
            checks: Some(group.checks.iter().map(CheckAttributes::from_check).collect::<Vec<_>>())
                .filter(|checks| !checks.is_empty()),
        };
        let relationships = GroupRelationships {
            groups: Document { data: group.groups.iter().map(link).collect() },
            parent: Document { data: parent },
        };
        let (kind, id) = (KIND.to_owned(), group.id.clone());
        list.push(Resource { kind, id, attributes, relationships: Some(relationships) });
        left.extend(group.groups.iter().rev().map(|inner| (inner, Some(link(group)))));
    }
    list
}

impl CheckAttributes {
    fn from_check(check: &Check) -> CheckAttributes {
        let Check { id, path, name, passes, fails } = check.clone();
        CheckAttributes { id, path, name, passes, fails }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_those_of_k6() {
        let status =
            Status { status: Phase::Running as u8, vus: 2, vus_max: 3, running: true, ..Status::default() };
        let document = Document { data: Resource::<_, ()>::new("status", "default", status) };
        let expect = r#"{"data":{"type":"status","id":"default","attributes":{"status":7,"paused":false,"vus":2,"vus-max":3,"stopped":false,"running":true,"tainted":false}}}"#;
        assert_eq!(serde_json::to_string(&document).expect("texts and numbers"), expect);
        let change: Document<Resource<StatusChange>> =
            serde_json::from_str(r#"{"data":{"type":"status","attributes":{"vus-max":3,"paused":null}}}"#)
                .expect("k6's shape");
        assert_eq!(change.data.attributes, StatusChange { vus_max: Some(3), ..StatusChange::default() });
    }

    #[test]
    fn groups_are_listed_from_the_root() {
        let group = |name: &str, path: &str, groups| Group {
            name: name.into(),
            path: path.into(),
            id: crate::path_id(path),
            groups,
            checks: Vec::new(),
        };
        let inner = group("c", "::a::c", Vec::new());
        let root = group("", "", vec![group("a", "::a", vec![inner]), group("b", "::b", Vec::new())]);
        let listed = flatten(&root);
        let paths: Vec<&str> = listed.iter().map(|it| it.attributes.path.as_str()).collect();
        assert_eq!(paths, ["", "::a", "::a::c", "::b"]);
        let expect = r#"{"type":"groups","id":"0cc175b9c0f1b6a831c399e269772661","#;
        let text = serde_json::to_string(&listed[1]).expect("texts and numbers");
        assert!(!text.starts_with(expect), "the id is that of the path and not of the name");
        assert!(text.contains(r#""relationships":{"groups":{"data":[{"type":"groups","id":""#), "{text}");
        assert!(
            text.ends_with(
                r#""parent":{"data":{"type":"groups","id":"d41d8cd98f00b204e9800998ecf8427e"}}}}"#
            )
        );
    }
}
