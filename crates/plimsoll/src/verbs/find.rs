//! `plimsoll find`: the safe load of a script, the bottleneck that limits it, and the first change to make, in one command.

use analysis::capacity::search;
use model::capacity::LoadUnit;
use model::plan::Plan;
use plan::CliOptions;
use report::Lang;
use report::capacity::{StudyKind, StudyReport};
use report::find::Answer;
use runs::study::CONFIDENCE;
use runs::{Exit, Failure};
use session::Context;
use session::test::Script;

use super::capacity::{exit, range, searched, style};
use super::diagnose;
use super::level_runner::{LevelRunner, refuse, seconds};
use crate::flags::{FindFlags, LevelFlags, StudyFlags};
use crate::settings;

/// SLOs of a script without thresholds. A second is where users lose their flow of thought (J. Nielsen, 1993).
const DEFAULT_SLOS: [&str; 2] = ["http_req_duration: p(95)<1000", FAILURES_SLO];

/// The SLO on failures of a script whose thresholds have none: a target that fails quickly must not look safe.
const FAILURES_SLO: &str = "http_req_failed: rate<0.01";

/// Metrics whose thresholds bound failures.
const FAILURE_METRICS: [&str; 2] = ["http_req_failed", "checks"];

/// Lengths of steps, in seconds: short ones, so that a search ends within minutes.
const WARM_UP: &str = "3s";
const STEP_MIN_S: f64 = 5.0;
const STEP_MAX_S: f64 = 15.0;
const HOLD_S: f64 = 20.0;

/// The part of the budget that is kept for the end of the last step and for the diagnosis, in seconds.
const RESERVE_S: f64 = 15.0;

/// The shortest budget in seconds: a ramp of a few steps.
const BUDGET_S_MIN: f64 = 30.0;

/// Target width of the confidence interval, relative to the load.
const TOLERANCE: f64 = 0.1;

/// Runs the subcommand.
///
/// # Errors
/// The flags or the script's thresholds are invalid, the first step could not begin, or a run cannot be read.
pub(crate) fn run(flags: &FindFlags, context: &Context) -> Result<Exit, Failure> {
    found(flags, Lang::En, context)
}

/// The same, with the answer in a language.
///
/// # Errors
/// As for [`run`].
pub(super) fn found(flags: &FindFlags, lang: Lang, context: &Context) -> Result<Exit, Failure> {
    // What cannot be measured is refused before the script is read, which may come from a terminal.
    refuse(&study_flags(flags, Vec::new()))?;
    let plan = planned(flags, context)?;
    let slos = if flags.slo.is_empty() { slos_of(&plan) } else { flags.slo.clone() };
    let is_rate = flags.rate || plan.scenarios.iter().all(|scenario| scenario.executor.is_open());
    let unit = if is_rate { LoadUnit::PerSecond } else { LoadUnit::Vus };
    let goal = search_goal(flags, unit)?;
    let study = study_flags(flags, slos);
    let mut levels = LevelRunner::new(&study, StudyKind::Capacity, unit, context)?;
    let texts: Vec<String> = levels.asked.iter().map(|asked| asked.text.clone()).collect();
    levels.report(&report::find::objectives(&texts, lang));
    let study = searched(&mut levels, goal)?;
    let diagnosis = diagnose::of_study(&study, lang, context)?;
    let answer = Answer { study: &study, diagnosis: diagnosis.as_ref() };
    print(&answer, flags.json, lang, context);
    levels.report(&commands(&study, context));
    Ok(exit(&study, levels.exit, true))
}

/// The script's plan, for its thresholds and its kind of load.
fn planned(flags: &FindFlags, context: &Context) -> Result<Plan, Failure> {
    settings::refuse_kinds(&flags.script, context)?;
    let compat = settings::compat(flags.script.compat, context)?;
    let source = settings::source(&flags.script, context)?;
    let mut env = source.env(settings::script_env(&flags.script, context, true)?);
    if let Some((name, url)) = settings::lab_script(&flags.script.script).map(|lab| lab.variable) {
        env.entry(name).or_insert(url);
    }
    let script = Script::load(source, context, env)?;
    let options = script.merged_options(context, &CliOptions::default(), compat)?;
    script.plan(context, options, compat)
}

