//! Totals of all traces of a run: each trace is walked once, and detectors read the totals.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use model::{Kept, Span, SpanKind, SpanStatus, Trace};

use super::own_traces::own_traces;
use super::thresholds::pool::STRAYS_MIN;
use super::thresholds::statements::CUT_BYTES_MIN;
use crate::roles::{ActivityRole, RATE_LIMIT_WAIT_MS, is_method_alone};
use crate::traces::{
    Attribution, PieceKind, Tree, answer_path, attribute, critical_path, database, host, normalised, queue,
    repeated_statements, request, statement,
};

/// Maximum number of durations and times that are kept per operation.
const KEPT_MAX: usize = 20_000;

/// Maximum number of distinct operations; traces may name any number.
const STEPS_MAX: usize = 1_000;

/// Maximum number of distinct repeated statements.
const REPEATS_MAX: usize = 100;

/// Maximum number of distinct statements.
const STATEMENTS_MAX: usize = 1_000;

/// Maximum number of distinct service instances.
const INSTANCES_MAX: usize = 500;

/// Attributes that identify an instance of a service (OpenTelemetry semantic conventions, service and k8s).
const INSTANCE: [&str; 3] = ["service.instance.id", "k8s.pod.name", "host.name"];

/// Attribute that identifies a message.
const MESSAGE_ID: &str = "messaging.message.id";

/// HTTP status 429, Too Many Requests (RFC 6585, section 4), and the names of its attribute.
const TOO_MANY: &str = "429";
const STATUS: [&str; 2] = ["http.response.status_code", "http.status_code"];

/// Totals of all traces of a run.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// Number of traces.
    pub(super) traces: u64,
    /// Whether traces were kept for being slow or failed, so that shares are biased.
    pub(super) is_biased: bool,
    /// Total duration of the traces as servers record it, until the end of the last work, nanoseconds.
    pub(super) total_ns: f64,
    /// Time per component until the response.
    pub(super) attribution: Attribution,
    /// Totals of the traces that begin with a client span, whose network time is measured.
    pub(super) asked: Asked,
    /// Time in queues.
    pub(super) queue_ns: f64,
    /// Start and length of the requests that each service answers for the test itself, nanoseconds.
    pub(super) entries: BTreeMap<Arc<str>, Vec<(i64, u64)>>,
    /// Operations by service.
    pub(super) steps: BTreeMap<StepKey, Step>,
    /// Number of operations beyond the maximum.
    pub(super) steps_beyond: u64,
    /// Database calls by statement. A statement may appear under several operations, since names of operations are free text.
    pub(super) statements: BTreeMap<String, Asking>,
    /// Statements that are repeated within one request.
    pub(super) repeats: BTreeMap<String, Repeated>,
    /// Number of answered requests per service instance, and their total duration, nanoseconds.
    pub(super) instances: BTreeMap<(Arc<str>, String), (u64, f64)>,
    /// Processed messages by queue: deliveries, and redeliveries of processed messages.
    pub(super) messages: BTreeMap<String, (u64, u64)>,
    /// Processed messages by queue: their number, and the total time that consumers take, nanoseconds.
    pub(super) processing: BTreeMap<String, (u64, f64)>,
    /// Calls delayed by a rate limit, of the calls that record it, and their total delay.
    pub(super) limited: Limited,
    /// Start and end times of all spans of a service, in order, nanoseconds of the run's clock.
    pub(super) edges: HashMap<Arc<str>, Vec<i64>>,
}

/// Traces that begin with the client's side of a request.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Number of traces.
    pub(super) traces: u64,
    /// Number of further requests of the sample without a span of any service.
    pub(super) unanswered: u64,
    /// Time per component.
    pub(super) attribution: Attribution,
}

