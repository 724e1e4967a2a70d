//! The spans of a trace as a tree, whatever was received.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{Span, SpanKind, SpanStatus, Trace};

use super::peer;

/// Largest time that a clock of milliseconds rounds off.
const GRAIN_NS: i64 = 1_000_000;

/// Fewest spans of a service that show such a clock.
const COARSE_MIN: usize = 4;

/// A trace as a tree. Spans are named by their place in [`Trace::spans`].
#[derive(Debug)]
pub struct Tree<'a> {
    trace: &'a Trace,
    nodes: Vec<Node>,
    /// Children of all nodes, those of one beside each other, in order of their start.
    children: Vec<usize>,
    /// Parents before their children, siblings in order of their start.
    order: Vec<usize>,
    end_ns: i64,
    flaws: Flaws,
}

/// A span's place in its tree, and its time as it can have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The span that caused it.
    pub parent: Option<usize>,
    /// How many are above it.
    pub depth: usize,
    /// Its start by the clock of the root.
    pub start_ns: i64,
    /// Its end by the clock of the root.
    pub end_ns: i64,
    /// Whether it goes on when its parent is over: work that was left in a queue, or begun and not waited for.
    pub follows: bool,
    first_child: usize,
    children: usize,
}

/// Defects of a trace, each counted in spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flaws {
    /// Nothing here caused them, mostly because their parent was never received: they stand below the root.
    pub orphans: usize,
    /// They caused themselves, by way of others: each such circle was opened at one of them.
    pub circles: usize,
    /// The number is that of an earlier span, so that nothing can be below them.
    pub twins: usize,
    /// They were longer than the parent that waited for them, and are cut.
    pub cut: usize,
    /// Their clock differs so far from that of their caller that they were moved into its span.
    pub moved: usize,
    /// They name the span above their call as their parent, and stand below the call.
    pub adopted: usize,
}

impl<'a> Tree<'a> {
    /// Makes a tree of a trace.
    pub fn new(trace: &'a Trace) -> Tree<'a> {
        let mut flaws = Flaws::default();
        let mut parents = parents(trace, &mut flaws);
        open_circles(&mut parents, &mut flaws);
        adopt(&trace.spans, &mut parents, &mut flaws);
        let root = below_one_root(&trace.spans, &mut parents, &mut flaws);
        let mut tree =
            Tree { trace, nodes: nodes(&parents), children: Vec::new(), order: Vec::new(), end_ns: 0, flaws };
        tree.children = children(&trace.spans, &parents, &mut tree.nodes);
        if let Some(root) = root {
            tree.walk(root);
        }
        tree.end_ns = tree.nodes.iter().map(|node| node.end_ns).max().unwrap_or(0);
        tree
    }

    /// The trace.
    pub fn trace(&self) -> &'a Trace {
        self.trace
    }

