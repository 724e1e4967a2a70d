//! Whose the time of a request was: each instant of its critical path is exactly one part's.

use model::{Span, SpanKind};

use super::path::{Piece, PieceKind};
use super::peer;
use super::tree::Tree;

/// Whose a part of a request's time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Between who asks and who answers, where both are seen: the call without the answer's span.
    Network,
    /// Services at work.
    Target,
    /// Calls of databases.
    Database,
    /// Calls of somebody who has no span here.
    External,
    /// Messages in their queues, and putting them there.
    Queue,
    /// Nobody who was seen.
    Unseen,
    /// Who polls: all is done, and they have yet to ask.
    Poll,
}

/// How long each part of a request's time was. The parts add up to the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attribution {
    parts_ns: [u64; Part::ALL.len()],
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 7] =
        [Part::Network, Part::Target, Part::Database, Part::External, Part::Queue, Part::Unseen, Part::Poll];

    /// Its name in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Part::Network => "network",
            Part::Target => "target",
            Part::Database => "database",
            Part::External => "external",
            Part::Queue => "queue",
            Part::Unseen => "unseen",
            Part::Poll => "poll",
        }
    }

    /// Whose a piece of a path is.
    pub fn of(tree: &Tree<'_>, piece: &Piece) -> Part {
        match piece.kind {
            PieceKind::Queue => Part::Queue,
            PieceKind::Between => Part::Unseen,
            PieceKind::Poll => Part::Poll,
            PieceKind::Work => Part::of_work(tree, piece.span),
        }
    }

    fn of_work(tree: &Tree<'_>, at: usize) -> Part {
        let span = &tree.spans()[at];
        if peer::database(span).is_some() {
            return Part::Database;
        }
        match span.kind {
            SpanKind::Producer => Part::Queue,
            SpanKind::Client if answers(tree, at) => Part::Network,
            SpanKind::Client => Part::External,
            SpanKind::Internal | SpanKind::Server | SpanKind::Consumer => Part::Target,
        }
    }
}

impl Attribution {
    /// How long a part was.
    pub fn part_ns(&self, part: Part) -> u64 {
        self.parts_ns[part as usize]
    }

    /// How long the request took.
    pub fn total_ns(&self) -> u64 {
        self.parts_ns.iter().fold(0, |sum, part| sum.saturating_add(*part))
    }

    /// Adds another request that stands for so many.
    pub fn add(&mut self, other: &Attribution, weight: f64) {
        for (mine, others) in self.parts_ns.iter_mut().zip(other.parts_ns) {
            *mine = mine.saturating_add((others as f64 * weight).round() as u64);
        }
    }
}

/// Whose the time of a path was. Where the one who asked has no span but measured how long it took, what is longer than the
/// path was the network's; a measurement that is shorter than the path says nothing.
pub fn attribute(tree: &Tree<'_>, path: &[Piece], request_ns: Option<u64>) -> Attribution {
    let mut attribution = Attribution::default();
    for piece in path {
        attribution.parts_ns[Part::of(tree, piece) as usize] += piece.length_ns();
    }
    let beyond_ns = request_ns.unwrap_or(0).saturating_sub(attribution.total_ns());
    attribution.parts_ns[Part::Network as usize] += beyond_ns;
    attribution
}

/// Whether a call is answered by a span that is here.
pub(super) fn answers(tree: &Tree<'_>, call: usize) -> bool {
    let is_server = |span: &Span| span.kind == SpanKind::Server;
    tree.children(call).iter().any(|child| is_server(&tree.spans()[*child]))
}

#[cfg(test)]
mod tests {
    use super::super::path::{answer_path, critical_path};
    use super::super::testing::{query, scan, span, trace};
    use super::*;

    /// Milliseconds of each part in their order.
    #[track_caller]
    fn check(spans: Vec<Span>, request_ns: Option<u64>, expect: [u64; 7]) {
        let trace = trace(spans);
        let tree = Tree::new(&trace);
        let attribution = attribute(&tree, &answer_path(&tree), request_ns);
        assert_eq!(attribution.parts_ns, expect);
        assert_eq!(attribution.total_ns(), expect.iter().sum::<u64>());
    }

    fn of(kind: SpanKind, span: Span) -> Span {
        Span { kind, ..span }
    }

    #[test]
    fn each_instant_is_one_parts() {
        let spans = vec![
            of(SpanKind::Client, span(1, 0, 0, 100)),
            of(SpanKind::Server, span(2, 1, 5, 90)),
            query(3, 2, 10, 30, "select 1"),
            of(SpanKind::Client, span(4, 2, 50, 20)),
            of(SpanKind::Producer, span(5, 2, 80, 4)),
        ];
        check(spans, None, [10, 36, 30, 20, 4, 0, 0]);
        let alone = || vec![of(SpanKind::Server, span(1, 0, 0, 100))];
        check(alone(), Some(130), [30, 100, 0, 0, 0, 0, 0]);
        check(alone(), Some(70), [0, 100, 0, 0, 0, 0, 0]);
        check(vec![], None, [0; 7]);
    }

    #[test]
    fn a_scan_waits_more_than_it_works() {
        let trace = scan();
        let tree = Tree::new(&trace);
        let attribution = attribute(&tree, &critical_path(&tree), None);
        let ms = Part::ALL.map(|part| attribution.part_ns(part) / 1_000_000);
        assert_eq!(ms, [0, 5_100, 0, 5_900, 45_000, 0, 0]);
    }
}
