//! The critical path: at each instant, the one thing without which the end would have come sooner.
//!
//! The walk goes back from the end: from the child that returned last to the one that had ended before that began, and so on. Time
//! that no child covers is the span's own work (CRISP, Zhang et al., USENIX ATC 2022). Children that ran in parallel with the path
//! are not on it; one that merely ends a little after the next has begun is, because SDKs nest the spans of one call: the span of a
//! result begins inside the query that returns it. Time in a queue is a piece of its own, from publishing to delivery. A client that polls for the result does
//! no work meanwhile: after the last message was processed, the rest is the time until
//! its next poll.
//!
//! Adjacent pieces need not be parent and child: between two children that ran one after the other the
//! path passes through their parent for no time at all. The [`Tree`] defines callers, never the order of pieces.

use model::SpanKind;

use super::peer;
use super::tree::Tree;

/// A part of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The span that works, or that waits to be begun.
    pub span: usize,
    /// Kind of the piece.
    pub kind: PieceKind,
    /// When it begins.
    pub start_ns: i64,
    /// When it ends.
    pub end_ns: i64,
}

/// A child precedes the next one if it has at most one of so many parts of its time left when that begins.
const OVERLAP_PARTS: u64 = 10;

/// Kind of a piece of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PieceKind {
    /// The span itself works, or waits for something that is no span.
    Work,
    /// The span's message is in its queue.
    Queue,
    /// Time not covered by any span, until the span begins.
    Between,
    /// All is done, and the span has yet to ask.
    Poll,
}

impl Piece {
    /// How long it is.
    pub fn length_ns(&self) -> u64 {
        self.end_ns.abs_diff(self.start_ns)
    }
}

/// The path from the start of the root to the end of the last work, in order of time: without holes, so that the pieces add up
/// to the length of the trace.
pub fn critical_path(tree: &Tree<'_>) -> Vec<Piece> {
    // Of those that end last, the one that is above all others: they end with it.
    let last = tree.order().iter().copied().find(|span| tree.node(*span).end_ns == tree.end_ns());
    last.map_or_else(Vec::new, |last| path_to(tree, last))
}

/// Returns the path from the start of the root until the caller has its response.
pub fn answer_path(tree: &Tree<'_>) -> Vec<Piece> {
    tree.root().map_or_else(Vec::new, |root| path_to(tree, root))
}

fn path_to(tree: &Tree<'_>, last: usize) -> Vec<Piece> {
    let walk = Walk::new(tree);
    let Some(done) = polled_for(tree, last) else { return walk.back_from(last) };
    let (start_ns, end_ns) = (tree.node(done).end_ns, tree.node(last).end_ns);
    let mut pieces = walk.back_from(done);
    if start_ns < end_ns {
        pieces.push(Piece { span: last, kind: PieceKind::Poll, start_ns, end_ns });
    }
    pieces
}

/// The last message that was worked on while a task's span polled.
fn polled_for(tree: &Tree<'_>, asker: usize) -> Option<usize> {
    if tree.root() != Some(asker) || peer::task(&tree.spans()[asker]).is_none() {
        return None;
    }
    let end_ns = tree.node(asker).end_ns;
    let is_message = |span: &usize| {
        let node = tree.node(*span);
        tree.spans()[*span].kind == SpanKind::Consumer && node.follows && node.end_ns <= end_ns
    };
    tree.order().iter().copied().filter(is_message).max_by_key(|span| tree.node(*span).end_ns)
}

/// How long each span was at work itself: its length without the time in which a child was waited for.
pub fn own_ns(tree: &Tree<'_>) -> Vec<u64> {
    let own = |span| {
        let node = tree.node(span);
        let (mut own_ns, mut until_ns) = (0, node.start_ns);
        for child in tree.children(span).iter().map(|child| tree.node(*child)).filter(|child| !child.follows)
        {
            if child.start_ns > until_ns {
                own_ns += child.start_ns.abs_diff(until_ns);
            }
            until_ns = until_ns.max(child.end_ns);
        }
        own_ns + node.end_ns.abs_diff(until_ns)
    };
    (0..tree.spans().len()).map(own).collect()
}

