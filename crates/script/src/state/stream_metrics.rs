//! The metrics of streamed responses.

use std::cell::OnceCell;

use model::{MetricId, MetricKind, MetricRegistry, ValueKind};

use super::own_metrics::{self, own_metrics};

own_metrics! {
    /// Metrics of every streamed response. Times count from when its request began to be sent, as `http_req_duration` does.
    Streamed of "plimsoll/stream" {
        /// Until the first byte of the response.
        first_byte = "stream_first_byte", Trend, Time;
        /// Until the first event. Streams that end before it are censored.
        first_event = "stream_first_event", Trend, Time;
        /// From an event to the next one. The time after the last event of a stream that is cut is censored.
        event_gap = "stream_event_gap", Trend, Time;
        /// Events.
        events = "stream_events", Counter, Default;
        /// Events per second of one stream, from its first event to its last.
        events_per_second = "stream_events_per_second", Trend, Default;
        /// Gaps that are not in `event_gap`, because the script did not read and the server had to wait.
        gaps_unmeasured = "stream_gaps_unmeasured", Counter, Default;
    }
}

own_metrics! {
    /// Metrics of answers of language models.
    Chat of "plimsoll/stream" {
        /// Until the first token. Answers without one are censored.
        first_token = "llm_first_token", Trend, Time;
        /// From a piece with tokens to the next one.
        token_gap = "llm_token_gap", Trend, Time;
        /// Tokens.
        tokens = "llm_tokens", Counter, Default;
        /// Tokens per second of one complete answer, from its first piece to its last.
        tokens_per_second = "llm_tokens_per_second", Trend, Default;
        /// Share of answers that came to their end.
        complete = "llm_complete", Rate, Default;
    }
}

/// The metrics of streams that this VU's imports have declared.
#[derive(Default)]
pub(crate) struct StreamMetrics {
    streamed: OnceCell<Streamed>,
    chat: OnceCell<Chat>,
    sse_event: OnceCell<MetricId>,
}

impl StreamMetrics {
    /// Declares the metrics of `plimsoll/stream`.
    ///
    /// # Errors
    /// A text for the user: a name is taken.
    pub(crate) fn declare(&self, registry: &MetricRegistry) -> Result<(), String> {
        // Set before, they are the same: a registry gives a name one number.
        let _ = self.streamed.set(Streamed::declare(registry)?);
        let _ = self.chat.set(Chat::declare(registry)?);
        Ok(())
    }

    /// Declares the metrics of `k6/x/sse`.
    ///
    /// # Errors
    /// A text for the user: a name is taken.
    pub(crate) fn declare_sse(&self, registry: &MetricRegistry) -> Result<(), String> {
        let _ = self.streamed.set(Streamed::declare(registry)?);
        let counter = (MetricKind::Counter, ValueKind::Default);
        let declared = own_metrics::declare(registry, "k6/x/sse", "sse_event", counter.0, counter.1)?;
        let _ = self.sse_event.set(declared);
        Ok(())
    }

    pub(crate) fn streamed(&self) -> Option<Streamed> {
        self.streamed.get().copied()
    }

    pub(crate) fn chat(&self) -> Option<Chat> {
        self.chat.get().copied()
    }

    /// The counter of events that the extension has.
    pub(crate) fn sse_event(&self) -> Option<MetricId> {
        self.sse_event.get().copied()
    }
}
