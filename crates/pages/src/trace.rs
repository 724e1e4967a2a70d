//! `/traces/{trace}`: the waterfall of one trace.

use std::collections::{BTreeMap, BTreeSet};

use analysis::traces::{
    self as said, Attribution, Component, Flaws, Piece, PieceKind, Repeats, Tree, attribute, critical_path,
    own_ns,
};
use api::Number;
use api::page::{Fact, PathPiece, RepeatRow, SpanRow, TraceFlaw, TracePage, TracePart, TraceStretch};
use model::plan::TimeUnit;
use model::{Span, SpanStatus, Trace};
use server::{PageError, Question};

use super::scope::Scope;
use super::traces::{at, id, kind, ms, parts, t};
use super::{damaged, json, values};

/// Maximum number of rows of a trace.
const ROWS_MAX: usize = 10_000;

/// Minimum number of similar siblings that are folded.
const FOLDED_MIN: usize = 3;

/// Maximum size of all attributes of an answer, bytes; later rows have none.
const ATTRIBUTE_BYTES_MAX: usize = 8 << 20;

/// Maximum number of repeated statements listed separately.
const REPEATS_MAX: usize = 50;

pub(super) fn answer(scope: &Scope, question: &Question) -> Result<String, PageError> {
    let number = u128::from_str_radix(&question.part, 16).unwrap_or(0);
    let missing =
        || PageError::NotFound(format!("failed to find the trace {}: it was not kept", question.part));
    let trace = scope.reader.trace(number).map_err(damaged)?.ok_or_else(missing)?;
    let page = page(&trace, scope.time_unit()).ok_or_else(missing)?;
    let start_ns = Tree::new(&trace).start_ns();
    json(&TracePage { t: Number(t(scope, start_ns)), at: at(scope, start_ns), ..page })
}

/// Returns the waterfall of a trace, without its start time; `None` for a trace without spans.
fn page(trace: &Trace, unit: Option<TimeUnit>) -> Option<TracePage> {
    let tree = Tree::new(trace);
    let root = &trace.spans[tree.root()?];
    let path = critical_path(&tree);
    let repeats = said::repeated_statements(&tree, &path);
    let mut drawing = Drawing::new(&tree, &path, unit);
    drawing.mark(&repeats);
    drawing.draw();
    let attribution = attribute(&tree, &path, None);
    let errors = trace.spans.iter().filter(|span| span.status == SpanStatus::Error).count();
    Some(TracePage {
        id: id(trace),
        t: Number(0.0),
        at: String::new(),
        kept: trace.kept.as_str(),
        service: root.service.to_string(),
        operation: root.operation.to_string(),
        duration: ms(tree.length_ns() as f64, unit),
        answer: ms(root.duration.as_nanos() as f64, unit),
        spans: trace.spans.len() as u32,
        errors: errors as u32,
        services: services(trace),
        left_out: drawing.left_out,
        bare: drawing.bare,
        path: path.iter().map(|piece| drawing.piece(piece)).collect(),
        stretches: stretches(&tree, &path, unit),
        parts: parts_of(&tree, &path, &attribution, unit),
        repeats: repeats.iter().take(REPEATS_MAX).map(|one| drawing.repeats(one)).collect(),
        flaws: flaws(tree.flaws()),
        rows: drawing.rows,
    })
}

fn services(trace: &Trace) -> Vec<String> {
    let names: BTreeSet<&str> = trace.spans.iter().map(|span| &*span.service).collect();
    names.into_iter().map(str::to_owned).collect()
}

fn stretches(tree: &Tree<'_>, path: &[Piece], unit: Option<TimeUnit>) -> Vec<TraceStretch> {
    let since = |at_ns: i64| Number(at_ns.abs_diff(tree.start_ns()) as f64 / 1e6);
    let stretch = |one: said::Stretch| TraceStretch {
        start: since(one.start_ns),
        end: since(one.end_ns),
        duration: ms(one.end_ns.abs_diff(one.start_ns) as f64, unit),
        is_wait: one.waits.is_some(),
    };
    said::stretches(path).into_iter().map(stretch).collect()
}

