//! The laws of a run's lifecycle, one function each.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::metric::builtin::ITERATIONS;
use model::{Aggregate, Instant, Load, Quantile, RunEvent, Window, Work};

use super::trace::{Entry, Trace};
use crate::AbortReason;
use crate::coordinator::WORKER_PATIENCE;

/// A law, and its verdict on a trace.
pub(super) type Law = (&'static str, fn(&Trace) -> Result<(), String>);

/// All laws.
pub(super) const LAWS: [Law; 15] = [
    ("iterations end once", iterations_end_once),
    ("setup is first and runs once", setup_is_first_and_runs_once),
    ("teardown is last and runs once", teardown_is_last_and_runs_once),
    ("a kill skips teardown", a_kill_skips_teardown),
    ("phases come in order", phases_come_in_order),
    ("nothing follows the end", nothing_follows_the_end),
    ("windows are contiguous", windows_are_contiguous),
    ("windows hold every iteration", windows_hold_every_iteration),
    ("a thread is asked for one window at a time", a_thread_is_asked_for_one_window_at_a_time),
    ("the last window asks every thread", the_last_window_asks_every_thread),
    ("thresholds see whole windows", thresholds_see_whole_windows),
    ("graceful stop is bounded", graceful_stop_is_bounded),
    ("the first abort reason stays", the_first_abort_reason_stays),
    ("thresholds abort after their delay", thresholds_abort_after_their_delay),
    ("only blocked threads are lost", only_blocked_threads_are_lost),
];

/// Slack for what takes a moment in the simulation.
const SLACK: Duration = Duration::from_millis(20);

fn check(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

/// Every iteration that starts ends exactly once, in full or interrupted; one on a thread that is blocked for good ends at
/// most once.
fn iterations_end_once(trace: &Trace) -> Result<(), String> {
    let mut running = BTreeMap::new();
    for (_, entry) in &trace.entries {
        match entry {
            Entry::Iteration { id, worker, .. } => {
                check(running.insert(id, worker).is_none(), || format!("iteration {id} starts twice"))?;
            }
            Entry::IterationEnd { id, .. } => {
                check(running.remove(id).is_some(), || format!("iteration {id} ends without running"))?;
            }
            _ => {}
        }
    }
    let left = running.iter().find(|(_, worker)| !trace.blocked.contains(worker));
    check(left.is_none(), || format!("iteration {left:?} never ends"))
}

/// `setup()` ends before the first iteration. It runs once, and again only by an order while the run is paused or after a
/// failure while it was. After a failed setup no scenario starts, unless the plan
/// needs none.
fn setup_is_first_and_runs_once(trace: &Trace) -> Result<(), String> {
    let (mut is_running, mut is_done, mut has_failed, mut orders) = (false, false, false, 0);
    for (_, entry) in &trace.entries {
        match entry {
            Entry::SetupOrder { is_elsewhere: true } => (is_done, has_failed) = (true, false),
            Entry::SetupOrder { is_elsewhere: false } => orders += 1,
            Entry::Setup => {
                check(!is_running, || "setup() begins while it runs".into())?;
                check(!is_done || orders > 0, || "setup() runs again".into())?;
                (is_running, orders) = (true, i32::max(orders - 1, 0));
            }
            Entry::SetupEnd { is_ok } => (is_running, is_done, has_failed) = (false, *is_ok, !is_ok),
            Entry::Iteration { id, .. } => {
                check(!is_running, || format!("iteration {id} starts before the end of setup()"))?;
                check(!has_failed || trace.case.plan.lifecycle.no_setup, || {
                    format!("iteration {id} starts after a failed setup()")
                })?;
                let is_needed = trace.case.has_setup && !trace.case.plan.lifecycle.no_setup;
                check(is_done || !is_needed, || format!("iteration {id} starts without setup()"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// After a successful start `teardown()` runs exactly once, when no iteration runs any more; otherwise never. The
/// thread that should run it may be blocked.
fn teardown_is_last_and_runs_once(trace: &Trace) -> Result<(), String> {
    let begun = trace.places(|entry| matches!(entry, Entry::Teardown));
    let has_started = trace.event(|event| matches!(event, RunEvent::ScenariosStarted { .. })).is_some();
    let may_run = has_started && trace.case.has_teardown && !trace.case.plan.lifecycle.no_teardown;
    let is_killed = trace.entries.iter().any(|(_, entry)| matches!(entry, Entry::Kill));
    let expected = usize::from(may_run);
    let may_be_absent = is_killed || !trace.blocked.is_empty();
    let is_right = begun.len() == expected || (may_be_absent && begun.is_empty());
    check(is_right, || format!("teardown() ran {} times, expected {expected}", begun.len()))?;
    let last = trace.places(|entry| matches!(entry, Entry::Iteration { .. } | Entry::IterationEnd { .. }));
    let is_last = begun.first().is_none_or(|teardown| last.iter().all(|place| place < teardown));
    check(is_last || !trace.blocked.is_empty(), || "an iteration runs during teardown()".into())
}

/// A run that is killed before its teardown starts none.
fn a_kill_skips_teardown(trace: &Trace) -> Result<(), String> {
    let killed = trace.entries.iter().find(|(_, entry)| matches!(entry, Entry::Kill)).map(|(at, _)| *at);
    let teardown = trace.event(|event| matches!(event, RunEvent::TeardownStarted));
    let (Some(killed), Some(teardown)) = (killed, teardown) else { return Ok(()) };
    let slack = trace.case.listener_delay + SLACK;
    check(trace.entries[teardown].0 <= killed + slack, || "teardown() starts after a kill".into())
}

/// Initialisation, setup, start, end, teardown and the end of the run come in this order, each after the start once at most.
fn phases_come_in_order(trace: &Trace) -> Result<(), String> {
    let rank = |event: &RunEvent| match event {
        RunEvent::Initializing { .. } => Some(0),
        RunEvent::SetupStarted => Some(1),
        RunEvent::ScenariosStarted { .. } => Some(2),
        RunEvent::ScenariosEnded { .. } => Some(3),
        RunEvent::TeardownStarted => Some(4),
        RunEvent::Ended => Some(5),
        _ => None,
    };
    let ranks: Vec<i32> = trace.events().filter_map(|(_, _, event)| rank(event)).collect();
    let is_ordered = ranks.windows(2).all(|pair| pair[0] < pair[1] || (pair[0] == pair[1] && pair[0] < 2));
    check(is_ordered && ranks.last() == Some(&5), || format!("phases come as {ranks:?}"))?;
    check(ranks.contains(&2) == ranks.contains(&3), || format!("scenarios start and do not end: {ranks:?}"))
}

/// No event and no iteration follows the event of the end.
fn nothing_follows_the_end(trace: &Trace) -> Result<(), String> {
    let last = trace.entries.last().map(|(_, entry)| entry);
    check(matches!(last, Some(Entry::Event(RunEvent::Ended))), || format!("{last:?} follows the end"))
}

fn windows(trace: &Trace) -> Vec<&Window> {
    let events = trace.events();
    events
        .filter_map(|(_, _, event)| if let RunEvent::Window(window) = event { Some(&**window) } else { None })
        .collect()
}

/// Windows come in order, each from the end of the one before, and cover the run from its start past its last phase.
fn windows_are_contiguous(trace: &Trace) -> Result<(), String> {
    let windows = windows(trace);
    for (index, window) in windows.iter().enumerate() {
        check(window.index as usize == index, || format!("window {} comes at {index}", window.index))?;
        check(window.start <= window.end, || format!("window {index} ends before it starts"))?;
        let is_next = index == 0 || windows[index - 1].end == window.start;
        check(is_next, || format!("window {index} does not start where the one before ended"))?;
    }
    let (first, last) = (windows.first().map(|window| window.start), windows.last().map(|window| window.end));
    let mut instants = trace.events().filter_map(|(_, _, event)| match event {
        RunEvent::ScenariosStarted { at } | RunEvent::ScenariosEnded { at } => Some(*at),
        _ => None,
    });
    let is_covered =
        instants.all(|at| first.is_some_and(|first| first <= at) && last.is_some_and(|last| at <= last));
    check(is_covered && first.is_some(), || {
        format!("windows from {first:?} to {last:?} do not cover the run")
    })
}

fn full_iterations(window: &Window) -> u64 {
    let counts = window.series.iter().map(|(key, aggregate)| match (key.metric, aggregate) {
        (ITERATIONS, Aggregate::Counter(counter)) => counter.sum.value() as u64,
        _ => 0,
    });
    counts.sum()
}

/// All windows together hold each start, each end, each full iteration and the time of all iterations exactly once, unless a
/// thread is blocked.
fn windows_hold_every_iteration(trace: &Trace) -> Result<(), String> {
    if !trace.blocked.is_empty() {
        return Ok(());
    }
    let windows = windows(trace);
    let load = windows.iter().flat_map(|window| &window.load).filter(|load| load.work == Work::Iterations);
    let sum = |sum: (u64, u64, u64), load: &Load| {
        (sum.0 + load.started, sum.1 + load.finished, sum.2 + load.in_flight_ns)
    };
    let held = (load.fold((0, 0, 0), sum), windows.iter().map(|window| full_iterations(window)).sum::<u64>());
    let (mut happened, mut full) = ((0, 0, 0_u64), 0);
    for (at, entry) in &trace.entries {
        match entry {
            Entry::Iteration { .. } => {
                (happened.0, happened.2) = (happened.0 + 1, happened.2.wrapping_sub(at.as_ns()));
            }
            Entry::IterationEnd { is_full, .. } => {
                (happened.1, happened.2) = (happened.1 + 1, happened.2.wrapping_add(at.as_ns()));
                full += u64::from(*is_full);
            }
            _ => {}
        }
    }
    check(held == (happened, full), || format!("windows hold {held:?} of {:?}", (happened, full)))
}

/// A thread that has not answered a request for a window gets no further one.
fn a_thread_is_asked_for_one_window_at_a_time(trace: &Trace) -> Result<(), String> {
    let mut asked = BTreeSet::new();
    for (at, entry) in &trace.entries {
        match entry {
            Entry::WindowRequest { worker, .. } => {
                check(asked.insert(*worker), || format!("thread {worker} is asked twice, at {at:?}"))?;
            }
            Entry::WindowAnswer { worker } => {
                asked.remove(worker);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Every thread gets a request for the last window, also one that had not answered an earlier request when the run's work was
/// over: otherwise its samples since then are lost. A blocked thread ends the wait for answers.
fn the_last_window_asks_every_thread(trace: &Trace) -> Result<(), String> {
    let Some(last) = windows(trace).last().map(|window| window.end) else { return Ok(()) };
    let requests = trace.entries.iter().filter_map(|(_, entry)| match entry {
        Entry::WindowRequest { worker, end } if *end == last => Some(*worker),
        _ => None,
    });
    let asked: BTreeSet<usize> = requests.collect();
    check(asked.len() == trace.case.workers || !trace.blocked.is_empty(), || {
        format!("the window that ends at {last:?} asks only the threads {asked:?}")
    })
}

/// Thresholds are evaluated on exactly the windows that came before: never on a part of one.
fn thresholds_see_whole_windows(trace: &Trace) -> Result<(), String> {
    let mut full = 0;
    for (_, at, event) in trace.events() {
        match event {
            RunEvent::Window(window) => full += full_iterations(window),
            RunEvent::Thresholds { results, .. } => {
                for result in results.iter() {
                    let is_same = match result.observed {
                        Quantile::Value(value) => value as u64 == full,
                        _ => full == 0,
                    };
                    check(is_same, || {
                        format!("{:?} observed at {at:?}, windows hold {full}", result.observed)
                    })?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The longest time that the world, and not the coordinator, may add to a bound.
fn delay(trace: &Trace) -> Duration {
    let case = &trace.case;
    // Delayed orders may arrive at a thread that stands still, at most twice.
    case.order_delay + case.stall * 2 + SLACK
}

/// No iteration outlives its scenario's graceful stop, nor a stop of the run, and the scenarios end soon after the last.
fn graceful_stop_is_bounded(trace: &Trace) -> Result<(), String> {
    let start = trace.events().find_map(|(_, _, event)| match event {
        RunEvent::ScenariosStarted { at } => Some(*at),
        _ => None,
    });
    let Some(start) = start else { return Ok(()) };
    let stopped = trace.entries.iter().find(|(_, entry)| matches!(entry, Entry::Stop(_))).map(|(at, _)| *at);
    // The driver reads a stop when the listener lets it, perhaps after several events in a row.
    let stop = stopped.map_or(Instant::MAX, |at| at.max(start) + trace.case.listener_delay + delay(trace));
    let hard_ends: Vec<Instant> = trace
        .case
        .plan
        .scenarios
        .iter()
        .map(|scenario| {
            start + scenario.start_time + schedule::duration(&scenario.executor) + scenario.graceful_stop
        })
        .collect();
    let mut scenarios = BTreeMap::new();
    for (at, entry) in &trace.entries {
        match entry {
            Entry::Iteration { id, scenario, .. } => {
                scenarios.insert(id, usize::from(scenario.0));
            }
            Entry::IterationEnd { id, .. } => {
                let bound = (hard_ends[scenarios[id]] + delay(trace)).min(stop);
                check(*at <= bound, || format!("iteration {id} ends at {at:?}, its bound is {bound:?}"))?;
            }
            Entry::Event(RunEvent::ScenariosEnded { at }) => {
                let last = hard_ends.iter().max().copied().unwrap_or(start);
                let bound = last.min(stop) + WORKER_PATIENCE + trace.case.listener_delay + SLACK;
                check(*at <= bound, || format!("the scenarios end at {at:?}, their bound is {bound:?}"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The run's reason to end early is the first one, and there is one exactly if it was to stop.
fn the_first_abort_reason_stays(trace: &Trace) -> Result<(), String> {
    let first = trace.entries.iter().find_map(|(_, entry)| match entry {
        Entry::Stop(reason) => Some(reason.clone()),
        _ => None,
    });
    check(trace.aborted == first, || format!("the reason is {:?}, the first was {first:?}", trace.aborted))
}

/// A threshold ends the run only if it has `abortOnFail`, has failed, and its `delayAbortEval` is over.
fn thresholds_abort_after_their_delay(trace: &Trace) -> Result<(), String> {
    let mut started = Instant::MAX;
    let mut has_failed_at = None;
    for (at, entry) in &trace.entries {
        match entry {
            Entry::Event(RunEvent::ScenariosStarted { at }) => started = *at,
            Entry::Event(RunEvent::Thresholds { at, results }) if results.iter().any(|result| !result.ok) => {
                has_failed_at = Some(*at);
            }
            Entry::Stop(AbortReason::Threshold) => {
                // The stop is carried out before the listener gets the evaluation of the same instant.
                let results = trace.events().filter_map(|(_, _, event)| match event {
                    RunEvent::Thresholds { at: then, results } if then == at => Some(results),
                    _ => None,
                });
                let fails = results.flat_map(|results| results.iter()).any(|result| !result.ok);
                let condition = trace.case.plan.thresholds.iter().flat_map(|spec| &spec.conditions).next();
                let is_due =
                    condition.is_some_and(|it| it.abort_on_fail && at.since(started) > it.delay_abort_eval);
                check((fails || has_failed_at.is_some()) && is_due, || {
                    format!("a threshold aborts at {at:?}")
                })?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// A run loses a thread only if a VU has blocked it for good; others answer in time.
fn only_blocked_threads_are_lost(trace: &Trace) -> Result<(), String> {
    let (lost, blocked) = (trace.workers_lost, trace.blocked.len());
    check(lost == 0 || blocked > 0, || format!("{lost} threads lost, {blocked} blocked"))
}
