//! The backend's metrics, by the names of OpenTelemetry's conventions where there is one.

use labkit::{Definition, Kind, SPANS, metric};

pub(crate) const REQUEST_SECONDS: &str = "http_server_request_duration_seconds";
pub(crate) const REQUESTS: &str = "http_server_requests_total";
pub(crate) const REFUSED: &str = "http_server_requests_refused_total";
pub(crate) const IN_FLIGHT: &str = "http_server_active_requests";
pub(crate) const CONNECTIONS: &str = "http_server_connections_total";
pub(crate) const QUEUE_FULL_SECONDS: &str = "accept_queue_full_seconds_total";
pub(crate) const WORKER_WAIT_SECONDS: &str = "worker_wait_seconds_total";
pub(crate) const LINK_WAIT_SECONDS: &str = "network_wait_seconds_total";
pub(crate) const KEY_WAIT_SECONDS: &str = "like_key_wait_seconds_total";
pub(crate) const CALLS: &str = "downstream_calls_total";
pub(crate) const CALL_SECONDS: &str = "downstream_call_seconds_total";
pub(crate) const LOOKUP_SECONDS: &str = "dns_lookup_seconds_total";
pub(crate) const STORE_READS: &str = "store_reads_total";
pub(crate) const CACHE_READS: &str = "cache_reads_total";
pub(crate) const CACHE_EVICTIONS: &str = "cache_evictions_total";
pub(crate) const LOG_LINES_LOST: &str = "log_lines_lost_total";

/// The outcome of a cache read.
pub(crate) const HIT: &str = "outcome=\"hit\"";
pub(crate) const MISS: &str = "outcome=\"miss\"";
pub(crate) const ERROR: &str = "outcome=\"error\"";

/// All of them.
pub(crate) const ALL: &[Definition] = &[
    metric(REQUEST_SECONDS, Kind::Histogram, "Time from a request to its answer, by route."),
    metric(REQUESTS, Kind::Counter, "Requests answered."),
    metric(REFUSED, Kind::Counter, "Requests refused because too many were in flight."),
    metric(IN_FLIGHT, Kind::Gauge, "Requests that have come and are not answered."),
    metric(CONNECTIONS, Kind::Counter, "Connections taken."),
    metric(
        QUEUE_FULL_SECONDS,
        Kind::Counter,
        "Time in which the queue of new connections was full, sampled 40 times a second.",
    ),
    metric(WORKER_WAIT_SECONDS, Kind::Counter, "Time that requests have waited for the worker."),
    metric(LINK_WAIT_SECONDS, Kind::Counter, "Time that answers have waited for the network."),
    metric(KEY_WAIT_SECONDS, Kind::Counter, "Time that likes have waited for the counter of their post."),
    metric(CALLS, Kind::Counter, "Calls of the service downstream."),
    metric(CALL_SECONDS, Kind::Counter, "Time that the service downstream has taken."),
    metric(LOOKUP_SECONDS, Kind::Counter, "Time that the name server has taken."),
    metric(STORE_READS, Kind::Counter, "Pages that the store has made."),
    metric(CACHE_READS, Kind::Counter, "Pages that the cache was asked for, by outcome."),
    metric(CACHE_EVICTIONS, Kind::Counter, "Pages evicted from the cache."),
    metric(LOG_LINES_LOST, Kind::Counter, "Lines of the log that could not be written."),
    SPANS,
];
