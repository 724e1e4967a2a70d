//! The script host as the engine uses it.

use std::rc::Rc;
use std::sync::Arc;

use engine::{AbortReason, IterationCall, ProgramError, RunControl, WorkerShared};
use model::ExemplarCandidate;
use model::{Instant, IterationEnd, LogLine, Mark, Metadata, MetricId, Sample, ScenarioId, TagSetId, Work};
use runs::{Exit, Failure};
use script::{Bundle, Call, Finished, ScriptError, ScriptVu};

/// A loaded script with the state that its VUs share.
pub(crate) struct ScriptProgram {
    /// The evaluated script.
    pub bundle: Arc<Bundle>,
    /// State shared by the script's VUs.
    pub run: Arc<script::RunContext>,
}

impl ScriptProgram {
    fn vu(&self, seat: engine::Seat) -> Result<ScriptVu, ProgramError> {
        let binding = script::VuBinding {
            id_in_test: seat.vu_id,
            id_in_instance: seat.id_in_instance,
            sink: Rc::new(WorkerSink(seat.worker.clone())),
            notes: Rc::new(WorkerNotes(seat.worker)),
            deadline: Rc::new(SeatDeadline(seat.deadline)),
            run: self.run.clone(),
        };
        self.bundle.instantiate(binding).map_err(program_error)
    }
}

impl engine::Program for ScriptProgram {
    fn create_vu(&self, seat: engine::Seat) -> Result<Box<dyn engine::Vu>, ProgramError> {
        Ok(Box::new(EngineVu(self.vu(seat)?)))
    }

    fn has_setup(&self) -> bool {
        self.bundle.has("setup")
    }

    fn setup(&self, seat: engine::Seat) -> Result<Option<Arc<str>>, ProgramError> {
        self.vu(seat)?.setup().map_err(program_error)
    }

    fn has_teardown(&self) -> bool {
        self.bundle.has("teardown")
    }

    fn teardown(&self, seat: engine::Seat, data: Option<&Arc<str>>) -> Result<(), ProgramError> {
        self.vu(seat)?.teardown(data).map_err(program_error)
    }
}

struct EngineVu(ScriptVu);

impl engine::Vu for EngineVu {
    fn iterate(&mut self, call: &IterationCall) -> (IterationEnd, Instant) {
        let script_call = Call {
            scenario: call.scenario,
            vu_iteration: call.vu_iteration,
            iteration_in_scenario: call.iteration_in_scenario,
            iteration_in_instance: call.iteration_in_instance,
            iteration_in_test: call.iteration_in_test,
            due: call.due,
        };
        self.0.iterate(&script_call, call.setup_data.as_ref())
    }

    fn is_spent(&self) -> bool {
        self.0.is_spent()
    }

    fn tags(&self) -> Option<TagSetId> {
        Some(self.0.tags())
    }
}

/// Converts a script error to the engine's type.
pub(crate) fn program_error(error: ScriptError) -> ProgramError {
    match error {
        ScriptError::Interrupted => ProgramError::Interrupted,
        ScriptError::Aborted(_) => ProgramError::Aborted,
        error @ ScriptError::SetupData(_) => ProgramError::Data(error.to_string()),
        other => ProgramError::Exception(full_text(&other)),
    }
}

/// Returns the error with its source excerpt and hint, each on separate lines.
pub(crate) fn full_text(error: &ScriptError) -> String {
    let mut text = error.to_string();
    for part in excerpt(error) {
        text.push('\n');
        text.push_str(part);
    }
    text
}

/// Returns the failure of a script that could not be loaded, with its exit code.
pub fn load_failure(name: &str, error: &ScriptError) -> Failure {
    let exit = match error {
        ScriptError::Missing(_) | ScriptError::Exception { .. } | ScriptError::Memory(_) => {
            Exit::ScriptException
        }
        ScriptError::Aborted(_) => Exit::ScriptAborted,
        ScriptError::Crashed(_) => Exit::Panic,
        ScriptError::Interrupted
        | ScriptError::SetupData(_)
        | ScriptError::Summary(_)
        | ScriptError::Host(_) => Exit::Other,
    };
    let text = match error {
        ScriptError::Aborted(reason) => format!("{reason}, while {name} was loaded"),
        _ => format!("failed to load {name}: {error}"),
    };
    Failure { exit, text, below: excerpt(error).map(str::to_owned).collect() }
}

/// Returns the source excerpt and the hint, if they are known.
pub(crate) fn excerpt(error: &ScriptError) -> impl Iterator<Item = &str> {
    let parts = match error {
        ScriptError::Exception { excerpt, hint, .. } => [excerpt.as_deref(), hint.as_deref()],
        _ => [None, None],
    };
    parts.into_iter().flatten()
}

struct WorkerSink(Rc<WorkerShared>);

impl script::Sink for WorkerSink {
    fn record(
        &self,
        metric: MetricId,
        tags: TagSetId,
        value: f64,
        mark: Mark,
        at: Instant,
        metadata: Option<&Metadata>,
    ) {
        self.0.record_with(Sample { metric, tags, value, at, mark }, metadata);
    }

    fn record_many(
        &self,
        tags: TagSetId,
        samples: &[(MetricId, f64)],
        at: Instant,
        metadata: Option<&Metadata>,
    ) {
        self.0.record_many(tags, samples, at, metadata);
    }
}

struct WorkerNotes(Rc<WorkerShared>);

impl script::Notes for WorkerNotes {
    fn request_started(&self, scenario: Option<ScenarioId>, at: Instant) {
        self.0.start_work(scenario, Work::Requests, at);
    }

    fn request_finished(&self, scenario: Option<ScenarioId>, at: Instant, how: Finished) -> bool {
        self.0.finish_work(scenario, Work::Requests, at);
        self.0.is_remarkable(how.duration_ns, how.mark, how.failed)
    }

    fn remember(&self, case: ExemplarCandidate) {
        self.0.remember(case);
    }

    fn error(&self, code: u16, message: &str, tags: TagSetId, example: &dyn Fn() -> String) {
        self.0.count_error(code, message, tags, example);
    }
}

struct SeatDeadline(Arc<engine::Deadline>);

impl script::InterruptDeadline for SeatDeadline {
    fn has_passed(&self, now: Instant) -> bool {
        self.0.has_passed(now)
    }
}

/// Implements `test.abort()` and `test.fail()`.
pub(crate) struct ScriptControl {
    /// The controls of the run.
    pub control: RunControl,
    /// The log.
    pub log: Arc<dyn script::Log>,
}

impl script::Control for ScriptControl {
    fn abort(&self, reason: &str) {
        self.control.stop(AbortReason::Script(Some(reason.into())));
    }

    fn fail(&self, reason: &str) {
        if !self.control.is_marked_failed() {
            let message = format!("test marked as failed: {reason}");
            self.log.log(LogLine::new(model::SystemClock::now(), model::LogLevel::Error, message));
        }
        self.control.mark_failed();
    }
}

#[cfg(test)]
mod tests;
