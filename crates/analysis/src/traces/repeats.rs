//! Statements that run again and again where one would do (N+1).

use std::collections::{BTreeMap, HashSet};

use model::Span;

use super::path::{Piece, PieceKind};
use super::peer;
use super::statement::normalised;
use super::tree::Tree;

/// So many statements of one form, one after the other below one span, are too many.
pub const REPEATS_MIN: usize = 5;

/// A statement that ran again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// The span that they are below.
    pub parent: usize,
    /// The statement without what differs.
    pub statement: String,
    /// Its spans, one after the other.
    pub spans: Vec<usize>,
    /// How long they took together.
    pub total_ns: u64,
    /// How much of it is on the critical path.
    pub on_path_ns: u64,
    /// Time on the critical path between one and the next, whatever it is: work on results, further statements of the same loop.
    pub between_ns: u64,
}

/// Statements that ran at least [`REPEATS_MIN`] times below one span, each begun when the one before it was over; what takes
/// longest first.
pub fn repeated_statements(tree: &Tree<'_>, path: &[Piece]) -> Vec<Repeats> {
    let mut on_path_ns = vec![0; tree.spans().len()];
    for piece in path.iter().filter(|piece| piece.kind == PieceKind::Work) {
        on_path_ns[piece.span] += piece.length_ns();
    }
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    let mut all = Vec::new();
    for parent in tree.order().iter().copied() {
        for (statement, spans) in in_a_row(tree, parent, &mut texts) {
            let length_ns = |span: &usize| tree.node(*span).end_ns.abs_diff(tree.node(*span).start_ns);
            let total_ns = spans.iter().map(length_ns).sum();
            let on_path_ns = spans.iter().map(|span| on_path_ns[*span]).sum();
            let (Some(first), Some(last)) = (spans.first(), spans.last()) else { continue };
            let ends_ns = (tree.node(*first).end_ns, tree.node(*last).start_ns);
            let between_ns = between(path, &spans, ends_ns);
            all.push(Repeats { parent, statement, spans, total_ns, on_path_ns, between_ns });
        }
    }
    all.sort_by_key(|repeats| std::cmp::Reverse(repeats.total_ns));
    all
}

/// Returns the time on the critical path between the first and the last of these spans that is not theirs, nanoseconds.
fn between(path: &[Piece], spans: &[usize], ends_ns: (i64, i64)) -> u64 {
    let own: HashSet<usize> = spans.iter().copied().collect();
    let others = path.iter().filter(|piece| !own.contains(&piece.span));
    let inside = |piece: &Piece| (piece.end_ns.min(ends_ns.1) - piece.start_ns.max(ends_ns.0)).max(0);
    others.map(|piece| inside(piece).unsigned_abs()).sum()
}

fn in_a_row<'a>(
    tree: &Tree<'a>,
    parent: usize,
    texts: &mut BTreeMap<&'a str, String>,
) -> Vec<(String, Vec<usize>)> {
    if tree.children(parent).len() < REPEATS_MIN {
        return Vec::new();
    }
    let mut rows: BTreeMap<(&str, String), Vec<usize>> = BTreeMap::new();
    for child in tree.children(parent) {
        let span: &'a Span = &tree.spans()[*child];
        let (Some(_), Some(text)) = (peer::database(span), peer::statement(span)) else { continue };
        let statement = texts.entry(text).or_insert_with(|| normalised(text)).clone();
        let row = rows.entry((&span.service, statement)).or_default();
        let is_after = row.last().is_none_or(|last| tree.node(*last).end_ns <= tree.node(*child).start_ns);
        if is_after {
            row.push(*child);
        }
    }
    let rows = rows.into_iter().filter(|(_, spans)| spans.len() >= REPEATS_MIN);
    rows.map(|((_, statement), spans)| (statement, spans)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::path::critical_path;
    use super::super::testing::{query, span, trace};
    use super::*;

    /// Starts and lengths of statements; how many repeat, how long they take, and how much is on the path.
    #[track_caller]
    fn check(times: &[(i64, u64)], text: impl Fn(u64) -> String, expect: Option<(usize, u64, u64)>) {
        let mut spans = vec![span(1, 0, 0, 1000)];
        for (at, (start, length)) in times.iter().enumerate() {
            let id = at as u64 + 2;
            spans.push(query(id, 1, *start, *length, &text(id)));
        }
        let trace = trace(spans);
        let tree = Tree::new(&trace);
        let found = repeated_statements(&tree, &critical_path(&tree));
        let shown = found.first().map(|one| (one.spans.len(), one.total_ns, one.on_path_ns));
        assert_eq!(shown, expect, "{times:?}");
    }

    #[test]
    fn what_runs_again_and_again_is_found() {
        let by_id = |id| format!("SELECT * FROM character WHERE id = {id}");
        let row: Vec<(i64, u64)> = (0..34).map(|at| (at * 10, 9)).collect();
        check(&row, by_id, Some((34, 306, 306)));
        check(&row[..REPEATS_MIN], by_id, Some((5, 45, 45)));
        check(&row[..REPEATS_MIN - 1], by_id, None);
        check(&row, |id| format!("SELECT {} FROM a", "x".repeat(id as usize)), None);
        // Side by side they are no row, however many they are.
        check(&[(1, 100); 20], by_id, None);
    }

    #[test]
    fn work_between_repeated_statements_is_theirs_and_work_around_them_is_not() {
        let mut spans = vec![span(1, 0, 0, 1000)];
        spans.extend(
            (0..6).map(|at| query(at + 2, 1, 100 + at as i64 * 50, 20, "SELECT city FROM addresses")),
        );
        let found = |spans: Vec<Span>| {
            let trace = trace(spans);
            let tree = Tree::new(&trace);
            let mut found = repeated_statements(&tree, &critical_path(&tree));
            let found = found.remove(0);
            (found.on_path_ns, found.between_ns)
        };
        assert_eq!(found(spans.clone()), (120, 150));
        // A further statement of the same loop is between them, too.
        spans.extend((0..5).map(|at| query(at + 12, 1, 125 + at as i64 * 50, 10, "RESET ALL")));
        assert_eq!(found(spans), (120, 150));
    }
}
