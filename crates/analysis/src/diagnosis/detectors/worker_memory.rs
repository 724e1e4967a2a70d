//! Tasks that have begun and wait inside their worker: they hold a slot and use no CPU. The resource is usually memory for the
//! task; a semaphore or a lock within the worker looks the same.
//!
//! Not: messages in queues, and waits for a connection or a call, which have spans of their own. And not the task's own work, which has
//! no span either: a wait for what others hold is as long as they hold it, and own work is about as long each time.

use std::collections::BTreeMap;

use model::SpanKind;
use model::diagnosis::{Caveat, Change, Claim, CostClass, FigureName, Hypothesis, Note, Remedy, Role};
use model::{Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::paths::Step;
use super::super::thresholds::worker_memory::{LIMITS_MIN, SHARE_MIN, STEADY_MAX, WAIT_S_MIN};

/// Finds tasks that wait in the memory of a worker.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    // Several services may do the same work: a canary is a service of its own.
    let mut tasks: BTreeMap<&str, (f64, u64, &Step)> = BTreeMap::new();
    let mut before_each_ns: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (key, step) in view.paths.steps.iter().filter(|(key, _)| key.kind == SpanKind::Consumer) {
        let task = tasks.entry(&key.operation).or_insert((0.0, 0, step));
        task.0 += step.before_ns;
        task.1 += step.parents;
        if step.before_ns > task.2.before_ns {
            task.2 = step;
        }
        before_each_ns.entry(&key.operation).or_default().extend(&step.before_each_ns);
    }
    let waits = tasks.into_iter().filter(|(operation, _)| {
        before_each_ns.get_mut(operation).is_none_or(|before_each_ns| !is_steady(before_each_ns))
    });
    let most = waits.max_by(|a, b| a.1.0.total_cmp(&b.1.0));
    let Some((operation, (before_ns, parents, step))) = most else { return Vec::new() };
    let share = view.share_of_paths(before_ns);
    let wait_s = before_ns / parents.max(1) as f64 / 1e9;
    if share < SHARE_MIN || wait_s < WAIT_S_MIN {
        return Vec::new();
    }
    vec![Observation::Found(
        Box::new(Hypothesis {
            role: if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
            strength: Strength::Pattern,
            explains: Some(share),
            numbers: vec![
                exact(FigureName::FirstCallWait, wait_s, Unit::Seconds).noted(Note::Mean),
                exact(FigureName::WorkTime, step.mean_s() - wait_s, Unit::Seconds).noted(Note::Mean),
                exact(FigureName::TimeShare, share * 100.0, Unit::Percent),
            ],
            exemplars: view.exemplars(&step.slowest),
            caveats: vec![Caveat::WaitReasonUnknown],
            cost: CostClass::Setting,
            prediction: view.without(share, Change::NoWorkerWait),
            ..draft(
                Claim::WaitsInWorker {
                    operation: operation.to_owned(),
                    mean_wait_s: wait_s,
                    time_share: share,
                },
                Remedy::RaiseWorkerMemory,
                operation,
            )
        }),
        Depth::Cause,
    )]
}

/// Whether these times are about the same, except for a twentieth at each end.
fn is_steady(times_ns: &mut [u64]) -> bool {
    times_ns.sort_unstable();
    let at = |share: f64| times_ns.get(((times_ns.len() as f64 - 1.0) * share).round() as usize).copied();
    let (Some(low), Some(high)) = (at(0.05), at(0.95)) else { return false };
    (high - low) as f64 <= low as f64 * STEADY_MAX
}

#[cfg(test)]
mod tests {
    use model::Span;

    use super::super::super::testing::{level, sampled, span};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn a_slot_that_is_held_before_anything_is_done() {
        let case = |mean_ms: f64, varies: f64| {
            let trace = |number: u128| {
                let wait_ms = mean_ms * (1.0 + varies * (number % 5) as f64 / 4.0);
                let task = span(1, 0, "worker", "process vision", 0.0, wait_ms + 450.0);
                let call =
                    Span { kind: SpanKind::Client, ..span(2, 1, "worker", "POST /vision", wait_ms, 449.0) };
                sampled(number, vec![Span { kind: SpanKind::Consumer, ..task }, call])
            };
            crate::diagnosis::Level { traces: (0..20).map(trace).collect(), ..level(10, 10, 0.1) }
        };
        check(detect, &case(600.0, 0.5), &["memory limit: process vision"]);
        check(detect, &case(1.0, 0.5), &[]);
        check(detect, &case(600.0, 0.02), &[]);
    }
}
