//! The ending of a run as its file stores it.

use engine::{AbortReason, RunOutcome};
use model::{Epoch, SystemClock, TagInterner};
use runfile::{Drops, Ending};
use runs::{DROP_CAUSES, Exit};

/// Returns the ending of a run.
pub(crate) fn build(outcome: &RunOutcome, exit: Exit, epoch: &Epoch, tags: &TagInterner) -> Ending {
    Ending {
        ended_wall_ns: epoch.wall_unix_ns(SystemClock::now()),
        elapsed_ns: u64::try_from(outcome.elapsed.as_nanos()).unwrap_or(u64::MAX),
        exit_code: i32::from(exit.code()),
        aborted: why(outcome, exit),
        flags: flags(outcome),
        drops: drops(outcome),
        samples_lost: outcome.samples_lost,
        workers_lost: outcome.workers_lost as u64,
        agents_lost: outcome.agents_lost as u64,
        tag_sets_overflowed: tags.overflowed(),
        ..Ending::default()
    }
}

/// Returns the reason for a non-zero exit code, as the terminal prints it.
fn why(outcome: &RunOutcome, exit: Exit) -> Option<String> {
    let crossed = outcome.thresholds.crossed();
    Some(match exit {
        Exit::Ok => return None,
        Exit::ThresholdsFailed => format!("thresholds on metrics '{}' have been crossed", crossed.join(", ")),
        Exit::SetupTimeout => "setup() execution timed out".into(),
        Exit::TeardownTimeout => "teardown() execution timed out".into(),
        Exit::Signal => "test run was aborted by a signal".into(),
        Exit::Remote => "test run was stopped through the REST API".into(),
        Exit::MarkedFailed => "test run was marked as failed".into(),
        Exit::ScriptAborted => match &outcome.aborted {
            Some(AbortReason::Script(Some(message))) => message.to_string(),
            _ => "test aborted".into(),
        },
        Exit::ScriptException => "the script threw".into(),
        Exit::NotValid => "the measurement is not valid".into(),
        Exit::NotStored => "the run or a report could not be stored, or not all of it".into(),
        // Runs never end with these exits: audits and comparisons produce them.
        Exit::InvalidConfig
        | Exit::CannotServe
        | Exit::AuditFailed
        | Exit::Regressed
        | Exit::NotJudged
        | Exit::HubLost
        | Exit::Panic
        | Exit::Other => match &outcome.aborted {
            Some(AbortReason::Listener(why)) => format!("test run was aborted: {why}"),
            _ => "test run could not go on".into(),
        },
    })
}

fn flags(outcome: &RunOutcome) -> Vec<String> {
    let all = [
        (outcome.marked_failed, "marked_failed"),
        (outcome.setup_error.is_some(), "setup_failed"),
        (outcome.teardown_error.is_some(), "teardown_failed"),
        (outcome.init_error.is_some(), "init_failed"),
    ];
    all.iter().filter(|(holds, _)| *holds).map(|(_, word)| (*word).to_owned()).collect()
}

fn drops(outcome: &RunOutcome) -> Vec<Drops> {
    let of_scenario = |(scenario, counts): (u16, &engine::DropCounts)| {
        let counts = *counts;
        DROP_CAUSES.map(|cause| Drops {
            scenario,
            cause: cause.as_str().to_owned(),
            count: counts.count(cause),
        })
    };
    (0..).zip(&outcome.drops).flat_map(of_scenario).filter(|drops| drops.count > 0).collect()
}
