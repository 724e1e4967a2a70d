//! Runs a case and returns the compared values, in the same format as `conformance/record.py`: change the two together.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::case::Case;
use crate::service::{self, Service};

/// Timeout of a case, which then fails.
const CASE_TIMEOUT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(10);

/// Metrics whose values depend on the clock or on the tool's name in `User-Agent`.
const UNCOUNTED: &[&str] = &["vus", "vus_max", "data_sent", "data_received"];

/// Runs a case against the server at `base`. Errors continue "failed to".
pub(crate) fn observe(binary: &Path, case: &Case, base: &str) -> Result<Value, String> {
    let scratch = Scratch::new(&case.name)?;
    let out = scratch.0.join("out.json");
    let tls = case.tls.map(|listen| testkit::http::try_start(listen).expect("start the TLS server"));
    let service = case.service.map(service::start).transpose()?;
    let mut command = command(binary, case, base, tls.as_ref(), &scratch.0, &out);
    if let Some(service) = &service {
        command.arg("-e").arg(format!("SERVICE={}", service.url));
    }
    let mut child = command.spawn().map_err(|error| format!("start {}: {error}", binary.display()))?;
    let stdout = reader(child.stdout.take());
    let stderr = reader(child.stderr.take());
    if let Some(mut stdin) = child.stdin.take() {
        let script = if case.stdin { case.text.as_str() } else { "" };
        stdin.write_all(script.as_bytes()).map_err(|error| format!("write the script: {error}"))?;
    }
    for after_ms in &case.signals_ms {
        std::thread::sleep(Duration::from_millis(*after_ms));
        interrupt(&child)?;
    }
    let exit = wait(&mut child)?;
    let stdout = stdout.join().expect("reading does not panic");
    let stderr = stderr.join().expect("reading does not panic");
    let normal = Normal::new(base, tls.as_ref(), service.as_ref(), &case.folder);
    let log = Log::read(&stderr, &normal);
    for words in &case.says {
        if !log.errors.iter().any(|error| error.contains(words)) {
            return Err(format!("say {words:?}; the errors are {:?}", log.errors));
        }
    }
    let mut console = log.console;
    if case.unordered {
        console.sort();
    }
    let mut seen = json!({
        "exit": exit,
        "stdout": normal.text(&stdout).lines().collect::<Vec<_>>(),
        "console": console,
        "errors": log.errors.len(),
        "warned": log.warned,
        "samples": samples(&out, &normal),
    });
    let fields = seen.as_object_mut().expect("it is an object");
    fields.retain(|key, _| !case.ignored.contains(key));
    Ok(seen)
}

fn command(
    binary: &Path,
    case: &Case,
    base: &str,
    tls: Option<&testkit::Server>,
    home: &Path,
    out: &Path,
) -> Command {
    let mut command = Command::new(binary);
    command.current_dir(&case.folder).env_clear();
    command.args(["run", "--quiet", "--no-color", "--no-usage-report"]);
    command.arg("--out").arg(format!("json={}", out.display()));
    command.arg("-e").arg(format!("BASE={base}"));
    if !case.summary {
        command.arg("--summary-mode=disabled");
    }
    if let Some((server, files)) = tls.and_then(|server| Some((server, server.tls_files()?))) {
        command.arg("-e").arg(format!("TLS_BASE={}", address(server)));
        command.arg("-e").arg(format!("CLIENT_CERTIFICATE={}", files.client_certificate().display()));
        command.arg("-e").arg(format!("CLIENT_KEY={}", files.client_key().display()));
        command.env("SSL_CERT_FILE", files.ca());
    }
    command.args(&case.args);
    command.arg(match (&case.script, case.stdin) {
        (_, true) => "-".to_owned(),
        (Some(script), _) => script.clone(),
        _ => format!("{}.js", case.name),
    });
    command
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("CONFORMANCE", "1");
    // The test server as a proxy, which answers for any host.
    let proxy = base.replace("://", "://user:password@");
    let value = |text: &str| text.replace("$PROXY", &proxy).replace("$BASE", base);
    command.envs(case.env.iter().map(|(name, text)| (name, value(text))));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns a server's address without a trailing slash.
pub(crate) fn address(server: &testkit::Server) -> String {
    server.url("").trim_end_matches('/').to_owned()
}

/// Reads a pipe on a separate thread, so that a script with much output does not block.
fn reader(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // The output until the pipe broke is compared; the exit code shows the failure.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn interrupt(child: &Child) -> Result<(), String> {
    let id = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(id, rustix::process::Signal::INT)
        .map_err(|error| format!("interrupt the run: {error}"))
}

fn wait(child: &mut Child) -> Result<Option<i32>, String> {
    let polls = CASE_TIMEOUT.as_millis() / POLL.as_millis();
    for _ in 0..polls {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.code()),
            Ok(None) => std::thread::sleep(POLL),
            Err(error) => return Err(format!("wait for the run: {error}")),
        }
    }
    child.kill().map_err(|error| format!("kill a run that does not end: {error}"))?;
    let _ = child.wait();
    Err(format!("end within {} s", CASE_TIMEOUT.as_secs()))
}

