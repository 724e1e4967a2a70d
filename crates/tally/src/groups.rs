//! Checks in the tree of groups: of the whole run, or of one scenario.

use std::sync::Arc;
use std::time::Duration;

use model::{MetricId, RateTotal, TagSetId};
use rustc_hash::FxHashMap;

use crate::drops::Cell;
use crate::totals::{Check, CheckKey, Totals};
use crate::view::{CheckView, GroupView, MetricView};

/// Separator of the names in a group's path.
const SEPARATOR: &str = "::";

/// Maximum depth of nested groups; deeper ones count with the group at that depth. A script can write a
/// `group` tag of any length, and the tree is walked recursively.
pub const GROUP_DEPTH_MAX: usize = 64;

/// Which samples a tree is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All of them.
    Run,
    /// Those of a scenario by its number, or those that name none (`setup()`, `teardown()`).
    Scenario(Option<u32>),
}

impl Scope {
    pub(crate) fn has(self, scenario: Option<u32>) -> bool {
        match self {
            Scope::Run => true,
            Scope::Scenario(own) => own == scenario,
        }
    }
}

/// The tree of all groups in the scope that were timed or have checks, in order of first sight. A `group` tag that the script
/// made up on some sample makes no group, as in k6. Metrics stand in the trees of single scenarios alone.
pub(crate) fn tree(totals: &Totals, scope: Scope, elapsed: Duration) -> GroupView {
    let mut root = Node::default();
    for (number, part) in totals.table.parts.numbered.iter().enumerate() {
        let number = number as u32;
        if !scope.has(part.scenario) || !totals.timed_groups.contains(&number) {
            continue;
        }
        let node = root.descend(totals.table.groups.name(part.group), part.first);
        if scope != Scope::Run {
            node.part = Some(number);
        }
    }
    for (CheckKey { group, name, .. }, check) in in_scope(totals, scope) {
        let path = group.map_or("", |group| totals.table.groups.name(group));
        root.descend(path, check.first).checks.entry(name.clone()).or_default().absorb(check);
    }
    let cells = if scope == Scope::Run { FxHashMap::default() } else { cells_by_part(totals, scope) };
    let metrics =
        |part: u32| cells.get(&part).map(|cells| totals.part_metrics(cells, elapsed)).unwrap_or_default();
    root.into_view(String::new(), String::new(), &metrics)
}

/// All checks in the scope over all groups, in order of first sight.
pub(crate) fn checks(totals: &Totals, scope: Scope) -> Vec<CheckView> {
    let mut merged: FxHashMap<(Option<u32>, &Arc<str>), Tally> = FxHashMap::default();
    for (CheckKey { group, name, .. }, check) in in_scope(totals, scope) {
        merged.entry((*group, name)).or_default().absorb(check);
    }
    let mut checks: Vec<_> = merged.into_iter().collect();
    checks.sort_by(|a, b| (a.1.first, a.0.1).cmp(&(b.1.first, b.0.1)));
    let path = |group: Option<u32>| group.map_or("", |group| totals.table.groups.name(group));
    checks.into_iter().map(|((group, name), tally)| tally.into_view(name, path(group))).collect()
}

fn in_scope(totals: &Totals, scope: Scope) -> impl Iterator<Item = (&CheckKey, &Check)> {
    totals.checks.iter().filter(move |(key, _)| scope.has(key.scenario))
}

fn cells_by_part(totals: &Totals, scope: Scope) -> FxHashMap<u32, Vec<(MetricId, &Cell)>> {
    let mut cells: FxHashMap<u32, Vec<(MetricId, &Cell)>> = FxHashMap::default();
    for ((part, metric), cell) in &totals.groups {
        if scope.has(totals.table.parts.numbered[*part as usize].scenario) {
            cells.entry(*part).or_default().push((*metric, cell));
        }
    }
    cells
}

/// The results of one check of one group, over the scenarios in scope.
struct Tally {
    total: RateTotal,
    first: TagSetId,
}

impl Default for Tally {
    fn default() -> Self {
        Tally { total: RateTotal::default(), first: LAST }
    }
}

impl Tally {
    fn absorb(&mut self, check: &Check) {
        self.total.passes += check.total.passes;
        self.total.total += check.total.total;
        self.first = self.first.min(check.first);
    }

    fn into_view(self, name: &str, group_path: &str) -> CheckView {
        CheckView {
            path: format!("{group_path}{SEPARATOR}{name}"),
            name: name.to_owned(),
            passes: self.total.passes,
            fails: self.total.total - self.total.passes,
        }
    }
}

/// Tag set of groups without samples, which sort last.
const LAST: TagSetId = TagSetId(u32::MAX);

struct Node {
    first: TagSetId,
    /// Where its metrics are.
    part: Option<u32>,
    groups: FxHashMap<String, Node>,
    checks: FxHashMap<Arc<str>, Tally>,
}

impl Default for Node {
    fn default() -> Self {
        Node { first: LAST, part: None, groups: FxHashMap::default(), checks: FxHashMap::default() }
    }
}

impl Node {
    /// The node at a path below this one, with every node on the way there.
    fn descend(&mut self, path: &str, first: TagSetId) -> &mut Node {
        let mut node = self;
        for name in path.split(SEPARATOR).filter(|name| !name.is_empty()).take(GROUP_DEPTH_MAX) {
            node = node.groups.entry(name.to_owned()).or_default();
            node.first = node.first.min(first);
        }
        node
    }

    fn into_view(self, name: String, path: String, metrics: &dyn Fn(u32) -> Vec<MetricView>) -> GroupView {
        let mut groups: Vec<_> = self.groups.into_iter().collect();
        groups.sort_by(|a, b| (a.1.first, &a.0).cmp(&(b.1.first, &b.0)));
        let mut checks: Vec<_> = self.checks.into_iter().collect();
        checks.sort_by(|a, b| (a.1.first, &a.0).cmp(&(b.1.first, &b.0)));
        let group = |(name, group): (String, Node)| {
            let path = format!("{path}{SEPARATOR}{name}");
            group.into_view(name, path, metrics)
        };
        GroupView {
            first: self.first,
            checks: checks.into_iter().map(|(name, tally)| tally.into_view(&name, &path)).collect(),
            groups: groups.into_iter().map(group).collect(),
            metrics: self.part.map(metrics).unwrap_or_default(),
            name,
            path,
        }
    }
}
