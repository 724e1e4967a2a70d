//! `plimsoll split-test`: alternates the same load between one process and two, to check whether the generator is the bottleneck.

use std::ffi::OsString;
use std::path::Path;

use analysis::validity::{SplitRound, is_client_limited};
use model::metric::builtin::{HTTP_REQ_DURATION, ITERATION_DURATION};
use model::{Aggregate, Grade, MetricKind, Quantile};
use report::Lang;
use runs::{Exit, Failure, validity};
use session::Context;

use crate::flags::SplitTestFlags;
use session::child_run::{ChildRun, Scratch, fail};

/// The latencies to compare.
const QUANTILES: [(&str, f64); 2] = [("p50", 0.5), ("p95", 0.95)];

/// The segments of the test, one for each process.
const WHOLE: &[&str] = &["0:1"];
const HALVES: &[&str] = &["0:1/2", "1/2:1"];

/// Runs the subcommand.
///
/// # Errors
/// A run could not start or cannot be read.
pub(crate) fn run(flags: &SplitTestFlags, context: &Context) -> Result<Exit, Failure> {
    let scratch = Scratch::new("split")?;
    let round = |number| round(number, &flags.run, scratch.path(), context);
    let rounds = (1..=flags.rounds).map(round).collect::<Result<Vec<_>, Failure>>()?;
    let limited: Vec<&str> = (0..QUANTILES.len())
        .filter(|place| is_client_limited(&rounds.iter().map(|round| round[*place]).collect::<Vec<_>>()))
        .map(|place| QUANTILES[place].0)
        .collect();
    let words = match limited.is_empty() {
        true => "the load generator is not the bottleneck: latency does not fall each time the load is split"
            .to_owned(),
        false => format!(
            "the load generator is the bottleneck: {} fell each time two processes sent the same load",
            limited.join(" and ")
        ),
    };
    session::terminal::print(&format!("{words}\n"));
    Ok(Exit::Ok)
}

/// Runs the test in one process, then in two.
fn round(
    number: u32,
    words: &[OsString],
    folder: &Path,
    context: &Context,
) -> Result<[SplitRound; 2], Failure> {
    let made = |segments: &[&'static str], name: &str| {
        latencies(segments, words, &folder.join(format!("{number}-{name}")))
    };
    let (one, two) = (made(WHOLE, "one")?, made(HALVES, "two")?);
    for (part, line) in one.doubts.iter().chain(&two.doubts) {
        let text = format!("validity of round {number}, part {part} of the test: {line}");
        context.logger.say(model::LogLevel::Warn, text);
    }
    let (one, two) = (one.quantiles_ms, two.quantiles_ms);
    let round = [0, 1].map(|place| SplitRound { one_ms: one[place], two_ms: two[place] });
    for ((name, _), SplitRound { one_ms, two_ms }) in QUANTILES.iter().zip(round) {
        let shown = [one_ms, two_ms].map(|ms| report::number::duration(ms, None));
        session::terminal::print(&format!(
            "round {number}: {name} from one process {}, from two {} ({:+.1} %)\n",
            shown[0],
            shown[1],
            (two_ms / one_ms - 1.0) * 100.0
        ));
    }
    Ok(round)
}

/// The result of the processes that together ran the test once.
struct Made {
    /// Latencies, ms, in the order of [`QUANTILES`].
    quantiles_ms: [f64; QUANTILES.len()],
    /// Segments whose measurement is not valid, with the reason.
    doubts: Vec<(&'static str, String)>,
}

/// Runs the segments at the same time, each in a separate process, and returns their combined latencies.
fn latencies(segments: &[&'static str], words: &[OsString], folder: &Path) -> Result<Made, Failure> {
    let start = |(number, segment): (usize, &&'static str)| -> Result<(&'static str, ChildRun), Failure> {
        let mut all: Vec<OsString> = Vec::new();
        if *segment != WHOLE[0] {
            let cut = ["--execution-segment", *segment, "--execution-segment-sequence", "0,1/2,1"];
            all.extend(cut.map(OsString::from));
        }
        all.extend_from_slice(words);
        Ok((*segment, ChildRun::start(all, folder.join(number.to_string()))?))
    };
    let parts = segments.iter().enumerate().map(start).collect::<Result<Vec<_>, Failure>>()?;
    let mut requests = Aggregate::empty(MetricKind::Trend);
    let mut iterations = Aggregate::empty(MetricKind::Trend);
    let mut doubts = Vec::new();
    for (segment, part) in parts {
        let reader = part.finish()?;
        let (window, _) = runs::whole(&reader)?;
        let found = validity::of_stored(&reader, &window, None)?;
        if found.grade > Grade::Unmeasured {
            doubts.push((segment, report::validity::line(&found, Lang::En)));
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
    Ok(Made { quantiles_ms: [p50, p95], doubts })
}

fn quantile(aggregate: &Aggregate, q: f64) -> Option<f64> {
    let Aggregate::Trend(trend) = aggregate else { return None };
    match trend.quantile(q) {
        Quantile::Value(value) | Quantile::AtLeast { bound: value, .. } => Some(value),
        Quantile::None | Quantile::Failed => None,
    }
}
