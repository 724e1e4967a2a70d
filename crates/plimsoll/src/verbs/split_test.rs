//! `plimsoll split-test`: the same load from one process and from two, in turn.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use analysis::validity::{SplitRound, is_client_limited};
use model::metric::builtin::{HTTP_REQ_DURATION, ITERATION_DURATION};
use model::{Aggregate, Grade, MetricKind, Quantile};
use report::Lang;

use crate::common::Common;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::SplitTestFlags;
use crate::stored;
use crate::validity;

/// The latencies that are compared.
const QUANTILES: [(&str, f64); 2] = [("p50", 0.5), ("p95", 0.95)];

/// The parts of the test that each process makes.
const WHOLE: &[&str] = &["0:1"];
const HALVES: &[&str] = &["0:1/2", "1/2:1"];

/// Runs the verb.
///
/// # Errors
/// A run could not be made or read.
pub(crate) fn run(flags: &SplitTestFlags, common: &Common) -> Result<Exit, Failure> {
    let folder = std::env::temp_dir().join(format!("plimsoll-split-{}", std::process::id()));
    let rounds: Result<Vec<[SplitRound; 2]>, Failure> =
        (1..=flags.rounds).map(|number| round(number, &flags.run, &folder, common)).collect();
    // Nobody looks for it there; what cannot be removed is the temporary folder's to clean.
    let _ = std::fs::remove_dir_all(&folder);
    let rounds = rounds?;
    let limited: Vec<&str> = (0..QUANTILES.len())
        .filter(|place| is_client_limited(&rounds.iter().map(|round| round[*place]).collect::<Vec<_>>()))
        .map(|place| QUANTILES[place].0)
        .collect();
    let words = match limited.is_empty() {
        true => "no sign that the generator limits this test: its latency does not fall each time the load is split"
            .to_owned(),
        false => format!(
            "the generator limits this test: {} fell each time the same load came from two processes",
            limited.join(" and ")
        ),
    };
    crate::print(&format!("{words}\n"));
    Ok(Exit::Ok)
}

/// One process, then two.
fn round(
    number: u32,
    words: &[OsString],
    folder: &Path,
    common: &Common,
) -> Result<[SplitRound; 2], Failure> {
    let one = latencies(WHOLE, words, &folder.join(format!("{number}-one")), common)?;
    let two = latencies(HALVES, words, &folder.join(format!("{number}-two")), common)?;
    let round = [0, 1].map(|place| SplitRound { one_ms: one[place], two_ms: two[place] });
    for ((name, _), SplitRound { one_ms, two_ms }) in QUANTILES.iter().zip(round) {
        let shown = [one_ms, two_ms].map(|ms| report::number::duration(ms, None));
        crate::print(&format!(
            "round {number}: {name} from one process {}, from two {} ({:+.1} %)\n",
            shown[0],
            shown[1],
            (two_ms / one_ms - 1.0) * 100.0
        ));
    }
    Ok(round)
}

/// Makes the segments at the same time, each in a process of its own; the latencies of all of them together.
fn latencies(
    segments: &[&str],
    words: &[OsString],
    folder: &Path,
    common: &Common,
) -> Result<[f64; 2], Failure> {
    let children: Vec<(Child, PathBuf)> = segments
        .iter()
        .enumerate()
        .map(|(number, segment)| start(segment, words, folder.join(number.to_string())))
        .collect::<Result<_, _>>()?;
    let mut requests = Aggregate::empty(MetricKind::Trend);
    let mut iterations = Aggregate::empty(MetricKind::Trend);
    for (mut child, runs) in children {
        child.wait().map_err(|error| fail(format!("wait for a part of the test: {error}")))?;
        let reader = stored::open(&stored_run(&runs)?)?;
        let (window, _) = stored::whole(&reader)?;
        let found = validity::of_stored(&reader, &window, None)?;
        if found.grade > Grade::Unmeasured {
            let line = report::validity::line(&found, Lang::En);
            common.logger.say(model::LogLevel::Warn, format!("validity of {}: {line}", runs.display()));
        }
        for (key, aggregate) in &window.series {
            match key.metric {
                HTTP_REQ_DURATION => requests.merge(aggregate),
                ITERATION_DURATION => iterations.merge(aggregate),
                _ => {}
            }
        }
    }
    let of = |q: f64| quantile(&requests, q).or_else(|| quantile(&iterations, q));
    let all = QUANTILES.map(|(_, q)| of(q));
    let [Some(p50), Some(p95)] = all else { return Err(fail("find requests in the test".to_owned())) };
    Ok([p50, p95])
}

fn start(segment: &str, words: &[OsString], runs: PathBuf) -> Result<(Child, PathBuf), Failure> {
    let failed = |error: std::io::Error| fail(format!("start a part of the test: {error}"));
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.args(["run", "--quiet", "--no-thresholds", "--summary-mode", "disabled", "--runs"]).arg(&runs);
    if segment != WHOLE[0] {
        command.args(["--execution-segment", segment, "--execution-segment-sequence", "0,1/2,1"]);
    }
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null());
    Ok((command.spawn().map_err(failed)?, runs))
}

fn stored_run(runs: &Path) -> Result<PathBuf, Failure> {
    let entries =
        std::fs::read_dir(runs).map_err(|error| fail(format!("find a part of the test: {error}")))?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    let is_run = |path: &PathBuf| path.extension().is_some_and(|end| end == runfile::EXTENSION);
    paths.find(is_run).ok_or_else(|| fail("find a part of the test: it stored nothing".to_owned()))
}

fn quantile(aggregate: &Aggregate, q: f64) -> Option<f64> {
    let Aggregate::Trend(trend) = aggregate else { return None };
    match trend.quantile(q) {
        Quantile::Value(value) | Quantile::AtLeast { bound: value, .. } => Some(value),
        Quantile::None | Quantile::Failed => None,
    }
}

fn fail(what: String) -> Failure {
    Failure::new(Exit::Other, format!("failed to {what}"))
}
