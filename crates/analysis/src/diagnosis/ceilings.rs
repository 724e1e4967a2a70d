//! Throughput ceilings of resources: the limit divided by the demand of one request (utilisation law).

use std::collections::BTreeMap;

use model::diagnosis::{Resource as ResourceName, ResourceKind};
use model::{Instant, RecordKind, Signal, SignalId, SpanKind};

use super::case::Level;
use super::case_view::View;
use super::demand::{Demand, fit};
use super::series;
use super::thresholds::ceilings::{
    FIRM_MIN, FREE_MIN, FULL, LITTLE_MAX, NEIGHBOURS_MIN, ONE_THREAD_BUSIEST_MAX, ONE_THREAD_CONSTANT_MAX,
    ONE_THREAD_MOST, ONE_THREAD_POINTS_MIN, ONE_THREAD_WAITING_MIN, QUEUED_FULL, SATURATED_MIN, WAITING_MIN,
};
use super::thresholds::prediction::FREED_MAX;

/// The kind of a source that reads the metrics page of a program.
const SCRAPED: &str = "scrape";

/// A kind of resource by its utilisation signal. The limit is the signal's limit in the catalogue, otherwise a constant.
struct Use {
    used: SignalId,
    otherwise: Option<f64>,
    kind: ResourceKind,
}

/// Resources that have a limit. A core does at most one second of work per second.
const USES: &[Use] = &[
    Use { used: SignalId::ListenerThread, otherwise: Some(1.0), kind: ResourceKind::Thread },
    Use { used: SignalId::ContainerCpu, otherwise: None, kind: ResourceKind::Cpu },
    Use { used: SignalId::NodeCpu, otherwise: None, kind: ResourceKind::NodeCpu },
    Use { used: SignalId::CoreCpu, otherwise: Some(1.0), kind: ResourceKind::Core },
    Use { used: SignalId::JvmProcessCpu, otherwise: Some(1.0), kind: ResourceKind::JvmCpu },
    Use { used: SignalId::NodeDiskBusy, otherwise: Some(1.0), kind: ResourceKind::Disk },
    Use { used: SignalId::ServerThreads, otherwise: None, kind: ResourceKind::Threads },
    Use { used: SignalId::TasksActive, otherwise: None, kind: ResourceKind::TaskSlots },
    Use { used: SignalId::Clients, otherwise: None, kind: ResourceKind::Clients },
];

/// A resource with its limit.
#[derive(Debug)]
pub(super) struct Resource<'a> {
    /// The kind, and the container, program or core.
    pub(super) name: ResourceName,
    /// The utilisation signals.
    pub(super) signals: Vec<&'a Signal>,
    /// Total limit of all signals.
    pub(super) limit: f64,
    /// Total mean use.
    pub(super) mean: f64,
    /// Share of the time at the limit, within the tolerance of [`FULL`].
    pub(super) at_limit: f64,
    /// Highest use of one signal over its own limit.
    pub(super) peak_share: f64,
    /// Demand of one request.
    pub(super) demand: Option<Demand>,
}

/// The throughput ceiling of a resource.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ceiling {
    /// The resource.
    pub(super) resource: ResourceName,
    /// The ceiling, per second.
    pub(super) per_s: f64,
    /// Whether it is measured: from a resource that is mostly used, or from use at several loads. Otherwise all use counts as
    /// that of requests, which includes what a runtime does without them, and the ceiling is a lower bound.
    pub(super) is_firm: bool,
}

/// Returns all resources with a known limit.
pub(super) fn resources<'a>(view: &View<'a>) -> Vec<Resource<'a>> {
    programs(view)
        .into_iter()
        .chain(one_thread_programs(view))
        .chain(USES.iter().flat_map(|of| of_use(view, of)))
        .collect()
}