/// An operation of a service. Requests of the run itself do not count, since they are the load.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StepKey {
    /// Name of the service.
    pub(super) service: Arc<str>,
    /// Name of the operation.
    pub(super) operation: Arc<str>,
    /// The side of a call.
    pub(super) kind: SpanKind,
    /// Whether it asks a database. `GET` is a method of HTTP and a command of Redis.
    pub(super) is_database: bool,
    /// The host of a call whose name is its method alone, so that calls of different services are different operations.
    pub(super) host: Option<Arc<str>>,
}

/// All spans of an operation.
#[derive(Debug, Default)]
pub(super) struct Step {
    /// Activity of the first span.
    pub(super) role: ActivityRole,
    /// Number of spans.
    pub(super) spans: u64,
    /// Number of traces with such a span.
    pub(super) traces: u64,
    /// Total duration.
    pub(super) total_ns: f64,
    /// Own time on critical paths, work and waiting.
    pub(super) own_ns: f64,
    /// Total time from the start of a span to that of its first child.
    pub(super) before_ns: f64,
    /// The same of each span that is kept, nanoseconds.
    pub(super) before_each_ns: Vec<u64>,
    /// Total time from the end of the last child to that of the span.
    pub(super) after_ns: f64,
    /// Number of spans with children.
    pub(super) parents: u64,
    /// Number of spans that begin after the span above them has ended.
    pub(super) strays: u64,
    /// Whether the operation calls a database.
    pub(super) is_database: bool,
    /// Whether the operation calls another service.
    pub(super) is_call: bool,
    /// Statement of one span.
    pub(super) statement: Option<String>,
    /// Server that one span calls, by its attributes.
    pub(super) callee: Option<String>,
    /// The service that serves one span's call, if it has spans.
    pub(super) served_by: Option<Arc<str>>,
    /// Of spans that serve a request: total time from the start of a span to its first call.
    pub(super) before_call_ns: f64,
    /// Of these, total time of spans without calls.
    pub(super) callless_ns: f64,
    /// Of these, number of spans whose first call asks a database.
    pub(super) asks_first: u64,
    /// Start and length of the spans that are kept, nanoseconds.
    pub(super) times_ns: Vec<(i64, u64)>,
    /// Of these, total time before the part of each span that begins with its first call or, without calls, its first child.
    pub(super) before_begun_ns: f64,
    /// Start and length of these parts that are kept, nanoseconds.
    pub(super) begun_ns: Vec<(i64, u64)>,
    /// The slowest traces with it.
    pub(super) slowest: Slowest,
}

/// The part of a service's requests that begins with their first call.
#[derive(Debug, Default)]
pub(super) struct Begun {
    /// Start and length, nanoseconds.
    pub(super) spans: Vec<(i64, u64)>,
    /// Total time before them on critical paths, nanoseconds.
    pub(super) before_ns: f64,
    /// Whether most begin with a call of a database.
    pub(super) asks_first: bool,
}

/// A statement, over all operations that run it.
#[derive(Clone, Debug, Default)]
pub(super) struct Asking {
    /// Time on critical paths.
    pub(super) own_ns: f64,
    /// The slowest traces with it.
    pub(super) slowest: Slowest,
}

/// A statement that is repeated within one request.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    /// Number of traces with the repetition.
    pub(super) traces: u64,
    /// Total number of executions.
    pub(super) times: u64,
    /// Time on critical paths.
    pub(super) on_path_ns: f64,
    /// Time on critical paths between one execution and the next.
    pub(super) between_ns: f64,
    /// Example traces.
    pub(super) slowest: Slowest,
}

/// Calls that report a rate limit.
#[derive(Debug, Default)]
pub(super) struct Limited {
    /// Number of spans that report it.
    pub(super) spans: u64,
    /// Calls that waited or were refused.
    pub(super) held: u64,
    /// Total wait, milliseconds.
    pub(super) waited_ms: f64,
    /// The service that records the calls.
    pub(super) service: String,
}

/// Example traces: those with a client span first, and of these the slowest.
pub(super) type Slowest = Vec<Shown>;

