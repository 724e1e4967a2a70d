//! Requests that stand for others, chosen while they go by.

use std::sync::Arc;

use model::metric::builtin::HTTP_REQ_DURATION;
use model::{Exemplar, ExemplarCandidate, ExemplarKind, Instant, Mark, Metadata, TagSetId};

/// Slowest requests kept per window.
pub const SLOWEST_MAX: usize = 3;

/// Failed requests kept per window: the first ones.
pub const FAILED_MAX: usize = 8;

/// Bytes kept of an exemplar's URL and of its error's text, each.
pub const EXEMPLAR_TEXT_BYTES_MAX: usize = 2048;

/// The exemplars of one worker thread. Nearly every request is dismissed by [`Exemplars::is_remarkable`], which costs a few
/// comparisons; only what passes becomes an [`ExemplarCandidate`], which allocates.
#[derive(Debug, Default)]
pub struct Exemplars {
    kept: Vec<Kept>,
    /// Duration that a request must exceed to be among the slowest, in nanoseconds.
    bar_ns: u64,
    /// One bit for each bucket that has its exemplar.
    buckets: u64,
    failed: usize,
}

#[derive(Debug)]
struct Kept {
    candidate: ExemplarCandidate,
    is_slowest: bool,
    is_failed: bool,
    is_bucket: bool,
}

impl Exemplars {
    /// Whether a request should be offered as an [`ExemplarCandidate`].
    #[inline]
    pub fn is_remarkable(&self, duration_ns: u64, mark: Mark, failed: bool) -> bool {
        if mark == Mark::Measured && !failed {
            return duration_ns > self.bar_ns || self.buckets & bucket(duration_ns) == 0;
        }
        self.is_remarkable_failure(duration_ns, mark)
    }

    fn is_remarkable_failure(&self, duration_ns: u64, mark: Mark) -> bool {
        self.failed < FAILED_MAX || (mark != Mark::Failed && duration_ns > self.bar_ns)
    }

    /// Keeps a request for every reason there is to do so.
    pub fn offer(&mut self, candidate: ExemplarCandidate) {
        // What never had a connection has no duration that could be slow.
        let is_slowest = candidate.mark != Mark::Failed && candidate.duration_ns > self.bar_ns;
        let is_failed = candidate.error.is_some() && self.failed < FAILED_MAX;
        let bit = bucket(candidate.duration_ns);
        let is_bucket =
            candidate.mark == Mark::Measured && candidate.error.is_none() && self.buckets & bit == 0;
        if !(is_slowest || is_failed || is_bucket) {
            return;
        }
        self.failed += usize::from(is_failed);
        if is_bucket {
            self.buckets |= bit;
        }
        self.kept.push(Kept { candidate, is_slowest, is_failed, is_bucket });
        if is_slowest {
            self.move_bar();
        }
    }

    /// Takes the requests kept since the last call, once for each reason.
    pub fn take(&mut self) -> Vec<Exemplar> {
        let kept = std::mem::take(self).kept;
        let mut exemplars = Vec::with_capacity(kept.len());
        for Kept { candidate, is_slowest, is_failed, is_bucket } in kept {
            let exemplar = exemplar(candidate);
            let reasons = [
                (is_failed, ExemplarKind::Failed),
                (is_slowest, ExemplarKind::Slowest),
                (is_bucket, ExemplarKind::Bucket),
            ];
            let kinds = reasons.into_iter().filter(|(holds, _)| *holds).map(|(_, kind)| kind);
            exemplars.extend(kinds.map(|kind| Exemplar { kind, ..exemplar.clone() }));
        }
        exemplars
    }