/// Returns the CPU of the programs under load: each can have what it uses and what is idle. A program whose threads wait for a core is
/// at its limit even though cores are idle for moments in between. One that uses little while others use the rest is not, unless its
/// threads wait.
fn programs<'a>(view: &View<'a>) -> Vec<Resource<'a>> {
    let cores = view.signals(&[SignalId::CoreCpu]);
    let idle = |source: &str, at: Instant| -> f64 {
        let of_source = cores.iter().filter(|core| core.source == source);
        let points = of_source.filter_map(|core| core.points.iter().find(|(known, _)| *known == at));
        points.map(|(_, used)| (1.0 - used).max(0.0)).sum()
    };
    let waiting = view.signals(&[SignalId::ListenerWaiting]);
    let waits = |used: &Signal, at: Instant| {
        let of_program = waiting.iter().find(|it| it.source == used.source && it.labels == used.labels);
        let point = of_program.and_then(|it| it.points.iter().find(|(known, _)| *known == at));
        point.is_some_and(|(_, threads)| *threads >= WAITING_MIN)
    };
    let program = |signal: &'a Signal| {
        let inside = series::inside(view.level, signal);
        let available: Vec<(f64, f64)> =
            inside.iter().map(|(at, used)| (*used, used + idle(&signal.source, *at))).collect();
        let mean = |value: fn(&(f64, f64)) -> f64| {
            available.iter().map(value).sum::<f64>() / available.len().max(1) as f64
        };
        let (mean, limit) = (mean(|(used, _)| *used), mean(|(_, most)| *most));
        let is_full = |((at, _), (used, most)): &(&(Instant, f64), &(f64, f64))| {
            let is_felt = *used >= LITTLE_MAX || waits(signal, *at);
            (*used >= most * FULL && is_felt) || (*used >= most * QUEUED_FULL && waits(signal, *at))
        };
        let full = inside.iter().zip(&available).filter(is_full).count();
        let place = series::place(signal).to_owned();
        (!cores.is_empty() && limit > 0.0).then(|| Resource {
            limit,
            mean,
            at_limit: full as f64 / available.len() as f64,
            peak_share: 1.0,
            demand: fit(points(view, SignalId::ListenerCpu, &place)),
            name: ResourceName { kind: ResourceKind::ProgramCpu, place },
            signals: vec![signal],
        })
    };
    view.signals(&[SignalId::ListenerCpu]).into_iter().filter_map(program).collect()
}

/// Returns the programs whose threads compute one at a time, as under an interpreter's lock: together they use one core, though each
/// of them is mostly idle, another core is free, and requests inside of the service wait. Work that needs just one core by its rate
/// leaves no requests waiting.
///
/// Without traces, the requests inside are those of the server's busy threads, which may wait for something else. Then the use must be as
/// constant as only a limit makes it.
fn one_thread_programs<'a>(view: &View<'a>) -> Vec<Resource<'a>> {
    let cores = view.signals(&[SignalId::CoreCpu]);
    let used: f64 = cores.iter().filter_map(|core| series::mean(view.level, core)).sum();
    let own_ns = view.paths.steps.iter().filter(|(key, _)| key.kind == SpanKind::Server);
    let is_traced = view.paths.traces > 0;
    let own = match is_traced {
        true => view.share_of_paths(own_ns.map(|(_, step)| step.own_ns).sum()) * view.level.in_flight(),
        false => view.sum_of_means(&[SignalId::ServerThreads]).unwrap_or(0.0),
    };
    if (cores.len() as f64 - used) < FREE_MIN || own < ONE_THREAD_WAITING_MIN {
        return Vec::new();
    }
    let threads = view.signals(&[SignalId::ListenerThread]);
    let program = |signal: &'a Signal| {
        let is_it = |other: &&&Signal| other.source == signal.source && other.labels == signal.labels;
        let busiest = threads.iter().find(is_it).and_then(|thread| series::mean(view.level, thread))?;
        let inside = series::inside(view.level, signal);
        let is_one = |used: f64| (FULL..=ONE_THREAD_MOST).contains(&used);
        let full = inside.iter().filter(|(_, used)| is_one(*used)).count();
        let mean = series::mean(view.level, signal)?;
        let place = series::place(signal).to_owned();
        let is_limit = is_traced || is_constant(inside, view.level.requests_per_s());
        (busiest < ONE_THREAD_BUSIEST_MAX && is_one(mean) && is_limit).then(|| Resource {
            limit: 1.0,
            mean,
            at_limit: full as f64 / inside.len().max(1) as f64,
            peak_share: 1.0,
            demand: fit(points(view, SignalId::ListenerCpu, &place)),
            name: ResourceName { kind: ResourceKind::OneThread, place },
            signals: vec![signal],
        })
    };
    view.signals(&[SignalId::ListenerCpu]).into_iter().filter_map(program).collect()
}