/// An example trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    /// Whether it begins with the client's side of a request.
    pub(super) is_asked: bool,
    /// Duration of the trace.
    pub(super) length_ns: u64,
    /// Its trace id.
    pub(super) id: u128,
}

/// Maximum number of exemplars per item.
pub(super) const EXEMPLARS_MAX: usize = 3;

impl Paths {
    /// Sums the unbiased sample; without one, all traces that were kept.
    pub(super) fn new(traces: &[Trace]) -> Paths {
        let is_sampled = |trace: &&Trace| matches!(trace.kept, Kept::Sample { .. });
        let own = own_traces(traces);
        let is_biased = !own.iter().any(is_sampled);
        let mut paths = Paths { is_biased: is_biased && !own.is_empty(), ..Paths::default() };
        own.into_iter().filter(|trace| is_biased || is_sampled(trace)).for_each(|trace| paths.add(trace));
        let is_unanswered = |trace: &&Trace| trace.spans.iter().all(|span| request(span).is_some());
        paths.asked.unanswered = traces.iter().filter(is_sampled).filter(is_unanswered).count() as u64;
        paths.edges.values_mut().for_each(|edges| edges.sort_unstable());
        paths.steps.values_mut().for_each(|step| step.times_ns.sort_unstable());
        paths
    }

    fn add(&mut self, trace: &Trace) {
        let tree = Tree::new(trace);
        let path = critical_path(&tree);
        let length_ns = tree.length_ns();
        self.traces += 1;
        let attribution = attribute(&tree, &path, None);
        self.attribution.add(&attribution, 1.0);
        let root = tree.root().filter(|root| request(&trace.spans[*root]).is_some());
        let shown = Shown { is_asked: root.is_some(), length_ns, id: trace.id };
        if shown.is_asked {
            self.asked.traces += 1;
            // Work after the response is no part of the request.
            self.asked.attribution.add(&attribute(&tree, &answer_path(&tree), None), 1.0);
        }
        let mut own_ns = vec![0_u64; trace.spans.len()];
        for piece in &path {
            match piece.kind {
                PieceKind::Work => own_ns[piece.span] += piece.length_ns(),
                PieceKind::Queue => self.queue_ns += piece.length_ns() as f64,
                PieceKind::Between | PieceKind::Poll => {}
            }
        }
        // Network time of the root span is outside of the servers.
        self.total_ns += (length_ns - root.map_or(0, |root| own_ns[root])) as f64;
        for repeats in repeated_statements(&tree, &path) {
            if self.repeats.len() >= REPEATS_MAX && !self.repeats.contains_key(&repeats.statement) {
                continue;
            }
            let repeated = self.repeats.entry(repeats.statement).or_default();
            repeated.traces += 1;
            repeated.times += repeats.spans.len() as u64;
            repeated.on_path_ns += repeats.on_path_ns as f64;
            repeated.between_ns += repeats.between_ns as f64;
            keep_slowest(&mut repeated.slowest, shown);
        }
        let mut seen = BTreeSet::new();
        let mut messages: BTreeSet<(&str, &str)> = BTreeSet::new();
        for at in tree.order().iter().copied() {
            let span = &trace.spans[at];
            if span.is_own() {
                continue;
            }
            self.add_edges(&tree, at);
            self.add_entry(&tree, at);
            self.add_instance(span);
            self.add_limited(span);
            self.add_statement(span, own_ns[at], shown);
            if let (SpanKind::Consumer, Some(queue), Some(id)) =
                (span.kind, queue(span), span.attribute(MESSAGE_ID))
            {
                let counts = self.messages.entry(queue.to_owned()).or_default();
                counts.0 += 1;
                counts.1 += u64::from(!messages.insert((queue, id)));
            }
            self.add_processing(span);
            let key = StepKey::new(span);
            if self.steps.len() >= STEPS_MAX && !self.steps.contains_key(&key) {
                self.steps_beyond += 1;
                continue;
            }
            let is_new = seen.insert(key.clone());
            let step = self.steps.entry(key).or_default();
            step.add(&tree, at, own_ns[at]);
            if is_new {
                step.traces += 1;
                keep_slowest(&mut step.slowest, shown);
            }
        }
    }

