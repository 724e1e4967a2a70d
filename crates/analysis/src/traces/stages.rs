//! How long queued work waited and was worked on, stage by stage: the mean of each part of the critical path, so that the
//! parts add up to the mean of the whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{Kept, Trace};

use super::path::{PieceKind, critical_path};
use super::peer;
use super::tree::Tree;

/// Maximum number of separate stages; further ones are combined.
const STAGES_MAX: usize = 100;

/// How a task ended whose answer was seen.
const FINISHED: &str = "finished";

/// Kind of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StageKind {
    /// Messages are in a queue.
    Queue,
    /// Work on the task.
    Work,
    /// Submission of the task by its client.
    Submit,
    /// Time not covered by any span.
    Between,
    /// All is done, and who waits for it has yet to ask.
    Poll,
}

impl StageKind {
    /// Its name in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            StageKind::Queue => "queue",
            StageKind::Work => "work",
            StageKind::Submit => "submit",
            StageKind::Between => "between",
            StageKind::Poll => "poll",
        }
    }
}

/// A part of what traces of one kind took.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Kind of the stage.
    pub kind: StageKind,
    /// The queue, or without one the operation. Empty for the combined stages beyond the maximum.
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

/// The way of work through queues, from its submission to its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// Who began it.
    pub service: Arc<str>,
    /// The first operation.
    pub operation: Arc<str>,
    /// Whether it is a task of `plimsoll/flow`, whose length is the time that the polling client waited.
    pub is_task: bool,
    /// Whether its traces were kept for what is remarkable about them, and stand for no others.
    pub is_biased: bool,
    /// Its stages.
    pub table: StageTable,
}

/// Lengths, each with how many traces it stands for.
#[derive(Default)]
struct Lengths {
    ns: Vec<(u64, f64)>,
    starts_ns: f64,
}

impl Lengths {
    fn add(&mut self, ns: u64, weight: f64) {
        self.ns.push((ns, weight));
    }

    fn sum_ns(&self) -> f64 {
        self.ns.iter().map(|(ns, weight)| *ns as f64 * weight).sum()
    }

    fn weight(&self) -> f64 {
        self.ns.iter().map(|(_, weight)| weight).sum()
    }

    /// The nearest rank.
    fn p95_ns(&mut self) -> u64 {
        self.ns.sort_unstable_by_key(|(ns, _)| *ns);
        let rank = self.weight() * 0.95;
        let mut below = 0.0;
        let mut ranked = self.ns.iter().skip_while(|(_, weight)| {
            below += weight;
            // As many additions as there are traces round no more than this.
            below < rank * (1.0 - 1e-9)
        });
        ranked.next().or(self.ns.last()).map_or(0, |(ns, _)| *ns)
    }
}

/// How many traces one stands for: those of the unbiased sample for more than themselves, by the share that was kept when they
/// were.
pub fn weight(trace: &Trace) -> f64 {
    match trace.kept {
        Kept::Sample { share } if share > 0.0 => 1.0 / share.min(1.0),
        _ => 1.0,
    }
}

/// The stages of traces that began with the same operation.
pub fn stages<'a>(traces: impl Iterator<Item = &'a Trace>) -> StageTable {
    let mut all: BTreeMap<(StageKind, String), Lengths> = BTreeMap::new();
    let mut whole = Lengths::default();
    for trace in traces {
        let (tree, weight) = (Tree::new(trace), weight(trace));
        whole.add(tree.length_ns(), weight);
        for (mut key, (start_ns, length_ns)) in parts(&tree) {
            if all.len() >= STAGES_MAX && !all.contains_key(&key) {
                key.1 = String::new();
            }
            let lengths = all.entry(key).or_default();
            lengths.add(length_ns, weight);
            lengths.starts_ns += start_ns as f64 * weight;
        }
    }
    let (total_ns, traces) = (whole.sum_ns(), whole.ns.len());
    let per_trace = |ns: f64| if traces > 0 { ns / whole.weight() } else { 0.0 };
    let mut rows: Vec<_> = all.into_iter().collect();
    let start_ns = |lengths: &Lengths| lengths.starts_ns / lengths.weight();
    rows.sort_by(|a, b| start_ns(&a.1).total_cmp(&start_ns(&b.1)));
    let stage = |((kind, name), mut lengths): ((StageKind, String), Lengths)| Stage {
        kind,
        name,
        traces: lengths.ns.len(),
        mean_ns: per_trace(lengths.sum_ns()),
        share: if total_ns > 0.0 { lengths.sum_ns() / total_ns } else { 0.0 },
        p95_ns: lengths.p95_ns(),
    };
    let stages = rows.into_iter().map(stage).collect();
    StageTable { traces, mean_ns: per_trace(total_ns), stages, p95_ns: whole.p95_ns() }
}

