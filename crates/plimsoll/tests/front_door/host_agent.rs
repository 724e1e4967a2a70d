//! Metrics of another machine: a host agent serves them to a run with the right token.

use runfile::Reader;
use rustix::process::Signal;

use crate::harness::{Ran, eventually, free_address, plimsoll, verb};

const TOKEN: &str = "t0p-secret";

const SCRIPT: &str = "import http from 'k6/http'; import { sleep } from 'k6';
    export const options = { vus: 1, duration: '3s' };
    export default () => { http.get(`${__ENV.URL}/json`); sleep(0.1); };";

fn reader(ran: &Ran, name: &str) -> Reader {
    ran.and(&format!("export @last --format plimsoll -o {name}")).run().exits(0);
    Reader::open(&ran.folder().join(name)).expect("a run")
}

#[test]
fn a_run_asks_another_machine() {
    let address = free_address();
    let agent = verb(&format!("host-agent --address {address}")).env("PLIMSOLL_API_TOKEN", TOKEN).start();
    let status = || {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        agent.get(format!("http://{address}/v1/machine")).call().ok().map(|answer| answer.status().as_u16())
    };
    eventually("the agent answers", || status().is_some());
    assert_eq!(status(), Some(401), "it wants its token");

    let server = testkit::http::start();
    let test = || {
        plimsoll(SCRIPT).against(&server).word("--evidence").word(&format!("target:host=http://{address}"))
    };
    let ran = test().env("PLIMSOLL_TARGET_PASSWORD", TOKEN).run().exits(0);
    let collected = reader(&ran, "collected.plimsoll");
    let signals = collected.signals().expect("signals");
    let points = |name: &str| {
        let signal = signals.iter().find(|signal| signal.source == "target" && signal.name == name);
        signal.map_or(0, |signal| signal.points.len())
    };
    assert!(points("cpu") >= 2 && points("memory_limit") >= 2, "{signals:?}");
    assert_eq!(collected.gaps().expect("gaps"), []);

    let ran = test().run().exits(0).says("no metrics from target at the moment: ").says("401");
    assert!(!reader(&ran, "refused.plimsoll").gaps().expect("gaps").is_empty());
    ran.and(&format!("doctor --evidence target:host=http://{address}"))
        .run()
        .exits(255)
        .prints("PLIMSOLL_TARGET_PASSWORD");

    agent.signal(Signal::INT);
    agent.wait().exits(0).prints(&format!("host: http://{address}"));
}

#[test]
fn an_agent_that_others_can_reach_wants_a_token() {
    verb("host-agent --address 0.0.0.0:0").run().exits(106).says("PLIMSOLL_API_TOKEN");
}
