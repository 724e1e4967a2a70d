//! Lines as text, against a socket that listens, and against the original StatsD where it is installed.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use model::{Mark, RunEvent, Sample, SystemClock, TagSet};

use super::*;
use crate::csv::tests::{context, sample};
use crate::{OutputReport, OutputSpec};

fn style(has_tags: bool) -> Style {
    Style { namespace: "k6.".into(), has_tags, blocklist: vec!["url".into()] }
}

#[track_caller]
fn check(has_tags: bool, samples: &[(&str, f64, Mark)], expect: &[&str]) {
    let context = context(&[]);
    let mut lines = Lines::new(context.clone(), style(has_tags));
    for (metric, value, mark) in samples {
        lines.take(&sample(&context, metric, *value, *mark));
    }
    let drained = lines.drain();
    let counted: u64 = drained.iter().map(|line| line.count).sum();
    let with_value = samples.iter().filter(|(_, value, mark)| value.is_finite() && *mark != Mark::Failed);
    assert_eq!(counted, with_value.count() as u64, "samples that the lines stand for");
    let texts: Vec<_> = drained.into_iter().map(|line| String::from_utf8(line.body).expect("text")).collect();
    assert_eq!(texts, expect);
    assert_eq!(lines.drain(), []);
}

#[test]
fn each_kind_has_its_line() {
    const OK: Mark = Mark::Measured;
    check(false, &[("http_reqs", 1.0, OK), ("http_reqs", 1.5, OK)], &["k6.http_reqs:2.5|c"]);
    check(false, &[("vus", 9.0, OK), ("vus", 7.0, OK)], &["k6.vus:7|g"]);
    check(false, &[("vus", -7.0, OK)], &["k6.vus:0|g\nk6.vus:-7|g"]);
    check(false, &[("checks", 1.0, OK), ("checks", 0.0, OK)], &["k6.checks:1|c", "k6.checks.total:2|c"]);
    let durations = [
        ("http_req_duration", 0.25, OK),
        ("http_req_duration", 60_000.0, Mark::TimedOut),
        ("http_req_duration", 0.0, Mark::Failed),
        ("http_req_duration", f64::NAN, OK),
    ];
    check(false, &durations, &["k6.http_req_duration:0.25|ms", "k6.http_req_duration:60000|ms"]);
    let tags = "expected_response:true,my_tag:v&1_2,status:200";
    check(true, &[("http_reqs", 1.0, OK)], &[&format!("k6.http_reqs:1|c|#{tags}")]);
}

#[test]
fn hostile_tags_stay_in_their_place() {
    let context = context(&[]);
    let mut lines = Lines::new(context.clone(), style(true));
    let mut sample = sample(&context, "http_reqs", 1.0, Mark::Measured);
    let long = "é".repeat(300);
    let tags = [("a:b|c", "x\nk6.vus:9|g"), ("name", "http://h/|#,"), ("url", "secret"), ("z", &long)];
    let tags = tags.map(|(name, value)| (Arc::from(name), Arc::from(value)));
    sample.tags = context.tags.intern(TagSet::new(tags));
    lines.take(&sample);
    let line = String::from_utf8(lines.drain().remove(0).body).expect("text");
    let expect = format!("k6.http_reqs:1|c|#a_b_c:x_k6.vus:9_g,name:http://h/___,z:{}", "é".repeat(100));
    assert_eq!(line, expect);
}

#[test]
fn many_timings_are_thinned_out_with_their_rate() {
    let context = context(&[]);
    let mut lines = Lines::new(context.clone(), style(false));
    for value in 0..20_000 {
        assert!(lines.take(&sample(&context, "http_req_duration", f64::from(value), Mark::Measured)));
    }
    assert_eq!(lines.thinned(), 19_000);
    let drained = lines.drain();
    assert_eq!((drained.len(), drained.iter().map(|line| line.count).sum::<u64>()), (1000, 20_000));
    let timings = drained.iter().map(|line| {
        let text = std::str::from_utf8(&line.body).expect("text");
        let text =
            text.strip_prefix("k6.http_req_duration:").and_then(|text| text.strip_suffix("|ms|@0.050000"));
        text.expect("a timing with its rate").parse::<f64>().expect("a number")
    });
    // Thousand of a uniform choice: the mean's standard error is 183.
    let mean = timings.sum::<f64>() / 1000.0;
    assert!((9_000.0..11_000.0).contains(&mean), "{mean}");
}

