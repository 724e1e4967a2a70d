//! How long it takes to judge a long run with many series, and to compare two: by the program (`PLIMSOLL_BIN`, built for
//! speed), from its start to its end.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

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

pub(super) const PARTS: &[&str] = &["hour"];

const SERIES: usize = 500;
const SECONDS: usize = 3600;
const ROUNDS: usize = 15;
const SECONDS_MAX: f64 = 1.0;

/// Requests of a series in a second.
const REQUESTS: usize = 10;

/// The operations that are timed, and the program's arguments for them; files and `--output` follow.
const VERBS: [(&str, usize, &[&str]); 2] = [
    ("one run read, judged and reported", 1, &["report", "--format", "json"]),
    ("two runs read and compared", 2, &["compare", "--format", "json"]),
];

pub(super) fn measure(_: &str) -> anyhow::Result<Value> {
    let plimsoll = binary("PLIMSOLL_BIN")?;
    let folder = std::env::temp_dir().join(format!("plimsoll-speed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let files = [1, 2].map(|seed| folder.join(format!("{seed}.plimsoll")));
    for (file, seed) in files.iter().zip(1..) {
        write_run(file, seed)?;
    }
    let output = folder.join("output.json");
    let mut rows = Vec::new();
    for (what, count, words) in VERBS {
        let round = || -> anyhow::Result<f64> {
            let start = SystemClock::now();
            run(&plimsoll, words, &files[..count], &output)?;
            Ok(SystemClock::now().ms_since(start) / 1000.0)
        };
        let rounds_s: Vec<f64> = (0..ROUNDS).map(|_| round()).collect::<anyhow::Result<_>>()?;
        let bytes = std::fs::metadata(&output).context("look at what was written")?.len();
        rows.push(
            json!({ "what": what, "bytes": bytes, "rounds_s": rounds_s, "median_s": median(&rounds_s) }),
        );
    }
    std::fs::remove_dir_all(&folder).with_context(|| format!("remove {}", folder.display()))?;
    Ok(Value::Array(rows))
}

fn run(plimsoll: &Path, words: &[&str], files: &[PathBuf], output: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(plimsoll);
    command.args(words).arg("--output").arg(output).args(files).stdout(Stdio::null());
    ensure!(command.status().context("run the program")?.success(), "{} of {files:?}", words.join(" "));
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

pub(super) const SECOND_NS: u64 = 1_000_000_000;

pub(super) fn window(index: u32, level: f64, keys: &[SeriesKey], random: &mut Random) -> Window {
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

pub(super) fn median(rounds_s: &[f64]) -> f64 {
    let mut sorted = rounds_s.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::INFINITY)
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let titles = ["what is measured", "seconds", "series", "kB written", "median", "longest"];
    let mut table = Table { rows: vec![titles.map(str::to_owned).to_vec()], ..Table::default() };
    for result in results.iter().filter_map(|(_, result)| result.as_array()).flatten() {
        let what = result["what"].as_str().unwrap_or("compared");
        let rounds_s = result["rounds_s"].as_array().map(Vec::as_slice).unwrap_or_default();
        let longest_s = rounds_s.iter().filter_map(Value::as_f64).fold(0.0, f64::max);
        let median_s = result["median_s"].as_f64().unwrap_or(f64::INFINITY);
        let kilobytes = result["bytes"].as_u64().unwrap_or(0) / 1000;
        table.rows.push(vec![
            what.into(),
            SECONDS.to_string(),
            SERIES.to_string(),
            kilobytes.to_string(),
            format!("{median_s:.2} s"),
            format!("{longest_s:.2} s"),
        ]);
        table.bars.push(Bar {
            line: format!("an hour with {SERIES} series: {what} in {median_s:.2} s (below 1 s)"),
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
