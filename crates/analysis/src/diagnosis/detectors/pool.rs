//! An exhausted connection pool: requests wait for a database connection, or for one of the few connections to another service,
//! on which fast requests queue behind slow ones (head-of-line blocking).
//!
//! The evidence is spans that wait for a connection, the pending requests of a pool (divided by the requests in flight they are the
//! share of response time, by Little's law), and pools with all connections in use. The call that follows the wait
//! distinguishes the two kinds.
//!
//! Not: a pool that is full because its connections do slow work; then the database is busy, and that is reported instead.

use std::collections::{BTreeMap, BTreeSet};

use model::diagnosis::{
    Caveat, Change, Claim, CostClass, FigureName, Hypothesis, MissingKind, Note, Remedy, Role, RuledOut,
    SlotKind,
};
use model::{SignalId, SignalRole, SpanKind, Strength, Unit};

use super::super::case_view::View;
use super::super::concurrency::{self, ConcurrencyLimit};
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::paths::{Begun, Step, StepKey};
use super::super::series;
use super::super::sessions;
use super::super::thresholds::cpu::AT_LIMIT_MIN;
use super::super::thresholds::pool::{
    BEFORE_MIN, CALLS_MIN, CROWD_MIN, LIMITS_MIN, OUTER_MAX, SHARE_MIN, STEADY_MAX, UNUSED_MAX,
};
use crate::roles::{ActivityRole, Pool};

/// The signals of a connection pool.
const POOLS: [SignalRole; 3] = [SignalRole::PoolPending, SignalRole::PoolSize, SignalRole::PoolInUse];

/// Finds exhausted connection pools.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let waits: Vec<(&StepKey, &Step)> =
        view.paths.steps.iter().filter(|(_, step)| matches!(step.role, ActivityRole::PoolWait(_))).collect();
    let pending = view.sum_of_means(&SignalRole::PoolPending.signals());
    if waits.is_empty() && pending.is_none() {
        let found: Vec<Observation> =
            by_concurrency(view).or_else(|| by_connections(view)).into_iter().collect();
        return if found.is_empty() {
            vec![Observation::Missing(MissingKind::ConnectionPools)]
        } else {
            found
        };
    }
    let mut all = Vec::new();
    let mut has_span = false;
    for (key, step) in &waits {
        let share = view.explained_by(key, step);
        if share >= SHARE_MIN {
            has_span = true;
            all.push(match leads_to_database(view, key, step) {
                true => of_pool(view, &key.service, share, Some(step)),
                false => of_line(view, key, step, share),
            });
        }
    }
    let by_law = pending.map_or(0.0, |pending| view.share_of_waiting(pending));
    if !has_span && by_law >= SHARE_MIN {
        let place = view
            .signals(&SignalRole::PoolPending.signals())
            .first()
            .map_or("pool", |signal| series::place(signal))
            .to_owned();
        all.push(of_pool(view, &place, by_law, None));
    } else if !has_span {
        all.push(Observation::RuledOut(RuledOut::ConnectionPools { pending }));
    }
    all
}

/// Returns true if a pool's connections lead to a database: by its spans, or because the service calls one.
fn leads_to_database(view: &View<'_>, key: &StepKey, step: &Step) -> bool {
    match step.role {
        ActivityRole::PoolWait(Pool::Database) => true,
        ActivityRole::PoolWait(Pool::Service) => false,
        _ => view.paths.steps.iter().any(|(other, step)| other.service == key.service && step.is_database),
    }
}

/// The calls that one service makes to a database, or to another callee.
type Callees<'v> = BTreeMap<(&'v str, Option<&'v str>), Vec<(i64, u64)>>;

