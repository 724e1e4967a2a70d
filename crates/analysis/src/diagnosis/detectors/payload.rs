//! Answers that are long: they take the processor that writes them, and the way that they go.
//!
//! A way that is full is known by a data rate that hardly varies and by requests whose time is mostly outside of the service, a good
//! part of it in receiving an answer that has begun: who only waits for the beginning may wait for the service. Where receiving is
//! nearly all, the rate may vary: users come in waves, and bytes count when their answer is whole.
//!
//! Not: long answers that nobody waits for.

use model::SpanKind;
use model::diagnosis::{CostClass, Hypothesis, Role};
use model::{SignalId, Strength, Unit};

use super::super::view::{Depth, Says, View, draft, exact, not, percent, time};

const NAME: &str = "payload";

/// An answer from this length on is long: for a page of data, not of pictures.
const BYTES_MIN: f64 = 30_000.0;

/// The share of the time that the service itself is at work, from which on a long answer is what it is at.
const OWN_MIN: f64 = 0.2;

/// The share of the time outside of the service, from which on the way is told.
const OUTSIDE_MIN: f64 = 0.4;

/// The share of the time in which an answer comes in, without which nothing tells of a way.
const RECEIVING_MIN: f64 = 0.2;

/// From this share on it is nearly all.
const RECEIVING_MOST: f64 = 0.7;

/// The data rate of a way that is full is hardly ever above its middle: nine of ten seconds are below so many times of it.
const EVEN_MAX: f64 = 1.25;

/// Less is no load for any way.
const BYTES_PER_S_MIN: f64 = 500_000.0;

/// A shorter time outside is what every way takes.
const OUTSIDE_S_MIN: f64 = 0.005;

/// What answers cost.
pub(super) fn detect(view: &View<'_>) -> Vec<Says> {
    let requests = &view.level.requests;
    let each = requests.bytes_in / requests.count.max(1) as f64;
    let mut says = Vec::new();
    says.extend(way(view, each));
    says.extend(length(view, each));
    if says.is_empty() && requests.count > 0 {
        says.push(not("the length of answers", "bytes of an answer, on average", format!("{each:.0} B")));
    }
    says
}

fn length(view: &View<'_>, each: f64) -> Option<Says> {
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
    if each < BYTES_MIN || share < OWN_MIN {
        return None;
    }
    let cpu_s =
        view.sum_of_means(&[SignalId::ProcessCpu]).map(|cores| cores / view.level.requests_per_s().max(1e-9));
    let mut numbers = vec![
        exact("an answer", each, Unit::Bytes).noted("mean of all requests"),
        exact("the service itself", own * 100.0, Unit::Percent).noted("of the time of requests"),
        exact("outside of it", outside * 100.0, Unit::Percent).noted("of the time of requests"),
    ];
    numbers.extend(cpu_s.map(|cpu_s| exact("CPU of a request", cpu_s, Unit::Seconds)));
    Some(Says::Found(
        Box::new(Hypothesis {
            title: "answers are long".to_owned(),
            summary: format!("{each:.0} B each; {} of the time is writing and carrying them", percent(share)),
            claim: format!(
                "an answer has {each:.0} B, and {} of the time of requests is the service itself and the way",
                percent(share)
            ),
            role: if share >= 0.3 { Role::Limits } else { Role::Contributes },
            strength: Strength::Pattern,
            explains: Some(share),
            numbers,
            caveats: vec!["that the length is the reason, a run with shorter answers would show".to_owned()],
            remedy: "answer with what is shown, in pages; compress".to_owned(),
            cost: CostClass::Logic,
            prediction: view.without(share * 0.7, "answers are a tenth as long"),
            ..draft(NAME, "chatty serialisation", "answers")
        }),
        Depth::Cause,
    ))
}

fn way(view: &View<'_>, each: f64) -> Option<Says> {
    let level = view.level;
    let mean_s = level.requests.mean_s.filter(|mean_s| *mean_s > 0.0)?;
    let receiving = level.requests.receiving_s.unwrap_or(0.0) / mean_s;
    let share = view.share_outside().max(receiving).min(1.0);
    let rates: Vec<f64> =
        level.seconds.iter().map(|second| second.bytes_in / second.length_s().max(1e-9)).collect();
    // The first second and the last are not whole.
    let rates = rates.get(1..rates.len().saturating_sub(1)).filter(|rates| rates.len() >= 5)?;
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / rates.len() as f64;
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    let is_even = sorted[sorted.len() * 9 / 10] <= sorted[sorted.len() / 2] * EVEN_MAX;
    let is_slow = receiving >= RECEIVING_MOST && view.share_outside() >= RECEIVING_MOST;
    // A load by plan has a data rate that is even by itself.
    let is_closed = level.closed_vus.is_some();
    let is_late = level.requests.after_lost_syns as f64 > level.requests.count as f64 * 0.01;
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
    Some(Says::Found(
        Box::new(Hypothesis {
            title: "the way of the answers is full".to_owned(),
            summary: format!(
                "{:.2} MB/s{}, {} of the time is outside of the service",
                mean / 1e6,
                if is_even { " in each second" } else { "" },
                percent(share)
            ),
            claim: format!(
                "{:.2} MB/s come through{}, and a request spends {} ({}) outside of the service",
                mean / 1e6,
                if is_even { ", hardly more in any second" } else { "" },
                time(mean_s * share),
                percent(share)
            ),
            role: Role::Limits,
            strength: Strength::Pattern,
            explains: Some(share),
            numbers: vec![
                exact("bytes per second", mean, Unit::Bytes).noted("mean of the seconds"),
                exact("how much it varies", variance.sqrt() / mean.max(1.0) * 100.0, Unit::Percent),
                exact("outside of the service", mean_s * share, Unit::Seconds).noted("of a request, mean"),
                exact("receiving", receiving * 100.0, Unit::Percent).noted("of the time of requests"),
                exact("an answer", each, Unit::Bytes).noted("mean of all requests"),
            ],
            caveats: vec!["a proxy that is slow looks the same".to_owned()],
            remedy: "raise the limit of the way, or send less: compressed, or fewer at a time".to_owned(),
            cost: CostClass::Resource,
            prediction: view.without(share, "the way has room"),
            ..draft(NAME, "bandwidth limit", "network")
        }),
        Depth::Cause,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{level, request, sampled};
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
