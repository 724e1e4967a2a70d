//! Exit codes: k6's, and the function that chooses among them.

use engine::{AbortReason, LifecycleError, ProgramError, RunOutcome};
use model::Grade;
use model::plan::Compat;
use runs::Exit;

/// Counts of a run's iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Iterations {
    /// Iterations that completed or threw an exception.
    pub(crate) completed: u64,
    /// Completed iterations that threw an exception.
    pub(crate) failed: u64,
}

impl Iterations {
    /// Returns true if every completed iteration threw an exception.
    pub(crate) fn all_threw(self) -> bool {
        self.completed > 0 && self.failed >= self.completed
    }
}

/// Returns the exit of a run. As in k6, an early end of the run outranks `test.fail()`, which outranks thresholds.
pub(crate) fn of_run(outcome: &RunOutcome, iterations: Iterations, compat: Compat) -> Exit {
    let early = outcome
        .init_error
        .as_ref()
        .map(|error| of_program(error, outcome.aborted.as_ref()))
        .or_else(|| outcome.setup_error.as_ref().map(|error| of_setup(error, outcome.aborted.as_ref())))
        .or_else(|| outcome.aborted.as_ref().filter(|why| **why != AbortReason::Enough).map(of_abort))
        .or_else(|| {
            outcome.teardown_error.as_ref().map(|error| of_teardown(error, outcome.aborted.as_ref()))
        });
    if let Some(exit) = early {
        return exit;
    }
    if outcome.marked_failed {
        return Exit::MarkedFailed;
    }
    if !outcome.thresholds.ok() {
        return Exit::ThresholdsFailed;
    }
    if compat == Compat::Honest && iterations.all_threw() {
        return Exit::ScriptException;
    }
    Exit::Ok
}

/// Returns the exit of a run with its validity grade. If validity is required and missing, results about the target such as
/// thresholds do not count; an early end of the run and `test.fail()` still do.
pub(crate) fn of_judged(exit: Exit, grade: Grade, is_required: bool) -> Exit {
    let is_of_numbers = matches!(exit, Exit::Ok | Exit::ThresholdsFailed);
    if is_required && is_of_numbers && grade != Grade::Valid { Exit::NotValid } else { exit }
}

/// Returns the exit of a run that is not stored, or not all of it. Another reason to fail stays the reason. k6 stores no runs, so
/// that `--compat strict` keeps its code.
pub(crate) fn of_unstored(exit: Exit, compat: Compat) -> Exit {
    if exit == Exit::Ok && compat == Compat::Honest { Exit::NotStored } else { exit }
}

fn of_setup(error: &LifecycleError, aborted: Option<&AbortReason>) -> Exit {
    match error {
        LifecycleError::TimedOut(_) => Exit::SetupTimeout,
        LifecycleError::Failed(error) => of_program(error, aborted),
    }
}

fn of_teardown(error: &LifecycleError, aborted: Option<&AbortReason>) -> Exit {
    match error {
        LifecycleError::TimedOut(_) => Exit::TeardownTimeout,
        LifecycleError::Failed(error) => of_program(error, aborted),
    }
}

fn of_program(error: &ProgramError, aborted: Option<&AbortReason>) -> Exit {
    match error {
        ProgramError::Exception(_) => Exit::ScriptException,
        ProgramError::Data(_) | ProgramError::System(_) => Exit::Other,
        ProgramError::Aborted => Exit::ScriptAborted,
        ProgramError::Panicked(_) => Exit::Panic,
        ProgramError::Interrupted => aborted.map_or(Exit::Other, of_abort),
    }
}

