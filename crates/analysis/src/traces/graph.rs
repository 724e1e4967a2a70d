//! Who calls whom: services, databases, queues and hosts that have no spans, out of many traces.
//!
//! Which traces were kept depends on how they went, so that only those of the unbiased sample say how often something
//! happens: each stands for as many as its share says. The others show which ways there are.

use std::collections::{BTreeMap, BTreeSet};

use histo::Values;
use model::{Kept, Span, SpanKind, SpanStatus, Trace};

use super::attribution::answers;
use super::path::causes;
use super::peer;
use super::tree::Tree;

/// Maximum number of distinct edges; traces may name any number of services.
const EDGES_MAX: usize = 600;

/// Something in the graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// The client whose requests start the traces.
    Outside,
    /// A service, by its name.
    Service(String),
    /// A queue, by the name of its destination.
    Queue(String),
    /// A database, by what it is and which one.
    Database(String),
    /// A host that has no spans.
    External(String),
}

/// Statistics of an edge.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Calls, or messages.
    pub count: u64,
    /// Those that failed.
    pub errors: u64,
    /// Milliseconds: of calls until the response, of messages until their delivery. Publishing counts as zero
    /// if no span records its duration.
    pub durations: Values,
}

/// A way from one place to another.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Who calls, or the queue that is taken from.
    pub from: Place,
    /// Who is called.
    pub to: Place,
    /// In all traces that were kept.
    pub all: Seen,
    /// In those of the unbiased sample.
    pub sampled: Seen,
    /// How many there were, as the sample says.
    pub estimated: f64,
}

/// The graph of many traces.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Everything that calls or is called.
    pub places: Vec<Place>,
    /// The ways between them.
    pub edges: Vec<Edge>,
    /// Calls on edges beyond the maximum.
    pub left_out: u64,
}

/// Makes a graph, trace by trace.
#[derive(Debug, Default)]
pub struct GraphBuilder {
    edges: BTreeMap<(Place, Place), Edge>,
    left_out: u64,
}

/// One call or message.
struct Call<'a> {
    from: Place,
    to: Place,
    /// The span whose failure is the call's.
    span: &'a Span,
    duration_ns: Option<u64>,
}

impl Place {
    /// Returns the kind of the place as machines read it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Place::Outside => "outside",
            Place::Service(_) => "service",
            Place::Queue(_) => "queue",
            Place::Database(_) => "database",
            Place::External(_) => "external",
        }
    }

    /// Its name; empty for what is outside.
    pub fn name(&self) -> &str {
        match self {
            Place::Outside => "",
            Place::Service(name) | Place::Queue(name) | Place::Database(name) | Place::External(name) => name,
        }
    }
}

impl GraphBuilder {
    /// Adds what a trace shows.
    pub fn add(&mut self, trace: &Trace) {
        let tree = Tree::new(trace);
        let share = match trace.kept {
            Kept::Sample { share } if share > 0.0 => Some(share),
            _ => None,
        };
        for at in tree.order() {
            for call in calls(&tree, *at) {
                self.call(call, share);
            }
        }
        for cause in causes(&tree) {
            let (span, before) = (&tree.spans()[cause.span], &tree.spans()[cause.before]);
            let Some(queue) = queue_of(span) else { continue };
            let waited_ns = tree.node(cause.span).start_ns.abs_diff(cause.since_ns);
            let to = service(span);
            self.call(Call { from: queue.clone(), to, span, duration_ns: Some(waited_ns) }, share);
            if before.kind != SpanKind::Producer {
                // No span records the publishing.
                self.call(Call { from: service(before), to: queue, span: before, duration_ns: None }, share);
            }
        }
    }

    /// Returns the graph of all traces.
    pub fn build(self) -> Graph {
        let ends = self.edges.keys().flat_map(|(from, to)| [from.clone(), to.clone()]);
        let places: BTreeSet<Place> = ends.collect();
        let edges = self.edges.into_values().collect();
        Graph { places: places.into_iter().collect(), edges, left_out: self.left_out }
    }

    fn call(&mut self, call: Call<'_>, share: Option<f64>) {
        let key = (call.from, call.to);
        if self.edges.len() >= EDGES_MAX && !self.edges.contains_key(&key) {
            self.left_out += 1;
            return;
        }
        let edge = self.edges.entry(key).or_insert_with_key(|(from, to)| Edge {
            from: from.clone(),
            to: to.clone(),
            all: Seen::default(),
            sampled: Seen::default(),
            estimated: 0.0,
        });
        edge.all.add(call.span, call.duration_ns);
        if let Some(share) = share {
            edge.sampled.add(call.span, call.duration_ns);
            edge.estimated += 1.0 / share;
        }
    }
}

impl Seen {
    fn add(&mut self, span: &Span, duration_ns: Option<u64>) {
        self.count += 1;
        self.errors += u64::from(span.status == SpanStatus::Error);
        if let Some(duration_ns) = duration_ns {
            self.durations.record(duration_ns as f64 / 1e6);
        }
    }
}

