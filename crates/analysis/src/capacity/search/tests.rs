use proptest::prelude::*;
use stats::Random;

use super::super::sight::WEIGHT_FULL;
use super::*;

/// A system whose share of slow requests is that of M/M/1: exp(−(μ − λ)·T). At most a twentieth may be slow.
#[derive(Clone, Copy, Debug)]
struct System {
    per_s_max: f64,
    limit_s: f64,
    /// From this load on it gets less done than before.
    collapse: f64,
}

impl System {
    fn line(&self) -> f64 {
        self.per_s_max - 20f64.ln() / self.limit_s
    }

    fn make(&self, step: &Step, random: &mut Random) -> Made {
        let share = (-(self.per_s_max - step.load).max(0.0) * self.limit_s).exp();
        let rate =
            if step.load >= self.collapse { self.collapse / 2.0 } else { step.load.min(self.per_s_max) };
        let second = |_| {
            let all = random.poisson(rate);
            ((random.poisson(all as f64 * share)).min(all) as f64, all as f64)
        };
        let seconds: Vec<(f64, f64)> = (0..step.most_s as usize).map(second).collect();
        Made {
            load: step.load,
            purpose: step.purpose,
            spent_s: step.warm_up_s + step.most_s,
            charged_s: step.warm_up_s + step.most_s,
            throughput_per_s: rate,
            sights: vec![Sight {
                rule: Rule::Share { allowed: 0.05 },
                value: None,
                seconds,
                weight: WEIGHT_FULL,
            }],
        }
    }
}

const SYSTEM: System = System { per_s_max: 100.0, limit_s: 0.1, collapse: f64::INFINITY };

const WANTED: SearchSettings = SearchSettings {
    unit: LoadUnit::PerSecond,
    from: 10.0,
    to: 1000.0,
    tolerance: 0.1,
    confidence: 0.95,
    warm_up_s: 5.0,
    least_s: 10.0,
    most_s: 60.0,
    hold_s: 120.0,
    budget_s: 1800.0,
};

/// The search to its end, and why it ended there.
fn searched(wanted: SearchSettings, mut make: impl FnMut(&Step) -> Made) -> (Search, Over) {
    let mut search = Search::new(wanted);
    for _ in 0..200 {
        match search.next() {
            Ok(step) => search.record(make(&step)),
            Err(over) => return (search, over),
        }
    }
    panic!(
        "it never ends: {:?}",
        search.made().iter().map(|made| (made.load, made.purpose)).collect::<Vec<_>>()
    );
}

fn run_search(system: System, wanted: SearchSettings, seed: u64) -> (Search, Over) {
    let mut random = Random::new(seed);
    searched(wanted, |step| system.make(step, &mut random))
}

fn purposes(search: &Search) -> Vec<Purpose> {
    let mut purposes: Vec<Purpose> = search.made().iter().map(|made| made.purpose).collect();
    purposes.dedup();
    purposes
}

#[test]
fn the_line_is_found_and_held() {
    let (search, over) = run_search(SYSTEM, WANTED, 3);
    assert_eq!(over, Over::Done);
    let line = search.line().expect("a line");
    assert!((line.load.value / SYSTEM.line() - 1.0).abs() < 0.05, "{line:?}");
    assert!(line.load.lower <= SYSTEM.line() && SYSTEM.line() <= line.load.upper, "{line:?}");
    let Confirmation::Held { load, for_s, above_broke, recovered } = search.confirmation() else {
        panic!("{:?}", search.confirmation())
    };
    assert!(load <= SYSTEM.line(), "{load}");
    assert_eq!((for_s, above_broke, recovered), (120.0, Some(true), Some(true)));
    use Purpose::{Above, Descent, Hold, Narrow, Ramp};
    assert_eq!(purposes(&search), [Ramp, Narrow, Hold, Above, Descent]);
    assert!(search.charged_s() <= WANTED.budget_s && search.left_s() == 0.0);
}

#[test]
fn the_ramp_doubles_until_something_breaks() {
    let (search, _) = run_search(SYSTEM, WANTED, 1);
    let ramp: Vec<f64> =
        search.made().iter().filter(|made| made.purpose == Purpose::Ramp).map(|made| made.load).collect();
    assert_eq!(ramp, [10.0, 20.0, 40.0, 80.0]);
    let low: Vec<f64> = [1.0, 2.0, 4.0, 5.0, 8.0, 16.0].map(higher).into();
    assert_eq!(low, [4.0, 8.0, 16.0, 16.0, 16.0, 32.0]);
    let highest = search.made().iter().map(|made| made.load).fold(0.0, f64::max);
    assert!(highest <= 100.0, "{highest}");
}

