//! The activity that a span records, from semantic conventions and from the names that SDKs give to their spans.
//!
//! This folder is the only one of the crate that interprets names of spans. Everything else asks for the [`ActivityRole`] of a span.
//!
//! The order of the sources, the first that answers wins:
//!
//! 1. the attribute `plimsoll.role`, which a service sets itself,
//! 2. the side of a call and the attributes of OpenTelemetry's conventions, in their old and new names,
//! 3. the pool, queue and connect spans of SDKs, in [`sdk`],
//! 4. for internal spans, English words for waiting ([`words`]), since manual instrumentation has no convention.

mod sdk;
mod words;

use model::{Span, SpanKind};

/// The attribute that names a span's role; it wins over everything else.
pub const ROLE: &str = "plimsoll.role";

/// The attribute for the time that a call was delayed by a rate limit of its callee, milliseconds.
pub const RATE_LIMIT_WAIT_MS: &str = "plimsoll.rate_limit_wait_ms";

/// The activity that a span records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ActivityRole {
    /// A service answers a call.
    ServerEntry,
    /// A call of another server.
    Call(Callee),
    /// A statement or command of a database.
    Statement,
    /// Opening a connection, without waiting for one of a pool.
    Connect,
    /// Resolving a host name.
    Lookup,
    /// Waiting for a connection of a pool.
    PoolWait(Pool),
    /// Waiting for a turn.
    QueueWait(Turn),
    /// Publishing a message.
    Publish,
    /// Receiving a message, or settling it, without working on it.
    Receive,
    /// Working on a message.
    Process,
    /// Anything else that a service does.
    #[default]
    Work,
}

/// The kind of server that a service calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Callee {
    /// An HTTP server.
    Http,
    /// A server of remote procedures.
    Rpc,
    /// A cloud function.
    Function,
    /// A generative model.
    Model,
    /// The server that a proxy forwards to.
    Upstream,
    /// A server that the span does not describe.
    Unknown,
}

/// The kind of a connection pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pool {
    /// Connections to a database.
    Database,
    /// Connections to another service.
    Service,
    /// Connections that the span does not describe.
    Unknown,
}

/// The resource whose turn a span waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Turn {
    /// A worker, a thread or an executor.
    Worker,
    /// Anything else: a lock, a permit, a key.
    Other,
}

impl ActivityRole {
    /// The roles that the attribute can name.
    pub const NAMED: [(&str, ActivityRole); 10] = [
        ("call", ActivityRole::Call(Callee::Unknown)),
        ("statement", ActivityRole::Statement),
        ("connect", ActivityRole::Connect),
        ("lookup", ActivityRole::Lookup),
        ("pool-wait", ActivityRole::PoolWait(Pool::Unknown)),
        ("queue-wait", ActivityRole::QueueWait(Turn::Other)),
        ("worker-wait", ActivityRole::QueueWait(Turn::Worker)),
        ("publish", ActivityRole::Publish),
        ("process", ActivityRole::Process),
        ("work", ActivityRole::Work),
    ];

    /// Returns the role of this name.
    pub fn named(name: &str) -> Option<ActivityRole> {
        ActivityRole::NAMED.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
    }

    /// Returns the role of a span.
    pub fn new(span: &Span) -> ActivityRole {
        if let Some(role) = span.attribute(ROLE).and_then(ActivityRole::named) {
            return role;
        }
        match span.kind {
            SpanKind::Server => ActivityRole::ServerEntry,
            SpanKind::Consumer if is_receive(span) => ActivityRole::Receive,
            SpanKind::Consumer => ActivityRole::Process,
            SpanKind::Producer => ActivityRole::Publish,
            SpanKind::Client => from_sdk(span).unwrap_or_else(|| client(span)),
            SpanKind::Internal => from_sdk(span).unwrap_or_else(|| internal(span)),
        }
    }