/// Finds a pool whose waits no span and no metric shows: a service has a limited number of calls open, each begins when another
/// ends, and requests that have begun wait before their first. One call at a time may be a lock as well, so that of other calls than
/// statements a pool has at least two.
///
/// A request may keep its connection from its first statement to its end, whatever else it calls in between. Then it is requests from
/// their first statement on of which a limited number is open.
fn by_concurrency(view: &View<'_>) -> Option<Observation> {
    let mut calls: Callees<'_> = BTreeMap::new();
    for (key, step) in view.paths.steps.iter().filter(|(key, _)| key.kind == SpanKind::Client) {
        let callee = if step.is_database { None } else { Some(step.callee.as_deref().unwrap_or("")) };
        calls.entry((&key.service, callee)).or_default().extend(&step.times_ns);
    }
    let open = sessions::connections(view).map(|connections| connections.open);
    let found = calls.iter().filter(|_| !view.paths.is_biased).filter_map(|((service, callee), spans)| {
        let share = view.share_of_paths(view.paths.before_calls_ns(service));
        if share < BEFORE_MIN {
            return None;
        }
        let begun = view.paths.begun(service);
        let limit = match callee {
            None => concurrency::limit(spans, view.weight()).or_else(|| held(view, &begun, open)),
            // Those that begin with a statement wait for what that needs.
            Some(_) if begun.asks_first => None,
            Some(_) => concurrency::limit(spans, view.weight()).filter(|limit| limit.at_once >= CALLS_MIN),
        };
        limit.map(|limit| (*service, *callee, share, limit))
    });
    let (service, callee, share, limit) = found.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let (claim, remedy) = match callee {
        None => (
            Claim::PoolExhausted {
                place: service.to_owned(),
                waiting_share: share,
                mean_wait_s: None,
                pending: None,
                connections: Some(limit.at_once),
            },
            Remedy::EnlargePool,
        ),
        Some(_) => (
            Claim::HeadOfLine {
                service: service.to_owned(),
                waiting_share: share,
                mean_wait_s: share * view.level.mean_s().unwrap_or(0.0),
            },
            Remedy::MultiplexConnections,
        ),
    };
    let numbers = vec![
        exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
        exact(FigureName::ConnectionsInUse, limit.open, Unit::Count).noted(Note::WorkPerSecond),
        exact(FigureName::ConnectionsMax, limit.at_once, Unit::Count),
        exact(FigureName::ServiceTime, limit.mean_s, Unit::Seconds),
    ];
    Some(Observation::Found(
        Box::new(Hypothesis {
            strength: Strength::Arithmetic,
            explains: Some(share),
            numbers,
            caveats: if callee.is_none() { vec![Caveat::DatabaseCapacity] } else { Vec::new() },
            cost: CostClass::Setting,
            prediction: view.with_slots(share, SlotKind::Connections, limit.at_once),
            ..draft(claim, remedy, service)
        }),
        Depth::Cause,
    ))
}

/// Returns the limit of requests that keep a connection from their first statement on, unless the database counts another number of
/// connections.
fn held(view: &View<'_>, begun: &Begun, connections: Option<f64>) -> Option<ConcurrencyLimit> {
    let limit = concurrency::limit(&begun.spans, view.weight()).filter(|_| begun.asks_first)?;
    let is_counted = connections.is_none_or(|open| (open - limit.at_once).abs() <= STEADY_MAX);
    (limit.at_once >= CALLS_MIN && is_counted).then_some(limit)
}

/// Finds a pool by the connections that its database counts: all of them are in use all the time, far more requests are in flight,
/// and neither locks nor processors hold the statements up.
fn by_connections(view: &View<'_>) -> Option<Observation> {
    let sessions::Connections { open, idle } = sessions::connections(view)?;
    let owner = owner(view);
    let inside = owner.and_then(|service| requests_inside(view, service));
    let (in_flight, most) = (inside.unwrap_or_else(|| view.level.in_flight()), open.round());
    let locked = view.sum_of_means(&[SignalId::LocksWaiting]).unwrap_or(0.0);
    let is_exhausted = most >= 1.0 && (open - most).abs() <= STEADY_MAX && idle <= most * UNUSED_MAX;
    let is_held_up = locked > most * UNUSED_MAX || super::share_saturated(view) >= AT_LIMIT_MIN;
    if !is_exhausted || is_held_up || in_flight < most * CROWD_MIN {
        return None;
    }
    let share = view.share_of_waiting(in_flight - most);
    let place = owner.unwrap_or("database").to_owned();
    let claim = Claim::PoolExhausted {
        place: place.clone(),
        waiting_share: share,
        mean_wait_s: None,
        pending: Some(in_flight - most),
        connections: Some(most),
    };
    let queries = view.signals(&[SignalId::Connections]).into_iter().take(super::QUERIES_MAX);
    Some(Observation::Found(
        Box::new(Hypothesis {
            strength: Strength::Statistics,
            explains: Some(share),
            numbers: vec![
                exact(FigureName::InFlight, in_flight, Unit::Count),
                exact(FigureName::ConnectionsInUse, open - idle, Unit::Count),
                exact(FigureName::ConnectionsMax, most, Unit::Count),
            ],
            queries: queries.map(|signal| view.query(signal)).collect(),
            caveats: vec![Caveat::DatabaseCapacity],
            cost: CostClass::Setting,
            prediction: view.with_slots(share, SlotKind::Connections, most),
            ..draft(claim, Remedy::EnlargePool, place)
        }),
        Depth::Cause,
    ))
}

