//! `plimsoll runs --verify`: each state of a file is one line and an exit code.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{Ran, plimsoll};
use crate::stored_safety::stored_file;

/// The size of a page of a run file, as SQLite makes it by default.
const PAGE_BYTES: usize = 4096;

/// A run, and a copy of its file under this name.
fn run_and_copy(name: &str) -> (Ran, PathBuf) {
    let ran = plimsoll("export default () => {};").flags("-i 3").run().exits(0);
    let copy = ran.folder().join(name);
    std::fs::copy(stored_file(&ran), &copy).expect("it can be copied");
    (ran, copy)
}

/// Verifies files by name; fails unless each has one line that contains its text.
#[track_caller]
fn check(ran: &Ran, expect: &[(&str, &str)], code: i32) {
    let names: Vec<&str> = expect.iter().map(|(name, _)| *name).collect();
    let verified = ran.and(&format!("runs --verify {}", names.join(" "))).run().exits(code);
    let lines: Vec<&str> = verified.out.lines().collect();
    assert_eq!(lines.len(), expect.len(), "{}", verified.out);
    for ((name, text), line) in expect.iter().zip(lines) {
        assert!(line.starts_with(&format!("{name}  ")) && line.contains(text), "{text:?} is not in {line:?}");
    }
}

/// Returns the number of pages of a file; behind them are the checksums.
fn pages(bytes: &[u8]) -> usize {
    u32::from_be_bytes(bytes[28..32].try_into().expect("four bytes")) as usize
}

/// Flips a bit in each page but the first, which holds the header.
fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).expect("readable");
    let pages_bytes = pages(&bytes) * PAGE_BYTES;
    // A byte of each page but the first, behind the page's own header.
    bytes[PAGE_BYTES..pages_bytes].chunks_mut(PAGE_BYTES).for_each(|page| page[100] ^= 1);
    std::fs::write(path, bytes).expect("writable");
}

#[test]
fn each_state_of_a_file_is_one_line() {
    let (ran, copy) = run_and_copy("good.plimsoll");
    let folder = ran.folder();
    let put =
        |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).expect("a file for the test");
    check(&ran, &[("good.plimsoll", "whole: ")], 0);
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runfile/tests/data/v3.plimsoll");
    std::fs::copy(old, folder.join("old.plimsoll")).expect("it can be copied");
    check(&ran, &[("old.plimsoll", "without checksums: format 3")], 0);

    let good = std::fs::read(&copy).expect("readable");
    put("damaged.plimsoll", &good);
    flip(&folder.join("damaged.plimsoll"));
    put("header.plimsoll", &[&good[..40], &[good[40] ^ 1], &good[41..]].concat());
    put("cut.plimsoll", &good[..good.len() - 5]);
    check(
        &ran,
        &[
            ("damaged.plimsoll", "restore damaged.plimsoll from a copy"),
            ("header.plimsoll", "damaged: the header of the file"),
            ("cut.plimsoll", "nothing in the file can be read; restore cut.plimsoll from a copy"),
            ("good.plimsoll", "whole: "),
        ],
        122,
    );

    put("empty.plimsoll", b"");
    put("text.plimsoll", b"text");
    std::fs::create_dir(folder.join("folder.plimsoll")).expect("a folder for the test");
    let made = std::process::Command::new("mkfifo").arg(folder.join("pipe.plimsoll")).status();
    assert!(made.expect("mkfifo").success());
    check(
        &ran,
        &[
            ("empty.plimsoll", "not verified: failed to open empty.plimsoll: it is not a run file"),
            ("text.plimsoll", "it is not a run file"),
            ("folder.plimsoll", "it is not a run file"),
            ("pipe.plimsoll", "it is not a run file"),
            ("absent.plimsoll", "not verified: failed to open absent.plimsoll: No such file"),
            ("@prev", "not verified: "),
        ],
        255,
    );
}

#[test]
fn a_newer_format_is_not_verified() {
    let (ran, copy) = run_and_copy("newer.plimsoll");
    let mut bytes = std::fs::read(&copy).expect("readable");
    bytes.truncate(pages(&bytes) * PAGE_BYTES);
    // The number of the format.
    bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
    std::fs::write(&copy, bytes).expect("writable");
    check(&ran, &[("newer.plimsoll", "its format 99 is newer than 4")], 255);
}

#[test]
fn all_runs_are_verified_and_counted() {
    let (ran, _) = run_and_copy("copy.plimsoll");
    ran.and("run script.js").run().exits(0);
    let all = ran.and("runs --verify").run().exits(0);
    assert_eq!(all.out.lines().filter(|line| line.contains("  whole: ")).count(), 2, "{}", all.out);
    ran.and("runs --verify --lang ko").run().exits(0).prints("체크섬이 일치합니다");
    let mut files = std::fs::read_dir(ran.folder().join("plimsoll/runs")).expect("runs");
    flip(&files.next().expect("one").expect("readable").path());
    let json = ran.and("runs --verify --json").run().exits(122);
    let rows: Value = serde_json::from_str(&json.out).expect("JSON");
    let mut states: Vec<&str> = (0..2).filter_map(|row| rows[row]["state"].as_str()).collect();
    states.sort_unstable();
    assert_eq!(states, ["damaged", "whole"]);
    let damaged = rows.as_array().expect("rows").iter().find(|row| row["state"] == "damaged").expect("one");
    assert!(damaged["damages"][0]["first_page"].is_u64(), "{damaged}");
    ran.and("runs --verify --status passed").run().exits(255).says("--status");
    ran.and("runs ab12").run().exits(255).says("--verify");
}
