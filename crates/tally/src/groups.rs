//! Checks in the tree of groups.

use std::sync::Arc;

use model::TagSetId;

use crate::totals::Totals;
use crate::view::{CheckView, GroupView};

/// What separates the names of a group's path.
const SEPARATOR: &str = "::";

/// The tree of all groups that were timed or have checks, in order of first sight. A `group` tag that the script made up on
/// some sample makes no group, as in k6.
pub(crate) fn tree(totals: &Totals) -> GroupView {
    let mut root = Node::default();
    for (number, (path, first)) in totals.table.groups.iter().enumerate() {
        if totals.timed_groups.contains(&(number as u32)) {
            root.descend(path, first);
        }
    }
    for ((group, name), check) in &totals.checks {
        let path = group.map_or("", |group| totals.table.groups.name(group));
        let node = root.descend(path, check.first);
        let (passes, fails) = (check.total.passes, check.total.total - check.total.passes);
        node.checks.push((check.first, name.clone(), passes, fails));
    }
    root.into_view(String::new(), String::new())
}

#[derive(Debug)]
struct Node {
    name: String,
    first: TagSetId,
    groups: Vec<Node>,
    checks: Vec<(TagSetId, Arc<str>, u64, u64)>,
}

impl Default for Node {
    fn default() -> Self {
        Node { name: String::new(), first: TagSetId(u32::MAX), groups: Vec::new(), checks: Vec::new() }
    }
}

impl Node {
    /// The node at a path below this one, with every node on the way there.
    fn descend(&mut self, path: &str, first: TagSetId) -> &mut Node {
        let mut node = self;
        for name in path.split(SEPARATOR).filter(|name| !name.is_empty()) {
            let known = node.groups.iter().position(|group| group.name == name);
            let position = known.unwrap_or_else(|| {
                node.groups.push(Node { name: name.to_owned(), ..Node::default() });
                node.groups.len() - 1
            });
            node = &mut node.groups[position];
            node.first = node.first.min(first);
        }
        node
    }

    fn into_view(mut self, name: String, path: String) -> GroupView {
        self.groups.sort_by_key(|group| group.first);
        self.checks.sort();
        let check = |(_, name, passes, fails): (TagSetId, Arc<str>, u64, u64)| CheckView {
            path: format!("{path}{SEPARATOR}{name}"),
            name: name.to_string(),
            passes,
            fails,
        };
        let group = |group: Node| {
            let (name, path) = (group.name.clone(), format!("{path}{SEPARATOR}{}", group.name));
            group.into_view(name, path)
        };
        GroupView {
            checks: self.checks.into_iter().map(check).collect(),
            groups: self.groups.into_iter().map(group).collect(),
            name,
            path,
        }
    }
}
