//! `plimsoll mcp`: an assistant over standard input and output, and the limits of tests that others write.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use testkit::{Listen, Server};

use crate::harness::plimsoll;

const SCRIPT: &str = "import http from 'k6/http'; import { check } from 'k6';
    export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 2, iterations: 3, maxDuration: '10s',
      gracefulStop: '1s' } }, thresholds: { checks: ['rate==1'] } };
    export default () => {
      console.log('the script says ' + __ENV.TOKEN);
      check(http.get(__ENV.URL), { 'is 200': (r) => r.status === 200 });
    };";

/// A client: it sends one request and waits for its reply.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    requests: u64,
    /// Notifications that came before the last reply.
    notes: Vec<Value>,
}

impl Client {
    /// Starts the server for a folder, and shakes hands.
    fn start(folder: &Path, words: &[&str], env: &[(&str, &str)]) -> Client {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        command.args(["mcp", "--folder"]).arg(folder).args(words).envs(env.iter().copied());
        for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
            command.env(name, folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the server starts");
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut client = Client { child, input, output, requests: 0, notes: Vec::new() };
        let hello = client.ask("initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {} }));
        assert_eq!(hello["serverInfo"]["name"], "plimsoll", "{hello}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("the server reads");
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.notes.clear();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("the server writes") > 0, "the server ended");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == id {
                return message["result"].clone();
            }
            self.notes.push(message);
        }
    }

    /// Calls a tool and expects success: returns the sentences before the document, and the document.
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> (String, Value) {
        let result = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert_eq!(result["isError"], false, "{tool}: {result}");
        (text(&result), result["structuredContent"].clone())
    }

    /// Calls a tool that refuses: why.
    #[track_caller]
    fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert_eq!(result["isError"], true, "{tool}: {result}");
        text(&result)
    }

    /// Closes the client's side; the server ends.
    fn end(mut self) {
        drop(self.input);
        assert!(self.child.wait().expect("it is our child").success());
    }
}

fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

fn folder(files: &[(&str, &str)]) -> crate::harness::Plimsoll {
    files.iter().fold(plimsoll(""), |folder, (name, text)| folder.file(name, text))
}

#[test]
fn an_assistant_runs_a_test_and_reads_its_results_with_their_validity_first() {
    let server = Server::start(testkit::http::Counting::new(), Listen::default()).expect("a server");
    let folder = folder(&[("test.js", SCRIPT)]);
    let url = format!("URL={}", server.url("/"));
    let words = ["-e", &url, "-e", "TOKEN=hush-hush-hush"];
    let mut client = Client::start(folder.folder(), &words, &[("OTHER_SECRET", "never-shown")]);

    let tools = client.ask("tools/list", json!({}));
    assert_eq!(tools["tools"].as_array().map(Vec::len), Some(7), "{tools}");
    let (head, checked) = client.call("validate_script", json!({ "script": "test.js" }));
    assert!(head.contains("keeps within the limits"), "{head}");
    assert_eq!((&checked["isRunnable"], &checked["options"]["maxVUs"]), (&json!(true), &json!(2)));
    assert_eq!(server.settled().total, 0, "a check sends nothing");

    let (head, first) = client.call("run_script", json!({ "script": "test.js", "name": "first" }));
    assert_eq!(server.settled().total, 6);
    assert!(head.starts_with(first["validity"]["line"].as_str().expect("a line")), "{head}");
    assert_eq!(first["exit"], json!({ "code": 0, "meaning": "passed" }));
    assert_eq!(first["checks"][0]["passes"], 6, "{first}");
    assert_eq!(first["thresholds"][0]["ok"], true);
    let id = first["run"]["id"].as_str().expect("an id").to_owned();
    let (_, second) = client.call("run_script", json!({ "script": "test.js", "vus": 1, "iterations": 4 }));
    assert_eq!(second["checks"][0]["passes"], 4, "{second}");

    let (_, listed) = client.call("list_runs", json!({}));
    let runs = listed["runs"].as_array().expect("runs");
    assert_eq!((runs.len(), runs[1]["id"].as_str()), (2, Some(id.as_str())), "{listed}");
    let (again, summary) = client.call("read_summary", json!({ "run": id }));
    assert_eq!((again.lines().next(), &summary["checks"]), (head.lines().next(), &first["checks"]));
    let (head, diagnosis) = client.call("diagnose_run", json!({}));
    assert!(head.starts_with("Validity: run ") && diagnosis["outcome"].is_string(), "{head} {diagnosis}");
    let (_, comparison) = client.call("compare_runs", json!({}));
    assert!(comparison["verdict"].is_string() && comparison["findings"].is_array(), "{comparison}");
    let report = client.ask("tools/call", json!({ "name": "read_report", "arguments": {} }));
    assert!(text(&report).starts_with("**validity"), "{report}");
    let (_, report) = client.call("read_report", json!({ "format": "json" }));
    assert!(report["metrics"].is_array());

    let everything = format!("{checked}{first}{second}{listed}{summary}{diagnosis}{comparison}{report}");
    for hidden in ["hush-hush-hush", "never-shown", "the script says"] {
        assert!(!everything.contains(hidden), "{hidden} is shown");
    }
    client.end();
}

