//! From some nodes to others, as jQuery's and goquery's functions go: results keep the order of the walk and have
//! nothing twice.

use std::collections::HashSet;

use crate::document::{Document, NodeId};
use crate::selector::Selector;

/// Which way to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Elements right below.
    Children,
    /// All nodes right below.
    Contents,
    /// The element right above.
    Parent,
    /// All elements above, nearest first.
    Parents,
    /// The next element of the same parent.
    Next,
    /// All of them.
    NextAll,
    /// The element before.
    Previous,
    /// All of them, nearest first.
    PreviousAll,
    /// All other elements of the same parent.
    Siblings,
}

/// Where a walk ends, exclusively.
#[derive(Debug)]
pub enum Until<'a> {
    /// At the end.
    Never,
    /// At the first node that the selector describes.
    Match(&'a Selector),
    /// At the first node that is one of these.
    Nodes(&'a [NodeId]),
}

impl Document {
    /// The elements under any of `from` that the selector describes.
    pub fn find(&self, from: &[NodeId], selector: &Selector) -> Vec<NodeId> {
        let found = from.iter().flat_map(|id| self.descendants(*id)).filter(|id| selector.matches(self, *id));
        // A node's subtree lies there once.
        if from.len() == 1 { found.collect() } else { once_each(found) }
    }

    /// Goes from every node of `from`.
    pub fn walk(&self, from: &[NodeId], axis: Axis, until: &Until<'_>) -> Vec<NodeId> {
        once_each(from.iter().flat_map(|id| self.step(*id, axis, until)))
    }

    /// The nearest of the node itself and its ancestors, for each node, that the selector describes.
    pub fn closest(&self, from: &[NodeId], is_it: &dyn Fn(NodeId) -> bool) -> Vec<NodeId> {
        let nearest = |id: &NodeId| std::iter::once(*id).chain(self.ancestors(*id)).find(|node| is_it(*node));
        once_each(from.iter().filter_map(nearest))
    }

    /// Place of the element among its parent's elements, from 0.
    pub fn index(&self, id: NodeId) -> usize {
        self.line(id, |node| self.previous(node)).count()
    }

    fn step(&self, id: NodeId, axis: Axis, until: &Until<'_>) -> Vec<NodeId> {
        let ends = |node: &NodeId| match until {
            Until::Never => false,
            Until::Match(selector) => selector.matches(self, *node),
            Until::Nodes(nodes) => nodes.contains(node),
        };
        match axis {
            Axis::Children => self.child_elements(id).collect(),
            Axis::Contents => self.children(id).collect(),
            Axis::Parent => self.parent(id).filter(|parent| self.is_element(*parent)).into_iter().collect(),
            Axis::Parents => self
                .ancestors(id)
                .filter(|node| self.is_element(*node))
                .take_while(|node| !ends(node))
                .collect(),
            Axis::Next => self.line(id, |node| self.next(node)).take(1).collect(),
            Axis::NextAll => self.line(id, |node| self.next(node)).take_while(|node| !ends(node)).collect(),
            Axis::Previous => self.line(id, |node| self.previous(node)).take(1).collect(),
            Axis::PreviousAll => {
                self.line(id, |node| self.previous(node)).take_while(|node| !ends(node)).collect()
            }
            Axis::Siblings => {
                let all = self.parent(id).into_iter().flat_map(|parent| self.child_elements(parent));
                all.filter(|node| *node != id).collect()
            }
        }
    }

    fn line(&self, id: NodeId, step: impl Fn(NodeId) -> Option<NodeId>) -> impl Iterator<Item = NodeId> {
        std::iter::successors(step(id), move |node| step(*node)).filter(move |node| self.is_element(*node))
    }
}

fn once_each(nodes: impl Iterator<Item = NodeId>) -> Vec<NodeId> {
    let mut seen = HashSet::new();
    nodes.filter(|node| seen.insert(*node)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(from: &str, axis: Axis, until: Option<&str>, expect: &str) {
        let document = Document::parse("<ul id=u><li id=a><li id=b>x<i id=i></i><li id=c></ul><p id=p>");
        let select = |text: &str| Selector::parse(text).expect("the test's selector is one");
        let from = document.find(&[NodeId::ROOT], &select(from));
        let until = until.map(select);
        let until = until.as_ref().map_or(Until::Never, Until::Match);
        let found = document.walk(&from, axis, &until);
        let names: Vec<&str> =
            found.iter().map(|id| document.attribute(*id, "id").unwrap_or(document.name(*id))).collect();
        assert_eq!(names.join(" "), expect);
    }

    #[test]
    fn walks_keep_their_order_and_nothing_twice() {
        check("#u", Axis::Children, None, "a b c");
        check("#b", Axis::Contents, None, " i");
        check("li", Axis::Parent, None, "u");
        check("#i", Axis::Parents, None, "b u body html");
        check("#i", Axis::Parents, Some("body"), "b u");
        check("li", Axis::Next, None, "b c");
        check("#a", Axis::NextAll, Some("#c"), "b");
        check("#c, #b", Axis::PreviousAll, None, "a b");
        check("#a, #b", Axis::Siblings, None, "b c a");
        check("html", Axis::Parent, None, "");
    }
}
