//! `plimsoll calibrate`: measures the maximum request rate of this machine against a server on loopback.

mod step;
mod target;

use std::num::NonZeroU16;
use std::time::Duration;

use model::SystemClock;
use runfile::Calibration;
use runs::{Exit, Failure, calibration};
use serde::Serialize;
use session::Context;

use self::step::{Bench, LATENESS_MS_MAX, Step, VUS};
use self::target::Target;
use super::child_run::{Scratch, fail};
use crate::flags::CalibrateFlags;

/// Allowed measurement times per load.
const TIME: std::ops::RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(60);

/// Number of planned rates. Each halves the uncertainty: seven leave less than 1 % of the full speed.
const RATES: u32 = 7;

/// The output of `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Printed {
    rate_per_second: u64,
    is_lower_bound: bool,
    closed_per_second: u64,
    cpu_per_request_ns: u64,
    timer_lag_ns: u64,
    workers: usize,
    version: String,
}

/// Runs the subcommand.
///
/// # Errors
/// A load cannot be generated, or no rate was sustained.
pub(crate) fn run(flags: &CalibrateFlags, context: &Context) -> Result<Exit, Failure> {
    if flags.serve {
        return target::serve();
    }
    let time = time(&flags.time)?;
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let workers = flags.workers.and_then(NonZeroU16::new).map_or_else(cores, |workers| workers.get().into());
    let scratch = Scratch::new("calibrate")?;
    let target = Target::start()?;
    let bench = Bench { url: &target.url, folder: scratch.path(), time, workers };
    let print = |text: &str| {
        if !context.is_quiet && !flags.json {
            session::terminal::print(text);
        }
    };
    let full_speed = match flags.rate_max {
        Some(_) => None,
        None => Some(bench.run("full-speed", None)?.sent_per_s),
    };
    if let Some(per_s) = full_speed {
        print(&format!("full speed: {per_s:.0} requests/s with {VUS} VUs\n"));
    }
    let try_rate = |number: u32, rate_per_s: u64| -> Result<Step, Failure> {
        let step = bench.run(&format!("rate-{number}"), Some(rate_per_s))?;
        print(&line(&step));
        Ok(step)
    };
    let best = match (full_speed, flags.rate_max) {
        (Some(per_s), _) => best_below(per_s, try_rate),
        (None, rate_max) => best_up_to(rate_max.unwrap_or(1), try_rate),
    }?;
    let best = best.ok_or_else(|| {
        fail(format!(
            "find a sustainable rate: iterations started more than {LATENESS_MS_MAX} ms late at every rate; stop other \
             programs on this machine, or try --workers 1"
        ))
    })?;
    let found = Calibration {
        measured_unix_s: context.epoch.wall_unix_ns(SystemClock::now()) / 1_000_000_000,
        version: calibration::version().to_owned(),
        rate_per_s: whole(best.sent_per_s),
        is_lower_bound: flags.rate_max.is_some_and(|most| best.planned_per_s >= most as f64),
        closed_per_s: whole(full_speed.unwrap_or(0.0)),
        cpu_per_request_ns: whole(best.cpu_per_request_ns),
        timer_lag_ns: whole(best.timer_lag_ms * 1e6),
    };
    let path = calibration::keep(context.calibration_file(), workers, found.clone())?;
    match flags.json {
        true => session::terminal::print(&json(&found, workers)),
        false => session::terminal::print(&words(&found, workers, &path.display().to_string())),
    }
    Ok(Exit::Ok)
}

fn time(text: &str) -> Result<Duration, Failure> {
    let time = Some(runs::parse_length("--time", text, Exit::Other)?).filter(|time| TIME.contains(time));
    time.ok_or_else(|| fail(format!("read --time {text:?}: write a time from 1s to 1m, such as 5s")))
}

/// Returns this rate if it is sustained, and otherwise the highest sustained one below it.
fn best_up_to(
    rate_max_per_s: u64,
    mut try_rate: impl FnMut(u32, u64) -> Result<Step, Failure>,
) -> Result<Option<Step>, Failure> {
    let step = try_rate(0, rate_max_per_s)?;
    if step.is_in_time() { Ok(Some(step)) } else { best_below(rate_max_per_s as f64, try_rate) }
}

