//! Whose the time of a request was: each instant of its critical path is exactly one part's.

use std::collections::BTreeMap;

use model::{Span, SpanKind};

use super::path::{Piece, PieceKind};
use super::peer;
use super::tree::Tree;
use crate::roles::ActivityRole;

/// The component that a piece of a request's time is attributed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Component {
    /// Between client and server, if both have spans: the client span without the server span.
    Network,
    /// Services at work.
    Target,
    /// Calls of databases.
    Database,
    /// Calls of a service without spans in the trace.
    External,
    /// Messages in their queues, and publishing them.
    Queue,
    /// Time not covered by any span.
    Unseen,
    /// Waiting for the next poll after all work is done.
    Poll,
    /// DNS lookup, TCP connect and TLS handshake before a request of the run itself is sent.
    Connecting,
}

/// Time per component of a request, nanoseconds. The components add up to the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attribution {
    parts_ns: [u64; Component::ALL.len()],
}

impl Component {
    /// All components.
    pub const ALL: [Component; 8] = [
        Component::Network,
        Component::Target,
        Component::Database,
        Component::External,
        Component::Queue,
        Component::Unseen,
        Component::Poll,
        Component::Connecting,
    ];

    /// Returns the name in API responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Component::Network => "network",
            Component::Target => "target",
            Component::Database => "database",
            Component::External => "external",
            Component::Queue => "queue",
            Component::Unseen => "unseen",
            Component::Poll => "poll",
            Component::Connecting => "connecting",
        }
    }

    /// Returns the component of a piece of a path.
    pub fn classify(tree: &Tree<'_>, piece: &Piece) -> Component {
        match piece.kind {
            PieceKind::Queue => Component::Queue,
            PieceKind::Between => Component::Unseen,
            PieceKind::Poll => Component::Poll,
            PieceKind::Work => Component::classify_work(tree, piece.span),
        }
    }

    fn classify_work(tree: &Tree<'_>, at: usize) -> Component {
        let span = &tree.spans()[at];
        if peer::database(span).is_some() {
            return Component::Database;
        }
        match span.kind {
            SpanKind::Producer => Component::Queue,
            // A client span without a server span below it does not show whose time it was.
            SpanKind::Client if span.is_own() && tree.children(at).is_empty() => Component::Unseen,
            SpanKind::Client if span.is_own() => Component::Network,
            SpanKind::Client if answers(tree, at) => Component::Network,
            SpanKind::Client => match ActivityRole::new(span) {
                // Waiting for a connection or a turn happens in the service that recorded it.
                role if role.is_wait() => Component::Target,
                ActivityRole::Publish | ActivityRole::Receive => Component::Queue,
                ActivityRole::Process | ActivityRole::Work => Component::Target,
                _ => Component::External,
            },
            SpanKind::Internal | SpanKind::Server | SpanKind::Consumer => Component::Target,
        }
    }
}

impl Attribution {
    /// Sums these components, nanoseconds.
    pub fn from_parts(parts: &[(Component, u64)]) -> Attribution {
        let mut attribution = Attribution::default();
        for (part, ns) in parts {
            attribution.parts_ns[*part as usize] += ns;
        }
        attribution
    }

    /// The parts that there are, in nanoseconds.
    pub fn parts(&self) -> impl Iterator<Item = (Component, u64)> {
        Component::ALL.into_iter().zip(self.parts_ns).filter(|(_, ns)| *ns > 0)
    }

    /// How long a part was.
    pub fn part_ns(&self, part: Component) -> u64 {
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
        attribution.parts_ns[Component::classify(tree, piece) as usize] += piece.length_ns();
        if piece.kind == PieceKind::Work && tree.spans()[piece.span].is_own() {
            *of_requests.entry(piece.span).or_default() += piece.length_ns();
        }
    }
    for (span, own_ns) in of_requests {
        let connecting_ns = peer::connecting_ns(&tree.spans()[span]).min(own_ns);
        attribution.parts_ns[Component::classify_work(tree, span) as usize] -= connecting_ns;
        attribution.parts_ns[Component::Connecting as usize] += connecting_ns;
    }
    let beyond_ns = request_ns.unwrap_or(0).saturating_sub(attribution.total_ns());
    attribution.parts_ns[Component::Network as usize] += beyond_ns;
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

    fn with_kind(kind: SpanKind, span: Span) -> Span {
        Span { kind, ..span }
    }

    #[test]
    fn each_instant_is_one_parts() {
        let spans = vec![
            with_kind(SpanKind::Client, span(1, 0, 0, 100)),
            with_kind(SpanKind::Server, span(2, 1, 5, 90)),
            query(3, 2, 10, 30, "select 1"),
            with_kind(SpanKind::Client, span(4, 2, 50, 20)),
            with_kind(SpanKind::Producer, span(5, 2, 80, 4)),
        ];
        check(spans, None, [10, 36, 30, 20, 4, 0, 0, 0]);
        let alone = || vec![with_kind(SpanKind::Server, span(1, 0, 0, 100))];
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
            let server = with_kind(SpanKind::Server, span(2, 1, server_start_ns, 80));
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
        let orphan = with_kind(SpanKind::Server, span(2, 77, -50, 80));
        check(vec![asked(0), orphan], None, [20, 80, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_scan_waits_more_than_it_works() {
        let trace = scan();
        let tree = Tree::new(&trace);
        let attribution = attribute(&tree, &critical_path(&tree), None);
        let ms = Component::ALL.map(|part| attribution.part_ns(part) / 1_000_000);
        assert_eq!(ms, [0, 5_100, 0, 5_900, 45_000, 0, 0, 0]);
    }
}
