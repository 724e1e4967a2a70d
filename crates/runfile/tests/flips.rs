//! One flipped bit anywhere in a finished file is found, or changes nothing.

mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use model::{
    Evidence, Gap, Instant, Kept, OperationLoad, Record, RecordKind, Signal, Span, SpanKind, SpanStatus,
    Trace,
};
use runfile::{Reader, Verification, add_note, snapshot, verify};
use support::{Made, Random, Shape, read_all};

/// Flips of the short form.
const FLIPS: u32 = 40;
const WINDOWS: u32 = 70;

/// A finished run with something in every table.
fn run_in(folder: &Path) -> PathBuf {
    let path = folder.join("a.plimsoll");
    let made = Made::new(Shape { series: 140, samples: 2, seed: 3 });
    let mut writer = made.writer(&path, "a");
    (0..WINDOWS).for_each(|index| support::send(&mut writer, made.window(index)));
    let at = Instant::from_ns(7_000_000_000);
    writer.evidence(Evidence {
        signals: vec![Signal {
            source: "rabbitmq".to_owned(),
            name: "queue_ready".into(),
            labels: [("queue".to_owned(), "scan".to_owned())].into(),
            unit: String::new(),
            query: "GET /api/queues".to_owned(),
            step: Duration::from_secs(1),
            points: (0..500).map(|second| (at + Duration::from_secs(second), second as f64 / 7.0)).collect(),
        }],
        records: vec![Record {
            source: "kubernetes".to_owned(),
            kind: RecordKind::Happening,
            at,
            subject: "scan-worker".to_owned(),
            fields: [("to".to_owned(), 3.0.into())].into(),
        }],
        gaps: vec![Gap { source: "redis".to_owned(), from: at, to: at, reason: "refused".to_owned() }],
        ..Evidence::default()
    });
    let span = |id| Span {
        id,
        parent: Some(9),
        kind: SpanKind::Consumer,
        service: "worker".into(),
        operation: "scan".into(),
        start_ns: -5,
        duration: Duration::from_millis(id),
        status: SpanStatus::Error,
        attributes: vec![("system".into(), "rabbitmq".to_owned())],
        links: vec![(3, 4)],
    };
    let trace = Trace { id: 5, kept: Kept::Sample { share: 0.25 }, spans: (1..100).map(span).collect() };
    let mut durations = histo::Values::default();
    durations.record(4560.5);
    let (service, operation) = ("worker".into(), "scan".into());
    let load = OperationLoad { service, operation, kind: SpanKind::Consumer, ten: 2, errors: 1, durations };
    writer.traces(vec![trace], vec![load]);
    assert!(writer.finish(runfile::Ending { elapsed_ns: 5, ..Default::default() }).error.is_none());
    path
}

/// Everything that a file says, as text.
fn everything(path: &Path) -> Result<String, runfile::ReadError> {
    let reader = Reader::open(path)?;
    read_all(&reader)?;
    let all = 0..u32::MAX;
    let windows = reader.windows(all.clone()).collect::<Result<Vec<_>, _>>()?;
    let sets: Vec<_> = (0..reader.tags().len() as u32)
        .map(|id| Arc::clone(&reader.tags().get(model::TagSetId(id))))
        .collect();
    let sums = [reader.sum(all.clone())?, reader.sum(7..62)?, reader.sum(3..59)?];
    Ok(format!(
        "{:?} {:?} {:?} {:?} {sets:?} {windows:?} {sums:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        reader.header(),
        reader.ending(),
        reader.state(),
        reader.registry().all(),
        reader.thresholds()?,
        reader.log()?,
        reader.errors()?,
        reader.exemplars(all.clone())?,
        reader.load(all)?,
        reader.marks()?,
        reader.notes()?,
        reader.anchors()?,
        reader.generator_states()?,
        reader.signals()?,
        reader.records()?,
        reader.gaps()?,
        reader.traces()?,
    ) + &format!("{:?}", reader.operations()?))
}

/// Flips bits one at a time; gives how many were refused by reading, and how many were found by verifying alone.
fn flip(seed: u64, flips: u32) -> (u32, u32) {
    let folder = tempfile::tempdir().expect("folder");
    let path = run_in(folder.path());
    let good = std::fs::read(&path).expect("readable");
    let expect = everything(&path).expect("readable");
    assert!(matches!(verify(&path), Ok(Verification::Sound { .. })));
    let mut random = Random(seed);
    let (mut refused, mut unused) = (0, 0);
    for _ in 0..flips {
        let (at, bit) = ((random.next() % good.len() as u64) as usize, random.next() % 8);
        let mut bytes = good.clone();
        bytes[at] ^= 1 << bit;
        std::fs::write(&path, bytes).expect("write");
        let is_found = !matches!(verify(&path), Ok(Verification::Sound { .. } | Verification::Unverified(_)));
        assert!(is_found, "verifying misses bit {bit} of byte {at}");
        match everything(&path) {
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
            Ok(read) => {
                assert_eq!(read, expect, "bit {bit} of byte {at} changes what is read");
                unused += 1;
            }
        }
    }
    (refused, unused)
}

