//! Runs, times and counts one iteration.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use model::metric::builtin::{
    ITERATION_DURATION, ITERATION_FAILED, ITERATION_LATENESS, ITERATION_RESPONSE_TIME, ITERATIONS,
};
use model::{Instant, IterationEnd, Mark, Metadata, Sample, SystemClock, SystemTag, Work};

use crate::scenario_lane::ScenarioLane;
use crate::shared::RunShared;
use crate::vu_task::{VuState, panic_text};
use crate::{AbortReason, IterationCall, Seat};

impl ScenarioLane {
    /// Runs one iteration on the calling VU's coroutine from `started`, which is now, with the padding up to
    /// `minIterationDuration` after it.
    pub(crate) fn run_iteration(
        &self,
        state: &mut VuState,
        due: Option<Instant>,
        started: Instant,
        is_first: bool,
        leased: Option<u64>,
    ) -> IterationEnd {
        let mut call = self.call(state, due, started, is_first);
        call.iteration_in_test = leased.unwrap_or(call.iteration_in_test);
        self.worker.start_work(Some(self.id), Work::Iterations, started);
        let (end, finished) = iterate(&self.run, state, &call);
        self.worker.finish_work(Some(self.id), Work::Iterations, finished);
        self.count(end);
        self.record(state, &call, end, finished);
        // With its samples, so that a window has both or none.
        if let Some(number) = leased {
            self.worker.end_leased(self.id, number);
        }
        if end == IterationEnd::Aborted {
            state.seat.control.stop(AbortReason::Script(None));
        }
        let padded = call.started + self.run.plan.min_iteration_duration;
        if finished < padded && !state.is_broken {
            // Cancelled like the iteration itself: then nothing is left to wait for.
            let _ = sleep_until(padded);
        }
        end
    }

    /// Ends the iteration of a VU that was called off and computes in a call of its engine that does not end. It does no more
    /// work.
    pub(crate) fn leave_iteration_behind(&self, vu: u64, due: Option<Instant>) {
        let now = SystemClock::now();
        self.worker.finish_work(Some(self.id), Work::Iterations, now);
        self.count(IterationEnd::Interrupted);
        if let Some(due) = due.filter(|_| self.run.is_honest()) {
            let (metric, value) = (ITERATION_RESPONSE_TIME, now.ms_since(due));
            let sample = Sample { metric, tags: self.tags, value, at: now, mark: Mark::Cut };
            self.worker.record_with(sample, None);
        }
        self.run.config.progress.vus_active.fetch_sub(1, Ordering::Relaxed);
        self.progress().vus_active.fetch_sub(1, Ordering::Relaxed);
        self.leave();
        let name = &self.plan().name;
        let message = format!(
            "scenario {name}: the iteration of VU {vu} could not be ended, because one call of its script goes on and on, such as a \
             search in an array of a very great length; it counts as interrupted, and the VU is not used any more"
        );
        self.worker.error(now, message);
    }

    // Not inlined, like `record`: its locals would lie on the VU's stack while the script runs.
    #[inline(never)]
    fn call(
        &self,
        state: &mut VuState,
        due: Option<Instant>,
        started: Instant,
        is_first: bool,
    ) -> IterationCall {
        let iteration_in_instance = self.progress().iterations_started.fetch_add(1, Ordering::Relaxed);
        let position = state.iterations_of.iter().position(|(scenario, _)| *scenario == self.id);
        let position = position.unwrap_or_else(|| {
            state.iterations_of.push((self.id, 0));
            state.iterations_of.len() - 1
        });
        let in_scenario = &mut state.iterations_of[position].1;
        let call = IterationCall {
            scenario: self.id,
            iteration_in_scenario: *in_scenario,
            iteration_in_instance,
            iteration_in_test: self
                .shared()
                .stripe
                .global_index(self.numbered.saturating_add(iteration_in_instance)),
            vu_iteration: state.iterations,
            due,
            started,
            first_in_activation: is_first,
            setup_data: self.setup_data.clone(),
        };
        *in_scenario += 1;
        state.iterations += 1;
        state.last_scenario = Some(self.id);
        call
    }