/// Attribute that identifies a message.
const MESSAGE_ID: &str = "messaging.message.id";

/// Siblings that are asked whether they handed a message on.
const PREDECESSORS_MAX: usize = 64;

/// How a span came to follow another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The span that follows.
    pub span: usize,
    /// Index of the span it follows: the publisher of its message, if known.
    pub before: usize,
    /// Since when it could have begun.
    pub since_ns: i64,
}

/// How each span that follows came to.
pub fn causes(tree: &Tree<'_>) -> Vec<Cause> {
    let walk = Walk::new(tree);
    let following = tree.order().iter().copied().filter(|span| tree.node(*span).follows);
    let cause = |span| {
        let (before, since_ns) = walk.cause(span, tree.node(span).parent?);
        Some(Cause { span, before, since_ns })
    };
    following.filter_map(cause).collect()
}

struct Walk<'t, 'a> {
    tree: &'t Tree<'a>,
    /// Children by parent and end; those that are waited for first, then those that follow.
    by_end: Vec<usize>,
    /// Where in it those of a parent are: the first, the first that follows, the end.
    ranges: Vec<(usize, usize, usize)>,
    /// Where each span is in it.
    places: Vec<usize>,
    pieces: Vec<Piece>,
}

impl<'t, 'a> Walk<'t, 'a> {
    fn new(tree: &'t Tree<'a>) -> Walk<'t, 'a> {
        let spans = tree.spans().len();
        let (mut by_end, mut ranges) = (Vec::with_capacity(spans), Vec::with_capacity(spans));
        for parent in 0..spans {
            let first = by_end.len();
            by_end.extend(tree.children(parent));
            by_end[first..]
                .sort_by_key(|child| (tree.node(*child).follows, tree.node(*child).end_ns, *child));
            let waited = by_end[first..].partition_point(|child| !tree.node(*child).follows);
            ranges.push((first, first + waited, by_end.len()));
        }
        let mut places = vec![0; spans];
        for (place, span) in by_end.iter().enumerate() {
            places[*span] = place;
        }
        Walk { tree, by_end, ranges, places, pieces: Vec::new() }
    }

    /// The path that ends with a span. Each step either takes a child from its parent's list or goes up, and the instant never
    /// increases, so that there are no more steps than spans.
    fn back_from(mut self, last: usize) -> Vec<Piece> {
        let tree = self.tree;
        // Where in `by_end` the children of a span end that may be on the path still.
        let mut left: Vec<usize> = self.ranges.iter().map(|range| range.1).collect();
        let (mut span, mut now_ns) = (last, tree.node(last).end_ns);
        loop {
            if let Some(child) = self.returned(span, now_ns, &mut left[span]) {
                let end_ns = tree.node(child).end_ns.min(now_ns);
                self.add(span, PieceKind::Work, end_ns, now_ns);
                (span, now_ns) = (child, end_ns);
                continue;
            }
            let node = tree.node(span);
            self.add(span, PieceKind::Work, node.start_ns, now_ns);
            now_ns = now_ns.min(node.start_ns);
            let Some(parent) = node.parent else { break };
            if !node.follows {
                span = parent;
                continue;
            }
            let (before, since_ns) = self.cause(span, parent);
            let is_message = tree.spans()[span].kind == SpanKind::Consumer;
            let kind = if is_message { PieceKind::Queue } else { PieceKind::Between };
            self.add(span, kind, since_ns, now_ns);
            (span, now_ns) = (before, now_ns.min(since_ns));
        }
        self.pieces.reverse();
        self.pieces
    }

    fn add(&mut self, span: usize, kind: PieceKind, start_ns: i64, end_ns: i64) {
        if start_ns < end_ns {
            self.pieces.push(Piece { span, kind, start_ns, end_ns });
        }
    }

    /// The child that returned last before an instant.
    fn returned(&self, span: usize, now_ns: i64, left: &mut usize) -> Option<usize> {
        while *left > self.ranges[span].0 {
            *left -= 1;
            let child = self.by_end[*left];
            let node = self.tree.node(child);
            let beyond_ns = node.end_ns.saturating_sub(now_ns).max(0).unsigned_abs();
            let is_before = beyond_ns <= node.end_ns.abs_diff(node.start_ns) / OVERLAP_PARTS;
            // One without a length takes no part of the path.
            if is_before && node.start_ns < node.end_ns.min(now_ns) {
                return Some(child);
            }
        }
        None
    }

