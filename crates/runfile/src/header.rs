//! The header and the ending of a run's file: facts about the run as a whole.

use std::collections::BTreeMap;
use std::time::Duration;

use model::plan::{ThresholdCondition, ThresholdSpec};
use redact::Redactor;
use serde::{Deserialize, Serialize};

/// The facts known when a run begins.
///
/// Secrets may be in it: [`crate::Writer::create`] hides them before anything is written (see [`redact::HIDDEN`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    /// The run's id: lowercase letters and digits, unique in practice.
    pub run_id: String,
    /// The name given to it.
    pub name: Option<String>,
    /// The wall clock at the start, nanoseconds since the Unix epoch.
    pub started_wall_ns: i64,
    /// The monotonic clock at the same moment: what every other instant of the file is compared with.
    pub started_ns: u64,
    /// Plimsoll's version.
    pub version: String,
    /// The commit that Plimsoll was built from.
    pub commit: Option<Commit>,
    /// The version of the target, as the user stated it.
    pub target_version: Option<String>,
    /// The script as it was named on the command line.
    pub script: String,
    /// The script and every module it loaded; its own table in the file.
    #[serde(skip)]
    pub modules: Vec<Module>,
    /// The consolidated options as JSON, in k6's shape.
    pub options_json: String,
    /// The environment that the script could see; its own table in the file.
    #[serde(skip)]
    pub environment: Vec<EnvVar>,
    /// Names of variables that are secret whatever they are called.
    pub secret_names: Vec<String>,
    /// Names of variables whose values are stored because the user asks for it.
    #[serde(skip)]
    pub stored_names: Vec<String>,
    /// Hides texts that are secret wherever they occur.
    #[serde(skip)]
    pub redactor: Redactor,
    /// The command line, word by word.
    pub command_line: Vec<String>,
    /// The machine that made the load.
    pub host: Host,
    /// Tags of the run: for finding it, not of its samples.
    pub tags: BTreeMap<String, String>,
    /// Whether the numbers follow k6 even where k6 misleads (`--compat strict`).
    pub compat_strict: bool,
    /// The settings of the summary.
    pub report: ReportFacts,
    /// The thresholds, in the plan's order.
    pub thresholds: Vec<ThresholdFacts>,
    /// The part of the whole test, as `from:to` in exact fractions; empty for the whole.
    pub segment: String,
    /// The ids of the runs that were merged into this one, in order.
    pub merged_from: Vec<String>,
    /// Where the run comes from, if another tool made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported: Option<Box<crate::Imported>>,
    /// The study that the run is a level of, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub study: Option<Box<StudyFacts>>,
    /// The agents of the run; none where one process made the load. The writer replaces them while the run is made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<crate::AgentRow>,
}

/// The facts of a study and of one of its levels. Every level has all of it, so that a study is found again from any of its
/// runs, wherever they are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StudyFacts {
    /// Its name: levels of one study have it in common.
    pub name: String,
    /// `sweep` or `capacity`.
    pub kind: String,
    /// When its first level began, seconds since the Unix epoch.
    pub started_unix_s: i64,
    /// Which level this is, from 1 in the order in which they were made.
    pub number: u32,
    /// The unit of load: `vus`, `per_second`.
    pub unit: String,
    /// The load.
    pub load: f64,
    /// The purpose of the level, as [`model::capacity::Purpose`] has it.
    pub purpose: String,
    /// The change made for it: `REPLICAS=2`; empty where there is none.
    pub variant: String,
    /// The beginning that is not looked at.
    pub warm_up_ns: u64,
    /// The objectives of the system, as written: `http_req_duration: p(95)<800`.
    pub objectives: Vec<String>,
    /// The part of the line's lower bound to plan for.
    pub head_room: f64,
}

/// The commit of a build.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Commit {
    /// The hash.
    pub hash: String,
    /// Whether there were changes that no commit holds.
    pub dirty: bool,
}

/// A source text of the test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Its path or URL as the loader names it.
    pub path: String,
    /// Its text.
    pub text: String,
    /// SHA-256 of the text, in lowercase hexadecimal digits; filled in by the writer.
    pub sha256: String,
}

/// One variable of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvVar {
    /// Its name.
    pub name: String,
    /// Its value; `None` where it may be secret and is therefore not in the file.
    pub value: Option<String>,
}

/// The machine that made the load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Operating system and architecture.
    pub system: String,
    /// The kernel's release.
    pub kernel: String,
    /// Cores that the process may use.
    pub cores: u32,
    /// Memory of the machine.
    pub memory_bytes: u64,
    /// Memory that the process's cgroup allows, if it limits it.
    pub memory_limit_bytes: Option<u64>,
    /// Worker threads.
    pub workers: u32,
    /// The rate that it was measured to be able to send, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
}