/// Returns the calls that a span and its parent record.
fn calls<'a>(tree: &Tree<'a>, at: usize) -> Vec<Call<'a>> {
    let (span, node) = (&tree.spans()[at], tree.node(at));
    let call = |from, to| Call { from, to, span, duration_ns: Some(node.end_ns.abs_diff(node.start_ns)) };
    let mut calls = Vec::new();
    match node.parent.map(|parent| (parent, &tree.spans()[parent])) {
        None if span.is_own() => {}
        None => calls.push(call(Place::Outside, service(span))),
        // Messages come from queues, whichever span is their parent.
        Some(_) if queue_of(span).is_some() => {}
        Some((parent, above)) if above.service != span.service => {
            let mut call = call(service(above), service(span));
            if above.kind == SpanKind::Client {
                let node = tree.node(parent);
                (call.span, call.duration_ns) = (above, Some(node.end_ns.abs_diff(node.start_ns)));
            }
            calls.push(call);
        }
        Some(_) => {}
    }
    if let Some(system) = peer::database(span) {
        let which = span.attribute("db.namespace").or_else(|| span.attribute("db.name")).unwrap_or("");
        let name = format!("{system} {which}").trim_end().to_owned();
        calls.push(call(service(span), Place::Database(name)));
    } else if span.kind == SpanKind::Producer {
        calls.extend(peer::queue(span).map(|queue| call(service(span), Place::Queue(queue.to_owned()))));
    } else if is_answered_by_nobody(tree, at) {
        let host = peer::host(span).unwrap_or(&span.operation).to_owned();
        calls.push(call(service(span), Place::External(host)));
    }
    calls
}

/// Returns whether a call went to a service without spans. A request of the run itself has everything received of it below it.
fn is_answered_by_nobody(tree: &Tree<'_>, at: usize) -> bool {
    let span = &tree.spans()[at];
    match span.is_own() {
        true => peer::request(span).is_some() && tree.children(at).is_empty(),
        false => span.kind == SpanKind::Client && !answers(tree, at),
    }
}

/// Returns the service of a span; spans of the load generator are outside of the target.
fn service(span: &Span) -> Place {
    if span.is_own() { Place::Outside } else { Place::Service(span.service.to_string()) }
}

fn queue_of(span: &Span) -> Option<Place> {
    let queue = peer::queue(span).filter(|_| span.kind == SpanKind::Consumer)?;
    Some(Place::Queue(queue.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{query, scan, span, trace};
    use super::*;

    fn text(graph: &Graph) -> String {
        let place = |place: &Place| format!("{}:{}", place.kind(), place.name());
        let edge = |edge: &Edge| {
            let longest = edge.sampled.durations.max().map_or("-".to_owned(), |ms| format!("{ms}ms"));
            format!("{} > {} {} {longest}", place(&edge.from), place(&edge.to), edge.estimated)
        };
        graph.edges.iter().map(edge).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn queues_stand_between_services() {
        let mut builder = GraphBuilder::default();
        builder.add(&scan());
        builder.add(&Trace { kept: Kept::Slowest, ..scan() });
        let graph = builder.build();
        let expect = "outside: > service:api 2 100ms\n\
                      service:api > queue:vision 2 -\n\
                      service:worker > queue:answer 2 -\n\
                      service:worker > queue:reward 2 -\n\
                      service:worker > queue:rule 2 -\n\
                      service:worker > external:model.example 2 5900ms\n\
                      queue:answer > service:worker 2 12000ms\n\
                      queue:reward > service:worker 2 6000ms\n\
                      queue:rule > service:worker 2 9000ms\n\
                      queue:vision > service:worker 2 18000ms";
        assert_eq!(text(&graph), expect);
        assert_eq!((graph.edges[0].all.count, graph.edges[0].sampled.count, graph.places.len()), (2, 1, 8));
    }

    #[test]
    fn calls_are_as_long_as_the_caller_waited() {
        let mut spans =
            vec![span(1, 0, 0, 100_000_000), span(2, 1, 0, 50_000_000), span(3, 2, 10, 20_000_000)];
        spans.push(query(4, 1, 20, 1_000_000, "select 1"));
        (spans[1].kind, spans[2].kind) = (SpanKind::Client, SpanKind::Server);
        spans[2].service = "stock".into();
        spans[1].status = SpanStatus::Error;
        let mut builder = GraphBuilder::default();
        builder.add(&trace(spans));
        let graph = builder.build();
        let expect = "outside: > service:shop 2 100ms\n\
                      service:shop > service:stock 2 50ms\n\
                      service:shop > database:postgresql 2 1ms";
        assert_eq!(text(&graph), expect);
        assert_eq!(graph.edges[1].all.errors, 1);
    }

    #[test]
    fn whoever_loads_is_outside() {
        let own = |id, parent| {
            let attributes = [("plimsoll.request", "measured"), ("server.address", "shop.example")];
            let attributes = attributes.map(|(name, value)| (name.into(), value.to_owned())).into();
            let service = model::OWN_SERVICE.into();
            Span { kind: SpanKind::Client, service, attributes, ..span(id, parent, 0, 90_000_000) }
        };
        let mut builder = GraphBuilder::default();
        let answer = Span { kind: SpanKind::Server, ..span(3, 1, 10, 50_000_000) };
        builder.add(&trace(vec![own(1, 0), answer]));
        builder.add(&trace(vec![own(1, 0)]));
        let expect = "outside: > service:shop 2 90ms\noutside: > external:shop.example 2 90ms";
        assert_eq!(text(&builder.build()), expect);
    }

    #[test]
    fn ways_without_end_are_counted() {
        let mut builder = GraphBuilder::default();
        for at in 0..EDGES_MAX + 3 {
            let mut one = span(1, 0, 0, 1);
            one.service = format!("s{at}").into();
            builder.add(&trace(vec![one]));
        }
        let graph = builder.build();
        assert_eq!((graph.edges.len(), graph.left_out), (EDGES_MAX, 3));
    }
}
