//! Compares files and terminal output with k6's: names, order, layout, and numbers that the script defines. Measured numbers are
//! masked on both sides.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};

/// Rows of the summary whose numbers the scripts define.
const EXACT_ROWS: &[&str] = &["numbers.", "times.", "basket.", "thinking.", "level.", "bought.", "checks_"];
/// Units, which are separate from their numbers and change with them.
const UNITS: &[&str] = &["B", "kB", "MB", "B/s", "kB/s", "MB/s"];
/// Metrics sampled by the clock: a short run may have none.
const SAMPLED: &[&str] = &["vus", "vus_max"];
/// The server's address in the golden data.
const GOLDEN_ADDRESS: &str = "http://shop.test";

/// The scripts with golden data.
pub(crate) const SCRIPTS: &[&str] = &["shop", "plain", "checks"];

/// Returns k6's output for a script, masked.
pub(crate) fn golden(folder: &Path, script: &str) -> Value {
    let of = |name: &str| {
        let path = folder.join("expected/outputs").join(format!("{script}.{name}"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    Written {
        compact: of("summary-compact.txt"),
        full: of("summary-full.txt"),
        seconds: of("summary-seconds.txt"),
        json: of("out.json"),
        csv: of("out.csv"),
        export: of("export.json"),
        machine: of("machine.json"),
        inspect: of("inspect.json"),
        requirements: of("requirements.json"),
    }
    .masked()
}

/// Returns the output of the tested binary for a script, masked. Errors continue "failed to".
pub(crate) fn observed(binary: &Path, folder: &Path, script: &str, base: &str) -> Result<Value, String> {
    let scratch =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("outputs-{}-{script}", std::process::id()));
    std::fs::create_dir_all(&scratch).map_err(|error| format!("make {}: {error}", scratch.display()))?;
    let run = |flags: &[String]| {
        let mut command = Command::new(binary);
        command.args(["run", "--quiet", "--no-usage-report", "--no-color", "--compat", "strict"]);
        command.arg("-e").arg(format!("BASE={base}")).args(flags).arg(format!("{script}.js"));
        command.current_dir(folder.join("outputs")).stdin(Stdio::null());
        command.env("XDG_DATA_HOME", &scratch).env_remove("GITHUB_ACTIONS");
        let output = command.output().map_err(|error| format!("start {}: {error}", binary.display()))?;
        Ok::<_, String>(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let inspect = |flags: &[&str]| {
        let mut command = Command::new(binary);
        command.arg("inspect").args(flags).args(["-e", &format!("BASE={base}"), &format!("{script}.js")]);
        command.current_dir(folder.join("outputs")).stdin(Stdio::null());
        let output = command.output().map_err(|error| format!("start {}: {error}", binary.display()))?;
        Ok::<_, String>(String::from_utf8_lossy(&output.stdout).replace(base, GOLDEN_ADDRESS))
    };
    let flag = |text: String| vec![text];
    let file = |name: &str| {
        let text = std::fs::read_to_string(scratch.join(name)).unwrap_or_default();
        text.replace(base, GOLDEN_ADDRESS)
    };
    let place = |name: &str| scratch.join(name).display().to_string();
    run(&[
        format!("--out=json={}", place("out.json")),
        format!("--out=csv={}", place("out.csv")),
        format!("--summary-export={}", place("export.json")),
    ])?;
    run(&[
        "--new-machine-readable-summary".to_owned(),
        format!("--summary-export={}", place("machine.json")),
    ])?;
    let written = Written {
        compact: run(&flag("--summary-mode=compact".to_owned()))?,
        full: run(&flag("--summary-mode=full".to_owned()))?,
        seconds: run(&flag("--summary-time-unit=s".to_owned()))?,
        json: file("out.json"),
        csv: file("out.csv"),
        export: file("export.json"),
        machine: file("machine.json"),
        inspect: inspect(&[])?,
        requirements: inspect(&["--execution-requirements"])?,
    };
    let masked = written.masked();
    std::fs::remove_dir_all(&scratch).map_err(|error| format!("remove {}: {error}", scratch.display()))?;
    Ok(masked)
}

struct Written {
    compact: String,
    full: String,
    seconds: String,
    json: String,
    csv: String,
    export: String,
    machine: String,
    inspect: String,
    requirements: String,
}

impl Written {
    fn masked(&self) -> Value {
        json!({
            "compact": summary(&self.compact),
            "full": summary(&self.full),
            "seconds": summary(&self.seconds),
            "json": json_lines(&self.json),
            "csv": csv(&self.csv),
            "export": shape(&self.export),
            "machine": shape(&self.machine),
            "inspect": lines(&self.inspect),
            "requirements": lines(&self.requirements),
        })
    }
}

/// Returns all lines: none has a measured number.
fn lines(text: &str) -> Vec<&str> {
    text.trim().lines().collect()
}

fn summary(text: &str) -> Vec<String> {
    text.trim()
        .lines()
        .map(|line| if is_exact(line) { line.to_owned() } else { row(line) })
        .map(joined)
        .collect()
}

fn is_exact(line: &str) -> bool {
    // The rate of `checks_total` is measured.
    EXACT_ROWS.iter().any(|start| line.trim_start().starts_with(start)) && !line.contains("/s")
}

/// Returns a row without its measured numbers.
fn row(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    let words = line.split_whitespace().filter(|word| !UNITS.contains(word)).map(word);
    format!("{}{}", " ".repeat(indent), words.collect::<Vec<_>>().join(" "))
}

fn word(word: &str) -> String {
    let is_number =
        |text: &str| text.trim_start_matches('-').starts_with(|letter: char| letter.is_ascii_digit());
    match word.split_once('=') {
        Some((name, value)) if is_number(value) && !name.contains(['<', '>', '!']) => format!("{name}=#"),
        _ if is_number(word) && word.ends_with("/s") => "#/s".to_owned(),
        _ if is_number(word) && !word.ends_with('%') => "#".to_owned(),
        _ => word.to_owned(),
    }
}

/// Merges runs of spaces, since alignment depends on the widths of measured numbers.
fn joined(line: String) -> String {
    let indent = line.len() - line.trim_start().len();
    format!("{}{}", " ".repeat(indent), line.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns each metric's declaration, and the fields of its points.
fn json_lines(text: &str) -> Map<String, Value> {
    let mut lines = Map::new();
    for line in text.lines() {
        let Ok(entry) = serde_json::from_str::<Value>(line) else {
            lines.insert(line.to_owned(), "is no JSON".into());
            continue;
        };
        let metric = entry["metric"].as_str().unwrap_or_default();
        if SAMPLED.contains(&metric) {
            continue;
        }
        if entry["type"] == "Metric" {
            lines.insert(format!("{metric} is declared"), declaration(&entry["data"]));
            continue;
        }
        let keys = |value: &Value| {
            value.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>()).unwrap_or_default()
        };
        lines.insert(
            format!("{metric} has points"),
            json!({"point": keys(&entry), "data": keys(&entry["data"])}),
        );
    }
    lines
}

/// Sorts a metric's thresholds and sub-metrics, which k6 writes in random order.
fn declaration(data: &Value) -> Value {
    let mut data = data.clone();
    for key in ["thresholds", "submetrics"] {
        if let Some(list) = data[key].as_array_mut() {
            list.sort_by_key(Value::to_string);
        }
    }
    data
}

/// Returns the header and the number of rows of each kind, without time and value.
fn csv(text: &str) -> Map<String, Value> {
    let mut rows: BTreeMap<String, u64> = BTreeMap::new();
    for (at, line) in text.lines().enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        let (Some(name), Some(tags)) = (fields.first(), fields.get(3..)) else { continue };
        if at == 0 {
            *rows.entry(format!("header {line}")).or_default() += 1;
        } else if !SAMPLED.contains(name) {
            // Further tags are joined by `&`, by k6 in random order.
            let sorted = |field: &&str| {
                let mut pairs: Vec<&str> = field.split('&').collect();
                pairs.sort_unstable();
                pairs.join("&")
            };
            let tags: Vec<String> = tags.iter().map(sorted).collect();
            *rows.entry(format!("{name},#,#,{}", tags.join(","))).or_default() += 1;
        }
    }
    rows.into_iter().map(|(row, count)| (row, count.into())).collect()
}

/// Returns every path of a JSON text with its value; of numbers and strings only the type.
fn shape(text: &str) -> Map<String, Value> {
    let mut paths = Map::new();
    match serde_json::from_str(text) {
        Ok(value) => walk("", &value, &mut paths),
        Err(error) => {
            paths.insert("is no JSON".to_owned(), error.to_string().into());
        }
    }
    // Sampled by the clock: a short run may have none.
    paths.retain(|path, _| !SAMPLED.iter().any(|name| path.contains(&format!(".{name}"))));
    paths
}

fn walk(path: &str, value: &Value, paths: &mut Map<String, Value>) {
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| walk(&format!("{path}.{key}"), value, paths))
        }
        Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                let place = value["name"].as_str().map_or_else(|| at.to_string(), str::to_owned);
                walk(&format!("{path}.{place}"), value, paths);
            }
        }
        Value::Number(_) => {
            paths.insert(path.to_owned(), "number".into());
        }
        Value::String(_) => {
            paths.insert(path.to_owned(), "text".into());
        }
        other => {
            paths.insert(path.to_owned(), other.clone());
        }
    }
}

#[test]
fn rows_are_masked() {
    #[track_caller]
    fn check(line: &str, expect: &str) {
        assert_eq!(joined(row(line)), expect);
    }
    check("    http_reqs......: 11     1018.51/s", "    http_reqs......: # #/s");
    check("    ✓ 'p(95)<5000' p(95)=1.73ms", "    ✓ 'p(95)<5000' p(95)=#");
    check("    http_req_failed...: 9.09%  1 out of 11", "    http_req_failed...: 9.09% # out of #");
    check("    data_sent...: 890 B  82 kB/s", "    data_sent...: # #");
    check("    times...: avg=9m0s  max=1h2m3s", "    times...: avg=# max=#");
}

#[test]
fn shapes_name_what_is_there() {
    let paths = shape(r#"{"a": {"b": 1, "c": [{"name": "x", "ok": true}]}, "t": "x"}"#);
    assert_eq!(
        Value::from(paths),
        json!({".a.b": "number", ".a.c.x.name": "text", ".a.c.x.ok": true, ".t": "text"})
    );
}