    fn count(&self, end: IterationEnd) {
        let progress = &self.run.config.progress;
        match end {
            IterationEnd::Completed | IterationEnd::Failed | IterationEnd::Aborted => {
                progress.iterations_completed.fetch_add(1, Ordering::Relaxed);
                self.progress().iterations_completed.fetch_add(1, Ordering::Relaxed);
                if end == IterationEnd::Failed {
                    progress.iterations_failed.fetch_add(1, Ordering::Relaxed);
                }
            }
            IterationEnd::Interrupted => {
                progress.iterations_interrupted.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Records k6's two metrics for full iterations, and our own, which include the others.
    #[inline(never)]
    fn record(&self, state: &VuState, call: &IterationCall, end: IterationEnd, finished: Instant) {
        let metadata = self.metadata(&state.seat, call);
        let tags = state.vu.tags().unwrap_or(self.tags);
        let record = |metric, value, mark| {
            let sample = Sample { metric, tags, value, at: finished, mark };
            self.worker.record_with(sample, metadata.as_ref());
        };
        let is_full = end.is_full();
        if is_full {
            let failed = f64::from(end == IterationEnd::Failed);
            let samples = [
                (ITERATIONS, 1.0),
                (ITERATION_DURATION, finished.ms_since(call.started)),
                (ITERATION_FAILED, failed),
            ];
            let ours = usize::from(self.run.is_honest());
            self.worker.record_many(tags, &samples[..samples.len() - 1 + ours], finished, metadata.as_ref());
        }
        let Some(due) = call.due.filter(|_| self.run.is_honest()) else { return };
        record(ITERATION_LATENESS, call.started.ms_since(due), Mark::Measured);
        let mark = match end {
            IterationEnd::Completed => Mark::Measured,
            IterationEnd::Failed => Mark::Failed,
            // It would have taken at least this long.
            IterationEnd::Interrupted | IterationEnd::Aborted => Mark::Cut,
        };
        record(ITERATION_RESPONSE_TIME, finished.ms_since(due), mark);
    }

    /// The system tags that k6 keeps out of series, made only where a listener reads them.
    fn metadata(&self, seat: &Seat, call: &IterationCall) -> Option<Metadata> {
        let system_tags = self.run.plan.system_tags;
        let facts = [(SystemTag::Iter, call.vu_iteration), (SystemTag::Vu, seat.vu_id)];
        if !self.worker.wants_samples() || !facts.iter().any(|(tag, _)| system_tags.has(*tag)) {
            return None;
        }
        let wanted = facts.iter().filter(|(tag, _)| system_tags.has(*tag));
        Some(wanted.map(|(tag, value)| (tag.as_str().into(), value.to_string().into())).collect())
    }
}

fn iterate(run: &RunShared, state: &mut VuState, call: &IterationCall) -> (IterationEnd, Instant) {
    if state.vu.is_spent() {
        state.recreate(run);
        if state.vu.is_spent() {
            return (IterationEnd::Interrupted, SystemClock::now());
        }
    }
    let vu = &mut state.vu;
    match catch_unwind(AssertUnwindSafe(|| vu.iterate(call))) {
        Ok(ended) if !state.vu.is_spent() => ended,
        Ok(ended) => {
            state.recreate(run);
            ended
        }
        Err(payload) => panicked(run, state, call, &*payload),
    }
}

#[cold]
#[inline(never)]
fn panicked(
    run: &RunShared,
    state: &mut VuState,
    call: &IterationCall,
    payload: &(dyn Any + Send),
) -> (IterationEnd, Instant) {
    let finished = SystemClock::now();
    let message = format!("iteration {} panicked: {}", call.iteration_in_test, panic_text(payload));
    state.seat.worker.error(finished, message);
    state.recreate(run);
    (IterationEnd::Failed, finished)
}

/// Suspends the calling VU until then, or until it is called off.
// Not inlined: the future of the wait would have a place on the VU's stack while its script runs.
#[inline(never)]
pub(crate) fn sleep_until(at: Instant) -> Result<(), vu::Interrupted> {
    vu::block_on(vu::timer::sleep_until(at))
}
