//! Runs during faults of the machine: the process ends, nothing that was shown is lost, and what is not stored is stated.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{Plimsoll, Ran, Running, eventually, plimsoll};
use crate::stored_safety::stored_file;

/// Requests per second of each run.
const RATE: u64 = 40;

/// The load of a run that ends by itself, seconds.
const SHORT_S: u64 = 2;

fn load(server: &testkit::Server, seconds: u64) -> Plimsoll {
    let script = format!(
        "import http from 'k6/http';
         export const options = {{ scenarios: {{ all: {{
             executor: 'constant-arrival-rate', rate: {RATE}, duration: '{seconds}s', preAllocatedVUs: 20 }} }} }};
         export default () => http.get(`${{__ENV.URL}}/json`);"
    );
    plimsoll(&script).against(server).flags("--no-page")
}

/// Returns the number of stored requests, and that of the seconds in which they are.
fn stored(exported: &str) -> (u64, u64) {
    let rows = exported.lines().filter(|line| line.contains(",http_reqs,"));
    let column = |line: &str, number| -> u64 {
        let cell = line.split(',').nth(number).unwrap_or_default();
        cell.parse().unwrap_or_else(|_| panic!("no number in column {number}: {line}"))
    };
    let header: Vec<&str> = exported.lines().next().unwrap_or_default().split(',').collect();
    let count = header.iter().position(|name| *name == "count").unwrap_or(0);
    rows.fold((0, 0), |(requests, seconds), line| {
        (requests + column(line, count), seconds.max(column(line, 0) + 1))
    })
}

fn shown_live(running: &Running) -> (u64, u64) {
    let ran = running.and("export @last --format csv").run();
    if ran.code == Some(0) { stored(&ran.out) } else { (0, 0) }
}

fn stored_of(ran: &Ran) -> (u64, u64) {
    stored(&ran.and("export @last --format csv").run().exits(0).out)
}

/// Returns the state that `runs --verify` gives to the files, or `none`.
fn verified(ran: &Ran, words: &str) -> String {
    let all: Value =
        serde_json::from_str(&ran.and(&format!("runs --verify --json {words}")).run().out).expect("JSON");
    all[0]["state"].as_str().unwrap_or("none").to_owned()
}

/// Fails unless the last line of the log states that the run is not stored.
#[track_caller]
fn ends_with_flaw(ran: &Ran) {
    let last = ran.err.lines().last().unwrap_or_default();
    assert!(
        last.contains("the run is not stored") || last.contains("the run is stored incompletely"),
        "{}",
        ran.err
    );
    assert!(last.contains("--no-store"), "the next step is named: {last}");
}

#[test]
fn a_killed_run_keeps_every_second_that_was_shown() {
    let server = testkit::http::start();
    let running = load(&server, 60).start();
    let shown = std::cell::Cell::new((0, 0));
    eventually("two stored seconds", || {
        shown.set(shown_live(&running));
        shown.get().1 >= 2
    });
    running.signal(Signal::KILL);
    let ran = running.wait();
    let seen = server.settled().total;
    assert_eq!(ran.code, None);
    let (requests, seconds) = stored_of(&ran);
    assert!(
        requests >= shown.get().0 && seconds >= shown.get().1,
        "{requests} in {seconds} s, {shown:?} were shown"
    );
    // The second that was not over, those in flight, and a second for a machine that is busy.
    assert!(requests <= seen && seen - requests <= 3 * RATE, "{requests} of {seen} requests are stored");
    ran.and("show @last").run().exits(0).prints("PARTIAL");
    assert_eq!(verified(&ran, "@last"), "partial");
    // Without the log beside it.
    std::fs::copy(stored_file_of(&ran), ran.folder().join("copy.plimsoll")).expect("it can be copied");
    let copied = ran.and("runs --verify copy.plimsoll").run().exits(0);
    copied.prints("incomplete: the process ended before it added checksums");
    let copied = stored(&ran.and("export copy.plimsoll --format csv").run().exits(0).out);
    assert!(copied.0 >= shown.get().0, "{copied:?}, {shown:?} were shown");
}

/// Returns the run's file; SQLite's are beside it.
fn stored_file_of(ran: &Ran) -> std::path::PathBuf {
    let files = std::fs::read_dir(ran.folder().join("plimsoll/runs")).expect("a run was stored");
    let mut paths = files.map(|file| file.expect("readable").path());
    paths.find(|path| path.extension().is_some_and(|extension| extension == "plimsoll")).expect("a run")
}

#[test]
fn a_run_that_was_stopped_goes_on() {
    let server = testkit::http::start();
    let running = load(&server, 3).start();
    eventually("requests", || server.seen().total > RATE / 4);
    running.signal(Signal::STOP);
    std::thread::sleep(Duration::from_secs(1));
    running.signal(Signal::CONT);
    let ran = running.wait().exits(0);
    let (seen, requests) = (server.settled().total, ran.count("http_reqs"));
    assert_eq!((requests, stored_of(&ran).0), (seen, seen));
    let dropped = ran.count("dropped_iterations");
    let due = 3 * RATE;
    assert!((due..=due + 1).contains(&(requests + dropped)), "{requests} + {dropped} of {due}");
    assert_eq!(verified(&ran, "@last"), "whole");
}

