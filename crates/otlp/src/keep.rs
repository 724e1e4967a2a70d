//! Gathers spans into traces and keeps those worth it: an unbiased sample, what failed, what was slowest, and one of each
//! length.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use model::{Instant, Kept, Span, SpanStatus, Trace};

use crate::budget::{Allowance, Sample};
use crate::counts::Counts;

/// Maximum number of spans kept per run, by the reason for keeping their trace. Each reason has a share of its own,
/// so that a run full of errors still has its sample.
const SPANS_OF_SAMPLE_MAX: u64 = 22_000;
const SPANS_OF_ERRORS_MAX: u64 = 14_000;
const SPANS_OF_SLOWEST_MAX: u64 = 9_000;
const SPANS_OF_BUCKETS_MAX: u64 = 5_000;

/// Traces that are gathered at the same time; beyond, the one that was quiet for longest is decided upon.
const TRACES_OPEN_MAX: usize = 100_000;
/// Spans of them; ten seconds of 20,000 spans each are 200,000.
const SPANS_OPEN_MAX: usize = 300_000;
/// Spans of one trace; what a page can show.
const SPANS_PER_TRACE_MAX: usize = 5_000;
/// Slowest traces of each operation in each minute.
const SLOWEST_PER_MINUTE: usize = 3;
/// Spans of traces that are among the slowest so far.
const SPANS_OF_CANDIDATES_MAX: usize = 20_000;
/// Operations of roots whose lengths are looked at.
const OPERATIONS_MAX: usize = 500;

const MINUTE_NS: u64 = 60_000_000_000;

/// The facts about the run that the decision needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// When it began.
    pub began: Instant,
    /// How long it is going to be, as far as that is known. What may be kept is let out over that time.
    pub expected: Duration,
    /// A trace is whole once nothing more of it came for this long.
    pub quiet: Duration,
}

/// Gathers and decides.
#[derive(Debug)]
pub struct Keeper {
    pace: Pace,
    open: HashMap<u128, Open>,
    /// The open ones by when something of them came last.
    by_quiet: BTreeSet<(Instant, u128)>,
    spans_open: usize,
    /// Kept traces, for spans that arrive late.
    kept: HashMap<u128, Kept>,
    roots: BTreeMap<(Arc<str>, Arc<str>), Root>,
    spans_of_candidates: usize,
    /// The minute of the slowest so far.
    minute: u64,
    sample: Sample,
    of_sample: Allowance,
    of_errors: Allowance,
    of_slowest: Allowance,
    of_buckets: Allowance,
    ready: Vec<Trace>,
    late: BTreeMap<u128, Vec<Span>>,
    counts: Counts,
}

/// A trace that is still being gathered.
#[derive(Debug)]
struct Open {
    last: Instant,
    spans: Vec<Span>,
}

/// Statistics of an operation that is the root of traces.
#[derive(Debug, Default)]
struct Root {
    /// A bit for each power of two nanoseconds of which a trace was kept.
    buckets: u64,
    /// Of this minute.
    slowest: Vec<(Length, Trace)>,
}

/// How long a trace was, by its root.
#[derive(Debug)]
struct Length {
    operation: (Arc<str>, Arc<str>),
    duration: Duration,
}

impl Keeper {
    /// One without traces.
    pub fn new(pace: Pace) -> Keeper {
        Keeper {
            pace,
            open: HashMap::new(),
            by_quiet: BTreeSet::new(),
            spans_open: 0,
            kept: HashMap::new(),
            roots: BTreeMap::new(),
            spans_of_candidates: 0,
            minute: pace.began.as_ns() / MINUTE_NS,
            sample: Sample::new(pace.began),
            of_sample: Allowance::new(SPANS_OF_SAMPLE_MAX),
            of_errors: Allowance::new(SPANS_OF_ERRORS_MAX),
            of_slowest: Allowance::new(SPANS_OF_SLOWEST_MAX),
            of_buckets: Allowance::new(SPANS_OF_BUCKETS_MAX),
            ready: Vec::new(),
            late: BTreeMap::new(),
            counts: Counts::default(),
        }
    }

