//! Servers that are killed while a run collects from them: the run is complete, and missing evidence is a gap with its reason.
//!
//! Skips with a message if a server is not installed.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::Instant;
use runfile::Reader;
use serde_json::Value;

use crate::harness::{Ran, eventually, plimsoll};

/// Planned iterations, one request each; one more may begin at the very end.
const PLANNED: u64 = 40 * 15;

const SCRIPT: &str = "import http from 'k6/http';
    export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: 40, duration: '15s',
        preAllocatedVUs: 20 } } };
    export default () => http.get(`${__ENV.URL}/json`);";

/// Number of requests after which the servers are killed: a third of them.
const KILLED_AFTER: u64 = PLANNED / 3;

/// Interval of log lines and metrics.
const PERIOD: Duration = Duration::from_millis(50);

/// All sources by name.
const SOURCES: [&str; 7] = ["log", "nginx", "postgres", "prometheus", "rabbitmq", "redis", "scrape"];

/// Returns the lab servers among them.
fn servers() -> [&'static dyn lab::Server; 5] {
    [lab::NGINX, lab::POSTGRES, lab::PROMETHEUS, lab::RABBITMQ, lab::REDIS]
}

fn all_are_installed() -> bool {
    let Some(missing) = servers().into_iter().find(|server| !server.is_installed()) else { return true };
    assert!(std::env::var_os("PLIMSOLL_TESTS").is_none(), "{} is not installed", missing.name());
    eprintln!("skipped: {} is not installed, so no source is killed", missing.name());
    false
}

/// Serves a metric until it is over; later requests are refused.
fn serve(listener: TcpListener, is_over: &AtomicBool) {
    listener.set_nonblocking(true).expect("a listener");
    while !is_over.load(Ordering::Relaxed) {
        let Ok((mut stream, _)) = listener.accept() else {
            std::thread::sleep(Duration::from_millis(5));
            continue;
        };
        stream.set_nonblocking(false).expect("a connection");
        // The client may have disconnected.
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\npool_size 4\n");
    }
}

/// Writes log lines until it is over.
fn write_lines(path: &Path, is_over: &AtomicBool) {
    let mut file = std::fs::File::create(path).expect("a file");
    while !is_over.load(Ordering::Relaxed) {
        file.write_all(b"took 40ms\n").expect("it can be written");
        std::thread::sleep(PERIOD);
    }
}

#[test]
fn a_run_is_whole_whatever_becomes_of_its_sources() {
    if !all_are_installed() {
        return;
    }
    let mut lab = lab::Alone::start(&servers()).unwrap_or_else(|error| panic!("failed to {error}"));
    let server = testkit::http::start();
    let page = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address: SocketAddr = page.local_addr().expect("it is bound");
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("worker.log");
    let is_over = AtomicBool::new(false);
    let ran = std::thread::scope(|scope| {
        let mut test = plimsoll(SCRIPT).against(&server);
        for server in servers() {
            let name = server.name();
            let offer = lab.offer(name).expect("a lab server has an offer");
            test = test.word("--evidence").word(&format!("{name}:{}={}", offer.kind, offer.address));
            let password = offer.password.unwrap_or_default();
            test = test.env(&format!("PLIMSOLL_{}_PASSWORD", name.to_uppercase()), &password);
        }
        let test = test.word("--evidence").word(&format!("scrape=http://{address}/metrics"));
        let test = test.word("--evidence").word(&format!("log={}", log.display()));
        let over = &is_over;
        let of_page = scope.spawn(move || serve(page, over));
        let of_log = scope.spawn(|| write_lines(&log, &is_over));
        eventually("the first line", || log.is_file());
        let running = test.start();
        eventually("a third of the requests", || server.seen().total >= KILLED_AFTER);
        is_over.store(true, Ordering::Relaxed);
        of_page.join().expect("it only answers");
        of_log.join().expect("it only writes");
        std::fs::remove_file(&log).expect("it is there");
        servers().into_iter().for_each(|server| lab.end(server.name()));
        running.wait()
    });
    let ran = ran.exits(0).says("no metrics from redis at the moment: ").says("; the test continues");
    let (requests, seen) = (ran.count("http_reqs"), server.settled().total);
    assert!(requests == seen && (PLANNED..=PLANNED + 1).contains(&seen), "{requests} of {seen}: {}", ran.err);
    assert_eq!(ran.count("dropped_iterations"), 0);
    the_file_says_so(&ran);
    every_surface_says_so(&ran);
}

/// Checks that each source that is sampled during the load has evidence before it was killed, and none within its gap.
#[track_caller]
fn the_file_says_so(ran: &Ran) {
    ran.and("export @last --format plimsoll -o killed.plimsoll").run().exits(0);
    let reader = Reader::open(&ran.folder().join("killed.plimsoll")).expect("a run");
    let (signals, gaps) = (reader.signals().expect("signals"), reader.gaps().expect("gaps"));
    for name in SOURCES {
        let own: Vec<_> = gaps.iter().filter(|gap| gap.source == name).collect();
        assert!(!own.is_empty() && own.iter().all(|gap| gap.reason.len() > 8), "{name}: {gaps:?}");
        if name == "prometheus" {
            // This source is queried after the load, and had no evidence.
            continue;
        }
        let points = signals.iter().filter(|signal| signal.source == name);
        let points: Vec<Instant> = points.flat_map(|signal| &signal.points).map(|(at, _)| *at).collect();
        let first = own.iter().map(|gap| gap.from).min().expect("a gap");
        assert!(points.iter().any(|at| *at <= first), "{name} has no evidence before: {own:?}");
        let within = |at: &&Instant| own.iter().any(|gap| gap.from < **at && **at < gap.to);
        assert_eq!(points.iter().find(within), None, "{name}: {own:?}");
    }
}

#[track_caller]
fn every_surface_says_so(ran: &Ran) {
    let html = ran.and("report @last --format html").run().exits(0).out.clone();
    let (_, data) = html.split_once("id=\"plimsoll-data\">").expect("the data");
    let (data, _) = data.split_once("</script>").expect("its end");
    let data: Value = serde_json::from_str(data).expect("JSON");
    let answers = data["answers"].as_object().expect("answers");
    let (_, evidence) = answers.iter().find(|(path, _)| path.ends_with("/evidence")).expect("its answer");
    let markdown = ran.and("report @last --format md").run().exits(0).out.clone();
    for name in SOURCES {
        let sources = evidence["sources"].as_array().expect("sources");
        let source = sources.iter().find(|source| source["name"] == name).expect("a source");
        assert!(source["gaps"][0]["reason"].as_str().is_some_and(|reason| reason.len() > 8), "{source}");
        assert!(source["health"] != "ok", "{source}");
        let sentence = format!("** {name}: no data for ");
        let line = markdown.lines().find_map(|line| line.split_once(&sentence));
        assert!(line.is_some_and(|(_, rest)| rest.len() > 16), "{sentence} is not in: {markdown}");
    }
}
