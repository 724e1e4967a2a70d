//! A program that waits for the answers of another one for most of response time, as the kernel sees its connections. This detector
//! runs only if no other one finds a bottleneck, and needs no instrumentation of the program: calls without an answer, divided by the
//! requests in flight, are the share of response time (Little's law). Where the callee waits for a callee of its own, that one is named.
//!
//! Not: databases and brokers, which are reported with their statements and queues; and the service behind a proxy, which is the
//! target itself.

use model::diagnosis::{Caveat, Change, Claim, CostClass, FigureName, Hypothesis, Note, Remedy, Role};
use model::signal::label;
use model::{Signal, SignalId, Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::prediction::Gone;
use super::super::series;
use super::super::thresholds::calls::{DECIDES_MIN, NOTICED_S};
use super::super::thresholds::unanswered::{CONFIDENCE, POINTS_MIN};

/// Names of programs whose calls are reported elsewhere, and the ports that they have by default.
const STORES: [&str; 14] = [
    "postgres",
    "mysqld",
    "mariadbd",
    "mongod",
    "redis-server",
    "valkey-server",
    "memcached",
    "beam.smp",
    "clickhouse",
    "etcd",
    "pgbouncer",
    "proxysql",
    "sqlservr",
    "oracle",
];
const STORE_PORTS: [u16; 10] = [1433, 1521, 3306, 5432, 5672, 6379, 9042, 9092, 11211, 27017];

/// Names of programs that pass all of their requests on.
const PROXIES: [&str; 9] =
    ["nginx", "haproxy", "envoy", "traefik", "caddy", "apache2", "httpd", "varnishd", "lighttpd"];

/// The calls of a program to one address.
struct Calls<'a> {
    signal: &'a Signal,
    caller: &'a str,
    callee: &'a str,
    /// Mean number of calls without an answer that the load causes, and its lower bound.
    waiting: f64,
    waiting_least: f64,
}

/// Finds a callee whose answers requests wait for.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    found(view).into_iter().collect()
}

fn found(view: &View<'_>) -> Option<Observation> {
    // Where traces cover the time, they show more.
    let is_dark = view.paths.traces == 0 || view.share_outside() >= DECIDES_MIN;
    let mean_s = view.level.requests.mean_s.filter(|_| is_dark && view.level.tasks.is_none())?;
    let all = calls(view);
    let own = |calls: &Calls<'_>| {
        let inner = all.iter().filter(|inner| inner.caller == calls.callee).map(|inner| inner.waiting);
        (calls.waiting - inner.sum::<f64>()).max(0.0)
    };
    let most = all.iter().max_by(|a, b| own(a).total_cmp(&own(b)))?;
    let own = own(most);
    let share = view.share_of_waiting(own);
    let share_least = view.share_of_waiting(own - (most.waiting - most.waiting_least));
    let is_reported_elsewhere = is_store(most.callee) || PROXIES.contains(&name(most.caller));
    if share_least < DECIDES_MIN || share * mean_s < NOTICED_S || is_reported_elsewhere {
        return None;
    }
    let claim = Claim::Unanswered {
        service: most.caller.to_owned(),
        callee: most.callee.to_owned(),
        waiting: own,
        mean_s: share * mean_s,
        time_share: share,
    };
    Some(Observation::Found(
        Box::new(Hypothesis {
            role: Role::Limits,
            strength: Strength::Arithmetic,
            explains: Some(share),
            numbers: vec![
                exact(FigureName::PendingRequests, own, Unit::Count).noted(Note::MeanOfRun),
                exact(FigureName::InFlight, view.level.in_flight(), Unit::Count),
                exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
            ],
            queries: vec![view.query(most.signal)],
            caveats: vec![Caveat::NoBaseline],
            cost: CostClass::Architecture,
            prediction: view.without_work(Gone { share, freed: 0.0 }, Change::NoCallWait),
            ..draft(claim, Remedy::CallLess, most.callee.to_owned())
        }),
        Depth::Part,
    ))
}

/// Returns the calls of all programs, without those that wait while there is no load: consumers and subscribers.
fn calls<'a>(view: &View<'a>) -> Vec<Calls<'a>> {
    let programs: Vec<&str> = view.signals(&[SignalId::ListenerCpu]).into_iter().map(series::place).collect();
    let of = |signal: &'a Signal| {
        let address = signal.labels.get(label::CALLEE)?;
        let is_enough = series::inside(view.level, signal).len() as f64 >= POINTS_MIN;
        let mean = series::mean(view.level, signal).filter(|_| is_enough)?;
        let (least, _) = series::mean_interval(view.level, signal, CONFIDENCE)?;
        let idle = series::background(view.level, signal).unwrap_or(0.0);
        Some(Calls {
            signal,
            caller: signal.labels.get(label::PROGRAM)?,
            callee: program_at(address, &programs),
            waiting: (mean - idle).max(0.0),
            waiting_least: (least - idle).max(0.0),
        })
    };
    view.signals(&[SignalId::CallsUnanswered]).into_iter().filter_map(of).collect()
}

