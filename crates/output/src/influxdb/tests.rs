//! Against answers that are written down, and against the real InfluxDB 1 where it is installed.

use std::io::Read;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use model::{Mark, RunEvent, SystemClock};

use super::*;
use crate::csv::tests::{context, sample};
use crate::net::testing::HttpFixture;
use crate::{OutputReport, OutputSpec};

const DONE: &str = "HTTP/1.1 204 No Content\r\n\r\n";
const BUSY: &str = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";

fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Exports samples that are equal to the nanosecond.
fn export(argument: &str, env: &[(&str, &str)], count: usize) -> OutputReport {
    let context = context(env);
    let spec = OutputSpec::parse(&format!("influxdb={argument}")).expect("a known output");
    let mut output = spec.open(&context).expect("settings");
    let sample = sample(&context, "http_req_duration", 1.5, Mark::Measured);
    for start in (0..count).step_by(1024) {
        output.on_event(&RunEvent::Samples(Arc::new(vec![(sample, None); 1024.min(count - start)])));
    }
    output.finish()
}

/// The points of one request: these metrics, all at one instant.
const OF_A_REQUEST: [&str; 8] = [
    "http_reqs",
    "http_req_duration",
    "http_req_blocked",
    "http_req_connecting",
    "http_req_sending",
    "http_req_waiting",
    "http_req_receiving",
    "http_req_failed",
];

/// Exports requests with the same tags that all ended at the same instant.
fn export_requests(argument: &str, count: usize) -> OutputReport {
    let context = context(&[]);
    let spec = OutputSpec::parse(&format!("influxdb={argument}")).expect("a known output");
    let mut output = spec.open(&context).expect("settings");
    let request = OF_A_REQUEST.map(|metric| (sample(&context, metric, 1.0, Mark::Measured), None));
    for start in (0..count).step_by(100) {
        let batch = std::iter::repeat_n(&request, 100.min(count - start)).flatten().cloned().collect();
        output.on_event(&RunEvent::Samples(Arc::new(batch)));
    }
    output.finish()
}

fn series_and_stamp(line: &str) -> (Option<&str>, Option<&str>) {
    (line.split(' ').next(), line.rsplit(' ').next())
}

#[test]
fn requests_of_one_instant_are_all_points_of_their_own() {
    const REQUESTS: usize = 20_000;
    let samples = REQUESTS * OF_A_REQUEST.len();
    let fixture = HttpFixture::start(vec![DONE.to_owned()]);
    let report = export_requests(&format!("{}/db", fixture.url), REQUESTS);
    assert_eq!((report.written, report.lost, report.warning()), (samples as u64, 0, None));
    let bodies = fixture.requests().into_iter().filter(|request| !request.body.is_empty());
    let text: String = bodies.map(|request| gunzip(&request.body)).collect();
    // InfluxDB keeps one point per measurement, tags and stamp.
    let points: std::collections::HashSet<_> = text.lines().map(series_and_stamp).collect();
    assert_eq!((text.lines().count(), points.len()), (samples, samples));
}

fn gunzip(bytes: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).expect("gzip of text");
    text
}

#[test]
fn a_failed_write_is_repeated_to_the_byte() {
    let fixture = HttpFixture::start([BUSY, DONE, BUSY, DONE].map(str::to_owned).to_vec());
    let report = export(&format!("{}/db", fixture.url), &[], 3);
    assert_eq!((report.written, report.lost, report.warning()), (3, 0, None));
    assert_eq!(report.note.as_deref(), Some("3 samples sent = 3 stored"));
    let requests = fixture.requests();
    let firsts: Vec<_> =
        requests.iter().map(|request| request.head.lines().next().expect("a line")).collect();
    let create = "POST /query?q=CREATE%20DATABASE%20%22db%22 HTTP/1.1";
    let write = "POST /write?db=db&precision=ns HTTP/1.1";
    assert_eq!(firsts, [create, create, write, write]);
    assert_eq!(requests[2].body, requests[3].body);
    assert_eq!(gunzip(&requests[3].body).lines().count(), 3);
}