    /// The spans.
    pub fn spans(&self) -> &'a [Span] {
        &self.trace.spans
    }

    /// A span's place.
    ///
    /// # Panics
    /// There is no such span.
    pub fn node(&self, span: usize) -> &Node {
        &self.nodes[span]
    }

    /// Returns the spans that a span caused, in order of their start.
    ///
    /// # Panics
    /// There is no such span.
    pub fn children(&self, span: usize) -> &[usize] {
        let node = &self.nodes[span];
        &self.children[node.first_child..node.first_child + node.children]
    }

    /// All spans, each before what it caused.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The span that nothing in the trace caused; none in an empty trace.
    pub fn root(&self) -> Option<usize> {
        self.order.first().copied()
    }

    /// When the trace began: with its root.
    pub fn start_ns(&self) -> i64 {
        self.root().map_or(0, |root| self.nodes[root].start_ns)
    }

    /// When the last of its work was over, which may be long after its root.
    pub fn end_ns(&self) -> i64 {
        self.end_ns
    }

    /// From the start of the root to the end of the last work.
    pub fn length_ns(&self) -> u64 {
        self.end_ns.abs_diff(self.start_ns())
    }

    /// Returns the defects that were repaired.
    pub fn flaws(&self) -> Flaws {
        self.flaws
    }

    /// Gives every span its depth and its time, parents first.
    fn walk(&mut self, root: usize) {
        let spans = self.spans();
        self.nodes[root].start_ns = spans[root].start_ns;
        self.nodes[root].end_ns = spans[root].end_ns();
        let coarse = coarse_services(self.spans());
        // A span with by how much its clock is moved, which moves what is below it, too.
        let mut waiting: Vec<(usize, i64)> = vec![(root, 0)];
        while let Some((span, moved_ns)) = waiting.pop() {
            self.order.push(span);
            let (node, first) = (self.nodes[span], waiting.len());
            let is_coarse = coarse.contains(&*self.trace.spans[span].service);
            let mut before_ns = None;
            for at in node.first_child..node.first_child + node.children {
                let child = self.children[at];
                let is_alike = is_coarse && self.trace.spans[child].service == self.trace.spans[span].service;
                let late_ns = before_ns.filter(|_| is_alike).map_or(0, |before_ns| {
                    rounded_off(self.trace.spans[child].start_ns.saturating_add(moved_ns), before_ns)
                });
                let moved_ns = self.place(child, span, moved_ns.saturating_add(late_ns));
                if is_alike && !self.nodes[child].follows {
                    before_ns = Some(self.nodes[child].end_ns);
                }
                waiting.push((child, moved_ns));
            }
            waiting[first..].reverse();
        }
    }

    /// Gives a child its time, and returns by how much its clock was moved.
    fn place(&mut self, child: usize, parent: usize, moved_ns: i64) -> i64 {
        let (span, above) = (&self.trace.spans[child], &self.trace.spans[parent]);
        let node = self.nodes[parent];
        let moved_ns = match skew(span, above, &node, moved_ns) {
            Some(more_ns) => {
                self.flaws.moved += 1;
                moved_ns.saturating_add(more_ns)
            }
            None => moved_ns,
        };
        let (start_ns, end_ns) =
            (span.start_ns.saturating_add(moved_ns), span.end_ns().saturating_add(moved_ns));
        let is_message =
            span.kind == SpanKind::Consumer && (above.kind == SpanKind::Producer || end_ns > node.end_ns);
        let follows = is_message || start_ns >= node.end_ns;
        let (start_ns, end_ns) = if follows {
            let start_ns = start_ns.max(node.start_ns);
            (start_ns, end_ns.max(start_ns))
        } else {
            let cut = (start_ns.max(node.start_ns), end_ns.clamp(node.start_ns, node.end_ns));
            self.flaws.cut += usize::from(cut != (start_ns, end_ns));
            cut
        };
        self.nodes[child] = Node { depth: node.depth + 1, start_ns, end_ns, follows, ..self.nodes[child] };
        moved_ns
    }
}

/// Returns the services whose spans begin at whole milliseconds: the SDK of JavaScript reads the wall clock for the start of a span, which
/// it rounds down, and measures the length by a finer clock. By chance so many starts would not be whole milliseconds apart.
fn coarse_services(spans: &[Span]) -> HashSet<&str> {
    let mut starts: HashMap<&str, (i64, usize, bool)> = HashMap::new();
    for span in spans {
        let (first_ns, count, is_coarse) = starts.entry(&span.service).or_insert((span.start_ns, 0, true));
        *count += 1;
        *is_coarse &= span.start_ns.wrapping_sub(*first_ns) % GRAIN_NS == 0;
    }
    let coarse = starts.into_iter().filter(|(_, (_, count, is_coarse))| *is_coarse && *count >= COARSE_MIN);
    coarse.map(|(service, _)| service).collect()
}

/// Returns what was rounded off the start of a span, if it began when the one before it ended: a span that seems to begin earlier, by less
/// than what rounding takes.
fn rounded_off(start_ns: i64, before_ns: i64) -> i64 {
    let late_ns = before_ns.saturating_sub(start_ns);
    if (1..GRAIN_NS).contains(&late_ns) { late_ns } else { 0 }
}

