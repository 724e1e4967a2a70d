//! The header of a run file, written when the run begins.

use std::collections::BTreeMap;

use model::SystemClock;
use model::plan::{Compat, Plan};
use runfile::{EnvVar, Header, Module, ReportFacts, ScenarioFacts, ThresholdFacts};
use runs::{build, calibration, machine_facts, unit_word};

use crate::Context;
use crate::test::Test;

/// Facts in a run's file besides the test.
#[derive(Clone, Debug, Default)]
pub struct RecordSettings {
    /// Whether the run leaves no file.
    pub is_off: bool,
    /// The run's name.
    pub name: Option<String>,
    /// Notes on the run.
    pub notes: Vec<String>,
    /// The version of the target.
    pub target_version: Option<String>,
    /// Tags of the run that its samples do not carry.
    pub tags: BTreeMap<String, String>,
    /// The study that the run is a level of.
    pub study: Option<runfile::StudyFacts>,
    /// Names of variables whose values are stored, whatever they look like.
    pub stored_variables: Vec<String>,
}

/// Returns the facts that are known before the first VU starts.
pub(crate) fn build(
    test: &Test,
    context: &Context,
    settings: &RecordSettings,
    run_id: &str,
    workers: usize,
) -> Header {
    let (plan, now) = (&test.plan, SystemClock::now());
    let modules = modules(test);
    Header {
        run_id: run_id.to_owned(),
        name: settings.name.clone(),
        started_wall_ns: context.epoch.wall_unix_ns(now),
        started_ns: now.as_ns(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: build::commit(),
        target_version: settings.target_version.clone(),
        script: test.script.source.name.clone(),
        environment: environment(&test.env, context.env.all(), &modules),
        modules,
        options_json: plan.options_json.clone(),
        secret_names: Vec::new(),
        stored_names: settings.stored_variables.clone(),
        redactor: context.redactor.clone(),
        command_line: std::env::args_os().map(|word| without_secrets(&word.to_string_lossy())).collect(),
        host: machine_facts(workers, calibration::load(context.calibration_file().as_deref(), workers)),
        tags: plan.tags.clone().into_iter().chain(settings.tags.clone()).collect(),
        compat_strict: plan.compat == Compat::Strict,
        report: report_facts(plan),
        thresholds: plan.thresholds.iter().map(ThresholdFacts::from).collect(),
        segment: segment(plan),
        merged_from: Vec::new(),
        imported: None,
        study: settings.study.clone().map(Box::new),
        agents: Vec::new(),
    }
}

/// Masks secrets in a command-line argument: values of a mocked secret source, and the token of a secret server.
fn without_secrets(word: &str) -> String {
    const SOURCES: [&str; 2] = ["mock=", "url="];
    let config = word.strip_prefix("--secret-source=").unwrap_or(word);
    let Some(source) = SOURCES.iter().find(|source| config.starts_with(**source)) else {
        return word.to_owned();
    };
    let kept = word.len() - config.len() + source.len();
    format!("{}***SECRET_REDACTED***", &word[..kept])
}

fn modules(test: &Test) -> Vec<Module> {
    let module = |(path, text): (String, std::sync::Arc<str>)| Module {
        path,
        text: text.to_string(),
        sha256: String::new(),
    };
    test.script.bundle.modules().into_iter().map(module).collect()
}

/// Returns variables set with `--env`, and those of the process that the script names. A shell has many more, which may be private
/// and do not belong in a file that is shared.
fn environment(
    given: &BTreeMap<String, String>,
    of_process: &BTreeMap<String, String>,
    modules: &[Module],
) -> Vec<EnvVar> {
    let is_named = |name: &str| modules.iter().any(|module| has_word(&module.text, name));
    let is_kept = |name: &str, value: &String| of_process.get(name) != Some(value) || is_named(name);
    let kept = given.iter().filter(|(name, value)| is_kept(name, value));
    kept.map(|(name, value)| EnvVar { name: name.clone(), value: Some(value.clone()) }).collect()
}

/// Returns true if a text contains a whole word: scripts contain single letters that are also names of variables.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    text.match_indices(word).any(|(at, found)| {
        let (before, after) = (&text[..at], &text[at + found.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

fn report_facts(plan: &Plan) -> ReportFacts {
    let scenario = |scenario: &model::Scenario| ScenarioFacts {
        name: scenario.name.to_string(),
        executor: scenario.executor.as_str().to_owned(),
        is_open: scenario.executor.is_open(),
    };
    ReportFacts {
        trend_stats: plan.summary.trend_stats.clone(),
        time_unit: plan.summary.time_unit.map(|unit| unit_word(unit).to_owned()),
        scenarios: plan.scenarios.iter().map(scenario).collect(),
    }
}

/// Returns the segment, for example `0:1/3`; empty for the whole test.
fn segment(plan: &Plan) -> String {
    if plan.segment == model::plan::Segment::default() {
        return String::new();
    }
    let fraction =
        |(over, under): (u64, u64)| if under == 1 { over.to_string() } else { format!("{over}/{under}") };
    format!("{}:{}", fraction(plan.segment.from), fraction(plan.segment.to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_scripts_own_environment_is_kept() {
        let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let process = map(&[("HOME", "/h"), ("HOST", "a"), ("PAGER", "less"), ("_", "/bin"), ("HOS", "b")]);
        let mut given = process.clone();
        given.extend(map(&[("PAGER", "more"), ("NEW", "1")]));
        let script = Module { text: "http.get(__ENV.HOST, HOST_PAGER)".into(), ..Module::default() };
        let names: Vec<String> =
            environment(&given, &process, &[script]).into_iter().map(|variable| variable.name).collect();
        assert_eq!(names, ["HOST", "NEW", "PAGER"]);
    }

    #[test]
    fn segments_are_written_as_they_are_asked_for() {
        let mut plan = Plan::default();
        assert_eq!(segment(&plan), "");
        plan.segment.to = (1, 3);
        assert_eq!(segment(&plan), "0:1/3");
    }
}
