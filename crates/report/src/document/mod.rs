//! The data of a report of a stored run, read by every renderer.
//!
//! Numbers come from [`SummaryInput`], the same that the terminal shows, so that no two surfaces can differ.

mod judged;
mod verdict;

use std::time::Duration;

use analysis::traces::Attribution;
use api::capacity::CapacityStudy;
use api::diagnosis::DiagnosisReport;
use model::capacity::LoadUnit;
use model::plan::{Compat, TimeUnit};
use model::{AgentState, DropCause, ExemplarKind};

use crate::Lang;
use crate::comparison::ComparisonReport;
use crate::evidence::EvidenceView;
use crate::number;
use crate::summary::{Statistic, SummaryInput, Values};

pub use judged::{Judged, Margin};
pub use verdict::{Verdict, Why};

/// Everything that a report of one run says.
#[derive(Clone, Debug, Default)]
pub struct RunReport {
    /// Which run it is.
    pub identity: Identity,
    /// Whether the run is over and its record whole.
    pub state: RunState,
    /// The part of the run that the numbers are of; `None` is the whole run.
    pub window: Option<TimeRange>,
    /// How it ended; `None` where it is unknown, as for live and partial runs.
    pub outcome: Option<Outcome>,
    /// All numbers, thresholds and checks.
    pub summary: SummaryInput,
    /// One unit for all times; `None` chooses by value. As the run was shown on the terminal.
    pub time_unit: Option<TimeUnit>,
    /// Under [`Compat::Strict`], k6's metrics alone.
    pub compat: Compat,
    /// Requests by endpoint, in any order.
    pub endpoints: Vec<Endpoint>,
    /// Errors.
    pub errors: Errors,
    /// Requests worth looking at one by one, in the order to show.
    pub exemplars: Vec<ExemplarEntry>,
    /// Iterations that were due and not started, by scenario and cause.
    pub drops: Vec<DropEntry>,
    /// The load generator's own measurements.
    pub generator: Generator,
    /// Further facts about host and environment, in display order. The caller has removed secrets.
    pub environment: Vec<(String, String)>,
    /// The calibrated capacity of the load generator, where it was measured.
    pub can_send: Option<CanSend>,
    /// The consolidated options.
    pub options: Option<serde_json::Value>,
    /// The last lines of the log.
    pub log: LogTail,
    /// Where the run comes from, if another tool made it.
    pub imported: Option<Imported>,
    /// Server-side evidence.
    pub evidence: EvidenceView,
    /// Events of the run as a whole, in order.
    pub timeline: Vec<Milestone>,
    /// The diagnosis; `None` where none was made.
    pub diagnosis: Option<DiagnosisReport>,
    /// The study of capacity that the run is a step of.
    pub capacity: Option<CapacityStudy>,
    /// The comparison with the previous run of the same script.
    pub previous: Option<ComparisonReport>,
    /// Why the comparison with the previous run failed.
    pub not_compared: Option<String>,
}

/// Something that happened to a run as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Milestone {
    /// When, from the start.
    pub at: Duration,
    /// What, as the run's file has it: `setup_started`, `scenarios_ended`.
    pub kind: String,
    /// Further facts.
    pub text: String,
}

/// The capacity of the load generator, and the highest planned rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CanSend {
    /// Requests per second that it sends in time.
    pub rate_per_s: u64,
    /// It may be more.
    pub is_lower_bound: bool,
    /// CPU time of a request, nanoseconds.
    pub cpu_per_request_ns: u64,
    /// When that was measured, nanoseconds since the Unix epoch.
    pub measured_unix_ns: i64,
    /// Requests per second in the busiest second of the run.
    pub busiest_per_s: f64,
}

impl RunReport {
    /// Further facts about host and environment as they are shown, in a language.
    pub(crate) fn facts(&self, lang: Lang) -> Vec<(String, String)> {
        let mut facts = self.environment.clone();
        facts.extend(self.can_send.iter().flat_map(|can_send| can_send.facts(lang)));
        facts
    }
}

impl CanSend {
    fn facts(&self, lang: Lang) -> [(String, String); 2] {
        let rate = self.rate_per_s.to_string();
        let rate = if self.is_lower_bound { lang.at_least(rate) } else { rate };
        let cpu = number::duration(self.cpu_per_request_ns as f64 / 1e6, None);
        let can_send = lang.generator_capacity_measured(rate, cpu, api::rfc3339_s(self.measured_unix_ns));
        let percent = self.busiest_per_s / self.rate_per_s.max(1) as f64 * 100.0;
        let asked = [format!("{:.0}", self.busiest_per_s), format!("{percent:.0}")];
        let asked = lang.highest_planned_rate_of_capacity(&asked[0], &asked[1]);
        [(lang.generator_capacity().to_owned(), can_send), (lang.highest_planned_rate().to_owned(), asked)]
    }
}

/// Where a run of another tool comes from, and what is not known of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// The format that it was read from.
    pub source: String,
    /// The file that was read.
    pub file: String,
    /// Whether the start is the source's; if not, it is the time of the import.
    pub is_start_known: bool,
    /// Data that the source lacks, a sentence each, in English.
    pub gaps: Vec<String>,
    /// Figures as the source stated them, or as they follow from its rows.
    pub figures: Vec<StatedFigure>,
}

