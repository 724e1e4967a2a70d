//! The metrics of backend and proxies, by the names of OpenTelemetry's conventions where there is one.

use labkit::{Definition, Kind, SPANS, metric};

pub(crate) const REQUEST_SECONDS: &str = "http_server_request_duration_seconds";
pub(crate) const REQUESTS: &str = "http_server_requests_total";
pub(crate) const REFUSED: &str = "http_server_requests_refused_total";
pub(crate) const SLOT_WAIT_SECONDS: &str = "slot_wait_seconds_total";
pub(crate) const BY_PROXY: &str = "requests_by_proxy_total";
pub(crate) const UNEVEN: &str = "requests_of_busiest_proxy_total";
pub(crate) const LINE_WAIT_SECONDS: &str = "upstream_connection_wait_seconds_total";
pub(crate) const RATE_LIMITED: &str = "downstream_rate_limited_total";
pub(crate) const BURNT_SECONDS: &str = "generator_burnt_seconds_total";
pub(crate) const UPSTREAM_ERRORS: &str = "upstream_errors_total";

/// The labels of each proxy, by its number.
pub(crate) const PROXY_LABELS: [&str; 3] = ["proxy=\"proxy-1\"", "proxy=\"proxy-2\"", "proxy=\"proxy-3\""];

/// All of the backend.
pub(crate) const BACKEND: &[Definition] = &[
    metric(REQUEST_SECONDS, Kind::Histogram, "Time from a request to its answer, by route."),
    metric(REQUESTS, Kind::Counter, "Requests answered."),
    metric(REFUSED, Kind::Counter, "Requests refused because too many were there."),
    metric(SLOT_WAIT_SECONDS, Kind::Counter, "Time that requests have waited for a slot."),
    metric(BY_PROXY, Kind::Counter, "Requests, by the proxy that they came through."),
    metric(UNEVEN, Kind::Counter, "Requests through a proxy that had sent more than 1.5 times its share."),
    metric(
        LINE_WAIT_SECONDS,
        Kind::Counter,
        "Time that requests have waited for the connection of their proxy.",
    ),
    metric(RATE_LIMITED, Kind::Counter, "Calls that the service downstream has refused."),
    metric(BURNT_SECONDS, Kind::Counter, "Time of its own core that the generator says it has burnt."),
    SPANS,
];

/// All of a proxy.
pub(crate) const PROXY: &[Definition] = &[
    metric(REQUESTS, Kind::Counter, "Requests passed on."),
    metric(REFUSED, Kind::Counter, "Requests that were not passed on."),
    metric(SLOT_WAIT_SECONDS, Kind::Counter, "Time that requests have waited for the proxy."),
    metric(
        LINE_WAIT_SECONDS,
        Kind::Counter,
        "Time that requests have waited for the connection to the backend.",
    ),
    metric(UPSTREAM_ERRORS, Kind::Counter, "Requests that the backend did not answer."),
    SPANS,
];