/// Returns the parts of the time, each with its number of spans or queues.
fn parts_of(
    tree: &Tree<'_>,
    path: &[Piece],
    attribution: &Attribution,
    unit: Option<TimeUnit>,
) -> Vec<TracePart> {
    let mut of: BTreeMap<Component, BTreeSet<usize>> = BTreeMap::new();
    for piece in path {
        of.entry(Component::classify(tree, piece)).or_default().insert(piece.span);
    }
    parts(attribution, 1.0, |part| of.get(&part).map_or(0, |spans| spans.len() as u64), unit)
}

fn flaws(flaws: Flaws) -> Vec<TraceFlaw> {
    let all = [
        ("orphans", flaws.orphans),
        ("circles", flaws.circles),
        ("twins", flaws.twins),
        ("cut", flaws.cut),
        ("moved", flaws.moved),
        ("adopted", flaws.adopted),
    ];
    let some = all.into_iter().filter(|(_, count)| *count > 0);
    some.map(|(name, count)| TraceFlaw { name, count: count as u64 }).collect()
}

/// The rows of a trace under construction.
struct Drawing<'t, 'a> {
    tree: &'t Tree<'a>,
    unit: Option<TimeUnit>,
    own_ns: Vec<u64>,
    on_path_ns: Vec<u64>,
    /// For spans that follow another: when the wait for them began.
    since_ns: BTreeMap<usize, i64>,
    /// Spans of repeated statements.
    repeated: BTreeSet<usize>,
    rows: Vec<SpanRow>,
    /// The row of each span, and the row of its wait.
    places: Vec<Option<u32>>,
    waits: BTreeMap<usize, u32>,
    /// The fold that contains each span, if any.
    folds: BTreeMap<usize, u32>,
    attribute_bytes: usize,
    left_out: u64,
    bare: u64,
}

/// The next row or rows to draw.
enum Next {
    Span { span: usize, parent: Option<u32>, depth: u32 },
    Fold { spans: Vec<usize>, parent: Option<u32>, depth: u32 },
}

impl<'t, 'a> Drawing<'t, 'a> {
    fn new(tree: &'t Tree<'a>, path: &[Piece], unit: Option<TimeUnit>) -> Drawing<'t, 'a> {
        let mut on_path_ns = vec![0; tree.spans().len()];
        for piece in path.iter().filter(|piece| piece.kind == PieceKind::Work) {
            on_path_ns[piece.span] += piece.length_ns();
        }
        let waits = said::causes(tree).into_iter();
        let waits = waits.filter(|cause| cause.since_ns < tree.node(cause.span).start_ns);
        Drawing {
            tree,
            unit,
            own_ns: own_ns(tree),
            on_path_ns,
            since_ns: waits.map(|cause| (cause.span, cause.since_ns)).collect(),
            repeated: BTreeSet::new(),
            rows: Vec::new(),
            places: vec![None; tree.spans().len()],
            waits: BTreeMap::new(),
            folds: BTreeMap::new(),
            attribute_bytes: 0,
            left_out: 0,
            bare: 0,
        }
    }

    fn mark(&mut self, repeats: &[Repeats]) {
        self.repeated.extend(repeats.iter().flat_map(|one| one.spans.iter().copied()));
    }

