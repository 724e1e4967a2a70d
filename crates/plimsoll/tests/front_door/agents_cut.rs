//! Agents and hubs that die, stand still, or are cut off, in each phase of a test.

use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Signal, kill_process};

use crate::agents::{NUMBERED, log_of, seen};
use crate::harness::{Ran, Running, eventually, free_port, plimsoll};

/// A way to the hub that can be cut.
struct Way {
    port: u16,
    is_cut: Arc<AtomicBool>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
}

impl Way {
    fn to(hub: u16) -> Way {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let way = Way { port, is_cut: Arc::default(), streams: Arc::default() };
        let (is_cut, streams) = (way.is_cut.clone(), way.streams.clone());
        std::thread::spawn(move || {
            for near in listener.incoming().filter_map(Result::ok) {
                let Ok(far) = TcpStream::connect(("127.0.0.1", hub)) else { continue };
                if is_cut.load(Relaxed) {
                    continue;
                }
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (mut from, mut to) =
                        (from.try_clone().expect("a stream"), to.try_clone().expect("a stream"));
                    std::thread::spawn(move || {
                        // A connection that ends is what this is for.
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(std::net::Shutdown::Both);
                    });
                }
                streams.lock().unwrap_or_else(PoisonError::into_inner).extend([near, far]);
            }
        });
        way
    }

    /// Ends all connections and lets none through for some time.
    fn cut(&self, time: Duration) {
        self.is_cut.store(true, Relaxed);
        for stream in self.streams.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // It may have ended.
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
        std::thread::sleep(time);
        self.is_cut.store(false, Relaxed);
    }
}

/// Runs 100 iterations per second on two agents, one of them behind a way that is cut.
fn run_with_a_cut(server: &testkit::Server, cut: Duration) -> Ran {
    let port = free_port();
    let running = plimsoll(NUMBERED)
        .against(server)
        .env("SECRET_WORD", "x")
        .env("FOR", "20s")
        .flags("--agents 2 --token-file token --log-output=file=log.txt")
        .flags(&format!("--agents-listen 127.0.0.1:{port}"))
        .start();
    let token = running.folder().join("token");
    eventually("a token file", || std::fs::read_to_string(&token).is_ok_and(|text| text.ends_with('\n')));
    let way = Way::to(port);
    let join = |port: u16| running.and(&format!("agent --hub 127.0.0.1:{port} --token-file token")).start();
    let agents = [join(port), join(way.port)];
    eventually("load", || server.seen().total > 100);
    way.cut(cut);
    for agent in agents {
        agent.wait().exits(0);
    }
    running.wait().exits(0)
}

/// It is suspect meanwhile, and its seconds count when they arrive.
#[test]
fn an_agent_that_is_cut_off_for_six_seconds_loses_nothing() {
    let server = testkit::http::start();
    let ran = run_with_a_cut(&server, Duration::from_secs(6));
    let log = ran.read("log.txt");
    assert!(log.contains("has not been heard") && log.contains("is heard again"), "{log}");
    assert_eq!((ran.count("iterations"), ran.count("dropped_iterations")), (2001, 0));
    assert_eq!(ran.count("http_reqs"), server.settled().total, "sent = seen");
}

/// It stops its load, because no one could end it, and hands over what it has; the rest of its load is missing.
#[test]
fn an_agent_that_is_cut_off_for_ten_seconds_stops_its_load() {
    let server = testkit::http::start();
    let ran = run_with_a_cut(&server, Duration::from_secs(10));
    let log = ran.read("log.txt");
    assert!(log.contains("the hub did not answer for 8 s"), "{log}");
    let (done, dropped) = (ran.count("iterations"), ran.count("dropped_iterations"));
    assert!(done + dropped == 2001 && dropped > 0, "{done} done, {dropped} dropped: {log}");
    assert_eq!(ran.count("http_reqs"), server.settled().total, "sent = seen");
}

/// Agents stop their load while the hub is stopped, so that its results are incomplete.
#[test]
fn a_hub_that_stood_still_for_ten_seconds_has_no_result() {
    let server = testkit::http::start();
    let running = plimsoll(NUMBERED)
        .against(&server)
        .env("SECRET_WORD", "x")
        .env("FOR", "30s")
        .flags("--agents 2 --log-output=file=log.txt")
        .start();
    eventually("load", || server.seen().total > 100);
    running.signal(Signal::STOP);
    std::thread::sleep(Duration::from_secs(10));
    running.signal(Signal::CONT);
    let ran = running.wait().exits(255);
    assert!(ran.read("log.txt").contains("every agent left before the end"), "{}", ran.read("log.txt"));
    assert_eq!(ran.count("http_reqs"), server.settled().total, "sent = seen");
}

/// A test that waits in `setup()`, under load, or in `teardown()`, and says so to the server.
const PHASES: &str = "
    import http from 'k6/http'; import { sleep } from 'k6';
    export const options = { scenarios: { load: { executor: 'constant-arrival-rate', rate: 20, timeUnit: '1s', duration: '2s',
      preAllocatedVUs: 4 } } };
    const wait = (phase) => { http.get(`${__ENV.URL}/in/${phase}`); if (__ENV.PHASE === phase) sleep(8); };
    export function setup() { wait('setup'); }
    export default function () { http.get(`${__ENV.URL}/in/load`); }
    export function teardown() { wait('teardown'); }";

fn start_until(server: &testkit::Server, phase: &str) -> Running {
    let running = plimsoll(PHASES)
        .against(server)
        .env("PHASE", phase)
        .flags("--agents 1 --log-output=file=log.txt")
        .start();
    eventually(phase, || seen(server, &format!("/in/{phase}")) > 0);
    running
}

#[test]
fn an_agent_that_dies_in_any_phase_ends_the_run_as_a_failure() {
    let check = |phase: &str, says: &str| {
        let server = testkit::http::start();
        let running = start_until(&server, phase);
        kill_process(running.children()[0], Signal::KILL).expect("it runs");
        let ran = running.wait().exits(255);
        assert!(ran.read("log.txt").contains(says), "{phase}: {}", ran.read("log.txt"));
        assert!(ran.elapsed < Duration::from_secs(20), "{phase}: {:?}", ran.elapsed);
    };
    check("setup", "the agent that ran setup() was lost");
    check("load", "every agent was lost");
    check("teardown", "the agent that ran teardown() was lost");
}

#[test]
fn agents_of_a_hub_that_dies_in_any_phase_leave() {
    for phase in ["setup", "load", "teardown"] {
        let server = testkit::http::start();
        let running = start_until(&server, phase);
        let agents = running.children();
        running.signal(Signal::KILL);
        running.wait();
        eventually("the end of agents", || {
            agents.iter().all(|pid| rustix::process::test_kill_process(*pid).is_err())
        });
    }
}

#[test]
fn an_agent_that_stands_still_in_any_phase_does_its_part_afterwards() {
    for phase in ["setup", "load", "teardown"] {
        let server = testkit::http::start();
        let running = start_until(&server, phase);
        let agent = running.children()[0];
        kill_process(agent, Signal::STOP).expect("it runs");
        eventually("a suspect", || log_of(&running).contains("has not been heard"));
        kill_process(agent, Signal::CONT).expect("it runs");
        let ran = running.wait().exits(0);
        assert_eq!(seen(&server, "/in/teardown"), 1, "{phase}");
        assert_eq!(ran.count("http_reqs"), server.settled().total, "{phase}: {}", ran.read("log.txt"));
    }
}