    /// Returns the span that had to end before this one could start, and its end: the span that published its message, otherwise the
    /// last finished sibling that can have passed the message on, otherwise the parent.
    fn cause(&self, span: usize, parent: usize) -> (usize, i64) {
        let tree = self.tree;
        let (start_ns, above) = (tree.node(span).start_ns, tree.node(parent));
        let of_parent = (parent, above.end_ns.min(start_ns));
        if tree.spans()[parent].kind == SpanKind::Producer || above.end_ns > start_ns {
            return of_parent;
        }
        let (_, first, end) = self.ranges[parent];
        let over = self.by_end[first..end].partition_point(|sibling| tree.node(*sibling).end_ns <= start_ns);
        // Two without a length at one instant would each be over before the other.
        let before = (first + over).min(self.places[span]);
        let mut siblings = self.by_end[first..before].iter().rev().take(PREDECESSORS_MAX).copied();
        let handed_on = siblings.find(|sibling| self.can_hand_on(*sibling, span));
        handed_on.map_or(of_parent, |sibling| (sibling, tree.node(sibling).end_ns))
    }

    /// Whether a span can have put the message of another into its queue. Messages of one queue that were published together
    /// are worked on one after the other, too, and did not hand on each other.
    fn can_hand_on(&self, before: usize, span: usize) -> bool {
        let (before, span) = (&self.tree.spans()[before], &self.tree.spans()[span]);
        let is_other_queue = peer::queue(before) != peer::queue(span);
        let message = span.attribute(MESSAGE_ID);
        let is_same_message = message.is_some() && before.attribute(MESSAGE_ID) == message;
        is_other_queue || is_same_message || span.kind != SpanKind::Consumer
    }
}

#[cfg(test)]
mod tests {
    use model::Span;

    use super::super::testing::{scan, span, task, trace};
    use super::*;

    /// Pieces as span, kind, start and end.
    #[track_caller]
    fn check(spans: Vec<Span>, expect: &str) {
        let trace = trace(spans);
        let tree = Tree::new(&trace);
        let text = |piece: Piece| {
            let kind = match piece.kind {
                PieceKind::Work => "",
                PieceKind::Queue => " queue",
                PieceKind::Between => " between",
                PieceKind::Poll => " poll",
            };
            format!("{}{kind} {}-{}", tree.spans()[piece.span].id, piece.start_ns, piece.end_ns)
        };
        assert_eq!(critical_path(&tree).into_iter().map(text).collect::<Vec<_>>().join(", "), expect);
    }

    #[test]
    fn the_path_goes_through_those_that_return_last() {
        check(vec![], "");
        check(vec![span(1, 0, 0, 10)], "1 0-10");
        check(
            vec![span(1, 0, 0, 10), span(2, 1, 1, 3), span(3, 1, 5, 4)],
            "1 0-1, 2 1-4, 1 4-5, 3 5-9, 1 9-10",
        );
        // The second runs beside the third, which returns later.
        check(vec![span(1, 0, 0, 10), span(2, 1, 1, 6), span(3, 1, 5, 4)], "1 0-5, 3 5-9, 1 9-10");
        // The second has nearly ended when the third begins, with what is below it.
        check(
            vec![span(1, 0, 0, 40), span(2, 1, 1, 20), span(3, 1, 19, 10), span(4, 2, 2, 18)],
            "1 0-1, 2 1-2, 4 2-19, 3 19-29, 1 29-40",
        );
        check(vec![span(1, 0, 0, 40), span(2, 1, 1, 20), span(3, 1, 18, 10)], "1 0-18, 3 18-28, 1 28-40");
        check(vec![span(1, 0, 0, 10), span(2, 1, 2, 8), span(3, 2, 4, 6)], "1 0-2, 2 2-4, 3 4-10");
        check(vec![span(1, 0, 0, 10), span(2, 1, 2, 0), span(3, 1, 9, 99)], "1 0-9, 3 9-10");
    }