    fn add_edges(&mut self, tree: &Tree<'_>, at: usize) {
        let edges = self.edges.entry(tree.spans()[at].service.clone()).or_default();
        if edges.len() < KEPT_MAX * 4 {
            edges.extend([tree.node(at).start_ns, tree.node(at).end_ns]);
        }
    }

    fn add_entry(&mut self, tree: &Tree<'_>, at: usize) {
        let span = &tree.spans()[at];
        let is_of_test = |parent: u64| tree.spans().iter().any(|other| other.id == parent && other.is_own());
        if span.kind != SpanKind::Server || !span.parent.is_none_or(is_of_test) {
            return;
        }
        let entries = self.entries.entry(span.service.clone()).or_default();
        if entries.len() < KEPT_MAX {
            let node = tree.node(at);
            entries.push((node.start_ns, node.end_ns.abs_diff(node.start_ns)));
        }
    }

    fn add_instance(&mut self, span: &Span) {
        let is_asked = matches!(span.kind, SpanKind::Server | SpanKind::Consumer);
        // A service that rejects a call does no work for it.
        if !is_asked || span.status == SpanStatus::Error {
            return;
        }
        let Some(name) = INSTANCE.iter().find_map(|name| span.attribute(name)) else { return };
        let key = (span.service.clone(), name.to_owned());
        if self.instances.len() < INSTANCES_MAX || self.instances.contains_key(&key) {
            let answered = self.instances.entry(key).or_default();
            answered.0 += 1;
            answered.1 += span.duration.as_nanos() as f64;
        }
    }

    fn add_processing(&mut self, span: &Span) {
        let Some(queue) = queue(span).filter(|_| ActivityRole::new(span) == ActivityRole::Process) else {
            return;
        };
        if self.processing.len() < STEPS_MAX || self.processing.contains_key(queue) {
            let processed = self.processing.entry(queue.to_owned()).or_default();
            processed.0 += 1;
            processed.1 += span.duration.as_nanos() as f64;
        }
    }

    fn add_statement(&mut self, span: &Span, own_ns: u64, shown: Shown) {
        let Some(text) = statement(span).filter(|_| database(span).is_some()).map(normalised) else { return };
        if self.statements.len() >= STATEMENTS_MAX && !self.statements.contains_key(&text) {
            return;
        }
        let asking = self.statements.entry(text).or_default();
        asking.own_ns += own_ns as f64;
        keep_slowest(&mut asking.slowest, shown);
    }

    fn add_limited(&mut self, span: &Span) {
        let waited_ms = span.attribute(RATE_LIMIT_WAIT_MS).and_then(|text| text.parse::<f64>().ok());
        let is_refused = STATUS.iter().any(|name| span.attribute(name) == Some(TOO_MANY));
        if waited_ms.is_none() && !is_refused {
            return;
        }
        let waited_ms = waited_ms.filter(|ms| ms.is_finite() && *ms > 0.0).unwrap_or(0.0);
        self.limited.spans += 1;
        self.limited.held += u64::from(waited_ms > 0.0 || is_refused);
        self.limited.waited_ms += waited_ms;
        if self.limited.service.is_empty() {
            self.limited.service = span.service.to_string();
        }
    }

    /// Returns the traced statements that a database counts under this fingerprint. Redis counts commands by name alone.
    pub(super) fn asking(&self, text: &str) -> Option<Asking> {
        if text.is_empty() {
            return None;
        }
        if let Some(asking) = self.traced(text).and_then(|traced| self.statements.get(traced)) {
            return Some(asking.clone());
        }
        if text.contains(' ') {
            return None;
        }
        let is_command =
            |traced: &&String| traced.split(' ').next().is_some_and(|it| it.eq_ignore_ascii_case(text));
        let commands = self.statements.iter().filter(|(traced, _)| is_command(traced));
        commands.map(|(_, asking)| asking.clone()).reduce(|mut sum, other| {
            sum.own_ns += other.own_ns;
            other.slowest.into_iter().for_each(|shown| keep_slowest(&mut sum.slowest, shown));
            sum
        })
    }

