//! Failures outside of the program lead to a clear message and the right exit code, without lost data or a hang.

use std::process::{Command, Stdio};

use testkit::{Identity, Listen};

use crate::harness::{Ran, plimsoll, verb};

#[track_caller]
fn load(script: &str, code: i32, says: &str) -> Ran {
    plimsoll(script).run().exits(code).says(says)
}

/// Requests a path; prints status, error code and error.
#[track_caller]
fn get(server: &testkit::Server, path: &str, flags: &str) -> Ran {
    let script = "import http from 'k6/http';
        export default () => {
          const response = http.get(`${__ENV.URL}${__ENV.PLACE}`);
          console.log(`status=${response.status} code=${response.error_code} body=${(response.body || '').length}`);
        }";
    let ca = server.tls_files().map(|files| files.ca().display().to_string());
    let run = plimsoll(script).against(server).env("PLACE", path).flags(flags);
    match ca {
        Some(ca) => run.env("SSL_CERT_FILE", &ca).run().exits(0),
        None => run.run().exits(0),
    }
}

/// Checks that the request failed and recorded no duration.
#[track_caller]
fn failed_without_a_time(ran: &Ran) {
    assert_eq!(ran.value("http_req_failed", "passes"), Some(1.0), "{}", ran.out);
    for stat in ["avg", "min", "p(95)"] {
        assert_eq!(ran.value("http_req_duration", stat), None, "a failure is no fast answer: {}", ran.out);
    }
}

/// Checks that the process never used more memory than this.
#[track_caller]
fn stays_below(ran: &Ran, mib: u64) {
    let Some(peak_kib) = ran.resident_max_kib else {
        return eprintln!("skipped: this system does not say how much memory a process held");
    };
    assert!(peak_kib < mib << 10, "it held {peak_kib} KiB, and {mib} MiB is the most");
}

#[test]
fn syntax_errors_are_shown_with_their_place() {
    let ran = load("export default function () {\n  let a = ;\n}\n", 107, "SyntaxError");
    assert!(ran.err.contains("script.js:2"), "{}", ran.err);
    assert!(ran.err.contains("2 |   let a = ;\n"), "{}", ran.err);
    assert!(ran.err.lines().any(|line| line.trim_end().ends_with('^')), "{}", ran.err);
}

#[test]
fn modules_that_are_not_there() {
    load("import x from './nowhere.js'; export default () => {}", 107, "nowhere.js");
    load("import x from 'k6/nowhere'; export default () => {}", 107, "k6/nowhere");
    load("import x from 'lodash'; export default () => {}", 107, "lodash");
    load("const text = open('./nowhere.csv'); export default () => {}", 107, "nowhere.csv");
}

#[test]
fn options_that_make_no_test() {
    let options = |text: &str| format!("export const options = {text}; export default () => {{}}");
    load(&options("{ duration: {} }"), 104, "\\\"duration\\\" must be");
    load(&options("{ scenarios: { a: { executor: 'constant-vuus', vus: 1 } } }"), 104, "constant-vuus");
    load(
        &options("{ scenarios: { a: { executor: 'constant-vus', vus: -1, duration: '1s' } } }"),
        104,
        "number of VUs",
    );
    load(&options("{ vus: 1, duraton: '1s' }"), 0, "did you mean \\\"duration\\\"?");
    load(&options("{ thresholds: { http_req_durations: ['p(95)<1'] } }"), 104, "http_req_duration");
    load(&options("{ thresholds: { http_req_duration: ['p(95<1'] } }"), 104, "p(95<1");
    load(&options("{ thresholds: { http_reqs: ['p(95)<1'] } }"), 104, "http_reqs");
    load(&options("{ hosts: { 'a.test': 'nowhere' } }"), 104, "a.test");
}