/// The mean number of requests that a service has begun and not answered; `None` where no trace shows it. Those that have not reached it
/// do not wait for its pool.
fn requests_inside(view: &View<'_>, service: &str) -> Option<f64> {
    let served = view.paths.steps.iter().filter(|(key, _)| {
        *key.service == *service && matches!(key.kind, SpanKind::Server | SpanKind::Consumer)
    });
    let total_ns: f64 = served.map(|(_, step)| step.total_ns).sum();
    (total_ns > 0.0).then(|| view.share_of_paths(total_ns).min(1.0) * view.level.in_flight())
}

/// The service whose pool the database's connections are: the only one that calls a database, or the only one there is.
fn owner<'a>(view: &'a View<'_>) -> Option<&'a str> {
    let callers: BTreeSet<&str> =
        view.paths.steps.iter().filter(|(_, step)| step.is_database).map(|(key, _)| &*key.service).collect();
    let services = match callers.is_empty() {
        true => view.paths.entries.keys().map(|service| &**service).collect(),
        false => callers,
    };
    services.first().copied().filter(|_| services.len() == 1)
}

fn of_pool(view: &View<'_>, place: &str, share: f64, step: Option<&Step>) -> Observation {
    let pending = view.sum_of_means(&SignalRole::PoolPending.signals());
    let (limit, used) = (
        view.sum_of_means(&SignalRole::PoolSize.signals()),
        view.sum_of_means(&SignalRole::PoolInUse.signals()),
    );
    let mut numbers = Vec::new();
    numbers.extend(
        step.map(|step| {
            exact(FigureName::ConnectionWait, step.mean_s(), Unit::Seconds).noted(Note::OfWaiting)
        }),
    );
    numbers.extend(
        pending
            .map(|pending| exact(FigureName::PendingRequests, pending, Unit::Count).noted(Note::MeanOfRun)),
    );
    numbers.push(exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent));
    numbers.extend(
        used.map(|used| exact(FigureName::ConnectionsInUse, used, Unit::Count).noted(Note::MeanOfRun)),
    );
    numbers.extend(limit.map(|limit| exact(FigureName::ConnectionsMax, limit, Unit::Count)));
    let claim = Claim::PoolExhausted {
        place: place.to_owned(),
        waiting_share: share,
        mean_wait_s: step.map(Step::mean_s),
        pending,
        connections: limit,
    };
    Observation::Found(
        Box::new(Hypothesis {
            role: if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
            strength: Strength::Limit,
            explains: Some(share),
            numbers,
            queries: view
                .signals(&POOLS.map(SignalRole::signals).concat())
                .into_iter()
                .take(super::QUERIES_MAX)
                .map(|signal| view.query(signal))
                .collect(),
            exemplars: step.map(|step| view.exemplars(&step.slowest)).unwrap_or_default(),
            caveats: vec![Caveat::DatabaseCapacity],
            cost: CostClass::Setting,
            prediction: match limit.or_else(|| statements_at_once(view, place)) {
                Some(limit) => view.with_slots(share, SlotKind::Connections, limit),
                None => view.without(share, Change::EnoughConnections),
            },
            ..draft(claim, Remedy::EnlargePool, place)
        }),
        Depth::Cause,
    )
}

