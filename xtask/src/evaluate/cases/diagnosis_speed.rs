//! Duration of a diagnosis, from the start of the program (`PLIMSOLL_BIN`, a release build) to its end, of runs with 500 series and
//! 50,000 spans of servers.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use model::metric::builtin::HTTP_REQ_DURATION;
use model::{
    Evidence, Instant, Kept, MetricRegistry, RunEvent, SeriesKey, Signal, SignalId, Span, SpanKind,
    SpanStatus, SystemClock, TagInterner, TagSet, Trace,
};
use runfile::{Ending, Header, Writer};
use serde_json::{Value, json};
use stats::Random;

use super::real::binary;
use super::speed::{SECOND_NS, median, window};
use crate::evaluate::page::{Bar, Table};

pub(super) const PARTS: &[&str] = &["ten-minutes", "hour"];

/// Series of the servers, and one of the test for each endpoint.
const SIGNALS: usize = 500;
const ENDPOINTS: usize = 20;

/// Spans, and how many of them are of one trace.
const SPANS: usize = 50_000;
const SPANS_PER_TRACE: usize = 10;

/// Time between two points of a series.
const STEP_S: usize = 5;

const ROUNDS: usize = 15;

/// How long each part is, and how long it may take.
fn length_of(part: &str) -> (usize, usize, f64) {
    match part {
        "ten-minutes" => (600, SPANS / 6, 0.2),
        _ => (3600, SPANS, 2.0),
    }
}