/// One figure of a source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatedFigure {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// `ms`, `%`, `/s`; empty for a plain count.
    pub unit: String,
    /// How to read it.
    pub note: String,
}

impl StatedFigure {
    /// The value with its unit, without digits that say nothing: `112.52 ms`, `10.67 %`, `3`.
    pub fn text(&self) -> String {
        let rounded = (self.value * 1e3).round() / 1e3;
        let value = if rounded.is_finite() { rounded } else { self.value };
        if self.unit.is_empty() { value.to_string() } else { format!("{value} {}", self.unit) }
    }
}

/// Which run it is. Empty texts are not shown.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// The run's id.
    pub id: String,
    /// The name its owner gave it.
    pub name: String,
    /// The script as it was named.
    pub script: String,
    /// The start by the wall clock, nanoseconds since 1970 UTC.
    pub started_unix_ns: i64,
    /// From the start to the end, or as far as is known.
    pub elapsed: Duration,
    /// The version of Plimsoll that ran it.
    pub plimsoll_version: String,
    /// The commit that the script was in.
    pub commit: String,
    /// Whether there were changes on top of that commit.
    pub is_dirty: bool,
    /// The version of what was tested.
    pub target_version: String,
    /// The run's own tags.
    pub tags: Vec<(String, String)>,
    /// Notes attached to it.
    pub notes: Vec<String>,
    /// The load of the step, if the run is a step of a study.
    pub step: Option<(f64, LoadUnit)>,
}

/// Whether a run is over and its record whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunState {
    /// It is over, and everything was written.
    #[default]
    Complete,
    /// It is over without an ending: the process was killed, or the disk was full.
    Partial,
    /// It is still going.
    Live,
}

/// A time range of a run, relative to its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    /// Where it begins.
    pub from: Duration,
    /// Where it ends.
    pub to: Duration,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code of the process.
    pub exit_code: u8,
    /// The message of the exit code, as on the terminal: `thresholds on metrics '…' have been crossed`. Empty with code 0.
    pub message: String,
}

/// The requests of one endpoint: one value of the tags `method` and `name`.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    /// The tag `method`.
    pub method: String,
    /// The tag `name`: the URL, or what the script gave.
    pub name: String,
    /// `http_reqs`.
    pub requests: u64,
    /// Those of them with `http_req_failed`.
    pub failed: u64,
    /// `http_req_duration` in milliseconds, with the same statistics as the summary; a [`Values::Trend`] or
    /// [`Values::NotApplicable`].
    pub duration: Values,
}

/// Errors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Errors {
    /// Distinct errors, in any order.
    pub distinct: Vec<ErrorEntry>,
    /// How many there were that are in none of the entries, because there were too many distinct ones.
    pub beyond: u64,
}

/// One distinct error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorEntry {
    /// k6's error code; 0 for exceptions of the script.
    pub code: u16,
    /// The message.
    pub message: String,
    /// How often.
    pub count: u64,
    /// The first one in full: URL or stack.
    pub example: String,
}

/// One request that stands for others.
#[derive(Clone, Debug, PartialEq)]
pub struct ExemplarEntry {
    /// Why it was kept.
    pub kind: ExemplarKind,
    /// When it ended, from the start of the run.
    pub at: Duration,
    /// Its `http_req_duration` in milliseconds.
    pub duration: Statistic,
    /// The tag `method`.
    pub method: String,
    /// Its URL, or the tag `name` where that is all that is known.
    pub url: String,
    /// The tag `status`; `0` without a response.
    pub status: String,
    /// The trace it belongs to.
    pub trace_id: Option<u128>,
    /// Whether that is in the file.
    pub is_trace_kept: bool,
    /// Whose its time was, where its trace says so.
    pub whole: Option<Attribution>,
    /// Errors; empty where there are none.
    pub error: String,
}

/// Iterations that were due and not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropEntry {
    /// The scenario.
    pub scenario: String,
    /// Why.
    pub cause: DropCause,
    /// How many.
    pub count: u64,
}

/// The load generator's own measurements. Its start delay is the metric `iteration_lateness` of the summary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Generator {
    /// Threads that made load; 0 where that is not known.
    pub workers: u32,
    /// Threads that stopped answering.
    pub workers_lost: u32,
    /// Samples that did not fit into a queue to an export.
    pub samples_lost: u64,
    /// Windows that did not reach the run file.
    pub windows_lost: u64,
    /// The agents that made the load; none where one process did.
    pub agents: Vec<Agent>,
}

/// An agent that made load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// Its share of the test, of 1.
    pub share: f64,
    /// Its place in the run.
    pub state: AgentState,
    /// Iterations per second that were due on it, and those that it finished; `None` without arrival rates.
    pub rates: Option<(f64, f64)>,
    /// Share of a core that its busiest worker thread had at worst.
    pub cpu_max: Option<f64>,
    /// 99th percentile of the lateness of its iterations, milliseconds.
    pub lateness_p99_ms: Option<f64>,
    /// From when on its load was missing, and until when; from the start.
    pub missing: Option<(Duration, Option<Duration>)>,
    /// Doubts about its measurement, in English.
    pub doubts: String,
}

/// The last lines of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogTail {
    /// The lines as text, the oldest first.
    pub lines: Vec<String>,
    /// Lines before them.
    pub before: u64,
}
