//! Spans as SDKs record them, and names that only the lab uses.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::SpanStatus;

use super::*;

/// A span of this kind and name, with attributes as `name=value` separated by spaces.
#[track_caller]
fn check(kind: SpanKind, operation: &str, attributes: &str, expect: ActivityRole) {
    let attributes = attributes.split_whitespace().filter_map(|pair| pair.split_once('='));
    let span = Span {
        id: 1,
        parent: None,
        kind,
        service: "shop".into(),
        operation: operation.into(),
        start_ns: 0,
        duration: Duration::ZERO,
        status: SpanStatus::Unset,
        attributes: attributes.map(|(name, value)| (name.into(), value.to_owned())).collect(),
        links: Vec::new(),
    };
    assert_eq!(ActivityRole::new(&span), expect, "{operation}");
}

#[test]
fn pool_and_connect_spans_of_sdks() {
    use ActivityRole::{Connect, Lookup, PoolWait, Statement};
    use SpanKind::{Client, Internal};
    let database = PoolWait(Pool::Database);
    check(Client, "pool.acquire", "db.system=postgresql pgx.operation.type=acquire", database);
    check(Client, "pool.acquire", "db.system.name=postgresql", database);
    check(Client, "connect", "db.system.name=postgresql pgx.operation.type=connect", Connect);
    check(Client, "pg-pool.connect", "db.system=postgresql db.name=shop", database);
    check(Client, "pg.connect", "db.system=postgresql", Connect);
    check(Client, "pg.query:SELECT shop", "db.system=postgresql db.statement=select", Statement);
    check(Internal, "HikariDataSource.getConnection", "code.function=getConnection", database);
    check(Internal, "TomcatDataSource.getConnection", "code.function.name=getConnection", database);
    check(Client, "sql.connector.connect", "db.system=postgresql", Connect);
    check(Client, "sql.conn.reset_session", "db.system.name=mysql", Connect);
    check(Client, "sql.conn.query", "db.system=postgresql db.statement=select", Statement);
    check(Client, "db.Connect", "db.system=postgresql", Connect);
    check(Client, "connect", "db.system=redis db.statement=connect", Connect);
    check(Client, "redis-connect", "db.system=redis", Connect);
    check(Client, "redis-GET", "db.system=redis db.statement=GET", Statement);
    // SQLAlchemy checks a connection out of its pool in `Engine.connect`.
    check(Client, "connect", "db.system=postgresql db.name=shop", database);
    check(Internal, "generic-pool.acquire", "", PoolWait(Pool::Unknown));
    check(Internal, "prisma:engine:connection", "", database);
    check(Client, "http.getconn", "", PoolWait(Pool::Service));
    check(Internal, "HTTP wait_for_connection example.com:443", "", PoolWait(Pool::Service));
    check(Internal, "DNS lookup example.com", "", Lookup);
    check(Internal, "dns.lookup", "", Lookup);
    check(Internal, "tcp.connect", "", Connect);
    // A statement wins over a name.
    check(Client, "pool.acquire", "db.system=redis db.statement=GET", Statement);
}

#[test]
fn conventions_in_old_and_new_names() {
    use ActivityRole::{Call, Process, Publish, Receive, ServerEntry, Statement, Work};
    use SpanKind::{Client, Consumer, Internal, Producer, Server};
    check(Server, "GET /users/{id}", "http.route=/users/{id} db.system=postgresql", ServerEntry);
    check(Client, "GET", "http.request.method=GET server.address=a", Call(Callee::Http));
    check(Client, "HTTP GET", "http.method=GET net.peer.name=a", Call(Callee::Http));
    check(Client, "shop.Cart/Add", "rpc.system=grpc", Call(Callee::Rpc));
    check(Client, "shop.Cart/Add", "rpc.system.name=grpc http.request.method=POST", Call(Callee::Rpc));
    check(Client, "invoke resize", "faas.invoked_name=resize faas.trigger=http", Call(Callee::Function));
    check(Client, "chat m", "gen_ai.system=openai http.method=POST", Call(Callee::Model));
    check(Client, "chat m", "gen_ai.provider.name=openai", Call(Callee::Model));
    check(Client, "router shop egress", "component=proxy upstream_cluster=shop", Call(Callee::Upstream));
    // Node.js, @opentelemetry/instrumentation-express: a router of the application.
    check(Internal, "router - /stock", "express.type=router", Work);
    check(Client, "ask", "", Call(Callee::Unknown));
    check(Client, "SELECT shop", "db.system.name=postgresql", Statement);
    check(Internal, "SELECT shop", "db.system.name=sqlite", Statement);
    check(Producer, "orders publish", "messaging.system=rabbitmq", Publish);
    check(Client, "send orders", "messaging.system=kafka messaging.operation.type=send", Publish);
    check(Client, "receive orders", "messaging.system=aws_sqs messaging.operation.type=receive", Receive);
    check(Consumer, "orders receive", "messaging.operation=receive", Receive);
    check(Consumer, "process orders", "messaging.operation.type=process", Process);
    check(Consumer, "run/tasks.resize", "messaging.destination=celery", Process);
    check(Internal, "graphql.resolve users", "", Work);
}

#[test]
fn words_of_manual_spans() {
    use ActivityRole::{Call, PoolWait, QueueWait, Work};
    use SpanKind::Internal;
    check(Internal, "wait for a connection", "", PoolWait(Pool::Unknown));
    check(Internal, "acquire connection", "", PoolWait(Pool::Unknown));
    check(Internal, "checkout pool", "", PoolWait(Pool::Unknown));
    check(Internal, "wait for a worker", "", QueueWait(Turn::Worker));
    check(Internal, "queued", "", QueueWait(Turn::Other));
    check(Internal, "enqueue order", "", Work);
    check(Internal, "checkout basket", "", Work);
    check(Internal, "call the bank", "", Call(Callee::Unknown));
    check(Internal, "render", "", Work);
}

