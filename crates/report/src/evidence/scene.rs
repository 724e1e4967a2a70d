//! Evidence of a scanner behind four queues: three workers at their limit, a backlog that moves
//! down the pipeline, a source that is away for a while, one that was never there, and names that mean harm.

use std::collections::BTreeMap;
use std::time::Duration;

use analysis::traces::{Stage, StageKind, StageTable, Way};
use model::{Datum, Gap, Instant, Record, RecordKind, Signal};

use super::{Collected, EvidenceView, Measured};

/// The run began so long after its clock did.
const ZERO_S: f64 = 1_000.0;

/// When a Prometheus cannot be reached.
const AWAY_S: std::ops::Range<f64> = 196.0..234.0;

/// How long it is.
const END_S: f64 = 301.0;

pub(super) fn at(second: f64) -> Instant {
    Instant::from_ns(((ZERO_S + second) * 1e9) as u64)
}

pub(super) fn signal(
    source: &str,
    name: &str,
    labels: &[(&str, &str)],
    unit: &str,
    points: &[(f64, f64)],
) -> Signal {
    Signal {
        source: source.to_owned(),
        name: name.into(),
        labels: labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        unit: unit.to_owned(),
        query: format!("ask {name}"),
        step: Duration::from_secs(5),
        points: points.iter().map(|(second, value)| (at(*second), *value)).collect(),
    }
}

pub(super) fn record(
    source: &str,
    kind: RecordKind,
    second: f64,
    subject: &str,
    fields: &[(&str, Datum)],
) -> Record {
    let fields: BTreeMap<String, Datum> =
        fields.iter().map(|(name, datum)| ((*name).to_owned(), datum.clone())).collect();
    Record { source: source.to_owned(), kind, at: at(second), subject: subject.to_owned(), fields }
}

/// Evidence of the first so many seconds.
pub(super) fn view_of(signals: Vec<Signal>, seconds: f64) -> EvidenceView {
    let all = Collected { signals, ..Collected::default() };
    EvidenceView { all: all.into(), zero: at(0.0), part_s: 0.0..seconds, ..EvidenceView::default() }
}

/// A point each five seconds.
pub(super) fn curve(value: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    (0..=60).map(|step| f64::from(step) * 5.0).map(|second| (second, value(second))).collect()
}

/// Up to a peak and down again, both by a minute.
pub(super) fn hill(second: f64, peak_at: f64, peak: f64) -> f64 {
    (peak * (1.0 - (second - peak_at).abs() / 60.0)).max(0.0).round()
}

/// A value before a change, and the one after it.
fn change(at_s: f64, before: f64, after: f64) -> Vec<(f64, f64)> {
    curve(|second| if second < at_s { before } else { after })
}

/// Busy from the first second to the second one, with a ripple.
fn busy(from: f64, to: f64, level: f64) -> Vec<(f64, f64)> {
    curve(|second| {
        let ripple = (second / 7.0).sin() * 0.02 * level;
        let share = ((second - from) / 25.0).clamp(0.0, 1.0) * ((to - second) / 25.0).clamp(0.0, 1.0);
        ((level + ripple) * share * 1e4).round() / 1e4
    })
}

/// All of it.
pub(crate) fn scan() -> EvidenceView {
    let mut signals = queues();
    signals.extend(workers());
    signals.extend(stores());
    signals.extend(machine());
    let away = |source: &str, from, to, reason: &str| Gap {
        source: source.to_owned(),
        from: at(from),
        to: at(to),
        reason: reason.to_owned(),
    };
    let gaps = vec![
        away("prometheus", AWAY_S.start, AWAY_S.end, "connection refused by localhost:9090"),
        away("loki", 0.0, END_S, "failed to ask loki: 401 Unauthorized"),
    ];
    EvidenceView {
        all: Collected { signals, records: records(), gaps, lost: 0 }.into(),
        ways: vec![way()],
        measured: [("task scan".to_owned(), Measured { count: 1_336, mean_ms: 68_000.0 })].into(),
        zero_unix_ns: 1_795_198_038_120_000_000,
        ..view_of(Vec::new(), END_S)
    }
}

