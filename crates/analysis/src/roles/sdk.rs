//! The pool, connect and look-up spans of SDKs, by the names in their sources.

use super::{ActivityRole, Pool};

/// Facts about a span beside its name.
pub(super) struct Facts {
    /// Whether it names a database system.
    pub(super) is_database: bool,
    /// Whether it has a statement.
    pub(super) has_statement: bool,
    /// Whether otelpgx recorded it.
    pub(super) is_pgx: bool,
}

/// Names as a whole.
const NAMES: &[(&str, ActivityRole)] = &[
    // Go, github.com/exaring/otelpgx tracer.go, TraceAcquireStart: CLIENT with db.system.
    ("pool.acquire", ActivityRole::PoolWait(Pool::Database)),
    ("pgxpool.acquire", ActivityRole::PoolWait(Pool::Database)),
    // Node.js, @opentelemetry/instrumentation-pg, enums/SpanNames: CLIENT with db.system. The second dials.
    ("pg-pool.connect", ActivityRole::PoolWait(Pool::Database)),
    ("pg.connect", ActivityRole::Connect),
    // Node.js, @opentelemetry/instrumentation-generic-pool: any resource, mostly connections.
    ("generic-pool.acquire", ActivityRole::PoolWait(Pool::Unknown)),
    // Node.js, @opentelemetry/instrumentation-redis, v4-v5/instrumentation.
    ("redis-connect", ActivityRole::Connect),
    // Node.js, @opentelemetry/instrumentation-net and -dns.
    ("tcp.connect", ActivityRole::Connect),
    ("tls.connect", ActivityRole::Connect),
    ("dns.lookup", ActivityRole::Lookup),
    // Prisma, "OpenTelemetry tracing": the time until the engine has a connection of its pool.
    ("prisma:engine:connection", ActivityRole::PoolWait(Pool::Database)),
    // Go, github.com/XSAM/otelsql methods.go. database/sql opens a connection or checks one that it has; its wait for a
    // connection has no span, only db.sql.connection.wait_duration.
    ("sql.connector.connect", ActivityRole::Connect),
    ("sql.conn.reset_session", ActivityRole::Connect),
    ("sql.conn.ping", ActivityRole::Connect),
    // Go, github.com/uptrace/opentelemetry-go-extra/otelsql driver.go.
    ("db.connect", ActivityRole::Connect),
    ("db.ping", ActivityRole::Connect),
    // Go, go.opentelemetry.io/contrib/…/otelhttptrace clienttrace.go: http.getconn ends when the transport has a connection.
    ("http.getconn", ActivityRole::PoolWait(Pool::Service)),
    ("http.connect", ActivityRole::Connect),
    ("http.tls", ActivityRole::Connect),
    ("http.dns", ActivityRole::Lookup),
    // Rust, sqlx-tracing.
    ("sqlx.pool.acquire", ActivityRole::PoolWait(Pool::Database)),
];

/// Beginnings of names.
const BEGINNINGS: &[(&str, ActivityRole)] = &[
    // .NET, System.Net.Http and System.Net.NameResolution ("Networking distributed traces").
    ("http wait_for_connection", ActivityRole::PoolWait(Pool::Service)),
    ("http connection_setup", ActivityRole::Connect),
    ("socket connect", ActivityRole::Connect),
    ("tls client handshake", ActivityRole::Connect),
    ("dns lookup", ActivityRole::Lookup),
    ("dns reverse lookup", ActivityRole::Lookup),
];

/// Ends of names.
const ENDS: &[(&str, ActivityRole)] = &[
    // Java agent, jdbc/datasource, DataSourceInstrumentation: `HikariDataSource.getConnection`, INTERNAL with code.function.
    (".getconnection", ActivityRole::PoolWait(Pool::Database)),
];

/// Returns the role that an SDK's name stands for.
pub(super) fn role(operation: &str, facts: &Facts) -> Option<ActivityRole> {
    // Python, opentelemetry-instrumentation-sqlalchemy engine.py wraps `Engine.connect`, which checks a connection out of the
    // pool: CLIENT with db.system, without a statement. otelpgx uses the name for dialing, and so does ioredis, whose statement
    // is `connect`.
    if facts.is_database && operation == "connect" {
        let dials = facts.is_pgx || facts.has_statement;
        return Some(if dials { ActivityRole::Connect } else { ActivityRole::PoolWait(Pool::Database) });
    }
    // A command of a database may have any name.
    if facts.has_statement {
        return None;
    }
    let name = operation.to_ascii_lowercase();
    let whole = NAMES.iter().find(|(known, _)| name == *known);
    let known = whole
        .or_else(|| BEGINNINGS.iter().find(|(known, _)| name.starts_with(known)))
        .or_else(|| ENDS.iter().find(|(known, _)| name.ends_with(known)));
    known.map(|(_, role)| *role)
}
