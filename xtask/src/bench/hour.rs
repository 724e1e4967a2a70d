//! A run of an hour with 500 series, as a script with 45 endpoints makes it: what the page is measured with.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use model::metric::builtin::{
    DATA_RECEIVED, DATA_SENT, HTTP_REQ_BLOCKED, HTTP_REQ_CONNECTING, HTTP_REQ_DURATION, HTTP_REQ_FAILED,
    HTTP_REQ_LOOKING_UP, HTTP_REQ_RECEIVING, HTTP_REQ_RESPONSE_TIME, HTTP_REQ_SENDING,
    HTTP_REQ_TLS_HANDSHAKING, HTTP_REQ_WAITING, HTTP_REQS, ITERATIONS, VUS, VUS_MAX,
};
use model::{
    Aggregate, ErrorCount, GeneratorState, Instant, Load, Mark, MetricId, MetricRegistry, Quantile, Reading,
    RunEvent, ScenarioId, SeriesKey, TagInterner, TagSet, TagSetId, ThresholdResult, Vital, Window, Work,
};
use runfile::{ConditionFacts, Ending, Header, ReportFacts, ScenarioFacts, ThresholdFacts, Writer};
use stats::Random;

/// The run's id; its file is named by it.
pub(super) const ID: &str = "5beed000";

/// The file's name in the catalogue.
pub(super) const FILE: &str = "20260101T000000.000Z-5beed000.plimsoll";

/// The length of the run.
pub(super) const SECONDS: u32 = 3600;

const SECOND_NS: u64 = 1_000_000_000;

/// The start of the run: 2026-01-01 by the wall clock.
const STARTED_WALL_NS: i64 = 1_767_225_600 * SECOND_NS as i64;

/// Endpoints, with a series of each of [`METRICS`].
const ENDPOINTS: usize = 45;

/// Requests of an endpoint in a second.
const REQUESTS: usize = 10;

/// The metrics of each endpoint.
const METRICS: [MetricId; 11] = [
    HTTP_REQS,
    HTTP_REQ_FAILED,
    HTTP_REQ_DURATION,
    HTTP_REQ_BLOCKED,
    HTTP_REQ_CONNECTING,
    HTTP_REQ_TLS_HANDSHAKING,
    HTTP_REQ_SENDING,
    HTTP_REQ_WAITING,
    HTTP_REQ_RECEIVING,
    HTTP_REQ_LOOKING_UP,
    HTTP_REQ_RESPONSE_TIME,
];

/// The metrics of the run as a whole.
const OTHERS: [MetricId; 5] = [DATA_RECEIVED, DATA_SENT, ITERATIONS, VUS, VUS_MAX];

/// How many series that makes.
pub(super) const SERIES: usize = ENDPOINTS * METRICS.len() + OTHERS.len();

/// Between two windows, so that the writer keeps up; longer where it did not.
const PAUSES_MS: [u64; 3] = [6, 25, 100];

/// Writes the run.
pub(super) fn write(path: &Path) -> anyhow::Result<()> {
    for pause_ms in PAUSES_MS {
        let lost = try_write(path, Duration::from_millis(pause_ms))?;
        if lost == 0 {
            return Ok(());
        }
        std::fs::remove_file(path).with_context(|| format!("remove {}", path.display()))?;
    }
    bail!("write a run without losing a window")
}

/// Writes the run; gives how many windows the writer lost.
fn try_write(path: &Path, pause: Duration) -> anyhow::Result<u64> {
    let (registry, tags) = (Arc::new(MetricRegistry::default()), Arc::new(TagInterner::default()));
    let keys = keys(&tags);
    let mut writer = Writer::create(path, &header(), Arc::clone(&registry), Arc::clone(&tags))
        .context("create a run's file")?;
    let mut random = Random::new(1);
    writer.on_event(&RunEvent::ScenariosStarted { at: at(0) });
    for index in 0..SECONDS {
        writer.on_event(&RunEvent::Window(Arc::new(window(index, &keys, &registry, &mut random))));
        writer.state(state(index));
        if index % 2 == 1 {
            writer.on_event(&thresholds(index));
        }
        std::thread::sleep(pause);
    }
    writer.on_event(&RunEvent::ScenariosEnded { at: at(SECONDS) });
    let ending = Ending {
        elapsed_ns: u64::from(SECONDS) * SECOND_NS,
        ended_wall_ns: STARTED_WALL_NS + i64::from(SECONDS) * SECOND_NS as i64,
        ..Ending::default()
    };
    let report = writer.finish(ending);
    ensure!(report.error.is_none(), "write a run: {report:?}");
    Ok(report.windows_lost)
}

/// A second's begin.
fn at(second: u32) -> Instant {
    Instant::from_ns((u64::from(second) + 1) * SECOND_NS)
}

fn header() -> Header {
    let condition = |source: &str| ConditionFacts { source: source.into(), ..ConditionFacts::default() };
    Header {
        run_id: ID.into(),
        script: "hour.js".into(),
        started_wall_ns: STARTED_WALL_NS,
        started_ns: at(0).as_ns(),
        options_json: "{}".into(),
        report: ReportFacts {
            trend_stats: ["avg", "min", "med", "max", "p(90)", "p(95)"].map(str::to_owned).to_vec(),
            scenarios: vec![ScenarioFacts {
                name: "shop".into(),
                executor: "constant-arrival-rate".into(),
                is_open: true,
            }],
            ..ReportFacts::default()
        },
        thresholds: vec![ThresholdFacts {
            selector: "http_req_duration".into(),
            conditions: vec![condition("p(95)<500"), condition("avg<200")],
        }],
        ..Header::default()
    }
}