/// The stages of a scan through the queues, as its traces record them.
fn way() -> Way {
    let stages = [
        (StageKind::Submit, "task scan", 150.0),
        (StageKind::Queue, "scan.vision", 20_000.0),
        (StageKind::Work, "scan.vision", 4_500.0),
        (StageKind::Queue, "scan.rule", 14_000.0),
        (StageKind::Work, "scan.rule", 40.0),
        (StageKind::Queue, "scan.answer", 12_000.0),
        (StageKind::Work, "scan.answer", 6_700.0),
        (StageKind::Queue, "scan.reward", 9_000.0),
        (StageKind::Work, "scan.reward", 50.0),
        (StageKind::Between, "</td><img src=x onerror=window.__hacked=1>\u{202e}", 60.0),
        (StageKind::Poll, "task scan", 1_000.0),
    ];
    let whole_ms: f64 = stages.iter().map(|(_, _, ms)| ms).sum();
    let stage = |(kind, name, ms): (StageKind, &str, f64)| Stage {
        kind,
        name: name.to_owned(),
        traces: 318,
        mean_ns: ms * 1e6,
        p95_ns: (ms * 1.4e6) as u64,
        share: ms / whole_ms,
    };
    let table = StageTable {
        traces: 318,
        mean_ns: whole_ms * 1e6,
        p95_ns: (whole_ms * 1.3e6) as u64,
        stages: stages.map(stage).into(),
    };
    let (service, operation) = ("plimsoll".into(), "task scan".into());
    Way { service, operation, is_task: true, is_biased: false, table }
}

fn queues() -> Vec<Signal> {
    let queues = [
        ("scan.vision", 40.0, 352.0),
        ("scan.rule", 70.0, 268.0),
        ("scan.answer", 100.0, 258.0),
        ("scan.reward", 130.0, 155.0),
        ("</script><img src=x onerror=window.__hacked=1>\u{202e}", 60.0, 4.0),
    ];
    let of = |(queue, peak_at, peak): (&str, f64, f64)| {
        let labels = [("queue", queue)];
        let one = |name: &str, unit: &str, points: &[(f64, f64)]| {
            let query = format!("GET /api/queues: {name}");
            Signal { query, ..signal("rabbitmq", name, &labels, unit, points) }
        };
        [
            one("queue_ready", "", &curve(|second| hill(second, peak_at, peak))),
            one("queue_unacked", "", &curve(|second| hill(second, peak_at, 8.0).min(3.0))),
            one("queue_consumers", "", &change(15.0, 1.0, 3.0)),
            one("queue_published", "1/s", &busy(0.0, peak_at + 90.0, 6.5)),
            one("queue_acked", "1/s", &busy(4.0, peak_at + 110.0, 5.5)),
            one("queue_prefetch", "", &curve(|_| 1.0)),
            one("queue_utilisation", "1", &busy(0.0, peak_at + 110.0, 0.97)),
        ]
    };
    queues.into_iter().flat_map(of).collect()
}

