//! Subcommands that inspect and control a run in progress.

use std::net::TcpListener;

use rustix::process::Signal;

use crate::harness::{Running, eventually, free_address, plimsoll, verb};

const PAUSED: &str = "
    import http from 'k6/http';
    export const options = { iterations: 3, paused: true };
    export function setup() { return { own: true }; }
    export default (data) => { http.get(`${__ENV.URL}/json?own=${data.own}`); }";

const OUTSIDE: &str = "
    import { sleep, check, group } from 'k6';
    export const options = {
        scenarios: { s: { executor: 'externally-controlled', vus: 1, maxVUs: 3, gracefulStop: '1s' } },
        thresholds: { checks: ['rate>0.5'] },
    };
    export default () => { group('g', () => check(1, { one: (it) => it === 1 })); sleep(0.02); }";

/// Returns the output of a subcommand about the test at an address.
fn ask(running: &Running, words: &str, address: &str) -> String {
    running.and(&format!("{words} --address {address}")).run().out.clone()
}

#[test]
fn a_paused_test_waits_for_its_start() {
    let (server, address) = (testkit::http::start(), free_address());
    let running = plimsoll(PAUSED).against(&server).flags("-a").word(&address).start();
    eventually("the test is there", || ask(&running, "status", &address).contains("status: 4\n"));
    assert!(ask(&running, "status", &address).contains("paused: \"true\"\nvus: \"0\"\nvus-max: \"1\""));
    running.and("pause").flags(&format!("-a {address}")).run().exits(255).says("it is paused already");
    assert_eq!(server.seen().total, 0);
    assert!(ask(&running, "resume", &address).contains("paused: \"false\""));
    let ran = running.wait().exits(0).says("the test is paused");
    assert_eq!((ran.count("iterations"), server.settled().total), (3, 3));
}

#[test]
fn vus_are_changed_from_outside() {
    let address = free_address();
    let running = plimsoll(OUTSIDE).flags("-a").word(&address).start();
    let is = |text: &str| ask(&running, "status", &address).contains(text);
    eventually("the VU of the script", || is("vus: \"1\"\nvus-max: \"3\""));
    ask(&running, "scale --vus 3", &address);
    eventually("all VUs", || is("vus: \"3\""));
    running.and("scale -u 4").flags(&format!("-a {address}")).run().exits(255).says("maxVUs are 3");
    ask(&running, "pause", &address);
    eventually("no VU", || is("paused: \"true\"\nvus: \"0\""));
    ask(&running, "resume", &address);
    eventually("all VUs again", || is("paused: \"false\"\nvus: \"3\""));
    eventually("metrics", || {
        let stats = ask(&running, "stats", &address);
        stats.contains("- name: checks\n")
            && stats.contains("tainted: \"false\"")
            && stats.contains("rate: 1\n")
    });
    running.signal(Signal::INT);
    running.wait().exits(105);
}

#[test]
fn a_test_is_stopped_from_outside() {
    let address = free_address();
    let running = plimsoll(OUTSIDE).flags("-a").word(&address).start();
    eventually("it runs", || ask(&running, "status", &address).contains("status: 7\n"));
    let agent: ureq::Agent = ureq::Agent::config_builder().build().into();
    let stop = r#"{"data":{"attributes":{"stopped":true}}}"#;
    agent.patch(format!("http://{address}/v1/status")).send(stop).expect("it is stopped");
    running.wait().exits(103).says("stopped through the REST API");
}

#[test]
fn a_test_that_lingers_runs_its_teardown_when_asked() {
    let (server, address) = (testkit::http::start(), free_address());
    let script = "
        import http from 'k6/http';
        export const setup = () => ({ data: 7 });
        export default () => {};
        export function teardown(data) { http.get(`${__ENV.URL}/bytes/${data.data}`); }";
    let running = plimsoll(script).against(&server).flags("--linger --no-teardown -a").word(&address).start();
    eventually("it is over", || ask(&running, "status", &address).contains("status: 9\n"));
    assert_eq!(server.seen().total, 0);
    let agent: ureq::Agent = ureq::Agent::config_builder().build().into();
    agent.post(format!("http://{address}/v1/teardown")).send_empty().expect("teardown runs");
    assert_eq!(server.settled().for_path("/bytes/7"), 1);
    running.signal(Signal::INT);
    running.wait().exits(0).says("(--linger)");
}

#[test]
fn nobody_is_there() {
    let address = free_address();
    for words in ["status", "stats", "pause", "resume", "scale -u 1"] {
        let ran = verb(&format!("{words} -a {address}")).run();
        ran.exits(255).says(&format!("failed to connect to a test at {address}"));
    }
}

#[test]
fn an_address_that_cannot_be_had_ends_the_test() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let script = "export default () => {}";
    plimsoll(script).flags("-a").word(&address).run().exits(106).says("failed to listen on");
    plimsoll(script).flags("-a 0.0.0.0:0").run().exits(106).says("PLIMSOLL_API_TOKEN");
    plimsoll(script).flags("-a 0.0.0.0:0").env("PLIMSOLL_API_TOKEN", "s3cret").run().exits(0);
}
