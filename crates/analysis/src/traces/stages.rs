//! How long queued work waited and was worked on, stage by stage: the mean of each part of the critical path, so that the
//! parts add up to the mean of the whole.

use std::collections::BTreeMap;

use model::Trace;

use super::path::{PieceKind, critical_path};
use super::peer;
use super::tree::Tree;

/// Stages that are told one by one; further ones are one.
const STAGES_MAX: usize = 100;

/// What is done in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StageKind {
    /// Messages are in a queue.
    Queue,
    /// Somebody works.
    Work,
    /// Nobody who was seen does anything.
    Between,
}

/// A part of what traces of one kind took.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// What is done.
    pub kind: StageKind,
    /// The queue; without one what is done. Empty for all those that are not told one by one.
    pub name: String,
    /// Traces that have it.
    pub traces: usize,
    /// The mean over all traces, nanoseconds; those that do not have it count as zero.
    pub mean_ns: f64,
    /// The 95th percentile (nearest rank) of those that have it.
    pub p95_ns: u64,
    /// Of the whole.
    pub share: f64,
}

/// All stages, in the order in which they begin on average.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageTable {
    /// How many traces.
    pub traces: usize,
    /// How long they took on average, nanoseconds.
    pub mean_ns: f64,
    /// The 95th percentile.
    pub p95_ns: u64,
    /// The stages.
    pub stages: Vec<Stage>,
}

#[derive(Default)]
struct Lengths {
    ns: Vec<u64>,
    starts_ns: f64,
}

/// The stages of traces that began with the same operation.
pub fn stages<'a>(traces: impl Iterator<Item = &'a Trace>) -> StageTable {
    let mut all: BTreeMap<(StageKind, String), Lengths> = BTreeMap::new();
    let mut whole = Vec::new();
    for trace in traces {
        let tree = Tree::new(trace);
        whole.push(tree.length_ns());
        for (mut key, (start_ns, length_ns)) in parts(&tree) {
            if all.len() >= STAGES_MAX && !all.contains_key(&key) {
                key.1 = String::new();
            }
            let lengths = all.entry(key).or_default();
            lengths.ns.push(length_ns);
            lengths.starts_ns += start_ns as f64;
        }
    }
    let total_ns: f64 = whole.iter().map(|ns| *ns as f64).sum();
    let traces = whole.len();
    let mut rows: Vec<_> = all.into_iter().collect();
    let start_ns = |lengths: &Lengths| lengths.starts_ns / lengths.ns.len().max(1) as f64;
    rows.sort_by(|a, b| start_ns(&a.1).total_cmp(&start_ns(&b.1)));
    let stage = |((kind, name), mut lengths): ((StageKind, String), Lengths)| {
        let sum_ns: f64 = lengths.ns.iter().map(|ns| *ns as f64).sum();
        Stage {
            kind,
            name,
            traces: lengths.ns.len(),
            mean_ns: sum_ns / traces.max(1) as f64,
            p95_ns: p95(&mut lengths.ns),
            share: if total_ns > 0.0 { sum_ns / total_ns } else { 0.0 },
        }
    };
    let stages = rows.into_iter().map(stage).collect();
    StageTable { traces, mean_ns: total_ns / traces.max(1) as f64, p95_ns: p95(&mut whole), stages }
}

/// For each stage of a trace when it began, from the start of the trace, and how long it was in all.
fn parts(tree: &Tree<'_>) -> BTreeMap<(StageKind, String), (u64, u64)> {
    // The span that each belongs to: the root, or a message that somebody worked on.
    let mut tops = vec![0; tree.spans().len()];
    for at in tree.order() {
        let node = tree.node(*at);
        tops[*at] = node.parent.filter(|_| !node.follows).map_or(*at, |parent| tops[parent]);
    }
    let mut parts: BTreeMap<(StageKind, String), (u64, u64)> = BTreeMap::new();
    for piece in critical_path(tree) {
        let top = &tree.spans()[tops[piece.span]];
        let kind = match piece.kind {
            PieceKind::Queue => StageKind::Queue,
            PieceKind::Work => StageKind::Work,
            PieceKind::Between => StageKind::Between,
        };
        let name = peer::queue(top).unwrap_or(&top.operation).to_owned();
        let part = parts.entry((kind, name)).or_insert((piece.start_ns.abs_diff(tree.start_ns()), 0));
        part.1 += piece.length_ns();
    }
    parts
}

fn p95(lengths_ns: &mut [u64]) -> u64 {
    lengths_ns.sort_unstable();
    let rank = (lengths_ns.len() as f64 * 0.95).ceil() as usize;
    lengths_ns.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::scan;
    use super::*;

    #[test]
    fn the_stages_of_a_scan_add_up() {
        let (one, mut other) = (scan(), scan());
        for span in &mut other.spans[4..] {
            span.start_ns += 2_000_000_000;
        }
        let table = stages([&one, &other].into_iter());
        let told = |stage: &Stage| format!("{:?} {} {}", stage.kind, stage.name, stage.mean_ns / 1e6);
        let expect = "Work POST /scan 100\nQueue vision 18000\nWork vision 4000\nQueue rule 9000\nWork rule 50\n\
                      Queue answer 12000\nWork answer 6000\nQueue reward 7000\nWork reward 850";
        assert_eq!(table.stages.iter().map(told).collect::<Vec<_>>().join("\n"), expect);
        assert_eq!((table.traces, table.mean_ns, table.p95_ns), (2, 57e9, 58_000_000_000));
        let sum: f64 = table.stages.iter().map(|stage| stage.mean_ns).sum();
        assert!((sum / table.mean_ns - 1.0).abs() < 1e-12);
        assert_eq!(table.stages[7].p95_ns, 8_000_000_000);
        assert_eq!(stages([].into_iter()), StageTable::default());
    }
}
