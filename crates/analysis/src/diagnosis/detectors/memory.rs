//! Memory that is used up: a cache that drops what is asked for again, a container at its limit or killed for it.
//!
//! Not: memory that is full of what could be dropped. A cache at its limit that drops nothing has room enough.

use model::diagnosis::{CostClass, Hypothesis, Role};
use model::{SignalId, SignalRole, Strength, Unit};

use super::super::series;
use super::super::view::{Depth, Says, View, count, draft, exact, not, percent, rate};

const NAME: &str = "memory-limit";
const LABEL: &str = "memory limit";

/// The signals of a cache.
const CACHE: [SignalRole; 5] = [
    SignalRole::CacheEvictions,
    SignalRole::CacheHits,
    SignalRole::CacheMisses,
    SignalRole::ServerMemory,
    SignalRole::CacheMemoryLimit,
];

/// Keys dropped per second from which on it is told.
const EVICTED_MIN: f64 = 0.5;

/// The share of the limit that is used.
const FULL: f64 = 0.85;

/// The share of reads that find nothing, and that are dropped keys', from which on it limits.
const MISSES_MIN: f64 = 0.1;

/// A container at so much of its limit is about to be killed.
const CONTAINER_FULL: f64 = 0.95;

/// What has too little memory.
pub(super) fn detect(view: &View<'_>) -> Vec<Says> {
    let mut says: Vec<Says> = cache(view).into_iter().collect();
    says.extend(containers(view));
    says
}

fn cache(view: &View<'_>) -> Option<Says> {
    let source = &view.signals(&SignalRole::CacheEvictions.signals()).first()?.source;
    // Others have memory too, and what a cache has is told by who tells what it drops.
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
        return Some(not(
            "the cache",
            format!("{} of the reads found nothing", percent(missed)),
            format!("{} dropped", rate(evicted)),
        ));
    }
    let mut numbers = vec![
        exact("keys dropped", evicted, Unit::PerSecond).noted("to make room for others"),
        exact("reads that found nothing", missed * 100.0, Unit::Percent),
    ];
    numbers.extend(used.map(|used| exact("memory used", used, Unit::Bytes)));
    numbers.extend(limit.map(|limit| exact("memory limit", limit, Unit::Bytes)));
    let signals = signals(&CACHE.map(SignalRole::signals).concat());
    let place = source.clone();
    Some(Says::Found(
        Box::new(Hypothesis {
            title: format!("{place} has too little memory"),
            summary: format!("{} dropped, {} of the reads find nothing", rate(evicted), percent(missed)),
            claim: format!(
                "{place} drops {} to stay below its limit, and {} of the reads ask for what is not there",
                rate(evicted),
                percent(missed)
            ),
            role: Role::Limits,
            strength: Strength::Limit,
            // What the reads that find nothing cost is what makes them slow.
            explains: Some(missed.min(0.9)),
            numbers,
            queries: signals.into_iter().take(super::QUERIES_MAX).map(|signal| view.query(signal)).collect(),
            remedy: format!("raise the memory limit of {place} to what the keys take, or keep less of each"),
            cost: CostClass::Setting,
            prediction: view.without(missed * 0.5, "nothing is dropped"),
            ..draft(NAME, LABEL, place)
        }),
        Depth::Cause,
    ))
}

fn containers(view: &View<'_>) -> Vec<Says> {
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
            return not(&format!("memory of {place}"), "the peak, against its limit", percent(peak / limit));
        }
        Says::Found(
            Box::new(Hypothesis {
                title: format!("{place} is at its memory limit"),
                summary: format!("{} of its limit at the peak", percent(peak / limit)),
                claim: format!(
                    "{place} uses {} of the memory that it may, beyond which it is killed",
                    percent(peak / limit)
                ),
                role: Role::Contributes,
                strength: Strength::Limit,
                numbers: vec![
                    exact("memory at the peak", peak, Unit::Bytes),
                    exact("limit", limit, Unit::Bytes),
                ],
                queries: vec![view.query(signal)],
                flags: match peak > limit * 1.1 {
                    true => vec![format!(
                        "{} × its limit cannot be: a control group is counted twice",
                        count(peak / limit)
                    )],
                    false => Vec::new(),
                },
                remedy: format!("raise the memory limit of {place}, or have it do less at once"),
                cost: CostClass::Setting,
                ..draft(NAME, LABEL, place)
            }),
            Depth::Resource,
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use model::Figure;

    use super::super::super::testing::{flat, level, told};
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
            told(level(10, 100, 0.1), signals, Vec::new())
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
        let found = super::super::testing::fires(detect, &told(level(10, 100, 0.1), signals, Vec::new()));
        assert_eq!(found[0].place, "source");
        let figures: Vec<&Figure> = found[0].numbers.iter().map(|it| &it.figure).collect();
        assert!(figures.contains(&&Figure::new("memory used", 199_000.0, Unit::Bytes)), "{figures:?}");
    }

    #[test]
    fn a_container_at_its_limit_is_told() {
        let case = |used| {
            let labels = [("pod", "a"), ("container", "worker")];
            let signals = vec![
                flat("container_memory", &labels, 10, used),
                flat("container_memory_limit", &labels, 10, 1e9),
            ];
            told(level(10, 100, 0.1), signals, Vec::new())
        };
        check(detect, &case(0.99e9), &["memory limit: worker"]);
        check(detect, &case(0.5e9), &[]);
    }
}
