//! The peer of a span (database, queue, service), by the attributes of several versions of OpenTelemetry (semantic conventions, database,
//! messaging and general attributes).

use model::{Span, SpanKind};

use crate::roles::{ActivityRole, DATABASE_STATEMENT, DATABASE_SYSTEM, first};

const DESTINATION: [&str; 2] = ["messaging.destination.name", "messaging.destination"];
const CONNECTING: [&str; 3] = ["plimsoll.looking_up_ms", "plimsoll.connecting_ms", "plimsoll.tls_ms"];
const HOST: [&str; 6] =
    ["peer.service", "server.address", "net.peer.name", "http.host", "url.full", "http.url"];

/// The kind of database that a span asks: `postgresql`, `redis`.
pub fn database(span: &Span) -> Option<&str> {
    // A server span may name its database as well, and a wait for a connection names the database that it leads to.
    if matches!(span.kind, SpanKind::Server | SpanKind::Consumer) {
        return None;
    }
    first(span, &DATABASE_SYSTEM).filter(|_| !ActivityRole::new(span).is_wait())
}

/// Returns the database statement of a span, as recorded.
pub fn statement(span: &Span) -> Option<&str> {
    first(span, &DATABASE_STATEMENT)
}

/// The queue that a span puts into or takes from.
pub fn queue(span: &Span) -> Option<&str> {
    first(span, &DESTINATION)
}

/// How a task of `plimsoll/flow` ended, of the span that is all of it.
pub fn task(span: &Span) -> Option<&str> {
    first(span, &["plimsoll.task"])
}

/// How a request of the run itself ended, of the span that is the client's side of it.
pub fn request(span: &Span) -> Option<&str> {
    first(span, &["plimsoll.request"]).filter(|_| span.is_own())
}

/// How long a request of the run itself looked up a name, connected and agreed on TLS, nanoseconds.
pub fn connecting_ns(span: &Span) -> u64 {
    if request(span).is_none() {
        return 0;
    }
    let ms = CONNECTING.iter().filter_map(|name| span.attribute(name)?.parse::<f64>().ok());
    (ms.sum::<f64>() * 1e6).round() as u64
}

/// Returns the host that a span calls, with its port if recorded, and without a URL's user name and password.
pub fn host(span: &Span) -> Option<&str> {
    first(span, &HOST).map(|host| {
        let host = host.split_once("://").map_or(host, |(_, rest)| rest);
        let authority = host.split(['/', '?', '#']).next().unwrap_or(host);
        authority.rsplit('@').next().unwrap_or(authority)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::span;
    use super::*;

    #[track_caller]
    fn check(name: &str, value: &str, of: impl Fn(&Span) -> Option<&str>, expect: Option<&str>) {
        let attributes = vec![(name.into(), value.to_owned())];
        let span = Span { kind: SpanKind::Client, attributes, ..span(1, 0, 0, 1) };
        assert_eq!(of(&span), expect, "{name}={value}");
    }

    #[test]
    fn old_and_new_names_are_read() {
        check("db.system", "mysql", database, Some("mysql"));
        check("db.system.name", "postgresql", database, Some("postgresql"));
        check("db.system", "", database, None);
        check("db.statement", "select 1", statement, Some("select 1"));
        check("messaging.destination", "q", queue, Some("q"));
        check("server.address", "db.example", host, Some("db.example"));
        check("url.full", "https://a.example:8080/x?y", host, Some("a.example:8080"));
        check("http.url", "http://user:secret@a.example/x", host, Some("a.example"));
        check("other", "x", host, None);
    }
}