/// Returns the paths through queues, those with most traces first. Of tasks only finished ones count: the duration of the
/// others is unknown.
pub fn ways<'a>(traces: impl Iterator<Item = &'a Trace>) -> Vec<Way> {
    let mut begun: BTreeMap<(&Arc<str>, &Arc<str>), Vec<&Trace>> = BTreeMap::new();
    for trace in traces {
        let Some(root) = trace.root().or(trace.spans.first()) else { continue };
        if peer::task(root).is_none_or(|end| end == FINISHED) {
            begun.entry((&root.service, &root.operation)).or_default().push(trace);
        }
    }
    let way = |((service, operation), traces): ((&Arc<str>, &Arc<str>), Vec<&Trace>)| {
        let is_sampled = |trace: &&&Trace| matches!(trace.kept, Kept::Sample { .. });
        let is_biased = !traces.iter().any(|trace| is_sampled(&trace));
        let table = stages(traces.iter().filter(|trace| is_biased || is_sampled(trace)).copied());
        let is_queued = table.stages.iter().any(|stage| stage.kind == StageKind::Queue);
        let is_task = traces[0].root().and_then(peer::task).is_some();
        let (service, operation) = (service.clone(), operation.clone());
        is_queued.then_some(Way { service, operation, is_task, is_biased, table })
    };
    let mut ways: Vec<Way> = begun.into_iter().filter_map(way).collect();
    ways.sort_by_key(|way| std::cmp::Reverse(way.table.traces));
    ways
}

/// For each stage of a trace when it began, from the start of the trace, and how long it was in all.
fn parts(tree: &Tree<'_>) -> BTreeMap<(StageKind, String), (u64, u64)> {
    // The span that each belongs to: the root, or the consumer of a message.
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
            PieceKind::Work if top.is_own() => StageKind::Submit,
            PieceKind::Work => StageKind::Work,
            PieceKind::Between => StageKind::Between,
            PieceKind::Poll => StageKind::Poll,
        };
        let name = peer::queue(top).unwrap_or(&top.operation).to_owned();
        let part = parts.entry((kind, name)).or_insert((piece.start_ns.abs_diff(tree.start_ns()), 0));
        part.1 += piece.length_ns();
    }
    parts
}

#[cfg(test)]
mod tests {
    use model::{Span, SpanKind};

    use super::super::testing::{scan, span};
    use super::*;

    #[test]
    fn the_stages_of_a_scan_add_up() {
        let (one, mut other) = (scan(), scan());
        for span in &mut other.spans[4..] {
            span.start_ns += 2_000_000_000;
        }
        let table = stages([&one, &other].into_iter());
        let text = |stage: &Stage| format!("{:?} {} {}", stage.kind, stage.name, stage.mean_ns / 1e6);
        let expect = "Work POST /scan 100\nQueue vision 18000\nWork vision 4000\nQueue rule 9000\nWork rule 50\n\
                      Queue answer 12000\nWork answer 6000\nQueue reward 7000\nWork reward 850";
        assert_eq!(table.stages.iter().map(text).collect::<Vec<_>>().join("\n"), expect);
        assert_eq!((table.traces, table.mean_ns, table.p95_ns), (2, 57e9, 58_000_000_000));
        let sum: f64 = table.stages.iter().map(|stage| stage.mean_ns).sum();
        assert!((sum / table.mean_ns - 1.0).abs() < 1e-12);
        assert_eq!(table.stages[7].p95_ns, 8_000_000_000);
        assert_eq!(stages([].into_iter()), StageTable::default());
    }

    /// A task of so many milliseconds as `plimsoll/flow` traces it, of which a share is kept.
    fn task(ms: u64, share: f64) -> Trace {
        let mut trace = scan();
        trace.kept = Kept::Sample { share };
        trace.spans.iter_mut().for_each(|span| span.start_ns += 10_000_000);
        trace.spans[0].parent = Some(99);
        let attributes = vec![("plimsoll.task".into(), FINISHED.to_owned())];
        let (service, operation) = ("plimsoll".into(), "task scan".into());
        let asker = span(99, 0, 0, ms * 1_000_000);
        trace.spans.push(Span { kind: SpanKind::Client, service, operation, attributes, ..asker });
        trace
    }

    #[test]
    fn a_task_is_its_stages_and_the_time_until_it_is_asked_for() {
        let mut cut = task(1_000, 1.0);
        cut.spans[6].attributes[0].1 = "cut".to_owned();
        // The slower one was kept when one of three was, and stands for three.
        let all =
            [task(57_010, 1.0), task(59_010, 1.0 / 3.0), cut, scan(), Trace { spans: vec![], ..scan() }];
        let [way, other] = &ways(all.iter())[..] else { panic!("two ways") };
        assert_eq!((&*way.operation, way.is_task, way.is_biased), ("task scan", true, false));
        assert_eq!((&*other.operation, other.is_task), ("POST /scan", false));
        let table = &way.table;
        assert_eq!((table.traces, table.mean_ns.round(), table.p95_ns), (2, 58_510e6, 59_010_000_000));
        let sum_ns: f64 = table.stages.iter().map(|stage| stage.mean_ns).sum();
        assert!((sum_ns / table.mean_ns - 1.0).abs() < 1e-12);
        let (first, last) = (&table.stages[0], &table.stages[table.stages.len() - 1]);
        assert_eq!((first.kind, first.mean_ns.round()), (StageKind::Submit, 110e6), "with the network");
        assert_eq!((last.kind, last.mean_ns.round()), (StageKind::Poll, 2_500e6));
        let mut remarkable = task(57_010, 1.0);
        remarkable.kept = Kept::Slowest;
        assert!(ways([&remarkable].into_iter())[0].is_biased);
    }
}