    /// Takes a span that came now.
    pub fn add(&mut self, now: Instant, id: u128, span: Span) {
        self.sample.received();
        if let Some(kept) = self.kept.get(&id).copied() {
            self.add_late(now, id, kept, span);
            return;
        }
        let open = self.open.entry(id).or_insert_with(|| Open { last: now, spans: Vec::new() });
        if open.last != now || open.spans.is_empty() {
            self.by_quiet.remove(&(open.last, id));
            self.by_quiet.insert((now, id));
            open.last = now;
        }
        if open.spans.len() >= SPANS_PER_TRACE_MAX {
            self.counts.spans_beyond_trace += 1;
            return;
        }
        open.spans.push(span);
        self.spans_open += 1;
        while self.open.len() > TRACES_OPEN_MAX || self.spans_open > SPANS_OPEN_MAX {
            self.counts.traces_hurried += 1;
            self.decide_first(now);
        }
    }

    /// Decides upon what is quiet by now.
    pub fn sweep(&mut self, now: Instant) {
        self.sample.adapt(now, self.of_sample.bearable_per_s(self.progress(now), self.pace.expected));
        while self.by_quiet.first().is_some_and(|(last, _)| now.since(*last) >= self.pace.quiet) {
            self.decide_first(now);
        }
        let minute = now.as_ns() / MINUTE_NS;
        if minute != self.minute {
            self.minute = minute;
            self.keep_slowest(now);
        }
    }

    /// Decides upon everything that is left, with everything that may still be kept.
    pub fn finish(&mut self, now: Instant) {
        self.pace.expected = now.since(self.pace.began);
        self.sample.end(self.of_sample.left() as f64 / self.spans_open.max(1) as f64);
        while !self.by_quiet.is_empty() {
            self.decide_first(now);
        }
        self.keep_slowest(now);
    }

    /// Takes the traces kept since the last call. A trace that was taken before appears with its late spans.
    pub fn take(&mut self) -> Vec<Trace> {
        let mut taken = std::mem::take(&mut self.ready);
        let late = std::mem::take(&mut self.late).into_iter();
        taken.extend(late.filter_map(|(id, spans)| Some(Trace { id, kept: *self.kept.get(&id)?, spans })));
        taken
    }