/// Returns the highest sustained rate, found by bisection between the highest good and the lowest bad one.
fn best_below(
    rate_per_s: f64,
    mut try_rate: impl FnMut(u32, u64) -> Result<Step, Failure>,
) -> Result<Option<Step>, Failure> {
    let (mut good_per_s, mut bad_per_s, mut best) = (0.0, rate_per_s, None);
    for number in 1..=RATES {
        let rate_per_s = (good_per_s + bad_per_s) / 2.0;
        let step = try_rate(number, whole(rate_per_s).max(1))?;
        if step.is_in_time() {
            (good_per_s, best) = (rate_per_s, Some(step));
        } else {
            bad_per_s = rate_per_s;
        }
    }
    Ok(best)
}

/// Returns a whole number; zero for NaN.
fn whole(value: f64) -> u64 {
    value.round() as u64
}

fn line(step: &Step) -> String {
    format!(
        "{} {:.0}/s planned: {:.0}/s sent, p99 iteration start delay {}\n",
        if step.is_in_time() { "✓" } else { "✗" },
        step.planned_per_s,
        step.sent_per_s,
        report::number::duration(step.lateness_ms, None)
    )
}

fn words(found: &Calibration, workers: usize, path: &str) -> String {
    let ms = |ns: u64| report::number::duration(ns as f64 / 1e6, None);
    format!(
        "maximum rate: {}{} requests/s with {workers} worker thread{}; CPU per request {}, timers fired up to {} late\n\
         stored in {path}\n",
        if found.is_lower_bound { "≥ " } else { "" },
        found.rate_per_s,
        if workers == 1 { "" } else { "s" },
        ms(found.cpu_per_request_ns),
        ms(found.timer_lag_ns)
    )
}

fn json(found: &Calibration, workers: usize) -> String {
    let printed = Printed {
        rate_per_second: found.rate_per_s,
        is_lower_bound: found.is_lower_bound,
        closed_per_second: found.closed_per_s,
        cpu_per_request_ns: found.cpu_per_request_ns,
        timer_lag_ns: found.timer_lag_ns,
        workers,
        version: found.version.clone(),
    };
    // Serialization cannot fail: the values are numbers and strings.
    serde_json::to_string_pretty(&printed).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine that sustains rates up to a limit.
    fn machine(limit_per_s: f64) -> impl FnMut(u32, u64) -> Result<Step, Failure> {
        move |_, rate_per_s| {
            let planned_per_s = rate_per_s as f64;
            let lateness_ms = if planned_per_s <= limit_per_s { 0.1 } else { 5.0 };
            Ok(Step { planned_per_s, sent_per_s: planned_per_s, lateness_ms, ..Step::default() })
        }
    }

    #[test]
    fn the_rate_is_found_to_a_hundredth_of_the_full_speed() {
        for limit_per_s in [400.0, 12_345.0, 39_999.0, 50_000.0] {
            let best = best_below(40_000.0, machine(limit_per_s)).expect("nothing fails").expect("a rate");
            let missing = limit_per_s.min(40_000.0) - best.planned_per_s;
            assert!((0.0..=400.0).contains(&missing), "{limit_per_s}: {best:?}");
        }
        assert_eq!(best_below(40_000.0, machine(0.0)).expect("nothing fails"), None);
    }

    #[test]
    fn a_rate_that_is_kept_to_at_once_is_the_answer() {
        let planned = |rate_max_per_s, limit_per_s| {
            let best = best_up_to(rate_max_per_s, machine(limit_per_s)).expect("nothing fails");
            best.expect("a rate").planned_per_s
        };
        assert_eq!(planned(300, 1_000.0), 300.0);
        assert!((990.0..=1_000.0).contains(&planned(1_280, 1_000.0)));
    }

    #[test]
    fn times_are_bounded() {
        for (text, expect) in
            [("1s", Some(1)), ("1m", Some(60)), ("61s", None), ("500ms", None), ("-2s", None), ("x", None)]
        {
            assert_eq!(time(text).ok().map(|time| time.as_secs()), expect, "{text}");
        }
    }
}