#[test]
fn what_scripts_log_is_shown_where_the_user_allows_it() {
    let script =
        "export default () => { console.log('said', __ENV.OTHER_SECRET); throw new Error('thrown') };";
    let folder = folder(&[("test.js", script)]);
    let mut client = Client::start(folder.folder(), &["--console"], &[("OTHER_SECRET", "never-shown")]);
    let (_, ran) = client.call("run_script", json!({ "script": "test.js" }));
    assert_eq!(ran["exit"]["code"], 107);
    let log = ran["log"].to_string();
    assert!(log.contains("said undefined") && log.contains("thrown"), "{log}");
    client.end();
}

#[test]
fn tests_beyond_the_users_limits_are_refused_by_the_limits_name() {
    let server = Server::start(testkit::http::Counting::new(), Listen::default()).expect("a server");
    let asks = "import http from 'k6/http'; export default () => { http.get(__ENV.URL) };";
    let endless = "import exec from 'k6/execution'; export const options = { setupTimeout: '2m' };
                   export function setup() {} export default () => {};";
    let remote = "import x from 'https://127.0.0.1:1/x.js'; export default () => {};";
    let rate = "export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 51, duration: '1s',
                preAllocatedVUs: 1, gracefulStop: '0s' } } }; export default () => {};";
    let files = [("asks.js", asks), ("endless.js", endless), ("remote.js", remote), ("rate.js", rate)];
    let folder = folder(&files);
    let words = ["--limit-vus", "3", "--limit-duration", "5s", "--limit-rate", "50", "-e"];
    let url = format!("URL={}", server.url("/"));
    let mut client = Client::start(folder.folder(), &[&words[..], &[&url]].concat(), &[]);
    let mut check = |arguments: Value, expect: &str| {
        let why = client.refused("run_script", arguments);
        assert!(why.contains(expect), "{why}");
    };
    check(json!({ "script": "asks.js", "vus": 4, "duration": "1s" }), "--limit-vus 3: it needs up to 4 VUs");
    check(
        json!({ "script": "asks.js", "vus": 1, "duration": "6s" }),
        "--limit-duration 5s: it takes up to 6s",
    );
    check(json!({ "script": "endless.js" }), "--limit-duration");
    check(json!({ "script": "rate.js" }), "--limit-rate 50/s: it starts up to 51");
    check(json!({ "script": "remote.js" }), "--allow-host");
    check(json!({ "script": "../asks.js" }), "no script");
    check(json!({ "script": "/etc/hostname" }), "--folder");
    check(json!({ "script": "asks.js", "env": { "K6_VUS": "9" } }), "no name of a variable");
    check(json!({ "script": "asks.js", "out": "json=x" }), "no argument \"out\"");
    let (head, checked) = client.call("validate_script", json!({ "script": "rate.js" }));
    assert!(head.contains("--limit-rate 50/s") && checked["isRunnable"] == false, "{head} {checked}");
    assert!(client.refused("read_summary", json!({ "run": "--output=x" })).contains("names no run"));
    assert_eq!(server.settled().total, 0, "nothing was sent");
    client.end();
}

