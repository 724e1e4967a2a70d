//! The lab's scanner: its labels are correct, its workers scale, and killed parts are named. A short form of `cargo xtask lab`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::SystemClock;

use crate::harness::eventually;
use crate::lab::{Labs, get, kill, part, pids, runs};
use crate::lab_faults::{Counters, counters, judge, text};

/// Number of users: so few that no queue needs more workers than the maximum.
const PEOPLE: usize = 24;

/// Time after which work that was in progress before a fault is finished, at the slowest pace.
const SETTLING: Duration = Duration::from_millis(1500);

/// Observation time per fault.
const WATCHED: Duration = Duration::from_secs(1);

/// Think time between two polls.
const POLL_PERIOD: Duration = Duration::from_millis(100);

#[test]
fn each_fault_of_the_scanner_moves_its_own_indicator_and_no_other() {
    let Some(labs) = Labs::open_with(scan::SYSTEM.servers) else { return };
    labs.lab("up scan").exits(0).prints("scan (cold) is up at http://127.0.0.1:");
    let status = labs.status();
    let (url, control) = (text(&status["url"]), text(&status["control_url"]));
    let is_over = AtomicBool::new(false);
    let mut wrong = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..PEOPLE {
            scope.spawn(|| send_in_and_poll(&url, &is_over));
        }
        // However this ends, the users stop.
        let _stop = Stop(&is_over);
        wrong.extend(judge("scan", "nothing", &watch(&control), None));
        for fault in lab::faults_of("scan") {
            labs.lab(&format!("fault scan {} on", fault.name)).exits(0);
            wrong.extend(judge("scan", &fault.name, &watch(&control), Some(&fault.indicator)));
            labs.lab(&format!("fault scan {} off", fault.name)).exits(0);
        }
        wrong.extend(judge("scan", "nothing any more", &watch(&control), None));
    });
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    eventually("all queues are empty", || depth(&control) == 0.0);
    let counted = counters(&control);
    assert_eq!(counted["scan_tasks_failed_total"], 0.0);
    assert!(counted["scan_submitted_total"] > 0.0);
    parts_are_missed(&labs, &url);
    let status = labs.status();
    labs.lab("down scan").exits(0);
    assert!(!pids(&status).into_iter().any(runs) && labs.is_empty() && !labs.is_inhabited());
}

/// A killed worker stays listed as missing, and so does RabbitMQ, without which the service still responds.
fn parts_are_missed(labs: &Labs, url: &str) {
    for (name, works) in [("canary", true), ("rabbitmq", false)] {
        kill(part(&labs.status(), name)["identity"]["pid"].as_i64().expect("a number") as i32);
        eventually("its end is noted", || part(&labs.status(), name)["ended"].is_string());
        labs.lab("status").exits(255).prints(&format!("{name:<12} is gone: it was ended by signal 9"));
        let submitted = |expect: u16| {
            let answer =
                ureq::post(&format!("{url}/api/v1/scan")).config().http_status_as_error(false).build();
            answer.send_empty().is_ok_and(|answer| answer.status() == expect)
        };
        eventually("the service says how it is", || submitted(if works { 202 } else { 503 }));
    }
    assert_eq!(get(&format!("{url}/api/v1/scan/{}", "0".repeat(32))).0, 404);
}

struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Returns the number of messages in all queues.
fn depth(control: &str) -> f64 {
    counters(control)["rabbitmq_queue_messages"]
}

/// Reads the counters some time after a fault was injected, and again later.
fn watch(control: &str) -> (Counters, Counters, f64) {
    std::thread::sleep(SETTLING);
    let (began, before) = (SystemClock::now(), counters(control));
    std::thread::sleep(WATCHED);
    (before, counters(control), SystemClock::now().since(began).as_secs_f64())
}

/// A user who submits one picture after the other, and polls until there is a result.
fn send_in_and_poll(url: &str, is_over: &AtomicBool) {
    let agent = ureq::Agent::config_builder().timeout_global(Some(Duration::from_secs(10)));
    let agent = agent.build().new_agent();
    while !is_over.load(Ordering::Relaxed) {
        let mut answer = agent.post(format!("{url}/api/v1/scan")).send_empty().expect("an answer");
        let body: serde_json::Value =
            serde_json::from_reader(answer.body_mut().as_reader()).expect("an answer in JSON");
        let scan = format!("{url}/api/v1/scan/{}", text(&body["id"]));
        let is_done = || {
            let text = agent.get(&scan).call().expect("an answer").body_mut().read_to_string();
            text.expect("a text").contains("rewarded")
        };
        while !is_over.load(Ordering::Relaxed) && !is_done() {
            std::thread::sleep(POLL_PERIOD);
        }
    }
}