/// The SLOs that a script's thresholds set. Those on counts depend on the length of a test, and a step has its own.
fn slos_of(plan: &Plan) -> Vec<String> {
    let conditions = |threshold: &model::plan::ThresholdSpec| {
        let selector = threshold.selector.clone();
        let steady =
            threshold.conditions.iter().filter(|condition| !condition.source.trim().starts_with("count"));
        steady.map(|condition| format!("{selector}: {}", condition.source)).collect::<Vec<String>>()
    };
    let mut slos: Vec<String> = plan.thresholds.iter().flat_map(conditions).collect();
    if slos.is_empty() {
        return DEFAULT_SLOS.map(str::to_owned).to_vec();
    }
    let bounds_failures =
        |slo: &String| slo.split(['{', ':']).next().is_some_and(|metric| FAILURE_METRICS.contains(&metric));
    if !slos.iter().any(bounds_failures) {
        slos.push(FAILURES_SLO.to_owned());
    }
    slos
}

fn search_goal(flags: &FindFlags, unit: LoadUnit) -> Result<search::SearchSettings, Failure> {
    let (from, to) = range((flags.from, flags.to), &flags.options, unit)?;
    let budget_s = seconds("--budget", &flags.budget)?;
    if budget_s < BUDGET_S_MIN {
        let text = format!(
            "failed to search within --budget {}: the shortest search takes {BUDGET_S_MIN} s; set --budget to {BUDGET_S_MIN}s or more, such as 5m",
            flags.budget
        );
        return Err(Failure::new(Exit::InvalidConfig, text));
    }
    Ok(search::SearchSettings {
        unit,
        from,
        to,
        tolerance: TOLERANCE,
        confidence: CONFIDENCE,
        warm_up_s: seconds("--warm-up", WARM_UP)?,
        least_s: STEP_MIN_S,
        most_s: STEP_MAX_S,
        hold_s: HOLD_S,
        budget_s: budget_s - RESERVE_S,
    })
}

fn study_flags(flags: &FindFlags, slo: Vec<String>) -> StudyFlags {
    StudyFlags {
        script: flags.script.clone(),
        options: flags.options.clone(),
        evidence: flags.evidence.clone(),
        otlp: flags.otlp.clone(),
        agents: flags.agents.clone(),
        level: LevelFlags {
            slo,
            warm_up: WARM_UP.to_owned(),
            study: flags.study.clone(),
            json: flags.json,
            ..LevelFlags::usual()
        },
    }
}

fn print(answer: &Answer<'_>, is_json: bool, lang: Lang, context: &Context) {
    match is_json {
        true => session::terminal::print(&report::find::json(answer)),
        false => session::terminal::print(&report::find::text(answer, lang, style(context))),
    }
}

/// The commands that show everything behind the answer.
fn commands(study: &StudyReport, context: &Context) -> String {
    let runs = context.runs_words();
    let ids = diagnose::runs_of_study(study);
    let Some(last) = ids.last() else { return format!("study: {}", study.name) };
    let mut text = format!("study: {}  plimsoll capacity --of {last}{runs}", study.name);
    text += &format!("\ndiagnosis: plimsoll diagnose {}{runs}", ids.join(" "));
    text
}

#[cfg(test)]
mod tests {
    use model::plan::{ThresholdCondition, ThresholdSpec};

    use super::*;

    #[test]
    fn steps_of_a_search_use_agents() {
        let mut flags = FindFlags::default();
        flags.agents.agents = Some(2);
        let study = study_flags(&flags, Vec::new());
        assert_eq!(study.agents.agents, Some(2));
        flags.agents.agents_listen = Some("0.0.0.0:7000".to_owned());
        assert!(refuse(&study_flags(&flags, Vec::new())).is_err());
    }

    #[test]
    fn thresholds_are_slos() {
        let check = |thresholds: &[(&str, &str)], expect: &[&str]| {
            let spec = |(selector, source): &(&str, &str)| ThresholdSpec {
                selector: (*selector).to_owned(),
                conditions: vec![ThresholdCondition {
                    source: (*source).to_owned(),
                    abort_on_fail: false,
                    delay_abort_eval: std::time::Duration::ZERO,
                }],
            };
            let plan = Plan { thresholds: thresholds.iter().map(spec).collect(), ..Plan::default() };
            assert_eq!(slos_of(&plan), expect);
        };
        check(&[], &DEFAULT_SLOS);
        check(&[("http_reqs", "count>100")], &DEFAULT_SLOS);
        check(&[("checks", "rate>0.99")], &["checks: rate>0.99"]);
        check(&[("checks{page:a}", "rate>0.99")], &["checks{page:a}: rate>0.99"]);
        check(&[("checks_of_mine", "rate>0.99")], &["checks_of_mine: rate>0.99", FAILURES_SLO]);
        check(
            &[("http_req_duration{name:a}", "p(95)<300")],
            &["http_req_duration{name:a}: p(95)<300", FAILURES_SLO],
        );
    }
}