fn workers() -> Vec<Signal> {
    let mut signals = Vec::new();
    for (pod, from, level) in
        [("wtxmw", 2.0, 0.89), ("jhrgg", 16.0, 0.92), ("sqcbr", 18.0, 0.91), ("canary-87d2x", 3.0, 0.87)]
    {
        let pod = format!("scan-worker-6f7c9d8b5-{pod}");
        let labels = [("pod", pod.as_str()), ("container", "worker")];
        let mut one = |name: &str, unit: &str, query: &str, points: Vec<(f64, f64)>| {
            signals.push(Signal {
                query: query.to_owned(),
                ..signal("prometheus", name, &labels, unit, &points)
            });
        };
        let rate = "sum by (namespace, pod, container) (rate(container_cpu_usage_seconds_total{container!=\"\",image!=\"\"}[15s]))";
        one("container_cpu", "{cpu}", rate, busy(from, 214.0, level));
        one(
            "container_cpu_limit",
            "{cpu}",
            "max by (pod) (kube_pod_container_resource_limits{resource=\"cpu\"})",
            curve(|_| 1.0),
        );
        one(
            "container_memory",
            "By",
            "sum by (pod) (container_memory_working_set_bytes)",
            curve(|second| 3.1e8 + second * 4e5),
        );
        one(
            "container_memory_limit",
            "By",
            "max by (pod) (container_spec_memory_limit_bytes)",
            curve(|_| 5.12e8),
        );
    }
    for (name, at_s) in [("scan-worker", 15.0), ("scan-api", 60.0)] {
        let labels = [("horizontalpodautoscaler", name)];
        signals.push(signal("prometheus", "hpa_replicas", &labels, "", &change(at_s, 1.0, 3.0)));
        signals.push(signal("prometheus", "hpa_replicas_limit", &labels, "", &curve(|_| 3.0)));
    }
    for signal in &mut signals {
        signal.points.retain(|(instant, _)| !AWAY_S.contains(&(instant.since(at(0.0)).as_secs_f64())));
    }
    signals
}

fn stores() -> Vec<Signal> {
    let sessions = |kind: &str, event: &str, from, to, level| {
        let labels = [("wait_type", kind), ("wait_event", event)];
        let query = "pg_stat_activity at 10 Hz: state = 'active', by wait_event".to_owned();
        Signal { query, ..signal("postgresql", "active_sessions", &labels, "", &busy(from, to, level)) }
    };
    let connections = |state: &str, from, to, level| {
        let points = busy(from, to, level).into_iter().map(|(second, value)| (second, value.round()));
        signal("postgresql", "connections", &[("state", state)], "{connection}", &points.collect::<Vec<_>>())
    };
    vec![
        sessions("", "", 0.0, 210.0, 2.4),
        sessions("Lock", "transactionid", 40.0, 200.0, 5.2),
        sessions("Lock", "tuple", 60.0, 180.0, 1.6),
        sessions("IO", "DataFileRead", 10.0, 210.0, 1.1),
        sessions("LWLock", "WALWrite", 20.0, 200.0, 0.4),
        connections("active", 5.0, 210.0, 11.0),
        connections("idle", 0.0, 300.0, 62.0),
        signal("postgresql", "connections_max", &[], "{connection}", &curve(|_| 100.0)),
        signal("postgresql", "locks_waiting", &[], "", &busy(40.0, 200.0, 6.0)),
        signal("postgresql", "commits", &[], "1/s", &busy(0.0, 215.0, 182.0)),
        signal("redis", "memory_used", &[], "By", &curve(|second| 9.4e7 + second.min(200.0) * 1.1e5)),
        signal("redis", "memory_max", &[], "By", &curve(|_| 2.56e8)),
        signal("redis", "evicted", &[], "1/s", &curve(|_| 0.0)),
    ]
}

fn machine() -> Vec<Signal> {
    let core = |core: &str, level| signal("host", "cpu", &[("core", core)], "1", &busy(0.0, 218.0, level));
    vec![
        core("0", 0.84),
        core("1", 0.79),
        signal("host", "run_queue", &[], "", &busy(5.0, 215.0, 4.0)),
        signal("host", "memory_used", &[], "By", &curve(|second| 5.1e9 + second * 1e6)),
        signal("host", "memory_total", &[], "By", &curve(|_| 8e9)),
        signal(
            "host",
            "segments_repeated",
            &[],
            "1/s",
            &curve(|second| if second == 105.0 { 3.0 } else { 0.0 }),
        ),
    ]
}

