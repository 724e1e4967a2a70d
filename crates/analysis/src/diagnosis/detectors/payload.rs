//! Large responses: they use the CPU that writes them, and the bandwidth that carries them.
//!
//! Saturated bandwidth shows as a data rate that hardly varies and as requests that spend most of their time outside of the service,
//! much of it receiving a response that has begun. Time to the first byte does not count: it may be a wait for the service. If
//! nearly all time is receiving, the rate may vary, because users arrive in waves and bytes count when their response is complete.
//!
//! Not: large responses that delay no request.

use model::diagnosis::{
    Caveat, Change, Claim, CostClass, FigureName, Hypothesis, Note, Remedy, Role, RuledOut,
};
use model::{SignalId, SpanKind, Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::series;
use super::super::thresholds::payload::{
    BYTES_MIN, BYTES_PER_S_MIN, EVEN_MAX, LATE_MAX, LIMITS_MIN, OUTSIDE_MIN, OUTSIDE_S_MIN, OWN_MIN,
    RECEIVING_MIN, RECEIVING_MOST, WRITE_S_PER_BYTE_MAX,
};

/// Finds operations whose responses are too large.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let requests = &view.level.requests;
    let each = requests.bytes_in / requests.count.max(1) as f64;
    let mut observations = Vec::new();
    observations.extend(saturated_link(view, each));
    observations.extend(large_responses(view, each));
    if observations.is_empty() && requests.count > 0 {
        observations.push(Observation::RuledOut(RuledOut::ResponseSize { body_bytes: each }));
    }
    observations
}

fn large_responses(view: &View<'_>, each: f64) -> Option<Observation> {
    let own_ns: f64 = view
        .paths
        .steps
        .iter()
        .filter(|(key, _)| key.kind == SpanKind::Server)
        .map(|(_, step)| step.own_ns)
        .sum();
    let own = view.share_of_paths(own_ns);
    let outside = view.share_outside();
    let share = (own + outside).min(1.0);
    if each < BYTES_MIN || share < OWN_MIN || computes_more(view, each) {
        return None;
    }
    let cpu_s =
        view.sum_of_means(&[SignalId::ProcessCpu]).map(|cores| cores / view.level.requests_per_s().max(1e-9));
    let mut numbers = vec![
        exact(FigureName::ResponseSize, each, Unit::Bytes).noted(Note::OfAllRequests),
        exact(FigureName::ServiceShare, own * 100.0, Unit::Percent).noted(Note::OfRequestTime),
        exact(FigureName::OutsideShare, outside * 100.0, Unit::Percent).noted(Note::OfRequestTime),
    ];
    numbers.extend(cpu_s.map(|cpu_s| exact(FigureName::RequestCpu, cpu_s, Unit::Seconds)));
    Some(Observation::Found(
        Box::new(Hypothesis {
            role: if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
            strength: Strength::Pattern,
            explains: Some(share),
            numbers,
            caveats: vec![Caveat::SizeUnconfirmed],
            cost: CostClass::Logic,
            prediction: view.without(share * 0.7, Change::SmallResponses),
            ..draft(
                Claim::LargeResponses { body_bytes: each, time_share: share },
                Remedy::ShortenResponses,
                "answers",
            )
        }),
        Depth::Cause,
    ))
}

/// Returns true if a program uses more CPU per request than writing so many bytes can take: it computes what it writes.
fn computes_more(view: &View<'_>, each: f64) -> bool {
    let programs = view.signals(&[SignalId::ListenerCpu]);
    let cores = programs.iter().filter_map(|signal| series::mean(view.level, signal)).fold(0.0, f64::max);
    cores / view.level.requests_per_s().max(1e-9) > each * WRITE_S_PER_BYTE_MAX
}