    fn draw(&mut self) {
        let root = self.tree.root().map(|span| Next::Span { span, parent: None, depth: 0 });
        let mut waiting: Vec<Next> = root.into_iter().collect();
        while let Some(next) = waiting.pop() {
            // A wait takes a row besides its span's.
            if self.rows.len() + 2 > ROWS_MAX {
                self.left_out += match &next {
                    Next::Span { .. } => 1,
                    Next::Fold { spans, .. } => spans.len() as u64,
                };
                continue;
            }
            let row = self.rows.len() as u32;
            match next {
                Next::Span { span, parent, depth } => {
                    self.wait(span, parent, depth);
                    let row = self.rows.len() as u32;
                    let drawn = self.span(span, parent, depth);
                    self.places[span] = Some(row);
                    self.rows.push(drawn);
                    waiting.extend(self.below(span, row, depth + 1).into_iter().rev());
                }
                Next::Fold { spans, parent, depth } => {
                    let fold = self.fold(&spans, parent, depth);
                    self.rows.push(fold);
                    self.folds.extend(spans.iter().map(|span| (*span, row)));
                    let one = |span| Next::Span { span, parent: Some(row), depth: depth + 1 };
                    waiting.extend(spans.into_iter().rev().map(one));
                }
            }
        }
    }

    /// Returns the rows below a span: its children, with similar ones folded at the first of them.
    fn below(&self, span: usize, row: u32, depth: u32) -> Vec<Next> {
        let children = self.tree.children(span);
        let mut alike: BTreeMap<(&str, &str, bool), Vec<usize>> = BTreeMap::new();
        for child in children {
            alike.entry(self.likeness(*child)).or_default().push(*child);
        }
        let next = |child: &usize| {
            let spans = alike.get(&self.likeness(*child)).filter(|spans| spans.len() >= FOLDED_MIN);
            match spans {
                None => Some(Next::Span { span: *child, parent: Some(row), depth }),
                Some(spans) if spans.first() == Some(child) => {
                    Some(Next::Fold { spans: spans.clone(), parent: Some(row), depth })
                }
                Some(_) => None,
            }
        };
        children.iter().filter_map(next).collect()
    }

    fn likeness(&self, span: usize) -> (&'a str, &'a str, bool) {
        let of = &self.tree.spans()[span];
        (&of.service, &of.operation, self.repeated.contains(&span))
    }

    /// Draws the wait before a span, if there is one.
    fn wait(&mut self, span: usize, parent: Option<u32>, depth: u32) {
        let Some(since_ns) = self.since_ns.get(&span).copied() else { return };
        let (of, node) = (&self.tree.spans()[span], self.tree.node(span));
        let wait_ns = node.start_ns.abs_diff(since_ns);
        let queue = said::queue(of).filter(|_| of.kind == model::SpanKind::Consumer).unwrap_or("");
        let part = if of.kind == model::SpanKind::Consumer { Component::Queue } else { Component::Unseen };
        self.waits.insert(span, self.rows.len() as u32);
        self.rows.push(SpanRow {
            kind: "wait",
            operation: queue.to_owned(),
            part: part.as_str(),
            start: self.since(since_ns),
            length: Number(wait_ns as f64 / 1e6),
            duration: ms(wait_ns as f64, self.unit),
            own: ms(wait_ns as f64, self.unit),
            ..self.empty(span, parent, depth)
        });
    }

    fn span(&mut self, span: usize, parent: Option<u32>, depth: u32) -> SpanRow {
        let of = &self.tree.spans()[span];
        let bytes: usize = of.attributes.iter().map(|(name, value)| name.len() + value.len()).sum();
        let has_room = self.attribute_bytes + bytes <= ATTRIBUTE_BYTES_MAX;
        if has_room {
            self.attribute_bytes += bytes;
        } else {
            self.bare += 1;
        }
        let fact = |(name, value): &(std::sync::Arc<str>, String)| Fact {
            name: name.to_string(),
            value: value.clone(),
        };
        let attributes = of.attributes.iter().filter(|_| has_room).map(fact).collect();
        SpanRow {
            attributes,
            statement: said::statement(of).filter(|_| has_room).map(str::to_owned),
            ..self.empty(span, parent, depth)
        }
    }