    /// Whether it is waiting for a connection or a turn.
    pub fn is_wait(self) -> bool {
        matches!(self, ActivityRole::PoolWait(_) | ActivityRole::QueueWait(_))
    }
}

/// Attributes of the database conventions (semantic conventions 1.26, 1.25 and before), new names first.
pub(crate) const DATABASE_SYSTEM: [&str; 2] = ["db.system.name", "db.system"];
pub(crate) const DATABASE_STATEMENT: [&str; 2] = ["db.query.text", "db.statement"];
/// Attributes of the messaging conventions.
const MESSAGING_SYSTEM: [&str; 1] = ["messaging.system"];
const MESSAGING_OPERATION: [&str; 2] = ["messaging.operation.type", "messaging.operation"];
/// Attributes of the conventions for HTTP, RPC, FaaS and GenAI by which a call names its callee.
const CALLEES: [(&str, Callee); 11] = [
    // Envoy names the cluster that a span is forwarded to ("Envoy tracing, upstream_cluster").
    ("upstream_cluster", Callee::Upstream),
    ("upstream_cluster.name", Callee::Upstream),
    ("gen_ai.provider.name", Callee::Model),
    ("gen_ai.system", Callee::Model),
    ("gen_ai.operation.name", Callee::Model),
    ("faas.invoked_name", Callee::Function),
    ("rpc.system.name", Callee::Rpc),
    ("rpc.system", Callee::Rpc),
    ("http.request.method", Callee::Http),
    ("http.method", Callee::Http),
    ("url.full", Callee::Http),
];

/// The first of these attributes that a span has, with a value.
pub(crate) fn first<'a>(span: &'a Span, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| span.attribute(name)).filter(|value| !value.is_empty())
}

/// Whether the name of a call is its method alone, as that of an HTTP client span whose route is unknown (semantic conventions, HTTP; Go's
/// otelhttp writes `HTTP GET`).
pub(crate) fn is_method_alone(operation: &str) -> bool {
    !operation.strip_prefix("HTTP ").unwrap_or(operation).contains(['/', ' '])
}

fn from_sdk(span: &Span) -> Option<ActivityRole> {
    // SDKs name pool spans like statements of databases only if these carry no statement; `connect` of ioredis is one.
    let facts = sdk::Facts {
        is_database: first(span, &DATABASE_SYSTEM).is_some(),
        has_statement: first(span, &DATABASE_STATEMENT).is_some(),
        is_pgx: span.attribute("pgx.operation.type").is_some(),
    };
    sdk::role(&span.operation, &facts)
}

fn client(span: &Span) -> ActivityRole {
    if first(span, &DATABASE_SYSTEM).is_some() {
        return ActivityRole::Statement;
    }
    if first(span, &MESSAGING_SYSTEM).is_some() {
        return match first(span, &MESSAGING_OPERATION) {
            Some("receive" | "settle" | "poll" | "ack" | "nack") => ActivityRole::Receive,
            Some("process" | "deliver") => ActivityRole::Process,
            _ => ActivityRole::Publish,
        };
    }
    let known = CALLEES.iter().find(|(name, _)| first(span, &[name]).is_some());
    let callee = known.map_or(Callee::Unknown, |(_, callee)| *callee);
    match callee {
        Callee::Unknown | Callee::Http if words::is_upstream(&span.operation) => {
            ActivityRole::Call(Callee::Upstream)
        }
        callee => ActivityRole::Call(callee),
    }
}

fn internal(span: &Span) -> ActivityRole {
    if first(span, &DATABASE_SYSTEM).is_some() {
        // Databases within the process are internal by convention ("Database client spans, span kind").
        return ActivityRole::Statement;
    }
    words::role(&span.operation)
}

/// Whether a consumer only fetches messages (semantic conventions, messaging, operation types).
fn is_receive(span: &Span) -> bool {
    matches!(first(span, &MESSAGING_OPERATION), Some("receive" | "settle" | "poll"))
}

#[cfg(test)]
mod tests;
