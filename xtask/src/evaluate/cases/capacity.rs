//! Searches for the maximum load of simulated queues: how often the interval covers the truth, and what it costs.
//!
//! Each level is a simulation of its own in virtual time, from an empty system, measured second by second by what leaves, as a
//! run is. The search beside it goes up in steps of one size and answers with the middle between the last level that kept the
//! objective and the first that broke it. Its step is chosen so that without any noise its error would be that of our search;
//! its levels are as long as the longest of ours, and longer where noise makes its error the larger one.

use analysis::capacity::line::Found;
use analysis::capacity::search::{Made, Search, SearchSettings, Step, is_decided};
use analysis::capacity::sight::{Rule, Sight, WEIGHT_FULL};
use anyhow::{Context, bail};
use model::capacity::{LoadUnit, Place, Purpose};
use serde_json::{Value, json};
use stats::Random;
use testkit::queues::{Arrivals, JobEnd, Setup, Simulation, Times, laws};

use crate::evaluate::page::{Bar, Table};
use crate::evaluate::simulate;

/// The systems.
pub(super) const PARTS: &[&str] = &["mm1", "mm4", "md1", "pool", "lock", "feedback"];

/// Searches of each system.
const TRIALS: usize = 70;

/// The coverage that the interval must have, and the largest ratio of our search's time to the other's.
const COVERAGE_MIN: f64 = 0.9;
const TIME_SHARE_MAX: f64 = 0.5;

const CONFIDENCE: f64 = 0.95;
const WARM_UP_S: f64 = 5.0;
const LEAST_S: f64 = 15.0;
const MOST_S: f64 = 60.0;

/// Levels of the search in steps are no longer than this.
const LEVEL_S_MAX: f64 = 960.0;

/// Halvings of what is not known of the truth. Where only simulations know it, it is looked for with few jobs, and then with many
/// at a load this share below and above.
const HALVINGS: usize = 30;
const TRUTH_HALVINGS: usize = 9;
const TRUTH_JOBS: f64 = 20_000.0;
const TRUTH_JOBS_MAX: f64 = 300_000.0;
const TRUTH_ASIDE: f64 = 0.02;

/// The page says which rules of the search were decided on searches of this seed.
const SEED: u64 = 47_000_000;

/// Levels of the search in steps at most; no error that is asked for needs more.
const STEPS_MAX: usize = 400;

/// A system and what it is held to.
#[derive(Clone, Debug)]
struct System {
    setup: Setup,
    /// A job is to be done within this time.
    limit_s: f64,
    /// Of so many; where it is about jobs that find no place, of these.
    allowed: f64,
    is_about_places: bool,
}

/// The result of one search.
struct Trial {
    covered: bool,
    error: f64,
    time_s: f64,
    levels: usize,
    width: f64,
    /// The line and its bounds, all of the truth.
    found: [f64; 3],
}

pub(super) fn measure(part: &str) -> anyhow::Result<Value> {
    eprintln!("  the truths of {TRIALS} systems");
    let systems: Vec<(System, f64)> = simulate::each(TRIALS, |trial| {
        let system = system(part, trial as u64)?;
        let truth = truth(part, &system)?;
        Ok((system, truth))
    })
    .into_iter()
    .collect::<anyhow::Result<_>>()?;
    eprintln!("  {TRIALS} searches");
    let trials = simulate::each(TRIALS, |trial| {
        let (system, truth) = &systems[trial];
        search(system, *truth, trial as u64)
    });
    let trials: Vec<Trial> = trials.into_iter().collect::<anyhow::Result<_>>()?;
    let mean = |of: &dyn Fn(&Trial) -> f64| trials.iter().map(of).sum::<f64>() / trials.len() as f64;
    let error = mean(&|trial| trial.error);
    let fixed = equally_good(&systems, error)?;
    Ok(json!({
        "trials": trials.len(),
        "covered": trials.iter().filter(|trial| trial.covered).count(),
        "error": error,
        "bias": mean(&|trial| trial.found[0] - 1.0),
        "width": mean(&|trial| trial.width),
        "levels": mean(&|trial| trial.levels as f64),
        "time_s": mean(&|trial| trial.time_s),
        "fixed_error": fixed.error,
        "fixed_time_s": fixed.time_s,
        "fixed_level_s": fixed.level_s,
        "found": trials.iter().map(|trial| trial.found).collect::<Vec<_>>(),
    }))
}

