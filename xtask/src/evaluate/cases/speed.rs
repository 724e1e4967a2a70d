//! How long the comparison of two long runs with many series takes: of what was read, and with the reading.
//!
//! The second needs the program (`PLIMSOLL_BIN`), built for speed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use analysis::compare::{Options, Run, Series, compare};
use anyhow::{Context, ensure};
use model::metric::builtin::HTTP_REQ_DURATION;
use model::{
    Aggregate, Instant, Load, Mark, MetricKind, MetricRegistry, RunEvent, ScenarioId, SeriesKey, SystemClock,
    TagInterner, TagSet, Window, Work,
};
use runfile::{Ending, Header, Writer};
use serde_json::{Value, json};
use stats::Random;

use super::real::binary;
use crate::evaluate::page::{Bar, Table};
use crate::evaluate::simulate::{self, Truth};

pub(super) const PARTS: &[&str] = &["hour", "file"];

const SERIES: usize = 500;
const SECONDS: usize = 3600;
const ROUNDS: usize = 5;
const SECONDS_MAX: f64 = 1.0;

/// Requests of a series in a second.
const REQUESTS: usize = 10;

pub(super) fn measure(part: &str) -> anyhow::Result<Value> {
    match part {
        "hour" => Ok(in_memory()),
        _ => of_files(),
    }
}

fn in_memory() -> Value {
    let truth = Truth {
        seconds: SECONDS,
        rate: REQUESTS as f64,
        median_ms: 100.0,
        rho: 0.87,
        level_spread: 0.1,
        request_spread: 0.3,
    };
    let sides = [1, 2].map(|seed| many_series(simulate::run(&truth, seed)));
    let [a, b] = &sides;
    let mut rows = 0;
    let rounds_s = (0..ROUNDS).map(|_| {
        let start = SystemClock::now();
        rows = compare(std::slice::from_ref(a), std::slice::from_ref(b), &Options::default()).rows.len();
        SystemClock::now().ms_since(start) / 1000.0
    });
    let rounds_s: Vec<f64> = rounds_s.collect();
    json!({ "what": "compared", "series": SERIES, "rows": rows, "rounds_s": rounds_s, "median_s": median(&rounds_s) })
}

/// The run with its one series many times.
fn many_series(mut run: Run) -> Run {
    let sheet = run.series.remove(0).sheet;
    run.series = (0..SERIES).map(|at| Series { name: format!("GET /{at}"), sheet: sheet.clone() }).collect();
    run
}

