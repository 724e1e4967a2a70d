//! Runs that are written are read back exactly.

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{
    Aggregate, Instant, LogLevel, LogLine, MetricId, Quantile, RunEvent, SeriesKey, ThresholdResult, Window,
};
use runfile::{Cell, Ending, MergeOptions, ReadError, Reader, State, WriteError, add_note, merge, snapshot};
use support::{Made, Shape, merged, read_all, send};

const SMALL: Shape = Shape { series: 12, samples: 20, seed: 1 };

/// Whether windows and sums of a file are what was put into it.
fn check(made: &Made, reader: &Reader, windows: u32) {
    let original = || (0..windows).map(|index| Window::clone(&made.window(index)));
    let read: Vec<Window> = reader.windows(0..u32::MAX).map(|window| window.expect("readable")).collect();
    assert_eq!(read.len(), windows as usize);
    for (read, original) in read.iter().zip(original()) {
        assert_eq!((read.start, read.end), (original.start, original.end));
        assert_eq!(
            (&read.load, &read.errors, &read.exemplars),
            (&original.load, &original.errors, &original.exemplars)
        );
        assert_eq!(read.series.len(), original.series.len());
    }
    let expect = merged(original());
    assert_eq!(merged(read.iter().cloned()), expect, "all windows");
    for (start, end) in
        [(0, windows), (0, u32::MAX), (0, 60), (3, 57), (59, 61), (7, 131), (60, 120), (11, 12), (9, 10)]
    {
        let sum = reader.sum(start..end).expect("readable");
        let parts = read.iter().filter(|window| (start..end).contains(&window.index)).cloned();
        assert_eq!(sum.series, merged(parts).into_iter().collect::<Vec<_>>(), "{start}..{end}");
    }
}

/// Whether steps are what their windows add up to, from roll-ups and without.
fn check_steps(reader: &Reader) {
    let read: Vec<Window> = reader.windows(0..u32::MAX).map(|window| window.expect("readable")).collect();
    let first = read.iter().flat_map(|window| &window.series).map(|(key, _)| key.metric).min();
    for step in runfile::STEPS {
        for (start, end) in [(0, u32::MAX), (3, 57), (59, 61), (7, 131), (60, 1200), (9, 10)] {
            let mut steps: BTreeMap<(u32, SeriesKey), Aggregate> = BTreeMap::new();
            let each = |window: u32, key: SeriesKey, cell: Cell<'_>| {
                let aggregate = cell.into_aggregate().expect("nothing brief was asked for");
                steps.entry((window, key)).and_modify(|sum| sum.merge(&aggregate)).or_insert(aggregate);
            };
            let wants = |key: SeriesKey| Some(key.metric) != first;
            reader.steps(start..end, step, wants, each).expect("readable");
            let mut expect: BTreeMap<(u32, SeriesKey), Aggregate> = BTreeMap::new();
            for window in read.iter().filter(|window| (start..end).contains(&window.index)) {
                for (key, aggregate) in window.series.iter().filter(|(key, _)| wants(*key)) {
                    let place = (window.index / step * step, *key);
                    expect
                        .entry(place)
                        .and_modify(|sum| sum.merge(aggregate))
                        .or_insert_with(|| aggregate.clone());
                }
            }
            assert!(steps == expect, "{start}..{end} by {step}");
        }
    }
}

#[test]
fn windows_come_back_and_sums_are_exact() {
    let folder = tempfile::tempdir().expect("folder");
    for (shape, windows) in [
        (SMALL, 0),
        (SMALL, 1),
        (SMALL, 59),
        (SMALL, 61),
        // More than 4,096 values of each series: raw values end on the way.
        (Shape { samples: 50, ..SMALL }, 130),
        (Shape { series: 3, samples: 1, seed: 9 }, 1300),
        // More series than share a block.
        (Shape { series: 300, samples: 2, seed: 2 }, 70),
    ] {
        let made = Made::new(shape);
        let path = folder.path().join(format!("{}-{windows}.plimsoll", shape.samples));
        let report = made.write(&path, "a", windows);
        assert!(report.error.is_none(), "{report:?}");
        assert_eq!(report.windows_lost, 0);
        let reader = Reader::open(&path).expect("open");
        assert_eq!(reader.state(), State::Complete);
        assert_eq!(reader.header().modules[0].text, "export default () => {}");
        assert_eq!(reader.header().modules[0].sha256.len(), 64);
        check(&made, &reader, windows);
        check_steps(&reader);
        drop(reader);
        let beside: Vec<_> = std::fs::read_dir(folder.path())
            .expect("folder")
            .map(|entry| entry.expect("entry").file_name())
            .filter(|name| !name.to_string_lossy().ends_with(".plimsoll"))
            .collect();
        assert!(beside.is_empty(), "one plain file, and not {beside:?}");
    }
}