/// The result of searches in steps.
struct Fixed {
    error: f64,
    time_s: f64,
    level_s: f64,
}

/// The search in steps whose levels are just long enough for its mean error to be no larger.
fn equally_good(systems: &[(System, f64)], error: f64) -> anyhow::Result<Fixed> {
    let mut level_s = MOST_S;
    loop {
        eprintln!("  as many in steps, of {level_s} s a level");
        let trials = simulate::each(systems.len(), |trial| {
            let (system, truth) = &systems[trial];
            in_steps(system, *truth, (error, level_s), trial as u64)
        });
        let trials: Vec<(f64, f64)> = trials.into_iter().collect::<anyhow::Result<_>>()?;
        let mean = |of: fn(&(f64, f64)) -> f64| trials.iter().map(of).sum::<f64>() / trials.len() as f64;
        let fixed = Fixed { error: mean(|trial| trial.0), time_s: mean(|trial| trial.1), level_s };
        if fixed.error <= error || level_s >= LEVEL_S_MAX {
            return Ok(fixed);
        }
        level_s *= 2.0;
    }
}

/// A system of this kind with figures of its own.
fn system(part: &str, trial: u64) -> anyhow::Result<System> {
    let mut random = Random::new(SEED + trial);
    let mean_s = 0.01 + 0.04 * random.unit();
    let patience = 4.0 + 8.0 * random.unit();
    let exponential = Times::Exponential { mean_s };
    let none = || Arrivals::poisson(0.0, 0.0);
    let (setup, limit_s) = match part {
        "mm1" => (Setup::servers(none(), 1, exponential), mean_s * patience),
        "mm4" => (Setup::servers(none(), 4, exponential), mean_s * patience),
        "md1" => (Setup::fixed(none(), mean_s), mean_s * patience / 2.0),
        "pool" => (Setup::pool(none(), 4, 8, exponential), f64::INFINITY),
        "lock" => {
            let critical = Times::Exponential { mean_s: mean_s / 3.0 };
            (Setup::lock(none(), 8, exponential, critical), mean_s * patience)
        }
        "feedback" => (Setup::feedback(none(), 2, exponential, 0.3), mean_s * patience * 1.5),
        other => bail!("find the system {other:?}"),
    };
    let is_about_places = part == "pool";
    Ok(System { setup, limit_s, allowed: if is_about_places { 0.01 } else { 0.05 }, is_about_places })
}

/// The load at which the objective is just kept, by theory where there is a formula.
fn truth(part: &str, system: &System) -> anyhow::Result<f64> {
    let (servers, mean_s) = (system.setup.servers, system.setup.service.mean_s());
    let law = |per_s: f64| match part {
        "mm1" | "mm4" => Some(slow(per_s, servers, mean_s, system.limit_s)),
        "md1" => Some(laws::md1_waits_longer(per_s, mean_s, system.limit_s - mean_s)),
        "pool" => Some(laws::mmck(per_s, servers, system.setup.places, mean_s).loss),
        _ => None,
    };
    let simulated = |per_s: f64, jobs: f64| -> anyhow::Result<f64> {
        let sight = observed(system, per_s, jobs / per_s, 99)?;
        let (of, all) = sight.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        Ok(of / all)
    };
    let most = system.setup.capacity_per_s() * if system.is_about_places { 1.5 } else { 1.0 };
    let is_known = law(most / 2.0).is_some();
    let (mut low, mut high) = (most / 100.0, most);
    let halvings = if is_known { HALVINGS } else { TRUTH_HALVINGS };
    for _ in 0..halvings {
        let middle = f64::midpoint(low, high);
        let share = law(middle).map_or_else(|| simulated(middle, TRUTH_JOBS), Ok)?;
        if share <= system.allowed { low = middle } else { high = middle }
    }
    let about = f64::midpoint(low, high);
    if is_known {
        return Ok(about);
    }
    // The logarithm of the share is nearly a straight line.
    let (below, above) = (about * (1.0 - TRUTH_ASIDE), about * (1.0 + TRUTH_ASIDE));
    let far = |per_s| Ok::<f64, anyhow::Error>((simulated(per_s, TRUTH_JOBS_MAX)? / system.allowed).ln());
    let (least, largest) = (far(below)?, far(above)?);
    Ok(below - least * (above - below) / (largest - least))
}