fn keys(tags: &TagInterner) -> Vec<SeriesKey> {
    let tag = |name: &str, value: &str| (name.into(), value.into());
    let endpoint = |number: usize| {
        tags.intern(TagSet::new([
            tag("expected_response", "true"),
            tag("group", if number.is_multiple_of(3) { "::checkout" } else { "" }),
            tag("method", "GET"),
            tag("name", &format!("https://shop.example/api/{number}")),
            tag("scenario", "shop"),
            tag("status", "200"),
        ]))
    };
    let of_endpoints = (0..ENDPOINTS).flat_map(|number| {
        let tags = endpoint(number);
        METRICS.map(|metric| SeriesKey { metric, tags })
    });
    let others = OTHERS.map(|metric| SeriesKey { metric, tags: TagSetId::EMPTY });
    let mut keys: Vec<SeriesKey> = of_endpoints.chain(others).collect();
    keys.sort();
    keys
}

fn window(index: u32, keys: &[SeriesKey], registry: &MetricRegistry, random: &mut Random) -> Window {
    let (start, end) = (at(index), at(index + 1));
    let count = (ENDPOINTS * REQUESTS) as u64;
    let series = keys.iter().map(|key| {
        let mut aggregate = Aggregate::empty(registry.get(key.metric).kind);
        let samples = if OTHERS.contains(&key.metric) { 1 } else { REQUESTS };
        (0..samples).for_each(|_| aggregate.record(value(key.metric, random), Mark::Measured, start));
        (*key, aggregate)
    });
    let load = |work| Load {
        scenario: Some(ScenarioId(0)),
        work,
        started: count,
        finished: count,
        in_flight_ns: count * SECOND_NS / 10,
    };
    let error = ErrorCount {
        code: 1050,
        message: "request timeout".into(),
        tags: TagSetId::EMPTY,
        count: 2,
        example: "https://shop.example/api/1".into(),
    };
    Window {
        index,
        start,
        end,
        series: series.collect(),
        load: vec![load(Work::Iterations), load(Work::Requests)],
        exemplars: Vec::new(),
        errors: if index.is_multiple_of(20) { vec![error] } else { Vec::new() },
        leased: Vec::new(),
    }
}

/// One value of a metric: times around a tenth of a second, in whole nanoseconds, as they are measured.
fn value(metric: MetricId, random: &mut Random) -> f64 {
    let around = |ms: f64, normal: f64| (ms * (0.4 * normal).exp() * 1e6).round() / 1e6;
    match metric {
        HTTP_REQS => 1.0,
        HTTP_REQ_DURATION | HTTP_REQ_WAITING | HTTP_REQ_RESPONSE_TIME => around(100.0, random.normal()),
        HTTP_REQ_SENDING | HTTP_REQ_RECEIVING | HTTP_REQ_BLOCKED => around(0.05, random.normal()),
        DATA_RECEIVED | DATA_SENT => 450_000.0,
        ITERATIONS => 450.0,
        VUS | VUS_MAX => 100.0,
        // No failure, and no time for a connection that was there already.
        _ => 0.0,
    }
}

fn state(second: u32) -> GeneratorState {
    let reading = |vital, value| Reading { vital, worker: None, value };
    GeneratorState {
        at: at(second + 1),
        readings: vec![
            Reading { vital: Vital::WorkerCpu, worker: Some(0), value: 0.4 },
            Reading { vital: Vital::WorkerRunDelay, worker: Some(0), value: 0.001 },
            reading(Vital::HostCpu, 0.5),
            reading(Vital::HostSteal, 0.0),
            reading(Vital::TimerLag, 0.2),
            reading(Vital::Ports, 100.0),
            reading(Vital::PortsMax, 28_000.0),
            reading(Vital::Descriptors, 150.0),
            reading(Vital::DescriptorsMax, 65_536.0),
            reading(Vital::SegmentsSent, 1_000.0),
            reading(Vital::SegmentsRepeated, 0.0),
        ],
    }
}

fn thresholds(second: u32) -> RunEvent {
    let result = |source: &str, observed, limit| ThresholdResult {
        selector: "http_req_duration".into(),
        metric: HTTP_REQ_DURATION,
        source: source.into(),
        ok: true,
        observed: Quantile::Value(observed),
        limit,
    };
    let results = vec![result("p(95)<500", 190.0, 500.0), result("avg<200", 108.0, 200.0)];
    RunEvent::Thresholds { at: at(second + 1), results: Arc::new(results) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_all_series() {
        let (registry, tags) = (MetricRegistry::default(), TagInterner::default());
        let keys = keys(&tags);
        assert_eq!((keys.len(), SERIES), (500, 500));
        let window = window(7, &keys, &registry, &mut Random::new(1));
        assert!(window.series.iter().all(|(_, aggregate)| !aggregate.is_empty()));
        assert!(window.series.windows(2).all(|pair| pair[0].0 < pair[1].0), "windows are in order");
        assert!(FILE.contains(ID));
    }
}
