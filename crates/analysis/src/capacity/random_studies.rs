//! Laws that an assessment keeps whatever levels it is given: random studies, also such whose levels contradict each other.

use model::capacity::{Measured, Purpose, SURE, Scale};
use proptest::prelude::*;

use super::sight::{Rule, WEIGHT_DEGRADED, WEIGHT_FULL};
use super::*;

/// Studies per law: a second of computing.
const CASES: u32 = 150;

/// Loads, so that some are measured several times.
const LOADS: [f64; 9] = [1.0, 5.0, 10.0, 15.0, 20.0, 21.0, 60.0, 100.0, 400.0];

fn rule() -> impl Strategy<Value = Rule> {
    prop_oneof![
        prop::sample::select(vec![0.0, 0.001, 0.01, 0.05, 0.5]).prop_map(|allowed| Rule::Share { allowed }),
        any::<bool>().prop_map(|is_upper| Rule::Mean { limit: 5.0, is_upper }),
        Just(Rule::Whole { holds: None }),
        any::<bool>().prop_map(|is_upper| Rule::Stated { limit: 30.0, is_upper }),
    ]
}

/// The measurement of an objective at a level: mostly nothing or everything breaks it, as far from the line.
fn sight(rule: Rule) -> impl Strategy<Value = Sight> {
    let second = (1u32..40, prop_oneof![Just(0.0), Just(0.02), Just(0.06), Just(1.0)]);
    let seconds = prop::collection::vec(second, 0..20);
    (seconds, any::<Option<bool>>(), 1.0..60.0f64, prop::sample::select(vec![WEIGHT_FULL, WEIGHT_DEGRADED]))
        .prop_map(move |(seconds, holds, value, weight)| {
            let counted = |&(all, share): &(u32, f64)| match rule {
                Rule::Mean { .. } => (f64::from(all) * share * 20.0, f64::from(all)),
                _ => ((f64::from(all) * share).round(), f64::from(all)),
            };
            let rule = if matches!(rule, Rule::Whole { .. }) { Rule::Whole { holds } } else { rule };
            Sight { rule, value: Some(value), seconds: seconds.iter().map(counted).collect(), weight }
        })
}

fn level(rules: Vec<Rule>) -> impl Strategy<Value = Observed> {
    let sights: Vec<_> = rules.into_iter().map(sight).collect();
    (prop::sample::select(LOADS.to_vec()), sights, any::<bool>(), 0.5..1.1f64, 0.01..10.0f64).prop_map(
        |(load, sights, decides, share, time_s)| Observed {
            level: Level {
                load,
                purpose: Purpose::Asked,
                run: String::new(),
                name: String::new(),
                vus: Some(load * time_s),
                throughput_per_s: load * share,
                requests_per_s: None,
                time_s: Some(time_s),
                mean_s: Some(time_s),
                failed_share: None,
                measured_s: Some(20.0),
                grade: None,
                decides,
                measured: Vec::new(),
                verdict: Verdict::Unknown,
            },
            sights,
            usages: Vec::new(),
        },
    )
}

fn study() -> impl Strategy<Value = (LoadUnit, Vec<Observed>)> {
    let unit = prop::sample::select(vec![LoadUnit::Vus, LoadUnit::PerSecond]);
    let levels =
        prop::collection::vec(rule(), 1..4).prop_flat_map(|rules| prop::collection::vec(level(rules), 1..9));
    (unit, levels)
}

fn assessed(unit: LoadUnit, observed: &[Observed]) -> Capacity {
    let objective = |_: &Sight| Objective {
        selector: "m".to_owned(),
        condition: "p(95)<1".to_owned(),
        statistic: "p(95)".to_owned(),
        limit: 1.0,
        scale: Scale::Milliseconds,
        line: None,
    };
    let question = Question {
        variant: String::new(),
        unit,
        objectives: observed[0].sights.iter().map(objective).collect(),
        head_room: 0.8,
        confidence: 0.95,
        service_s: None,
        is_cut: false,
    };
    assess(&question, observed)
}

/// The rows of an objective, as they are shown: load and measurement of the levels that decide.
fn rows(capacity: &Capacity, objective: usize) -> Vec<(f64, &Measured)> {
    let levels = capacity.levels.iter().filter(|level| level.decides);
    levels.map(|level| (level.load, &level.measured[objective])).collect()
}