#[test]
fn datagrams_have_at_most_so_many_lines_and_bytes() {
    let line = |bytes: usize| Payload { body: vec![b'x'; bytes], count: 1 };
    let sizes = |lines: Vec<Payload>, lines_max| -> Vec<(usize, u64)> {
        datagrams(lines, lines_max).iter().map(|payload| (payload.body.len(), payload.count)).collect()
    };
    assert_eq!(sizes(vec![line(10); 5], 2), [(21, 2), (21, 2), (10, 1)]);
    assert_eq!(
        sizes(vec![line(700), line(731), line(1), line(2000), line(1)], 20),
        [(1432, 2), (1, 1), (2000, 1), (1, 1)]
    );
    assert_eq!(sizes(vec![], 20), []);
}

/// Exports samples to `address`.
fn export(address: &str, env: &[(&str, &str)], samples: impl Fn(&Context) -> Vec<Sample>) -> OutputReport {
    let context = context(env);
    let spec = OutputSpec::parse(&format!("statsd={address}")).expect("a known output");
    let mut output = spec.open(&context).expect("an address");
    let samples = samples(&context).into_iter().map(|sample| (sample, None)).collect();
    output.on_event(&RunEvent::Samples(Arc::new(samples)));
    output.finish()
}

#[test]
fn what_is_sent_adds_up_at_the_server() {
    let server = UdpSocket::bind("127.0.0.1:0").expect("a port");
    server.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
    let address = server.local_addr().expect("it is bound").to_string();
    let report = export(&address, &[("K6_STATSD_NAMESPACE", "n.")], |context| {
        let reqs = vec![sample(context, "http_reqs", 1.0, Mark::Measured); 500];
        let durations = vec![sample(context, "http_req_duration", 2.5, Mark::Measured); 500];
        let failed = sample(context, "http_req_duration", 0.0, Mark::Failed);
        [reqs, durations, vec![failed]].concat()
    });
    assert_eq!((report.written, report.lost), (1000, 1));
    let expect = format!("statsd ({address}): 1 of 1001 samples are missing from the export");
    assert_eq!(report.warning(), Some(expect));
    let expect = "1000 samples sent in 26 datagrams; UDP does not say how many arrived";
    assert_eq!(report.note.as_deref(), Some(expect));
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for _ in 0..26 {
        let mut bytes = [0; 2048];
        let length = server.recv(&mut bytes).expect("a datagram");
        assert!(length <= DATAGRAM_BYTES_MAX);
        let text = std::str::from_utf8(&bytes[..length]).expect("text");
        assert!(text.lines().count() <= BUFFER_SIZE_DEFAULT);
        for line in text.lines() {
            let (name, rest) = line.split_once(':').expect("a name");
            let (value, _) = rest.split_once('|').expect("a kind");
            *sums.entry(name.to_owned()).or_default() += value.parse::<f64>().expect("a number");
        }
    }
    let expect = [("n.http_req_duration".to_owned(), 1250.0), ("n.http_reqs".to_owned(), 500.0)];
    assert_eq!(sums, BTreeMap::from(expect));
}

#[test]
fn an_absent_server_is_reported() {
    let gone = UdpSocket::bind("127.0.0.1:0").expect("a port").local_addr().expect("it is bound");
    let report = export(&gone.to_string(), &[], |context| {
        vec![sample(context, "http_req_duration", 2.5, Mark::Measured); 900]
    });
    assert_eq!(report.written + report.lost, 900);
    assert!(report.lost > 0, "{report:?}");
    assert!(report.warning().expect("a warning").contains("refused"), "{report:?}");
}

