//! Damaged and hostile files are errors, never panics, and never more memory than the limits allow.

mod support;

use std::path::Path;
use std::sync::OnceLock;

use runfile::{ReadError, Reader};
use rusqlite::Connection;
use support::{Made, Random, Shape, read_all};

/// A good run of this format.
fn run_in(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("a.plimsoll");
    let made = Made::new(Shape { series: 6, samples: 2, seed: 3 });
    assert!(made.write(&path, "a", 70).error.is_none());
    path
}

/// A good run of the first format.
fn first_run() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/v1.plimsoll")
}

/// Changes bytes; most of them in places where SQLite or a cell keeps its structure.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let length = bytes.len() as u64;
    for _ in 0..=random.next() % 4 {
        let at = (random.next() % length) as usize;
        match random.next() % 4 {
            0 => bytes[at] = random.next() as u8,
            1 => bytes[at] ^= 1 << (random.next() % 8),
            2 => {
                let page = at / 4096 * 4096;
                bytes[page + (random.next() % 16) as usize] = random.next() as u8;
            }
            _ => {
                let end = (at + (random.next() % 64) as usize).min(bytes.len());
                bytes[at..end].fill(0xff);
            }
        }
    }
    if random.next().is_multiple_of(16) {
        bytes.truncate((random.next() % length) as usize);
    }
}

#[test]
fn damaged_bytes_are_no_panic() {
    let folder = tempfile::tempdir().expect("folder");
    for (good, read_min) in [(run_in(folder.path()), 0), (first_run(), 5)] {
        let (refused, read) = damage_often(&std::fs::read(good).expect("readable"), folder.path());
        assert!(refused > 50 && read >= read_min, "{refused} refused, {read} read");
    }
}

/// Gives how many damaged copies are refused, and how many are read.
fn damage_often(good: &[u8], folder: &Path) -> (u32, u32) {
    let mut random = Random(7);
    let (mut refused, mut read) = (0, 0);
    for number in 0..400 {
        let mut bytes = good.to_vec();
        damage(&mut bytes, &mut random);
        let path = folder.join(format!("{number}.plimsoll"));
        std::fs::write(&path, bytes).expect("write");
        match Reader::open(&path).and_then(|reader| read_all(&reader)) {
            Ok(_) => read += 1,
            Err(_) => refused += 1,
        }
        std::fs::remove_file(&path).expect("remove");
    }
    (refused, read)
}

/// Runs SQL on a good run and gives what reading says then.
#[track_caller]
fn check(sql: &str, expect: &str) {
    static GOOD: OnceLock<Vec<u8>> = OnceLock::new();
    let good = GOOD.get_or_init(|| {
        let folder = tempfile::tempdir().expect("folder");
        std::fs::read(run_in(folder.path())).expect("readable")
    });
    check_on(good, sql, expect);
}

#[track_caller]
fn check_first(sql: &str, expect: &str) {
    check_on(&std::fs::read(first_run()).expect("readable"), sql, expect);
}

#[track_caller]
fn check_third(sql: &str, expect: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/v3.plimsoll");
    check_on(&std::fs::read(path).expect("readable"), sql, expect);
}

#[track_caller]
fn check_on(good: &[u8], sql: &str, expect: &str) {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("b.plimsoll");
    std::fs::write(&path, good).expect("write");
    Connection::open(&path).and_then(|connection| connection.execute_batch(sql)).expect("SQL");
    let error = Reader::open(&path).and_then(|reader| read_all(&reader)).expect_err("refused").to_string();
    assert!(error.contains(expect), "{sql}: {error}");
}