fn saturated_link(view: &View<'_>, each: f64) -> Option<Observation> {
    let level = view.level;
    let mean_s = level.requests.mean_s.filter(|mean_s| *mean_s > 0.0)?;
    let receiving = level.requests.receiving_s.unwrap_or(0.0) / mean_s;
    let share = view.share_outside().max(receiving).min(1.0);
    let rates: Vec<f64> =
        level.seconds.iter().map(|second| second.bytes_in / second.length_s().max(1e-9)).collect();
    // The first and the last second are incomplete.
    let rates = rates.get(1..rates.len().saturating_sub(1)).filter(|rates| rates.len() >= 5)?;
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / rates.len() as f64;
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    let is_even = sorted[sorted.len() * 9 / 10] <= sorted[sorted.len() / 2] * EVEN_MAX;
    let is_slow = receiving >= RECEIVING_MOST && view.share_outside() >= RECEIVING_MOST;
    // A planned load has an even data rate by itself.
    let is_closed = level.closed_vus.is_some();
    let is_late = level.requests.after_lost_syns as f64 > level.requests.count as f64 * LATE_MAX;
    if !is_closed
        || share < OUTSIDE_MIN
        || receiving < RECEIVING_MIN
        || mean_s * share < OUTSIDE_S_MIN
        || !(is_even || is_slow)
        || mean < BYTES_PER_S_MIN
        || is_late
    {
        return None;
    }
    let claim = Claim::BandwidthSaturated {
        bytes_per_s: mean,
        is_even,
        outside_s: mean_s * share,
        outside_share: share,
    };
    Some(Observation::Found(
        Box::new(Hypothesis {
            role: Role::Limits,
            strength: Strength::Pattern,
            explains: Some(share),
            numbers: vec![
                exact(FigureName::DataRate, mean, Unit::Bytes).noted(Note::OfSeconds),
                exact(FigureName::DataRateVariation, variance.sqrt() / mean.max(1.0) * 100.0, Unit::Percent),
                exact(FigureName::OutsideTime, mean_s * share, Unit::Seconds).noted(Note::Mean),
                exact(FigureName::ReceivingShare, receiving * 100.0, Unit::Percent)
                    .noted(Note::OfRequestTime),
                exact(FigureName::ResponseSize, each, Unit::Bytes).noted(Note::OfAllRequests),
            ],
            caveats: vec![Caveat::SlowProxy],
            cost: CostClass::Resource,
            prediction: view.without(share, Change::EnoughBandwidth),
            ..draft(claim, Remedy::RaiseBandwidth, "network")
        }),
        Depth::Cause,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, request, sampled, with_evidence};
    use super::super::testing::check;
    use super::*;

    fn case(bytes: f64, traced_ms: f64, receiving_s: f64) -> crate::diagnosis::Level {
        let mut level = level(20, 100, 0.1);
        level.requests.receiving_s = Some(receiving_s);
        level.closed_vus = Some(10.0);
        level.seconds.iter_mut().for_each(|second| second.bytes_in = bytes * second.finished as f64);
        level.requests.bytes_in = bytes * level.requests.count as f64;
        let below = [("select 1", 0.0, traced_ms * 0.4)];
        level.traces =
            (0..20).map(|number| sampled(number, request("shop", "GET /", traced_ms, &below))).collect();
        level
    }

    #[test]
    fn a_way_that_is_full_is_told_from_long_answers() {
        check(detect, &case(60_000.0, 90.0, 0.000_1), &["chatty serialisation: answers"]);
        check(detect, &case(6_500.0, 10.0, 0.05), &["bandwidth limit: network"]);
        check(detect, &case(6_500.0, 10.0, 0.000_1), &[]);
        check(detect, &case(2_000.0, 90.0, 0.000_1), &[]);
    }

    #[test]
    fn responses_that_are_computed_are_not_only_long() {
        let computed = |cores: f64| {
            let program = flat("listener_cpu", &[("program", "gunicorn:8000")], 20, cores);
            // 100 requests a second.
            with_evidence(case(60_000.0, 90.0, 0.000_1), vec![program], Vec::new())
        };
        check(detect, &computed(1.0), &["chatty serialisation: answers"]);
        check(detect, &computed(1.5), &[]);
    }

    #[test]
    fn a_way_that_users_fill_in_waves_is_full() {
        let waves = |receiving_s| {
            let mut level = case(6_500.0, 10.0, receiving_s);
            let seconds = level.seconds.iter_mut().enumerate();
            seconds.for_each(|(number, second)| second.bytes_in *= if number % 4 == 0 { 2.5 } else { 0.5 });
            level
        };
        check(detect, &waves(0.085), &["bandwidth limit: network"]);
        check(detect, &waves(0.03), &[]);
    }
}
