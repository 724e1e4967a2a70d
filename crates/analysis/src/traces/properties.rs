//! Properties that hold of every trace, including malformed ones.

use model::{Kept, SpanKind, Trace};
use proptest::prelude::*;

use super::testing::{any_trace, query, scan, span, task, trace};
use super::*;

/// Pieces are in order, leave nothing out, and are the whole.
fn assert_covers(pieces: &[Piece], start_ns: i64, end_ns: i64) {
    let mut now_ns = start_ns;
    for piece in pieces {
        assert_eq!(piece.start_ns, now_ns, "a hole or an overlap in {pieces:?}");
        assert!(piece.start_ns < piece.end_ns, "an empty piece in {pieces:?}");
        now_ns = piece.end_ns;
    }
    assert_eq!(now_ns, end_ns, "it ends too early: {pieces:?}");
    assert_eq!(pieces.iter().map(Piece::length_ns).sum::<u64>(), end_ns.abs_diff(start_ns));
}

fn assert_sound(trace: &Trace) {
    let tree = Tree::new(trace);
    assert_eq!(tree.order().len(), trace.spans.len(), "every span has a place");
    for at in tree.order() {
        let node = tree.node(*at);
        assert!(node.start_ns <= node.end_ns);
        let Some(parent) = node.parent.map(|parent| tree.node(parent)) else { continue };
        assert!(node.start_ns >= parent.start_ns && node.depth == parent.depth + 1);
        assert!(node.follows || node.end_ns <= parent.end_ns, "who waits ends last");
    }
    let path = critical_path(&tree);
    assert_covers(&path, tree.start_ns(), tree.end_ns());
    let answer = answer_path(&tree);
    if let Some(root) = tree.root() {
        assert_covers(&answer, tree.node(root).start_ns, tree.node(root).end_ns);
    }
    assert_eq!(attribute(&tree, &path, None).total_ns(), tree.length_ns());
    let parts: u64 = stretches(&path).iter().map(|part| part.end_ns.abs_diff(part.start_ns)).sum();
    assert_eq!(parts, tree.length_ns());
    for repeats in repeated_statements(&tree, &path) {
        assert!(repeats.spans.len() >= REPEATS_MIN && repeats.on_path_ns <= repeats.total_ns);
    }
    for (span, own) in own_ns(&tree).into_iter().enumerate() {
        assert!(own <= tree.node(span).end_ns.abs_diff(tree.node(span).start_ns));
    }
    let table = stages(std::iter::once(trace));
    let sum: f64 = table.stages.iter().map(|stage| stage.mean_ns).sum();
    assert!((sum - tree.length_ns() as f64).abs() <= tree.length_ns() as f64 * 1e-9);
    let mut builder = GraphBuilder::default();
    builder.add(trace);
    let graph = builder.build();
    assert!(graph.edges.iter().all(|edge| edge.all.errors <= edge.all.count));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn everything_holds_of_any_trace(trace in any_trace()) {
        assert_sound(&trace);
    }

    #[test]
    fn a_request_is_its_parts(trace in any_trace(), request_ns in any::<u32>()) {
        let tree = Tree::new(&trace);
        let path = answer_path(&tree);
        let path_ns: u64 = path.iter().map(Piece::length_ns).sum();
        let attribution = attribute(&tree, &path, Some(u64::from(request_ns)));
        prop_assert_eq!(attribution.total_ns(), path_ns.max(u64::from(request_ns)));
    }
}

/// Spans of the traces for the time limit.
const MANY: u64 = 100_000;

fn many(of: impl Fn(u64) -> model::Span) -> Trace {
    trace((1..=MANY).map(of).collect())
}

#[test]
fn a_hundred_thousand_spans_are_no_trouble() {
    let parent = |id: u64, of: u64| if id == 1 { 0 } else { of };
    assert_sound(&many(|id| span(id, parent(id, 1), id as i64 - 1, if id == 1 { 2 * MANY } else { 1 })));
    assert_sound(&many(|id| span(id, id - 1, id as i64, 3 * MANY - 2 * id)));
    assert_sound(&many(|id| span(id, id, 0, 0)));
    assert_sound(&many(|id| span(id, id % MANY + 1, 0, 5)));
    assert_sound(&many(|id| span(id, 0, id as i64, 7)));
    assert_sound(&many(|id| {
        task(id, parent(id, 1), id as i64 * 10, 5, if id.is_multiple_of(2) { "a" } else { "b" })
    }));
    assert_sound(&many(|id| task(id, parent(id, 1), id as i64 * 10, 5, "a")));
    assert_sound(&many(|id| query(id, parent(id, 1), id as i64, 1, &format!("select {id}"))));
    let calls = |id: u64| {
        let mut span = span(id, parent(id, 1), 0, MANY);
        span.kind = if id.is_multiple_of(2) { SpanKind::Client } else { SpanKind::Server };
        span.service = if id.is_multiple_of(2) { "shop".into() } else { "stock".into() };
        span
    };
    assert_sound(&many(calls));
}

#[test]
fn a_sampled_scan_stands_for_others() {
    assert_sound(&scan());
    assert_sound(&Trace { kept: Kept::Error, ..scan() });
}
