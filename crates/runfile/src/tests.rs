//! A disk that is full at any write, and then is not any more.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::metric::builtin::{HTTP_REQ_DURATION, HTTP_REQS};
use model::{
    Aggregate, Exemplar, ExemplarKind, Instant, LogLevel, LogLine, Mark, MetricId, MetricKind, RunEvent,
    SeriesKey, TagInterner, TagSet, TagSetId, Window,
};

use crate::reader::Opening;
use crate::store::{EXEMPLARS_MAX, LOG_LINES_MAX, Store};
use crate::{Ending, Header, QUEUE_EVENTS_MAX, Reader, State, Writer};

/// So many windows: a minute and a bit, so that compaction is met too.
const WINDOWS: u32 = 63;
/// More pages than any file here has.
const ROOM_PAGES: u32 = 1_000_000;
/// Windows with samples; the others are empty.
const EVERY: u32 = 7;

fn window(index: u32, tags: &TagInterner) -> Arc<Window> {
    let mut series = Vec::new();
    if index.is_multiple_of(EVERY) || index >= 60 {
        // A tag set of its own, so that names are written in every transaction.
        let set = tags.intern(TagSet::new([("url".into(), format!("/{index}").repeat(40).into())]));
        series.push(cell(HTTP_REQS, MetricKind::Counter, set, index));
        series.push(cell(HTTP_REQ_DURATION, MetricKind::Trend, TagSetId::EMPTY, index));
        series.push(cell(HTTP_REQ_DURATION, MetricKind::Trend, set, index));
    }
    let at = |second: u32| Instant::from_ns(u64::from(second) * 1_000_000_000);
    Arc::new(Window { index, start: at(index), end: at(index + 1), series, ..Window::default() })
}

fn cell(metric: MetricId, kind: MetricKind, tags: TagSetId, index: u32) -> (SeriesKey, Aggregate) {
    let mut aggregate = Aggregate::empty(kind);
    (0..100).for_each(|value| {
        aggregate.record(f64::from(index * 100 + value).sqrt(), Mark::Measured, Instant::ZERO);
    });
    (SeriesKey { metric, tags }, aggregate)
}

fn merged(windows: impl Iterator<Item = Window>) -> BTreeMap<SeriesKey, Aggregate> {
    let mut sum: BTreeMap<SeriesKey, Aggregate> = BTreeMap::new();
    for (key, aggregate) in windows.flat_map(|window| window.series) {
        sum.entry(key).and_modify(|sum| sum.merge(&aggregate)).or_insert(aggregate);
    }
    sum
}

/// Writes all windows into a file that may not grow beyond `pages` for some while; gives the pages of the whole file, and
/// how many writes failed.
fn write_within(pages: u32, path: &std::path::Path) -> (u32, u32) {
    let tags = Arc::new(TagInterner::default());
    let mut store =
        Store::create(path, &Header::default(), Arc::default(), tags.clone(), true).expect("create");
    let limit = |store: &Store, pages: u32| {
        let set = |_: &rusqlite::Row<'_>| Ok(());
        store.connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], set).expect("limit");
    };
    limit(&store, pages);
    let mut failed = 0;
    for index in 0..WINDOWS {
        let window = window(index, &tags);
        if store.transaction(|store| store.put_window(&window)).is_err() {
            failed += 1;
            check(path, &tags, index);
            limit(&store, ROOM_PAGES);
            store.transaction(|store| store.put_window(&window)).expect("write again");
        }
        if store.compact(false).is_err() {
            failed += 1;
            check(path, &tags, index + 1);
            limit(&store, ROOM_PAGES);
        }
    }
    if store.compact(true).is_err() {
        failed += 1;
        check(path, &tags, WINDOWS);
        limit(&store, ROOM_PAGES);
        store.compact(true).expect("write again");
    }
    limit(&store, ROOM_PAGES);
    store.transaction(|store| store.put_ending(&Ending::default(), 0, 0)).expect("write");
    let pages = store.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).expect("count");
    store.close().expect("write");
    check(path, &tags, WINDOWS);
    assert_eq!(Reader::open(path).expect("open").state(), State::Complete);
    (pages, failed)
}

/// Whether a file holds exactly the first `windows` windows.
fn check(path: &std::path::Path, tags: &TagInterner, windows: u32) {
    let reader = Reader::open(path).expect("open");
    let read: Vec<Window> = reader.windows(0..u32::MAX).map(|window| window.expect("readable")).collect();
    let expect: Vec<Window> = (0..windows).map(|index| Window::clone(&window(index, tags))).collect();
    assert_eq!(read, expect);
    let sum = reader.sum(0..u32::MAX).expect("readable");
    assert_eq!(sum.series, merged(expect.into_iter()).into_iter().collect::<Vec<_>>());
}

#[test]
fn a_full_disk_at_any_write_loses_nothing_that_was_written() {
    let folder = tempfile::tempdir().expect("folder");
    let path = |name: u32| folder.path().join(format!("{name}.plimsoll"));
    let (pages, failed) = write_within(ROOM_PAGES, &path(0));
    assert_eq!(failed, 0);
    let mut failures = 0;
    for limit in 1..pages {
        failures += write_within(limit, &path(limit)).1;
    }
    assert!(failures + 5 > pages, "nearly every limit was met by a write: {failures} of {pages}");
}