    /// Returns the fingerprint in traces of a statement that a database counts. Digests of MySQL write keywords in capitals and have
    /// spaces of their own, and exporters cut long ones: such a text belongs to the one traced statement that begins like it.
    pub(super) fn traced(&self, text: &str) -> Option<&str> {
        if let Some((traced, _)) = self.statements.get_key_value(text) {
            return Some(traced);
        }
        let wanted = squeezed(text);
        let squeezed = self.statements.keys().map(|traced| (traced.as_str(), squeezed(traced)));
        let mut begin_alike = squeezed.filter(|(_, known)| known.starts_with(&wanted)).collect::<Vec<_>>();
        if let Some((traced, _)) = begin_alike.iter().find(|(_, known)| *known == wanted) {
            return Some(traced);
        }
        let is_told_apart = begin_alike.len() == 1 && wanted.len() as f64 >= CUT_BYTES_MIN;
        begin_alike.pop().filter(|_| is_told_apart).map(|(traced, _)| traced)
    }

    /// Returns the time on critical paths in which a service has begun a request and not yet its first call, nanoseconds.
    pub(super) fn before_calls_ns(&self, service: &str) -> f64 {
        let own_ns = self.own_of(service);
        let before_ns = self.served(service).map(|(_, step)| step.before_call_ns).sum::<f64>().min(own_ns);
        let callless_ns = self.served(service).map(|(_, step)| step.callless_ns).sum::<f64>().min(own_ns);
        // Pools hand a connection on in the context of the request that gives it back. Calls then appear below a request that has
        // ended, and the requests that they belong to have none: all their time but that of the calls is before them.
        let calls = self.steps.iter().filter(|(key, step)| *key.service == *service && step.is_call);
        let (mut strays, mut spans, mut strayed_ns) = (0, 0, 0.0);
        for (_, step) in calls {
            (strays, spans) = (strays + step.strays, spans + step.spans);
            strayed_ns += step.strays as f64 * step.mean_s() * 1e9;
        }
        let is_lost = strays > 0 && strays as f64 >= spans as f64 * STRAYS_MIN;
        before_ns + if is_lost { (callless_ns - strayed_ns).max(0.0) } else { 0.0 }
    }

    /// Returns the part of a service's requests that begins with their first call.
    pub(super) fn begun(&self, service: &str) -> Begun {
        let mut begun = Begun::default();
        let (mut served, mut asks_first) = (0, 0);
        for (_, step) in self.served(service) {
            begun.spans.extend(&step.begun_ns);
            begun.before_ns += step.before_begun_ns;
            (served, asks_first) = (served + step.spans, asks_first + step.asks_first);
        }
        begun.asks_first = asks_first * 2 > served;
        begun.before_ns = begun.before_ns.min(self.own_of(service));
        begun
    }

    /// Returns the time on critical paths that a service has requests itself, without calls and waits, nanoseconds.
    fn own_of(&self, service: &str) -> f64 {
        let own = self.steps.iter().filter(|(key, step)| {
            *key.service == *service && key.kind != SpanKind::Client && !step.role.is_wait()
        });
        own.map(|(_, step)| step.own_ns).sum()
    }

    /// Returns the operations by which a service answers requests.
    pub(super) fn served<'a>(&'a self, service: &'a str) -> impl Iterator<Item = (&'a StepKey, &'a Step)> {
        self.steps.iter().filter(move |(key, _)| *key.service == *service && key.kind == SpanKind::Server)
    }

    /// Returns the mean duration of a trace, seconds.
    pub(super) fn mean_s(&self) -> f64 {
        if self.traces == 0 { 0.0 } else { self.total_ns / self.traces as f64 / 1e9 }
    }

    /// Returns the share of all traces' time for a number of nanoseconds.
    pub(super) fn share(&self, ns: f64) -> f64 {
        if self.total_ns > 0.0 { (ns / self.total_ns).clamp(0.0, 1.0) } else { 0.0 }
    }
}