/// A folder for one case, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Result<Scratch, String> {
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("conformance-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| format!("make {}: {error}", folder.display()))?;
        Ok(Scratch(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If it cannot be removed, `cargo clean` does, since it is in the target folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Replaces the servers' ports and the machine's paths in texts.
struct Normal {
    replacements: Vec<(String, &'static str)>,
}

impl Normal {
    fn new(base: &str, tls: Option<&testkit::Server>, service: Option<&Service>, folder: &Path) -> Normal {
        let mut replacements = Vec::new();
        if let Some(service) = service {
            // k6 shows the password, too.
            replacements.push((service.credentials(), ""));
            replacements.push((format!("127.0.0.1:{}", service.port), "SERVICE"));
        }
        for (base, name) in [(Some(base.to_owned()), "BASE"), (tls.map(address), "TLS_BASE")] {
            let Some(base) = base else { continue };
            let host = base.split("//").last().unwrap_or_default().to_owned();
            replacements.extend([(base, name), (host, "HOST")]);
        }
        let folder = folder.display().to_string();
        replacements.extend([(format!("file://{folder}"), "CASES"), (folder, "CASES")]);
        Normal { replacements }
    }

    fn text(&self, text: &str) -> String {
        let replace = |text: String, (from, to): &(String, &str)| text.replace(from, to);
        without_client_ports(&self.replacements.iter().fold(text.to_owned(), replace))
    }
}

/// Replaces `127.0.0.1:54321->` by `CLIENT->`.
fn without_client_ports(text: &str) -> String {
    let mut parts = text.split("->");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = result.len() - result.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
        let stem = result.len() - digits;
        if digits == 5 && result[..stem].ends_with("127.0.0.1:") {
            result.truncate(stem - "127.0.0.1:".len());
            result.push_str("CLIENT");
        }
        result.push_str("->");
        result.push_str(part);
    }
    result
}

#[derive(Default)]
struct Log {
    console: Vec<String>,
    errors: Vec<String>,
    warned: bool,
}

impl Log {
    fn read(text: &str, normal: &Normal) -> Log {
        let mut log = Log::default();
        for line in text.lines() {
            let fields = logfmt(line);
            let Some(level) = fields.get("level") else { continue };
            // The logger omits an empty message.
            let message = fields.get("msg").map_or("", String::as_str);
            match (fields.get("source").map(String::as_str), level.as_str()) {
                (Some("console"), _) => log.console.push(normal.text(&format!("{level} {message}"))),
                (_, "error") => log.errors.push(message.to_owned()),
                (_, "warning") => log.warned = true,
                _ => {}
            }
        }
        log
    }
}

/// Parses a `key=value key="quoted value"` line; returns an empty map for other lines.
fn logfmt(line: &str) -> HashMap<String, String> {
    let mut fields = HashMap::new();
    let mut rest = line;
    while let Some((key, after)) = rest.split_once('=') {
        let key = key.rsplit(' ').next().unwrap_or(key).to_owned();
        let (value, tail) = if after.starts_with('"') { quoted(after) } else { plain(after) };
        fields.insert(key, value);
        rest = tail;
    }
    fields
}

fn plain(text: &str) -> (String, &str) {
    let end = text.find(' ').unwrap_or(text.len());
    (text[..end].to_owned(), &text[end..])
}

fn quoted(text: &str) -> (String, &str) {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        if letter == '"' && !escaped {
            let raw = &text[..=at];
            let value = serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned());
            return (value, &text[at + 1..]);
        }
        escaped = letter == '\\' && !escaped;
    }
    (text.to_owned(), "")
}

/// Maps `metric{tag:value,…}` to the comparable values of its samples.
fn samples(path: &Path, normal: &Normal) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let mut metrics: HashMap<String, (String, String)> = HashMap::new();
    let mut series: BTreeMap<String, (String, Vec<f64>)> = BTreeMap::new();
    for entry in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let name = word(&entry["metric"]);
        let data = &entry["data"];
        if entry["type"] == "Metric" {
            metrics.insert(name, (word(&data["type"]), word(&data["contains"])));
            continue;
        }
        if UNCOUNTED.contains(&name.as_str()) {
            continue;
        }
        // A failure without a value is no sample; k6 has no such lines.
        let Some(value) = data["value"].as_f64() else { continue };
        let key = normal.text(&format!("{name}{{{}}}", tags(&data["tags"])));
        series.entry(key).or_insert_with(|| (name, Vec::new())).1.push(value);
    }
    let worth_of = |name: &String, values: &[f64]| {
        metrics.get(name).map_or(Value::Null, |(kind, contains)| worth(name, kind, contains, values))
    };
    series
        .into_iter()
        .map(|(key, (name, values))| (key, worth_of(&name, &values)))
        .collect::<Map<_, _>>()
        .into()
}