    /// Counts of traces and spans by outcome.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    fn add_late(&mut self, now: Instant, id: u128, kept: Kept, span: Span) {
        if !self.reserve(now, kept, 1) {
            self.counts.spans_late_without_room += 1;
            return;
        }
        self.counts.spans_kept += 1;
        self.late.entry(id).or_default().push(span);
    }

    fn decide_first(&mut self, now: Instant) {
        let Some((_, id)) = self.by_quiet.pop_first() else { return };
        let Some(Open { mut spans, .. }) = self.open.remove(&id) else { return };
        self.spans_open -= spans.len();
        spans.sort_by_key(|span| (span.start_ns, span.id));
        self.decide(now, Trace { id, kept: Kept::Slowest, spans });
    }

    /// The sample comes first: a trace that failed and is in it belongs to it, or it would say too little of failures.
    fn decide(&mut self, now: Instant, trace: Trace) {
        let Some(length) = Length::from_trace(&trace) else { return };
        let in_sample = self.sample.has(trace.id);
        let failed = trace.spans.iter().any(|span| span.status == SpanStatus::Error);
        let is_first = self.root(&length.operation).is_some_and(|root| root.buckets & length.bucket() == 0);
        let share = self.sample.share();
        let reasons = [(in_sample, Kept::Sample { share }), (failed, Kept::Error), (is_first, Kept::Bucket)];
        for (_, kept) in reasons.into_iter().filter(|(holds, _)| *holds) {
            if self.reserve(now, kept, trace.spans.len()) {
                return self.keep(&length, kept, trace);
            }
        }
        self.compete(length, trace, in_sample || failed);
    }

    /// A trace is among the slowest of its operation so far, or is passed over. `is_missed`, if something spoke for it.
    fn compete(&mut self, length: Length, trace: Trace, is_missed: bool) {
        let has_room = self.spans_of_candidates + trace.spans.len() <= SPANS_OF_CANDIDATES_MAX;
        let Some(root) = self.root(&length.operation) else { return self.pass_over(is_missed) };
        let fastest = root.slowest.iter().enumerate().min_by_key(|(_, (held, _))| held.duration);
        let is_full = root.slowest.len() >= SLOWEST_PER_MINUTE;
        match fastest.map(|(index, (held, _))| (index, held.duration)).filter(|_| is_full) {
            Some((_, duration)) if duration >= length.duration => return self.pass_over(is_missed),
            _ if !has_room => return self.pass_over(true),
            Some((index, _)) => {
                let (_, passed) = root.slowest.swap_remove(index);
                self.spans_of_candidates -= passed.spans.len();
                self.pass_over(false);
            }
            None => {}
        }
        self.spans_of_candidates += trace.spans.len();
        if let Some(root) = self.root(&length.operation) {
            root.slowest.push((length, trace));
        }
    }

    /// Keeps the slowest of the minute that is over.
    fn keep_slowest(&mut self, now: Instant) {
        let of_each = self.roots.values_mut().flat_map(|root| std::mem::take(&mut root.slowest));
        let candidates: Vec<(Length, Trace)> = of_each.collect();
        self.spans_of_candidates = 0;
        for (length, trace) in candidates {
            match self.reserve(now, Kept::Slowest, trace.spans.len()) {
                true => self.keep(&length, Kept::Slowest, trace),
                false => self.pass_over(true),
            }
        }
    }

    fn keep(&mut self, length: &Length, kept: Kept, trace: Trace) {
        if let Some(root) = self.root(&length.operation) {
            root.buckets |= length.bucket();
        }
        self.counts.traces_kept += 1;
        self.counts.spans_kept += trace.spans.len() as u64;
        self.kept.insert(trace.id, kept);
        self.ready.push(Trace { kept, ..trace });
    }

    fn pass_over(&mut self, is_missed: bool) {
        match is_missed {
            true => self.counts.traces_without_room += 1,
            false => self.counts.traces_passed_over += 1,
        }
    }

    /// Statistics of a root operation; `None` beyond the limit of operations.
    fn root(&mut self, operation: &(Arc<str>, Arc<str>)) -> Option<&mut Root> {
        if self.roots.len() >= OPERATIONS_MAX {
            return self.roots.get_mut(operation);
        }
        Some(self.roots.entry(operation.clone()).or_default())
    }

    /// Reserves spans if the budget of this reason allows it.
    fn reserve(&mut self, now: Instant, kept: Kept, spans: usize) -> bool {
        let progress = self.progress(now);
        let allowance = match kept {
            Kept::Sample { .. } => &mut self.of_sample,
            Kept::Error => &mut self.of_errors,
            Kept::Slowest => &mut self.of_slowest,
            // Here nothing is found that was not sent.
            Kept::Bucket | Kept::Found => &mut self.of_buckets,
        };
        allowance.spend(spans, progress)
    }

    /// The part of the run that is over, as far as that is known.
    fn progress(&self, now: Instant) -> f64 {
        let elapsed_s = now.since(self.pace.began).as_secs_f64();
        let expected_s = self.pace.expected.as_secs_f64();
        if elapsed_s < expected_s { elapsed_s / expected_s } else { 1.0 }
    }
}

impl Length {
    /// That of a trace's root; of its earliest span, where each claims that another caused it.
    fn from_trace(trace: &Trace) -> Option<Length> {
        let root = trace.root().or(trace.spans.first())?;
        let operation = (root.service.clone(), root.operation.clone());
        Some(Length { operation, duration: root.duration })
    }

    /// A bit for each power of two nanoseconds.
    fn bucket(&self) -> u64 {
        let ns = u64::try_from(self.duration.as_nanos()).unwrap_or(u64::MAX);
        1 << ns.max(1).ilog2()
    }
}