    /// Lets the slowest but the first few go.
    fn move_bar(&mut self) {
        let slowest = || self.kept.iter().enumerate().filter(|(_, kept)| kept.is_slowest);
        let count = slowest().count();
        if count < SLOWEST_MAX {
            return;
        }
        if count > SLOWEST_MAX {
            // Of equals the last goes.
            let rank = |kept: &Kept| (kept.candidate.duration_ns, std::cmp::Reverse(kept.candidate.at));
            let least = slowest().min_by_key(|(_, kept)| rank(kept)).map(|(index, _)| index);
            let Some(index) = least else { return };
            let least = &mut self.kept[index];
            least.is_slowest = false;
            if !least.is_failed && !least.is_bucket {
                self.kept.swap_remove(index);
            }
        }
        let slowest = self.kept.iter().filter(|kept| kept.is_slowest);
        self.bar_ns = slowest.map(|kept| kept.candidate.duration_ns).min().unwrap_or(0);
    }
}

/// The bit of a duration's bucket: below one millisecond, below two, below four, and so on.
#[inline]
fn bucket(duration_ns: u64) -> u64 {
    let ms = duration_ns / 1_000_000;
    // A duration in milliseconds has fewer than 45 bits.
    1 << (u64::BITS - ms.leading_zeros())
}

fn exemplar(candidate: ExemplarCandidate) -> Exemplar {
    let mut metadata: Vec<(Arc<str>, Arc<str>)> = vec![("vu".into(), candidate.vu.to_string().into())];
    metadata.extend(candidate.iteration.map(|iteration| ("iter".into(), iteration.to_string().into())));
    metadata.push(("url".into(), cut(&candidate.url).into()));
    metadata.extend(candidate.error.map(|error| ("error".into(), cut(&error).into())));
    Exemplar {
        kind: ExemplarKind::Bucket,
        metric: HTTP_REQ_DURATION,
        tags: candidate.tags,
        at: candidate.at,
        value: candidate.duration_ns as f64 / 1e6,
        mark: candidate.mark,
        trace_id: candidate.trace_id,
        metadata: Some(metadata.into()),
    }
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(EXEMPLAR_TEXT_BYTES_MAX)]
}

/// From what all threads kept to what the window keeps, by the rules of a single thread. Where one request has several
/// reasons, it is there once: as failed rather than slow, and as slow rather than as an example of its bucket.
pub(crate) fn select(mut offered: Vec<Exemplar>) -> Vec<Exemplar> {
    offered.sort_by(|a, b| order(a).cmp(&order(b)));
    let of = |kind: ExemplarKind| offered.iter().filter(move |exemplar| exemplar.kind == kind);
    let mut selected: Vec<Exemplar> = of(ExemplarKind::Failed).take(FAILED_MAX).cloned().collect();
    let mut slowest: Vec<&Exemplar> = of(ExemplarKind::Slowest).collect();
    slowest.sort_by(|a, b| b.value.total_cmp(&a.value));
    slowest.truncate(SLOWEST_MAX);
    let mut buckets = 0u64;
    let firsts = of(ExemplarKind::Bucket).filter(|exemplar| {
        let bit = bucket((exemplar.value * 1e6) as u64);
        let is_first = buckets & bit == 0;
        buckets |= bit;
        is_first
    });
    for exemplar in slowest.into_iter().chain(firsts) {
        if !selected.iter().any(|known| is_same_request(known, exemplar)) {
            selected.push(exemplar.clone());
        }
    }
    selected
}

/// First come first, and the same whatever the order of threads.
fn order(exemplar: &Exemplar) -> (Instant, TagSetId, u64, &Option<Metadata>) {
    (exemplar.at, exemplar.tags, exemplar.value.to_bits(), &exemplar.metadata)
}