/// Returns the connections of a pool whose size no metric shows: the statements of its service at a time, if they show a limit.
fn statements_at_once(view: &View<'_>, service: &str) -> Option<f64> {
    let is_statement = |(key, step): &(&StepKey, &Step)| {
        // Of spans within each other, those of the driver run on a connection.
        let is_inner = step.parents as f64 <= step.spans as f64 * OUTER_MAX;
        *key.service == *service && step.role == ActivityRole::Statement && is_inner
    };
    let statements = view.paths.steps.iter().filter(is_statement);
    let spans: Vec<(i64, u64)> = statements.flat_map(|(_, step)| step.times_ns.iter().copied()).collect();
    concurrency::limit(&spans, view.weight()).filter(|_| !view.paths.is_biased).map(|limit| limit.at_once)
}

fn of_line(view: &View<'_>, key: &StepKey, step: &Step, share: f64) -> Observation {
    let claim = Claim::HeadOfLine {
        service: key.service.to_string(),
        waiting_share: share,
        mean_wait_s: step.mean_s(),
    };
    Observation::Found(
        Box::new(Hypothesis {
            role: if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
            strength: Strength::Limit,
            explains: Some(share),
            numbers: vec![
                exact(FigureName::ConnectionWait, step.mean_s(), Unit::Seconds).noted(Note::OfAllCalls),
                exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
            ],
            exemplars: view.exemplars(&step.slowest),
            cost: CostClass::Setting,
            prediction: view.without(share, Change::NoConnectionWait),
            ..draft(claim, Remedy::MultiplexConnections, key.service.to_string())
        }),
        Depth::Cause,
    )
}

#[cfg(test)]
mod tests {
    use model::Span;

    use super::super::super::testing::{flat, level, request, sampled, span, with_evidence};
    use super::super::testing::check;
    use super::*;

    fn waiting(wait_ms: f64, asks_database: bool) -> crate::diagnosis::Level {
        let below: &[(&str, f64, f64)] = if asks_database { &[("select 1", 80.0, 10.0)] } else { &[] };
        let trace = |number| {
            let mut spans = request("shop", "GET /", 100.0, below);
            spans.push(span(9, 1, "shop", "wait for a connection", 0.0, wait_ms));
            sampled(number, spans)
        };
        crate::diagnosis::Level { traces: (0..20).map(trace).collect(), ..level(10, 10, 0.1) }
    }

    #[test]
    fn spans_tell_who_waits_and_what_for() {
        check(detect, &waiting(70.0, true), &["connection pool too small: shop"]);
        check(detect, &waiting(70.0, false), &["head-of-line blocking: shop"]);
        check(detect, &waiting(2.0, true), &[]);
    }

    /// A request of 100 ms with most of its time in the pool span of an SDK: a client span with the database's attributes.
    fn pooled(operation: &str, wait_ms: f64) -> crate::diagnosis::Level {
        let trace = |number| {
            let mut spans = request("shop", "GET /", 100.0, &[("select 1", wait_ms, 5.0)]);
            let attributes = vec![("db.system".into(), "postgresql".to_owned())];
            let kind = model::SpanKind::Client;
            spans.push(model::Span { kind, attributes, ..span(9, 1, "shop", operation, 0.0, wait_ms) });
            sampled(number, spans)
        };
        crate::diagnosis::Level { traces: (0..20).map(trace).collect(), ..level(10, 10, 0.1) }
    }

    #[test]
    fn pool_spans_of_sdks_are_waits() {
        for operation in ["pool.acquire", "pg-pool.connect", "HikariDataSource.getConnection", "connect"] {
            let level = pooled(operation, 90.0);
            check(detect, &level, &["connection pool too small: shop"]);
            let case = super::super::super::case::Case { levels: vec![level] };
            let view = View::new(&case).expect("a run");
            assert!((view.share_of_waits() - 0.9).abs() < 1e-9, "{operation}");
            let database_s = view.paths.attribution.part_ns(crate::traces::Component::Database);
            assert_eq!(database_s, 20 * 5_000_000, "{operation} is no work of the database");
        }
        check(detect, &pooled("pg.connect", 90.0), &[]);
    }