    fn fold(&self, spans: &[usize], parent: Option<u32>, depth: u32) -> SpanRow {
        let first = spans.first().copied().unwrap_or_default();
        let nodes = || spans.iter().map(|span| self.tree.node(*span));
        let start_ns = nodes().map(|node| node.start_ns).min().unwrap_or_default();
        let end_ns = nodes().map(|node| node.end_ns).max().unwrap_or_default();
        let sum = |of: &dyn Fn(usize) -> u64| spans.iter().map(|span| of(*span) as f64).sum::<f64>();
        let length_ns = |span: usize| self.tree.node(span).end_ns.abs_diff(self.tree.node(span).start_ns);
        let is_repeated = self.repeated.contains(&first);
        let statement = said::statement(&self.tree.spans()[first]).filter(|_| is_repeated);
        SpanRow {
            kind: "fold",
            start: self.since(start_ns),
            length: Number(end_ns.abs_diff(start_ns) as f64 / 1e6),
            duration: ms(sum(&length_ns), self.unit),
            own: ms(sum(&|span| self.own_ns[span]), self.unit),
            on_path: ms(sum(&|span| self.on_path_ns[span]), self.unit),
            is_error: spans.iter().any(|span| self.tree.spans()[*span].status == SpanStatus::Error),
            count: spans.len() as u32,
            is_repeated,
            statement: statement.map(said::normalised),
            ..self.empty(first, parent, depth)
        }
    }

    /// Returns the fields that all rows of a span share.
    fn empty(&self, span: usize, parent: Option<u32>, depth: u32) -> SpanRow {
        let (of, node) = (&self.tree.spans()[span], self.tree.node(span));
        let length_ns = node.end_ns.abs_diff(node.start_ns);
        let work = Piece { span, kind: PieceKind::Work, start_ns: node.start_ns, end_ns: node.end_ns };
        SpanRow {
            kind: "span",
            id: format!("{:016x}", of.id),
            parent,
            depth,
            service: of.service.to_string(),
            operation: of.operation.to_string(),
            side: of.kind.as_str(),
            peer: peer(of),
            part: Component::classify(self.tree, &work).as_str(),
            start: self.since(node.start_ns),
            length: Number(length_ns as f64 / 1e6),
            duration: ms(length_ns as f64, self.unit),
            own: ms(self.own_ns[span] as f64, self.unit),
            on_path: ms(self.on_path_ns[span] as f64, self.unit),
            is_error: of.status == SpanStatus::Error,
            count: 1,
            is_repeated: false,
            statement: None,
            attributes: Vec::new(),
        }
    }

    fn piece(&self, piece: &Piece) -> PathPiece {
        let row = match piece.kind {
            PieceKind::Work | PieceKind::Poll => self.places[piece.span],
            PieceKind::Queue | PieceKind::Between => self.waits.get(&piece.span).copied(),
        };
        PathPiece {
            row,
            kind: kind(piece.kind),
            part: Component::classify(self.tree, piece).as_str(),
            start: self.since(piece.start_ns),
            end: self.since(piece.end_ns),
        }
    }

    fn repeats(&self, repeats: &Repeats) -> RepeatRow {
        let (count, total_ns) = (repeats.spans.len(), repeats.total_ns as f64);
        let (whole_ns, on_path_ns) = (self.tree.length_ns(), repeats.on_path_ns);
        RepeatRow {
            row: repeats.spans.first().and_then(|span| self.folds.get(span)).copied(),
            statement: repeats.statement.clone(),
            parent: self.tree.spans()[repeats.parent].operation.to_string(),
            count: count as u64,
            total: ms(total_ns, self.unit),
            mean: ms(total_ns / count.max(1) as f64, self.unit),
            share: values::share(on_path_ns as f64 / whole_ns.max(1) as f64),
            without: ms(whole_ns.saturating_sub(on_path_ns) as f64, self.unit),
        }
    }

    fn since(&self, at_ns: i64) -> Number {
        Number(at_ns.abs_diff(self.tree.start_ns()) as f64 / 1e6)
    }
}

