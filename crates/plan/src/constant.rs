//! One constant load in place of a script's scenarios: what a study makes of a script at each level.

use crate::error::{PlanError, Problem};
use crate::executors;
use crate::options::Options;
use crate::scenario::{ScenarioConfig, Scenarios};
use model::GoDuration;

/// Seconds per which rates are given, so that every rate of a study is a whole number.
pub const RATE_TIME_S: u32 = 1_000;

/// A load that stays the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantLoad {
    /// How much.
    pub pace: Pace,
    /// For how long.
    pub duration: GoDuration,
    /// How long running iterations may take after that.
    pub graceful_stop: GoDuration,
}

/// How much load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// VUs that loop.
    Vus(u64),
    /// Iterations that are started, whatever became of earlier ones.
    Rate {
        /// Per [`RATE_TIME_S`].
        iterations: u64,
        /// VUs made ready before the start.
        vus: u64,
        /// VUs at most.
        vus_max: u64,
    },
}

impl Options {
    /// Puts a constant load in the place of what there is to run. What runs is the scenario that `--scenario` names, or the only
    /// one there is, with its function, variables and tags; otherwise the default function.
    ///
    /// # Errors
    /// `--scenario` names several scenarios, or one that is not there.
    pub fn make_constant(&mut self, load: &ConstantLoad) -> Result<(), PlanError> {
        let (name, chosen) =
            self.chosen().map_err(|problem| PlanError::Configuration { problems: vec![problem] })?;
        let executor = match load.pace {
            Pace::Vus(_) => "constant-vus",
            Pace::Rate { .. } => "constant-arrival-rate",
        };
        let constant = ScenarioConfig::new(executors::find(executor).expect("it is in the list"));
        let mut constant = ScenarioConfig {
            duration: Some(load.duration),
            graceful_stop: Some(load.graceful_stop),
            ..constant
        };
        match load.pace {
            Pace::Vus(vus) => constant.vus = Some(whole(vus)),
            Pace::Rate { iterations, vus, vus_max } => {
                // A whole number per second is given per second.
                let per = if iterations.is_multiple_of(RATE_TIME_S.into()) { RATE_TIME_S } else { 1 };
                constant.rate = Some(whole(iterations / u64::from(per)));
                constant.time_unit = Some(GoDuration::from_secs(RATE_TIME_S / per));
                constant.pre_allocated_vus = Some(whole(vus));
                constant.max_vus = Some(whole(vus_max));
            }
        }
        if let Some(chosen) = chosen {
            (constant.exec, constant.env, constant.tags, constant.options) =
                (chosen.exec, chosen.env, chosen.tags, chosen.options);
        }
        self.forget_what_to_run();
        self.vus = None;
        self.scenarios = Some(Scenarios([(name, constant)].into()));
        Ok(())
    }

    /// The scenario whose place is taken, and its name.
    fn chosen(&self) -> Result<(String, Option<ScenarioConfig>), Problem> {
        let none = Scenarios::default();
        let scenarios = self.scenarios.as_ref().unwrap_or(&none);
        let named = |name: &String| Ok((name.clone(), scenarios.0.get(name).cloned()));
        match (self.selected_scenarios.as_slice(), scenarios.0.len()) {
            ([], 1) => scenarios.0.keys().next().map_or(Ok(("default".to_owned(), None)), named),
            ([], _) => Ok(("default".to_owned(), None)),
            ([name], _) if scenarios.0.contains_key(name) => named(name),
            ([name], _) => {
                let known = scenarios.0.keys().cloned().collect();
                Err(Problem::MissingScenario { scenario: name.clone(), known })
            }
            _ => {
                let reason = "a study steers one scenario: name one".to_owned();
                Err(Problem::Invalid { option: "--scenario".to_owned(), reason })
            }
        }
    }
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = r#"{"scenarios": {
        "browse": {"executor": "constant-vus", "vus": 5, "duration": "9s", "exec": "look", "env": {"A": "b"}},
        "buy": {"executor": "shared-iterations", "exec": "pay"}
    }}"#;

    const ONE: &str =
        r#"{"scenarios": {"pages": {"executor": "ramping-vus", "exec": "look", "stages": []}}}"#;

    fn load(pace: Pace) -> ConstantLoad {
        ConstantLoad { pace, duration: GoDuration::from_secs(30), graceful_stop: GoDuration::from_secs(3) }
    }

    /// The only scenario after that: its name, executor and function.
    fn steered(script: &str, chosen: &[&str], pace: Pace) -> Result<(String, ScenarioConfig), String> {
        let (mut options, _) = Options::from_script_json(script).expect("options");
        options.selected_scenarios = chosen.iter().map(|name| (*name).to_owned()).collect();
        options.make_constant(&load(pace)).map_err(|error| error.to_string())?;
        let scenarios = options.scenarios.expect("they were replaced").0;
        assert_eq!((scenarios.len(), options.duration, options.vus), (1, None, None));
        Ok(scenarios.into_iter().next().expect("there is one"))
    }

    #[track_caller]
    fn check(script: &str, chosen: &[&str], name: &str, exec: Option<&str>) {
        let (found, config) = steered(script, chosen, Pace::Vus(7)).expect("a load");
        assert_eq!((found.as_str(), config.exec.as_deref()), (name, exec));
        assert_eq!((config.executor(), config.vus), ("constant-vus", Some(7)));
    }

    #[test]
    fn the_chosen_scenario_keeps_its_function() {
        check(TWO, &["browse"], "browse", Some("look"));
        check(TWO, &[], "default", None);
        check(ONE, &[], "pages", Some("look"));
        check(r#"{"vus": 3, "duration": "5s"}"#, &[], "default", None);
        assert!(steered(TWO, &["sell"], Pace::Vus(1)).expect_err("there is none").contains("sell"));
        assert!(steered(TWO, &["browse", "buy"], Pace::Vus(1)).expect_err("two").contains("one scenario"));
    }

    #[test]
    fn rates_are_whole_numbers() {
        let rate = |iterations| {
            let pace = Pace::Rate { iterations, vus: 10, vus_max: 20 };
            let (_, config) = steered("{}", &[], pace).expect("a load");
            (config.rate, config.time_unit, config.max_vus)
        };
        assert_eq!(rate(40_000), (Some(40), Some(GoDuration::from_secs(1)), Some(20)));
        assert_eq!(rate(8_330), (Some(8_330), Some(GoDuration::from_secs(1_000)), Some(20)));
    }
}