/// Two runs' files compared by the program, from its start to its end.
fn of_files() -> anyhow::Result<Value> {
    let plimsoll = binary("PLIMSOLL_BIN")?;
    let folder = std::env::temp_dir().join(format!("plimsoll-speed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let files = [1, 2].map(|seed| folder.join(format!("{seed}.plimsoll")));
    for (file, seed) in files.iter().zip(1..) {
        write_run(file, seed)?;
    }
    let output = folder.join("comparison.json");
    let rounds_s: anyhow::Result<Vec<f64>> = (0..ROUNDS)
        .map(|_| {
            let start = SystemClock::now();
            compare_files(&plimsoll, &files, &output)?;
            Ok(SystemClock::now().ms_since(start) / 1000.0)
        })
        .collect();
    let text = std::fs::read_to_string(&output).context("read the comparison")?;
    let comparison: Value = serde_json::from_str(&text).context("parse the comparison")?;
    let rows = comparison["rows"].as_array().map_or(0, Vec::len);
    std::fs::remove_dir_all(&folder).with_context(|| format!("remove {}", folder.display()))?;
    let rounds_s = rounds_s?;
    Ok(json!({
        "what": "read and compared",
        "series": SERIES,
        "rows": rows,
        "rounds_s": rounds_s,
        "median_s": median(&rounds_s),
    }))
}

fn compare_files(plimsoll: &Path, files: &[PathBuf; 2], output: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(plimsoll);
    command.args(["compare", "--format", "json", "--output"]).arg(output).args(files);
    command.stdout(Stdio::null());
    ensure!(command.status().context("run the program")?.success(), "compare two files");
    Ok(())
}

/// An hour of as many endpoints as there are series, each with its own requests in each second.
fn write_run(path: &Path, seed: u64) -> anyhow::Result<()> {
    let (registry, tags) = (Arc::new(MetricRegistry::default()), Arc::new(TagInterner::default()));
    let key = |at: usize| {
        let tag = |name: &str, value: &str| (name.into(), value.into());
        let set = TagSet::new([
            tag("expected_response", "true"),
            tag("method", "GET"),
            tag("name", &format!("/{at}")),
        ]);
        SeriesKey { metric: HTTP_REQ_DURATION, tags: tags.intern(set) }
    };
    let mut keys: Vec<SeriesKey> = (0..SERIES).map(key).collect();
    keys.sort();
    let header = Header { run_id: format!("speed-{seed}"), script: "speed.js".into(), ..Header::default() };
    let mut writer =
        Writer::create(path, &header, registry, Arc::clone(&tags)).context("create a run's file")?;
    let mut random = Random::new(seed);
    let mut level = random.normal();
    for index in 0..SECONDS as u32 {
        level = 0.87 * level + (1.0 - 0.87f64.powi(2)).sqrt() * random.normal();
        writer.on_event(&RunEvent::Window(Arc::new(window(index, level, &keys, &mut random))));
    }
    let report = writer.finish(Ending { elapsed_ns: SECONDS as u64 * SECOND_NS, ..Ending::default() });
    ensure!(report.error.is_none() && report.windows_lost == 0, "write a run: {report:?}");
    Ok(())
}

const SECOND_NS: u64 = 1_000_000_000;

fn window(index: u32, level: f64, keys: &[SeriesKey], random: &mut Random) -> Window {
    let start = Instant::from_ns((u64::from(index) + 1) * SECOND_NS);
    let end = Instant::from_ns((u64::from(index) + 2) * SECOND_NS);
    let series = keys.iter().map(|key| {
        let mut trend = Aggregate::empty(MetricKind::Trend);
        for _ in 0..REQUESTS {
            let ms = 100.0 * (0.1 * level + 0.3 * random.normal()).exp();
            trend.record((ms * 1e6).round() / 1e6, Mark::Measured, start);
        }
        (*key, trend)
    });
    let count = (keys.len() * REQUESTS) as u64;
    let load =
        |work| Load { scenario: Some(ScenarioId(0)), work, started: count, finished: count, in_flight_ns: 1 };
    Window {
        index,
        start,
        end,
        series: series.collect(),
        load: vec![load(Work::Iterations), load(Work::Requests)],
        ..Window::default()
    }
}

fn median(rounds_s: &[f64]) -> f64 {
    let mut sorted = rounds_s.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::INFINITY)
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let titles = ["what is measured", "seconds a side", "series", "rows", "median of 5"];
    let mut table = Table { rows: vec![titles.map(str::to_owned).to_vec()], ..Table::default() };
    for (_, result) in results {
        let median_s = result["median_s"].as_f64().unwrap_or(f64::INFINITY);
        let (series, rows) = (result["series"].to_string(), result["rows"].to_string());
        let what = result["what"].as_str().unwrap_or("compared");
        table.rows.push(vec![what.into(), SECONDS.to_string(), series, rows, format!("{median_s:.2} s")]);
        table.bars.push(Bar {
            line: format!(
                "two runs of an hour with {SERIES} series are {what} in {median_s:.2} s (below 1 s)"
            ),
            reached: median_s < SECONDS_MAX,
        });
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_the_rounds_counts() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[]), f64::INFINITY);
    }

    #[test]
    fn a_window_has_all_series() {
        let keys: Vec<SeriesKey> =
            (0..3).map(|at| SeriesKey { metric: HTTP_REQ_DURATION, tags: model::TagSetId(at) }).collect();
        let window = window(7, 0.0, &keys, &mut Random::new(1));
        let counts: Vec<u64> = window
            .series
            .iter()
            .filter_map(|(_, aggregate)| match aggregate {
                Aggregate::Trend(trend) => Some(trend.count()),
                _ => None,
            })
            .collect();
        assert_eq!((window.index, counts), (7, vec![REQUESTS as u64; 3]));
    }
}
