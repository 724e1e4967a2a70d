//! Times of a streamed response and their samples.
//!
//! Times count from when the request began to be sent, as `http_req_duration` does, so that a first event is never later than
//! the end of its request. A stream that is cut or times out leaves a lower bound: of the time to its first event where it had
//! none, otherwise of the gap after its last.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use model::{Instant, Mark, MetricId, SystemClock, SystemTag, SystemTags, TagSetId};
use wire::{Exchange, Kind};

use crate::http::params::Prepared;
use crate::state::VuState;
use crate::state::stream_metrics::Streamed;

/// How a stream ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    pub(super) mark: Mark,
    pub(super) at: Instant,
    /// Whether there was a response, and it was not a success.
    pub(super) is_refused: bool,
}

impl Ending {
    /// How an exchange ended.
    pub(super) fn of(exchange: &Exchange) -> Ending {
        let (mark, is_refused) = match &exchange.result {
            Ok(response) => (Mark::Measured, !(200..300).contains(&response.status)),
            Err(error) if error.kind == Kind::TimedOut => (Mark::TimedOut, false),
            Err(error) if error.is_unconnected() => (Mark::Failed, false),
            Err(_) => (Mark::Cut, false),
        };
        Ending { mark, at: exchange.finished, is_refused }
    }
}

/// Points in time of one kind of event.
#[derive(Clone, Copy, Debug, Default)]
struct Series {
    first: Option<Instant>,
    last: Option<Instant>,
    count: u64,
}

impl Series {
    /// Notes an event; returns the one before it.
    fn push(&mut self, at: Instant) -> Option<Instant> {
        self.first.get_or_insert(at);
        self.count += 1;
        self.last.replace(at)
    }

    /// Events after the first, and the milliseconds that they took.
    fn after_first(&self) -> Option<(u64, f64)> {
        let (first, last) = (self.first?, self.last?);
        (self.count > 1 && last > first).then(|| (self.count - 1, last.ms_since(first)))
    }
}

/// The figures of one stream.
pub(super) struct Measures {
    /// Whether the extension's counter counts, too.
    counts_sse: bool,
    /// Whether it is the answer of a language model.
    is_chat: bool,
    base_tags: TagSetId,
    own_tags: Vec<(Arc<str>, Arc<str>)>,
    tags: Cell<Option<TagSetId>>,
    started: Cell<Instant>,
    events: Cell<Series>,
    tokens: Cell<Series>,
    token_count: Cell<f64>,
    /// Whether the server had to wait since the last event.
    was_paused: Cell<bool>,
    is_chat_over: Cell<bool>,
    ending: RefCell<Option<Ending>>,
}

/// How an answer ended, as the script found out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) is_complete: bool,
    /// As the server counted them.
    pub(super) tokens: Option<f64>,
}

/// Figures of a chat for the script.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Said {
    pub(super) tokens: f64,
    pub(super) first_token_ms: Option<f64>,
    pub(super) tokens_per_second: Option<f64>,
}

impl Measures {
    pub(super) fn new(vu: &VuState, prepared: &Prepared, is_chat: bool) -> Measures {
        let system = vu.plan().map_or(SystemTags::NONE, |plan| plan.system_tags);
        let name = prepared.name.clone().unwrap_or_else(|| prepared.url.tag.clone());
        let mut own_tags: Vec<(Arc<str>, Arc<str>)> = Vec::with_capacity(4 + prepared.tags.len());
        let as_extension = prepared.is_sse && vu.is_strict();
        let known: Vec<(SystemTag, Arc<str>)> = if as_extension {
            vec![(SystemTag::Url, prepared.url.tag.clone())]
        } else {
            vec![
                (SystemTag::Method, prepared.request.method.as_str().into()),
                (SystemTag::Url, name.clone()),
                (SystemTag::Name, name),
            ]
        };
        let known = known.into_iter().filter(|(tag, _)| system.has(*tag));
        own_tags.extend(known.map(|(tag, value)| (tag.as_str().into(), value)));
        let given = prepared.tags.iter().filter(|(name, _)| as_extension || &**name != "name");
        own_tags.extend(given.cloned());
        Measures {
            counts_sse: prepared.is_sse,
            is_chat,
            base_tags: prepared.base_tags,
            own_tags,
            tags: Cell::default(),
            started: Cell::new(SystemClock::now()),
            events: Cell::default(),
            tokens: Cell::default(),
            token_count: Cell::new(0.0),
            was_paused: Cell::new(false),
            is_chat_over: Cell::new(false),
            ending: RefCell::default(),
        }
    }