/// The share of jobs in M/M/c that take longer than a limit: those that wait, an exponential time of the rate cμ − λ, and then
/// are served (Kleinrock, *Queueing Systems* 1, 3.5).
fn slow(per_s: f64, servers: u32, mean_s: f64, limit_s: f64) -> f64 {
    let (mu, eta) = (mean_s.recip(), f64::from(servers) / mean_s - per_s);
    if eta <= 0.0 {
        return 1.0;
    }
    let waits = laws::erlang_c(servers, per_s * mean_s);
    let (served, waited) = ((-mu * limit_s).exp(), (-eta * limit_s).exp());
    let both = if (eta - mu).abs() < 1e-9 * mu {
        served * (1.0 + mu * limit_s)
    } else {
        (eta * served - mu * waited) / (eta - mu)
    };
    (1.0 - waits) * served + waits * both
}

/// Jobs that leave in each second of a level, and how many of them break the limit. Of a job that returns, the last time counts.
fn observed(system: &System, per_s: f64, for_s: f64, seed: u64) -> anyhow::Result<Vec<(f64, f64)>> {
    let setup = Setup { arrivals: Arrivals::poisson(per_s, for_s), ..system.setup.clone() };
    let mut seconds = vec![(0.0, 0.0); for_s as usize];
    let mut first_s = std::collections::HashMap::new();
    let mut last: Vec<(u64, f64, f64, JobEnd)> = Vec::new();
    for job in Simulation::new(setup, seed).context("simulate a queue")? {
        let arrival_s = *first_s.entry(job.number).or_insert(job.arrival_s);
        let is_again = system.setup.retry.is_some() && job.attempt > 1;
        if is_again && let Some(at) = last.iter().rposition(|it| it.0 == job.number) {
            last.remove(at);
        }
        last.push((job.number, arrival_s, job.finish_s, job.end));
        // A job that left long ago does not return.
        if last.len() > 4_096 {
            last.drain(..2_048).for_each(|it| count(system, &it, &mut seconds));
        }
    }
    last.iter().for_each(|it| count(system, it, &mut seconds));
    Ok(seconds)
}

fn count(system: &System, job: &(u64, f64, f64, JobEnd), seconds: &mut [(f64, f64)]) {
    let (_, arrival_s, finish_s, end) = *job;
    let Some(second) = seconds.get_mut(finish_s as usize) else { return };
    let breaks = match system.is_about_places {
        true => end == JobEnd::Dropped,
        false => finish_s - arrival_s > system.limit_s,
    };
    second.0 += f64::from(u8::from(breaks));
    second.1 += 1.0;
}

/// A level as a run measures it, with the seconds up to its end; it ends early where that is decided.
fn level(system: &System, step: &Step, bursts: &[f64], seed: u64) -> anyhow::Result<Made> {
    let all = observed(system, step.load, step.warm_up_s + step.most_s, seed)?;
    let looked = &all[step.warm_up_s as usize..];
    let sight = |until: usize| Sight {
        rule: Rule::Share { allowed: system.allowed },
        value: None,
        seconds: looked[..until].to_vec(),
        weight: WEIGHT_FULL,
    };
    let is_over = |until: &usize| is_decided(step.purpose, &[sight(*until)], bursts);
    let until = (step.least_s as usize..looked.len()).find(is_over).unwrap_or(looked.len());
    let done: f64 = looked[..until].iter().map(|second| second.1).sum();
    Ok(Made {
        load: step.load,
        purpose: step.purpose,
        spent_s: step.warm_up_s + until as f64,
        charged_s: step.warm_up_s + until as f64,
        throughput_per_s: done / until as f64,
        sights: vec![sight(until)],
    })
}