    #[test]
    fn requests_wait_before_calls_of_which_two_are_open_at_a_time() {
        let case = |slots: usize| {
            let build = |start_ms: f64| {
                let mut spans = request("shop", "GET /quote", 480.0, &[]);
                let attributes = vec![("http.request.method".into(), "GET".to_owned())];
                let call = span(9, 1, "shop", "GET", 440.0, 39.0);
                spans.push(model::Span { kind: SpanKind::Client, attributes, ..call });
                spans.iter_mut().for_each(|span| span.start_ns += ((start_ms - 440.0) * 1e6) as i64);
                spans
            };
            let traces = super::super::super::testing::in_slots(slots, 500 * slots as u128, 40.0, build);
            crate::diagnosis::Level { traces, ..level(20, 25 * slots as u64, 0.48) }
        };
        check(detect, &case(2), &["head-of-line blocking: shop"]);
        // A lock is held across one call at a time.
        check(detect, &case(1), &[]);
    }

    #[test]
    fn statements_below_requests_that_have_ended_belong_to_those_without_any() {
        let case = |waits_ms: f64| {
            let build = |start_ms: f64| {
                // Every second request of a connection has the statement of the next one, in the context of which it is handed on.
                let is_even = (((start_ms - 500.0) / 40.0).floor() as u64).is_multiple_of(2);
                let both = [("select 1", waits_ms, 39.0), ("select 1", waits_ms + 40.0, 39.0)];
                let below = if is_even { &both[..] } else { &[] };
                let mut spans = request("shop", "GET /report", waits_ms + 40.0, below);
                spans.iter_mut().for_each(|span| span.start_ns += ((start_ms - waits_ms) * 1e6) as i64);
                spans
            };
            let traces = super::super::super::testing::in_slots(2, 1000, 40.0, build);
            crate::diagnosis::Level { traces, ..level(20, 50, (waits_ms + 40.0) / 1e3) }
        };
        check(detect, &case(440.0), &["connection pool too small: shop"]);
        check(detect, &case(1.0), &[]);
    }

    #[test]
    fn statements_show_the_size_of_a_pool_with_wait_spans() {
        let build = |start_ms: f64| {
            let mut spans = request("shop", "GET /report", 480.0, &[("select 1", 440.0, 39.0)]);
            let attributes = vec![("db.system".into(), "postgresql".to_owned())];
            let wait = span(9, 1, "shop", "pg-pool.connect", 0.0, 440.0);
            spans.push(model::Span { kind: SpanKind::Client, attributes, ..wait });
            spans.iter_mut().for_each(|span| span.start_ns += ((start_ms - 440.0) * 1e6) as i64);
            spans
        };
        let traces = super::super::super::testing::in_slots(2, 1000, 40.0, build);
        let level = crate::diagnosis::Level { traces, closed_vus: Some(24.5), ..level(20, 50, 0.48) };
        let found = super::super::testing::fires(detect, &level);
        let change = found[0].prediction.as_ref().map(|it| it.change.clone());
        let expect = Change::Slots { kind: SlotKind::Connections, from: 2.0, to: 8.0 };
        assert_eq!(change, Some(expect));
    }

    #[test]
    fn a_database_whose_connections_are_all_in_use_shows_a_pool() {
        let case = |active: f64, idle: f64, locked: f64| {
            let of = |state, value| flat("connections", &[("state", state)], 10, value);
            let signals =
                vec![of("active", active), of("idle", idle), flat("locks_waiting", &[], 10, locked)];
            // Ten requests in flight.
            with_evidence(level(10, 20, 0.5), signals, Vec::new())
        };
        check(detect, &case(1.95, 0.05, 0.0), &["connection pool too small: database"]);
        check(detect, &case(1.95, 6.05, 0.0), &[]);
        check(detect, &case(8.0, 0.0, 0.0), &[]);
        check(detect, &case(2.0, 0.0, 1.9), &[]);
    }

