//! Agents as pods: a server that replays the answers of a real API server, which `cargo xtask kubernetes --record` wrote.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::SystemClock;
use serde_json::Value;

use crate::harness::{Plimsoll, Running, eventually, free_port, plimsoll, verb};

/// A request of the program.
#[derive(Clone, Debug)]
struct Request {
    method: String,
    path: String,
    body: Value,
}

/// The stand-in of an API server.
struct Double {
    url: String,
    namespace: String,
    seen: Arc<Mutex<Vec<Request>>>,
    /// Whether someone has deleted the Job.
    is_deleted: Arc<AtomicBool>,
}

/// A recording, and how far each request of it was replayed.
struct Replay {
    exchanges: Vec<Value>,
    /// The name of the Job in the recording, and in this run.
    names: (String, String),
    positions: std::collections::HashMap<(String, String), usize>,
}

impl Double {
    fn of(recording: &str) -> Double {
        let recording: Value = serde_json::from_str(recording).expect("a recording");
        let exchanges = recording["exchanges"].as_array().expect("exchanges").clone();
        let created = exchanges.iter().find(|it| it["method"] == "POST" && it["answer"]["kind"] == "Job");
        let recorded = created.and_then(|it| it["answer"]["metadata"]["name"].as_str()).unwrap_or("no-job");
        let names = (recorded.to_owned(), recorded.to_owned());
        let replay = Arc::new(Mutex::new(Replay { exchanges, names, positions: Default::default() }));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::<Mutex<Vec<Request>>>::default();
        let is_deleted = Arc::<AtomicBool>::default();
        let (kept, gone) = (seen.clone(), is_deleted.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                let (replay, kept, gone) = (replay.clone(), kept.clone(), gone.clone());
                std::thread::spawn(move || serve(&stream, &replay, &kept, &gone));
            }
        });
        let namespace = recording["namespace"].as_str().expect("a namespace").to_owned();
        Double { url, namespace, seen, is_deleted }
    }

    /// Waits until the program has created an object.
    fn created(&self, kind: &str) -> Value {
        let until = SystemClock::now() + Duration::from_secs(60);
        loop {
            let found = self.seen().into_iter().find(|it| it.method == "POST" && it.body["kind"] == kind);
            if let Some(request) = found {
                return request.body;
            }
            assert!(SystemClock::now() < until, "no {kind} was created");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Starts the agents of a run, as the recorded cluster did.
    fn start_agents(&self, running: &Running, count: u32, port: u16) -> Vec<Running> {
        let (secret, job) = (self.created("Secret"), self.created("Job"));
        let token = secret["stringData"]["token"].as_str().expect("a token");
        std::fs::write(running.folder().join("token"), token).expect("written");
        let name = job["metadata"]["name"].as_str().expect("a name");
        let start = |index: u32| {
            let words = format!("agent --hub 127.0.0.1:{port} --token-file token --name {name}-{index}");
            running.and(&words).start()
        };
        (0..count).map(start).collect()
    }

    fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A kubeconfig file for a program that runs beside it.
    fn kubeconfig(&self) -> String {
        format!(
            "current-context: t\ncontexts: [{{ name: t, context: {{ cluster: t, user: t, namespace: {} }} }}]\n\
             clusters: [{{ name: t, cluster: {{ server: '{}' }} }}]\nusers: [{{ name: t, user: {{ token: users-token }} }}]\n",
            self.namespace, self.url
        )
    }

    /// `plimsoll run --kubernetes` against it.
    fn run(&self, script: &str, flags: &str) -> Plimsoll {
        plimsoll(script)
            .file("config.yaml", &self.kubeconfig())
            .flags("--kubernetes --kubeconfig config.yaml --log-output=file=log.txt")
            .flags(flags)
    }

    fn verb(&self, words: &str) -> Plimsoll {
        verb(words).file("config.yaml", &self.kubeconfig()).flags("--kubeconfig config.yaml")
    }
}

fn serve(stream: &TcpStream, replay: &Mutex<Replay>, kept: &Mutex<Vec<Request>>, is_deleted: &AtomicBool) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).expect("a header");
            let Some((name, value)) = header.trim().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a body");
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let request = Request { method, path, body };
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        let is_gone =
            is_deleted.load(Relaxed) && request.method == "GET" && request.path.contains("/jobs/plimsoll-");
        let (status, text) = match is_gone {
            true => (404, r#"{"kind":"Status","message":"not found"}"#.to_owned()),
            false => replay.lock().unwrap_or_else(PoisonError::into_inner).answer(&request),
        };
        let mut writer = stream;
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n", text.len());
        if writer.write_all(format!("{head}{text}").as_bytes()).is_err() {
            return;
        }
    }
}

