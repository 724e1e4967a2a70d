//! The service's metrics, by the names of OpenTelemetry's conventions where there is one.

use labkit::{Definition, Kind, SPANS, metric};

pub(crate) const REQUEST_SECONDS: &str = "http_server_request_duration_seconds";
pub(crate) const REQUESTS: &str = "http_server_requests_total";
pub(crate) const RESPONSE_BYTES: &str = "http_server_response_bytes_total";
pub(crate) const QUERIES: &str = "db_client_queries_total";
pub(crate) const QUERY_SECONDS: &str = "db_client_query_seconds_total";
pub(crate) const POOL_MAX: &str = "db_client_connection_max";
pub(crate) const POOL_USED: &str = "db_client_connection_used";
pub(crate) const POOL_PENDING: &str = "db_client_connection_pending_requests";
pub(crate) const POOL_WAIT_SECONDS: &str = "db_client_connection_wait_seconds_total";
pub(crate) const LOCK_WAIT_SECONDS: &str = "db_lock_wait_seconds_total";
pub(crate) const VISIT_ROWS_SCANNED: &str = "db_visit_rows_scanned_total";
pub(crate) const CACHE_LOADS: &str = "category_cache_loads_total";
pub(crate) const REFRESH_SECONDS: &str = "view_refresh_seconds_total";
pub(crate) const REFRESHES: &str = "view_refreshes_total";
pub(crate) const JOB_SECONDS: &str = "report_job_seconds_total";
pub(crate) const PAUSE_SECONDS: &str = "process_pause_seconds_total";
pub(crate) const THROTTLED_SECONDS: &str = "process_cpu_throttled_seconds_total";
pub(crate) const CPU_SECONDS: &str = "process_cpu_seconds_total";
pub(crate) const USED_SECONDS: &str = "container_cpu_usage_seconds_total";
pub(crate) const QUOTA: &str = "container_spec_cpu_quota";
pub(crate) const PERIOD: &str = "container_spec_cpu_period";
pub(crate) const PERIODS: &str = "container_cpu_cfs_periods_total";
pub(crate) const PERIODS_THROTTLED: &str = "container_cpu_cfs_throttled_periods_total";
pub(crate) const CFS_THROTTLED_SECONDS: &str = "container_cpu_cfs_throttled_seconds_total";
pub(crate) const LOG_SYNC_SECONDS: &str = "log_sync_seconds_total";

/// The service as cAdvisor would see it in a container: what any operator has of a limit of CPU.
pub(crate) const CONTAINER: &str =
    "container=\"appstore\",image=\"appstore\",namespace=\"lab\",pod=\"appstore\"";

/// All of them.
pub(crate) const ALL: &[Definition] = &[
    metric(REQUEST_SECONDS, Kind::Histogram, "Time from a request to its answer, by route."),
    metric(REQUESTS, Kind::Counter, "Requests answered."),
    metric(RESPONSE_BYTES, Kind::Counter, "Bytes of all answers' bodies."),
    metric(QUERIES, Kind::Counter, "Queries that requests have made."),
    metric(QUERY_SECONDS, Kind::Counter, "Time that requests have waited for their queries."),
    metric(POOL_MAX, Kind::Gauge, "Connections that may be open."),
    metric(POOL_USED, Kind::Gauge, "Connections that requests hold."),
    metric(POOL_PENDING, Kind::Gauge, "Requests that wait for a connection."),
    metric(POOL_WAIT_SECONDS, Kind::Counter, "Time that requests have waited for a connection."),
    metric(
        LOCK_WAIT_SECONDS,
        Kind::Counter,
        "Time that sessions have waited for locks, sampled ten times a second.",
    ),
    metric(
        VISIT_ROWS_SCANNED,
        Kind::Counter,
        "Rows of visits read one after the other for want of an index.",
    ),
    metric(CACHE_LOADS, Kind::Counter, "Times that the categories were loaded."),
    metric(REFRESHES, Kind::Counter, "Times that the views were refreshed."),
    metric(REFRESH_SECONDS, Kind::Counter, "Time that refreshing the views has taken."),
    metric(JOB_SECONDS, Kind::Counter, "Time that the report has taken."),
    metric(PAUSE_SECONDS, Kind::Counter, "Time in which the whole service stood still."),
    metric(THROTTLED_SECONDS, Kind::Counter, "Time in which the service was kept from its core."),
    metric(CPU_SECONDS, Kind::Counter, "Time of the core that the service has used."),
    metric(USED_SECONDS, Kind::Counter, "The same, of the service's container."),
    metric(QUOTA, Kind::Gauge, "Microseconds of its core that the service may use in a period."),
    metric(PERIOD, Kind::Gauge, "The length of such a period, in microseconds."),
    metric(PERIODS, Kind::Counter, "Periods in which the service had something to do."),
    metric(PERIODS_THROTTLED, Kind::Counter, "Periods in which it used up what it may use."),
    metric(CFS_THROTTLED_SECONDS, Kind::Counter, "Time that its CPU quota throttled it."),
    metric(
        LOG_SYNC_SECONDS,
        Kind::Counter,
        "Time that requests have waited until their log line was on the disk.",
    ),
    SPANS,
];