#[test]
fn hostile_flips_of_one_bit_change_no_number() {
    let (refused, unused) = flip(11, FLIPS);
    assert!(refused > unused, "{refused} refused, {unused} in unused space");
}

#[test]
#[ignore = "long"]
fn hostile_thousand_flips_of_one_bit_change_no_number() {
    let (refused, unused) = flip(5, 1000);
    println!("1,000 flipped bits: {refused} refused, {unused} in unused space, 0 changed what is read");
}

/// Changes a byte of the page that holds most of this table: the first of an overflow page's content, the last of a leaf's first
/// cell.
fn damage(path: &Path, table: &str, byte: usize) {
    let connection = rusqlite::Connection::open(path).expect("open");
    let sql = "SELECT pageno FROM dbstat WHERE name = ? ORDER BY payload DESC LIMIT 1";
    let page: usize = connection.query_row(sql, [table], |row| row.get(0)).expect("a page");
    drop(connection);
    let mut bytes = std::fs::read(path).expect("readable");
    bytes[(page - 1) * 4096 + byte] ^= 4;
    std::fs::write(path, bytes).expect("write");
}

#[test]
fn what_is_not_damaged_stays_readable() {
    let folder = tempfile::tempdir().expect("folder");
    let path = run_in(folder.path());
    damage(&path, "gap", 4095);
    let reader = Reader::open(&path).expect("the rest is whole");
    assert!(reader.sum(0..u32::MAX).is_ok() && reader.signals().is_ok());
    let error = reader.gaps().expect_err("damaged").to_string();
    assert!(error.contains("1 page of the table gap, from page"), "{error}");
    assert!(error.contains("every other table can be read"), "{error}");
    let Ok(Verification::Damaged { damages, lost }) = verify(&path) else { panic!("damaged") };
    assert_eq!((damages.len(), damages[0].table.as_str(), lost.len()), (1, "gap", 1));
    assert!(add_note(&path, 1, "x").is_err(), "damage is not sealed again");
    assert!(snapshot(&path, &folder.path().join("b.plimsoll")).is_err(), "damage is not copied");
}

#[test]
fn a_damaged_minute_leaves_the_others() {
    let folder = tempfile::tempdir().expect("folder");
    let path = run_in(folder.path());
    damage(&path, "chunk", 4);
    let Ok(Verification::Damaged { damages, lost }) = verify(&path) else { panic!("damaged") };
    assert_eq!(damages[0].table, "chunk");
    assert!(lost.len() == 1 && lost[0].contains("do not match their checksum; other minutes"), "{lost:?}");
    let reader = Reader::open(&path).expect("the rest is whole");
    // The totals are in tables of their own.
    assert!(reader.sum(0..u32::MAX).is_ok() && reader.errors().is_ok());
}

#[test]
fn changes_and_copies_are_sealed() {
    let folder = tempfile::tempdir().expect("folder");
    let (path, copy) = (run_in(folder.path()), folder.path().join("b.plimsoll"));
    add_note(&path, 1, "x").expect("added");
    assert!(matches!(verify(&path), Ok(Verification::Sound { .. })));
    snapshot(&path, &copy).expect("copied");
    assert!(matches!(verify(&copy), Ok(Verification::Sound { .. })));
    assert_eq!(everything(&copy).expect("readable"), everything(&path).expect("readable"));
}

#[test]
fn a_change_by_another_program_ends_the_seal() {
    let folder = tempfile::tempdir().expect("folder");
    let path = run_in(folder.path());
    let connection = rusqlite::Connection::open(&path).expect("open");
    let grow = "INSERT INTO note (wall_ns, text) SELECT at_ns, hex(zeroblob(200)) FROM anchor";
    for sql in [grow, "UPDATE note SET wall_ns = 5", grow, grow, "VACUUM"] {
        connection.execute_batch(sql).expect("SQL");
        let state = verify(&path).expect("readable");
        assert!(matches!(state, Verification::Unverified(_)), "{sql}: {state:?}");
    }
    assert!(everything(&path).is_ok());
}