impl StepKey {
    fn new(span: &Span) -> StepKey {
        let is_database = database(span).is_some();
        let is_nameless = span.kind == SpanKind::Client && !is_database && is_method_alone(&span.operation);
        StepKey {
            service: span.service.clone(),
            operation: span.operation.clone(),
            kind: span.kind,
            is_database,
            host: host(span).filter(|_| is_nameless).map(Arc::from),
        }
    }
}

/// Returns the first call that a service makes while it serves a request, below any spans of its own.
fn first_call(tree: &Tree<'_>, at: usize) -> Option<usize> {
    let service = &tree.spans()[at].service;
    let mut below: Vec<usize> = tree.children(at).to_vec();
    let mut first = None::<usize>;
    while let Some(child) = below.pop() {
        let span = &tree.spans()[child];
        if tree.node(child).follows || span.service != *service {
            continue;
        }
        match span.kind {
            SpanKind::Client => {
                let is_earlier =
                    first.is_none_or(|first| tree.node(child).start_ns < tree.node(first).start_ns);
                first = if is_earlier { Some(child) } else { first };
            }
            SpanKind::Internal => below.extend(tree.children(child)),
            _ => {}
        }
    }
    first
}

impl Step {
    fn add(&mut self, tree: &Tree<'_>, at: usize, own_ns: u64) {
        let (span, node) = (&tree.spans()[at], tree.node(at));
        let length_ns = node.end_ns.abs_diff(node.start_ns);
        if self.spans == 0 {
            self.role = ActivityRole::new(span);
        }
        self.spans += 1;
        self.total_ns += length_ns as f64;
        self.own_ns += own_ns as f64;
        self.is_database |= database(span).is_some();
        self.is_call |= span.kind == SpanKind::Client;
        if self.callee.is_none() && span.kind == SpanKind::Client {
            self.callee = host(span).map(str::to_owned);
        }
        if self.statement.is_none() {
            self.statement = statement(span).map(normalised);
        }
        if self.times_ns.len() < KEPT_MAX {
            self.times_ns.push((node.start_ns, length_ns));
        }
        self.strays += u64::from(node.follows);
        let below = || tree.children(at).iter().copied().filter(|child| !tree.node(*child).follows);
        let first = below().min_by_key(|child| tree.node(*child).start_ns);
        if span.kind == SpanKind::Server {
            self.add_served(tree, at, first);
        }
        let last_ns = below().map(|child| tree.node(child).end_ns).max();
        let (Some(first), Some(last_ns)) = (first, last_ns) else { return };
        self.parents += 1;
        let before_ns = tree.node(first).start_ns.max(node.start_ns).abs_diff(node.start_ns);
        self.before_ns += before_ns as f64;
        if self.before_each_ns.len() < KEPT_MAX {
            self.before_each_ns.push(before_ns);
        }
        self.after_ns += node.end_ns.saturating_sub(last_ns).max(0) as f64;
        if self.served_by.is_none() && span.kind == SpanKind::Client {
            let callee =
                below().map(|child| &tree.spans()[child]).find(|child| child.kind == SpanKind::Server);
            self.served_by = callee.map(|callee| callee.service.clone());
        }
    }

    /// Adds a span that serves a request, by its first call.
    fn add_served(&mut self, tree: &Tree<'_>, at: usize, first_child: Option<usize>) {
        let node = tree.node(at);
        let call = first_call(tree, at);
        let begins = |child: usize| tree.node(child).start_ns.min(node.end_ns).max(node.start_ns);
        match call {
            Some(call) => self.before_call_ns += begins(call).abs_diff(node.start_ns) as f64,
            None => self.callless_ns += node.end_ns.abs_diff(node.start_ns) as f64,
        }
        self.asks_first += u64::from(call.is_some_and(|call| database(&tree.spans()[call]).is_some()));
        let Some(from) = call.or(first_child).map(begins) else { return };
        self.before_begun_ns += from.abs_diff(node.start_ns) as f64;
        if self.begun_ns.len() < KEPT_MAX {
            self.begun_ns.push((from, node.end_ns.abs_diff(from)));
        }
    }

