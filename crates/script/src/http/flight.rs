//! Notes about a request in flight, from the start of each exchange to its end.

use model::{ExemplarCandidate, Instant, Mark, ScenarioId, SystemClock, TagSetId};
use wire::{Exchange, Request};

use super::debug;
use super::params::Prepared;
use super::response;
use super::samples::{self, Verdict};
use super::span::RequestSpan;
use crate::Finished;
use crate::state::{VuBinding, VuState};
use crate::trace_context::{self, TraceContext};

/// Watches over a request and its redirects. Whatever is still under way when it is dropped was given up.
pub(super) struct Flight<'a> {
    vu: &'a VuState,
    client: &'a wire::Client,
    prepared: &'a Prepared,
    scenario: Option<ScenarioId>,
    is_under_way: bool,
    /// Where its turn to be traced came.
    span: Option<Box<RequestSpan>>,
    /// The last exchange.
    pub(super) last: Option<Verdict>,
}

impl<'a> Flight<'a> {
    pub(super) fn new(
        vu: &'a VuState,
        client: &'a wire::Client,
        prepared: &'a Prepared,
        span: Option<Box<RequestSpan>>,
    ) -> Flight<'a> {
        Flight { vu, client, prepared, scenario: vu.scenario(), is_under_way: false, span, last: None }
    }

    /// An exchange ended, or was given up with its request on the way.
    fn end(&mut self, exchange: &Exchange, sent: &Request) -> Verdict {
        self.is_under_way = false;
        let verdict = count(self.vu, self.prepared, self.scenario, exchange, sent);
        if let Some(span) = &mut self.span {
            span.add(exchange, &verdict);
        }
        verdict
    }
}

impl wire::Observer for Flight<'_> {
    fn started(&mut self, at: Instant) {
        self.is_under_way = true;
        if let Some(binding) = self.vu.binding() {
            binding.notes.request_started(self.scenario, at);
        }
    }

    fn ended(&mut self, exchange: &Exchange, sent: &Request) {
        self.last = Some(self.end(exchange, sent));
        if let Some(full) = self.vu.plan().and_then(|plan| plan.http.debug) {
            debug::print(self.vu, exchange, sent, full);
        }
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        if self.is_under_way {
            self.give_up();
        }
        if let Some(span) = &self.span {
            span.hand_over(self.vu, self.prepared);
        }
    }
}

impl Flight<'_> {
    /// Counts a request whose iteration is cut off while it is on its way: the server has seen it. (k6 forgets it.) One
    /// that had no connection yet was under way too, but is no request that anybody saw.
    #[cold]
    #[inline(never)]
    fn give_up(&mut self) {
        let abandoned = self.client.take_abandoned();
        match abandoned {
            Some(abandoned) if !self.vu.is_strict() => {
                let mut sent = self.prepared.request.clone();
                sent.target = abandoned.target;
                self.end(&abandoned.exchange, &sent);
            }
            abandoned => {
                let at = abandoned.map_or_else(SystemClock::now, |abandoned| abandoned.exchange.finished);
                let how = Finished { duration_ns: 0, mark: Mark::Failed, failed: false };
                if let Some(binding) = self.vu.binding() {
                    binding.notes.request_finished(self.scenario, at, how);
                }
            }
        }
    }
}

/// Counts a request that cannot be sent and that k6 counts all the same.
pub(super) fn count_unsent(vu: &VuState, prepared: &Prepared, exchange: &Exchange) {
    if let Some(binding) = vu.binding() {
        binding.notes.request_started(vu.scenario(), exchange.started);
    }
    count(vu, prepared, vu.scenario(), exchange, &prepared.request);
}

#[inline]
fn count(
    vu: &VuState,
    prepared: &Prepared,
    scenario: Option<ScenarioId>,
    exchange: &Exchange,
    sent: &Request,
) -> Verdict {
    let verdict = samples::emit(vu, prepared, exchange, sent);
    let Some(binding) = vu.binding() else { return verdict };
    let duration_ns = match verdict.mark {
        Mark::Measured => exchange.phases.duration_ns(),
        _ => exchange.finished.as_ns().saturating_sub(exchange.started.as_ns()),
    };
    let failed = exchange.result.is_err() || verdict.failed == Some(true);
    let how = Finished { duration_ns, mark: verdict.mark, failed };
    let is_remarkable = binding.notes.request_finished(scenario, exchange.finished, how);
    if failed {
        note_error(binding, exchange, sent, &verdict);
    }
    if is_remarkable {
        remember(vu, binding, exchange, sent, how, verdict.tags);
    }
    verdict
}

#[cold]
#[inline(never)]
fn remember(
    vu: &VuState,
    binding: &VuBinding,
    exchange: &Exchange,
    sent: &Request,
    how: Finished,
    tags: TagSetId,
) {
    binding.notes.remember(ExemplarCandidate {
        tags,
        at: exchange.finished,
        duration_ns: how.duration_ns,
        mark: how.mark,
        trace_id: trace_context::header_of(sent)
            .and_then(TraceContext::read)
            .map(|(context, _)| context.trace),
        vu: binding.id_in_test,
        iteration: vu.call.borrow().as_ref().map(|call| call.vu_iteration),
        url: sent.target.as_str().to_owned(),
        error: how.failed.then(|| what_failed(exchange).1),
    });
}

#[cold]
#[inline(never)]
fn note_error(binding: &VuBinding, exchange: &Exchange, sent: &Request, verdict: &Verdict) {
    let (code, message) = what_failed(exchange);
    let example = || {
        let story = exchange.result.as_ref().err().map_or(message.as_str(), wire::Error::story);
        format!("{} {}: {story}", sent.method.as_str(), sent.target.as_str())
    };
    binding.notes.error(code, &message, verdict.tags, &example);
}

/// k6's code of a failed request, and the text of its error. k6 has no text for an unexpected response, and no
/// code where its status is below 400.
fn what_failed(exchange: &Exchange) -> (u16, String) {
    let code = response::error_code(exchange);
    match &exchange.result {
        Err(error) => (code, error.message.clone()),
        Ok(response) => {
            let code = if code == 0 { wire::ErrorCode::OTHER.0 } else { code };
            (code, format!("unexpected status {}", response.status))
        }
    }
}
