//! Files of every format stay readable, and say the same numbers.
//!
//! `data/v1.plimsoll` and its successors were written once by `make_the_file_of_this_format`, each by a build of its time,
//! and are never written again: a new format gets a file of its own.

mod support;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{
    Aggregate, Evidence, Gap, Instant, Kept, OperationLoad, Record, RecordKind, Signal, Span, SpanKind,
    SpanStatus, Trace,
};
use runfile::{Reader, State, Unverified, Verification, add_note};
use support::{Made, Shape};

const WINDOWS: u32 = 65;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Every number of a run in lines that a later build must give again; floats with all their digits.
fn lines_of(reader: &Reader) -> String {
    let mut lines = String::new();
    for range in [0..WINDOWS, 7..62] {
        let sum = reader.sum(range.clone()).expect("readable");
        for (key, aggregate) in &sum.series {
            let (metric, tags) = (reader.registry().get(key.metric), reader.tags().get(key.tags));
            let tags: Vec<_> = tags.iter().collect();
            let numbers = match aggregate {
                Aggregate::Counter(counter) => format!("{} of {}", counter.sum.value(), counter.count),
                Aggregate::Gauge(gauge) => format!("{} {} {}", gauge.last, gauge.min, gauge.max),
                Aggregate::Rate(rate) => format!("{} of {}", rate.passes, rate.total),
                Aggregate::Trend(trend) => format!(
                    "{} of {}: {:?} {:?} {:?} {:?}",
                    trend.count(),
                    trend.population(),
                    trend.avg(),
                    trend.quantile(0.5),
                    trend.quantile(0.95),
                    trend.max()
                ),
            };
            writeln!(lines, "{range:?} {} {tags:?}: {numbers}", metric.name).expect("a string takes all");
        }
        writeln!(lines, "{range:?} load {:?}", sum.load).expect("a string takes all");
    }
    for error in reader.errors().expect("readable") {
        writeln!(lines, "error {} {} × {}", error.code, error.message, error.count)
            .expect("a string takes all");
    }
    for note in reader.notes().expect("readable") {
        writeln!(lines, "note {} {}", note.wall_unix_ns, note.text).expect("a string takes all");
    }
    writeln!(lines, "exemplars {}", reader.exemplars(0..WINDOWS).expect("readable").len()).expect("a string");
    let (header, ending) = (reader.header(), reader.ending().expect("complete"));
    // Facts by name, since later builds know more of them.
    writeln!(lines, "{} {} {}", header.run_id, header.started_wall_ns, header.started_ns).expect("a string");
    writeln!(lines, "{} {} {}", header.modules[0].path, header.modules[0].sha256, header.options_json)
        .expect("a string takes all");
    writeln!(lines, "{} {}", ending.elapsed_ns, ending.windows_lost).expect("a string takes all");
    lines + &evidence_of(reader)
}

/// The evidence of servers; empty in formats without it.
fn evidence_of(reader: &Reader) -> String {
    let mut lines = String::new();
    for signal in reader.signals().expect("readable") {
        writeln!(lines, "{signal:?}").expect("a string takes all");
    }
    for record in reader.records().expect("readable") {
        writeln!(lines, "{record:?}").expect("a string takes all");
    }
    for gap in reader.gaps().expect("readable") {
        writeln!(lines, "{gap:?}").expect("a string takes all");
    }
    for trace in reader.traces().expect("readable") {
        writeln!(lines, "{trace:?}").expect("a string takes all");
    }
    for load in reader.operations().expect("readable") {
        let (count, mean) = (load.durations.count(), load.durations.mean());
        writeln!(lines, "{} {} {} {} {count} {mean:?}", load.service, load.operation, load.ten, load.errors)
            .expect("a string takes all");
    }
    lines
}

#[track_caller]
fn check(format: &str) {
    let reader = Reader::open(&data(&format!("{format}.plimsoll"))).expect("open");
    assert_eq!(reader.state(), State::Complete);
    assert_eq!(reader.windows(0..u32::MAX).filter(|window| window.is_ok()).count(), WINDOWS as usize);
    let expect = std::fs::read_to_string(data(&format!("{format}.txt"))).expect("readable");
    assert_eq!(lines_of(&reader), expect);
}

#[test]
fn the_first_format_is_readable() {
    check("v1");
}

