//! Exhausted memory: a cache that evicts keys still in use, a container at its limit or killed for it.
//!
//! Not: memory full of reclaimable data. A cache at its limit that evicts nothing is large enough.

use model::diagnosis::{
    Caveat, Change, Claim, CostClass, FigureName, Hypothesis, Note, Remedy, Role, RuledOut,
};
use model::{SignalId, SignalRole, Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::series;
use super::super::thresholds::memory::{CONTAINER_FULL, EVICTED_MIN, FULL, IMPOSSIBLE, MISSES_MIN};

/// The signals of a cache.
const CACHE: [SignalRole; 5] = [
    SignalRole::CacheEvictions,
    SignalRole::CacheHits,
    SignalRole::CacheMisses,
    SignalRole::ServerMemory,
    SignalRole::CacheMemoryLimit,
];

/// Finds caches and containers with too little memory.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let mut observations: Vec<Observation> = cache(view).into_iter().collect();
    observations.extend(containers(view));
    observations
}

fn cache(view: &View<'_>) -> Option<Observation> {
    let source = &view.signals(&SignalRole::CacheEvictions.signals()).first()?.source;
    // Other processes report memory too; the memory of a cache comes from the source that reports its evictions.
    let signals = |ids: &[SignalId]| {
        let mut of = view.signals(ids);
        of.retain(|signal| signal.source == *source);
        of
    };
    let sum = |role: SignalRole| {
        let means =
            signals(&role.signals()).into_iter().filter_map(|signal| series::mean(view.level, signal));
        means.reduce(|a, b| a + b)
    };
    let evicted = sum(SignalRole::CacheEvictions)?;
    let (used, limit) = (sum(SignalRole::ServerMemory), sum(SignalRole::CacheMemoryLimit));
    let (hits, misses) = (sum(SignalRole::CacheHits)?, sum(SignalRole::CacheMisses)?);
    let missed = if hits + misses > 0.0 { misses / (hits + misses) } else { 0.0 };
    let full = used.zip(limit).map(|(used, limit)| used / limit);
    if evicted < EVICTED_MIN || missed < MISSES_MIN || full.is_some_and(|full| full < FULL) {
        return Some(Observation::RuledOut(RuledOut::CacheEvictions {
            missed_share: missed,
            evicted_per_s: evicted,
        }));
    }
    let mut numbers = vec![
        exact(FigureName::EvictionRate, evicted, Unit::PerSecond).noted(Note::MadeRoom),
        exact(FigureName::MissRatio, missed * 100.0, Unit::Percent),
    ];
    numbers.extend(used.map(|used| exact(FigureName::MemoryUsed, used, Unit::Bytes)));
    numbers.extend(limit.map(|limit| exact(FigureName::MemoryLimit, limit, Unit::Bytes)));
    let signals = signals(&CACHE.map(SignalRole::signals).concat());
    let place = source.clone();
    Some(Observation::Found(
        Box::new(Hypothesis {
            role: Role::Limits,
            strength: Strength::Limit,
            // Misses are slower than hits, so their share is an upper bound of what the evictions explain.
            explains: Some(missed.min(0.9)),
            numbers,
            queries: signals.into_iter().take(super::QUERIES_MAX).map(|signal| view.query(signal)).collect(),
            cost: CostClass::Setting,
            prediction: view.without(missed * 0.5, Change::NoEvictions),
            ..draft(
                Claim::CacheEvicts { place: place.clone(), evicted_per_s: evicted, missed_share: missed },
                Remedy::EnlargeCache { place: place.clone() },
                place,
            )
        }),
        Depth::Cause,
    ))
}

fn containers(view: &View<'_>) -> Vec<Observation> {
    let level = view.level;
    let full = view.signals(&[SignalId::ContainerMemory]).into_iter().filter_map(|signal| {
        let limit =
            level.series(SignalId::ContainerMemoryLimit).find(|limit| limit.labels == signal.labels)?;
        let (peak, limit) =
            (series::peak(level, signal)?, series::peak(level, limit).filter(|limit| *limit > 0.0)?);
        Some((signal, peak, limit))
    });
    full.map(|(signal, peak, limit)| {
        let place = series::place(signal).to_owned();
        if peak < limit * CONTAINER_FULL {
            return Observation::RuledOut(RuledOut::Memory { place, peak_share: peak / limit });
        }
        Observation::Found(
            Box::new(Hypothesis {
                role: Role::Contributes,
                strength: Strength::Limit,
                numbers: vec![
                    exact(FigureName::MemoryPeak, peak, Unit::Bytes),
                    exact(FigureName::MemoryLimit, limit, Unit::Bytes),
                ],
                queries: vec![view.query(signal)],
                flags: match peak > limit * IMPOSSIBLE {
                    true => vec![Caveat::CountedTwice { times: peak / limit }],
                    false => Vec::new(),
                },
                cost: CostClass::Setting,
                ..draft(
                    Claim::MemoryFull { place: place.clone(), peak_share: peak / limit },
                    Remedy::RaiseMemoryLimit { place: place.clone() },
                    place,
                )
            }),
            Depth::Resource,
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, with_evidence};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn a_cache_that_drops_what_is_asked_for_is_too_small() {
        let case = |evicted, misses| {
            let signals = vec![
                flat("evicted", &[], 10, evicted),
                flat("hits", &[], 10, 60.0),
                flat("misses", &[], 10, misses),
                flat("memory_used", &[], 10, 199_000.0),
                flat("memory_max", &[], 10, 200_000.0),
            ];
            with_evidence(level(10, 100, 0.1), signals, Vec::new())
        };
        check(detect, &case(40.0, 40.0), &["memory limit: source"]);
        check(detect, &case(0.0, 40.0), &[]);
        check(detect, &case(2.0, 1.0), &[]);
    }

    #[test]
    fn the_memory_of_others_is_no_memory_of_the_cache() {
        let mut signals = vec![
            flat("memory_used", &[], 10, 1e9),
            flat("evicted", &[], 10, 40.0),
            flat("hits", &[], 10, 60.0),
            flat("misses", &[], 10, 40.0),
            flat("memory_used", &[], 10, 199_000.0),
            flat("memory_max", &[], 10, 200_000.0),
        ];
        signals[0].source = "host".to_owned();
        let found =
            super::super::testing::fires(detect, &with_evidence(level(10, 100, 0.1), signals, Vec::new()));
        assert_eq!(found[0].place, "source");
        let used: Vec<f64> = found[0]
            .numbers
            .iter()
            .filter(|it| it.name == FigureName::MemoryUsed)
            .map(|it| it.value)
            .collect();
        assert_eq!(used, [199_000.0]);
    }

    #[test]
    fn a_container_at_its_limit_is_told() {
        let case = |used| {
            let labels = [("pod", "a"), ("container", "worker")];
            let signals = vec![
                flat("container_memory", &labels, 10, used),
                flat("container_memory_limit", &labels, 10, 1e9),
            ];
            with_evidence(level(10, 100, 0.1), signals, Vec::new())
        };
        check(detect, &case(0.99e9), &["memory limit: worker"]);
        check(detect, &case(0.5e9), &[]);
    }
}