fn tags(tags: &Value) -> String {
    let mut pairs: Vec<String> = tags
        .as_object()
        .map(|tags| tags.iter().map(|(key, value)| format!("{key}:{}", word(value))).collect())
        .unwrap_or_default();
    pairs.sort();
    pairs.join(",")
}

/// Returns the properties of a series' values that must be equal in every run.
fn worth(name: &str, kind: &str, contains: &str, values: &[f64]) -> Value {
    let count = values.len();
    let sum = number((values.iter().sum::<f64>() * 1e6).round() / 1e6);
    let builtin = ["http_req", "iteration", "group_duration"].iter().any(|start| name.starts_with(start));
    match kind {
        "rate" => {
            let passes = values.iter().filter(|value| **value != 0.0).count();
            json!({"passes": passes, "fails": count - passes})
        }
        "gauge" => {
            let mut distinct = values.to_vec();
            distinct.sort_by(f64::total_cmp);
            distinct.dedup();
            json!({"values": distinct.into_iter().map(number).collect::<Vec<_>>()})
        }
        "trend" if builtin || contains == "time" => json!({"count": count}),
        _ => json!({"count": count, "sum": sum}),
    }
}

/// Formats a number as short as JSON allows, so that 3.0 and 3 are equal.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 { json!(value as i64) } else { json!(value) }
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[test]
fn log_lines_are_taken_apart() {
    #[track_caller]
    fn check(line: &str, key: &str, expect: Option<&str>) {
        assert_eq!(logfmt(line).get(key).map(String::as_str), expect, "{line}");
    }
    let line = r#"time="2026-01-01T00:00:00Z" level=info msg="a \"quoted\" b=c" source=console"#;
    check(line, "level", Some("info"));
    check(line, "msg", Some(r#"a "quoted" b=c"#));
    check(line, "source", Some("console"));
    check(r#"level=error msg="ends in a backslash \\" x=1"#, "x", Some("1"));
    check("level=info source=console", "msg", None);
    check("just words", "level", None);
}

#[test]
fn client_ports_are_left_out() {
    assert_eq!(without_client_ports("read 127.0.0.1:40000->HOST: reset"), "read CLIENT->HOST: reset");
    assert_eq!(without_client_ports("a -> b 127.0.0.1:80->x"), "a -> b 127.0.0.1:80->x");
}