/// Whether a use per second is more constant than that of requests which arrive by chance at this rate would be: the standard deviation
/// of a Poisson count is its root.
fn is_constant(points: &[(Instant, f64)], per_s: f64) -> bool {
    let mean = points.iter().map(|(_, used)| used).sum::<f64>() / points.len().max(1) as f64;
    let variance =
        points.iter().map(|(_, used)| (used - mean).powi(2)).sum::<f64>() / points.len().max(1) as f64;
    let by_chance = 1.0 / per_s.max(f64::MIN_POSITIVE).sqrt();
    points.len() >= ONE_THREAD_POINTS_MIN && variance.sqrt() <= mean * by_chance * ONE_THREAD_CONSTANT_MAX
}

/// Returns the share of a machine's CPU use that is not that of the programs under load; zero where these are not measured.
fn neighbours_share(view: &View<'_>) -> f64 {
    let used = view.sum_of_means(&[SignalId::CoreCpu]);
    used.map_or(0.0, |used| used_by_neighbours(view) / used.max(f64::MIN_POSITIVE))
}

/// Returns the cores of a machine that other programs use than those under load; zero where these are not measured.
fn used_by_neighbours(view: &View<'_>) -> f64 {
    let used = view.sum_of_means(&[SignalId::CoreCpu]);
    let own = view.sum_of_means(&[SignalId::ListenerCpu]);
    used.zip(own).map_or(0.0, |(used, own)| (used - own).max(0.0))
}

/// Returns the cores that other programs than those under load use, where that is most of what is in use.
pub(super) fn taken_by_neighbours(view: &View<'_>) -> Option<f64> {
    (neighbours_share(view) >= NEIGHBOURS_MIN).then(|| used_by_neighbours(view))
}

/// Returns how many times its present CPU use the program that a source reads can have, alone or of its busiest thread; `None` if it
/// does not run on the machine whose programs are measured. Neighbours may yield what they use.
pub(super) fn headroom_of_source(view: &View<'_>, source: &str) -> Option<f64> {
    let mut records = view.level.evidence.records.iter();
    let record = records.find(|record| record.kind == RecordKind::Source && record.subject == source)?;
    // The page of an exporter is another program's than the one that it reports on.
    let is_direct = series::text(record, "kind").is_some_and(|kind| kind != SCRAPED);
    let port = loopback_port(series::text(record, "address").filter(|_| is_direct)?)?;
    let is_it = |place: &str| place.rsplit_once(':').is_some_and(|(_, own)| own == port);
    let is_theirs = neighbours_share(view) >= NEIGHBOURS_MIN;
    let cores = view.signals(&[SignalId::CoreCpu]).len() as f64;
    let times = |resource: &Resource<'_>| match resource.name.kind {
        ResourceKind::ProgramCpu if is_theirs => Some(cores / resource.mean),
        ResourceKind::ProgramCpu | ResourceKind::Thread => Some(resource.limit / resource.mean),
        _ => None,
    };
    let own =
        resources(view).into_iter().filter(|resource| resource.mean > 0.0 && is_it(&resource.name.place));
    own.filter_map(|resource| times(&resource)).reduce(f64::min).map(|times| times.max(1.0))
}

/// Returns the port of an address on this machine.
fn loopback_port(address: &str) -> Option<&str> {
    let after = address.split_once("://").map_or(address, |(_, after)| after);
    let authority = after.split(['/', '?']).next()?;
    let (host, port) = authority.rsplit_once('@').map_or(authority, |(_, host)| host).rsplit_once(':')?;
    ["127.0.0.1", "localhost", "[::1]"].contains(&host).then_some(port)
}