    /// Milliseconds since the request began to be sent.
    pub(super) fn elapsed_ms(&self, at: Instant) -> f64 {
        at.ms_since(self.started.get())
    }

    pub(super) fn events(&self) -> u64 {
        self.events.get().count
    }

    /// Milliseconds to the first event and to the last.
    pub(super) fn event_times(&self) -> (Option<f64>, Option<f64>) {
        let Series { first, last, .. } = self.events.get();
        (first.map(|at| self.elapsed_ms(at)), last.map(|at| self.elapsed_ms(at)))
    }

    /// A successful response began.
    pub(super) fn begin(&self, vu: &VuState, status: u16, sent_from: Instant, at: Instant) {
        self.started.set(sent_from);
        self.tags.set(Some(self.tags_with(vu, status)));
        self.record(vu, |metrics| metrics.first_byte, self.elapsed_ms(at), Mark::Measured, at);
    }

    /// The server has to wait, because the script does not read.
    pub(super) fn pause(&self) {
        self.was_paused.set(true);
    }

    /// An event came.
    pub(super) fn event(&self, vu: &VuState, at: Instant) {
        let mut events = self.events.get();
        let before = events.push(at);
        self.events.set(events);
        let was_paused = self.was_paused.replace(false);
        self.record(vu, |metrics| metrics.events, 1.0, Mark::Measured, at);
        match before {
            None => self.record(vu, |metrics| metrics.first_event, self.elapsed_ms(at), Mark::Measured, at),
            // The server would have sent it earlier, had it been allowed to.
            Some(_) if was_paused => {
                self.record(vu, |metrics| metrics.gaps_unmeasured, 1.0, Mark::Measured, at)
            }
            Some(before) => {
                self.record(vu, |metrics| metrics.event_gap, at.ms_since(before), Mark::Measured, at)
            }
        }
    }

    /// Counts one event as the extension does, when the script is handed it.
    pub(super) fn handed_over(&self, vu: &VuState) {
        if let Some(metric) = vu.stream_metrics.sse_event().filter(|_| self.counts_sse) {
            vu.record(metric, self.tag_set(vu), 1.0, Mark::Measured, SystemClock::now());
        }
    }

    /// The stream is over.
    pub(super) fn end(&self, vu: &VuState, ending: Ending) {
        *self.ending.borrow_mut() = Some(ending);
        let events = self.events.get();
        let is_whole = ending.mark == Mark::Measured && !ending.is_refused;
        match (events.last, is_whole) {
            (None, true) => {}
            (None, false) => self.record_bound(vu, |metrics| metrics.first_event, ending),
            (Some(last), false) => {
                self.record(
                    vu,
                    |metrics| metrics.event_gap,
                    ending.at.ms_since(last),
                    ending.mark,
                    ending.at,
                );
            }
            (Some(_), true) => {
                if let Some((count, ms)) = events.after_first() {
                    let rate = count as f64 * 1e3 / ms;
                    self.record(vu, |metrics| metrics.events_per_second, rate, Mark::Measured, ending.at);
                }
            }
        }
    }

    /// The end of the iteration cut the stream, and the script can no longer report how the answer ended.
    pub(super) fn cut(&self, vu: &VuState) {
        self.end(vu, Ending { mark: Mark::Cut, at: SystemClock::now(), is_refused: false });
        if self.is_chat {
            self.end_chat(vu, Answer { is_complete: false, tokens: None });
        }
    }