#[test]
fn hostile_rows_are_refused() {
    check("PRAGMA application_id = 1", "it is not a run file of Plimsoll");
    check("PRAGMA user_version = 5", "its format 5 is newer than 4");
    check("PRAGMA user_version = 3", "its tables are not those of its format");
    check("PRAGMA user_version = 2", "its tables are not those of its format");
    check("PRAGMA user_version = 1", "its tables are not those of its format");
    check("PRAGMA user_version = 0", "its tables are not those of its format");
    check("CREATE TABLE more (a)", "its tables are not those of its format");
    check("CREATE TRIGGER t AFTER INSERT ON note BEGIN DELETE FROM run; END", "its tables are not");
    check(
        "DROP TABLE note; CREATE VIEW note AS SELECT 1 AS id, 1 AS wall_ns, 'x' AS text",
        "its tables are not",
    );
    check("UPDATE series SET metric = 60000", "refers to something that is not there");
    check("UPDATE series SET metric = -1", "out of range");
    check("UPDATE series SET metric = 0 WHERE metric = 9", "damaged");
    check("UPDATE metric SET kind = 'sum' WHERE id = 3", "unknown kind");
    check("UPDATE metric SET kind = 'trend' WHERE id = 0", "two kinds");
    check("DELETE FROM metric WHERE id = 3", "gaps");
    check("UPDATE tag_set SET tags = '{}' WHERE id = 2", "no list of pairs");
    check("INSERT INTO windows VALUES (4000000000, 0, 0)", "impossibly large");
    check("UPDATE windows SET start_ns = -5 WHERE id = 69", "damaged");
    check("DELETE FROM windows WHERE id = 5", "a cell has no window");
    check("INSERT INTO tail VALUES (5, 0, x'01ffffffff00')", "impossibly large");
    check("INSERT INTO tail VALUES (5, 0, zeroblob(5))", "left over");
    check("UPDATE run SET value = '{'", "a fact is no JSON");
    check("UPDATE run SET value = '[]' WHERE key = 'run_id'", "damaged");
    check("UPDATE exemplar SET trace_id = x'00'", "damaged");
    check("UPDATE exemplar SET kind = '<script>'", "unknown kind");
    check("UPDATE load SET work = 'x'", "unknown kind");
    check("UPDATE load SET started = 9223372036854775807", "integer overflow");
    check("UPDATE module SET text = x'00ff'", "a module is no text");
    check("INSERT INTO signal VALUES (9, 'a', 'b', '{}', '', '', 0, zeroblob(1))", "ends too early");
    check("INSERT INTO signal VALUES (9, 'a', 'b', '[]', '', '', 0, zeroblob(2))", "labels are no texts");
    check("INSERT INTO signal VALUES (9, 'a', 'b', '{}', '', '', -1, zeroblob(2))", "out of range");
    check("INSERT INTO record VALUES (9, 'a', 'task', 0, 'b', '[]')", "fields are no object");
    check("INSERT INTO record VALUES (9, 'a', 'task', -1, 'b', '{}')", "out of range");
    check("INSERT INTO gap VALUES (9, 'a', 5, -1, 'b')", "out of range");
    check("INSERT INTO trace VALUES (x'00', 'error', NULL, 'a', 'b', 0, 0, 0, 0)", "another length");
    check("INSERT INTO trace VALUES (zeroblob(16), 'sample', 7.0, 'a', 'b', 0, 0, 0, 0)", "unknown reason");
    check(&span("zeroblob(8), NULL, 'sideways', 'a', 'b', 0, 0, 'ok', '{}', '[]'"), "unknown kind");
    check(&span("zeroblob(8), NULL, 'client', 'a', 'b', 0, -1, 'ok', '{}', '[]'"), "out of range");
    check(&span("zeroblob(8), NULL, 'client', 'a', 'b', 0, 0, 'ok', '7', '[]'"), "attributes are no texts");
    check(&span("zeroblob(8), NULL, 'client', 'a', 'b', 0, 0, 'ok', '{}', '[\"1-z\"]'"), "no numbers");
    check(&span("zeroblob(8), x'00', 'client', 'a', 'b', 0, 0, 'ok', '{}', '[]'"), "has no number");
    check("INSERT INTO operation_load VALUES (1, 'a', 'b', 'client', 0, 0, zeroblob(4))", "damaged");
}

/// A trace with a span of these columns.
fn span(columns: &str) -> String {
    let trace = "INSERT INTO trace VALUES (zeroblob(16), 'error', NULL, 'a', 'b', 0, 0, 0, 1)";
    format!("{trace}; INSERT INTO span VALUES (zeroblob(16), {columns})")
}