/// Returns the lowest ceiling above the present throughput, after this share of response time is gone. Threads, slots and connections that
/// requests occupy meanwhile are free as much earlier.
pub(super) fn lowest_above(view: &View<'_>, through: f64, gone: f64) -> Option<Ceiling> {
    let is_occupied =
        |kind| matches!(kind, ResourceKind::Threads | ResourceKind::TaskSlots | ResourceKind::Clients);
    let scale = tasks_per_request(view.level);
    // Where others use most of what is used, idle time is no measure of what the target can have.
    let is_theirs = neighbours_share(view) >= NEIGHBOURS_MIN;
    let is_machine = |kind| matches!(kind, ResourceKind::ProgramCpu | ResourceKind::Core);
    let known = resources(view).into_iter().filter(|resource| !(is_theirs && is_machine(resource.name.kind)));
    let ceilings = known.filter_map(|resource| {
        let per_s = match resource.at_limit >= SATURATED_MIN && resource.mean > 0.0 {
            true => view.level.throughput_per_s() * resource.limit / resource.mean,
            false => resource.demand.as_ref()?.ceiling(resource.limit)? * scale,
        };
        let freed = if is_occupied(resource.name.kind) { gone.clamp(0.0, FREED_MAX) } else { 0.0 };
        let per_s = per_s / (1.0 - freed);
        let is_fitted = resource.demand.as_ref().is_some_and(|demand| demand.is_fitted);
        let is_firm = is_fitted || resource.mean >= resource.limit * FIRM_MIN;
        (per_s > through).then_some(Ceiling { resource: resource.name, per_s, is_firm })
    });
    ceilings.min_by(|a, b| a.per_s.total_cmp(&b.per_s))
}

/// Returns tasks per request: demands are per request, and a task may consist of several.
pub(super) fn tasks_per_request(level: &Level) -> f64 {
    let requests = level.requests_per_s();
    if requests > 0.0 { level.throughput_per_s() / requests } else { 1.0 }
}

fn of_use<'a>(view: &View<'a>, of: &Use) -> Vec<Resource<'a>> {
    let mut groups: BTreeMap<String, Vec<&'a Signal>> = BTreeMap::new();
    for signal in view.signals(&[of.used]) {
        groups.entry(format!("{} {}", signal.source, series::place(signal))).or_default().push(signal);
    }
    groups.into_values().filter_map(|signals| of_group(view, of, signals)).collect()
}

fn of_group<'a>(view: &View<'a>, of: &Use, signals: Vec<&'a Signal>) -> Option<Resource<'a>> {
    let level = view.level;
    let limits: Option<Vec<f64>> = signals.iter().map(|signal| limit_of(level, of, signal)).collect();
    let limits = limits?;
    let limit: f64 = limits.iter().sum();
    let mean: f64 = signals.iter().filter_map(|signal| series::mean(level, signal)).sum();
    let share = |signal: &&Signal, limit: &f64| series::share(level, signal, |value| value >= limit * FULL);
    let shares: Vec<f64> =
        signals.iter().zip(&limits).filter_map(|(signal, limit)| share(signal, limit)).collect();
    if shares.is_empty() || limit <= 0.0 {
        return None;
    }
    let peaks =
        signals.iter().zip(&limits).filter_map(|(signal, limit)| Some(series::peak(level, signal)? / limit));
    let place = series::place(signals[0]).to_owned();
    Some(Resource {
        limit,
        mean,
        at_limit: shares.iter().sum::<f64>() / shares.len() as f64,
        peak_share: peaks.fold(0.0, f64::max),
        demand: fit(points(view, of.used, &place)),
        name: ResourceName { kind: of.kind, place },
        signals,
    })
}

fn limit_of(level: &Level, of: &Use, signal: &Signal) -> Option<f64> {
    let limits = of.used.limit().into_iter().flat_map(|id| level.series(id));
    let found = limits.filter(|limit| limit.source == signal.source && limit.labels == signal.labels);
    let read = found.filter_map(|limit| series::peak(level, limit)).reduce(f64::max);
    read.or(of.otherwise).filter(|limit| *limit > 0.0)
}