pub(super) fn measure(part: &str) -> anyhow::Result<Value> {
    let plimsoll = binary("PLIMSOLL_BIN")?;
    let folder = std::env::temp_dir().join(format!("plimsoll-diagnosis-speed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let file = folder.join("run.plimsoll");
    let (seconds, spans, _) = length_of(part);
    write_run(&file, seconds, spans)?;
    let round = || -> anyhow::Result<f64> {
        let start = SystemClock::now();
        let mut command = Command::new(&plimsoll);
        command.args(["diagnose", "--json"]).arg(&file).stdout(Stdio::null());
        ensure!(command.status().context("run the program")?.success(), "diagnose {}", file.display());
        Ok(SystemClock::now().ms_since(start) / 1000.0)
    };
    let rounds_s: Vec<f64> = (0..ROUNDS).map(|_| round()).collect::<anyhow::Result<_>>()?;
    std::fs::remove_dir_all(&folder).with_context(|| format!("remove {}", folder.display()))?;
    Ok(json!({ "seconds": seconds, "spans": spans, "rounds_s": rounds_s, "median_s": median(&rounds_s) }))
}

fn write_run(path: &Path, seconds: usize, spans: usize) -> anyhow::Result<()> {
    let (registry, tags) = (Arc::new(MetricRegistry::default()), Arc::new(TagInterner::default()));
    let key = |at: usize| {
        let set = TagSet::new([("name".into(), format!("/{at}").into())]);
        SeriesKey { metric: HTTP_REQ_DURATION, tags: tags.intern(set) }
    };
    let mut keys: Vec<SeriesKey> = (0..ENDPOINTS).map(key).collect();
    keys.sort();
    let header = Header { run_id: "ab12cd34".into(), script: "speed.js".into(), ..Header::default() };
    let mut writer =
        Writer::create(path, &header, registry, Arc::clone(&tags)).context("create a run's file")?;
    let mut random = Random::new(1);
    for index in 0..seconds as u32 {
        writer.on_event(&RunEvent::Window(Arc::new(window(index, 0.0, &keys, &mut random))));
    }
    for at in 0..SIGNALS {
        let signals = vec![signal(at, seconds)];
        writer.evidence(Evidence { signals, ..Evidence::default() });
    }
    let traces = spans / SPANS_PER_TRACE;
    for first in (0..traces).step_by(500) {
        let some = (first..traces.min(first + 500)).map(|number| trace(number, seconds, traces));
        writer.traces(some.collect(), Vec::new());
    }
    let report = writer.finish(Ending { elapsed_ns: seconds as u64 * SECOND_NS, ..Ending::default() });
    ensure!(report.error.is_none() && report.windows_lost == 0, "write a run: {report:?}");
    Ok(())
}

/// The use of a container, or its limit.
fn signal(at: usize, seconds: usize) -> Signal {
    let (id, value) =
        if at.is_multiple_of(2) { (SignalId::ContainerCpu, 0.4) } else { (SignalId::ContainerCpuLimit, 1.0) };
    let labels = [("pod", format!("p{}", at / 2)), ("container", format!("c{}", at / 20))];
    let points = (0..seconds / STEP_S).map(|step| {
        let at = Instant::from_ns((step * STEP_S + 1) as u64 * SECOND_NS);
        (at, value + (step % 7) as f64 * 0.01)
    });
    Signal {
        source: "prometheus".into(),
        name: id.into(),
        labels: labels.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        unit: "{cpu}".into(),
        query: format!("rate({}[30s])", id.as_str()),
        step: Duration::from_secs(STEP_S as u64),
        points: points.collect(),
    }
}

fn trace(number: usize, seconds: usize, traces: usize) -> Trace {
    let start_ns =
        (1 + number * seconds / traces.max(1)) as i64 * SECOND_NS as i64 + (number % 1000) as i64 * 1_000_000;
    let span = |id: u64| {
        let is_root = id == 1;
        let text = format!("select * from t{} where id = $1", id % 3);
        let attributes = [("db.system.name", "postgresql".to_owned()), ("db.query.text", text)];
        Span {
            id,
            parent: (!is_root).then_some(1),
            kind: if is_root { SpanKind::Server } else { SpanKind::Client },
            service: "shop".into(),
            operation: if is_root { "GET /".into() } else { format!("select {}", id % 3).into() },
            start_ns: start_ns + if is_root { 0 } else { id as i64 * 8_000_000 },
            duration: Duration::from_millis(if is_root { 100 } else { 7 }),
            status: SpanStatus::Unset,
            attributes: match is_root {
                true => Vec::new(),
                false => attributes.map(|(name, value)| (name.into(), value)).to_vec(),
            },
            links: Vec::new(),
        }
    };
    let spans = (1..=SPANS_PER_TRACE as u64).map(span).collect();
    Trace { id: number as u128 + 1, kept: Kept::Sample { share: 0.01 }, spans }
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let titles = ["run", "seconds", "series of servers", "spans", "median", "longest"];
    let mut table = Table { rows: vec![titles.map(str::to_owned).to_vec()], ..Table::default() };
    for (part, result) in results {
        let rounds_s = result["rounds_s"].as_array().map(Vec::as_slice).unwrap_or_default();
        let longest_s = rounds_s.iter().filter_map(Value::as_f64).fold(0.0, f64::max);
        let median_s = result["median_s"].as_f64().unwrap_or(f64::INFINITY);
        let (seconds, spans, most_s) = length_of(part);
        table.rows.push(vec![
            part.replace('-', " "),
            seconds.to_string(),
            SIGNALS.to_string(),
            spans.to_string(),
            format!("{median_s:.2} s"),
            format!("{longest_s:.2} s"),
        ]);
        table.bars.push(Bar {
            line: format!("{}: diagnosed in {median_s:.2} s (below {most_s} s)", part.replace('-', " ")),
            reached: median_s < most_s,
        });
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_run_has_what_it_should() {
        let folder = folder_of_test();
        let file = folder.join("run.plimsoll");
        write_run(&file, 30, 500).expect("written");
        let reader = runfile::Reader::open(&file).expect("a run");
        assert_eq!(reader.trace_count().expect("traces"), 50);
        assert_eq!(reader.signals().expect("signals").len(), SIGNALS);
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    fn folder_of_test() -> std::path::PathBuf {
        let folder =
            std::env::temp_dir().join(format!("plimsoll-diagnosis-speed-test-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        folder
    }
}
