//! A service that waits at the end of each request, after its last call, and uses no CPU meanwhile. The usual reason is a log line
//! that is synced to disk before the response.
//!
//! A service of one thread stalls meanwhile: if rate times wait is close to 1, requests in front of the service wait for this, too
//! (utilisation law).
//!
//! Not: a response that takes long to serialise. That uses CPU, which the process reports.

use model::diagnosis::{Caveat, Change, Claim, CostClass, FigureName, Hypothesis, Note, Remedy, Role};
use model::{SignalId, SpanKind, Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::paths::{Step, StepKey};
use super::super::prediction::Gone;
use super::super::thresholds::logging::{BUSY_MAX, BUSY_MIN, COMPUTED_MAX, END_S_MIN, LIMITS_MIN, SHARE_MIN};

/// Effect of the remedy.
const CHANGE: Change = Change::NoEndWait;

/// Finds services that wait at the end of requests, after their work is done.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let services =
        view.paths.steps.iter().filter(|(key, step)| key.kind == SpanKind::Server && step.parents > 0);
    let mut sums: std::collections::BTreeMap<&str, (f64, u64, &StepKey, &Step)> =
        std::collections::BTreeMap::new();
    for (key, step) in services {
        let sum = sums.entry(&key.service).or_insert((0.0, 0, key, step));
        sum.0 += step.after_ns;
        sum.1 += step.parents;
        if step.after_ns > sum.3.after_ns {
            (sum.2, sum.3) = (key, step);
        }
    }
    let most = sums.into_values().max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((after_ns, requests, key, step)) = most else { return Vec::new() };
    let end_s = after_ns / requests.max(1) as f64 / 1e9;
    let busy = view.level.requests_per_s() * end_s;
    let is_one_thread = (BUSY_MIN..=BUSY_MAX).contains(&busy);
    let door = if is_one_thread { view.share_outside() } else { 0.0 };
    let share = (view.share_of_paths(after_ns) + door).min(1.0);
    // Without the CPU time of the process, waiting and computing look the same.
    let computed_s =
        view.sum_of_means(&[SignalId::ProcessCpu]).map(|cores| cores / view.level.requests_per_s().max(1e-9));
    let is_so = share >= SHARE_MIN
        && end_s >= END_S_MIN
        && computed_s.is_some_and(|computed_s| computed_s <= end_s * COMPUTED_MAX);
    if !is_so {
        return Vec::new();
    }
    let claim = Claim::WaitsAtEnd {
        service: key.service.to_string(),
        mean_wait_s: end_s,
        cpu_s: computed_s.unwrap_or(0.0),
        time_share: share,
    };
    vec![Observation::Found(
        Box::new(Hypothesis {
            role: if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
            strength: Strength::Pattern,
            explains: Some(share),
            numbers: vec![
                exact(FigureName::EndWait, end_s, Unit::Seconds).noted(Note::Mean),
                exact(FigureName::ThreadBusy, busy * 100.0, Unit::Percent).noted(Note::OfTime),
                exact(FigureName::RequestCpu, computed_s.unwrap_or(0.0), Unit::Seconds).noted(Note::AllOfIt),
                exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
            ],
            queries: view
                .signals(&[SignalId::ProcessCpu])
                .into_iter()
                .map(|signal| view.query(signal))
                .collect(),
            exemplars: view.exemplars(&step.slowest),
            caveats: vec![Caveat::WaitWithoutSpan],
            cost: CostClass::Setting,
            prediction: match is_one_thread {
                true => view.without_work(Gone { share, freed: busy.min(1.0) }, CHANGE),
                false => view.without_holding((share, share), CHANGE),
            },
            ..draft(claim, Remedy::LogAsynchronously, key.service.to_string())
        }),
        Depth::Cause,
    )]
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, request, sampled, with_evidence};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn an_end_without_work_is_waited_for() {
        let case = |end_ms: f64, cpu: f64| {
            let mut level =
                with_evidence(level(10, 100, 0.01), vec![flat("process_cpu", &[], 10, cpu)], Vec::new());
            let below = [("select 1", 0.5, 3.0)];
            level.traces = (0..20)
                .map(|number| sampled(number, request("shop", "GET /", 3.5 + end_ms, &below)))
                .collect();
            level
        };
        check(detect, &case(4.5, 0.05), &["synchronous logging: shop"]);
        check(detect, &case(4.5, 0.45), &[]);
        check(detect, &case(0.2, 0.05), &[]);
    }
}
