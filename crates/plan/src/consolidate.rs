//! Merging the sources, and turning shortcuts into scenarios.

use model::plan::{Compat, SummaryOptions};
use model::tags::{SystemTag, SystemTags};

use crate::error::{PlanError, Problem, Warning, nearest};
use crate::executors;
use crate::options::{Level, Options};
use crate::resolve::ResolveContext;
use crate::scenario::{ScenarioConfig, Scenarios, Stages};

/// Merges the sources, the stronger over the weaker, whatever the order of the slice.
///
/// A source that sets any of `duration`, `iterations`, `stages` and `scenarios` erases all four of the weaker ones.
/// Tags are joined (k6 replaces them); [`Compat::Strict`] replaces.
pub fn consolidate(sources: &[(Level, Options)], compat: Compat) -> (Options, Vec<Warning>) {
    let mut sources: Vec<&(Level, Options)> = sources.iter().collect();
    sources.sort_by_key(|(level, _)| *level);
    let mut all = Options::default();
    let mut warnings = Vec::new();
    for &(level, ref options) in sources {
        if options.says_what_to_run() {
            if all.scenarios.is_some() {
                warnings.push(Warning::ScenariosOverridden { by: level });
            }
            all.forget_what_to_run();
        }
        let keeps_tags = compat == Compat::Honest || options.tags.is_none();
        let before = all.tags.take().filter(|_| keeps_tags);
        all.overlay(options);
        join_tags(&mut all, before, level, &mut warnings);
    }
    (all, warnings)
}

fn join_tags(
    all: &mut Options,
    before: Option<std::collections::BTreeMap<String, String>>,
    level: Level,
    warnings: &mut Vec<Warning>,
) {
    let Some(mut joined) = before else { return };
    if let Some(newer) = all.tags.take() {
        let loses_some = joined.keys().any(|name| !newer.contains_key(name));
        if loses_some {
            warnings.push(Warning::TagsMerged { by: level });
        }
        joined.extend(newer);
    }
    all.tags = Some(joined);
}

impl Options {
    /// Turns shortcuts into the scenario `default`, applies `--scenario` and `--once`, and fills in what k6 shows as
    /// set even where no source sets it (`summaryTrendStats`, `systemTags`).
    ///
    /// # Errors
    /// Two ways to say what to run, and a `--scenario` that is not there.
    pub fn derive(mut self, context: &ResolveContext<'_>) -> Result<(Options, Vec<Warning>), PlanError> {
        let mut warnings = Vec::new();
        let configuration = |problems| PlanError::Configuration { problems };
        let scenarios = self.derive_scenarios(&mut warnings).map_err(configuration)?;
        self.scenarios = Some(scenarios);
        self.select_scenarios(&mut warnings).map_err(configuration)?;
        if context.once || self.once {
            self.scenarios.iter_mut().flat_map(|it| it.0.values_mut()).for_each(run_once);
        }
        let trend_stats = || SummaryOptions::default().trend_stats;
        self.summary_trend_stats.get_or_insert_with(trend_stats);
        self.derive_system_tags(&mut warnings);
        Ok((self, warnings))
    }

