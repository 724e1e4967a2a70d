//! `traceparent` on a share of the requests, so that what servers say about them can be found. The requests of a task of
//! `plimsoll/flow` are in one trace, or in none.

use std::borrow::Cow;

/// Puts a share of the requests into traces of their own (W3C Trace Context, 3.2). The numbers are none of a script's own: what
/// `Math.random` gives is the same with and without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceSample {
    /// A request is in the sample if a random number of 64 bits is not above.
    highest: u64,
}

impl TraceSample {
    /// A share in (0, 1]; `None` for none.
    pub fn of(share: f64) -> Option<TraceSample> {
        // Floats end at 2^64, where numbers do at one less: all are in a share of one.
        (share > 0.0).then(|| TraceSample { highest: (share.min(1.0) * 2_f64.powi(64)) as u64 })
    }

    /// Puts a request into a trace, if its turn comes and the script has not done so.
    pub(super) fn offer(self, request: &mut wire::Request, of: TraceOf) {
        let header = match of {
            TraceOf::Itself => self.begin().map(|context| context.traceparent(true)),
            TraceOf::Nothing => None,
            TraceOf::Task { context, is_kept } => Some(context.traceparent(is_kept)),
        };
        let Some(header) = header else { return };
        let has_one = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("traceparent"));
        if !has_one {
            request.headers.push((Cow::Borrowed("Traceparent"), header));
        }
    }

    /// A trace and a span that nobody has yet, if their turn comes. These numbers are no secrets, so that the system is not
    /// asked for them, which would cost each request a call. Zero would be no number.
    pub(crate) fn begin(self) -> Option<TraceContext> {
        let is_turn = fastrand::u64(..) <= self.highest;
        is_turn.then(|| TraceContext { trace: fastrand::u128(1..), span: fastrand::u64(1..) })
    }
}

/// Which trace a request belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TraceOf {
    /// One of its own, if its turn comes.
    #[default]
    Itself,
    /// None: it is of a task whose turn did not come.
    Nothing,
    /// That of its task. Those who answer are told whether to keep what they do.
    Task {
        /// The task's.
        context: TraceContext,
        /// Whether it is kept.
        is_kept: bool,
    },
}

/// A trace, and the span in it that requests are sent by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceContext {
    pub(crate) trace: u128,
    pub(crate) span: u64,
}

impl TraceContext {
    fn traceparent(self, is_kept: bool) -> String {
        format!("00-{:032x}-{:016x}-{:02x}", self.trace, self.span, u8::from(is_kept))
    }
}

#[cfg(test)]
mod tests {
    use model::Instant;

    use super::*;

    fn request(headers: &[(&'static str, &str)]) -> wire::Request {
        let target = wire::Target::parse("http://a.b/").expect("a URL");
        let mut request = wire::Request::new(wire::Method::GET, target, Instant::MAX);
        request.headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).to_owned())).collect();
        request
    }

    #[test]
    fn a_share_of_the_requests_gets_a_trace_of_its_own() {
        let sampled = |share: f64| {
            let sample = TraceSample::of(share).expect("a share");
            let mut values = std::collections::HashSet::new();
            for _ in 0..10_000 {
                let mut request = request(&[]);
                sample.offer(&mut request, TraceOf::Itself);
                values.extend(request.headers.into_iter().map(|(_, value)| value));
            }
            values.len()
        };
        assert_eq!(sampled(1.0), 10_000);
        assert!((900..1_100).contains(&sampled(0.1)), "nine standard deviations");
        assert_eq!(TraceSample::of(0.0), None);
    }

    #[test]
    fn a_trace_of_the_script_stays() {
        let sample = TraceSample::of(1.0).expect("a share");
        let mut request = request(&[("traceparent", "mine")]);
        sample.offer(&mut request, TraceOf::Itself);
        assert_eq!(request.headers, [(Cow::Borrowed("traceparent"), "mine".to_owned())]);
    }

    #[test]
    fn requests_of_a_task_are_in_its_trace_or_in_none() {
        let check = |of: TraceOf, expect: &[&str]| {
            let mut request = request(&[]);
            TraceSample::of(1.0).expect("a share").offer(&mut request, of);
            assert_eq!(request.headers.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>(), expect);
        };
        let context = TraceContext { trace: 7, span: 9 };
        check(TraceOf::Nothing, &[]);
        check(
            TraceOf::Task { context, is_kept: true },
            &["00-00000000000000000000000000000007-0000000000000009-01"],
        );
        check(
            TraceOf::Task { context, is_kept: false },
            &["00-00000000000000000000000000000007-0000000000000009-00"],
        );
    }

    #[test]
    fn the_header_is_one_of_the_recommendation() {
        let value = TraceSample::of(1.0).and_then(TraceSample::begin).expect("its turn").traceparent(true);
        let parts: Vec<&str> = value.split('-').collect();
        assert_eq!((parts[0], parts[3]), ("00", "01"));
        assert_eq!((parts[1].len(), parts[2].len()), (32, 16));
        assert!(parts[1..3].iter().all(|part| part.bytes().all(|byte| b"0123456789abcdef".contains(&byte))));
    }
}