#[test]
fn what_does_not_exist_yet_is_refused_by_name() {
    plimsoll("export default () => {}")
        .flags("--traces-output jaeger")
        .run()
        .exits(255)
        .says("--traces-output");
    let asks = |directive: &str| plimsoll(&format!("{directive}; export default () => {{}}")).run();
    asks("'use k6 with k6/x/kafka >= 0.4'").exits(107).says("k6/x/kafka");
    asks("'use k6 bogus'").exits(255).says("invalid version constraint");
    asks("'use k6 >= 1.0'").exits(0);
    asks("'use k6 >= 9'").exits(107).says("k6 >=9");
    asks("'use k6 >= 1'; 'use k6 < 9'").exits(255).says("already");
    let deps = |text: &str| verb("deps script.js").file("script.js", text).run();
    deps("'use k6 with k6/x/kafka >= 0.4'; export default () => {}").exits(0).prints("k6/x/kafka: >=0.4");
    deps("'use k6 bogus'").exits(255).says("invalid version constraint");
}

#[test]
fn hosts_that_cannot_be_reached() {
    let script =
        |url: &str| format!("import http from 'k6/http'; export default () => {{ http.get('{url}'); }}");
    let ran = load(&script("http://127.0.0.1:1/"), 0, "connection refused");
    failed_without_a_time(&ran);
    failed_without_a_time(&load(&script("http://nowhere.invalid/"), 0, "nowhere.invalid"));
    let ran = plimsoll(&script("http://127.0.0.1:1/")).flags("--compat strict").run().exits(0);
    assert_eq!(ran.value("http_req_duration", "max"), Some(0.0), "k6 counts a refusal as 0 ms");
    plimsoll(&script("http://127.0.0.1:1/")).flags("--throw").run().exits(107).says("connection refused");
    let thresholds = "export const options = { thresholds: { http_req_duration: ['avg<500'] } };";
    let script = format!("{}\n{thresholds}", script("http://127.0.0.1:1/"));
    plimsoll(&script).run().exits(99).says("http_req_duration");
    plimsoll(&script).flags("--compat strict").run().exits(0);
}

#[test]
fn certificates_that_are_not_good() {
    let check = |identity, says: &str| {
        let server = testkit::http::start_tls(identity);
        let ran = get(&server, "/json", "").says("status=0").says(says);
        failed_without_a_time(&ran);
        assert_eq!(server.settled().total, 0);
    };
    check(Identity::Expired, "expired");
    check(Identity::WrongHost, "certificate");
    check(Identity::SelfSigned, "certificate");
    check(Identity::UnknownCa, "certificate");
    let server = testkit::http::start_tls(Identity::Expired);
    get(&server, "/json", "--insecure-skip-tls-verify").says("status=200");
    let server = testkit::http::start_tls(Identity::Valid);
    get(&server, "/json", "").says("status=200");
}

#[test]
fn a_server_without_tls() {
    let server = testkit::http::start();
    let url = server.url("/json").replace("http://", "https://");
    let script = format!("import http from 'k6/http'; export default () => {{ http.get('{url}'); }}");
    failed_without_a_time(&load(&script, 0, "Request Failed"));
}

#[test]
fn a_flood_of_failures_is_counted_and_shown_in_part() {
    let script = "import http from 'k6/http'; export const options = { iterations: 2000, vus: 4 };
        export default () => { http.get('http://127.0.0.1:9/'); }";
    let shown = |flags: &str| {
        let ran = plimsoll(script).flags(flags).run().exits(0);
        assert_eq!(ran.value("http_req_failed", "passes"), Some(2000.0));
        let lines = |part: &str| ran.err.lines().filter(|line| line.contains(part)).count();
        (lines("Request Failed"), ran)
    };
    let (lines, ran) = shown("");
    let held = ran.err.lines().filter_map(|line| {
        let words = line
            .split("msg=\"")
            .nth(1)?
            .strip_suffix(" more requests failed in this second (use --verbose to log each)\"")?;
        words.parse::<usize>().ok()
    });
    assert_eq!(lines + held.sum::<usize>(), 2000, "{}", ran.err);
    assert!(lines < 1000, "{lines}");
    assert_eq!(shown("--verbose").0, 2000);
}

#[test]
fn answers_that_are_no_http() {
    let server = testkit::http::start();
    for kind in ["status-line", "status", "header", "length", "two-lengths", "chunk", "binary"] {
        let ran = get(&server, &format!("/malformed/{kind}"), "").says("status=0").says("Request Failed");
        assert_eq!(ran.value("http_req_failed", "passes"), Some(1.0), "{kind}");
        assert_eq!(ran.count("http_reqs"), 1, "{kind}");
    }
    get(&server, "/huge-head?bytes=20000000", "").says("Request Failed");
    get(&server, "/bad-gzip", "").says("code=1701");
}

