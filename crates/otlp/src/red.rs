//! How often operations ran, how often they failed and how long they took: of all spans, kept or not.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use histo::Values;
use model::{Instant, OperationLoad, Span, SpanKind, SpanStatus};

/// Maximum number of operations with statistics of their own.
const OPERATIONS_MAX: usize = 500;
/// Name of the operation for all others.
const OTHER: &str = "other";
/// Tens of seconds that are over are handed out after this time; what comes later is handed out by itself.
const LATE_MAX: Duration = Duration::from_secs(5);
/// A span that ended longer ago is in no ten.
const TENS_BACK_MAX: u64 = 60;
/// A span that ends further ahead is in no ten: clocks differ, but not by that much.
const TENS_AHEAD_MAX: u64 = 1;

const TEN_NS: u64 = 10_000_000_000;

/// Adds spans up.
#[derive(Debug, Default)]
pub struct Red {
    known: HashSet<Operation>,
    services: HashSet<Arc<str>>,
    /// By ten.
    loads: BTreeMap<(u32, Operation), Load>,
    /// Spans that ended too long ago or too far ahead.
    pub(crate) out_of_time: u64,
    /// Spans of operations beyond the maximum number of operations.
    pub(crate) of_others: u64,
}

type Operation = (Arc<str>, Arc<str>, SpanKind);

#[derive(Debug, Default)]
struct Load {
    errors: u64,
    durations: Values,
}

impl Red {
    /// Counts a span that came now.
    pub fn add(&mut self, now: Instant, span: &Span) {
        let Some(ten) = ten_of(now, span) else {
            self.out_of_time += 1;
            return;
        };
        let operation = self.operation(span);
        let load = self.loads.entry((ten, operation)).or_default();
        load.errors += u64::from(span.status == SpanStatus::Error);
        load.durations.record(span.duration.as_secs_f64() * 1e3);
    }

    /// Takes the windows that are complete by now.
    pub fn take(&mut self, now: Instant) -> Vec<OperationLoad> {
        let over = now.as_ns().saturating_sub(LATE_MAX.as_nanos() as u64) / TEN_NS;
        let first_open = u32::try_from(over).unwrap_or(u32::MAX);
        let is_open = |(ten, _): &(u32, Operation)| *ten >= first_open;
        let Some(first) = self.loads.keys().find(|key| is_open(key)).cloned() else { return self.finish() };
        let open = self.loads.split_off(&first);
        loads(std::mem::replace(&mut self.loads, open))
    }

    /// Everything that is left.
    pub fn finish(&mut self) -> Vec<OperationLoad> {
        loads(std::mem::take(&mut self.loads))
    }

    /// The operation that a span counts as.
    fn operation(&mut self, span: &Span) -> Operation {
        let operation = (span.service.clone(), span.operation.clone(), span.kind);
        if self.known.contains(&operation) {
            return operation;
        }
        if self.known.len() < OPERATIONS_MAX {
            self.known.insert(operation.clone());
            self.services.insert(operation.0.clone());
            return operation;
        }
        self.of_others += 1;
        let service = if self.services.contains(&operation.0) { operation.0 } else { OTHER.into() };
        (service, OTHER.into(), span.kind)
    }
}

fn ten_of(now: Instant, span: &Span) -> Option<u32> {
    let ten = u64::try_from(span.end_ns()).ok()? / TEN_NS;
    let present = now.as_ns() / TEN_NS;
    let is_near = (present.saturating_sub(TENS_BACK_MAX)..=present + TENS_AHEAD_MAX).contains(&ten);
    u32::try_from(ten).ok().filter(|_| is_near)
}

fn loads(loads: BTreeMap<(u32, Operation), Load>) -> Vec<OperationLoad> {
    let rows = loads.into_iter().map(|((ten, (service, operation, kind)), load)| OperationLoad {
        service,
        operation,
        kind,
        ten,
        errors: load.errors,
        durations: load.durations,
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_ns(seconds * 1_000_000_000)
    }

    fn span(operation: &str, end_s: i64, failed: bool) -> Span {
        Span {
            id: 1,
            parent: None,
            kind: SpanKind::Server,
            service: "shop".into(),
            operation: operation.into(),
            start_ns: end_s * 1_000_000_000 - 2_000_000,
            duration: Duration::from_millis(2),
            status: if failed { SpanStatus::Error } else { SpanStatus::Unset },
            attributes: Vec::new(),
            links: Vec::new(),
        }
    }

    fn loads(loads: &[OperationLoad]) -> Vec<(&str, u32, u64, u64)> {
        loads.iter().map(|load| (&*load.operation, load.ten, load.durations.count(), load.errors)).collect()
    }

    #[test]
    fn spans_count_in_the_ten_seconds_in_which_they_ended() {
        let mut red = Red::default();
        for span in [span("a", 3, false), span("a", 9, true), span("a", 10, false), span("b", 12, false)] {
            red.add(at(12), &span);
        }
        assert!(red.take(at(14)).is_empty(), "what is on its way still counts");
        let first = red.take(at(15));
        assert_eq!(loads(&first), [("a", 0, 2, 1)]);
        assert_eq!(first[0].durations.max(), Some(2.0));
        red.add(at(16), &span("a", 9, false));
        assert_eq!(loads(&red.take(at(16))), [("a", 0, 1, 0)], "late ones by themselves");
        assert_eq!(loads(&red.finish()), [("a", 1, 1, 0), ("b", 1, 1, 0)]);
        assert!(red.finish().is_empty());
    }

    #[test]
    fn times_that_are_far_off_count_nowhere() {
        let mut red = Red::default();
        let check = |red: &mut Red, end_s: i64, expect: u64| {
            red.add(at(1_000), &span("a", end_s, false));
            assert_eq!(red.out_of_time, expect, "{end_s}");
        };
        check(&mut red, 1_000, 0);
        check(&mut red, 400, 0);
        check(&mut red, 1_019, 0);
        check(&mut red, 399, 1);
        check(&mut red, 1_020, 2);
        check(&mut red, -5, 3);
        check(&mut red, i64::MAX / 1_000_000_000, 4);
    }

    #[test]
    fn operations_beyond_the_limit_are_one() {
        let mut red = Red::default();
        for index in 0..OPERATIONS_MAX + 3 {
            red.add(at(1), &span(&index.to_string(), 1, false));
        }
        red.add(at(1), &Span { service: "new".into(), ..span("x", 1, false) });
        red.add(at(1), &span("7", 1, false));
        let loads = red.finish();
        assert_eq!(loads.len(), OPERATIONS_MAX + 2);
        assert_eq!(red.of_others, 4);
        let others = loads.iter().filter(|load| &*load.operation == OTHER);
        let others: Vec<_> = others.map(|load| (&*load.service, load.durations.count())).collect();
        assert_eq!(others, [("other", 1), ("shop", 3)]);
    }
}