/// Whether a line agrees with the rows of its objective.
fn agrees(line: &Line, rows: &[(f64, &Measured)]) -> Result<(), String> {
    let load = line.load;
    let kept: Vec<f64> = loads(rows, |row| row.is_kept() == Some(true));
    let broken: Vec<f64> = loads(rows, |row| row.is_kept() == Some(false));
    let broken_surely: Vec<f64> = loads(rows, |row| row.holds.is_some_and(|holds| holds <= 1.0 - SURE));
    let is = |holds: bool, law: &str| if holds { Ok(()) } else { Err(format!("{law}: {line:?}")) };
    is(load.lower <= load.value && load.value <= load.upper, "the line lies within its interval")?;
    let undisputed = kept.iter().filter(|kept| broken.iter().all(|broken| broken > kept));
    is(undisputed.copied().all(|kept| load.value >= kept), "the line is not below a level that passes")?;
    let undisputed = broken.iter().filter(|broken| kept.iter().all(|kept| kept < broken));
    is(
        undisputed.chain(&broken_surely).all(|broken| load.value <= *broken),
        "the line is not above a level that fails",
    )?;
    match line.place {
        Place::Inside => is(
            kept.iter().any(|kept| *kept <= load.value) && broken.iter().any(|broken| *broken >= load.value),
            "a line inside has a level on each side",
        ),
        Place::AboveAll => is(broken.iter().all(|broken| *broken <= load.value), "no row above it fails"),
        Place::BelowAll => is(kept.iter().all(|kept| *kept >= load.value), "no row below it passes"),
    }
}