/// Returns the peer that a span works with.
fn peer(span: &Span) -> String {
    let of = said::database(span).or_else(|| said::queue(span));
    of.or_else(|| said::host(span).filter(|_| span.kind == model::SpanKind::Client)).unwrap_or("").to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::{Kept, SpanKind};

    use super::*;

    fn span(id: u64, parent: u64, start_ms: i64, length_ms: u64) -> Span {
        Span {
            id,
            parent: (parent != 0).then_some(parent),
            kind: SpanKind::Internal,
            service: "worker".into(),
            operation: format!("work {id}").into(),
            start_ns: start_ms * 1_000_000,
            duration: Duration::from_millis(length_ms),
            status: SpanStatus::Unset,
            attributes: Vec::new(),
            links: Vec::new(),
        }
    }

    fn drawn(spans: Vec<Span>) -> TracePage {
        page(&Trace { id: 7, kept: Kept::Slowest, spans }, None).expect("a trace with spans")
    }

    fn lines(page: &TracePage) -> Vec<String> {
        let row = |row: &SpanRow| {
            let dots = ".".repeat(row.depth as usize);
            format!("{dots}{} {} {}x {}", row.kind, row.operation, row.count, row.duration.text)
        };
        page.rows.iter().map(row).collect()
    }

    /// A request that puts work into a queue; its worker repeats a database statement.
    fn reward() -> Vec<Span> {
        let mut spans = vec![span(1, 0, 0, 100), span(2, 1, 18_100, 100)];
        spans[1].kind = SpanKind::Consumer;
        spans[1].attributes = vec![("messaging.destination.name".into(), "scan.reward".to_owned())];
        for id in 3..37 {
            let attributes =
                [("db.system", "postgresql".to_owned()), ("db.statement", format!("select {id}"))];
            let attributes = attributes.map(|(name, value)| (name.into(), value)).into();
            let query = span(id, 2, 18_100 + (id as i64 - 3) * 2, 1);
            spans.push(Span { kind: SpanKind::Client, operation: "SELECT".into(), attributes, ..query });
        }
        spans
    }

    #[test]
    fn waits_have_rows_and_repeats_are_folded() {
        let page = drawn(reward());
        let rows = lines(&page);
        assert_eq!(
            rows[..5],
            [
                "span work 1 1x 100ms",
                ".wait scan.reward 1x 18s",
                ".span work 2 1x 100ms",
                "..fold SELECT 34x 34ms",
                "...span SELECT 1x 1ms",
            ]
        );
        assert_eq!(rows.len(), 38);
        assert_eq!((page.rows[3].is_repeated, page.rows[3].statement.as_deref()), (true, Some("select ?")));
        let [repeats] = &page.repeats[..] else { panic!("one repeat: {:?}", page.repeats) };
        assert_eq!((repeats.row, repeats.count, repeats.without.text.as_str()), (Some(3), 34, "18.16s"));
        assert_eq!(page.path[1].row, Some(1), "the wait is on the path");
        let parts: Vec<_> = page.parts.iter().map(|part| (part.name, part.count)).collect();
        assert_eq!(parts, [("target", 2), ("database", 34), ("queue", 1)]);
        assert_eq!(page.stretches.iter().filter(|stretch| stretch.is_wait).count(), 1);
    }

    #[test]
    fn what_is_too_much_is_counted() {
        let mut spans = vec![span(1, 0, 0, 100)];
        spans.extend((2..ROWS_MAX as u64 + 50).map(|id| span(id, 1, 1, 1)));
        for span in &mut spans[..30] {
            span.attributes = vec![("a".into(), "x".repeat(ATTRIBUTE_BYTES_MAX / 20))];
        }
        let page = drawn(spans);
        assert_eq!((page.rows.len() as u64 + page.left_out, page.bare), (ROWS_MAX as u64 + 49, 11));
    }
}
