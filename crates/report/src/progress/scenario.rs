//! The progress line of one scenario.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use model::plan::{ENDLESS, Executor, Scenario, Stage};
use model::{Instant, ScenarioProgress};

use super::{clock, decimal_digits};

/// The part of a scenario's plan that its line shows.
#[derive(Debug)]
pub(super) struct Shape {
    name: String,
    executor: Executor,
    start_time: Duration,
    duration: Duration,
    graceful_stop: Duration,
    pub(super) vus_max: u64,
}

/// The phase of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Waiting,
    Running,
    Stopping,
    Done,
    Interrupted,
}

/// One line, before alignment: VUs, time, and what else there is.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) state: State,
    pub(super) fraction: f64,
    pub(super) columns: [String; 3],
}

impl Shape {
    pub(super) fn new(scenario: &Scenario) -> Shape {
        let total = |stages: &[Stage]| {
            stages.iter().fold(Duration::ZERO, |sum, stage| sum.saturating_add(stage.duration))
        };
        let (duration, vus_max) = match &scenario.executor {
            Executor::SharedIterations { vus, max_duration, .. }
            | Executor::PerVuIterations { vus, max_duration, .. } => (*max_duration, *vus),
            Executor::ConstantVus { vus, duration } => (*duration, *vus),
            Executor::ExternallyControlled { max_vus, duration, .. } => (*duration, *max_vus),
            Executor::RampingVus { start_vus, stages, .. } => {
                let highest = stages.iter().map(|stage| stage.target).max().unwrap_or(0);
                (total(stages), highest.max(*start_vus))
            }
            Executor::ConstantArrivalRate { duration, max_vus, .. } => (*duration, *max_vus),
            Executor::RampingArrivalRate { stages, max_vus, .. } => (total(stages), *max_vus),
        };
        Shape {
            name: scenario.name.to_string(),
            executor: scenario.executor.clone(),
            start_time: scenario.start_time,
            duration,
            graceful_stop: scenario.graceful_stop,
            vus_max,
        }
    }

    /// When the scenario is over at the latest, from the start of the scenarios; what has no end begins and counts no more.
    pub(super) fn latest_end(&self) -> Duration {
        if self.duration == ENDLESS {
            return self.start_time;
        }
        self.start_time.saturating_add(self.duration).saturating_add(self.graceful_stop)
    }

    pub(super) fn is_over(&self, counters: &ScenarioProgress) -> bool {
        counters.fraction() >= 1.0 && counters.vus_active.load(Relaxed) == 0
    }

    /// The line at `now`, for scenarios that started at `started`.
    pub(super) fn line(
        &self,
        counters: &ScenarioProgress,
        started: Instant,
        now: Instant,
        run_is_over: bool,
    ) -> Line {
        let own_start = Instant::from_ns(counters.started_ns.load(Relaxed));
        let fraction = counters.fraction();
        let has_started = own_start != Instant::ZERO;
        let state = match (has_started, fraction >= 1.0) {
            (true, true) if self.is_over(counters) => State::Done,
            (true, true) if !run_is_over => State::Stopping,
            (true, _) if run_is_over => State::Interrupted,
            (true, _) => State::Running,
            (false, _) => State::Waiting,
        };
        let columns = if has_started {
            let elapsed = now.since(own_start);
            [self.vus(counters), self.time(elapsed), self.rest(counters, elapsed)]
        } else {
            let left = self.start_time.saturating_sub(now.since(started));
            ["waiting".to_owned(), clock(left, self.start_time), String::new()]
        };
        Line { name: self.name.clone(), state, fraction, columns }
    }

    fn vus(&self, counters: &ScenarioProgress) -> String {
        match self.executor {
            Executor::SharedIterations { vus, .. }
            | Executor::PerVuIterations { vus, .. }
            | Executor::ConstantVus { vus, .. } => format!("{vus} VUs"),
            _ => {
                let digits = decimal_digits(self.vus_max);
                format!("{:0digits$}/{} VUs", counters.vus_active.load(Relaxed), self.vus_max)
            }
        }
    }

    fn time(&self, elapsed: Duration) -> String {
        if self.duration == ENDLESS {
            return clock(elapsed, elapsed);
        }
        let whole = whole_seconds(self.duration);
        if elapsed >= self.duration { whole } else { format!("{}/{whole}", clock(elapsed, self.duration)) }
    }

    fn rest(&self, counters: &ScenarioProgress, elapsed: Duration) -> String {
        let done = counters.iterations_completed.load(Relaxed);
        match &self.executor {
            Executor::SharedIterations { iterations, .. } => {
                format!("{done:00$}/{iterations} shared iters", decimal_digits(*iterations))
            }
            Executor::PerVuIterations { vus, iterations, .. } => {
                let all = vus.saturating_mul(*iterations);
                format!("{done:00$}/{all} iters, {iterations} per VU", decimal_digits(all))
            }
            Executor::ConstantArrivalRate { rate, time_unit, .. } => per_second(*rate as f64, *time_unit),
            Executor::RampingArrivalRate { start_rate, time_unit, stages, .. } => {
                per_second(rate_at(*start_rate, stages, elapsed), *time_unit)
            }
            Executor::ConstantVus { .. }
            | Executor::RampingVus { .. }
            | Executor::ExternallyControlled { .. } => String::new(),
        }
    }
}

fn per_second(rate: f64, time_unit: Duration) -> String {
    let seconds = time_unit.as_secs_f64();
    format!("{:.2} iters/s", if seconds > 0.0 { rate / seconds } else { 0.0 })
}

/// The rate of a ramp after `elapsed`, on the line between the targets.
fn rate_at(start_rate: u64, stages: &[Stage], elapsed: Duration) -> f64 {
    let (mut from, mut left) = (start_rate as f64, elapsed);
    for stage in stages {
        let target = stage.target as f64;
        if left < stage.duration {
            return from + (target - from) * left.as_secs_f64() / stage.duration.as_secs_f64();
        }
        (from, left) = (target, left - stage.duration);
    }
    from
}

/// `10m0s`, `1m30s`, `11s`, `1.5s`.
fn whole_seconds(duration: Duration) -> String {
    let (minutes, seconds) = (duration.as_secs() / 60, duration.as_secs() % 60);
    let seconds = seconds as f64 + f64::from(duration.subsec_millis()) / 1000.0;
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{seconds}s"),
        (0, minutes) => format!("{minutes}m{seconds}s"),
        (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
    }
}