#[test]
fn a_system_that_bears_everything_is_asked_no_more() {
    let (search, over) = run_search(SYSTEM, SearchSettings { to: 40.0, ..WANTED }, 1);
    assert_eq!((over, search.line().expect("a line").place), (Over::Done, Place::AboveAll));
    assert_eq!(search.made().len(), 3);
}

#[test]
fn a_system_that_bears_nothing_is_asked_less_and_less() {
    let (search, over) =
        run_search(System { per_s_max: 5.0, ..SYSTEM }, SearchSettings { from: 50.0, ..WANTED }, 1);
    assert_eq!((over, search.line().expect("a line").place), (Over::Done, Place::BelowAll));
    let loads: Vec<f64> = search.made().iter().map(|made| made.load).collect();
    assert_eq!(loads, [50.0, 25.0, 12.5, 6.25, 3.12, 1.56, 0.78]);
    let few = SearchSettings { unit: LoadUnit::Vus, from: 2.0, ..WANTED };
    assert_eq!(
        run_search(System { per_s_max: 0.5, ..SYSTEM }, few, 1).0.made().len(),
        2,
        "there is no half a VU"
    );
}

#[test]
fn no_load_is_higher_than_one_that_collapsed() {
    let fragile = System { collapse: 45.0, limit_s: 10.0, ..SYSTEM };
    let (search, over) = run_search(fragile, WANTED, 1);
    assert_eq!(over, Over::Done);
    let loads: Vec<f64> = search.made().iter().map(|made| made.load).collect();
    let first = loads.iter().position(|load| *load >= 45.0).expect("it went that far");
    assert!(loads[first + 1..].iter().all(|load| *load <= loads[first]), "{loads:?}");
}

#[test]
fn what_says_nothing_ends_the_search() {
    let mut random = Random::new(1);
    let silent = |step: &Step| Made { sights: Vec::new(), ..SYSTEM.make(step, &mut random) };
    let (search, over) = searched(WANTED, silent);
    assert_eq!((over, search.made().len()), (Over::Unknown, 3));
    assert_eq!((search.line(), search.confirmation()), (None, Confirmation::Untried));
}

#[test]
fn a_line_that_breaks_when_held_is_looked_for_again() {
    let mut random = Random::new(1);
    let mut holds = 0;
    let (search, over) = searched(WANTED, |step| {
        holds += usize::from(step.purpose == Purpose::Hold);
        let tired = System { per_s_max: 80.0, ..SYSTEM };
        // What holds for a minute does not hold for two: the first hold finds that out.
        let system = if step.purpose == Purpose::Hold && holds == 1 { tired } else { SYSTEM };
        system.make(step, &mut random)
    });
    assert_eq!(over, Over::Done);
    assert!(holds >= 2, "{:?}", purposes(&search));
}

#[test]
fn a_hold_that_is_not_wanted_is_not_made() {
    let (search, over) = run_search(SYSTEM, SearchSettings { hold_s: 0.0, ..WANTED }, 1);
    assert_eq!((over, search.confirmation()), (Over::Done, Confirmation::Untried));
    assert_eq!(purposes(&search), [Purpose::Ramp, Purpose::Narrow]);
}

#[test]
fn a_level_ends_early_when_it_is_sure() {
    let sight = |allowed: f64, of: f64, all: f64| Sight {
        rule: Rule::Share { allowed },
        value: None,
        seconds: vec![(of, all); 20],
        weight: WEIGHT_FULL,
    };
    let (good, bad, unsure) = (sight(0.05, 0.0, 50.0), sight(0.05, 20.0, 50.0), sight(0.05, 2.5, 50.0));
    let check = |purpose, sights: &[&Sight], expect: bool| {
        let sights: Vec<Sight> = sights.iter().map(|sight| (*sight).clone()).collect();
        assert_eq!(is_decided(purpose, &sights, &[]), expect, "{purpose:?} {sights:?}");
    };
    check(Purpose::Ramp, &[&good], true);
    check(Purpose::Ramp, &[&unsure], false);
    check(Purpose::Narrow, &[&good, &unsure], false);
    check(Purpose::Narrow, &[&unsure, &bad], true);
    check(Purpose::Hold, &[&good], false);
    check(Purpose::Hold, &[&bad], true);
    check(Purpose::Asked, &[&bad], false);
    check(Purpose::Ramp, &[&good, &sight(0.0, 0.0, 5.0)], true);
    check(Purpose::Ramp, &[&sight(0.0, 0.0, 0.0)], false);
    check(Purpose::Ramp, &[], false);
}