/// The rate that a machine's generator can send to a server on its own loopback, with as many worker threads as the run has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Calibration {
    /// When it was measured, seconds since the Unix epoch.
    pub measured_unix_s: i64,
    /// The version that was measured.
    pub version: String,
    /// The highest rate of requests at which 99 % of the iterations started in time, per second.
    pub rate_per_s: u64,
    /// Whether no higher rate was tried: the machine can send more.
    pub is_lower_bound: bool,
    /// Requests per second without a plan, each VU at its own pace; 0 where that was not tried.
    pub closed_per_s: u64,
    /// CPU time of the generator per request, at that rate.
    pub cpu_per_request_ns: u64,
    /// How late timers woke at worst, at that rate.
    pub timer_lag_ns: u64,
}

/// The facts of the plan that the summary needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportFacts {
    /// Columns of trends, as written.
    pub trend_stats: Vec<String>,
    /// `s`, `ms` or `us`; `None` chooses by value.
    pub time_unit: Option<String>,
    /// The scenarios; a [`model::ScenarioId`] is an index into them.
    pub scenarios: Vec<ScenarioFacts>,
}

impl ReportFacts {
    /// Whether any scenario starts iterations by plan.
    pub fn has_open_scenario(&self) -> bool {
        self.scenarios.iter().any(|scenario| scenario.is_open)
    }
}

/// One scenario in a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScenarioFacts {
    /// Its name.
    pub name: String,
    /// k6's name of its executor.
    pub executor: String,
    /// Whether its iterations start by plan and not when the one before is done.
    pub is_open: bool,
}

/// Thresholds on one selector, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThresholdFacts {
    /// `metric` or `metric{tag:value,…}`.
    pub selector: String,
    /// The conditions.
    pub conditions: Vec<ConditionFacts>,
}

/// One condition of a threshold, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConditionFacts {
    /// `p(95)<500`.
    pub source: String,
    /// Whether crossing it ends the run.
    pub abort_on_fail: bool,
    /// How long it is not judged, from the start of the scenarios.
    pub delay_abort_eval_ns: u64,
}

impl From<&ThresholdSpec> for ThresholdFacts {
    fn from(spec: &ThresholdSpec) -> ThresholdFacts {
        let conditions = spec.conditions.iter().map(|condition| ConditionFacts {
            source: condition.source.clone(),
            abort_on_fail: condition.abort_on_fail,
            delay_abort_eval_ns: u64::try_from(condition.delay_abort_eval.as_nanos()).unwrap_or(u64::MAX),
        });
        ThresholdFacts { selector: spec.selector.clone(), conditions: conditions.collect() }
    }
}

impl From<&ThresholdFacts> for ThresholdSpec {
    fn from(facts: &ThresholdFacts) -> ThresholdSpec {
        let conditions = facts.conditions.iter().map(|condition| ThresholdCondition {
            source: condition.source.clone(),
            abort_on_fail: condition.abort_on_fail,
            delay_abort_eval: Duration::from_nanos(condition.delay_abort_eval_ns),
        });
        ThresholdSpec { selector: facts.selector.clone(), conditions: conditions.collect() }
    }
}

/// The facts known when a run is over. The result of `setup()` is not here: it often holds a session's secrets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ending {
    /// The wall clock at the end, nanoseconds since the Unix epoch.
    pub ended_wall_ns: i64,
    /// From the start of setup to the end of teardown, as the terminal said.
    pub elapsed_ns: u64,
    /// The process's exit code.
    pub exit_code: i32,
    /// Why it ended before its plan did, as the terminal said.
    pub aborted: Option<String>,
    /// Further facts about the outcome: `marked_failed`, `setup_failed`, `teardown_failed`, `init_failed`.
    pub flags: Vec<String>,
    /// Iterations that were never started.
    pub drops: Vec<Drops>,
    /// Raw samples that listeners did not get.
    pub samples_lost: u64,
    /// Worker threads that the run ended without; their last samples are lost.
    pub workers_lost: u64,
    /// Agents that were lost while the scenarios ran.
    pub agents_lost: u64,
    /// Tag sets that came when the table was full.
    pub tag_sets_overflowed: u64,
    /// Windows that did not get into the file; filled in by the writer, as the next ones.
    pub windows_lost: u64,
    /// Log lines over the limit.
    pub log_lines_lost: u64,
    /// States of the generator that did not get into the file.
    pub states_lost: u64,
    /// Exemplars over the limit.
    pub exemplars_lost: u64,
    /// Threshold results over the limit.
    pub threshold_results_lost: u64,
    /// Evidence that did not fit into the file: points, records, gaps, spans, and tens of seconds of operations.
    pub evidence_lost: u64,
}

/// Iterations of a scenario that were never started, by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Drops {
    /// The scenario's index.
    pub scenario: u16,
    /// [`model::DropCause::as_str`].
    pub cause: String,
    /// How many.
    pub count: u64,
}