    /// The second sibling stands beside the first in the list, and is called by their parent all the same.
    #[test]
    fn beside_is_not_below() {
        let spans = vec![span(1, 0, 0, 10), span(2, 1, 0, 5), span(3, 1, 5, 5), span(4, 2, 1, 4)];
        check(spans.clone(), "2 0-1, 4 1-5, 3 5-10");
        let trace = trace(spans);
        assert_eq!(Tree::new(&trace).node(2).parent, Some(0));
    }

    #[test]
    fn what_is_in_a_queue_waits_there() {
        let mut publish = span(2, 1, 1, 2);
        publish.kind = SpanKind::Producer;
        let spans = vec![span(1, 0, 0, 10), publish, task(3, 2, 20, 5, "q"), span(4, 3, 21, 2)];
        check(spans, "1 0-1, 2 1-3, 3 queue 3-20, 3 20-21, 4 21-23, 3 23-25");
        // No span published the message: it was there when the request ended.
        check(vec![span(1, 0, 0, 10), task(3, 1, 20, 5, "q")], "1 0-10, 3 queue 10-20, 3 20-25");
        check(vec![span(1, 0, 0, 10), task(3, 1, 8, 5, "q")], "1 0-8, 3 8-13");
        check(vec![span(1, 0, 0, 10), span(3, 1, 20, 5)], "1 0-10, 3 between 10-20, 3 20-25");
    }

    #[test]
    fn a_message_is_handed_on_from_queue_to_queue() {
        let spans = vec![span(1, 0, 0, 10), task(2, 1, 20, 5, "a"), task(3, 1, 40, 5, "b")];
        check(spans, "1 0-10, 2 queue 10-20, 2 20-25, 3 queue 25-40, 3 40-45");
        // Two of one queue were there together.
        let spans = vec![span(1, 0, 0, 10), task(2, 1, 20, 5, "a"), task(3, 1, 40, 5, "a")];
        check(spans, "1 0-10, 3 queue 10-40, 3 40-45");
        // Unless they are one message that came back.
        let mut spans = vec![span(1, 0, 0, 10), task(2, 1, 20, 5, "a"), task(3, 1, 40, 5, "a")];
        for span in &mut spans[1..] {
            span.attributes.push(("messaging.message.id".into(), "m".to_owned()));
        }
        check(spans, "1 0-10, 2 queue 10-20, 2 20-25, 3 queue 25-40, 3 40-45");
    }

    #[test]
    fn who_polls_does_nothing_for_a_task() {
        let mut asker = span(1, 0, 0, 60);
        asker.attributes.push(("plimsoll.task".into(), "finished".to_owned()));
        let mut publish = span(3, 2, 3, 2);
        publish.kind = SpanKind::Producer;
        let submit = span(2, 1, 1, 5);
        let spans = vec![asker, submit, publish, task(4, 3, 20, 5, "a"), span(5, 1, 40, 1)];
        check(spans.clone(), "1 0-1, 2 1-3, 3 3-5, 4 queue 5-20, 4 20-25, 1 poll 25-60");
        // What is answered while the last message is worked on still was not waited for by anybody.
        let late = vec![spans[0].clone(), spans[1].clone(), spans[2].clone(), task(4, 3, 50, 15, "a")];
        check(late, "1 0-1, 2 1-3, 3 3-5, 4 queue 5-50, 4 50-65");
        check(vec![spans[0].clone(), spans[1].clone()], "1 0-1, 2 1-6, 1 6-60");
    }

    #[test]
    fn own_work_is_what_no_child_covers() {
        let trace = trace(vec![span(1, 0, 0, 10), span(2, 1, 1, 4), span(3, 1, 3, 4), span(4, 1, 30, 4)]);
        assert_eq!(own_ns(&Tree::new(&trace)), [4, 4, 4, 4]);
    }

    #[test]
    fn the_answer_comes_before_the_work() {
        let trace = scan();
        let tree = Tree::new(&trace);
        let pieces = answer_path(&tree);
        assert_eq!((pieces.len(), pieces[0].length_ns()), (1, 100_000_000));
        assert_eq!(critical_path(&tree).iter().map(Piece::length_ns).sum::<u64>(), 56_000_000_000);
    }
}
