//! A process that is held back by its quota: periods of the kernel's scheduler in which it was (Linux, "CFS Bandwidth Control"),
//! or a service that stands still in each such period although it has work.
//!
//! Not: use below the limit. A mean says nothing about a tenth of a second; that is what makes throttling easy to miss.

use model::diagnosis::{CostClass, Hypothesis, Role};
use model::{SignalId, Strength, Unit};

use super::super::series;
use super::super::view::{Depth, Says, View, count, draft, exact, not, percent};

const NAME: &str = "throttling";
const LABEL: &str = "CPU limit";

/// So many of the periods may be throttled before it is told (Grafana Sift's check of resource contention).
const THROTTLED_MIN: f64 = 0.25;

/// Quotas are given out ten times a second, unless somebody changes that; so often at least does a throttled service stand still.
const STALLS_PER_S_MIN: f64 = 5.0;

/// It stands still for so much of the time.
const STALLED_MIN: f64 = 0.2;

/// A process at its quota uses the same each second, and less than a core.
const VARIATION_MAX: f64 = 0.2;
const CORE: f64 = 0.9;

/// What is held back.
pub(super) fn detect(view: &View<'_>) -> Vec<Says> {
    let mut says = told(view);
    // What the kernel tells need not be seen as well.
    if !says.iter().any(|says| matches!(says, Says::Found(..))) {
        says.extend(seen(view));
    }
    says
}

fn told(view: &View<'_>) -> Vec<Says> {
    let of = |signal: &&model::Signal| {
        let throttled = series::mean(view.level, signal)?;
        let place = series::place(signal).to_owned();
        if throttled < THROTTLED_MIN {
            let why = "periods of the scheduler in which it was held back";
            return Some(not(&format!("throttling of {place}"), why, percent(throttled)));
        }
        let still = view.share_still();
        let explains = still.max(view.stalls.as_ref().map_or(0.0, |stalls| stalls.explains));
        let mut numbers = vec![exact("throttled periods", throttled * 100.0, Unit::Percent)];
        if still > 0.0 {
            numbers.push(exact("held back", still * 100.0, Unit::Percent).noted("of the time"));
        }
        Some(Says::Found(
            Box::new(Hypothesis {
                title: format!("{place} is throttled"),
                summary: format!("held back in {} of the scheduler's periods", percent(throttled)),
                claim: format!(
                    "the quota of {place} is used up in {} of its periods, and its work stands still \
                        until the next",
                    percent(throttled)
                ),
                role: Role::Limits,
                strength: Strength::Limit,
                explains: Some(explains).filter(|share| *share > 0.0),
                numbers,
                prediction: view.without(explains, "the CPU limit is raised"),
                queries: vec![view.query(signal)],
                remedy: format!("raise the CPU limit of {place}, or take it away"),
                cost: CostClass::Setting,
                ..draft(NAME, LABEL, place)
            }),
            Depth::Cause,
        ))
    };
    view.signals(&[SignalId::ContainerThrottled]).iter().filter_map(of).collect()
}

/// A service of one thread that stands still again and again, and uses the same little CPU all the time.
fn seen(view: &View<'_>) -> Option<Says> {
    let stalls = view.stalls.as_ref()?;
    let process = view.signals(&[SignalId::ProcessCpu]).into_iter().next()?;
    let cores = series::mean(view.level, process)?;
    let points = series::inside(view.level, process);
    let variance =
        points.iter().map(|(_, value)| (value - cores).powi(2)).sum::<f64>() / points.len().max(1) as f64;
    let is_flat = cores > 0.0 && variance.sqrt() / cores <= VARIATION_MAX;
    let stalled = stalls.share;
    if stalls.per_s < STALLS_PER_S_MIN || stalled < STALLED_MIN || !is_flat || cores >= CORE {
        return None;
    }
    let place = stalls.service.clone();
    Some(Says::Found(
        Box::new(Hypothesis {
            title: format!("{place} is held at {} cores", count(cores)),
            summary: format!(
                "stands still {} times a second, for {} of the time",
                count(stalls.per_s),
                percent(stalled)
            ),
            claim: format!(
                "{place} uses {} of a core, never more, and stands still {} times a second while \
                    requests are open: it has a quota and uses it up",
                count(cores),
                count(stalls.per_s)
            ),
            role: Role::Limits,
            strength: Strength::Pattern,
            explains: Some(stalled.max(stalls.explains)),
            numbers: vec![
                exact("used", cores, Unit::Cores).noted("the same in each second"),
                exact("stands still", stalls.per_s, Unit::PerSecond),
                exact("of the time", stalled * 100.0, Unit::Percent),
            ],
            queries: vec![view.query(process)],
            caveats: vec![
                "the quota itself was not told; the kernel counts throttled periods in cpu.stat".to_owned(),
            ],
            remedy: format!("raise the CPU limit of {place}"),
            cost: CostClass::Setting,
            prediction: view.without(stalled, "the CPU limit is raised"),
            ..draft(NAME, LABEL, place)
        }),
        Depth::Cause,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, told};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn throttled_periods_are_a_limit() {
        let case = |share| {
            told(
                level(10, 10, 0.1),
                vec![flat("container_throttled", &[("pod", "a")], 10, share)],
                Vec::new(),
            )
        };
        check(detect, &case(0.6), &["CPU limit: a"]);
        check(detect, &case(0.1), &[]);
    }

    #[test]
    fn the_time_held_back_is_what_it_explains() {
        let labels = [("container", "shop")];
        let signals = vec![
            flat("container_throttled", &labels, 10, 0.9),
            flat("container_throttled_time", &labels, 10, 0.7),
        ];
        let found = super::super::testing::fires(detect, &told(level(10, 10, 0.1), signals, Vec::new()));
        assert!(found[0].explains.is_some_and(|share| (share - 0.7).abs() < 1e-9), "{:?}", found[0].explains);
    }

    #[test]
    fn a_service_that_stands_still_ten_times_a_second_has_a_quota() {
        let case = |cpu: f64| {
            let level = told(level(10, 10, 0.1), vec![flat("process_cpu", &[], 10, cpu)], Vec::new());
            super::super::super::stalls::testing::standing_still(level, 100, 60)
        };
        check(detect, &case(0.2), &["CPU limit: shop"]);
        check(detect, &case(0.98), &[]);
    }
}
