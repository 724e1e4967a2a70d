//! One load of a calibration, and the generator's behaviour under it.

use std::path::Path;
use std::time::Duration;

use model::metric::builtin::{HTTP_REQ_FAILED, HTTP_REQS, ITERATION_LATENESS};
use model::{Aggregate, Instant, MetricKind, Quantile, Vital, Window};
use runfile::Reader;
use runs::Failure;

use session::child_run::{ChildRun, fail};

/// The script: the cheapest possible request, so that the machine and not the script is measured.
const SCRIPT: &str = include_str!("../../../../session/src/scripts/calibrate.js");

/// Number of VUs: far more than requests in flight on loopback, and few enough not to slow down the machine.
pub(super) const VUS: u32 = 100;

/// Warm-up of each load, which is not measured: connections are opened and memory is touched for the first time.
const WARM_UP: Duration = Duration::from_secs(1);

/// Minimum length of a window: the last window of a run may be shorter.
const WINDOW_MIN: Duration = Duration::from_millis(500);

/// Maximum delay between the end of a second and its reading.
const STATE_DELAY: Duration = Duration::from_millis(500);

/// Maximum lateness of iterations at the 99th percentile, ms.
pub(super) const LATENESS_MS_MAX: f64 = 1.0;

/// Minimum share of the planned rate that must be sent.
const SENT_SHARE_MIN: f64 = 0.99;

/// The generator's behaviour under one load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Step {
    /// The planned rate; zero if VUs iterate without pause.
    pub(super) planned_per_s: f64,
    /// The achieved rate.
    pub(super) sent_per_s: f64,
    /// Lateness of iterations at the 99th percentile, ms; NaN without a planned rate.
    pub(super) lateness_ms: f64,
    /// CPU time of the process per request; NaN if the kernel does not report it.
    pub(super) cpu_per_request_ns: f64,
    /// Maximum timer lag, ms; NaN if it was not measured.
    pub(super) timer_lag_ms: f64,
}

impl Step {
    /// Returns true if the generator sustained the planned rate.
    pub(super) fn is_in_time(&self) -> bool {
        self.lateness_ms <= LATENESS_MS_MAX && self.sent_per_s >= self.planned_per_s * SENT_SHARE_MIN
    }
}

/// Settings common to all loads.
pub(super) struct Bench<'a> {
    /// The server's URL.
    pub(super) url: &'a str,
    /// The folder for temporary files.
    pub(super) folder: &'a Path,
    /// Measurement time per load.
    pub(super) time: Duration,
    /// Number of worker threads.
    pub(super) workers: usize,
}

impl Bench<'_> {
    /// Generates a load of `rate_per_s` iterations per second, or as many as possible without a rate.
    ///
    /// # Errors
    /// The run fails, or does not reach the server.
    pub(super) fn run(&self, name: &str, rate_per_s: Option<u64>) -> Result<Step, Failure> {
        let script = self.folder.join("script.js");
        std::fs::write(&script, SCRIPT).map_err(|error| fail(format!("write the script: {error}")))?;
        let variables = [
            format!("URL={}", self.url),
            format!("RATE={}", rate_per_s.unwrap_or(0)),
            format!("VUS={VUS}"),
            format!("TIME={}ms", (WARM_UP + self.time).as_millis()),
        ];
        let mut words = vec!["--workers".to_owned(), self.workers.to_string()];
        words.extend(variables.into_iter().flat_map(|variable| ["--env".to_owned(), variable]));
        words.push(script.display().to_string());
        let reader = ChildRun::start(words, self.folder.join(name))?.finish()?;
        read(&reader, rate_per_s.unwrap_or(0) as f64)
    }
}

/// Reads the generator's behaviour from a run, without warm-up.
fn read(reader: &Reader, planned_per_s: f64) -> Result<Step, Failure> {
    let range = reader.range().map_err(|error| runs::failed(&error))?;
    let all = reader.windows_of(range, &[HTTP_REQS, HTTP_REQ_FAILED, ITERATION_LATENESS]);
    let all = all.collect::<Result<Vec<Window>, _>>().map_err(|error| runs::failed(&error))?;
    let began = all.first().map_or(Instant::ZERO, |window| window.start) + WARM_UP;
    // The first window ends slightly after the first second because of thread scheduling.
    let is_looked_at = |window: &&Window| {
        window.start + STATE_DELAY >= began && window.end.since(window.start) >= WINDOW_MIN
    };
    let windows: Vec<&Window> = all.iter().filter(is_looked_at).collect();
    let (Some(first), Some(last)) = (windows.first(), windows.last()) else {
        return Err(fail("measure a load: it was over before it could be looked at".to_owned()));
    };
    let time_s: f64 = windows.iter().map(|window| window.end.since(window.start).as_secs_f64()).sum();
    let mut lateness = Aggregate::empty(MetricKind::Trend);
    let (mut requests, mut failed) = (0, 0);
    for (key, aggregate) in windows.iter().flat_map(|window| &window.series) {
        match aggregate {
            Aggregate::Counter(counter) if key.metric == HTTP_REQS => requests += counter.count,
            Aggregate::Rate(rate) if key.metric == HTTP_REQ_FAILED => failed += rate.passes,
            Aggregate::Trend(_) if key.metric == ITERATION_LATENESS => lateness.merge(aggregate),
            _ => {}
        }
    }
    if requests == 0 || failed > 0 {
        return Err(fail(format!("measure a load: {failed} of {requests} requests on loopback failed")));
    }
    let sent_per_s = requests as f64 / time_s;
    let (cpu_share, timer_lag_ms) = generator(reader, first.start, last.end)?;
    Ok(Step {
        planned_per_s,
        sent_per_s,
        lateness_ms: quantile(&lateness, 0.99),
        cpu_per_request_ns: cpu_share / sent_per_s * 1e9,
        timer_lag_ms,
    })
}

/// Returns the cores that the process used, and the maximum lag of its timers in milliseconds.
fn generator(reader: &Reader, from: Instant, to: Instant) -> Result<(f64, f64), Failure> {
    let states = reader.generator_states().map_err(|error| runs::failed(&error))?;
    let inside: Vec<_> =
        states.iter().filter(|state| from < state.at && state.at < to + STATE_DELAY).collect();
    let is_cpu = |vital| matches!(vital, Vital::WorkerCpu | Vital::OtherCpu);
    let cpu: f64 = inside
        .iter()
        .flat_map(|state| &state.readings)
        .filter(|reading| is_cpu(reading.vital))
        .map(|reading| reading.value)
        .sum();
    let lag = inside.iter().filter_map(|state| state.get(Vital::TimerLag)).reduce(f64::max);
    let cpu = if cpu > 0.0 { cpu / inside.len() as f64 } else { f64::NAN };
    Ok((cpu, lag.unwrap_or(f64::NAN)))
}

fn quantile(aggregate: &Aggregate, q: f64) -> f64 {
    let Aggregate::Trend(trend) = aggregate else { return f64::NAN };
    match trend.quantile(q) {
        Quantile::Value(value) => value,
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_late_or_missing_is_not_in_time() {
        let check = |sent_per_s, lateness_ms, expect| {
            let step = Step { planned_per_s: 1000.0, sent_per_s, lateness_ms, ..Step::default() };
            assert_eq!(step.is_in_time(), expect, "{step:?}");
        };
        check(1000.0, 0.2, true);
        check(991.0, 1.0, true);
        check(1000.0, 1.1, false);
        check(980.0, 0.2, false);
        check(1000.0, f64::NAN, false);
    }
}