#[test]
fn bodies_that_are_cut() {
    let server = testkit::http::start();
    for path in ["/cut", "/cut-chunked", "/reset-after-head"] {
        let ran = get(&server, path, "").says("Request Failed");
        assert_eq!(ran.value("http_req_failed", "passes"), Some(1.0), "{path}");
    }
}

#[test]
fn redirects_without_end() {
    let server = testkit::http::start();
    let ran = get(&server, "/redirect-loop", "").says("status=302");
    assert_eq!((ran.count("http_reqs"), server.settled().total), (11, 11));
}

#[test]
fn bombs_are_stopped() {
    let server = testkit::http::start();
    let ran = get(&server, "/bomb?mib=16384", "").says("status=0").says("Request Failed");
    assert_eq!(ran.count("http_reqs"), 1);
    // A stored body may have 512 MiB, and a growing buffer may briefly be twice as large.
    stays_below(&ran, 1600);
}

#[test]
fn two_gigabytes_are_read_without_being_kept() {
    let server = testkit::http::start();
    let ran = get(&server, "/big?bytes=2147483648", "--discard-response-bodies").says("status=200");
    assert!(ran.value("data_received", "count") >= Some(2_147_483_648.0), "{}", ran.out);
    stays_below(&ran, 200);
}

#[test]
fn loops_and_recursions_without_end() {
    let options = "export const options = { scenarios: { s: {
        executor: 'constant-vus', vus: 3, duration: '1s', gracefulStop: '0s' } } };";
    let ran = load(&format!("{options} export default () => {{ for (;;) {{}} }}"), 0, "");
    assert!(ran.elapsed.as_secs() < 20, "{:?}", ran.elapsed);
    load("const f = (n) => f(n + 1) + 1; export default () => f(0)", 107, "stack");
    load("const f = (n) => f(n + 1) + 1; f(0); export default () => {}", 107, "stack");
}

#[test]
fn descriptors_that_run_out() {
    let server = testkit::hold::start(Listen::default()).expect("a server");
    let script = "import http from 'k6/http'; export default () => { http.get(`${__ENV.URL}/?ms=300`); }";
    let ran = plimsoll(script).against(&server).descriptors(60).flags("-u 100 -i 200").run().exits(0);
    let ran = ran.says("too many open files").says("ulimit -n");
    let failed = ran.value("http_req_failed", "passes").unwrap_or(0.0);
    assert!(failed > 0.0 && failed < 200.0, "some fit and some do not: {failed}");
    assert_eq!((ran.count("http_reqs"), ran.count("iterations")), (200, 200));
}

/// Not a test: the child of the next one, in a network namespace with few ports.
#[test]
#[ignore = "needs a network of its own; another test makes one and starts it there"]
fn few_ports() {
    let server = testkit::hold::start(Listen::default()).expect("a server");
    let script = "import http from 'k6/http'; export default () => { http.get(`${__ENV.URL}/?ms=300`); }";
    let ran = plimsoll(script).against(&server).flags("-u 30 -i 60").run().exits(0);
    let ran = ran.says("no free local port").says("net.ipv4.ip_local_port_range");
    let failed = ran.value("http_req_failed", "passes").unwrap_or(0.0);
    assert!(failed > 0.0 && failed < 60.0, "some fit and some do not: {failed}");
    assert_eq!((ran.count("http_reqs"), ran.count("iterations")), (60, 60));
    assert_eq!(server.settled().total, 60 - failed as u64, "what found no port was not sent");
}

#[test]
fn ports_that_run_out() {
    const NARROW: &str = "ip link set lo up && echo 40000 40009 > /proc/sys/net/ipv4/ip_local_port_range";
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--net", "sh", "-c", &format!("{NARROW} && {script}")]);
        command
    };
    if !unshare("true").stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        return eprintln!("skipped: this system gives no process a network of its own");
    }
    let tests = std::env::current_exe().expect("this program has a path");
    let ran = unshare("exec \"$0\" bad_input::few_ports --exact --ignored --nocapture").arg(tests).output();
    let ran = ran.expect("it starts");
    let said = [ran.stdout, ran.stderr].concat();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&said));
}