/// Returns throughput and use at each instant of all runs, summed over the signals of the place.
fn points(view: &View<'_>, used: SignalId, place: &str) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    for level in &view.case.levels {
        let mut sums: BTreeMap<Instant, f64> = BTreeMap::new();
        let of_place: Vec<&Signal> =
            level.series(used).filter(|signal| series::place(signal) == place).collect();
        for (at, value) in of_place.iter().flat_map(|signal| series::inside(level, signal)) {
            *sums.entry(*at).or_default() += value;
        }
        let Some(first) = of_place.first() else { continue };
        let sum = Signal { points: sums.into_iter().collect(), ..empty(first) };
        points.extend(series::against_load(level, &sum));
    }
    points
}

/// Returns a copy without its points.
fn empty(signal: &Signal) -> Signal {
    Signal {
        source: String::new(),
        name: signal.name.clone(),
        labels: BTreeMap::new(),
        unit: String::new(),
        query: String::new(),
        step: signal.step,
        points: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use model::Datum;

    use super::super::testing::{flat, level, record, with_evidence};
    use super::*;

    #[test]
    fn parts_of_a_place_share_its_load() {
        let pod =
            |name: &str, value: f64, of: &str| flat(of, &[("pod", name), ("container", "worker")], 10, value);
        let signals = vec![
            pod("a", 0.9, "container_cpu"),
            pod("b", 0.95, "container_cpu"),
            pod("a", 1.0, "container_cpu_limit"),
            pod("b", 1.0, "container_cpu_limit"),
        ];
        let case = Case { levels: vec![with_evidence(level(10, 10, 0.1), signals, Vec::new())] };
        let view = View::new(&case).expect("a run");
        let found = resources(&view);
        assert_eq!(found.len(), 1);
        let one = &found[0];
        let worker = ResourceName { kind: ResourceKind::Cpu, place: "worker".to_owned() };
        assert_eq!((&one.name, one.limit, one.at_limit), (&worker, 2.0, 1.0));
        let ceiling = one.demand.as_ref().and_then(|demand| demand.ceiling(one.limit)).expect("a ceiling");
        assert!((ceiling - 2.0 / 0.185).abs() < 1e-9, "{ceiling}");
        assert_eq!(lowest_above(&view, 20.0, 0.0), None);
        assert_eq!(lowest_above(&view, 10.0, 0.5).map(|it| it.resource), Some(worker));
    }

    #[test]
    fn what_is_at_its_limit_all_the_time_lets_no_more_through() {
        let signals = |used| vec![flat("core_cpu", &[("core", "1")], 10, used)];
        let next = |used, through: f64| {
            let case = Case { levels: vec![with_evidence(level(10, 100, 0.1), signals(used), Vec::new())] };
            lowest_above(&View::new(&case).expect("a run"), through, 0.0).map(|it| it.per_s.round())
        };
        // A line fitted to a nearly constant load shows no demand.
        assert_eq!(next(0.98, 100.0), Some(102.0));
        assert_eq!(next(0.5, 100.0), Some(200.0));
    }

    #[test]
    fn a_program_that_uses_little_is_not_saturated_by_its_neighbours() {
        let at_limit = |used: f64, waiting: f64| {
            let signals = vec![
                flat("core_cpu", &[("core", "0")], 10, 1.0),
                flat("listener_cpu", &[("program", "shop:80")], 10, used),
                flat("listener_waiting", &[("program", "shop:80")], 10, waiting),
            ];
            let case = Case { levels: vec![with_evidence(level(10, 10, 0.1), signals, Vec::new())] };
            programs(&View::new(&case).expect("a run"))[0].at_limit
        };
        assert_eq!(at_limit(0.02, 0.1), 0.0);
        assert_eq!(at_limit(0.6, 0.1), 1.0);
        assert_eq!(at_limit(0.02, 3.0), 1.0);
    }

    #[test]
    fn threads_that_requests_occupy_are_free_earlier_without_their_waits() {
        let of = |name: &str, value: f64| flat(name, &[("pool", "www")], 10, value);
        let signals = vec![of("server_threads", 8.0), of("server_threads_limit", 16.0)];
        let case = Case { levels: vec![with_evidence(level(10, 100, 0.08), signals, Vec::new())] };
        let view = View::new(&case).expect("a run");
        let ceiling = |gone| lowest_above(&view, 100.0, gone).map(|it| it.per_s.round());
        assert_eq!((ceiling(0.0), ceiling(0.75)), (Some(200.0), Some(800.0)));
    }

    #[test]
    fn a_source_names_the_program_that_it_reads() {
        let headroom_by = |kind: &str, address: &str, used: f64, thread: Option<f64>| {
            let labels = [("program", "redis-server:6379")];
            let mut signals =
                vec![flat("core_cpu", &[("core", "0")], 10, used), flat("listener_cpu", &labels, 10, used)];
            signals.extend(thread.map(|thread| flat("listener_thread", &labels, 10, thread)));
            let mut source = record(RecordKind::Source, "cache", &[]);
            for (name, text) in [("address", address), ("kind", kind)] {
                source.fields.insert(name.to_owned(), Datum::Text(text.to_owned()));
            }
            let case = Case { levels: vec![with_evidence(level(10, 100, 0.1), signals, vec![source])] };
            headroom_of_source(&View::new(&case).expect("a run"), "cache")
        };
        let headroom = |address: &str, used, thread| headroom_by("redis", address, used, thread);
        assert_eq!(headroom("redis://user:word@127.0.0.1:6379/0", 0.5, None), Some(2.0));
        assert_eq!(headroom("redis://localhost:6379", 0.4, Some(0.8)), Some(1.25));
        assert_eq!(headroom("redis://localhost:6380", 0.5, None), None);
        assert_eq!(headroom("redis://cache.example:6379", 0.5, None), None, "it runs elsewhere");
        let exporter = headroom_by("scrape", "http://127.0.0.1:6379/metrics", 0.5, None);
        assert_eq!(exporter, None, "it reports on another program");
    }

    #[test]
    fn processors_that_others_use_give_no_ceiling() {
        let next = |used: f64| {
            let signals = vec![
                flat("core_cpu", &[("core", "0")], 10, 1.0),
                flat("listener_cpu", &[("program", "shop:80")], 10, used),
            ];
            let case = Case { levels: vec![with_evidence(level(10, 100, 0.1), signals, Vec::new())] };
            lowest_above(&View::new(&case).expect("a run"), 90.0, 0.0).map(|it| it.per_s.round())
        };
        assert_eq!(next(0.2), None);
        assert_eq!(next(0.9), Some(100.0));
    }

    #[test]
    fn threads_that_compute_one_at_a_time_show_without_traces_by_a_constant_use() {
        let found = |busy: f64, spread: f64| {
            let of = |name: &str, value: f64| flat(name, &[("program", "puma:80")], 20, value);
            let mut used = of("listener_cpu", 0.95);
            for (at, point) in used.points.iter_mut().enumerate() {
                point.1 += if at % 2 == 0 { spread } else { -spread };
            }
            let cores = ["0", "1"].map(|core| flat("core_cpu", &[("core", core)], 20, 0.6));
            let others = [used, of("listener_thread", 0.1), of("server_threads", busy)];
            let signals = cores.into_iter().chain(others).collect();
            let case = Case { levels: vec![with_evidence(level(20, 60, 0.14), signals, Vec::new())] };
            let view = View::new(&case).expect("a run");
            resources(&view).iter().any(|resource| resource.name.kind == ResourceKind::OneThread)
        };
        assert!(found(7.0, 0.02));
        assert!(!found(7.0, 0.1), "as chance has it at 60 requests per second");
        assert!(!found(1.0, 0.02), "no request waits inside");
    }

    #[test]
    fn what_has_no_limit_is_no_resource() {
        let signals = vec![flat("container_cpu", &[("container", "worker")], 10, 0.9)];
        let case = Case { levels: vec![with_evidence(level(10, 10, 0.1), signals, Vec::new())] };
        assert!(resources(&View::new(&case).expect("a run")).is_empty());
    }
}
