//! A service that stops as a whole: a collector that stops the world, as the runtime tells it, or as traces show it: nothing of
//! the service begins or ends for a while, although requests are open, again and again and for equally long.
//!
//! Not: a service that waits for one slow thing, in which something else goes on, and one that has nothing to do.

use model::diagnosis::{CostClass, Hypothesis, Role};
use model::{SignalRole, Strength, Unit};

use super::super::series;
use super::super::view::{Depth, Says, View, count, draft, exact, not, percent, time};

const NAME: &str = "stop-the-world";
const LABEL: &str = "stop-the-world pauses";

/// The share of time in the collector from which on it is told.
const SHARE_MIN: f64 = 0.1;

/// Nothing else that stops a service comes more often than this and is a collector's.
const STALLS_PER_S_MAX: f64 = 5.0;

/// It stands still for so much of the time.
const STALLED_MIN: f64 = 0.04;

/// Pauses are equally long to within so much.
const VARIATION_MAX: f64 = 0.4;

/// What stops.
pub(super) fn detect(view: &View<'_>) -> Vec<Says> {
    let told = view.signals(&SignalRole::GcShare.signals()).into_iter().filter_map(|signal| {
        let share = series::mean(view.level, signal)?;
        let place = series::place(signal).to_owned();
        if share < SHARE_MIN {
            return Some(not(
                &format!("garbage collection of {place}"),
                "the share of time that it took",
                percent(share),
            ));
        }
        Some(found(
            view,
            &place,
            (share, share.max(view.stalls.as_ref().map_or(0.0, |stalls| stalls.explains))),
            Strength::Limit,
            vec![exact("in the collector", share * 100.0, Unit::Percent)],
        ))
    });
    let mut says: Vec<Says> = told.collect();
    says.extend(seen(view));
    says
}

fn seen(view: &View<'_>) -> Option<Says> {
    let stalls = view.stalls.as_ref()?;
    let is_so =
        stalls.per_s < STALLS_PER_S_MAX && stalls.share >= STALLED_MIN && stalls.variation <= VARIATION_MAX;
    if !is_so {
        return Some(not(
            &format!("pauses of {}", stalls.service),
            "it stood still while requests were open, for no regular time",
            format!("{} of the time", percent(stalls.share)),
        ));
    }
    let numbers = vec![
        exact("a pause", stalls.mean_s, Unit::Seconds),
        exact("pauses", stalls.per_s, Unit::PerSecond),
        exact("of the time", stalls.share * 100.0, Unit::Percent),
        exact("of the time of requests", stalls.explains * 100.0, Unit::Percent)
            .noted("in pauses, or behind them"),
    ];
    let shares = (stalls.share, stalls.share.max(stalls.explains));
    let says = found(view, &stalls.service, shares, Strength::Pattern, numbers);
    Some(match says {
        Says::Found(mut hypothesis, depth) => {
            hypothesis.summary = format!("{} of {} each", count(stalls.count as f64), time(stalls.mean_s));
            hypothesis
                .caveats
                .push("a runtime that tells of its collector would show whether it is that".to_owned());
            Says::Found(hypothesis, depth)
        }
        other => other,
    })
}

fn found(
    view: &View<'_>,
    place: &str,
    (share, explains): (f64, f64),
    strength: Strength,
    numbers: Vec<model::diagnosis::Measured>,
) -> Says {
    // Who comes during a pause waits for its end, and so does all that came after.
    Says::Found(
        Box::new(Hypothesis {
            title: format!("{place} stops as a whole"),
            summary: format!("it stands still for {} of the time", percent(share)),
            claim: format!(
                "all of {place} stands still for {} of the time, whatever it is asked for",
                percent(share)
            ),
            role: Role::Limits,
            strength,
            explains: Some(explains),
            numbers,
            queries: view
                .signals(&SignalRole::GcShare.signals())
                .into_iter()
                .map(|signal| view.query(signal))
                .collect(),
            remedy: "allocate less, or take a collector that does not stop the world".to_owned(),
            cost: CostClass::Setting,
            prediction: view.without(explains, "no pauses"),
            ..draft(NAME, LABEL, place)
        }),
        Depth::Cause,
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::stalls::testing::standing_still;
    use super::super::super::testing::{flat, level, told};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn a_collector_that_takes_a_tenth_is_told() {
        let case = |share| {
            told(level(10, 10, 0.1), vec![flat("jvm_gc_share", &[("pod", "a")], 10, share)], Vec::new())
        };
        check(detect, &case(0.3), &["stop-the-world pauses: a"]);
        check(detect, &case(0.02), &[]);
    }

    #[test]
    fn equal_pauses_are_seen_in_traces() {
        check(detect, &standing_still(level(20, 10, 0.1), 1000, 150), &["stop-the-world pauses: shop"]);
        check(detect, &standing_still(level(20, 10, 0.1), 1000, 0), &[]);
    }
}