#[test]
fn exemplars_and_log_lines_have_limits_and_are_counted() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.plimsoll");
    let tags = Arc::new(TagInterner::default());
    let mut store =
        Store::create(&path, &Header::default(), Arc::default(), tags.clone(), true).expect("create");
    let exemplar = Exemplar {
        kind: ExemplarKind::Bucket,
        metric: HTTP_REQ_DURATION,
        tags: TagSetId::EMPTY,
        at: Instant::ZERO,
        value: f64::NAN,
        mark: Mark::Failed,
        trace_id: None,
        metadata: None,
    };
    for index in 0..60 {
        let exemplars = vec![exemplar.clone(); EXEMPLARS_MAX as usize / 50];
        let window = Arc::new(Window { exemplars, ..Window::clone(&window(index, &tags)) });
        store.transaction(|store| store.put_window(&window)).expect("write");
    }
    store
        .transaction(|store| {
            (0..LOG_LINES_MAX + 5).try_for_each(|_| store.put_log_row(0, "info", "", "m", "[]"))
        })
        .expect("write");
    store.transaction(|store| store.put_ending(&Ending::default(), 0, 0)).expect("write");
    store.close().expect("write");
    let reader = Reader::open(&path).expect("open");
    let ending = reader.ending().expect("complete");
    let kept = reader.exemplars(0..u32::MAX).expect("readable");
    assert_eq!(kept.len() as u64 + ending.exemplars_lost, EXEMPLARS_MAX / 50 * 60);
    assert!((EXEMPLARS_MAX / 2..=EXEMPLARS_MAX).contains(&(kept.len() as u64)));
    assert!(kept[0].value.is_nan());
    assert!(!reader.exemplars(0..1).expect("readable").is_empty(), "the first ones are not the first to go");
    assert!(!reader.exemplars(59..60).expect("readable").is_empty(), "the last ones are kept too");
    assert_eq!((reader.log().expect("readable").len() as u64, ending.log_lines_lost), (LOG_LINES_MAX, 5));
}

/// A target that refuses each request makes lines faster than a disk takes them.
#[test]
fn lines_of_a_flood_cost_no_window() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.plimsoll");
    let tags = Arc::new(TagInterner::default());
    let mut writer =
        Writer::create(&path, &Header::default(), Arc::default(), tags.clone()).expect("create");
    let line = LogLine::new(Instant::ZERO, LogLevel::Warn, "Request Failed".to_owned());
    let flood = RunEvent::Log(line);
    let lines = 10 * QUEUE_EVENTS_MAX as u64;
    for index in 0..WINDOWS {
        (0..lines).for_each(|_| writer.on_event(&flood));
        writer.on_event(&RunEvent::Window(window(index, &tags)));
    }
    let report = writer.finish(Ending::default());
    assert_eq!((report.windows_lost, report.is_whole), (0, true));
    let reader = Reader::open(&path).expect("open");
    let kept = reader.log().expect("readable").len() as u64;
    assert_eq!(kept + report.log_lines_lost, lines * u64::from(WINDOWS));
}

#[test]
fn a_log_that_needs_an_index_is_read_from_a_copy() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.plimsoll");
    let tags = Arc::new(TagInterner::default());
    let mut store =
        Store::create(&path, &Header::default(), Arc::default(), tags.clone(), false).expect("create");
    store.transaction(|store| store.put_window(&window(0, &tags))).expect("write");
    // What a killed process leaves: the file and its log, copied while both are there.
    let dead = folder.path().join("dead.plimsoll");
    std::fs::copy(&path, &dead).expect("copy");
    std::fs::copy(folder.path().join("a.plimsoll-wal"), folder.path().join("dead.plimsoll-wal"))
        .expect("copy");
    let reader = Opening { path: &dead, actual: &dead, is_locked: false }.copied().expect("open");
    assert_eq!((reader.state(), reader.range().expect("readable")), (State::Partial, 0..1));

    store.close().expect("write");
    let reader = Opening { path: &path, actual: &path, is_locked: false }.copied().expect("open");
    assert_eq!(reader.range().expect("readable"), 0..1);
}

/// A file at every moment between two writes of the process that writes it: each is what a kill would leave.
#[test]
fn a_file_without_its_log_is_whole_at_every_moment() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.plimsoll");
    let tags = Arc::new(TagInterner::default());
    let mut store =
        Store::create(&path, &Header::default(), Arc::default(), tags.clone(), true).expect("create");
    let alone = folder.path().join("alone.plimsoll");
    let check_copy = |windows: u32| {
        std::fs::copy(&path, &alone).expect("copy");
        check(&alone, &tags, windows);
        std::fs::remove_file(&alone).expect("remove");
    };
    check_copy(0);
    for index in 0..WINDOWS {
        store.transaction(|store| store.put_window(&window(index, &tags))).expect("write");
        store.compact(false).expect("write");
        check_copy(index);
        // The pages are behind the file, and none of them is in its place; then one after the other is.
        let redo = store.redo.as_ref().expect("live");
        redo.append(&store.connection).expect("append");
        check_copy(index + 1);
        let before = std::fs::read(&path).expect("readable");
        store.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).expect("checkpoint");
        let after = std::fs::read(&path).expect("readable");
        assert!(after.len() < before.len(), "the pages behind the file are gone");
        check_copy(index + 1);
        for (at, (old, new)) in before.chunks(4096).zip(after.chunks(4096)).enumerate() {
            if old != new && index % 9 == 0 {
                let mut torn = before.clone();
                torn[..at * 4096].copy_from_slice(&after[..at * 4096]);
                std::fs::write(&alone, &torn).expect("write");
                check(&alone, &tags, index + 1);
            }
        }
    }
}