#[test]
fn rows_come_back() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.plimsoll");
    let made = Made::new(SMALL);
    let mut header = made.header("a");
    header.environment = vec![runfile::EnvVar::new("API_TOKEN", "hunter22")];
    let mut writer =
        runfile::Writer::create(&path, &header, made.registry.clone(), made.tags.clone()).expect("create");
    let at = Instant::from_ns(7);
    writer.on_event(&RunEvent::ScenariosStarted { at });
    writer.on_event(&RunEvent::Log(LogLine {
        at,
        level: LogLevel::Warn,
        message: "token hunter22".into(),
        source: "console",
        fields: vec![("error", "hunter22".into())],
    }));
    let result = |observed| ThresholdResult {
        selector: "http_req_duration".into(),
        metric: MetricId(9),
        source: "p(95)<500".into(),
        ok: false,
        observed,
        limit: 500.0,
    };
    let observed = [
        Quantile::None,
        Quantile::Value(0.1),
        Quantile::Failed,
        Quantile::AtLeast { bound: 60e3, why: model::Mark::TimedOut },
    ];
    for (second, observed) in observed.iter().enumerate() {
        let at = Instant::from_ns(second as u64);
        writer.on_event(&RunEvent::Thresholds { at, results: Arc::new(vec![result(*observed)]) });
    }
    writer.note("a | remark");
    send(&mut writer, made.window(0));
    let ending = Ending { exit_code: 99, aborted: Some("why".into()), ..Ending::default() };
    assert!(writer.finish(ending.clone()).error.is_none());

    let reader = Reader::open(&path).expect("open");
    assert_eq!(reader.ending(), Some(&ending));
    assert_eq!(reader.scenarios_started().expect("readable"), Some(at));
    let points = reader.thresholds().expect("readable");
    assert_eq!(points.iter().map(|point| point.observed).collect::<Vec<_>>(), observed);
    assert_eq!(points[1].limit, 500.0);
    let log = reader.log().expect("readable");
    assert_eq!((log[0].message.as_str(), log[0].level), ("token (hidden)", LogLevel::Warn));
    assert_eq!(log[0].fields, [("error".to_owned(), "(hidden)".to_owned())]);
    assert_eq!(reader.anchors().expect("readable").len(), 1);
    assert_eq!(reader.errors().expect("readable")[0].count, 3);
    drop(reader);
    add_note(&path, 5, "later").expect("a run that is over takes remarks");
    let notes = Reader::open(&path).expect("open").notes().expect("readable");
    assert_eq!(notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>(), ["a | remark", "later"]);
    let bytes = std::fs::read(&path).expect("readable");
    assert!(!bytes.windows(8).any(|part| part == b"hunter22"), "no secret is anywhere in the file");
}

#[test]
fn a_live_run_is_read_and_copied() {
    let folder = tempfile::tempdir().expect("folder");
    let (path, copy) = (folder.path().join("a.plimsoll"), folder.path().join("b.plimsoll"));
    let made = Made::new(SMALL);
    let mut writer = made.writer(&path, "a");
    for index in 0..70 {
        send(&mut writer, made.window(index));
    }
    let wait = std::time::Duration::from_millis(20);
    while Reader::open(&path).expect("open").range().expect("readable") != (0..70) {
        std::thread::sleep(wait);
    }
    let reader = Reader::open(&path).expect("open");
    assert_eq!(reader.state(), State::Live);
    check(&made, &reader, 70);
    assert!(matches!(add_note(&path, 0, "no"), Err(WriteError::Live(_))));
    snapshot(&path, &copy).expect("copy");
    let copied = Reader::open(&copy).expect("open");
    assert_eq!(copied.state(), State::Partial);
    check(&made, &copied, 70);
    assert!(matches!(snapshot(&path, &copy), Err(WriteError::Exists(_))));
    drop(reader);
    assert!(writer.finish(Ending::default()).error.is_none());
    assert_eq!(Reader::open(&path).expect("open").state(), State::Complete);
}

