//! The laws that every run keeps.

use std::collections::BTreeSet;

use super::world::{Trace, Vacated};
use crate::message::Segment;

type Law = fn(&Trace) -> Result<(), String>;

/// All laws. A law needs a planted defect that it catches.
pub(super) const LAWS: [(&str, Law); 11] = [
    ("nothing is counted twice", once),
    ("nothing acknowledged is lost", acknowledged),
    ("a finished agent has handed over everything", complete),
    ("the start skew is bounded", skew),
    ("all agents follow one schedule", schedule),
    ("setup and teardown run once", functions),
    ("teardown follows the scenarios", teardown_last),
    ("load ends with the hub", headless),
    ("the parts are the whole test", parts),
    ("no part runs twice at a time", alone),
    ("a lost part is continued as a whole", continued),
];

/// Load ends so long after the death of its hub.
const HEADLESS_MAX_NS: u64 = 10_000_000_000;

/// Load ends so long after an order to stop: the silence that an agent bears, and a frame that is sent again after it.
const STOPPING_MAX_NS: u64 = 11_500_000_000;

fn once(trace: &Trace) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for window in &trace.counted {
        if !seen.insert(*window) {
            return Err(format!("window {window:?} counts twice"));
        }
    }
    let produced: BTreeSet<_> = trace.produced.iter().collect();
    match seen.iter().find(|window| !produced.contains(window)) {
        Some(window) => Err(format!("no agent made window {window:?}")),
        None => Ok(()),
    }
}

fn acknowledged(trace: &Trace) -> Result<(), String> {
    if trace.hub_died.is_some() {
        return Ok(());
    }
    let counted: BTreeSet<_> = trace.counted.iter().chain(&trace.unacknowledged).collect();
    match trace.produced.iter().find(|window| window.1 > 0 && !counted.contains(window)) {
        Some(window) => Err(format!("window {window:?} was acknowledged and is not counted")),
        None => Ok(()),
    }
}

fn complete(trace: &Trace) -> Result<(), String> {
    let counted: BTreeSet<_> = trace.counted.iter().collect();
    let of_finished = |window: &&(usize, u64)| trace.finished.contains(&window.0);
    match trace.produced.iter().filter(of_finished).find(|window| !counted.contains(window)) {
        Some(window) => Err(format!("window {window:?} is of an agent that finished")),
        None => Ok(()),
    }
}

fn skew(trace: &Trace) -> Result<(), String> {
    match trace.skews.iter().find(|(_, skew, bound)| skew > bound) {
        Some((agent, skew, bound)) => Err(format!("agent {agent} starts {skew} ns off, at most {bound}")),
        None => Ok(()),
    }
}

fn schedule(trace: &Trace) -> Result<(), String> {
    match trace.shifts.iter().find(|(_, shift, bound)| shift > bound) {
        Some((agent, shift, bound)) => {
            Err(format!("agent {agent} runs {shift} ns beside it, at most {bound}"))
        }
        None => Ok(()),
    }
}

fn functions(trace: &Trace) -> Result<(), String> {
    match (trace.setups.len(), trace.teardowns.len()) {
        (0..=1, 0..=1) => Ok(()),
        counts => Err(format!("setup and teardown ran {counts:?} times")),
    }
}

fn teardown_last(trace: &Trace) -> Result<(), String> {
    for at in &trace.teardowns {
        let is_lost = |agent: usize| trace.lost.iter().any(|lost| lost.0 == agent && lost.1 <= *at);
        let running = trace.loads.iter().find(|(agent, from, to)| from <= at && at < to && !is_lost(*agent));
        if let Some(load) = running {
            return Err(format!("teardown at {at} while {load:?} runs"));
        }
    }
    Ok(())
}

fn headless(trace: &Trace) -> Result<(), String> {
    let ends = [(trace.hub_died, HEADLESS_MAX_NS), (trace.stopped, STOPPING_MAX_NS)];
    for (stopped, within) in ends.into_iter().filter_map(|(at, within)| Some((at?, within))) {
        for (agent, from, to) in &trace.loads {
            // A machine that stands still sends no load, and obeys when it goes on.
            let thawed = trace.frozen[*agent].map_or(0, |frozen| frozen.1);
            let latest = stopped.max(thawed).max(*from) + within;
            if *to > latest {
                return Err(format!("agent {agent} sends load until {to}, stopped at {stopped}"));
            }
        }
    }
    Ok(())
}

fn parts(trace: &Trace) -> Result<(), String> {
    if trace.agreed.is_none() {
        return Ok(());
    }
    let count = trace.parts.len() as u32;
    let mut parts: Vec<(u32, u32)> = trace.parts.clone();
    parts.sort_unstable();
    let whole: Vec<(u32, u32)> = (0..count).map(|index| (index, count)).collect();
    if parts == whole { Ok(()) } else { Err(format!("the parts are {parts:?}")) }
}

fn alone(trace: &Trace) -> Result<(), String> {
    for (number, one) in trace.spans.iter().enumerate() {
        for other in &trace.spans[number + 1..] {
            // A load that began behind its fence started nothing.
            let is_meanwhile = one.from.max(other.from) < one.to.min(other.to);
            if is_meanwhile && share_work(one.part, other.part) {
                return Err(format!("{one:?} and {other:?}"));
            }
        }
    }
    Ok(())
}

/// Whether two parts have iterations in common.
fn share_work(one: Segment, other: Segment) -> bool {
    let common = gcd(one.shares.max(1), other.shares.max(1));
    (one.index, one.count) == (other.index, other.count) && one.share % common == other.share % common
}

fn gcd(one: u32, other: u32) -> u32 {
    if other == 0 { one } else { gcd(other, one % other) }
}

/// With time enough, machines without faults, and no end meanwhile, agents take over all that another one has lost.
fn continued(trace: &Trace) -> Result<(), String> {
    for lost in trace.vacated.iter().filter(|lost| trace.is_calm_after(lost)) {
        let Vacated { part, at, .. } = lost;
        let taken = trace.taken.iter().filter(|(taken, from)| from > at && share_work(*taken, *part));
        let share = |part: &Segment| 1.0 / f64::from(part.shares.max(1));
        let sum: f64 = taken.map(|(taken, _)| share(taken)).sum();
        if (sum - share(part)).abs() > 1e-9 {
            return Err(format!("{sum} of {part:?} was continued after {at}"));
        }
    }
    Ok(())
}
