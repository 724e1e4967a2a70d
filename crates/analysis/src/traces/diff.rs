//! Differences between the critical paths of slow and fast traces.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::Trace;

use super::path::{PieceKind, critical_path};
use super::tree::Tree;

/// Minimum number of traces for separate fast and slow groups.
const TRACES_MIN: usize = 20;

/// Time of an operation on the critical path in fast and in slow traces.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Who does it.
    pub service: Arc<str>,
    /// Name of the operation.
    pub operation: Arc<str>,
    /// Whether it works or waits.
    pub kind: PieceKind,
    /// The mean in fast traces, nanoseconds.
    pub fast_ns: f64,
    /// The mean in slow traces.
    pub slow_ns: f64,
}

/// The fast traces of an operation against its slow ones.
#[derive(Clone, Debug, PartialEq)]
pub struct FastAndSlow {
    /// How many traces are fast: no longer than the median.
    pub fast: usize,
    /// How many are slow: no shorter than the 95th percentile.
    pub slow: usize,
    /// The longest of the fast ones, nanoseconds.
    pub fast_ns_max: u64,
    /// The shortest of the slow ones.
    pub slow_ns_min: u64,
    /// Differences per operation, largest increase first. They add up to the difference of the means.
    pub differences: Vec<Difference>,
}

type Key = (Arc<str>, Arc<str>, PieceKind);

/// Compares traces that began with the same operation; `None` for fewer than twenty of them, or where all take equally long.
pub fn fast_against_slow<'a>(traces: impl Iterator<Item = &'a Trace>) -> Option<FastAndSlow> {
    let mut all: Vec<(u64, BTreeMap<Key, u64>)> = traces.map(on_path).collect();
    if all.len() < TRACES_MIN {
        return None;
    }
    all.sort_by_key(|(length_ns, _)| *length_ns);
    let nearest = |q: f64| all[((all.len() as f64 * q).ceil() as usize).clamp(1, all.len()) - 1].0;
    let (fast_ns_max, slow_ns_min) = (nearest(0.5), nearest(0.95));
    if fast_ns_max >= slow_ns_min {
        return None;
    }
    let fast = &all[..all.partition_point(|(length_ns, _)| *length_ns <= fast_ns_max)];
    let slow = &all[all.partition_point(|(length_ns, _)| *length_ns < slow_ns_min)..];
    let mut means: BTreeMap<&Key, [f64; 2]> = BTreeMap::new();
    for (side, traces) in [fast, slow].into_iter().enumerate() {
        for (key, length_ns) in traces.iter().flat_map(|(_, parts)| parts) {
            means.entry(key).or_default()[side] += *length_ns as f64 / traces.len() as f64;
        }
    }
    let difference = |((service, operation, kind), [fast_ns, slow_ns]): (&Key, [f64; 2])| Difference {
        service: service.clone(),
        operation: operation.clone(),
        kind: *kind,
        fast_ns,
        slow_ns,
    };
    let mut differences: Vec<Difference> = means.into_iter().map(difference).collect();
    differences.sort_by(|a, b| (b.slow_ns - b.fast_ns).total_cmp(&(a.slow_ns - a.fast_ns)));
    Some(FastAndSlow { fast: fast.len(), slow: slow.len(), fast_ns_max, slow_ns_min, differences })
}

/// How long a trace took, and what of it each operation had on the critical path.
fn on_path(trace: &Trace) -> (u64, BTreeMap<Key, u64>) {
    let tree = Tree::new(trace);
    let mut parts: BTreeMap<Key, u64> = BTreeMap::new();
    for piece in critical_path(&tree) {
        let span = &tree.spans()[piece.span];
        *parts.entry((span.service.clone(), span.operation.clone(), piece.kind)).or_default() +=
            piece.length_ns();
    }
    (tree.length_ns(), parts)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{span, trace};
    use super::*;

    fn traces_lasting(lengths: impl Iterator<Item = u64>) -> Vec<Trace> {
        lengths.map(|length| trace(vec![span(1, 0, 0, 10 + length), span(2, 1, 5, length)])).collect()
    }

    #[test]
    fn what_takes_longer_comes_first() {
        let traces = traces_lasting((0..19).map(|at| 100 + at).chain([1000]));
        let found = fast_against_slow(traces.iter()).expect("they differ");
        assert_eq!((found.fast, found.slow, found.fast_ns_max, found.slow_ns_min), (10, 2, 119, 128));
        let shown: Vec<_> =
            found.differences.iter().map(|one| (&*one.operation, one.fast_ns, one.slow_ns)).collect();
        assert_eq!(shown, [("work 2", 104.5, 559.0), ("work 1", 10.0, 10.0)]);
    }

    #[test]
    fn equal_or_few_ones_are_not_compared() {
        assert_eq!(fast_against_slow(traces_lasting((0..19).map(|at| at * 100)).iter()), None);
        assert_eq!(fast_against_slow(traces_lasting((0..50).map(|_| 7)).iter()), None);
    }
}
