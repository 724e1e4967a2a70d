//! `traceparent` on a share of the requests, so that what servers say about them can be found. The requests of a task of
//! `plimsoll/flow` are in one trace, or in none.

use std::borrow::Cow;

use model::Mark;

/// The header as it is sent (W3C Trace Context, 3.2).
const HEADER: Cow<'static, str> = Cow::Borrowed("Traceparent");

/// Of its flags the one that asks for the trace to be kept (W3C Trace Context, 3.2.2.5.1).
const KEPT: u8 = 1;

/// Puts a share of the requests into traces of their own (W3C Trace Context, 3.2). The numbers are none of a script's own: what
/// `Math.random` gives is the same with and without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceSample {
    /// A request is in the sample if a random number of 64 bits is not above.
    highest: u64,
}

impl TraceSample {
    /// A share in (0, 1]; `None` for none.
    pub fn from_share(share: f64) -> Option<TraceSample> {
        // Floats end at 2^64, where numbers do at one less: all are in a share of one.
        (share > 0.0).then(|| TraceSample { highest: (share.min(1.0) * 2_f64.powi(64)) as u64 })
    }

    /// Puts a request into a trace, if its turn comes and the script has not done so. Returns its span where the header
    /// asks servers to keep theirs.
    pub(crate) fn offer(self, request: &mut wire::Request, of: TraceOf) -> Option<Asked> {
        let (header, asked) = self.header(header_of(request), of);
        request.headers.extend(header.map(|value| (HEADER, value)));
        asked
    }

    /// The header to add to a request with this one of the script's, and its span where a header asks servers to keep theirs.
    pub(crate) fn header(self, own: Option<&str>, of: TraceOf) -> (Option<String>, Option<Asked>) {
        if let Some(own) = own {
            let kept = TraceContext::read(own).filter(|(_, is_kept)| *is_kept);
            return (None, kept.map(|(context, _)| Asked { context, parent: None }));
        }
        let asked = match of {
            TraceOf::Itself => self.begin().map(|context| Asked { context, parent: None }),
            TraceOf::Nothing => None,
            TraceOf::Task { context, is_kept: true } => {
                let own = TraceContext { span: fastrand::u64(1..), ..context };
                Some(Asked { context: own, parent: Some(context.span) })
            }
            TraceOf::Task { context, is_kept: false } => return (Some(context.traceparent(false)), None),
        };
        (asked.map(|asked| asked.context.traceparent(true)), asked)
    }

    /// New numbers of a trace and a span, if their turn comes. These numbers are no secrets, so that the system is not
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
    /// The trace of its task. The header's flag asks servers to keep their spans, or not to.
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

/// The span that a request is, by the header that it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) context: TraceContext,
    /// The task that it is sent by.
    pub(crate) parent: Option<u64>,
}

impl TraceContext {
    /// Parses a header, and whether the trace is to be kept (W3C Trace Context, 3.2.2: version, trace id, parent id and
    /// flags); zero is no number.
    pub(crate) fn read(header: &str) -> Option<(TraceContext, bool)> {
        let mut parts = header.trim().split('-').skip(1);
        let mut hex = |digits: usize| {
            let part = parts.next().filter(|part| part.len() == digits)?;
            let is_hex = part.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hex.then(|| u128::from_str_radix(part, 16).ok()).flatten()
        };
        let (trace, span, flags) = (hex(32)?, hex(16)?, hex(2)?);
        let context = TraceContext { trace, span: u64::try_from(span).ok()? };
        (trace != 0 && span != 0).then_some((context, flags as u8 & KEPT != 0))
    }

    fn traceparent(self, is_kept: bool) -> String {
        format!("00-{:032x}-{:016x}-{:02x}", self.trace, self.span, if is_kept { KEPT } else { 0 })
    }
}

/// Status of a client's span by the mark of its length.
pub(crate) const fn how(mark: Mark) -> &'static str {
    match mark {
        Mark::Measured => "measured",
        Mark::TimedOut => "timed_out",
        Mark::Cut => "cut",
        Mark::Failed | Mark::Dropped => "failed",
    }
}

/// The trace that a request is in already.
pub(crate) fn header_of(request: &wire::Request) -> Option<&str> {
    let mut headers = request.headers.iter();
    let (_, value) = headers.find(|(name, _)| name.eq_ignore_ascii_case(&HEADER))?;
    Some(value)
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
            let sample = TraceSample::from_share(share).expect("a share");
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
        assert_eq!(TraceSample::from_share(0.0), None);
    }

    #[test]
    fn a_trace_of_the_script_stays() {
        let check = |header: &str, expect: Option<TraceContext>| {
            let mut request = request(&[("traceparent", header)]);
            let asked = TraceSample::from_share(1.0).expect("a share").offer(&mut request, TraceOf::Itself);
            assert_eq!(request.headers, [(Cow::Borrowed("traceparent"), header.to_owned())]);
            assert_eq!(asked, expect.map(|context| Asked { context, parent: None }), "{header}");
        };
        check("mine", None);
        check("00-00000000000000000000000000000007-0000000000000009-00", None);
        let context = TraceContext { trace: 7, span: 9 };
        check("00-00000000000000000000000000000007-0000000000000009-01", Some(context));
    }

    #[test]
    fn requests_of_a_task_are_in_its_trace_or_in_none() {
        let offered = |of: TraceOf| {
            let mut request = request(&[]);
            let asked = TraceSample::from_share(1.0).expect("a share").offer(&mut request, of);
            (asked, header_of(&request).map(str::to_owned))
        };
        let context = TraceContext { trace: 7, span: 9 };
        assert_eq!(offered(TraceOf::Nothing), (None, None));
        let polled = "00-00000000000000000000000000000007-0000000000000009-00".to_owned();
        assert_eq!(offered(TraceOf::Task { context, is_kept: false }), (None, Some(polled)));
        let (asked, header) = offered(TraceOf::Task { context, is_kept: true });
        let asked = asked.expect("a submission is a span");
        assert_eq!((asked.context.trace, asked.parent), (7, Some(9)), "below its task");
        assert_eq!(header.as_deref().and_then(TraceContext::read), Some((asked.context, true)));
    }

    #[test]
    fn headers_are_read() {
        let check = |header: &str, expect: Option<(u128, u64, bool)>| {
            let read = TraceContext::read(header).map(|(it, is_kept)| (it.trace, it.span, is_kept));
            assert_eq!(read, expect, "{header}");
        };
        let (trace, span) = (0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c, 0xb7ad_6b71_6920_3331);
        check("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Some((trace, span, true)));
        check("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02-x", Some((trace, span, false)));
        check("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03", Some((trace, span, true)));
        check("00-00000000000000000000000000000000-b7ad6b7169203331-01", None);
        check("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", None);
        check("00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None);
        check("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", None);
        check("00-0af7-b7ad6b7169203331-01", None);
        check("", None);
    }

    #[test]
    fn the_header_is_one_of_the_recommendation() {
        let value =
            TraceSample::from_share(1.0).and_then(TraceSample::begin).expect("its turn").traceparent(true);
        let parts: Vec<&str> = value.split('-').collect();
        assert_eq!((parts[0], parts[3]), ("00", "01"));
        assert_eq!((parts[1].len(), parts[2].len()), (32, 16));
        assert!(parts[1..3].iter().all(|part| part.bytes().all(|byte| b"0123456789abcdef".contains(&byte))));
    }
}
