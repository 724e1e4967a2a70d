//! Whose the time of a request was: each instant of its critical path is exactly one part's.

use std::collections::BTreeMap;

use model::{Span, SpanKind};

use super::path::{Piece, PieceKind};
use super::peer;
use super::tree::Tree;
use crate::roles::ActivityRole;

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
    /// Looking up a name, connecting and agreeing on TLS, before a request of the run itself could be sent.
    Connecting,
}

/// How long each part of a request's time was. The parts add up to the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attribution {
    parts_ns: [u64; Part::ALL.len()],
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 8] = [
        Part::Network,
        Part::Target,
        Part::Database,
        Part::External,
        Part::Queue,
        Part::Unseen,
        Part::Poll,
        Part::Connecting,
    ];

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
            Part::Connecting => "connecting",
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
            // What nobody answered in a span says nothing of whose the time was.
            SpanKind::Client if span.is_own() && tree.children(at).is_empty() => Part::Unseen,
            SpanKind::Client if span.is_own() => Part::Network,
            SpanKind::Client if answers(tree, at) => Part::Network,
            SpanKind::Client => match ActivityRole::new(span) {
                // Waiting for a connection or a turn happens in the service that recorded it.
                role if role.is_wait() => Part::Target,
                ActivityRole::Publish | ActivityRole::Receive => Part::Queue,
                ActivityRole::Process | ActivityRole::Work => Part::Target,
                _ => Part::External,
            },
            SpanKind::Internal | SpanKind::Server | SpanKind::Consumer => Part::Target,
        }
    }
}

impl Attribution {
    /// One of these parts, nanoseconds.
    pub fn of(parts: &[(Part, u64)]) -> Attribution {
        let mut attribution = Attribution::default();
        for (part, ns) in parts {
            attribution.parts_ns[*part as usize] += ns;
        }
        attribution
    }

    /// The parts that there are, in nanoseconds.
    pub fn parts(&self) -> impl Iterator<Item = (Part, u64)> {
        Part::ALL.into_iter().zip(self.parts_ns).filter(|(_, ns)| *ns > 0)
    }

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

/// Whose the time of a path was. Only lengths are taken from each other, each by the clock of who measured it: clocks of two
/// machines differ. Where the one who asked has no span but measured how long it took, what is longer than the
/// path was the network's; a measurement that is shorter than the path says nothing.
pub fn attribute(tree: &Tree<'_>, path: &[Piece], request_ns: Option<u64>) -> Attribution {
    let mut attribution = Attribution::default();
    let mut of_requests: BTreeMap<usize, u64> = BTreeMap::new();
    for piece in path {
        attribution.parts_ns[Part::of(tree, piece) as usize] += piece.length_ns();
        if piece.kind == PieceKind::Work && tree.spans()[piece.span].is_own() {
            *of_requests.entry(piece.span).or_default() += piece.length_ns();
        }
    }
    for (span, own_ns) in of_requests {
        let connecting_ns = peer::connecting_ns(&tree.spans()[span]).min(own_ns);
        attribution.parts_ns[Part::of_work(tree, span) as usize] -= connecting_ns;
        attribution.parts_ns[Part::Connecting as usize] += connecting_ns;
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
    fn check(spans: Vec<Span>, request_ns: Option<u64>, expect: [u64; 8]) {
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
        check(spans, None, [10, 36, 30, 20, 4, 0, 0, 0]);
        let alone = || vec![of(SpanKind::Server, span(1, 0, 0, 100))];
        check(alone(), Some(130), [30, 100, 0, 0, 0, 0, 0, 0]);
        check(alone(), Some(70), [0, 100, 0, 0, 0, 0, 0, 0]);
        check(vec![], None, [0; 8]);
    }

    /// The client's side of a request that took 100 ns, of which connecting took so many.
    fn asked(connecting_ns: u64) -> Span {
        let ms = (connecting_ns as f64 / 1e6).to_string();
        let attributes = [("plimsoll.request", "measured".to_owned()), ("plimsoll.connecting_ms", ms)]
            .map(|(name, value)| (name.into(), value));
        let service = model::OWN_SERVICE.into();
        Span { kind: SpanKind::Client, service, attributes: attributes.into(), ..span(1, 0, 0, 100) }
    }

    #[test]
    fn what_the_server_did_not_need_is_the_networks_by_whatever_clock() {
        for server_start_ns in [5, 25, -7_000, 7_000] {
            let server = of(SpanKind::Server, span(2, 1, server_start_ns, 80));
            let below = query(3, 2, server_start_ns + 10, 30, "select 1");
            check(vec![asked(0), server.clone(), below.clone()], None, [20, 50, 30, 0, 0, 0, 0, 0]);
            check(vec![asked(8), server.clone(), below.clone()], None, [12, 50, 30, 0, 0, 0, 0, 8]);
            check(vec![asked(900), server, below], None, [0, 50, 30, 0, 0, 0, 0, 20]);
        }
    }

    #[test]
    fn a_request_that_no_server_tells_of_is_nobodys() {
        check(vec![asked(0)], None, [0, 0, 0, 0, 0, 100, 0, 0]);
        check(vec![asked(8)], None, [0, 0, 0, 0, 0, 92, 0, 8]);
        // One whose parent was never received comes after the request, whatever its clock says.
        let orphan = of(SpanKind::Server, span(2, 77, -50, 80));
        check(vec![asked(0), orphan], None, [20, 80, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_scan_waits_more_than_it_works() {
        let trace = scan();
        let tree = Tree::new(&trace);
        let attribution = attribute(&tree, &critical_path(&tree), None);
        let ms = Part::ALL.map(|part| attribution.part_ns(part) / 1_000_000);
        assert_eq!(ms, [0, 5_100, 0, 5_900, 45_000, 0, 0, 0]);
    }
}