#[test]
fn a_run_whose_directory_is_removed_says_that_it_is_not_stored() {
    let server = testkit::http::start();
    let running = load(&server, SHORT_S).flags("--report md=report.md").start();
    eventually("requests", || server.seen().total > RATE / 4);
    std::fs::remove_dir_all(running.folder().join("plimsoll/runs")).expect("it is there");
    let ran = running.wait().exits(123);
    assert_eq!(ran.count("http_reqs"), server.settled().total);
    ends_with_flaw(&ran);
    ran.and("runs --verify").run().exits(0).says("No runs in");
    assert!(!ran.folder().join("report.md").exists(), "nothing was there to make it from");
}

#[test]
fn a_full_disk_is_stated_by_every_view() {
    let server = testkit::http::start();
    let reports = "--report junit=junit.xml,md=report.md,json=report.json";
    // Files are limited to 128 kB, which the run's file needs for its first second. A full disk sends no signal.
    let ran = load(&server, SHORT_S).flags(reports).before("trap '' XFSZ; ulimit -f 256").run().exits(123);
    assert_eq!(ran.count("http_reqs"), server.settled().total);
    ends_with_flaw(&ran);
    let shown = ran.and("show @last").run();
    if shown.code == Some(0) {
        assert!(shown.out.contains("PARTIAL") || shown.out.contains("123"), "{}", shown.out);
        ran.and("runs --status passed --json").run().exits(0).prints("[]");
    }
    for (name, passes) in
        [("junit.xml", "failures=\"0\""), ("report.md", "Pass"), ("report.json", "\"pass\"")]
    {
        let text = std::fs::read_to_string(ran.folder().join(name)).unwrap_or_default();
        assert!(!text.contains(passes), "{name} contradicts the exit code: {text}");
    }
}

#[test]
fn k6s_exit_code_stays_under_strict_compatibility() {
    let ran =
        plimsoll("export default () => {};").flags("--compat strict --runs /proc/no-such").run().exits(0);
    ends_with_flaw(&ran);
    let failed =
        "export const options = { thresholds: { iterations: ['count>5'] } }; export default () => {};";
    let ran = plimsoll(failed).flags("--runs /proc/no-such").run().exits(99);
    ends_with_flaw(&ran);
}

#[test]
fn reports_are_made_though_the_store_refuses() {
    let flags = "--runs /proc/no-such --report json=report.json";
    let ran = plimsoll("export default () => {};").flags(flags).run().exits(123);
    let report: Value = serde_json::from_str(&ran.read("report.json")).expect("JSON");
    assert_eq!(report["verdict"]["verdict"], "fail", "{report}");
    ends_with_flaw(&ran);
}

#[test]
fn few_descriptors_are_an_error_that_is_counted_or_said() {
    let server = testkit::http::start();
    for most in [12, 24] {
        let ran = load(&server, 1).descriptors(most).run();
        assert!(
            ran.code.is_some() && (ran.code == Some(0) || ran.err.contains("level=error")),
            "{:?} {}",
            ran.code,
            ran.err
        );
        if ran.code == Some(0) {
            assert_eq!(verified(&ran, "@last"), "whole");
            let (requests, dropped) = (ran.count("http_reqs"), ran.count("dropped_iterations"));
            assert!((RATE..=RATE + 1).contains(&(requests + dropped)), "{requests} + {dropped}");
        }
    }
}

/// A library that moves the wall clock of the process back by an hour once a file exists.
const STEP: &str = r#"
#define _GNU_SOURCE
#include <time.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>
int clock_gettime(clockid_t clock, struct timespec *to) {
    int result = syscall(SYS_clock_gettime, clock, to);
    const char *mark = getenv("STEP_MARK");
    if (clock == CLOCK_REALTIME && result == 0 && mark && access(mark, F_OK) == 0) to->tv_sec -= 3600;
    return result;
}
"#;

#[test]
fn a_clock_that_steps_back_changes_no_second() {
    let server = testkit::http::start();
    let ready = load(&server, SHORT_S).file("step.c", STEP);
    let folder = ready.folder().to_owned();
    compile(&folder);
    let (library, mark) = (folder.join("step.so"), folder.join("stepped"));
    let text = |path: &Path| path.to_str().expect("a temporary folder's name is text").to_owned();
    let running = ready.env("LD_PRELOAD", &text(&library)).env("STEP_MARK", &text(&mark)).start();
    eventually("a second", || server.seen().total > RATE);
    std::fs::write(&mark, "").expect("a file for the test");
    let ran = running.wait().exits(0);
    let seen = server.settled().total;
    assert_eq!((ran.count("http_reqs"), stored_of(&ran).0), (seen, seen));
    assert_eq!(verified(&ran, "@last"), "whole");
    let reader = runfile::Reader::open(&stored_file(&ran)).expect("it opens");
    let ended = reader.ending().expect("it has one");
    assert!(ended.ended_wall_ns >= reader.header().started_wall_ns, "the run ended before it began");
    assert!((SHORT_S..SHORT_S + 30).contains(&(ended.elapsed_ns / 1_000_000_000)), "{} ns", ended.elapsed_ns);
}

/// The C compiler is there: SQLite and QuickJS were built with it.
fn compile(folder: &Path) {
    let built =
        Command::new("cc").args(["-shared", "-fPIC", "-o", "step.so", "step.c"]).current_dir(folder).status();
    assert!(built.expect("a C compiler").success());
}