impl Replay {
    /// The next recorded answer to a request, with the names of this run. The last one is repeated.
    fn answer(&mut self, request: &Request) -> (u64, String) {
        if request.body["kind"] == "Job" {
            self.names.1 = request.body["metadata"]["name"].as_str().expect("a name").to_owned();
        }
        let path = request.path.replace(&self.names.1, &self.names.0);
        let is_same = |it: &&Value| it["method"] == request.method.as_str() && it["path"] == path.as_str();
        let answers: Vec<&Value> = self.exchanges.iter().filter(is_same).collect();
        let position = self.positions.entry((request.method.clone(), path)).or_default();
        let Some(exchange) = answers.get(*position).or(answers.last()) else {
            return (404, "{\"kind\":\"Status\",\"message\":\"not in the recording\"}".to_owned());
        };
        *position += 1;
        let text = exchange["answer"].to_string().replace(&self.names.0, &self.names.1);
        (exchange["status"].as_u64().expect("a status"), text)
    }
}

const SCRIPT: &str = "import http from 'k6/http';
    export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 100, timeUnit: '1s', duration: '2s',
        preAllocatedVUs: 6 } } };
    export default function () { http.get(__ENV.URL); }";

/// Flags with a free address of the hub, and its port.
fn hub() -> (String, u16) {
    let port = free_port();
    (format!("--hub-address hub.test:{port} --image plimsoll:test"), port)
}

/// The Job and the Secret are removed, whatever came before.
fn leaves_nothing(double: &Double) {
    let deleted: Vec<String> =
        double.seen().into_iter().filter(|it| it.method == "DELETE").map(|it| it.path).collect();
    for resource in ["/secrets/plimsoll-", "/jobs/plimsoll-"] {
        assert!(deleted.iter().any(|path| path.contains(resource)), "{resource}: {deleted:?}");
    }
}

#[test]
fn obstacles_are_named_and_nothing_waits_for_ever() {
    let check = |recording: &str, flags: &str, seconds: u64, says: &[&str]| {
        let double = Double::of(recording);
        let flags = format!("{} {flags} --arm-timeout {seconds}s", hub().0);
        let ran = double.run(SCRIPT, &flags).run().exits(255);
        assert!(ran.elapsed < Duration::from_secs(seconds + 12), "{:?}", ran.elapsed);
        let log = ran.read("log.txt");
        for text in says {
            assert!(log.contains(text), "{text}: {log}");
        }
        leaves_nothing(&double);
    };
    let quota =
        ["0 of 3 agents were ready after 4 s (--arm-timeout): 3 of 3 agents wait: ", "exceeded quota: none"];
    check(include_str!("kubernetes/quota.json"), "--agents 3", 4, &quota);
    let image = ["3 of 3 agents wait: the image plimsoll:test cannot be pulled: ", "not found"];
    check(include_str!("kubernetes/image.json"), "--agents 3", 4, &image);
    let nodes = ["2 of 6 agents wait: no node fits: 0/1 nodes are available: 1 Insufficient cpu"];
    check(include_str!("kubernetes/nodes.json"), "--agents 6", 4, &nodes);
    let memory = ["out of memory (OOMKilled) with 1Gi: raise --agent-memory"];
    check(include_str!("kubernetes/oom.json"), "--agents 2", 15, &memory);
}

#[test]
fn a_namespace_without_rights_is_refused_with_the_next_step() {
    let double = Double::of(include_str!("kubernetes/rights.json"));
    let ran = double.run(SCRIPT, &format!("--agents 3 {}", hub().0)).run().exits(104);
    let log = ran.read("log.txt");
    assert!(log.contains("cannot create resource") && log.contains("plimsoll kubernetes rbac"), "{log}");
}

/// The agents, which the recorded cluster started, are started by the test.
#[test]
fn a_test_runs_on_the_agents_of_a_cluster() {
    let server = testkit::http::start();
    let double = Double::of(include_str!("kubernetes/whole.json"));
    let (flags, port) = hub();
    let running = double.run(SCRIPT, &format!("--agents 3 {flags}")).against(&server).start();
    let agents = double.start_agents(&running, 3, port);
    let (secret, job) = (double.created("Secret"), double.created("Job"));
    let token = secret["stringData"]["token"].as_str().expect("a token").to_owned();
    assert!(!job.to_string().contains(&token), "only the Secret has it");
    assert_eq!(secret["metadata"]["ownerReferences"][0]["name"], job["metadata"]["name"]);
    for agent in agents {
        agent.wait().exits(0);
    }
    let ran = running.wait().exits(0);
    assert_eq!((ran.count("iterations"), ran.count("http_reqs")), (201, server.settled().total));
    assert!(!ran.read("log.txt").contains(&token) && !ran.read("log.txt").contains("users-token"));
    leaves_nothing(&double);
}