#[test]
fn an_attribute_names_the_role() {
    check(SpanKind::Internal, "my-pool", "plimsoll.role=pool-wait", ActivityRole::PoolWait(Pool::Unknown));
    check(SpanKind::Internal, "wait", "plimsoll.role=work", ActivityRole::Work);
    check(SpanKind::Internal, "render", "plimsoll.role=nonsense", ActivityRole::Work);
    for (name, role) in ActivityRole::NAMED {
        assert_eq!(ActivityRole::named(name), Some(role));
    }
}

/// Names in the lab that conventions define, or that are words of everyday English.
const CONVENTIONAL: [&str; 17] = [
    "db.system.name",
    "db.query.text",
    "server.address",
    "peer.service",
    "messaging.system",
    "messaging.destination.name",
    "messaging.message.id",
    "messaging.operation.type",
    "http.route",
    "http.request.method",
    "http.response.status_code",
    "service.instance.id",
    "dns.lookup",
    "plimsoll.rate_limit_wait_ms",
    "redis",
    "GET",
    "SET",
];

/// The calls and constants of the lab's sources whose first text is the name of a span, an attribute or a service.
const NAMING: [&str; 8] = [
    "span(\"",
    "call(\"",
    "query(\"",
    "named(\"",
    "(\"",
    "SERVICE: &str = \"",
    "NAME: &str = \"",
    "QUEUE: &str = \"",
];

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The sources below a folder, without their tests.
fn sources(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    let entries = std::fs::read_dir(folder).expect("a folder of sources");
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if path.is_dir() {
            sources(&path, found);
        } else if name.ends_with(".rs") && !["tests.rs", "testing.rs", "properties.rs"].contains(&&*name) {
            let text = std::fs::read_to_string(&path).expect("a source");
            let code: String = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned();
            found.push((path, code));
        }
    }
}

fn texts(code: &str) -> impl Iterator<Item = &str> {
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| line.split('"').skip(1).step_by(2))
}

/// Names of spans, attributes, queues and services that the lab's systems use and no convention defines.
fn names_of_lab() -> BTreeSet<String> {
    let mut code = Vec::new();
    for system in ["appstore", "feed", "ingress", "scan"] {
        sources(&folder("../../lab").join(system).join("src"), &mut code);
    }
    let mut names: BTreeSet<String> = BTreeSet::new();
    for (_, code) in &code {
        for line in code.lines() {
            let named = NAMING.iter().flat_map(|before| line.split(before).skip(1));
            names.extend(named.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
        }
    }
    // A single everyday word is a name only with a mark in it: `rate_limit.wait_ms`, `scan-llm`, `read from the store`.
    names.retain(|name| {
        name.len() >= 6
            && name.contains(['.', '-', ' ', '_'])
            && name.chars().all(|mark| mark.is_ascii_alphanumeric() || "._- /".contains(mark))
            && !CONVENTIONAL.contains(&name.as_str())
    });
    names
}

/// The texts of a source that contain a name of the lab.
fn lab_names_in(code: &str, names: &BTreeSet<String>) -> Vec<String> {
    texts(code)
        .filter(|text| names.iter().any(|name| text.contains(name.as_str())))
        .map(str::to_owned)
        .collect()
}

#[test]
fn no_name_of_the_lab_is_known() {
    let names = names_of_lab();
    for name in ["wait for the worker", "read from the store", "call the backend", "wait for the connection"]
    {
        assert!(names.contains(name), "{name} is not found in the lab: {names:?}");
    }
    let mut code = Vec::new();
    sources(&folder("src"), &mut code);
    assert!(code.len() > 60, "{} sources", code.len());
    for (path, code) in &code {
        assert_eq!(lab_names_in(code, &names), Vec::<String>::new(), "{}", path.display());
    }
    let planted = "let is_it = key.operation == \"wait for the worker\";";
    assert_eq!(lab_names_in(planted, &names), ["wait for the worker"]);
    let commented = "    // As in \"wait for the worker\".";
    assert_eq!(lab_names_in(commented, &names), Vec::<String>::new());
}

/// Names of operations are interpreted in this folder alone.
fn interprets_names(code: &str) -> bool {
    let squeezed: String = code.split_whitespace().collect();
    [
        "operation.contains(",
        "operation.starts_with(",
        "operation.ends_with(",
        "operation==\"",
        "(&key.operation,&[",
    ]
    .iter()
    .any(|way| squeezed.contains(way))
}

#[test]
fn names_of_operations_are_interpreted_here_alone() {
    let mut code = Vec::new();
    sources(&folder("src"), &mut code);
    for (path, code) in code.iter().filter(|(path, _)| !path.starts_with(folder("src/roles"))) {
        assert!(!interprets_names(code), "{}", path.display());
    }
    assert!(interprets_names("contains_any(&key.operation, &[\"wait\"])"));
}

#[test]
fn a_method_alone_does_not_say_what_is_called() {
    let check = |name: &str, expect: bool| assert_eq!(super::is_method_alone(name), expect, "{name}");
    check("GET", true);
    check("HTTP GET", true);
    check("GET /quote", false);
    check("HTTP GET /quote", false);
    check("quote.Quotes/Get", false);
}