    fn derive_scenarios(&mut self, warnings: &mut Vec<Warning>) -> Result<Scenarios, Vec<Problem>> {
        self.drop_stages_without_duration(warnings);
        let has_stages = self.stages.as_ref().is_some_and(|stages| !stages.0.is_empty());
        let has_scenarios = self.scenarios.as_ref().is_some_and(|scenarios| !scenarios.0.is_empty());
        let shortcuts = [
            ("iterations", self.iterations.is_some()),
            ("duration", self.duration.is_some()),
            ("stages", has_stages),
            ("scenarios", has_scenarios),
        ];
        let mut given = shortcuts.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| *name);
        // `iterations` with `duration` is one shortcut: the duration is then the latest end.
        let first = given.next();
        let second = given.find(|&name| !(first == Some("iterations") && name == "duration"));
        if let (Some(first), Some(second)) = (first, second) {
            return Err(vec![Problem::Conflict { first, second }]);
        }
        let shortcut = match first {
            Some("iterations") => self.shared_iterations(),
            Some("duration") => self.constant_vus()?,
            Some("stages") => {
                let ramping = executors::find("ramping-vus").expect("it is in the list");
                ScenarioConfig {
                    start_vus: self.vus,
                    stages: self.stages.clone(),
                    ..ScenarioConfig::new(ramping)
                }
            }
            Some(_) if self.vus.is_none() => return Ok(self.scenarios.take().unwrap_or_default()),
            _ => self.without_shortcut(warnings),
        };
        Ok(Scenarios([("default".to_owned(), shortcut)].into()))
    }

    /// Drops such stages of the shortcut alone: in a scenario they are an error in k6, too.
    fn drop_stages_without_duration(&mut self, warnings: &mut Vec<Warning>) {
        let Some(stages) = &mut self.stages else { return };
        let before = stages.0.len();
        stages.0.retain(|stage| stage.duration.is_some());
        let count = before - stages.0.len();
        if count > 0 {
            warnings.push(Warning::StagesWithoutDuration { count });
        }
    }

    fn shared_iterations(&self) -> ScenarioConfig {
        let shared = executors::find("shared-iterations").expect("it is in the list");
        ScenarioConfig {
            vus: self.vus,
            iterations: self.iterations,
            max_duration: self.duration,
            ..ScenarioConfig::new(shared)
        }
    }

    fn constant_vus(&self) -> Result<ScenarioConfig, Vec<Problem>> {
        if self.duration.is_some_and(|duration| duration.ns <= 0) {
            let reason =
                "should be more than 0; for a test without end use the externally-controlled executor"
                    .to_owned();
            return Err(vec![Problem::Invalid { option: "duration".to_owned(), reason }]);
        }
        let constant = executors::find("constant-vus").expect("it is in the list");
        Ok(ScenarioConfig { vus: self.vus, duration: self.duration, ..ScenarioConfig::new(constant) })
    }

    /// Only VUs, or nothing at all. An empty `stages` counts for more than `vus`, an empty `scenarios` for less.
    fn without_shortcut(&mut self, warnings: &mut Vec<Warning>) -> ScenarioConfig {
        let has_no_stages = self.stages == Some(Stages::default());
        if let Some(vus) = self.vus.filter(|_| !has_no_stages) {
            if self.scenarios.is_some() {
                warnings.push(Warning::VusOverrideScenarios { vus });
            }
            self.iterations = Some(vus);
            return self.shared_iterations();
        }
        if has_no_stages {
            warnings.push(Warning::EmptyShortcut { name: "stages" });
        } else if self.scenarios.is_some() {
            warnings.push(Warning::EmptyShortcut { name: "scenarios" });
        }
        ScenarioConfig::new(executors::find("per-vu-iterations").expect("it is in the list"))
    }

    /// Keeps the scenarios that `--scenario` names, and drops thresholds that filter on the others.
    fn select_scenarios(&mut self, warnings: &mut Vec<Warning>) -> Result<(), Vec<Problem>> {
        let (selected, Some(scenarios)) = (&self.selected_scenarios, &mut self.scenarios) else {
            return Ok(());
        };
        if selected.is_empty() {
            return Ok(());
        }
        let known: Vec<String> = scenarios.0.keys().cloned().collect();
        let missing: Vec<Problem> = selected
            .iter()
            .filter(|name| !known.contains(name))
            .map(|name| Problem::MissingScenario { scenario: name.clone(), known: known.clone() })
            .collect();
        if !missing.is_empty() {
            return Err(missing);
        }
        scenarios.0.retain(|name, _| selected.contains(name));
        let excluded = |selector: &str| {
            let filter = selector.split_once('{').map_or("", |(_, rest)| rest.trim_end_matches('}'));
            let wanted = filter.split(',').find_map(|tag| tag.trim().strip_prefix("scenario:"));
            wanted.is_some_and(|name| {
                known.iter().any(|it| it == name.trim()) && !selected.iter().any(|it| it == name.trim())
            })
        };
        if let Some(thresholds) = &mut self.thresholds {
            thresholds.0.retain(|selector, _| {
                let keep = !excluded(selector);
                if !keep {
                    warnings.push(Warning::ThresholdSkipped { selector: selector.clone() });
                }
                keep
            });
        }
        Ok(())
    }

    /// Sorts the tags as k6 shows them and leaves out unknown ones; an empty list is shown as unset.
    fn derive_system_tags(&mut self, warnings: &mut Vec<Warning>) {
        let default = || SystemTag::ALL.iter().filter(|tag| SystemTags::default().has(**tag));
        let names =
            self.system_tags.get_or_insert_with(|| default().map(|tag| tag.as_str().to_owned()).collect());
        names.retain(|name| {
            let is_known = SystemTags::parse(name).is_some();
            if !is_known {
                let nearest = nearest(name, SystemTag::ALL.iter().map(|tag| tag.as_str()));
                warnings.push(Warning::UnknownSystemTag { name: name.clone(), nearest });
            }
            is_known
        });
        names.sort();
        names.dedup();
    }
}

/// One VU, one iteration; the function and its surroundings stay.
fn run_once(config: &mut ScenarioConfig) {
    let once = ScenarioConfig::new(executors::find("shared-iterations").expect("it is in the list"));
    let old = std::mem::replace(config, once);
    (config.vus, config.iterations) = (Some(1), Some(1));
    (config.env, config.exec, config.tags, config.options) = (old.env, old.exec, old.tags, old.options);
}
