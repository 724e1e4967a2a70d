//! The client's side of a request whose trace is kept: a span whose number the request carries, so that what servers do for it
//! stands below.

use std::sync::Arc;

use model::{Instant, Mark, OWN_SERVICE, Span, SpanKind, SpanStatus};
use wire::{Exchange, Phases};

use super::params::Prepared;
use super::samples::Verdict;
use crate::callbacks::Spans;
use crate::state::VuState;
use crate::trace_context::{Asked, TraceSample, how};

/// Bytes of a name and of an error's text, as much as is kept of those of servers.
const NAME_BYTES_MAX: usize = 256;
const TEXT_BYTES_MAX: usize = 4096;

/// A request while its exchanges go on: the first, its redirects, its answers to challenges.
pub(super) struct RequestSpan {
    spans: Arc<dyn Spans>,
    asked: Asked,
    /// When the first exchange began.
    started: Instant,
    /// When the last one was over.
    finished: Instant,
    /// Those of all exchanges added up.
    phases: Phases,
    exchanges: u32,
    /// The last exchange.
    mark: Mark,
    failed: bool,
    status: Option<u16>,
    error: Option<String>,
}

impl RequestSpan {
    /// Puts a request into a trace, if its turn comes; none where it does not, or where no receiver takes spans.
    pub(super) fn offer(
        vu: &VuState,
        sample: TraceSample,
        prepared: &mut Prepared,
    ) -> Option<Box<RequestSpan>> {
        let asked = sample.offer(&mut prepared.request, prepared.trace)?;
        let spans = vu.binding()?.run.spans.clone()?;
        Some(Box::new(RequestSpan {
            spans,
            asked,
            started: Instant::ZERO,
            finished: Instant::ZERO,
            phases: Phases::default(),
            exchanges: 0,
            mark: Mark::Measured,
            failed: false,
            status: None,
            error: None,
        }))
    }

    /// An exchange ended, or was given up with its request on the way.
    #[cold]
    #[inline(never)]
    pub(super) fn add(&mut self, exchange: &Exchange, verdict: &Verdict) {
        if self.exchanges == 0 {
            self.started = exchange.started;
        }
        self.exchanges = self.exchanges.saturating_add(1);
        self.finished = exchange.finished;
        add_phases(&mut self.phases, &exchange.phases);
        self.mark = verdict.mark;
        self.failed = exchange.result.is_err() || verdict.failed == Some(true);
        self.status = exchange.result.as_ref().ok().map(|response| response.status);
        self.error = exchange.result.as_ref().err().map(|error| error.message.clone());
    }

    /// The request is over. One that was given up before it had a connection is none that anybody saw.
    #[cold]
    #[inline(never)]
    pub(super) fn hand_over(&self, vu: &VuState, prepared: &Prepared) {
        if self.exchanges == 0 {
            return;
        }
        let span = self.span(vu, prepared);
        self.spans.add(self.asked.context.trace, span);
    }

    fn span(&self, vu: &VuState, prepared: &Prepared) -> Span {
        let shown = |text: &str, bytes_max: usize| {
            let text = vu.init.secrets.redact(text);
            text[..text.floor_char_boundary(bytes_max)].to_owned()
        };
        let name = prepared.name.as_ref().unwrap_or(&prepared.url.tag);
        let mut attributes = vec![
            ("plimsoll.request", how(self.mark).to_owned()),
            ("http.request.method", prepared.request.method.as_str().to_owned()),
            ("server.address", prepared.request.target.host().to_owned()),
        ];
        attributes.extend(named(&self.phases).filter(|(_, ns)| *ns > 0).map(|(name, ns)| (name, ms(ns))));
        attributes.extend(self.status.map(|status| ("http.response.status_code", status.to_string())));
        attributes.extend(self.error.as_deref().map(|text| ("error.message", shown(text, TEXT_BYTES_MAX))));
        if self.exchanges > 1 {
            attributes.push(("plimsoll.exchanges", self.exchanges.to_string()));
        }
        Span {
            id: self.asked.context.span,
            parent: self.asked.parent,
            kind: SpanKind::Client,
            service: OWN_SERVICE.into(),
            operation: shown(name, NAME_BYTES_MAX).into(),
            start_ns: i64::try_from(self.started.as_ns()).unwrap_or(i64::MAX),
            duration: self.finished.since(self.started),
            status: if self.failed { SpanStatus::Error } else { SpanStatus::Unset },
            attributes: attributes.into_iter().map(|(name, value)| (name.into(), value)).collect(),
            links: Vec::new(),
        }
    }
}

fn named(phases: &Phases) -> impl Iterator<Item = (&'static str, u64)> {
    [
        ("plimsoll.blocked_ms", phases.blocked_ns),
        ("plimsoll.looking_up_ms", phases.looking_up_ns),
        ("plimsoll.connecting_ms", phases.connecting_ns),
        ("plimsoll.tls_ms", phases.tls_ns),
        ("plimsoll.sending_ms", phases.sending_ns),
        ("plimsoll.waiting_ms", phases.waiting_ns),
        ("plimsoll.receiving_ms", phases.receiving_ns),
    ]
    .into_iter()
}

fn ms(ns: u64) -> String {
    format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000)
}

fn add_phases(sum: &mut Phases, more: &Phases) {
    sum.blocked_ns += more.blocked_ns;
    sum.looking_up_ns += more.looking_up_ns;
    sum.connecting_ns += more.connecting_ns;
    sum.tls_ns += more.tls_ns;
    sum.sending_ns += more.sending_ns;
    sum.waiting_ns += more.waiting_ns;
    sum.receiving_ns += more.receiving_ns;
}