#[test]
fn a_writer_that_is_dropped_leaves_a_partial_run() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.plimsoll");
    let made = Made::new(SMALL);
    let mut writer = made.writer(&path, "a");
    send(&mut writer, made.window(0));
    drop(writer);
    let wait = std::time::Duration::from_millis(20);
    while Reader::open(&path).expect("open").state() == State::Live {
        std::thread::sleep(wait);
    }
    let reader = Reader::open(&path).expect("open");
    assert!(reader.is_partial());
    check(&made, &reader, 1);
}

#[test]
fn parts_are_merged_whatever_their_order() {
    let folder = tempfile::tempdir().expect("folder");
    let path = |name: &str| folder.path().join(name);
    // Three parts with tag sets of their own, of different lengths.
    let shapes = [(12, 50, 130), (7, 30, 125), (18, 1, 61)];
    let parts: Vec<Made> = shapes
        .iter()
        .zip(1..)
        .map(|((series, samples, _), seed)| Made::new(Shape { series: *series, samples: *samples, seed }))
        .collect();
    for (number, (made, shape)) in parts.iter().zip(shapes).enumerate() {
        assert!(made.write(&path(&number.to_string()), &format!("part{number}"), shape.2).error.is_none());
    }
    let readers: Vec<Reader> =
        (0..3).map(|number| Reader::open(&path(&number.to_string())).expect("open")).collect();
    let merge_in = |order: [usize; 3], out: &str| {
        let inputs: Vec<&Reader> = order.iter().map(|number| &readers[*number]).collect();
        merge(&inputs, &path(out), MergeOptions::default()).expect("merge");
        Reader::open(&path(out)).expect("open")
    };
    let one = merge_in([0, 1, 2], "one");
    let other = merge_in([2, 0, 1], "other");
    assert_eq!(one.header(), other.header());
    assert_eq!(one.header().merged_from, ["part0", "part1", "part2"]);
    assert_eq!(one.ending(), other.ending());
    assert_eq!(one.ending().map(|ending| ending.elapsed_ns), Some(130 * support::SECOND_NS));
    let all = |reader: &Reader| {
        reader.windows(0..u32::MAX).map(|window| window.expect("readable")).collect::<Vec<_>>()
    };
    assert_eq!(all(&one), all(&other));
    assert_eq!(one.sum(0..u32::MAX).expect("readable"), other.sum(0..u32::MAX).expect("readable"));

    // Every count of every part is there once.
    let count = |reader: &Reader| -> u64 {
        let sum = reader.sum(0..u32::MAX).expect("readable");
        let counts = sum.series.iter().map(|(_, aggregate)| match aggregate {
            model::Aggregate::Counter(counter) => counter.count,
            model::Aggregate::Rate(rate) => rate.total,
            model::Aggregate::Trend(trend) => trend.population(),
            model::Aggregate::Gauge(_) => 0,
        });
        counts.sum()
    };
    assert_eq!(count(&one), readers.iter().map(count).sum::<u64>());
    assert!(matches!(
        merge(&[&readers[0], &readers[0]], &path("twice"), MergeOptions::default()),
        Err(runfile::MergeError::Twice(_))
    ));
    read_all(&one).expect("readable");
}

#[test]
fn files_that_are_no_runs() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a");
    assert!(matches!(Reader::open(&path), Err(ReadError::Open { .. })));
    assert!(matches!(Reader::open(folder.path()), Err(ReadError::Foreign(_))));
    for text in ["", "no run", &"no run either ".repeat(1000)] {
        std::fs::write(&path, text).expect("write");
        assert!(matches!(Reader::open(&path), Err(ReadError::Foreign(_))), "{text}");
    }
}
