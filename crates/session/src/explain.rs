//! Log messages that explain a non-zero exit code.

use engine::{AbortReason, LifecycleError, ProgramError, RunOutcome};
use model::plan::Compat;
use model::{LogLevel, LogLine, SystemClock};
use runs::Exit;

use crate::Context;
use crate::exit::Iterations;

/// Logs the reason for a non-zero exit code.
pub(crate) fn explain(
    outcome: &RunOutcome,
    iterations: Iterations,
    compat: Compat,
    exit: Exit,
    context: &Context,
) {
    let error = |text: String| context.logger.say(LogLevel::Error, text);
    if let Some(why) = &outcome.init_error {
        explain_program("initialise the VUs", why, context);
    }
    if let Some(why) = &outcome.setup_error {
        explain_lifecycle("setup", why, context);
    }
    if let Some(why) = &outcome.teardown_error {
        explain_lifecycle("teardown", why, context);
    }
    match &outcome.aborted {
        Some(AbortReason::Signal) => error("test run was aborted by a signal".into()),
        Some(AbortReason::Script(message)) => {
            error(message.as_deref().unwrap_or("test aborted").to_owned());
        }
        Some(AbortReason::Remote) => error("test run was stopped through the REST API".into()),
        Some(AbortReason::Listener(why)) => error(format!("test run was aborted: {why}")),
        Some(AbortReason::Threshold | AbortReason::Enough) | None => {}
    }
    if outcome.marked_failed {
        error("test run was marked as failed".into());
    }
    let crossed = outcome.thresholds.crossed();
    if !crossed.is_empty() {
        let early = match outcome.aborted {
            Some(AbortReason::Threshold) => "; one of them stopped the test early",
            _ => "",
        };
        error(format!("thresholds on metrics '{}' have been crossed{early}", crossed.join(", ")));
    }
    if iterations.completed > 0 {
        for unmatched in outcome.totals.unmatched() {
            context.logger.say(LogLevel::Warn, unmatched.to_string());
        }
    }
    if iterations.all_threw() && compat == Compat::Honest {
        let note = if exit == Exit::ScriptException { " (--compat strict would exit with 0)" } else { "" };
        error(format!("all {} iterations ended in an exception{note}", iterations.completed));
    }
    let began = outcome.init_error.is_none() && outcome.setup_error.is_none();
    if began && iterations.completed == 0 {
        let text = "no iteration finished; increase the duration or gracefulStop";
        context.logger.say(LogLevel::Warn, text);
    }
    if outcome.samples_lost > 0 {
        error(format!(
            "{} samples were dropped because the outputs were too slow; the summary includes them",
            outcome.samples_lost
        ));
    }
}

fn explain_lifecycle(function: &str, error: &LifecycleError, context: &Context) {
    match error {
        LifecycleError::TimedOut(limit) => {
            let seconds = limit.as_secs_f64();
            let text = format!("{function}() execution timed out after {seconds} seconds");
            let mut line = LogLine::new(SystemClock::now(), LogLevel::Error, text);
            let hint = format!("the time limit is the option {function}Timeout");
            line.fields = vec![("hint", hint)];
            script::Log::log(&*context.logger, line);
        }
        LifecycleError::Failed(error) => explain_program(&format!("run {function}()"), error, context),
    }
}

fn explain_program(what: &str, error: &ProgramError, context: &Context) {
    match error {
        ProgramError::Exception(text) => {
            let mut line = LogLine::new(SystemClock::now(), LogLevel::Error, text.clone());
            line.source = "stacktrace";
            line.fields = vec![("hint", "script exception".to_owned())];
            script::Log::log(&*context.logger, line);
        }
        ProgramError::Data(_) | ProgramError::System(_) => {
            context.logger.say(LogLevel::Error, format!("failed to {error}"))
        }
        // The reason for the abort is logged separately.
        ProgramError::Interrupted | ProgramError::Aborted => {}
        ProgramError::Panicked(_) => {
            context
                .logger
                .say(LogLevel::Error, format!("failed to {what}: this is a bug in plimsoll: {error}"));
        }
    }
}