#[test]
fn loads_can_be_made() {
    let check = |load: f64, unit, expect: f64| assert_eq!(rounded(load, unit, f64::round), expect, "{load}");
    check(12.34, LoadUnit::Vus, 12.0);
    check(0.2, LoadUnit::Vus, 1.0);
    check(12.345, LoadUnit::PerSecond, 12.3);
    check(1234.5, LoadUnit::PerSecond, 1230.0);
    check(0.01, LoadUnit::PerSecond, 0.1);
    assert_eq!(rounded(12.39, LoadUnit::PerSecond, f64::floor), 12.3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever the system, the search ends, keeps within its bounds, and is not far from the truth where that lies inside.
    #[test]
    fn every_search_ends_within_its_bounds(
        per_s_max in 5.0..500.0f64, limit_s in 0.05..2.0f64, from in 1.0..50.0f64, budget_s in 60.0..3000.0f64, seed in 0u64..1000,
        is_loop: bool,
    ) {
        let unit = if is_loop { LoadUnit::Vus } else { LoadUnit::PerSecond };
        let wanted = SearchSettings { unit, from, to: 400.0, budget_s, ..WANTED };
        let system = System { per_s_max, limit_s, collapse: f64::INFINITY };
        let (search, over) = run_search(system, wanted, seed);
        prop_assert!(search.charged_s() <= budget_s + 1e-6);
        prop_assert!(search.made().iter().all(|made| made.load <= 400.0 && made.load > 0.0));
        let truth = system.line();
        if over == Over::Done && truth > from && truth < 350.0 && truth > 3.0 {
            let line = search.line().expect("a line");
            prop_assert!((line.load.value / truth).ln().abs() < 0.4, "{:?} for {truth}", line);
        }
    }

    /// The same results in the same order give the same steps, so an interrupted search can be resumed.
    #[test]
    fn a_search_that_is_told_again_goes_on(seed in 0u64..1000, cut in 1usize..10) {
        let (search, _) = run_search(SYSTEM, WANTED, seed);
        let mut again = Search::new(WANTED);
        for made in search.made().iter().take(cut) {
            let step = again.next().expect("there is more");
            prop_assert_eq!((step.load, step.purpose), (made.load, made.purpose));
            again.record(made.clone());
        }
    }
}

/// Repeated steps, starts and rests are no load, and take time from the budget all the same.
#[test]
fn all_time_is_charged_to_the_budget() {
    let wanted = SearchSettings { budget_s: 120.0, ..WANTED };
    let random = &mut Random::new(3);
    let (search, over) = searched(wanted, |step| {
        let made = SYSTEM.make(step, random);
        Made { charged_s: 1.5 * made.spent_s, ..made }
    });
    let spent_s: f64 = search.made().iter().map(|made| made.spent_s).sum();
    assert_eq!(over, Over::Budget);
    assert!((search.charged_s() - 1.5 * spent_s).abs() < 1e-9);
    assert!(spent_s < wanted.budget_s / 1.4, "{spent_s}");
}

/// A line as [`lowest`] takes it.
fn line(place: Place, lower: f64, value: f64, upper: f64, confidence: f64) -> Option<Found> {
    let method = model::capacity::LineMethod::LogLinear;
    Some(Found { load: Estimate { value, lower, upper }, place, method, confidence })
}

#[test]
fn the_lowest_line_is_bounded_by_what_bounds_first() {
    let check = |lines: &[Option<Found>], expect: (f64, f64, f64)| {
        let load = lowest(lines).expect("a line").load;
        assert_eq!((load.lower, load.value, load.upper), expect, "{lines:?}");
    };
    let fitted = line(Place::Inside, 35.0, 40.0, 45.0, 0.95);
    check(&[fitted], (35.0, 40.0, 45.0));
    check(&[fitted, line(Place::Inside, 30.0, 42.0, 44.0, 0.95)], (30.0, 40.0, 44.0));
    // Failures that no level had are surely few only at loads that were measured for long enough.
    let unsure = line(Place::AboveAll, 0.0, 60.0, f64::INFINITY, 0.0);
    check(&[fitted, unsure, None], (35.0, 40.0, 45.0));
    check(&[fitted, line(Place::AboveAll, 10.0, 20.0, f64::INFINITY, 0.0)], (20.0, 40.0, 45.0));
    // The levels around a line stay the levels around it.
    check(
        &[line(Place::Inside, 20.0, 20.0, 60.0, 0.0), line(Place::Inside, 12.5, 30.0, 50.0, 0.95)],
        (20.0, 20.0, 60.0),
    );
    check(&[unsure, line(Place::AboveAll, 50.0, 60.0, f64::INFINITY, 0.0)], (0.0, 60.0, f64::INFINITY));
    assert_eq!(lowest(&[None]), None);
}

/// A search of five minutes.
const SHORT: SearchSettings = SearchSettings {
    unit: LoadUnit::Vus,
    from: 1.0,
    warm_up_s: 3.0,
    least_s: 5.0,
    most_s: 15.0,
    hold_s: 20.0,
    budget_s: 285.0,
    ..WANTED
};

/// No line fits where a limit is broken all at once. Steps that end early must still be sure enough to bound the interval.
#[test]
fn a_limit_that_breaks_all_at_once_has_a_narrow_interval() {
    let (most, rest_s) = (200.0, 5.0);
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let mut search = Search::new(SHORT);
        while let Ok(step) = search.next() {
            let share = if step.load > most { 0.5 } else { 0.002 };
            let whole = SYSTEM.make(&step, &mut random);
            let second = |_| {
                let all = random.poisson(step.load);
                (random.poisson(all as f64 * share).min(all) as f64, all as f64)
            };
            let seconds: Vec<(f64, f64)> = (0..step.most_s as usize).map(second).collect();
            let seen = |for_s: usize| Sight { seconds: seconds[..for_s].to_vec(), ..whole.sights[0].clone() };
            let bursts = search.bursts(step.load);
            let is_over = |for_s: &usize| is_decided(step.purpose, &[seen(*for_s)], &bursts);
            let for_s = (step.least_s as usize..seconds.len()).find(is_over).unwrap_or(seconds.len());
            let charged_s = step.warm_up_s + for_s as f64 + rest_s;
            search.record(Made { charged_s, sights: vec![seen(for_s)], ..whole });
        }
        let line = search.line().expect("a line").load;
        assert!((175.0..=most).contains(&line.lower), "seed {seed}: {line:?}");
        assert!((most..=225.0).contains(&line.upper), "seed {seed}: {line:?}");
    }
}