#[test]
fn the_second_format_is_readable() {
    check("v2");
}

#[test]
fn the_third_format_is_readable() {
    check("v3");
}

#[test]
fn the_fourth_format_is_readable() {
    check("v4");
}

#[test]
fn formats_without_checksums_are_readable_and_say_so() {
    for format in 1..=3 {
        let path = data(&format!("v{format}.plimsoll"));
        let state = runfile::verify(&path).expect("readable");
        assert_eq!(state, Verification::Unverified(Unverified::OldFormat(format)));
    }
    assert!(matches!(runfile::verify(&data("v4.plimsoll")), Ok(Verification::Sound { .. })));
}

#[test]
fn a_run_of_the_first_format_is_merged_into_one_of_this() {
    let folder = tempfile::tempdir().expect("folder");
    let out = folder.path().join("b.plimsoll");
    let first = Reader::open(&data("v1.plimsoll")).expect("open");
    runfile::merge(&[&first], &out, runfile::MergeOptions::default()).expect("merged");
    let second = Reader::open(&out).expect("open");
    let windows = |reader: &Reader| -> Vec<model::Window> {
        reader.windows(0..u32::MAX).map(|window| window.expect("readable")).collect()
    };
    assert_eq!(windows(&second), windows(&first));
    for range in [0..WINDOWS, 7..62, 3..59] {
        let (a, b) = (first.sum(range.clone()).expect("readable"), second.sum(range).expect("readable"));
        assert_eq!(a.series, b.series);
    }
}

#[test]
#[ignore = "writes the file that the other test reads"]
fn make_the_file_of_this_format() {
    let path = data(&format!("v{}.plimsoll", runfile::FORMAT_VERSION));
    // More samples than stay raw.
    let made = Made::new(Shape { series: 6, samples: 70, seed: 11 });
    let mut writer = made.writer(&path, "stored");
    (0..WINDOWS).for_each(|index| support::send(&mut writer, made.window(index)));
    writer.evidence(evidence());
    writer.traces(vec![trace()], vec![operation()]);
    let ending = runfile::Ending { elapsed_ns: u64::from(WINDOWS) * 1_000_000_000, ..Default::default() };
    assert!(writer.finish(ending).error.is_none());
    add_note(&path, 1, "a remark").expect("a run that is over takes remarks");
    std::fs::write(path.with_extension("txt"), lines_of(&Reader::open(&path).expect("open"))).expect("write");
}

fn evidence() -> Evidence {
    let at = Instant::from_ns(7_000_000_000);
    Evidence {
        signals: vec![Signal {
            source: "rabbitmq".to_owned(),
            name: "queue_ready".into(),
            labels: [("queue".to_owned(), "scan.vision".to_owned())].into(),
            unit: String::new(),
            query: "GET /api/queues".to_owned(),
            step: Duration::from_secs(1),
            points: vec![(at, 352.0), (at + Duration::from_secs(1), 0.1)],
        }],
        records: vec![Record {
            source: "kubernetes".to_owned(),
            kind: RecordKind::Happening,
            at,
            subject: "scan-worker".to_owned(),
            fields: [("to".to_owned(), 3.0.into()), ("why".to_owned(), "above target".into())].into(),
        }],
        gaps: vec![Gap {
            source: "redis".to_owned(),
            from: at,
            to: at + Duration::from_millis(1500),
            reason: "connection refused".to_owned(),
        }],
        ..Evidence::default()
    }
}

fn trace() -> Trace {
    let span = Span {
        id: 1,
        parent: Some(9),
        kind: SpanKind::Consumer,
        service: "worker".into(),
        operation: "scan.vision".into(),
        start_ns: -5,
        duration: Duration::from_millis(4560),
        status: SpanStatus::Error,
        attributes: vec![("messaging.system".into(), "rabbitmq".to_owned())],
        links: vec![(3, 4)],
    };
    Trace { id: u128::MAX, kept: Kept::Sample { share: 0.25 }, spans: vec![span] }
}

fn operation() -> OperationLoad {
    let mut durations = histo::Values::default();
    durations.record(4560.5);
    let (service, operation) = ("worker".into(), "scan.vision".into());
    OperationLoad { service, operation, kind: SpanKind::Consumer, ten: 2, errors: 1, durations }
}
