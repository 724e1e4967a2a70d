//! `/requests`: requests by scenario, group and endpoint.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use api::page::{Phase, RequestNode, RequestStats, Requests, StatusCount};
use model::metric::builtin::{
    HTTP_REQ_BLOCKED, HTTP_REQ_CONNECTING, HTTP_REQ_DURATION, HTTP_REQ_FAILED, HTTP_REQ_LOOKING_UP,
    HTTP_REQ_RECEIVING, HTTP_REQ_SENDING, HTTP_REQ_TLS_HANDSHAKING, HTTP_REQ_WAITING, HTTP_REQS,
};
use model::plan::TimeUnit;
use model::{Aggregate, MetricId, TagSet, Trend, ValueKind, Window};
use runfile::Reader;
use server::PageError;

use super::scope::Scope;
use super::tags::TagFilter;
use super::values;
use super::{add, json};

/// Maximum number of endpoints listed separately: those with the most requests. More result from ids in URLs.
const ENDPOINTS_MAX: usize = 1_000;

/// Maximum depth of nested groups; deeper ones count for their ancestor at this depth.
const DEPTH_MAX: usize = 16;

/// Maximum number of scenarios and groups listed separately; others count for the group that contains them.
const BRANCHES_MAX: usize = 2_000;

/// Phases of a request, in order.
const PHASES: [(MetricId, &str); 7] = [
    (HTTP_REQ_BLOCKED, "blocked"),
    (HTTP_REQ_LOOKING_UP, "lookingUp"),
    (HTTP_REQ_CONNECTING, "connecting"),
    (HTTP_REQ_TLS_HANDSHAKING, "tls"),
    (HTTP_REQ_SENDING, "sending"),
    (HTTP_REQ_WAITING, "waiting"),
    (HTTP_REQ_RECEIVING, "receiving"),
];

/// The position of requests in the tree: names from the root, and the endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Place {
    scenario: String,
    group: String,
    method: String,
    name: String,
}

impl Place {
    fn from_tags(set: &TagSet) -> Place {
        let tag = |name| set.get(name).unwrap_or_default().to_owned();
        Place { scenario: tag("scenario"), group: tag("group"), method: tag("method"), name: tag("name") }
    }
}

/// The sum of some requests.
#[derive(Clone, Debug, Default)]
struct Cell {
    requests: u64,
    failed: u64,
    duration: Trend,
    phases: [Trend; PHASES.len()],
    statuses: BTreeMap<(String, String), (u64, u64)>,
}

impl Cell {
    fn add(&mut self, metric: MetricId, set: &TagSet, aggregate: &Aggregate) {
        let tag = |name| set.get(name).unwrap_or_default().to_owned();
        match aggregate {
            Aggregate::Counter(counter) if metric == HTTP_REQS => {
                add(&mut self.requests, counter.count);
                let status = self.statuses.entry((tag("status"), tag("error_code"))).or_default();
                add(&mut status.0, counter.count);
            }
            Aggregate::Rate(rate) if metric == HTTP_REQ_FAILED => {
                add(&mut self.failed, rate.passes);
                let status = self.statuses.entry((tag("status"), tag("error_code"))).or_default();
                add(&mut status.1, rate.passes);
            }
            Aggregate::Trend(trend) if metric == HTTP_REQ_DURATION => self.duration.merge(trend),
            Aggregate::Trend(trend) => {
                if let Some(place) = PHASES.iter().position(|phase| phase.0 == metric) {
                    self.phases[place].merge(trend);
                }
            }
            _ => {}
        }
    }

    fn merge(&mut self, other: &Cell) {
        add(&mut self.requests, other.requests);
        add(&mut self.failed, other.failed);
        self.duration.merge(&other.duration);
        self.phases.iter_mut().zip(&other.phases).for_each(|(sum, part)| sum.merge(part));
        for (status, (count, failed)) in &other.statuses {
            let known = self.statuses.entry(status.clone()).or_default();
            add(&mut known.0, *count);
            add(&mut known.1, *failed);
        }
    }
}

pub(super) fn answer(scope: &Scope) -> Result<String, PageError> {
    let (window, elapsed) = scope.sum()?;
    json(&tree(&scope.reader, window, elapsed, scope.time_unit()))
}