#[cfg(test)]
mod tests {
    use model::SpanKind;

    use super::*;

    const PACE: Pace =
        Pace { began: Instant::ZERO, expected: Duration::from_secs(1), quiet: Duration::from_secs(10) };

    fn at(seconds: u64) -> Instant {
        Instant::from_ns(seconds * 1_000_000_000)
    }

    fn span(id: u64, duration_ms: u64) -> Span {
        Span {
            id,
            parent: id.checked_sub(1).filter(|parent| *parent > 0),
            kind: SpanKind::Server,
            service: "shop".into(),
            operation: "GET /".into(),
            start_ns: -(id as i64),
            duration: Duration::from_millis(duration_ms),
            status: SpanStatus::Unset,
            attributes: Vec::new(),
            links: Vec::new(),
        }
    }

    fn failed(id: u64) -> Span {
        Span { status: SpanStatus::Error, ..span(id, 1) }
    }

    /// One whose sample is empty.
    fn unsampled(pace: Pace) -> Keeper {
        let mut keeper = Keeper::new(pace);
        keeper.of_sample = Allowance::new(0);
        keeper
    }

    fn kept(keeper: &mut Keeper) -> Vec<(u128, &'static str, usize)> {
        let mut kept = keeper.take();
        kept.sort_by_key(|trace| trace.id);
        kept.into_iter().map(|trace| (trace.id, trace.kept.as_str(), trace.spans.len())).collect()
    }

    #[test]
    fn a_trace_is_whole_once_it_is_quiet() {
        let mut keeper = Keeper::new(PACE);
        keeper.add(at(0), 7, span(1, 3));
        keeper.add(at(5), 7, span(2, 1));
        keeper.sweep(at(14));
        assert!(keeper.take().is_empty());
        keeper.sweep(at(15));
        let taken = keeper.take();
        assert_eq!(taken.len(), 1);
        assert_eq!(taken[0].kept, Kept::Sample { share: 1.0 });
        let ids: Vec<u64> = taken[0].spans.iter().map(|span| span.id).collect();
        assert_eq!(ids, [2, 1], "in order of their start");
    }

    #[test]
    fn late_spans_of_a_kept_trace_are_added() {
        let mut keeper = Keeper::new(PACE);
        keeper.add(at(0), 7, span(1, 3));
        keeper.sweep(at(10));
        assert_eq!(kept(&mut keeper), [(7, "sample", 1)]);
        keeper.add(at(11), 7, span(2, 3));
        keeper.add(at(11), 7, span(3, 3));
        assert_eq!(kept(&mut keeper), [(7, "sample", 2)]);
        assert_eq!((keeper.counts().traces_kept, keeper.counts().spans_kept), (1, 3));
    }

    #[test]
    fn beside_the_sample_failures_lengths_and_the_slowest_are_kept() {
        let mut keeper = unsampled(PACE);
        keeper.add(at(0), 1, span(1, 100));
        keeper.add(at(1), 2, span(1, 101));
        keeper.add(at(2), 3, failed(1));
        keeper.add(at(3), 4, span(1, 200));
        (10..20_u64).for_each(|id| keeper.add(at(4), id.into(), span(1, 90 + id)));
        keeper.sweep(at(20));
        assert_eq!(kept(&mut keeper), [(1, "bucket", 1), (3, "error", 1), (4, "bucket", 1)]);
        keeper.sweep(at(60));
        assert_eq!(kept(&mut keeper), [(17, "slowest", 1), (18, "slowest", 1), (19, "slowest", 1)]);
        assert_eq!(keeper.counts().traces_kept, 6);
        // Traces beyond the budget would have been in the sample.
        assert_eq!(keeper.counts().traces_passed_over + keeper.counts().traces_without_room, 8);
    }