fn is_same_request(a: &Exemplar, b: &Exemplar) -> bool {
    match (&a.metadata, &b.metadata) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn candidate(at: u64, duration_us: u64, error: bool) -> ExemplarCandidate {
        ExemplarCandidate {
            tags: TagSetId(3),
            at: Instant::from_ns(at),
            duration_ns: duration_us * 1000,
            mark: Mark::Measured,
            trace_id: None,
            vu: 1,
            iteration: Some(at),
            url: "http://a.b/".into(),
            error: error.then(|| "status 500".into()),
        }
    }

    fn see(exemplars: &mut Exemplars, candidate: ExemplarCandidate) -> bool {
        let is_remarkable =
            exemplars.is_remarkable(candidate.duration_ns, candidate.mark, candidate.error.is_some());
        if is_remarkable {
            exemplars.offer(candidate);
        }
        is_remarkable
    }

    fn shown(exemplars: Vec<Exemplar>) -> Vec<(ExemplarKind, u64, f64)> {
        exemplars.iter().map(|exemplar| (exemplar.kind, exemplar.at.as_ns(), exemplar.value)).collect()
    }

    #[test]
    fn the_slowest_the_failed_and_one_of_each_bucket_are_kept() {
        let mut exemplars = Exemplars::default();
        for (at, duration_us) in [500, 700, 900, 1500, 3000, 3500, 600, 2500].into_iter().enumerate() {
            see(&mut exemplars, candidate(at as u64, duration_us, false));
        }
        see(&mut exemplars, candidate(8, 100, true));
        use ExemplarKind::{Bucket, Failed, Slowest};
        let expect = [
            (Failed, 8, 0.1),
            (Slowest, 5, 3.5),
            (Slowest, 4, 3.0),
            (Slowest, 7, 2.5),
            (Bucket, 0, 0.5),
            (Bucket, 3, 1.5),
        ];
        assert_eq!(shown(select(exemplars.take())), expect);
        assert_eq!(exemplars.take(), [], "a window starts anew");
    }

    #[test]
    fn what_is_neither_slow_nor_new_nor_failed_is_dismissed() {
        let mut exemplars = Exemplars::default();
        for at in 0..3 {
            assert!(see(&mut exemplars, candidate(at, 900 + at, false)));
        }
        assert!(!exemplars.is_remarkable(900_000, Mark::Measured, false), "not slower than the third");
        assert!(exemplars.is_remarkable(900_001, Mark::Measured, false));
        for at in 0..FAILED_MAX as u64 {
            assert!(see(&mut exemplars, candidate(at, 1, true)));
        }
        assert!(!exemplars.is_remarkable(1, Mark::Measured, true), "failed ones are many");
        assert!(!exemplars.is_remarkable(u64::MAX, Mark::Failed, true), "it has no duration");
        assert!(exemplars.is_remarkable(10_000_000, Mark::TimedOut, true));
    }

    #[test]
    fn refused_requests_are_neither_slow_nor_of_a_bucket() {
        let mut exemplars = Exemplars::default();
        exemplars.offer(ExemplarCandidate { mark: Mark::Failed, ..candidate(0, 5000, true) });
        assert_eq!(shown(exemplars.take()), [(ExemplarKind::Failed, 0, 5.0)]);
    }

    #[test]
    fn facts_go_along_and_are_cut() {
        let mut exemplars = Exemplars::default();
        let url = format!("http://a.b/{}", "é".repeat(EXEMPLAR_TEXT_BYTES_MAX));
        exemplars.offer(ExemplarCandidate { url, trace_id: Some(7), ..candidate(4, 1, true) });
        let taken = exemplars.take();
        let metadata = taken[0].metadata.clone().unwrap();
        let names: Vec<_> = metadata.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["vu", "iter", "url", "error"]);
        assert!(metadata[2].1.len() <= EXEMPLAR_TEXT_BYTES_MAX && metadata[2].1.len() > 2000);
        assert_eq!((&*metadata[3].1, taken[0].trace_id), ("status 500", Some(7)));
    }

    proptest! {
        #[test]
        fn threads_do_not_matter(
            seen in prop::collection::vec((0u64..9000, prop::bool::weighted(0.2), 0usize..3), 0..120),
        ) {
            let mut one = Exemplars::default();
            let mut threads: [Exemplars; 3] = Default::default();
            for (at, &(duration_us, failed, thread)) in (0..).zip(&seen) {
                see(&mut one, candidate(at, duration_us, failed));
                see(&mut threads[thread], candidate(at, duration_us, failed));
            }
            let one = shown(select(one.take()));
            let parts: Vec<_> = threads.iter_mut().map(Exemplars::take).collect();
            let reversed = parts.iter().rev().flatten().cloned().collect();
            prop_assert_eq!(&shown(select(parts.concat())), &one);
            prop_assert_eq!(&shown(select(reversed)), &one);
        }
    }
}