/// Returns the offset of a server's clock, nanoseconds. A server span begins and ends within the client span that waits for it. If it
/// does not, its clock is off by more than the wait, and it is centred in the wait with its length unchanged, since durations are
/// measured by one clock. (Jaeger adjusts clocks the same way.) A span that overlaps the wait and only passes one end of it by little
/// is moved by no more than that: servers end their spans after they have sent the response, and clocks are read with a granularity.
/// A span that merely ends too late for a failed call may belong to an abandoned one, and is cut instead.
fn skew(span: &Span, above: &Span, node: &Node, moved_ns: i64) -> Option<i64> {
    if span.kind != SpanKind::Server || above.kind != SpanKind::Client {
        return None;
    }
    let start_ns = span.start_ns.saturating_add(moved_ns);
    let end_ns = span.end_ns().saturating_add(moved_ns);
    let (wait_ns, length_ns) = (node.end_ns.abs_diff(node.start_ns), span.end_ns().abs_diff(span.start_ns));
    let wait = node.start_ns..=node.end_ns;
    let (begins_inside, ends_inside) = (wait.contains(&start_ns), end_ns <= node.end_ns);
    let is_abandoned = !ends_inside && above.status == SpanStatus::Error;
    if (begins_inside && (ends_inside || is_abandoned)) || length_ns > wait_ns {
        return None;
    }
    let slack_ns = wait_ns - length_ns;
    let past_ns = if begins_inside {
        node.end_ns.saturating_sub(end_ns)
    } else {
        node.start_ns.saturating_sub(start_ns)
    };
    if (begins_inside || wait.contains(&end_ns)) && past_ns.unsigned_abs() <= slack_ns / 2 {
        return Some(past_ns);
    }
    let middle_ns = node.start_ns.saturating_add_unsigned(slack_ns / 2);
    Some(middle_ns.saturating_sub(start_ns))
}

/// The parents as the spans name them. A message follows from the span that published it, where a link says which.
fn parents(trace: &Trace, flaws: &mut Flaws) -> Vec<Option<usize>> {
    let spans = &trace.spans;
    let mut places: HashMap<u64, usize> = HashMap::with_capacity(spans.len());
    for (at, span) in spans.iter().enumerate() {
        if *places.entry(span.id).or_insert(at) != at {
            flaws.twins += 1;
        }
    }
    let published = |span: &Span| {
        let here = span.links.iter().filter(|(id, _)| *id == trace.id);
        let mut spans = here.filter_map(|(_, id)| places.get(id).copied());
        spans.find(|at| trace.spans[*at].kind == SpanKind::Producer)
    };
    let parent = |(at, span): (usize, &Span)| {
        let link = if span.kind == SpanKind::Consumer { published(span) } else { None };
        link.or_else(|| places.get(&span.parent?).copied()).filter(|parent| *parent != at)
    };
    spans.iter().enumerate().map(parent).collect()
}

/// Takes a parent from one span of each circle.
fn open_circles(parents: &mut [Option<usize>], flaws: &mut Flaws) {
    // Zero is not looked at yet; else the walk upwards that came by first.
    let mut seen_by = vec![0; parents.len()];
    for start in 0..parents.len() {
        let (walk, mut at) = (start + 1, start);
        while seen_by[at] == 0 {
            seen_by[at] = walk;
            let Some(parent) = parents[at] else { break };
            if seen_by[parent] == walk {
                parents[at] = None;
                flaws.circles += 1;
                break;
            }
            at = parent;
        }
    }
}

/// Some libraries hand on the number of the span above a call, so that who answers stands beside the call that it answers. It
/// belongs below the call that surrounds it.
fn adopt(spans: &[Span], parents: &mut [Option<usize>], flaws: &mut Flaws) {
    let mut calls: BTreeMap<(usize, &str), Vec<usize>> = BTreeMap::new();
    for (at, span) in spans.iter().enumerate() {
        if let Some(parent) = parents[at]
            && span.kind == SpanKind::Client
            && peer::database(span).is_none()
        {
            calls.entry((parent, peer::host(span).unwrap_or(""))).or_default().push(at);
        }
    }
    for some in calls.values_mut() {
        some.sort_by_key(|at| spans[*at].start_ns);
    }
    for at in 0..spans.len() {
        let (span, Some(parent)) = (&spans[at], parents[at]) else { continue };
        let is_beside = span.kind == SpanKind::Server && spans[parent].kind != SpanKind::Client;
        if !is_beside || spans[parent].service == span.service {
            continue;
        }
        let around = |peer: &str| {
            let some = calls.get(&(parent, peer))?;
            let before = some.partition_point(|call| spans[*call].start_ns <= span.start_ns);
            let call = *some.get(before.checked_sub(1)?)?;
            (spans[call].end_ns() >= span.end_ns()).then_some(call)
        };
        if let Some(call) = around(&span.service).or_else(|| around("")) {
            parents[at] = Some(call);
            flaws.adopted += 1;
        }
    }
}