/// Returns the program that listens on an address of this machine; otherwise the address.
fn program_at<'a>(address: &'a str, programs: &[&'a str]) -> &'a str {
    let Some((host, port)) = address.rsplit_once(':') else { return address };
    let is_here = host.starts_with("127.") || host == "[::1]" || host.ends_with(":127.0.0.1]");
    let listens = |program: &&&str| is_here && program.rsplit_once(':').is_some_and(|(_, own)| own == port);
    programs.iter().find(listens).copied().unwrap_or(address)
}

/// Returns the name of a program without its port.
fn name(program: &str) -> &str {
    program.rsplit_once(':').map_or(program, |(name, _)| name)
}

fn is_store(callee: &str) -> bool {
    let port = callee.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    STORES.contains(&name(callee)) || port.is_some_and(|port: u16| STORE_PORTS.contains(&port))
}

#[cfg(test)]
mod tests {
    use model::Signal;

    use super::super::super::testing::{flat, level, request, sampled, with_evidence};
    use super::super::testing::check;
    use super::*;

    const SECONDS: u32 = 20;

    /// Ten requests are in flight, of 400 ms.
    fn case(calls: &[(&str, &str, f64)]) -> crate::diagnosis::Level {
        let programs = ["nginx:80", "puma:9292", "python3:4000", "postgres:5433"];
        let mut signals: Vec<Signal> = programs
            .map(|program| flat("listener_cpu", &[("program", program)], SECONDS, 0.05))
            .into_iter()
            .collect();
        signals.extend(calls.iter().map(|(program, callee, waiting)| {
            flat("calls_unanswered", &[("program", program), ("callee", callee)], SECONDS, *waiting)
        }));
        with_evidence(level(SECONDS, 25, 0.4), signals, Vec::new())
    }

    #[test]
    fn the_last_program_that_is_waited_for_is_named() {
        let chain = [("nginx:80", "127.0.0.1:9292", 9.8), ("puma:9292", "127.0.0.1:4000", 9.0)];
        check(detect, &case(&chain), &["slow downstream: python3:4000"]);
        let elsewhere = [("nginx:80", "127.0.0.1:9292", 9.8), ("puma:9292", "10.0.0.7:443", 9.0)];
        check(detect, &case(&elsewhere), &["slow downstream: 10.0.0.7:443"]);
    }

    #[test]
    fn the_service_behind_a_proxy_and_databases_are_no_downstreams() {
        check(detect, &case(&[("nginx:80", "127.0.0.1:9292", 9.8)]), &[]);
        let chain = [("nginx:80", "127.0.0.1:9292", 9.8), ("puma:9292", "127.0.0.1:5433", 9.0)];
        check(detect, &case(&chain), &[]);
        check(detect, &case(&[("puma:9292", "10.0.0.7:5432", 9.0)]), &[]);
    }

    #[test]
    fn what_waits_without_load_and_what_is_short_does_not_count() {
        check(detect, &case(&[("puma:9292", "127.0.0.1:4000", 4.0)]), &[]);
        let mut consumes = case(&[("puma:9292", "127.0.0.1:4000", 9.0)]);
        let consumer = consumes.evidence.signals.last_mut().expect("calls");
        let before = consumer.points[0].0;
        consumer.points.insert(0, (model::Instant::from_ns(before.as_ns() - 5_000_000_000), 9.0));
        check(detect, &consumes, &[]);
        let calls = case(&[("puma:9292", "127.0.0.1:4000", 9.0)]).evidence.signals;
        check(detect, &with_evidence(level(SECONDS, 200, 0.05), calls.clone(), Vec::new()), &[]);
        let long = with_evidence(level(SECONDS, 25, 0.4), calls, Vec::new());
        check(detect, &long, &["slow downstream: python3:4000"]);
    }

    #[test]
    fn time_that_traces_cover_is_left_to_them() {
        let trace = |number| sampled(number, request("shop", "GET /", 395.0, &[]));
        let case = case(&[("puma:9292", "127.0.0.1:4000", 9.0)]);
        check(detect, &crate::diagnosis::Level { traces: (0..20).map(trace).collect(), ..case }, &[]);
    }
}