fn records() -> Vec<Record> {
    let source = |name: &str, kind: &str, address: &str, failures: f64| {
        let fields = [
            ("kind", kind.into()),
            ("address", address.into()),
            ("answers", 61.0.into()),
            ("failures", failures.into()),
        ];
        record(name, RecordKind::Source, END_S, name, &fields)
    };
    let statement = |text: &str, calls: f64, total_ms: f64, hit: f64, read: f64| {
        let fields = [("calls", calls), ("total_ms", total_ms), ("blocks_hit", hit), ("blocks_read", read)];
        record(
            "postgresql",
            RecordKind::Statement,
            END_S,
            text,
            &fields.map(|(name, number)| (name, number.into())),
        )
    };
    let task = |name: &str, count: f64, [min, avg, p95, max]: [f64; 4]| {
        let fields = [("count", count), ("min_ms", min), ("avg_ms", avg), ("p95_ms", p95), ("max_ms", max)];
        record(
            "worker-log",
            RecordKind::Task,
            END_S,
            name,
            &fields.map(|(name, number)| (name, number.into())),
        )
    };
    let image = Datum::from("scan-worker:1.8.2");
    let image = [
        ("image", image),
        ("cpu_limit", 1.0.into()),
        ("memory_limit_bytes", 5.12e8.into()),
        ("replicas_max", 3.0.into()),
    ];
    vec![
        source("rabbitmq", "rabbitmq", "http://localhost:15672", 0.0),
        source("prometheus", "prometheus", "http://localhost:9090", 3.0),
        source("postgresql", "postgresql", "postgres://localhost:5432/app", 0.0),
        source("redis", "redis", "redis://localhost:6379", 0.0),
        source("host", "host", "", 0.0),
        record(
            "kubernetes",
            RecordKind::Happening,
            14.0,
            "scan-worker",
            &[("text", "1 to 3 replicas, \"vision above 10\"".into())],
        ),
        record(
            "kubernetes",
            RecordKind::Happening,
            152.0,
            "canary-87d2x",
            &[("text", "restarted, OOMKilled".into())],
        ),
        statement(
            "UPDATE scans SET state = $1, answer = $2 WHERE id = $3 AND state <> $1",
            12_044.0,
            61_200.0,
            240_880.0,
            112.0,
        ),
        statement(
            "SELECT s.*, u.points FROM scans s JOIN users u ON u.id = s.user_id WHERE s.id = $1",
            40_196.0,
            18_900.0,
            522_000.0,
            1_904.0,
        ),
        statement(
            "INSERT INTO rewards (scan_id, user_id, points) VALUES ($1, $2, $3)",
            1_336.0,
            2_100.0,
            9_800.0,
            12.0,
        ),
        task("vision", 1_336.0, [2_110.0, 6_660.0, 9_120.0, 14_050.0]),
        task("rule", 1_336.0, [310.0, 1_420.0, 2_210.0, 3_900.0]),
        record("scan-worker", RecordKind::Profile, 120.0, "cpu", &profile()),
        record("kubernetes", RecordKind::Configuration, 0.0, "deployment scan-worker", &image),
        record(
            "kubernetes",
            RecordKind::Warning,
            0.0,
            "node gpu-2",
            &[("text", "memory is at 94 %, none of it is the target's".into())],
        ),
    ]
}

/// Three seconds of a worker: who called whom, and one who means harm.
fn profile() -> [(&'static str, Datum); 6] {
    let frames = "0 2610000000 main.main\n1 2480000000 main.work\n2 1710000000 vision.infer\n3 1190000000 tensor.matmul\n\
                  3 410000000 tensor.softmax\n2 520000000 image.decode\n3 470000000 image/jpeg.(*decoder).processSOS\n\
                  2 180000000 </script><img src=x onerror=window.__hacked=1>\n1 90000000 runtime.gcStart\n\
                  0 240000000 runtime.mcall\n1 230000000 runtime.schedule\n";
    [
        ("frames", frames.into()),
        ("frames_left_out", 31.0.into()),
        ("total", 2.85e9.into()),
        ("unit", "nanoseconds".into()),
        ("profile_s", 3.0.into()),
        ("query", "GET http://scan-worker:6060/debug/pprof/profile?seconds=3".into()),
    ]
}