#[test]
fn one_slow_request_at_the_lowest_load_ends_no_search() {
    let mut random = Random::new(1);
    let few = SearchSettings { from: 1.0, ..WANTED };
    let (search, over) = searched(few, |step| {
        let mut made = SYSTEM.make(step, &mut random);
        if step.load <= 1.0 {
            made.sights[0].seconds = vec![(0.0, 1.0); 10];
            made.sights[0].seconds[7] = (1.0, 1.0);
        }
        made
    });
    assert!(search.made()[0].holds().is_some_and(|holds| (1.0 - SURE..0.5).contains(&holds)));
    let line = search.line().expect("a line").load;
    assert!((line.value / SYSTEM.line() - 1.0).abs() < 0.05, "{over:?} {line:?}");
}

/// Requests break the limit together, in some seconds, so that no level says much.
#[test]
fn a_short_search_keeps_time_for_its_hold() {
    let (line, steepness, slow_in_bad) = (87.3, 8.0, 0.3);
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let (search, _) = searched(SHORT, |step| {
            let odds = (0.05f64 / 0.95).ln() + steepness * (step.load / line).ln();
            let share = (1.0 + (-odds).exp()).recip();
            let second = |_| {
                let all = random.poisson(step.load / 2.0);
                let is_bad = random.unit() < share / slow_in_bad;
                let slow = if is_bad { random.poisson(all as f64 * share.max(slow_in_bad)) } else { 0 };
                (slow.min(all) as f64, all as f64)
            };
            let seconds = (0..step.most_s as usize).map(second).collect();
            let sight = Sight { seconds, ..SYSTEM.make(step, &mut Random::new(seed)).sights.remove(0) };
            Made {
                charged_s: step.warm_up_s + step.most_s + 0.7,
                sights: vec![sight],
                ..SYSTEM.make(step, &mut Random::new(seed))
            }
        });
        let held = search.made().iter().find(|made| made.purpose == Purpose::Hold);
        assert!(held.is_some_and(|held| held.spent_s >= 18.0), "seed {seed}: {held:?}");
        assert!(search.charged_s() <= SHORT.budget_s * 1.03, "seed {seed}: {}", search.charged_s());
    }
}