#[test]
fn settings_are_checked_before_the_run() {
    let open = |argument: &str, env: &[(&str, &str)]| {
        let opened = OutputSpec::parse(&format!("statsd={argument}")).expect("known").open(&context(env));
        opened.map(|output| output.description().to_owned()).map_err(|error| error.to_string())
    };
    assert_eq!(open("127.0.0.1:9", &[]), Ok("statsd (127.0.0.1:9)".into()));
    assert_eq!(open("", &[("K6_STATSD_ADDR", ":9")]), Ok("statsd (:9)".into()));
    for (name, value) in [
        ("K6_STATSD_ADDR", "nowhere"),
        ("K6_STATSD_BUFFER_SIZE", "0"),
        ("K6_STATSD_ENABLE_TAGS", "yes"),
        ("K6_STATSD_PUSH_INTERVAL", "-1s"),
    ] {
        assert!(open("", &[(name, value)]).is_err(), "{name}");
    }
}

/// The original server (`npm install -g statsd`); ends with the test.
struct Server {
    process: Child,
    management: TcpStream,
    folder: PathBuf,
}

impl Server {
    /// The server and its address; `None` where it is not installed.
    fn start() -> Option<(Server, String)> {
        let port =
            UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let management = listener.local_addr().expect("it is bound");
        drop(listener);
        let folder = std::env::temp_dir().join(format!("plimsoll-statsd-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let config = format!(
            "{{ address: '127.0.0.1', port: {port}, mgmt_address: '127.0.0.1', mgmt_port: {}, \
             flushInterval: 600000, backends: ['./backends/console'] }}",
            management.port()
        );
        std::fs::write(folder.join("config.js"), config).expect("a file");
        let mut command = Command::new("statsd");
        command
            .arg(folder.join("config.js"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let Ok(process) = command.spawn() else {
            let _ = std::fs::remove_dir_all(&folder);
            eprintln!("skipped: statsd is not installed, so the original StatsD is not sent to");
            return None;
        };
        let started = SystemClock::now();
        let management = loop {
            assert!(SystemClock::now().since(started) < Duration::from_secs(30), "it never starts");
            match TcpStream::connect(management) {
                Ok(stream) => break stream,
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        };
        Some((Server { process, management, folder }, format!("127.0.0.1:{port}")))
    }

    /// The server's answer to a command of its management interface.
    fn ask(&mut self, command: &str) -> String {
        self.management.write_all(format!("{command}\n").as_bytes()).expect("it listens");
        let mut answer = String::new();
        let mut bytes = [0; 4096];
        while !answer.contains("END") {
            let length = self.management.read(&mut bytes).expect("an answer");
            assert!(length > 0, "it closed after {answer:?}");
            answer.push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
        answer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn the_original_statsd_understands_it() {
    let Some((mut server, address)) = Server::start() else { return };
    let report = export(&address, &[], |context| {
        let of = |metric, value| sample(context, metric, value, Mark::Measured);
        let counted = vec![of("http_reqs", 1.0); 300];
        let timed = vec![of("http_req_duration", 2.5); 2_000];
        [counted, timed, vec![of("vus", -3.0), of("checks", 1.0), of("checks", 0.0)]].concat()
    });
    assert_eq!((report.written, report.lost), (2_303, 0));
    std::thread::sleep(Duration::from_millis(500));
    let counters = server.ask("counters");
    for expect in
        ["'k6.http_reqs': 300", "'k6.checks': 1", "'k6.checks.total': 2", "'statsd.bad_lines_seen': 0"]
    {
        assert!(counters.contains(expect), "{expect} in {counters}");
    }
    assert!(server.ask("gauges").contains("'k6.vus': -3"));
    assert!(server.ask("timers").contains("'k6.http_req_duration'"));
}
