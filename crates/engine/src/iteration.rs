//! One iteration: called, timed, counted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use model::metric::builtin::{
    ITERATION_DURATION, ITERATION_FAILED, ITERATION_LATENESS, ITERATION_RESPONSE_TIME, ITERATIONS,
};
use model::{Instant, Mark, SystemClock};

use crate::scenario::ScenarioRoom;
use crate::shared::RunShared;
use crate::vu_task::{Living, panic_text};
use crate::{AbortReason, IterationCall, IterationEnd};

impl ScenarioRoom {
    /// Runs one iteration on the calling VU's coroutine, and the pad up to `minIterationDuration` after it.
    pub(crate) fn run_iteration(
        &self,
        living: &mut Living,
        due: Option<Instant>,
        is_first: bool,
    ) -> IterationEnd {
        let call = self.call(living, due, is_first);
        let end = iterate(&self.run, living, &call);
        let finished = SystemClock::now();
        self.count(end);
        self.record(&call, end, finished);
        if end == IterationEnd::Aborted {
            living.seat.control.stop(AbortReason::Script(None));
        }
        let padded = call.started + self.run.plan.min_iteration_duration;
        if finished < padded && !living.is_broken {
            // Called off like the iteration itself: then nothing is left to wait for.
            let _ = vu::block_on(vu::timer::sleep_until(padded));
        }
        end
    }

    fn call(&self, living: &mut Living, due: Option<Instant>, is_first: bool) -> IterationCall {
        let iteration_in_instance = self.progress().iterations_started.fetch_add(1, Ordering::Relaxed);
        let position = living.iterations_of.iter().position(|(scenario, _)| *scenario == self.id);
        let position = position.unwrap_or_else(|| {
            living.iterations_of.push((self.id, 0));
            living.iterations_of.len() - 1
        });
        let in_scenario = &mut living.iterations_of[position].1;
        let call = IterationCall {
            scenario: self.id,
            iteration_in_scenario: *in_scenario,
            iteration_in_instance,
            iteration_in_test: self.shared().stripe.global_index(iteration_in_instance),
            vu_iteration: living.iterations,
            due,
            started: SystemClock::now(),
            first_in_activation: is_first,
            setup_data: self.setup_data.clone(),
        };
        *in_scenario += 1;
        living.iterations += 1;
        living.last_scenario = Some(self.id);
        call
    }

    fn count(&self, end: IterationEnd) {
        let progress = &self.run.config.progress;
        match end {
            IterationEnd::Completed | IterationEnd::Failed => {
                progress.iterations_completed.fetch_add(1, Ordering::Relaxed);
                self.progress().iterations_completed.fetch_add(1, Ordering::Relaxed);
                if end == IterationEnd::Failed {
                    progress.iterations_failed.fetch_add(1, Ordering::Relaxed);
                }
            }
            IterationEnd::Interrupted | IterationEnd::Aborted => {
                progress.iterations_interrupted.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// k6's two metrics for full iterations; beside them our own, which also know of the others.
    fn record(&self, call: &IterationCall, end: IterationEnd, finished: Instant) {
        let is_full = matches!(end, IterationEnd::Completed | IterationEnd::Failed);
        if is_full {
            let duration_ms = finished.ms_since(call.started);
            let values = [(ITERATIONS, 1.0), (ITERATION_DURATION, duration_ms)];
            self.worker.record_many(self.tags, &values, finished, None);
        }
        if !self.run.is_honest() {
            return;
        }
        if is_full {
            let failed = if end == IterationEnd::Failed { 1.0 } else { 0.0 };
            self.worker.record(ITERATION_FAILED, self.tags, failed, Mark::Measured, finished);
        }
        let Some(due) = call.due else { return };
        let lateness_ms = call.started.ms_since(due);
        self.worker.record(ITERATION_LATENESS, self.tags, lateness_ms, Mark::Measured, finished);
        let mark = match end {
            IterationEnd::Completed => Mark::Measured,
            IterationEnd::Failed => Mark::Failed,
            // It would have taken at least this long.
            IterationEnd::Interrupted | IterationEnd::Aborted => Mark::Cut,
        };
        self.worker.record(ITERATION_RESPONSE_TIME, self.tags, finished.ms_since(due), mark, finished);
    }
}

fn iterate(run: &RunShared, living: &mut Living, call: &IterationCall) -> IterationEnd {
    let vu = &mut living.vu;
    match catch_unwind(AssertUnwindSafe(|| vu.iterate(call))) {
        Ok(end) => end,
        Err(payload) => {
            let message = format!("iteration {} panicked: {}", call.iteration_in_test, panic_text(&*payload));
            living.seat.worker.error(SystemClock::now(), message);
            living.mend(run);
            IterationEnd::Failed
        }
    }
}