/// Builds the tree from summed requests.
pub(super) fn tree(reader: &Reader, window: &Window, elapsed: Duration, unit: Option<TimeUnit>) -> Requests {
    let mut cells: Vec<(Place, Cell)> = cells(reader, window).into_iter().collect();
    cells.sort_by(|a, b| (Reverse(a.1.requests), &a.0).cmp(&(Reverse(b.1.requests), &b.0)));
    let mut total = Cell::default();
    cells.iter().for_each(|(_, cell)| total.merge(cell));
    let shape = Shape { seconds: elapsed.as_secs_f64(), unit, time_ms: total.duration.sum().value() };
    let statuses: BTreeSet<String> = total.statuses.keys().map(|(status, _)| status.clone()).collect();
    let left_out = cells.len().saturating_sub(ENDPOINTS_MAX);
    let (mut root, mut branches_left) = (Branch::default(), BRANCHES_MAX);
    for (number, (place, cell)) in cells.into_iter().enumerate() {
        root.add(&place, cell, number < ENDPOINTS_MAX, &mut branches_left);
    }
    Requests {
        metric: "http_req_duration".to_owned(),
        total: (total.requests > 0).then(|| shape.node("total", "", "", &[], &total, Vec::new())),
        nodes: root.scenarios(&shape),
        left_out: left_out as u64,
        statuses: statuses.into_iter().collect(),
    }
}

/// Returns the `tags` filters of the busiest endpoints.
pub(super) fn busiest(scope: &Scope, count: usize) -> Result<Vec<String>, PageError> {
    let mut cells: Vec<(Place, Cell)> = cells(&scope.reader, scope.sum()?.0).into_iter().collect();
    cells.sort_by(|a, b| (Reverse(a.1.requests), &a.0).cmp(&(Reverse(b.1.requests), &b.0)));
    Ok(cells.iter().take(count).map(|(place, _)| endpoint_tags(place)).collect())
}

fn cells(reader: &Reader, window: &Window) -> HashMap<Place, Cell> {
    let mut cells: HashMap<Place, Cell> = HashMap::new();
    let is_known = |metric: MetricId| {
        [HTTP_REQS, HTTP_REQ_FAILED, HTTP_REQ_DURATION].contains(&metric)
            || PHASES.iter().any(|phase| phase.0 == metric)
    };
    for (key, aggregate) in window.series.iter().filter(|(key, _)| is_known(key.metric)) {
        let set = reader.tags().get(key.tags);
        cells.entry(Place::from_tags(&set)).or_default().add(key.metric, &set, aggregate);
    }
    cells
}

fn endpoint_tags(place: &Place) -> String {
    let tags = [
        ("scenario", place.scenario.as_str()),
        ("group", place.group.as_str()),
        ("method", place.method.as_str()),
        ("name", place.name.as_str()),
    ];
    TagFilter::from_tags(&tags).text()
}

/// A branch of the tree under construction.
#[derive(Debug, Default)]
struct Branch {
    cell: Cell,
    /// Groups by name, or scenarios.
    branches: BTreeMap<String, Branch>,
    leaves: Vec<(Place, Cell)>,
}

impl Branch {
    /// Adds requests at their place; with `is_leaf` as an endpoint of their own. `branches_left` limits new branches.
    fn add(&mut self, place: &Place, cell: Cell, is_leaf: bool, branches_left: &mut usize) {
        let groups = place.group.split("::").filter(|name| !name.is_empty()).take(DEPTH_MAX);
        let mut at = self;
        for name in std::iter::once(place.scenario.as_str()).chain(groups) {
            if !at.branches.contains_key(name) {
                if *branches_left == 0 {
                    break;
                }
                *branches_left -= 1;
            }
            at = at.branches.entry(name.to_owned()).or_default();
            at.cell.merge(&cell);
        }
        if is_leaf {
            at.leaves.push((place.clone(), cell));
        }
    }

    fn scenarios(&self, shape: &Shape) -> Vec<RequestNode> {
        let node = |(name, branch): (&String, &Branch)| {
            let children = branch.children(name, "", shape);
            shape.node("scenario", name, "", &[("scenario", name.as_str())], &branch.cell, children)
        };
        by_requests(self.branches.iter().map(node).collect())
    }

    fn children(&self, scenario: &str, path: &str, shape: &Shape) -> Vec<RequestNode> {
        let leaf = |(place, cell): &(Place, Cell)| {
            let mut node = shape.node("request", &place.name, &place.method, &[], cell, Vec::new());
            node.tags = endpoint_tags(place);
            node.key = node.tags.clone();
            node
        };
        let group = |(name, branch): (&String, &Branch)| {
            let path = format!("{path}::{name}");
            let children = branch.children(scenario, &path, shape);
            let mut node = shape.node(
                "group",
                name,
                "",
                &[("scenario", scenario), ("group", path.as_str())],
                &branch.cell,
                children,
            );
            if !branch.branches.is_empty() {
                // A filter by this group would miss its subgroups.
                node.tags = String::new();
            }
            node
        };
        let groups = self.branches.iter().map(group);
        by_requests(groups.chain(self.leaves.iter().map(leaf)).collect())
    }
}