    /// Returns the mean duration, seconds.
    pub(super) fn mean_s(&self) -> f64 {
        if self.spans == 0 { 0.0 } else { self.total_ns / self.spans as f64 / 1e9 }
    }

    /// Returns a quantile of the durations, seconds, by nearest rank.
    pub(super) fn quantile_s(&self, q: f64) -> f64 {
        let mut lengths: Vec<u64> = self.times_ns.iter().map(|(_, length_ns)| *length_ns).collect();
        lengths.sort_unstable();
        let rank = ((lengths.len() as f64 * q).ceil() as usize).saturating_sub(1);
        lengths.get(rank).map_or(0.0, |ns| *ns as f64 / 1e9)
    }
}

/// Keeps the slowest few traces, slowest first; traces that cover the whole request come before others.
fn keep_slowest(slowest: &mut Slowest, shown: Shown) {
    if slowest.iter().any(|known| known.id == shown.id) {
        return;
    }
    let rank = |one: &Shown| (one.is_asked, one.length_ns);
    let place = slowest.partition_point(|known| rank(known) >= rank(&shown));
    if place < EXEMPLARS_MAX {
        slowest.insert(place, shown);
        slowest.truncate(EXEMPLARS_MAX);
    }
}

/// Returns a fingerprint without what differs between writers of the same statement: letter case, spaces and quotes around names.
pub(super) fn squeezed(text: &str) -> String {
    let kept = text.chars().filter(|mark| !mark.is_whitespace() && !['`', '"'].contains(mark));
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{asked, request, sampled, span};
    use super::*;

    #[test]
    fn what_is_on_paths_adds_up_to_all_of_the_time() {
        let traces: Vec<Trace> = (0..10)
            .map(|at| {
                sampled(
                    at,
                    request(
                        "shop",
                        "GET /",
                        100.0,
                        &[("select app", 10.0, 40.0), ("select app", 60.0, 20.0)],
                    ),
                )
            })
            .collect();
        let paths = Paths::new(&traces);
        assert_eq!((paths.traces, paths.is_biased, paths.mean_s()), (10, false, 0.1));
        let own_ns: f64 = paths.steps.values().map(|step| step.own_ns).sum();
        assert_eq!(own_ns, paths.total_ns);
        let mut steps: Vec<_> = paths.steps.iter().collect();
        steps.sort_by(|a, b| b.1.own_ns.total_cmp(&a.1.own_ns));
        let (key, step) = steps[0];
        assert_eq!((&*key.operation, step.spans, step.traces), ("select app", 20, 10));
        assert_eq!(paths.share(step.own_ns), 0.6);
        let root = steps[1].1;
        assert_eq!((root.before_ns / 10.0, root.after_ns / 10.0), (10e6, 20e6));
    }

    #[test]
    fn statements_are_told_apart_whatever_their_spans_are_called() {
        let below = [("select a where id = 1", 10.0, 40.0), ("select b", 60.0, 20.0)];
        let trace = |at| {
            let mut spans = request("shop", "GET /", 100.0, &below);
            spans.iter_mut().skip(1).for_each(|span| span.operation = "ids of apps".into());
            sampled(at, spans)
        };
        let paths = Paths::new(&(0..10).map(trace).collect::<Vec<_>>());
        let shares: Vec<_> = paths
            .statements
            .iter()
            .map(|(text, asking)| (text.as_str(), paths.share(asking.own_ns)))
            .collect();
        assert_eq!(shares, [("select a where id = ?", 0.4), ("select b", 0.2)]);
    }

    #[test]
    fn calls_of_one_name_differ_by_what_they_call() {
        let call = |id: u64, attributes: &[(&str, &str)], length_ms: f64| {
            let attributes = attributes.iter().map(|(name, value)| ((*name).into(), (*value).to_owned()));
            let call = span(id, 1, "worker", "GET", id as f64 * 100.0, length_ms);
            Span { kind: SpanKind::Client, attributes: attributes.collect(), ..call }
        };
        let mut spans = request("worker", "run", 900.0, &[]);
        spans.push(call(2, &[("http.method", "GET"), ("http.url", "http://quotes:80/a")], 90.0));
        spans.push(call(3, &[("http.method", "GET"), ("http.url", "http://prices:80/a")], 20.0));
        spans.push(call(4, &[("db.system", "redis"), ("db.statement", "GET ?")], 1.0));
        let paths = Paths::new(&[sampled(1, spans)]);
        let steps = paths.steps.iter().filter(|(key, _)| key.kind == SpanKind::Client);
        let found: Vec<_> =
            steps.map(|(key, step)| (key.is_database, key.host.as_deref(), step.mean_s())).collect();
        let expect =
            [(false, Some("prices:80"), 0.02), (false, Some("quotes:80"), 0.09), (true, None, 0.001)];
        assert_eq!(found, expect);
    }

    #[test]
    fn the_clients_side_is_told_apart_from_what_servers_do() {
        let traces: Vec<Trace> =
            (0..4).map(|at| sampled(at, asked(120.0, request("shop", "GET /", 100.0, &[])))).collect();
        let paths = Paths::new(&traces);
        assert_eq!((paths.asked.traces, paths.mean_s()), (4, 0.1));
        assert_eq!(paths.asked.attribution.total_ns(), 480_000_000);
        assert!(
            paths.steps.keys().all(|key| &*key.service == "shop") && !paths.edges.contains_key("plimsoll")
        );
        // Requests without a server span reach no instrumented service.
        assert_eq!(Paths::new(&[sampled(1, asked(120.0, Vec::new()))]).traces, 0);
    }

    #[test]
    fn messages_that_come_again_are_counted() {
        let mut spans = vec![span(1, 0, "api", "POST /", 0.0, 1.0)];
        for id in 2..5 {
            let mut task = span(id, 1, "worker", "process q", id as f64 * 10.0, 5.0);
            task.kind = SpanKind::Consumer;
            let attributes = [("messaging.destination.name", "q"), (MESSAGE_ID, "m")];
            task.attributes = attributes.map(|(name, value)| (name.into(), value.to_owned())).to_vec();
            spans.push(task);
        }
        let paths = Paths::new(&[sampled(1, spans)]);
        assert_eq!(paths.messages.get("q"), Some(&(3, 2)));
    }

    #[test]
    fn traces_that_were_kept_for_being_slow_are_said_to_be_so() {
        let mut trace = sampled(1, vec![span(1, 0, "a", "b", 0.0, 1.0)]);
        trace.kept = Kept::Slowest;
        assert!(Paths::new(&[trace]).is_biased);
        assert!(!Paths::new(&[]).is_biased);
    }

    #[test]
    fn the_slowest_three_are_kept_and_first_those_of_whole_requests() {
        let check = |all: &[(bool, u64, u128)], expect: &[u128]| {
            let mut slowest = Vec::new();
            for (is_asked, length_ns, id) in all.iter().copied() {
                keep_slowest(&mut slowest, Shown { is_asked, length_ns, id });
            }
            assert_eq!(slowest.iter().map(|one| one.id).collect::<Vec<_>>(), expect);
        };
        check(&[(false, 5, 1), (false, 9, 2), (false, 7, 3), (false, 9, 2), (false, 8, 4)], &[2, 4, 3]);
        check(&[(false, 9, 1), (true, 3, 2), (false, 8, 3), (true, 4, 4)], &[4, 2, 1]);
    }
}