    /// A front calls a service that asks a database; the front's connection to it allows two calls at a time, or the pool two statements.
    #[test]
    fn the_pool_is_that_of_the_service_in_which_requests_wait() {
        let case = |inside_ms: f64| {
            let trace = |number: u128| {
                let kind = |kind, span: model::Span| model::Span { kind, ..span };
                let mut spans = request("front", "GET /report", 500.0, &[]);
                spans.push(kind(SpanKind::Client, span(2, 1, "front", "shop.Shop/Report", 1.0, 498.0)));
                spans.push(kind(SpanKind::Server, span(3, 2, "back", "shop.Shop/Report", 2.0, inside_ms)));
                let attributes = vec![("db.system.name".into(), "postgresql".to_owned())];
                let asked = span(4, 3, "back", "select 1", 2.0, inside_ms);
                spans.push(model::Span { kind: SpanKind::Client, attributes, ..asked });
                sampled(number, spans)
            };
            let active = flat("connections", &[("state", "active")], 10, 2.0);
            let level =
                crate::diagnosis::Level { traces: (0..50).map(trace).collect(), ..level(10, 20, 0.5) };
            with_evidence(level, vec![active], Vec::new())
        };
        check(detect, &case(490.0), &["connection pool too small: back"]);
        check(detect, &case(40.0), &[]);
    }

    #[test]
    fn pending_requests_tell_without_spans() {
        // Ten requests per second of 100 ms are one in flight.
        let case = |pending| {
            with_evidence(
                level(10, 100, 0.1),
                vec![flat("pool_pending", &[("pool", "main")], 10, pending)],
                Vec::new(),
            )
        };
        check(detect, &case(6.0), &["connection pool too small: main"]);
        check(detect, &case(0.1), &[]);
    }

    #[test]
    fn a_pool_without_spans_or_metrics_shows_in_its_statements() {
        let case = |slots: usize, waits_ms: f64| {
            let build = |start_ms: f64| {
                let mut spans =
                    request("shop", "GET /report", waits_ms + 40.0, &[("select 1", waits_ms, 39.0)]);
                spans.iter_mut().for_each(|span| span.start_ns += ((start_ms - waits_ms) * 1e6) as i64);
                spans
            };
            let traces = super::super::super::testing::in_slots(slots, 1000, 40.0, build);
            crate::diagnosis::Level { traces, ..level(20, 50, (waits_ms + 40.0) / 1e3) }
        };
        check(detect, &case(2, 440.0), &["connection pool too small: shop"]);
        check(detect, &case(2, 1.0), &[]);
    }

    /// Requests keep their connection while they call a third party. The wait is before their first statement, so that it is for the
    /// connection, and not for the calls, of which as few are open.
    #[test]
    fn a_connection_that_is_held_during_a_call_is_waited_for() {
        let case = |unused: f64, has_middleware: bool| {
            let build = |start_ms: f64| {
                let below = [("select 1", 440.0, 1.0), ("update stock", 458.0, 1.0)];
                let mut spans = request("shop", "POST /checkout", 460.0, &below);
                let call = span(9, 1, "shop", "POST", 441.5, 16.0);
                let attributes = vec![("server.address".into(), "payments".to_owned())];
                spans.push(Span { kind: SpanKind::Client, attributes, ..call });
                // Frameworks record a span for each handler, which begins with the request.
                if has_middleware {
                    spans[1..].iter_mut().for_each(|span| span.parent = Some(8));
                    spans.push(span(8, 1, "shop", "router - /checkout", 0.1, 459.8));
                }
                spans.iter_mut().for_each(|span| span.start_ns += ((start_ms - 440.0) * 1e6) as i64);
                spans
            };
            let traces = super::super::super::testing::in_slots(2, 1000, 20.0, build);
            let level = crate::diagnosis::Level { traces, ..level(20, 50, 0.46) };
            let connections = |state, count| flat("connections", &[("state", state)], 20, count);
            with_evidence(level, vec![connections("active", 2.0), connections("idle", unused)], Vec::new())
        };
        for has_middleware in [false, true] {
            check(detect, &case(0.0, has_middleware), &["connection pool too small: shop"]);
            check(detect, &case(7.0, has_middleware), &[]);
        }
    }
}
