//! The answers of `/api/v1` for the page, from stored runs and the run in progress; one file per answer.
//!
//! The crate must not know sockets (`server` calls it) or flags. It computes no statistics: every figure comes from `runs` and
//! `report`, as in the terminal.

mod about;
mod ahead;
mod audit;
mod cache;
mod capacity;
mod columns;
mod compare;
mod diagnosis;
mod distribution;
mod errors;
mod evidence;
mod fleet;
mod generator;
mod headline;
mod history;
mod html;
mod library;
mod list;
mod live;
mod logs;
mod packed;
mod points;
mod remarks;
mod requests;
mod run;
mod scope;
mod series;
mod services;
mod study;
mod tags;
mod thresholds;
mod trace;
mod traces;
mod validity;
mod values;
mod whole;
mod widening;

pub use html::render as report_html;
pub use library::{Library, Own};
pub use live::{LivePage, PagedRun, Recorded};

use std::sync::{Mutex, MutexGuard, PoisonError};

use runs::Failure;
use server::{PageError, Question, View};

use scope::Scope;

/// Default address of `plimsoll serve`: a port that browsers open. They block 6566 (Fetch Standard, 2.9 "Port blocking").
pub const ADDRESS_DEFAULT: &str = "localhost:6568";

/// Data of an answer that is not in the run's file.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// Notes written on the page.
    pub remark: remarks::Remark,
    /// The command that opens the run again.
    pub reopen: String,
}

/// Returns the answer to a question about a run, as JSON.
fn of_run(scope: &Scope, question: &Question, beside: &Beside) -> Result<String, PageError> {
    match question.view {
        View::Run => run::answer(scope, beside),
        View::Series => series::answer(scope, question),
        View::Requests => requests::answer(scope),
        View::Distribution => distribution::answer(scope, question),
        View::Errors => errors::answer(scope),
        View::Logs => logs::answer(scope, question),
        View::Generator => generator::answer(scope),
        View::Validity => validity::answer(scope),
        View::Fleet => fleet::answer(scope),
        View::Audit => audit::answer(scope),
        View::Thresholds => thresholds::answer(scope),
        View::Traces => traces::answer(scope, question),
        View::Trace => trace::answer(scope, question),
        View::Services => services::answer(scope),
        View::Evidence => evidence::answer(scope),
        View::Diagnosis => diagnosis::answer(scope),
        View::About | View::Runs | View::Compare | View::History | View::Capacity | View::Report => {
            Err(PageError::NotFound("failed to answer: that is about no single run".into()))
        }
    }
}

/// Locks a mutex, also if its last holder panicked: the guarded data is consistent at every moment.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Converts a failed lookup of a name into an error.
fn not_found(failure: Failure) -> PageError {
    PageError::NotFound(failure.text)
}

/// Returns the command that shows a run again after this process has ended.
pub fn reopen(runs_flag: &str, id: &str) -> String {
    format!("plimsoll serve{runs_flag}  http://{}/runs/{id}", ADDRESS_DEFAULT)
}

/// Adds to a count and saturates: counts from a hostile file may overflow.
fn add(sum: &mut u64, part: u64) {
    *sum = sum.saturating_add(part);
}

/// Adds up counts.
fn total(parts: impl Iterator<Item = u64>) -> u64 {
    parts.fold(0, u64::saturating_add)
}

/// The niceness of background threads: the lowest priority.
const NICE: i32 = 19;

/// Lowers the priority of the calling thread. On Linux a priority belongs to a thread; elsewhere it would affect the whole process.
fn stand_back() {
    if cfg!(target_os = "linux") {
        // If the system refuses, the priority stays unchanged.
        let _ = rustix::process::setpriority_process(None, NICE);
    }
}

fn json(answer: &impl serde::Serialize) -> Result<String, PageError> {
    serde_json::to_string(answer).map_err(|error| PageError::Failed(format!("failed to answer: {error}")))
}

fn failed(failure: Failure) -> PageError {
    PageError::Failed(failure.text)
}

fn damaged(error: runfile::ReadError) -> PageError {
    PageError::Failed(format!("failed to {error}"))
}

/// Returns a numeric parameter of a question.
fn number<T: std::str::FromStr>(question: &Question, name: &str) -> Result<Option<T>, PageError> {
    let Some(text) = question.get(name) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| invalid(name, text, "write a whole number"))
}

/// Returns the number of rows that a question asks for, at most `max`.
fn limit(question: &Question, max: usize) -> Result<Option<usize>, PageError> {
    match number(question, "limit")? {
        Some(0) => Err(invalid("limit", "0", &format!("write a number from 1 to {max}"))),
        asked => Ok(asked.map(|asked| max.min(asked))),
    }
}

/// Maximum length of an invalid value in a message, characters.
const SHOWN_MAX: usize = 60;

/// Returns the error of an invalid parameter; `advice` says what to write.
fn invalid(name: &str, text: &str, advice: &str) -> PageError {
    let shown: String = text.chars().take(SHOWN_MAX).collect();
    PageError::Invalid(format!("failed to read {name}={shown:?}: {advice}"))
}

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_open_the_port_of_the_page() {
        let port: u16 =
            ADDRESS_DEFAULT.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        // The ports above 6000 in the Fetch Standard's list of bad ports.
        let refused = [6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080];
        assert!(!refused.contains(&port), "{port}");
    }
}
