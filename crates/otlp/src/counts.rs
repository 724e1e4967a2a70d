//! Counters of received spans and traces, by outcome.

use std::collections::BTreeMap;

use model::Datum;

/// Counters since the receiver began. Each span is in `spans_received` or in one of those that were
/// refused, and the sender gets the number of refused ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests with spans that could be read.
    pub requests: u64,
    /// Requests that could not be read, or were not allowed.
    pub requests_refused: u64,
    /// Requests whose bodies were slow, or gave their memory to newer ones.
    pub requests_slow: u64,
    /// Connections that were closed because they sent no whole request in time.
    pub connections_silent: u64,
    /// Connections that were closed because their client did not read a response.
    pub connections_unread: u64,
    /// Connections that gave way to new ones.
    pub connections_gave_way: u64,
    /// Requests with metrics or logs, which were answered and not kept.
    pub requests_ignored: u64,
    /// Spans that were taken.
    pub spans_received: u64,
    /// Spans that the run itself made, of requests and tasks.
    pub spans_own: u64,
    /// Spans without valid numbers.
    pub spans_without_id: u64,
    /// Spans that were too large, or too many for one request.
    pub spans_too_large: u64,
    /// Names and values that were cut, and attributes and links that were left out.
    pub texts_cut: u64,
    /// Traces that were kept, and their spans.
    pub traces_kept: u64,
    /// Spans of traces that were kept.
    pub spans_kept: u64,
    /// Traces that nothing spoke for, or that one of the kept ones stands for.
    pub traces_passed_over: u64,
    /// Traces that should have been kept but exceeded the budget.
    pub traces_without_room: u64,
    /// Traces that were decided upon before they were quiet, because too many were open.
    pub traces_hurried: u64,
    /// Spans beyond what one trace may have.
    pub spans_beyond_trace: u64,
    /// Late spans of kept traces that exceeded the budget.
    pub spans_late_without_room: u64,
    /// Spans that ended so long before or after they came that they are in no operation's load.
    pub spans_out_of_time: u64,
    /// Spans of operations beyond the maximum number of operations.
    pub spans_of_other_operations: u64,
}

impl Counts {
    /// All of them by name.
    pub fn fields(&self) -> BTreeMap<String, Datum> {
        let fields = [
            ("requests", self.requests),
            ("requests_refused", self.requests_refused),
            ("requests_slow", self.requests_slow),
            ("requests_ignored", self.requests_ignored),
            ("connections_silent", self.connections_silent),
            ("connections_unread", self.connections_unread),
            ("connections_gave_way", self.connections_gave_way),
            ("spans_received", self.spans_received),
            ("spans_own", self.spans_own),
            ("spans_without_id", self.spans_without_id),
            ("spans_too_large", self.spans_too_large),
            ("texts_cut", self.texts_cut),
            ("traces_kept", self.traces_kept),
            ("spans_kept", self.spans_kept),
            ("traces_passed_over", self.traces_passed_over),
            ("traces_without_room", self.traces_without_room),
            ("traces_hurried", self.traces_hurried),
            ("spans_beyond_trace", self.spans_beyond_trace),
            ("spans_late_without_room", self.spans_late_without_room),
            ("spans_out_of_time", self.spans_out_of_time),
            ("spans_of_other_operations", self.spans_of_other_operations),
        ];
        fields.into_iter().map(|(name, count)| (name.to_owned(), Datum::Number(count as f64))).collect()
    }

    /// Losses with their causes, for people; empty if nothing was lost.
    pub fn losses(&self) -> Vec<String> {
        let losses = [
            (self.requests_refused, "export requests refused"),
            (self.requests_slow, "export requests too slow"),
            (self.connections_silent, "connections without a whole request in time"),
            (self.connections_unread, "connections that did not read their response"),
            (self.connections_gave_way, "connections that gave way to new ones"),
            (self.spans_without_id, "spans without valid numbers"),
            (self.spans_too_large, "spans too large"),
            (self.spans_beyond_trace, "spans beyond what a trace may have"),
            (self.spans_late_without_room, "late spans over budget"),
            (self.traces_without_room, "remarkable traces over budget"),
            (self.traces_hurried, "traces cut short because too many were open"),
            (self.spans_out_of_time, "spans with times far off"),
        ];
        let losses = losses.into_iter().filter(|(count, _)| *count > 0);
        losses.map(|(count, what)| format!("{count} {what}")).collect()
    }
}