#[test]
fn other_hosts_are_not_connected_to() {
    let server = Server::start(testkit::http::Counting::new(), Listen::default()).expect("a server");
    let port = server.address().port();
    let script = format!(
        "import http from 'k6/http'; export const options = {{ hosts: {{ 'inside.test': '192.0.2.1', 'here.test': '127.0.0.1' }} }};
         export default () => {{
           for (const host of ['192.0.2.1', 'outside.test', 'inside.test', 'here.test', '127.0.0.1', 'localhost']) {{
             const r = http.get(`http://${{host}}:{port}/`, {{ timeout: '1s' }});
             console.log(host, r.status, r.error_code);
           }}
         }};"
    );
    let ran = plimsoll(&script).flags("--allow-host inside.test,127.0.0.0/8,localhost").run().exits(0);
    for (host, expect) in [
        ("192.0.2.1", "0 1111"),
        ("outside.test", "0 1111"),
        // The script leads the allowed name elsewhere.
        ("inside.test", "0 1111"),
        ("here.test", "200 0"),
        ("127.0.0.1", "200 0"),
    ] {
        assert!(ran.err.contains(&format!("{host} {expect}")), "{host}: {}", ran.err);
    }
    assert!(ran.err.contains("localhost 200 0"), "{}", ran.err);
}

#[test]
fn a_client_that_leaves_ends_its_run() {
    let folder = folder(&[("long.js", "import { sleep } from 'k6'; export default () => sleep(0.01);")]);
    let mut client = Client::start(folder.folder(), &[], &[]);
    client.send(&json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": { "name": "run_script",
        "arguments": { "script": "long.js", "vus": 1, "duration": "50s" }, "_meta": { "progressToken": "p" } } }));
    // The run is under way.
    let mut line = String::new();
    client.output.read_line(&mut line).expect("the server writes");
    assert!(line.contains("notifications/progress"), "{line}");
    client.end();
    let stored = std::fs::read_dir(folder.folder().join("plimsoll/runs")).expect("runs are stored");
    assert_eq!(stored.count(), 1, "the run is stored");
}

#[test]
fn a_cancelled_run_has_no_reply_and_makes_way_for_the_next() {
    let folder = folder(&[("a.js", "import { sleep } from 'k6'; export default () => sleep(0.01);")]);
    let mut client = Client::start(folder.folder(), &[], &[]);
    client.send(&json!({ "jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": { "name": "run_script",
        "arguments": { "script": "a.js", "vus": 1, "duration": "50s" }, "_meta": { "progressToken": "p" } } }));
    let mut line = String::new();
    client.output.read_line(&mut line).expect("the server writes");
    let busy = client.refused("run_script", json!({ "script": "a.js" }));
    assert!(busy.contains("a run is in progress"), "{busy}");
    client.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "long" } }),
    );
    let mut ran =
        client.ask("tools/call", json!({ "name": "run_script", "arguments": { "script": "a.js" } }));
    for _ in 0..400 {
        if ran["isError"] == false {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        ran = client.ask("tools/call", json!({ "name": "run_script", "arguments": { "script": "a.js" } }));
    }
    assert_eq!(ran["structuredContent"]["exit"]["code"], 0, "{ran}");
    assert!(client.notes.iter().all(|note| note["id"] != "long"), "{:?}", client.notes);
    client.end();
}