fn by_requests(mut nodes: Vec<RequestNode>) -> Vec<RequestNode> {
    let requests = |node: &RequestNode| node.count.value.map_or(0.0, |count| count.0);
    nodes.sort_by(|a, b| requests(b).total_cmp(&requests(a)).then_with(|| a.name.cmp(&b.name)));
    nodes
}

/// Converts cells to nodes.
struct Shape {
    seconds: f64,
    unit: Option<TimeUnit>,
    /// Total time of all requests, ms.
    time_ms: f64,
}

impl Shape {
    fn node(
        &self,
        kind: &'static str,
        name: &str,
        method: &str,
        tags: &[(&str, &str)],
        cell: &Cell,
        children: Vec<RequestNode>,
    ) -> RequestNode {
        let tags = TagFilter::from_tags(tags).text();
        let share = |part: f64, of: f64| {
            if of > 0.0 { values::share(part / of) } else { values::none("no requests") }
        };
        RequestNode {
            kind,
            key: if tags.is_empty() { kind.to_owned() } else { tags.clone() },
            name: name.to_owned(),
            method: method.to_owned(),
            tags,
            count: values::count(cell.requests),
            rate: match self.seconds > 0.0 {
                true => values::per_second(cell.requests as f64 / self.seconds),
                false => values::none("no time"),
            },
            failed: values::count(cell.failed),
            failed_share: share(cell.failed as f64, cell.requests as f64),
            stats: self.stats(&cell.duration),
            share: share(cell.duration.sum().value(), self.time_ms),
            phases: self.phases(cell),
            statuses: statuses(cell),
            children,
        }
    }

    fn stats(&self, duration: &Trend) -> RequestStats {
        let statistic = |name| values::statistic(duration, name, ValueKind::Time, self.unit);
        let quantile = |q| values::quantile(duration, q, ValueKind::Time, self.unit);
        RequestStats {
            avg: statistic("avg"),
            min: statistic("min"),
            p50: quantile(0.5),
            p90: quantile(0.9),
            p95: quantile(0.95),
            p99: quantile(0.99),
            max: statistic("max"),
        }
    }

    fn phases(&self, cell: &Cell) -> Vec<Phase> {
        let has_samples = cell.phases.iter().any(|phase| phase.population() > 0);
        let phase = |((_, name), trend): (&(MetricId, &'static str), &Trend)| Phase {
            name,
            mean: values::statistic(trend, "avg", ValueKind::Time, self.unit),
            p95: values::quantile(trend, 0.95, ValueKind::Time, self.unit),
        };
        if has_samples { PHASES.iter().zip(&cell.phases).map(phase).collect() } else { Vec::new() }
    }
}

fn statuses(cell: &Cell) -> Vec<StatusCount> {
    let count = |((status, error_code), (count, failed)): (&(String, String), &(u64, u64))| StatusCount {
        status: status.clone(),
        error_code: error_code.clone(),
        count: *count,
        failed: *failed,
    };
    cell.statuses.iter().map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(scenario: &str, group: &str, name: &str) -> Place {
        Place { scenario: scenario.into(), group: group.into(), method: "GET".into(), name: name.into() }
    }

    fn cell(requests: u64) -> Cell {
        Cell { requests, failed: 1, ..Cell::default() }
    }

    #[test]
    fn requests_are_counted_at_every_level() {
        let (mut root, mut branches_left) = (Branch::default(), 5);
        root.add(&place("s", "::a::b", "/x"), cell(5), true, &mut branches_left);
        root.add(&place("s", "::a", "/y"), cell(2), true, &mut branches_left);
        root.add(&place("s", "", "/z"), cell(90), true, &mut branches_left);
        root.add(&place("t", "::a", "/rare"), cell(1), false, &mut branches_left);
        assert_eq!(branches_left, 0);
        root.add(&place("t", "::a::too many", "/rare"), cell(1), true, &mut branches_left);
        let shape = Shape { seconds: 2.0, unit: None, time_ms: 0.0 };
        let nodes = root.scenarios(&shape);
        let mut lines = Vec::new();
        fn write_lines(nodes: &[RequestNode], depth: usize, lines: &mut Vec<String>) {
            for node in nodes {
                lines.push(format!("{depth} {} {} {}", node.kind, node.name, node.count.text));
                write_lines(&node.children, depth + 1, lines);
            }
        }
        write_lines(&nodes, 0, &mut lines);
        assert_eq!(
            lines,
            [
                "0 scenario s 97",
                "1 request /z 90",
                "1 group a 7",
                "2 group b 5",
                "3 request /x 5",
                "2 request /y 2",
                "0 scenario t 2",
                "1 group a 2",
                "2 request /rare 1"
            ]
        );
        assert_eq!(nodes[0].rate.text, "48.5/s");
        assert_eq!((nodes[0].share.value, nodes[0].failed_share.text.as_str()), (None, "3.09%"));
    }
}
