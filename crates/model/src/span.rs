//! Traces: what servers say they did for one request, span by span.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use histo::Values;

/// The service whose spans the run itself makes: of its requests, and of the tasks of its script.
pub const OWN_SERVICE: &str = "plimsoll";

/// A trace that was kept, whole as far as it was received.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Its number (W3C Trace Context), never zero.
    pub id: u128,
    /// Why it was kept.
    pub kept: Kept,
    /// In order of their start.
    pub spans: Vec<Span>,
}

/// Why a trace was kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kept {
    /// It is one of an unbiased sample: whether a trace is in it follows from its number alone. `share` of all traces are.
    Sample {
        /// In (0, 1].
        share: f64,
    },
    /// A span of it failed.
    Error,
    /// It is among the slowest of its root's operation.
    Slowest,
    /// It is the one of its bucket in the histogram of its root's operation.
    Bucket,
    /// A store of traces was asked for it, and gave it: neither all traces nor an unbiased sample of them are.
    Found,
}

/// One piece of work that a service did for a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Its number within the trace, never zero.
    pub id: u64,
    /// The span that caused it; it may be one that was never received.
    pub parent: Option<u64>,
    /// On which side of a call it is.
    pub kind: SpanKind,
    /// The service that recorded it: the resource's `service.name`.
    pub service: Arc<str>,
    /// The operation: the span's name.
    pub operation: Arc<str>,
    /// When it began, nanoseconds of the run's clock. It may have begun before that clock did.
    pub start_ns: i64,
    /// How long it took.
    pub duration: Duration,
    /// Whether the work failed.
    pub status: SpanStatus,
    /// Further attributes by name, with numbers and booleans as text.
    pub attributes: Vec<(Arc<str>, String)>,
    /// Spans of this trace or of others that it follows from: trace and span.
    pub links: Vec<(u128, u64)>,
}

/// On which side of a call a span is (OpenTelemetry, trace API, span kind).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SpanKind {
    /// Within a service.
    Internal,
    /// It answers.
    Server,
    /// It asks and waits.
    Client,
    /// It sends a message.
    Producer,
    /// It works on a message.
    Consumer,
}

/// Whether a span's work failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpanStatus {
    /// Not set.
    Unset,
    /// It was said to be well.
    Ok,
    /// It failed.
    Error,
}

/// How often an operation ran within ten seconds, and how long it took: of all spans received, kept or not.
#[derive(Clone, Debug)]
pub struct OperationLoad {
    /// The service that recorded it.
    pub service: Arc<str>,
    /// The operation.
    pub operation: Arc<str>,
    /// On which side of a call.
    pub kind: SpanKind,
    /// The ten seconds of the run in which the spans ended: the instant divided by 10^10 nanoseconds.
    pub ten: u32,
    /// Spans that failed.
    pub errors: u64,
    /// Milliseconds, of all of them.
    pub durations: Values,
}

impl Span {
    /// When it was over, nanoseconds of the run's clock.
    pub fn end_ns(&self) -> i64 {
        self.start_ns.saturating_add(i64::try_from(self.duration.as_nanos()).unwrap_or(i64::MAX))
    }

    /// Whether the run itself recorded it, for a request or a task: the load generator is not part of the target.
    pub fn is_own(&self) -> bool {
        self.kind == SpanKind::Client && &*self.service == OWN_SERVICE
    }

    /// An attribute by its name.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| &**key == name).map(|(_, value)| value.as_str())
    }
}

impl Trace {
    /// The root span. Where parents are missing, the span of the sender of the request, else the earliest
    /// of them: clocks differ.
    pub fn root(&self) -> Option<&Span> {
        let here: HashSet<u64> = self.spans.iter().map(|span| span.id).collect();
        let orphans =
            self.spans.iter().filter(|span| !span.parent.is_some_and(|parent| here.contains(&parent)));
        orphans.min_by_key(|span| (!span.is_own(), span.start_ns, span.id))
    }
}

impl Kept {
    /// Its name in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kept::Sample { .. } => "sample",
            Kept::Error => "error",
            Kept::Slowest => "slowest",
            Kept::Bucket => "bucket",
            Kept::Found => "found",
        }
    }
}

impl SpanKind {
    /// All of them.
    pub const ALL: [SpanKind; 5] =
        [SpanKind::Internal, SpanKind::Server, SpanKind::Client, SpanKind::Producer, SpanKind::Consumer];

    /// Its name in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            SpanKind::Internal => "internal",
            SpanKind::Server => "server",
            SpanKind::Client => "client",
            SpanKind::Producer => "producer",
            SpanKind::Consumer => "consumer",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<SpanKind> {
        SpanKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl SpanStatus {
    /// All of them.
    pub const ALL: [SpanStatus; 3] = [SpanStatus::Unset, SpanStatus::Ok, SpanStatus::Error];

    /// Its name in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            SpanStatus::Unset => "unset",
            SpanStatus::Ok => "ok",
            SpanStatus::Error => "error",
        }
    }

    /// The status of this name.
    pub fn named(name: &str) -> Option<SpanStatus> {
        SpanStatus::ALL.into_iter().find(|status| status.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(id: u64, parent: Option<u64>, start_ns: i64) -> Span {
        Span {
            id,
            parent,
            kind: SpanKind::Server,
            service: "shop".into(),
            operation: "GET /".into(),
            start_ns,
            duration: Duration::from_nanos(5),
            status: SpanStatus::Unset,
            attributes: vec![("http.route".into(), "/".to_owned())],
            links: Vec::new(),
        }
    }

    #[test]
    fn the_root_is_what_nothing_here_caused() {
        let trace = |spans: Vec<Span>| Trace { id: 1, kept: Kept::Error, spans };
        let root = |spans: Vec<Span>| trace(spans).root().map(|span| span.id);
        assert_eq!(root(vec![span(2, Some(1), 3), span(1, None, 0)]), Some(1));
        assert_eq!(root(vec![span(2, Some(9), 3), span(3, Some(9), 1)]), Some(3), "the earliest of orphans");
        assert_eq!(root(vec![span(2, Some(3), 3), span(3, Some(2), 1)]), None, "two that claim each other");
        let own = Span { kind: SpanKind::Client, service: OWN_SERVICE.into(), ..span(7, None, 5) };
        assert_eq!(root(vec![span(2, Some(9), 3), own]), Some(7), "the caller came first");
    }

    #[test]
    fn names_and_ends() {
        assert_eq!(span(1, None, i64::MAX).end_ns(), i64::MAX);
        assert_eq!(span(1, None, -2).end_ns(), 3);
        assert_eq!(span(1, None, 0).attribute("http.route"), Some("/"));
        for kind in SpanKind::ALL {
            assert_eq!(SpanKind::named(kind.as_str()), Some(kind));
        }
        for status in SpanStatus::ALL {
            assert_eq!(SpanStatus::named(status.as_str()), Some(status));
        }
    }
}