fn loads(rows: &[(f64, &Measured)], is: impl Fn(&Measured) -> bool) -> Vec<f64> {
    rows.iter().filter(|row| is(row.1)).map(|row| row.0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lines_agree_with_the_levels_beside_them((unit, observed) in study()) {
        let capacity = assessed(unit, &observed);
        for (at, objective) in capacity.objectives.iter().enumerate() {
            if let Some(line) = &objective.line {
                let agreement = agrees(line, &rows(&capacity, at));
                prop_assert!(agreement.is_ok(), "objective {at}: {agreement:?}");
            }
        }
    }

    #[test]
    fn the_line_is_the_lowest_of_its_objectives((unit, observed) in study()) {
        let capacity = assessed(unit, &observed);
        let lines: Vec<Line> = capacity.objectives.iter().filter_map(|objective| objective.line).collect();
        let Some(line) = capacity.line else {
            prop_assert!(lines.is_empty());
            return Ok(());
        };
        let load = line.load;
        prop_assert!(load.lower <= load.value && load.value <= load.upper, "{load:?}");
        let bounded = lines.iter().filter(|line| line.place != Place::AboveAll);
        prop_assert!(bounded.clone().all(|other| load.value <= other.load.value), "{line:?} {lines:?}");
        let binding = capacity.binding.and_then(|at| capacity.objectives[at].line);
        prop_assert_eq!(binding.map(|line| line.load.value), bounded.map(|line| line.load.value).reduce(f64::min));
    }

    /// "Between the steps at a and b" names two steps, the first of which is the lower.
    #[test]
    fn a_line_between_steps_has_a_step_on_each_side((unit, observed) in study()) {
        let capacity = assessed(unit, &observed);
        let lines = capacity.objectives.iter().filter_map(|objective| objective.line).chain(capacity.line);
        for line in lines.filter(|line| line.place == Place::Inside && line.confidence <= 0.0) {
            let Estimate { lower, upper, .. } = line.load;
            let is_step = |load: f64| capacity.levels.iter().any(|level| level.decides && level.load == load);
            prop_assert!(lower < upper && is_step(lower) && is_step(upper), "{line:?}");
        }
    }

    #[test]
    fn the_safe_load_lies_below_the_line_and_every_level_that_fails((unit, observed) in study()) {
        let capacity = assessed(unit, &observed);
        let Some(safe) = capacity.recommended else { return Ok(()) };
        let line = capacity.line.expect("a safe load is a part of a line");
        prop_assert!(safe.load <= line.load.value, "{safe:?} {line:?}");
        for at in 0..capacity.objectives.len() {
            let failing = loads(&rows(&capacity, at), |row| row.holds.is_some_and(|holds| holds <= 1.0 - SURE));
            prop_assert!(failing.iter().all(|failing| safe.load <= *failing), "{safe:?} {failing:?}");
        }
        let busy = safe.vus.unwrap_or(1.0);
        prop_assert!(busy >= 1.0 && busy.fract() == 0.0, "{safe:?}");
    }

    /// The words of the table and the sentence about the knee come from the same levels.
    #[test]
    fn a_level_is_called_a_knee_only_where_a_method_finds_one((unit, observed) in study()) {
        let capacity = assessed(unit, &observed);
        let knees: Vec<f64> = capacity.knees.iter().filter_map(|knee| knee.load).map(|load| load.value).collect();
        for level in &capacity.levels {
            let is_said = match level.verdict {
                Verdict::Knee => knees.contains(&level.load),
                Verdict::PastKnee => knees.iter().any(|knee| *knee < level.load),
                _ => true,
            };
            prop_assert!(is_said, "{level:?} {knees:?}");
        }
    }

    #[test]
    fn no_ceiling_is_below_what_was_done((unit, observed) in study()) {
        let capacity = assessed(unit, &observed);
        let done = capacity.levels.iter().filter(|level| level.decides).map(|level| level.throughput_per_s);
        let most = done.fold(0.0, f64::max);
        if let Some(ceiling) = capacity.ceiling {
            let per_s = ceiling.per_s;
            prop_assert!(per_s.lower <= per_s.value && per_s.value <= per_s.upper, "{ceiling:?}");
            prop_assert!(per_s.value >= mean_at_most(&capacity, most) - 1e-9, "{ceiling:?}, {most}");
        }
    }
}

/// The largest throughput of a load; of one measured several times it is the mean.
fn mean_at_most(capacity: &Capacity, most: f64) -> f64 {
    let deciding = || capacity.levels.iter().filter(|level| level.decides);
    let mean = |load: f64| {
        let same: Vec<f64> =
            deciding().filter(|level| level.load == load).map(|level| level.throughput_per_s).collect();
        same.iter().sum::<f64>() / same.len() as f64
    };
    deciding().map(|level| mean(level.load)).fold(0.0, f64::max).min(most)
}

/// Levels without a single slow request, too short to show that a hundredth of them may be: p(99) of 40 requests.
#[test]
fn short_levels_that_pass_are_below_the_line() {
    let level = |load: f64, slow: f64| {
        let sight = Sight {
            rule: Rule::Share { allowed: 0.01 },
            value: None,
            seconds: vec![(slow, 4.0); 10],
            weight: WEIGHT_FULL,
        };
        (load, sight)
    };
    let levels = [level(15.0, 0.0), level(20.0, 0.0), level(60.0, 4.0)];
    let seen: Vec<Seen<'_>> = levels.iter().map(|(load, sight)| (*load, sight)).collect();
    let found = line::find(&seen, 0.95).expect("a line");
    assert_eq!(found.place, Place::Inside, "two levels keep it, one does not: {found:?}");
    assert!((20.0..=60.0).contains(&found.load.value), "{found:?}");
    let all = line::find(&seen[..2], 0.95).expect("a line");
    assert_eq!((all.place, all.load.value), (Place::AboveAll, 20.0), "no level breaks it");
}

/// A level that breaks the objective between two that keep it by far: not every level keeps it.
#[test]
fn a_level_that_fails_is_not_averaged_away() {
    let level = |load: f64, slow: f64| {
        let sight = Sight {
            rule: Rule::Share { allowed: 0.05 },
            value: None,
            seconds: vec![(slow, 40.0); 10],
            weight: WEIGHT_FULL,
        };
        (load, sight)
    };
    let levels = [level(10.0, 0.0), level(20.0, 4.0), level(40.0, 0.0)];
    let seen: Vec<Seen<'_>> = levels.iter().map(|(load, sight)| (*load, sight)).collect();
    let found = line::find(&seen, 0.95).expect("a line");
    assert_eq!(found.place, Place::Inside, "{found:?}");
    assert!((10.0..=20.0).contains(&found.load.value), "{found:?}");
}
