//! Exports to a real Prometheus: its counts equal the summary's, and every query of the dashboards has a result.
//!
//! Skips with a message if Prometheus is not installed.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::harness::{eventually, free_port, plimsoll};

/// A Prometheus in its own folder; both are removed when this is dropped.
struct Prometheus {
    process: Child,
    address: SocketAddr,
    folder: PathBuf,
}

impl Prometheus {
    /// Starts one that accepts remote writes and native histograms; `None` if it is not installed.
    fn start(name: &str) -> Option<Prometheus> {
        let folder = std::env::temp_dir().join(format!("plimsoll-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the test");
        std::fs::write(folder.join("prometheus.yml"), "global: {}\n").expect("a file for the test");
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let process = Command::new("prometheus")
            .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"])
            .args(["--web.enable-remote-write-receiver", "--enable-feature=native-histograms"])
            .arg(format!("--web.listen-address={address}"))
            .current_dir(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let process = match process {
            Ok(process) => process,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                assert!(std::env::var_os("PLIMSOLL_TESTS").is_none(), "prometheus does not start: {error}");
                eprintln!("skipped: prometheus is not installed, so the real one is not written to");
                return None;
            }
            Err(error) => panic!("prometheus does not start: {error}"),
        };
        let prometheus = Prometheus { process, address, folder };
        eventually("prometheus is ready", || {
            get(prometheus.address, "/-/ready").is_some_and(|answer| answer.starts_with("HTTP/1.0 200"))
        });
        Some(prometheus)
    }

    fn write_url(&self) -> String {
        format!("http://{}/api/v1/write", self.address)
    }

    /// Returns the result of an instant query: one entry per series.
    #[track_caller]
    fn query(&self, query: &str) -> Vec<Value> {
        let encoded: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let answer = get(self.address, &format!("/api/v1/query?query={encoded}")).expect("an answer");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        let answer: Value = serde_json::from_str(body).expect("JSON");
        assert_eq!(answer["status"], "success", "{query}: {answer}");
        answer["data"]["result"].as_array().expect("a vector").clone()
    }

    /// Returns the value of a query that has one.
    #[track_caller]
    fn value(&self, query: &str) -> f64 {
        let result = self.query(query);
        let [one] = &result[..] else { panic!("{query}: {result:?}") };
        one["value"][1].as_str().expect("a value").parse().expect("a number")
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        // Leftovers are harmless.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Requests in HTTP/1.0, whose responses are never chunked.
fn get(address: SocketAddr, target: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    write!(stream, "GET {target} HTTP/1.0\r\nHost: {address}\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

/// Endpoints that respond, fail and cannot be reached, with an arrival-rate executor.
const SCRIPT: &str = "import http from 'k6/http'; import { check } from 'k6';
    export const options = {
        scenarios: { shop: { executor: 'constant-arrival-rate', rate: 40, duration: '4s', preAllocatedVUs: 10 } },
        thresholds: { http_req_duration: ['p(50)<5000'] } };
    export default () => {
        check(http.get(`${__ENV.URL}/json`, { tags: { empty: '', 'my-tag': 'é\"x' } }), { ok: (r) => r.status === 200 });
        http.get(`${__ENV.URL}/status/500`);
        http.get('http://127.0.0.1:1/'); };";

/// Runs the script and compares the two sides; returns the run's id.
#[track_caller]
fn run(prometheus: &Prometheus, env: &[(&str, &str)]) -> String {
    let server = testkit::http::start();
    let mut test = plimsoll(SCRIPT).against(&server).env("K6_PROMETHEUS_RW_PUSH_INTERVAL", "1s");
    for (name, value) in env {
        test = test.env(name, value);
    }
    let flags = format!("--out experimental-prometheus-rw={} --out json=points.json", prometheus.write_url());
    let ran = test.flags(&flags).run().exits(0).says("points sent and accepted, 0 lost");
    let before: Vec<Value> = prometheus.query("topk(1, k6_vus)");
    let id = before[0]["metric"]["testid"].as_str().expect("a run has an id").to_owned();
    let of =
        |metric: &str| prometheus.value(&format!("sum(last_over_time({metric}{{testid=\"{id}\"}}[5m]))"));
    assert_eq!(of("k6_http_reqs_total") as u64, ran.count("http_reqs"));
    assert_eq!(of("k6_iterations_total") as u64, ran.count("iterations"));
    assert_eq!(of("k6_data_sent_total") as u64, ran.count("data_sent"));
    let points = ran.read("points.json");
    let points = points.lines().filter(|line| line.contains("\"http_reqs\"") && line.contains("\"Point\""));
    assert_eq!(points.count() as u64, ran.count("http_reqs"));
    id
}

/// Returns every query of a dashboard, with its variables replaced.
fn queries(dashboard: &str, id: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/grafana/dashboards").join(dashboard);
    let text = std::fs::read_to_string(path).expect("a dashboard");
    let dashboard: Value = serde_json::from_str(&text).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels").iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().cloned().unwrap_or_default());
    let fill = |target: Value| {
        let query = target["expr"].as_str().expect("a query").replace("$testid", id);
        let query = query.replace("$__rate_interval", "1m").replace("$__range", "5m");
        assert!(!query.contains('$'), "{query} has a variable that is not known here");
        query
    };
    targets.map(fill).collect()
}

#[track_caller]
fn check_dashboard(prometheus: &Prometheus, dashboard: &str, id: &str) {
    let has_thresholds = !prometheus.query("plimsoll_threshold_ok").is_empty();
    let queries = queries(dashboard, id);
    assert!(queries.len() > 20, "{dashboard} has {} queries", queries.len());
    for query in queries {
        if query.contains("plimsoll_threshold_ok") && !has_thresholds {
            eprintln!("skipped: the run has no threshold results yet: {query}");
            continue;
        }
        assert!(!prometheus.query(&query).is_empty(), "{dashboard}: nothing answers {query}");
    }
}

#[test]
fn prometheus_counts_what_the_summary_counts() {
    let Some(prometheus) = Prometheus::start("prometheus-stats") else { return };
    let id = run(&prometheus, &[("K6_PROMETHEUS_RW_TREND_STATS", "med,p(90),p(95),p(99),max,count")]);
    check_dashboard(&prometheus, "plimsoll-stats.json", &id);
    let labels = &prometheus.query("k6_http_reqs_total{status=\"200\"}")[0]["metric"];
    assert_eq!((labels["my_tag"].as_str(), labels["empty"].as_str()), (Some("é\"x"), None), "{labels}");
    let count =
        prometheus.value("sum(k6_http_req_duration_count) + sum(k6_http_req_duration_censored_total)");
    assert_eq!(count, prometheus.value("sum(k6_http_reqs_total)"));
}

#[test]
fn prometheus_has_the_distribution_of_native_histograms() {
    let Some(prometheus) = Prometheus::start("prometheus-native") else { return };
    let id = run(&prometheus, &[("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", "true")]);
    check_dashboard(&prometheus, "plimsoll-native.json", &id);
    let requests = prometheus.value("sum(k6_http_reqs_total{error_code!=\"1212\"})");
    assert_eq!(prometheus.value("histogram_count(sum(k6_http_req_duration_seconds))"), requests);
}

#[test]
fn series_end_with_the_run_where_that_is_asked_for() {
    let Some(prometheus) = Prometheus::start("prometheus-stale") else { return };
    let script = "export default () => {};";
    let flags = format!("--out experimental-prometheus-rw={} --tag testid=mine", prometheus.write_url());
    for (asked, left) in [("false", 1), ("true", 0)] {
        plimsoll(script).flags(&flags).env("K6_PROMETHEUS_RW_STALE_MARKERS", asked).run().exits(0);
        assert_eq!(prometheus.query("k6_iterations_total{testid=\"mine\"}").len(), left, "{asked}");
    }
}

#[test]
fn what_is_absent_is_refused_before_the_run() {
    for (out, (name, value), expect) in [
        ("experimental-prometheus-rw", ("K6_PROMETHEUS_RW_SIGV4_SECRET_KEY", "hush"), "is not supported"),
        ("experimental-prometheus-rw", ("K6_PROMETHEUS_RW_TREND_STATS", "p95"), "is not a list such as"),
        ("opentelemetry", ("K6_OTEL_EXPORTER_PROTOCOL", "http/json"), "is not grpc or http/protobuf"),
        ("experimental-opentelemetry", ("X", "y"), "it is called opentelemetry now"),
    ] {
        let test = plimsoll("export default () => {};").flags(&format!("--out {out}")).env(name, value);
        let ran = test.run().exits(255).says(expect);
        assert!(!ran.err.contains("hush"), "{}", ran.err);
    }
}