    #[test]
    fn the_slowest_of_the_last_minute_are_kept_at_the_end() {
        let mut keeper = unsampled(PACE);
        (1..=5_u64).for_each(|id| keeper.add(at(1), id.into(), span(1, 70 + id)));
        keeper.finish(at(2));
        let kept = kept(&mut keeper);
        assert_eq!(kept[0], (1, "bucket", 1));
        assert_eq!(kept[1..], [(3, "slowest", 1), (4, "slowest", 1), (5, "slowest", 1)]);
        assert!(keeper.open.is_empty() && keeper.by_quiet.is_empty() && keeper.spans_open == 0);
    }

    #[test]
    fn errors_do_not_crowd_the_sample_out_and_neither_the_end() {
        let pace = Pace { expected: Duration::from_secs(100), ..PACE };
        let mut keeper = Keeper::new(pace);
        let mut id = 0;
        let mut kept_in_second = Vec::new();
        for second in 0..110 {
            for _ in 0..2_000 {
                id += 1;
                keeper.add(at(second), id, failed(1));
            }
            keeper.sweep(at(second));
            let taken = keeper.take();
            let of_sample = taken.iter().filter(|trace| matches!(trace.kept, Kept::Sample { .. })).count();
            kept_in_second.push((of_sample, taken.len() - of_sample));
        }
        keeper.finish(at(110));
        let of_sample: usize = kept_in_second.iter().map(|(of_sample, _)| of_sample).sum();
        let of_errors: usize = kept_in_second.iter().map(|(_, of_errors)| of_errors).sum();
        assert!((15_000..=SPANS_OF_SAMPLE_MAX as usize).contains(&of_sample), "{of_sample}");
        assert!((13_000..=SPANS_OF_ERRORS_MAX as usize + 10).contains(&of_errors), "{of_errors}");
        assert!(kept_in_second[90].0 > 100 && kept_in_second[99].1 > 50, "{kept_in_second:?}");
    }

    #[test]
    fn what_is_kept_never_exceeds_what_a_file_has_room_for() {
        let mut keeper = Keeper::new(PACE);
        for id in 1..=60_000_u64 {
            let duration_ms = id % 4_000;
            let span = if id % 3 == 0 { failed(1) } else { span(1, duration_ms) };
            keeper.add(at(id / 1_000), id.into(), span);
            if id % 1_000 == 0 {
                keeper.sweep(at(id / 1_000));
            }
        }
        keeper.finish(at(100));
        let spans: usize = keeper.take().iter().map(|trace| trace.spans.len()).sum();
        assert_eq!(spans as u64, keeper.counts().spans_kept);
        assert!(spans <= 50_000, "{spans}");
        let counts = keeper.counts();
        let decided = counts.traces_kept + counts.traces_passed_over + counts.traces_without_room;
        assert_eq!(decided, 60_000, "nothing is lost silently");
    }

    #[test]
    fn one_trace_may_have_so_many_spans() {
        let mut keeper = Keeper::new(PACE);
        (1..=SPANS_PER_TRACE_MAX as u64 + 3).for_each(|id| keeper.add(at(0), 1, span(id, 1)));
        keeper.finish(at(1));
        assert_eq!(keeper.take()[0].spans.len(), SPANS_PER_TRACE_MAX);
        assert_eq!(keeper.counts().spans_beyond_trace, 3);
    }

    #[test]
    fn too_many_open_traces_are_decided_upon_early() {
        let mut keeper = Keeper::new(PACE);
        (1..=TRACES_OPEN_MAX as u128 + 2).for_each(|id| keeper.add(at(0), id, span(1, 1)));
        assert_eq!(keeper.counts().traces_hurried, 2);
        assert_eq!(keeper.open.len(), TRACES_OPEN_MAX);
    }

    #[test]
    fn spans_that_claim_each_other_are_a_trace_all_the_same() {
        let mut keeper = Keeper::new(PACE);
        keeper.add(at(0), 1, Span { parent: Some(2), ..span(1, 1) });
        keeper.add(at(0), 1, Span { parent: Some(1), ..span(2, 1) });
        keeper.finish(at(1));
        assert_eq!(kept(&mut keeper), [(1, "sample", 2)]);
    }
}
