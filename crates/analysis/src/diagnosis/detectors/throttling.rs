//! A process throttled by its cgroup CPU quota: throttled periods of the kernel's scheduler (Linux, "CFS Bandwidth Control"),
//! or a service that stalls in each such period although it has work.
//!
//! Not: CPU use below the limit. A mean over seconds hides stalls of a tenth of a second, so throttling is easy to miss.

use model::diagnosis::{
    Caveat, Change, Claim, CostClass, FigureName, Hypothesis, Note, Remedy, Role, RuledOut,
};
use model::{SignalId, Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::series;
use super::super::thresholds::throttling::{
    CORE, STALLED_MIN, STALLS_PER_S_MIN, THROTTLED_MIN, VARIATION_MAX,
};

/// Finds processes throttled by their CPU quota.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let mut observations = reported(view);
    // Stalls in traces are evidence only if the kernel's counters are missing.
    if !observations.iter().any(|observations| matches!(observations, Observation::Found(..))) {
        observations.extend(seen(view));
    }
    observations
}

fn reported(view: &View<'_>) -> Vec<Observation> {
    let of = |signal: &&model::Signal| {
        let throttled = series::mean(view.level, signal)?;
        let place = series::place(signal).to_owned();
        if throttled < THROTTLED_MIN {
            return Some(Observation::RuledOut(RuledOut::Throttling { place, throttled_share: throttled }));
        }
        let still = view.share_still();
        let explains = still.max(view.stalls.as_ref().map_or(0.0, |stalls| stalls.explains));
        let mut numbers = vec![exact(FigureName::ThrottledPeriods, throttled * 100.0, Unit::Percent)];
        if still > 0.0 {
            numbers.push(exact(FigureName::ThrottledTime, still * 100.0, Unit::Percent).noted(Note::OfTime));
        }
        Some(Observation::Found(
            Box::new(Hypothesis {
                role: Role::Limits,
                strength: Strength::Limit,
                explains: Some(explains).filter(|share| *share > 0.0),
                numbers,
                prediction: view.without(explains, Change::CpuLimitRaised),
                queries: vec![view.query(signal)],
                cost: CostClass::Setting,
                ..draft(
                    Claim::Throttled { place: place.clone(), throttled_share: throttled },
                    Remedy::RaiseCpuLimit { place: place.clone() },
                    place,
                )
            }),
            Depth::Cause,
        ))
    };
    view.signals(&[SignalId::ContainerThrottled]).iter().filter_map(of).collect()
}

/// Finds a service that stalls again and again and uses the same little CPU all the time.
fn seen(view: &View<'_>) -> Option<Observation> {
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
    let claim = Claim::QuotaUsedUp {
        place: place.clone(),
        used_cores: cores,
        stalls_per_s: stalls.per_s,
        stalled_share: stalled,
    };
    Some(Observation::Found(
        Box::new(Hypothesis {
            role: Role::Limits,
            strength: Strength::Pattern,
            explains: Some(stalled.max(stalls.explains)),
            numbers: vec![
                exact(FigureName::Used, cores, Unit::Cores).noted(Note::EachSecond),
                exact(FigureName::StallRate, stalls.per_s, Unit::PerSecond),
                exact(FigureName::StalledTime, stalled * 100.0, Unit::Percent),
            ],
            queries: vec![view.query(process)],
            caveats: vec![Caveat::QuotaUnknown],
            cost: CostClass::Setting,
            prediction: view.without(stalled, Change::CpuLimitRaised),
            ..draft(claim, Remedy::RaiseCpuLimit { place: place.clone() }, place)
        }),
        Depth::Cause,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, with_evidence};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn throttled_periods_are_a_limit() {
        let case = |share| {
            with_evidence(
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
        let found =
            super::super::testing::fires(detect, &with_evidence(level(10, 10, 0.1), signals, Vec::new()));
        assert!(found[0].explains.is_some_and(|share| (share - 0.7).abs() < 1e-9), "{:?}", found[0].explains);
    }

    #[test]
    fn a_service_that_stands_still_ten_times_a_second_has_a_quota() {
        let case = |cpu: f64| {
            let level =
                with_evidence(level(10, 10, 0.1), vec![flat("process_cpu", &[], 10, cpu)], Vec::new());
            super::super::super::stalls::testing::standing_still(level, 100, 60)
        };
        check(detect, &case(0.2), &["CPU limit: shop"]);
        check(detect, &case(0.98), &[]);
    }
}