fn search(system: &System, truth: f64, trial: u64) -> anyhow::Result<Trial> {
    let mut random = Random::new(SEED + 1_000_000 + trial);
    let wanted = SearchSettings {
        unit: LoadUnit::PerSecond,
        from: truth * (0.05 + 0.15 * random.unit()),
        to: truth * 20.0,
        tolerance: 0.1,
        confidence: CONFIDENCE,
        warm_up_s: WARM_UP_S,
        least_s: LEAST_S,
        most_s: MOST_S,
        hold_s: 0.0,
        budget_s: 3_600.0,
    };
    let mut search = Search::new(wanted);
    while let Ok(step) = search.next() {
        let seed = (SEED + trial) * 1_000 + search.made().len() as u64;
        let bursts = search.bursts(step.load);
        search.record(level(system, &step, &bursts, seed)?);
    }
    let line: Found = search.line().context("find a line")?;
    Ok(Trial {
        covered: line.place == Place::Inside && line.load.lower <= truth && truth <= line.load.upper,
        error: (line.load.value / truth - 1.0).abs(),
        time_s: search.charged_s(),
        levels: search.made().len(),
        width: (line.load.upper - line.load.lower) / truth,
        found: [line.load.value, line.load.lower, line.load.upper].map(|load| load / truth),
    })
}

/// The error and the time of the search in steps of one size. Between two levels the truth is anywhere, so that the middle is
/// off by a quarter of a step on average.
fn in_steps(
    system: &System,
    truth: f64,
    (error, level_s): (f64, f64),
    trial: u64,
) -> anyhow::Result<(f64, f64)> {
    let mut random = Random::new(SEED + 2_000_000 + trial);
    let by = 4.0 * error * truth;
    let from = truth * (0.05 + 0.15 * random.unit());
    let mut time_s = 0.0;
    for number in 0..STEPS_MAX {
        let load = from + by * number as f64;
        let step =
            Step { load, purpose: Purpose::Asked, warm_up_s: WARM_UP_S, least_s: level_s, most_s: level_s };
        let made = level(system, &step, &[], (SEED + 3_000_000 + trial) * 1_000 + number as u64)?;
        time_s += made.spent_s;
        if made.holds().is_some_and(|holds| holds < 0.5) {
            return Ok((((load - by / 2.0) / truth - 1.0).abs(), time_s));
        }
    }
    bail!("find a level that breaks the objective")
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let titles = [
        "system",
        "searches",
        "covered",
        "error, mean",
        "bias, mean",
        "interval, mean",
        "levels",
        "load time",
        "in steps: error",
        "in steps: length of a level",
        "in steps: load time",
    ];
    let mut table = Table { rows: vec![titles.map(str::to_owned).to_vec()], ..Table::default() };
    let number = |result: &Value, key: &str| result[key].as_f64().unwrap_or(0.0);
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    for (system, result) in results {
        let number = |key: &str| number(result, key);
        table.rows.push(vec![
            (*system).to_owned(),
            number("trials").to_string(),
            percent(number("covered") / number("trials").max(1.0)),
            percent(number("error")),
            format!("{:+.1} %", 100.0 * number("bias")),
            percent(number("width")),
            format!("{:.1}", number("levels")),
            format!("{:.0} s", number("time_s")),
            percent(number("fixed_error")),
            format!("{:.0} s", number("fixed_level_s")),
            format!("{:.0} s", number("fixed_time_s")),
        ]);
    }
    let sum = |key: &str| results.iter().map(|(_, result)| number(result, key)).sum::<f64>();
    let covered = sum("covered") / sum("trials").max(1.0);
    table.bars.push(Bar {
        line: format!(
            "the interval covers the truth in {} of {:.0} searches (at least {})",
            percent(covered),
            sum("trials"),
            percent(COVERAGE_MIN)
        ),
        reached: covered >= COVERAGE_MIN,
    });
    let share = sum("time_s") / sum("fixed_time_s").max(1.0);
    table.bars.push(Bar {
        line: format!(
            "a search takes {} of the load time of one in steps, with mean errors of {} and {} (at most {})",
            percent(share),
            percent(sum("error") / results.len().max(1) as f64),
            percent(sum("fixed_error") / results.len().max(1) as f64),
            percent(TIME_SHARE_MAX)
        ),
        reached: share <= TIME_SHARE_MAX,
    });
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn theory_and_simulation_agree() {
        let system = system("mm4", 1).expect("a system");
        let per_s = 0.8 * system.setup.capacity_per_s();
        let seconds = observed(&system, per_s, 2_000.0, 1).expect("a simulation");
        let (of, all) = seconds.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let theory = slow(per_s, 4, system.setup.service.mean_s(), system.limit_s);
        assert!((of / all / theory - 1.0).abs() < 0.15, "{} for {theory}", of / all);
    }
}