    /// A piece of an answer came, with so many tokens.
    pub(super) fn tokens(&self, vu: &VuState, elapsed_ms: f64, count: f64) {
        let Some(chat) = vu.stream_metrics.chat().filter(|_| count > 0.0 && !self.is_chat_over.get()) else {
            return;
        };
        let at = self.started.get() + std::time::Duration::from_secs_f64(elapsed_ms.max(0.0) / 1e3);
        let mut tokens = self.tokens.get();
        let before = tokens.push(at);
        self.tokens.set(tokens);
        self.token_count.set(self.token_count.get() + count);
        let tags = self.tag_set(vu);
        vu.record(chat.tokens, tags, count, Mark::Measured, at);
        match before {
            None => vu.record(chat.first_token, tags, elapsed_ms, Mark::Measured, at),
            Some(before) => vu.record(chat.token_gap, tags, at.ms_since(before), Mark::Measured, at),
        }
    }

    /// An answer is over.
    pub(super) fn end_chat(&self, vu: &VuState, answer: Answer) -> Said {
        let Some(chat) = vu.stream_metrics.chat() else { return Said::default() };
        let tokens = self.tokens.get();
        let counted = self.token_count.get();
        // A server's own count includes pieces of several tokens.
        let total = answer.tokens.filter(|total| total.is_finite() && *total >= counted).unwrap_or(counted);
        let rate = tokens.after_first().map(|(pieces, ms)| {
            let share = pieces as f64 / (pieces + 1) as f64;
            total * share * 1e3 / ms
        });
        let said = Said {
            tokens: total,
            first_token_ms: tokens.first.map(|at| self.elapsed_ms(at)),
            tokens_per_second: rate,
        };
        if self.is_chat_over.replace(true) {
            return said;
        }
        let ending = *self.ending.borrow();
        let at = ending.map_or_else(SystemClock::now, |ending| ending.at);
        let tags = self.tag_set(vu);
        vu.record(chat.complete, tags, f64::from(answer.is_complete), Mark::Measured, at);
        if total > counted {
            vu.record(chat.tokens, tags, total - counted, Mark::Measured, at);
        }
        let mark = match ending.map(|ending| ending.mark) {
            Some(Mark::Measured) | None => Mark::Failed,
            Some(mark) => mark,
        };
        match (tokens.last, answer.is_complete) {
            // An answer of no tokens, too, had no first one.
            (None, _) => vu.record(chat.first_token, tags, at.ms_since(self.started.get()), mark, at),
            (Some(last), false) => {
                let mark = if mark == Mark::Failed { Mark::Cut } else { mark };
                vu.record(chat.token_gap, tags, at.ms_since(last), mark, at);
            }
            (Some(_), true) => {
                if let Some(rate) = rate {
                    vu.record(chat.tokens_per_second, tags, rate, Mark::Measured, at);
                }
            }
        }
        said
    }

    fn record_bound(&self, vu: &VuState, metric: impl Fn(Streamed) -> MetricId, ending: Ending) {
        let mark = if ending.mark == Mark::Measured { Mark::Failed } else { ending.mark };
        self.record(vu, metric, self.elapsed_ms(ending.at), mark, ending.at);
    }

    fn record(
        &self,
        vu: &VuState,
        metric: impl Fn(Streamed) -> MetricId,
        value: f64,
        mark: Mark,
        at: Instant,
    ) {
        // The extension has none of these.
        if self.counts_sse && vu.is_strict() {
            return;
        }
        if let Some(metrics) = vu.stream_metrics.streamed() {
            vu.record(metric(metrics), self.tag_set(vu), value, mark, at);
        }
    }

    fn tag_set(&self, vu: &VuState) -> TagSetId {
        self.tags.get().unwrap_or_else(|| {
            let tags = self.tags_with(vu, 0);
            self.tags.set(Some(tags));
            tags
        })
    }

    fn tags_with(&self, vu: &VuState, status: u16) -> TagSetId {
        let system = vu.plan().map_or(SystemTags::NONE, |plan| plan.system_tags);
        let mut tags = self.own_tags.clone();
        if system.has(SystemTag::Status) {
            tags.push((SystemTag::Status.as_str().into(), status.to_string().into()));
        }
        vu.cache.extend(self.base_tags, tags)
    }
}