#[test]
fn hostile_blocks_without_checksums_are_refused() {
    check_third("UPDATE chunk SET cells = x'01ffffffff00'", "damaged");
    check_third("UPDATE chunk SET cells = x'0001ff7f'", "a block is of an unknown kind");
    check_third("UPDATE chunk SET cells = 'text'", "a blob is none");
    check_third("UPDATE chunk SET cells = zeroblob(5)", "a block is of an unknown kind");
    check_third("UPDATE chunk SET block = 40000000", "refers to something that is not there");
    check_third("UPDATE chunk SET block = 1", "refers to something that is not there");
    check_third("UPDATE rollup SET cells = x'01'", "a cell ends too early");
    check_third(
        "UPDATE rollup SET cells = CAST(cells || x'00' AS BLOB)",
        "bytes are left over after a block",
    );
}

#[test]
fn blocks_that_do_not_match_their_checksums_are_refused() {
    check("UPDATE chunk SET cells = zeroblob(5)", "the seconds of minute 0 do not match their checksum");
    check("UPDATE chunk SET crc32 = crc32 + 1 WHERE minute = 1", "the seconds of minute 1 do not match");
    check("UPDATE rollup SET crc32 = 0 WHERE windows = 0", "the totals of the run do not match");
    check("UPDATE chunk SET block = 1", "do not match their checksum");
    check("UPDATE chunk SET crc32 = -1", "damaged");
}

#[test]
fn hostile_rows_of_the_first_format_are_refused() {
    check_first("PRAGMA user_version = 2", "its tables are not those of its format");
    check_first("UPDATE chunk SET seconds = x'01ffffffff00'", "impossibly large");
    check_first("UPDATE chunk SET seconds = x'0001ff7f'", "damaged");
    check_first("UPDATE chunk SET seconds = 'text'", "a blob is none");
    check_first("UPDATE chunk SET tens = zeroblob(5)", "left over");
    check_first("UPDATE rollup SET cell = x'00'", "a cell ends too early");
}

#[test]
fn a_newer_file_says_what_to_do() {
    let folder = tempfile::tempdir().expect("folder");
    let path = run_in(folder.path());
    Connection::open(&path).and_then(|file| file.execute_batch("PRAGMA user_version = 9")).expect("SQL");
    let error = Reader::open(&path).expect_err("newer");
    assert!(matches!(error, ReadError::Newer { found: 9, known: 4, .. }), "{error}");
    assert!(error.to_string().ends_with("use a newer build"), "{error}");
}

#[test]
fn hostile_neighbours_of_a_file_are_not_opened() {
    let folder = tempfile::tempdir().expect("folder");
    let path = run_in(folder.path());
    let fifo = |path: &Path| {
        let made = std::process::Command::new("mkfifo").arg(path).status().expect("mkfifo");
        assert!(made.success());
    };
    for suffix in ["-lock", "-wal", "-shm", "-journal"] {
        let beside = folder.path().join(format!("a.plimsoll{suffix}"));
        fifo(&beside);
        for error in [Reader::open(&path).err(), runfile::verify(&path).err()] {
            let error = error.expect("refused").to_string();
            assert!(
                error.contains(&format!("a.plimsoll{suffix} beside it is not a regular file")),
                "{error}"
            );
        }
        std::fs::remove_file(&beside).expect("remove");
        std::os::unix::fs::symlink("/dev/zero", &beside).expect("link");
        assert!(Reader::open(&path).is_err(), "{suffix} is a link to a device");
        std::fs::remove_file(&beside).expect("remove");
    }
    let other = folder.path().join("b.plimsoll");
    fifo(&other);
    assert!(matches!(Reader::open(&other), Err(ReadError::Foreign(_))));
    let around = folder.path().join("c.plimsoll");
    std::os::unix::fs::symlink(&around, &around).expect("link");
    for path in [Path::new("/dev/zero"), folder.path(), &around] {
        assert!(Reader::open(path).is_err(), "{}", path.display());
    }
    assert!(Reader::open(&path).is_ok());
}