/// Puts everything below the earliest of the spans without a parent; the client of the request comes before all others,
/// whatever the clocks show.
fn below_one_root(spans: &[Span], parents: &mut [Option<usize>], flaws: &mut Flaws) -> Option<usize> {
    let tops = || (0..spans.len()).filter(|at| parents[*at].is_none());
    let root = tops().min_by_key(|at| (!spans[*at].is_own(), spans[*at].start_ns, spans[*at].id))?;
    let others: Vec<usize> = tops().filter(|at| *at != root).collect();
    flaws.orphans = others.len();
    for other in others {
        parents[other] = Some(root);
    }
    Some(root)
}

fn nodes(parents: &[Option<usize>]) -> Vec<Node> {
    let node = |parent: &Option<usize>| Node {
        parent: *parent,
        depth: 0,
        start_ns: 0,
        end_ns: 0,
        follows: false,
        first_child: 0,
        children: 0,
    };
    parents.iter().map(node).collect()
}

/// All spans but the root, by parent and start; nodes hear where theirs are.
fn children(spans: &[Span], parents: &[Option<usize>], nodes: &mut [Node]) -> Vec<usize> {
    let mut all: Vec<(usize, usize)> =
        parents.iter().enumerate().filter_map(|(at, parent)| Some(((*parent)?, at))).collect();
    all.sort_by_key(|(parent, at)| (*parent, spans[*at].start_ns, *at));
    for (place, (parent, _)) in all.iter().enumerate().rev() {
        nodes[*parent].first_child = place;
        nodes[*parent].children += 1;
    }
    all.into_iter().map(|(_, at)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{span, trace};
    use super::*;

    /// Spans as id, parent, start and length; what is below what, and the flaws.
    #[track_caller]
    fn check(spans: &[(u64, u64, i64, u64)], expect: &str, flaws: Flaws) {
        let spans = spans.iter().map(|(id, parent, start, length)| span(*id, *parent, *start, *length));
        let trace = trace(spans.collect());
        let tree = Tree::new(&trace);
        let text = |at: &usize| {
            let node = tree.node(*at);
            format!("{}{} {}-{}", ".".repeat(node.depth), tree.spans()[*at].id, node.start_ns, node.end_ns)
        };
        assert_eq!(tree.order().iter().map(text).collect::<Vec<_>>().join(", "), expect);
        assert_eq!(tree.flaws(), flaws);
    }

    #[test]
    fn spans_stand_below_what_caused_them() {
        let none = Flaws::default();
        check(&[], "", none);
        check(
            &[(1, 0, 0, 10), (2, 1, 2, 3), (3, 2, 3, 1), (4, 1, 1, 1)],
            "1 0-10, .4 1-2, .2 2-5, ..3 3-4",
            none,
        );
        check(&[(2, 9, 4, 2)], "2 4-6", none);
    }

    /// Microseconds, as nanoseconds.
    const US: i64 = 1_000;

    #[test]
    fn spans_of_a_clock_of_milliseconds_begin_one_after_the_other() {
        let text = |third_start_us: i64, third_us: u64| {
            let us = |number: u64| number * 1_000;
            let spans = vec![
                span(1, 0, 0, us(9_000)),
                span(2, 1, 5_000 * US, us(300)),
                span(3, 1, 5_000 * US, us(200)),
                span(4, 3, 5_000 * US, us(100)),
                span(5, 1, third_start_us * US, us(third_us)),
            ];
            let trace = trace(spans);
            let tree = Tree::new(&trace);
            let text = |at: &usize| format!("{} {}", tree.spans()[*at].id, tree.node(*at).start_ns / US);
            tree.order().iter().map(text).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(text(5_000, 400), "1 0, 2 5000, 3 5300, 4 5300, 5 5500");
        assert_eq!(text(8_000, 400), "1 0, 2 5000, 3 5300, 4 5300, 5 8000");
        assert_eq!(text(4_000, 1_400), "1 0, 5 4000, 2 5400, 3 5700, 4 5700");
        assert_eq!(text(4_000, 2_500), "1 0, 5 4000, 2 5000, 3 5300, 4 5300", "they ran in parallel");
        assert_eq!(text(5_001, 400), "1 0, 2 5000, 3 5000, 4 5000, 5 5001", "the clock is a finer one");
    }

    #[test]
    fn whatever_was_received_becomes_a_tree() {
        let orphan = Flaws { orphans: 1, ..Flaws::default() };
        check(&[(1, 0, 0, 10), (2, 9, 2, 3)], "1 0-10, .2 2-5", orphan);
        let circle = Flaws { circles: 1, ..Flaws::default() };
        check(&[(1, 2, 0, 10), (2, 1, 1, 3)], "2 1-4, .1 1-4", Flaws { cut: 1, ..circle });
        let itself = Flaws { orphans: 1, ..Flaws::default() };
        check(&[(1, 0, 0, 10), (2, 2, 1, 3)], "1 0-10, .2 1-4", itself);
        let twins = Flaws { twins: 1, ..Flaws::default() };
        check(
            &[(1, 0, 0, 10), (2, 1, 1, 3), (2, 1, 5, 1), (3, 2, 2, 1)],
            "1 0-10, .2 1-4, ..3 2-3, .2 5-6",
            twins,
        );
    }

    #[test]
    fn nobody_waits_longer_than_they_do() {
        let cut = Flaws { cut: 1, ..Flaws::default() };
        check(&[(1, 0, 0, 10), (2, 1, 8, 9)], "1 0-10, .2 8-10", cut);
        check(&[(1, 0, 5, 10), (2, 1, 1, 9)], "1 5-15, .2 5-10", cut);
        check(&[(1, 0, 0, 10), (2, 1, 12, 9)], "1 0-10, .2 12-21", Flaws::default());
    }

    #[test]
    fn who_answers_by_another_clock_is_moved() {
        let mut spans = vec![span(1, 0, 0, 10), span(2, 1, 50, 4), span(3, 2, 51, 1)];
        spans[0].kind = SpanKind::Client;
        spans[1].kind = SpanKind::Server;
        let trace = trace(spans);
        let tree = Tree::new(&trace);
        let times = [0, 1, 2].map(|at| (tree.node(at).start_ns, tree.node(at).end_ns));
        assert_eq!(times, [(0, 10), (3, 7), (4, 5)]);
        assert_eq!(tree.flaws(), Flaws { moved: 1, ..Flaws::default() });
    }

    #[test]
    fn a_server_that_ends_its_span_after_the_response_stays_where_it_was() {
        let check = |start, length, expect: (i64, i64)| {
            let mut spans = vec![span(1, 0, 0, 1000), span(2, 1, start, length)];
            (spans[0].kind, spans[1].kind) = (SpanKind::Client, SpanKind::Server);
            let trace = trace(spans);
            let node = *Tree::new(&trace).node(1);
            assert_eq!((node.start_ns, node.end_ns), expect, "{start} + {length}");
        };
        check(950, 40, (950, 990));
        check(950, 52, (948, 1000));
        check(-3, 40, (0, 40));
        // Off by more than half of the slack, or by the whole wait.
        check(-900, 940, (30, 970));
        check(1500, 40, (480, 520));
    }

    #[test]
    fn an_answer_beside_its_call_belongs_below_it() {
        let mut spans = vec![span(1, 0, 0, 10), span(2, 1, 1, 8), span(3, 1, 2, 6), span(4, 1, 2, 6)];
        spans[1].kind = SpanKind::Client;
        spans[1].attributes = vec![("peer.service".into(), "model".to_owned())];
        (spans[2].kind, spans[3].kind) = (SpanKind::Server, SpanKind::Server);
        spans[2].service = "model".into();
        spans[3].service = "other".into();
        let trace = trace(spans);
        let tree = Tree::new(&trace);
        assert_eq!((tree.node(2).parent, tree.node(3).parent), (Some(1), Some(0)));
        assert_eq!(tree.flaws().adopted, 1);
    }

    #[test]
    fn a_link_says_what_published_a_message() {
        let mut spans = vec![span(1, 0, 0, 10), span(2, 1, 1, 2), span(3, 1, 20, 5)];
        (spans[1].kind, spans[2].kind) = (SpanKind::Producer, SpanKind::Consumer);
        spans[2].links = vec![(7, 2), (1, 2)];
        let trace = trace(spans);
        let tree = Tree::new(&trace);
        assert_eq!(tree.node(2).parent, Some(1));
        assert!(tree.node(2).follows);
        assert_eq!(tree.length_ns(), 25);
    }
}
