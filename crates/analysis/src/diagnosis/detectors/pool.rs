//! Work that waits for a connection: of a pool to the database, or of the few that lead to another service, behind which what is
//! quick waits for what is slow (head-of-line blocking).
//!
//! It is known by spans that wait for a connection, by the requests that a pool says are pending (of those under way they are the
//! share of the time, by Little's law), and by pools whose connections are all taken. Which of the two it is says what is called
//! next.
//!
//! Not: a pool that is full because what its connections do takes long; then the database is busy, and that is told.

use model::diagnosis::{CostClass, Hypothesis, Role};
use model::{SignalRole, SpanKind, Strength, Unit};

use super::super::paths::{Step, StepKey};
use super::super::series;
use super::super::view::{Depth, Says, View, count, draft, exact, missing, not, percent, time};
use super::says;

const POOL: &str = "connection-pool";
const LINE: &str = "head-of-line";

/// The signals of a connection pool.
const POOLS: [SignalRole; 3] = [SignalRole::PoolPending, SignalRole::PoolSize, SignalRole::PoolInUse];

/// The share of the time from which on a wait is told.
const SHARE_MIN: f64 = 0.1;

/// From this share of the time on it is what limits.
const LIMITS_MIN: f64 = 0.2;

/// What waits for connections.
pub(super) fn detect(view: &View<'_>) -> Vec<Says> {
    let waits: Vec<(&StepKey, &Step)> =
        view.paths.steps.iter().filter(|(key, _)| is_wait_for_connection(key)).collect();
    let pending = view.sum_of_means(&SignalRole::PoolPending.signals());
    if waits.is_empty() && pending.is_none() {
        return vec![missing(
            "the pools of connections",
            "whether requests wait for a connection",
            "expose the pool's metrics (HikariCP through Micrometer, db.client.connection.* of \
                OpenTelemetry) and --evidence scrape=http://SERVICE/metrics",
        )];
    }
    let mut all = Vec::new();
    let mut has_span = false;
    for (key, step) in &waits {
        let share = view.explained_by(key, step);
        if share >= SHARE_MIN {
            has_span = true;
            all.push(match asks_database(view, &key.service) {
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
        let number =
            pending.map_or_else(|| "no span waits".to_owned(), |pending| format!("{} wait", count(pending)));
        all.push(not("connections run out", "requests that wait for a connection", number));
    }
    all
}

/// A span that does nothing but wait until there is a connection.
fn is_wait_for_connection(key: &StepKey) -> bool {
    let waits = ["wait", "acquire", "getconnection", "get connection", "checkout"];
    key.kind == SpanKind::Internal
        && says(&key.operation, &waits)
        && says(&key.operation, &["connection", "pool"])
}

fn asks_database(view: &View<'_>, service: &str) -> bool {
    view.paths.steps.iter().any(|(key, step)| &*key.service == service && step.is_database)
}

fn of_pool(view: &View<'_>, place: &str, share: f64, step: Option<&Step>) -> Says {
    let pending = view.sum_of_means(&SignalRole::PoolPending.signals());
    let (limit, used) = (
        view.sum_of_means(&SignalRole::PoolSize.signals()),
        view.sum_of_means(&SignalRole::PoolInUse.signals()),
    );
    let mut numbers = Vec::new();
    numbers.extend(step.map(|step| {
        exact("wait for a connection", step.mean_s(), Unit::Seconds).noted("mean of those that waited")
    }));
    numbers.extend(
        pending.map(|pending| exact("requests that wait", pending, Unit::Count).noted("mean of the run")),
    );
    numbers.push(exact("of the time of requests", share * 100.0, Unit::Percent));
    numbers.extend(used.map(|used| exact("connections in use", used, Unit::Count)));
    numbers.extend(limit.map(|limit| exact("connections that may be", limit, Unit::Count)));
    let summary = match (step, pending) {
        (Some(step), _) => format!("{} of waiting each, {} of the time", time(step.mean_s()), percent(share)),
        (None, Some(pending)) => {
            format!("{} requests wait at a time, {} of the time", count(pending), percent(share))
        }
        (None, None) => percent(share),
    };
    Says::Found(
        Box::new(Hypothesis {
            title: format!("{place} runs out of connections"),
            summary,
            claim: format!(
                "requests of {place} spend {} of their time waiting for a connection to the database",
                percent(share)
            ),
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
            caveats: vec![
                "more connections help only as long as the database has something left to do them with"
                    .to_owned(),
            ],
            remedy: "raise the pool's limit, or hold connections for less long".to_owned(),
            cost: CostClass::Setting,
            prediction: view.without(share, "the pool is large enough"),
            ..draft(POOL, "connection pool too small", place)
        }),
        Depth::Cause,
    )
}

fn of_line(view: &View<'_>, key: &StepKey, step: &Step, share: f64) -> Says {
    Says::Found(
        Box::new(Hypothesis {
            title: format!("{} waits for its connection", key.service),
            summary: format!("{} of waiting each, {} of the time", time(step.mean_s()), percent(share)),
            claim: format!(
                "requests of {} spend {} of their time waiting until another's answer has left the \
                    connection free",
                key.service,
                percent(share)
            ),
            role: if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
            strength: Strength::Limit,
            explains: Some(share),
            numbers: vec![
                exact("wait for the connection", step.mean_s(), Unit::Seconds).noted("mean of all calls"),
                exact("of the time of requests", share * 100.0, Unit::Percent),
            ],
            exemplars: view.exemplars(&step.slowest),
            remedy: "use several connections, or a protocol that carries several requests at a time"
                .to_owned(),
            cost: CostClass::Setting,
            prediction: view.without(share, "calls do not wait for a connection"),
            ..draft(LINE, "head-of-line blocking", key.service.to_string())
        }),
        Depth::Cause,
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, request, sampled, span, told};
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

    #[test]
    fn pending_requests_tell_without_spans() {
        // Ten requests per second of 100 ms are one under way.
        let case = |pending| {
            told(
                level(10, 100, 0.1),
                vec![flat("pool_pending", &[("pool", "main")], 10, pending)],
                Vec::new(),
            )
        };
        check(detect, &case(6.0), &["connection pool too small: main"]);
        check(detect, &case(0.1), &[]);
    }
}
