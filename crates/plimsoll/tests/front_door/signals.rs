//! Signals to the program and to its target.

use std::io::BufRead;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use crate::harness::{eventually, plimsoll};

const WITH_TEARDOWN: &str = "
    import http from 'k6/http';
    import { sleep } from 'k6';
    export const options = { vus: 3, duration: '60s' };
    export default () => { http.get(`${__ENV.URL}/json`); sleep(0.05); }
    export function teardown() { http.get(`${__ENV.URL}/bytes/7`); sleep(Number(__ENV.LINGER)); }";

#[test]
fn the_first_ends_the_test_in_order() {
    for signal in [Signal::INT, Signal::TERM] {
        let server = testkit::http::start();
        let running = plimsoll(WITH_TEARDOWN).against(&server).env("LINGER", "0").start();
        eventually("the first request", || server.seen().total > 3);
        running.signal(signal);
        let ran = running.wait().exits(105).says("aborted by a signal").prints("http_reqs");
        assert_eq!(server.settled().for_path("/bytes/7"), 1, "teardown ran");
        assert_eq!(server.settled().total, ran.count("http_reqs"));
        assert!(ran.elapsed < Duration::from_secs(20), "{:?}", ran.elapsed);
    }
}

#[test]
fn the_second_leaves_at_once() {
    let server = testkit::http::start();
    let running = plimsoll(WITH_TEARDOWN).against(&server).env("LINGER", "50").start();
    eventually("the first request", || server.seen().total > 3);
    running.signal(Signal::INT);
    eventually("teardown", || server.seen().for_path("/bytes/7") == 1);
    running.signal(Signal::INT);
    let ran = running.wait().exits(105).says("exiting immediately");
    assert!(ran.elapsed < Duration::from_secs(20), "{:?}", ran.elapsed);
}

#[test]
fn a_loop_without_end_does_not_hold_it() {
    let server = testkit::http::start();
    let script = "import http from 'k6/http';
        export default () => { http.get(`${__ENV.URL}/json`); for (;;) {} }";
    let running = plimsoll(script).against(&server).flags("-u 3 -d 60s").start();
    eventually("the first request", || server.seen().total > 0);
    running.signal(Signal::INT);
    assert!(running.wait().exits(105).elapsed < Duration::from_secs(20));
}

#[test]
fn a_signal_before_the_test_ends_it() {
    let running = plimsoll("console.log('in init'); for (;;) {}").start();
    std::thread::sleep(Duration::from_millis(500));
    running.signal(Signal::INT);
    running.wait().exits(105);
}

/// Not a test: the target of the next one, in a process that can be killed.
#[test]
#[ignore = "serves until it is killed; another test starts it"]
fn target() {
    let server = testkit::http::start();
    println!("\nurl={}", server.url(""));
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn a_target_that_is_killed_is_counted_as_failures() {
    let tests = std::env::current_exe().expect("this program has a path");
    let mut target = Command::new(tests)
        .args(["signals::target", "--exact", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the target starts");
    let lines = std::io::BufReader::new(target.stdout.take().expect("it is piped")).lines();
    let url = lines.map_while(Result::ok).find_map(|line| Some(line.strip_prefix("url=")?.to_owned()));
    let url = url.expect("the target says where it is");
    let script = "import http from 'k6/http'; import { sleep } from 'k6'; import { Counter } from 'k6/metrics';
        const [good, bad] = [new Counter('good'), new Counter('bad')];
        export const options = { vus: 5, duration: '3s' };
        export default () => { (http.get(`${__ENV.URL}/json`).status === 200 ? good : bad).add(1); sleep(0.02); }";
    let running = plimsoll(script).env("URL", &url).start();
    std::thread::sleep(Duration::from_millis(1500));
    target.kill().expect("it is our child");
    target.wait().expect("it is our child");
    let ran = running.wait().exits(0).says("connection refused");
    assert!(ran.count("good") > 0 && ran.count("bad") > 0, "{}", ran.out);
    assert_eq!(ran.count("good") + ran.count("bad"), ran.count("http_reqs"));
    assert_eq!(ran.value("http_req_failed", "passes"), Some(ran.count("bad") as f64));
}