#[test]
fn settings_without_effect_are_reported() {
    let fixture = HttpFixture::start(vec![DONE.to_owned()]);
    let report = export(&fixture.url, &[("K6_INFLUXDB_PRECISION", "s")], 1);
    let expect = "1 samples sent = 1 stored; K6_INFLUXDB_PRECISION has no effect";
    assert_eq!(report.note.as_deref(), Some(expect));
}

#[track_caller]
fn check_refusal(argument_env: &[(&str, &str)], answers: &[String], lost: u64) {
    let fixture = HttpFixture::start(answers.to_vec());
    let report = export(&format!("{}/db", fixture.url), argument_env, 5);
    assert_eq!((report.written, report.lost), (5 - lost, lost), "{answers:?}");
    assert!(report.warning().is_some_and(|text| text.contains("missing")), "{answers:?}");
    assert_eq!(report.note, Some(format!("{} of 5 samples stored, {lost} lost", 5 - lost)));
}

#[test]
fn what_is_dropped_is_counted() {
    let v1 = |body: &str| [DONE.to_owned(), answer("400 Bad Request", body)];
    check_refusal(&[], &v1(r#"{"error":"partial write: points beyond retention policy dropped=2"}"#), 2);
    check_refusal(&[], &v1(r#"{"error":"partial write: unable to parse 'x' dropped=0"}"#), 5);
    check_refusal(&[], &v1("dropped=99999999999999999999999"), 5);
    check_refusal(&[], &v1("no"), 5);
    let v3 = [("PLIMSOLL_INFLUXDB_API", "v3")];
    let partial = r#"{"error":"partial write of line protocol occurred","data":[{"line_number":2}]}"#;
    check_refusal(&v3, &[answer("400 Bad Request", partial)], 1);
}

#[track_caller]
fn check_head(env: &[(&str, &str)], path: &str, authorization: &str) {
    let fixture = HttpFixture::start(vec![DONE.to_owned()]);
    let report = export(&format!("{}/prefix", fixture.url), env, 1);
    assert_eq!((report.written, report.lost), (1, 0));
    let head = fixture.requests().remove(0).head.to_lowercase();
    assert!(head.starts_with(&format!("post {path} ")), "{head}");
    for line in [authorization, "content-encoding: gzip", "content-type: text/plain; charset=utf-8"] {
        assert!(head.contains(line), "{line} in {head}");
    }
}

#[test]
fn later_versions_are_spoken_to_their_way() {
    let v2 = [("K6_INFLUXDB_ORGANIZATION", "o"), ("K6_INFLUXDB_BUCKET", "b"), ("K6_INFLUXDB_TOKEN", "t")];
    check_head(&v2, "/prefix/api/v2/write?org=o&bucket=b&precision=ns", "authorization: token t");
    let v3 = [("PLIMSOLL_INFLUXDB_API", "v3"), ("K6_INFLUXDB_TOKEN", "t")];
    check_head(&v3, "/api/v3/write_lp?db=prefix&precision=nanosecond", "authorization: bearer t");
}

/// InfluxDB 1 in a folder of its own; ends with the test.
struct Influx {
    process: Child,
    url: String,
    folder: std::path::PathBuf,
}

impl Influx {
    /// `None` where it is not installed.
    fn start() -> Option<Influx> {
        let port = || {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            listener.local_addr().expect("it is bound").port()
        };
        let folder = std::env::temp_dir().join(format!("plimsoll-influxdb-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (http, rpc, path) = (port(), port(), folder.display());
        let config = format!(
            "reporting-disabled = true\nbind-address = \"127.0.0.1:{rpc}\"\n[meta]\ndir = \"{path}/meta\"\n\
             [data]\ndir = \"{path}/data\"\nwal-dir = \"{path}/wal\"\n[monitor]\nstore-enabled = false\n\
             [http]\nbind-address = \"127.0.0.1:{http}\"\nlog-enabled = false\n"
        );
        let file = folder.join("influxdb.conf");
        std::fs::write(&file, config).expect("a file");
        let mut command = Command::new("influxd");
        command.arg("-config").arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.spawn() {
            Ok(process) => {
                let influx = Influx { process, url: format!("http://127.0.0.1:{http}"), folder };
                let started = SystemClock::now();
                while influx.query("SHOW DATABASES").is_none() {
                    assert!(SystemClock::now().since(started) < Duration::from_secs(60), "it never starts");
                    std::thread::sleep(Duration::from_millis(50));
                }
                Some(influx)
            }
            Err(error) => {
                let _ = std::fs::remove_dir_all(&folder);
                assert!(std::env::var_os("PLIMSOLL_TESTS").is_none(), "influxd does not start: {error}");
                eprintln!("skipped: influxd is not installed, so the real InfluxDB is not written to");
                None
            }
        }
    }

    fn query(&self, query: &str) -> Option<String> {
        let client = HttpClient::new(&self.url, &crate::net::HttpSettings::default()).expect("a URL");
        let body = format!("db=k6&epoch=ns&q={}", query.replace(' ', "+"));
        let headers = [("Content-Type", "application/x-www-form-urlencoded")];
        let answer =
            client.post(&format!("{}/query", self.url), &headers, body.as_bytes(), Duration::from_secs(5));
        answer.ok().map(|answer| answer.body)
    }
}

impl Drop for Influx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn the_real_influxdb_stores_as_many_as_were_sent() {
    let Some(influx) = Influx::start() else { return };
    let report = export(&format!("{}/k6", influx.url), &[], 20_000);
    assert_eq!((report.written, report.lost, report.warning()), (20_000, 0, None));
    let stored = influx.query("SELECT count(value) FROM http_req_duration").expect("an answer");
    assert!(stored.contains(",20000]]"), "{stored}");

    let report = export_requests(&format!("{}/requests", influx.url), 20_000);
    assert_eq!((report.written, report.lost, report.warning()), (160_000, 0, None));
    for metric in OF_A_REQUEST {
        let query = format!("SELECT count(value) FROM requests.autogen.{metric}");
        let stored = influx.query(&query).expect("an answer");
        assert!(stored.contains(",20000]]"), "{metric}: {stored}");
    }

    // Tags that want to be more than tags, each read back as one series.
    let context = context(&[("K6_INFLUXDB_ADDR", &influx.url)]);
    let mut output = OutputSpec::parse("influxdb").expect("known").open(&context).expect("settings");
    let hostile =
        ["a,b=c d", "x\nhttp_reqs value=9", r"end\", r"\,\= \ ", "\"", "日本 é", "time", "#c", "\u{0}\t"];
    let samples = hostile.iter().map(|text| {
        let mut sample = sample(&context, "http_reqs", 1.0, Mark::Measured);
        let tags = [(Arc::from(*text), Arc::from("v")), (Arc::from("t"), Arc::from(*text))];
        sample.tags = context.tags.intern(model::TagSet::new(tags));
        (sample, None)
    });
    output.on_event(&RunEvent::Samples(Arc::new(samples.collect())));
    let report = output.finish();
    assert_eq!((report.written, report.warning()), (hostile.len() as u64, None));
    let stored = influx.query("SELECT sum(value) FROM http_reqs").expect("an answer");
    assert!(stored.contains(&format!(",{}]]", hostile.len())), "{stored}");
    let values = influx.query("SHOW TAG VALUES FROM http_reqs WITH KEY = t").expect("an answer");
    for text in [r#""a,b=c d""#, r#""x http_reqs value=9""#, r#""end/""#, r#""日本 é""#] {
        assert!(values.contains(text), "{text} in {values}");
    }
}