/// Its agents end, whatever they have done by then.
#[test]
fn a_job_that_someone_else_deletes_is_no_result() {
    let server = testkit::http::start();
    let double = Double::of(include_str!("kubernetes/whole.json"));
    let (flags, port) = hub();
    let script = SCRIPT.replace("'2s'", "'30s'");
    let running = double.run(&script, &format!("--agents 3 {flags}")).against(&server).start();
    let agents = double.start_agents(&running, 3, port);
    eventually("load", || server.seen().total > 50);
    double.is_deleted.store(true, Relaxed);
    for agent in agents {
        agent.wait().exits(0);
    }
    let ran = running.wait().exits(255);
    let log = ran.read("log.txt");
    assert!(log.contains("was deleted by someone else") && log.contains("the results are partial"), "{log}");
    assert_eq!(ran.count("http_reqs"), server.settled().total);
    leaves_nothing(&double);
}

#[test]
fn a_cluster_is_examined() {
    let words = "doctor --kubernetes --agents 3 --image plimsoll:test";
    let ran = Double::of(include_str!("kubernetes/doctor.json")).verb(words).run().exits(0);
    for text in [
        "✓ server: Kubernetes v1.",
        "✓ jobs: create, get, delete",
        "✓ quota: no quota",
        "! nodes: not checkable",
    ] {
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
    let ran = Double::of(include_str!("kubernetes/doctor-admin.json")).verb(words).run().exits(0);
    assert!(ran.out.contains("✓ image: plimsoll:test is present on 1 of 1 nodes"), "{}", ran.out);
    let ran = Double::of(include_str!("kubernetes/doctor-stranger.json")).verb(words).run().exits(255);
    assert!(ran.out.contains("✗ jobs: no permission to create, get, delete them"), "{}", ran.out);
    let stranger = Double::of(include_str!("kubernetes/doctor-stranger.json"));
    let json = stranger.verb(&format!("{words} --json")).run().exits(255);
    let documents: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(documents[0]["checks"][1]["is_fatal"], true);
}

#[test]
fn manifests_are_printed_and_checked() {
    let words = "kubernetes manifest --agents 20 --image plimsoll:test --hub-address 10.0.0.5:7000";
    let double = Double::of(include_str!("kubernetes/manifest.json"));
    let ran = double.verb(&format!("{words} --dry-run=server")).run().exits(0);
    assert!(ran.out.contains("completions: 20") && ran.out.contains("kind: Job"), "{}", ran.out);
    assert!(ran.err.contains("the server accepts the Job plimsoll-agents (dry run)"), "{}", ran.err);
    assert!(double.seen().iter().all(|it| it.path.contains("dryRun=All")), "nothing is created");
    let ran = verb("kubernetes rbac --namespace load --user ann").run().exits(0);
    assert!(ran.out.contains("kind: Role") && ran.out.contains("name: ann"), "{}", ran.out);
}

#[test]
fn mistakes_are_refused_before_anything_is_created() {
    let check = |flags: &str, code: i32, says: &str| {
        plimsoll(SCRIPT).flags(flags).run().exits(code).says(says);
    };
    check("--kubernetes", 255, "--agents");
    check("--agents 2 --image i", 104, "without --kubernetes");
    check("--agents 2 --kubernetes --image i", 104, "no address of the hub for the pods: set --hub-address");
    check(
        "--agents 2 --kubernetes --image i --hub-address 127.0.0.1:7000",
        104,
        "a pod reaches itself there",
    );
    check("--agents 2 --kubernetes --hub-address h:7000", 104, "no image: set --image");
    let hub = hub().0;
    check(&format!("--agents 2 --kubernetes {hub} --agent-cpu many"), 104, "invalid --agent-cpu `many`");
    check(
        &format!("--agents 2 --kubernetes {hub} --toleration a:Never"),
        104,
        "invalid --toleration `a:Never`",
    );
    check(
        &format!("--agents 2 --kubernetes {} --kubeconfig absent", hub),
        104,
        "failed to read the kubeconfig absent",
    );
    check(&format!("--agents 9 --kubernetes {}", hub), 104, "fewer than its 9 agents");
}