fn of_abort(reason: &AbortReason) -> Exit {
    match reason {
        AbortReason::Signal => Exit::Signal,
        AbortReason::Script(_) => Exit::ScriptAborted,
        AbortReason::Threshold => Exit::ThresholdsFailed,
        AbortReason::Listener(_) => Exit::Other,
        AbortReason::Remote => Exit::Remote,
        AbortReason::Enough => Exit::Ok,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use model::ThresholdResult;
    use tally::{Evaluation, Thresholds, Totals};

    use super::*;

    fn outcome() -> RunOutcome {
        RunOutcome {
            aborted: None,
            marked_failed: false,
            init_error: None,
            setup_error: None,
            teardown_error: None,
            setup_data: None,
            totals: Totals::new(Arc::default(), Arc::default(), Thresholds::default()),
            thresholds: Evaluation::default(),
            drops: Vec::new(),
            samples_lost: 0,
            workers_lost: 0,
            agents_lost: 0,
            elapsed: Duration::ZERO,
        }
    }

    fn crossed() -> Evaluation {
        let result = ThresholdResult {
            selector: "http_reqs".into(),
            metric: model::metric::builtin::HTTP_REQS,
            source: "count>1".into(),
            ok: false,
            observed: model::Quantile::None,
            limit: 1.0,
        };
        Evaluation { results: vec![result], abort: None }
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut RunOutcome), expect: u8) {
        let mut outcome = outcome();
        change(&mut outcome);
        assert_eq!(of_run(&outcome, Iterations { completed: 1, failed: 0 }, Compat::Honest).code(), expect);
    }

    #[test]
    fn outcomes_have_the_codes_of_k6() {
        let exception = || ProgramError::Exception("Error: boom".into());
        let late = || Some(LifecycleError::TimedOut(Duration::from_secs(1)));
        check(|_| {}, 0);
        check(|it| it.thresholds = crossed(), 99);
        check(|it| it.aborted = Some(AbortReason::Threshold), 99);
        check(|it| it.setup_error = late(), 100);
        check(|it| it.teardown_error = late(), 101);
        check(|it| it.aborted = Some(AbortReason::Remote), 103);
        check(|it| it.aborted = Some(AbortReason::Signal), 105);
        check(|it| it.aborted = Some(AbortReason::Enough), 0);
        check(|it| (it.aborted, it.thresholds) = (Some(AbortReason::Enough), crossed()), 99);
        check(|it| it.init_error = Some(exception()), 107);
        check(|it| it.setup_error = Some(exception().into()), 107);
        check(|it| it.teardown_error = Some(exception().into()), 107);
        check(|it| it.aborted = Some(AbortReason::Script(None)), 108);
        check(|it| it.init_error = Some(ProgramError::Aborted), 108);
        check(|it| it.init_error = Some(ProgramError::System("start 4 worker threads".into())), 255);
        check(|it| it.setup_error = Some(ProgramError::Panicked("x".into()).into()), 109);
        check(|it| it.marked_failed = true, 110);
        check(|it| it.aborted = Some(AbortReason::Listener("disk".into())), 255);
    }

    #[test]
    fn what_ended_the_run_outranks_what_it_measured() {
        let stopped = |it: &mut RunOutcome, reason| {
            it.aborted = Some(reason);
            it.setup_error = Some(ProgramError::Interrupted.into());
            it.thresholds = crossed();
            it.marked_failed = true;
        };
        check(|it| stopped(it, AbortReason::Signal), 105);
        check(|it| stopped(it, AbortReason::Script(None)), 108);
        check(|it| (it.marked_failed, it.thresholds) = (true, crossed()), 110);
    }

    #[test]
    fn numbers_that_cannot_be_trusted_decide_nothing() {
        let of = |exit, grade, is_required| of_judged(exit, grade, is_required).code();
        assert_eq!(of(Exit::Ok, Grade::Valid, true), 0);
        assert_eq!(of(Exit::Ok, Grade::Degraded, true), 120);
        assert_eq!(of(Exit::Ok, Grade::Unmeasured, true), 120);
        assert_eq!(of(Exit::ThresholdsFailed, Grade::Invalid, true), 120);
        assert_eq!(of(Exit::ThresholdsFailed, Grade::Valid, true), 99);
        assert_eq!(of(Exit::Signal, Grade::Invalid, true), 105);
        assert_eq!(of(Exit::Ok, Grade::Invalid, false), 0);
    }

    #[test]
    fn a_run_that_is_not_stored_has_not_passed() {
        assert_eq!(of_unstored(Exit::Ok, Compat::Honest).code(), 123);
        assert_eq!(of_unstored(Exit::Ok, Compat::Strict).code(), 0);
        assert_eq!(of_unstored(Exit::ThresholdsFailed, Compat::Honest).code(), 99);
        assert_eq!(of_unstored(Exit::Signal, Compat::Honest).code(), 105);
    }

    #[test]
    fn a_test_in_which_every_iteration_threw_has_failed() {
        let of =
            |completed, failed, compat| of_run(&outcome(), Iterations { completed, failed }, compat).code();
        assert_eq!(of(3, 3, Compat::Honest), 107);
        assert_eq!(of(3, 3, Compat::Strict), 0);
        assert_eq!(of(3, 2, Compat::Honest), 0);
        assert_eq!(of(0, 0, Compat::Honest), 0);
    }
}
