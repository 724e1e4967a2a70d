//! Claims of findings: one variant per kind of finding, with the numbers of its sentences.
//!
//! Shares are of 1, times are seconds, rates are per second.

use super::{DetectorId, FaultKind, Resource, ResourceKind};

/// The claim of a finding.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each field is named by its quantity and unit, as the module says")]
pub enum Claim {
    /// A processor is at its limit; the ceiling follows from the demand of a request.
    ProcessorAtLimit {
        resource: Resource,
        used: f64,
        limit: f64,
        at_limit_share: f64,
        ceiling_per_s: Option<f64>,
    },
    /// The threads of a program wait for the cores that other programs of its machine use.
    ProcessorsTaken { place: String, used: f64, others: f64, cores: f64, waiting_share: f64 },
    /// The kernel throttles a container in this share of its scheduling periods.
    Throttled { place: String, throttled_share: f64 },
    /// A service uses the same little CPU all the time and stalls several times a second.
    QuotaUsedUp { place: String, used_cores: f64, stalls_per_s: f64, stalled_share: f64 },
    /// The runtime reports this share of time in its garbage collector.
    GarbageCollection { place: String, stalled_share: f64 },
    /// Traces show equally long pauses of a whole service.
    Pauses { place: String, stalled_share: f64, pauses: f64, mean_s: f64 },
    /// Requests wait for an event loop at least this long; its delay at the 99th percentile.
    EventLoopBlocked { place: String, wait_s: f64, delay_s: f64, time_share: f64 },
    /// A cache evicts keys that are read again.
    CacheEvicts { place: String, evicted_per_s: f64, missed_share: f64 },
    /// A container is at its memory limit.
    MemoryFull { place: String, peak_share: f64 },
    /// Requests wait for a database connection.
    PoolExhausted {
        place: String,
        waiting_share: f64,
        mean_wait_s: Option<f64>,
        pending: Option<f64>,
        connections: Option<f64>,
    },
    /// Requests wait until another response has left their connection.
    HeadOfLine { service: String, waiting_share: f64, mean_wait_s: f64 },
    /// A service has more calls open than are served at a time; the others wait inside their spans.
    CallsInLine {
        service: String,
        operation: String,
        at_once: f64,
        open: f64,
        one_s: f64,
        waiting_share: f64,
    },
    /// Messages wait in consumers that hold them behind others, while slots of other consumers are idle.
    HeldByConsumers { queue: String, held: f64, busy: f64, slots: f64, waiting_share: f64 },
    /// Sessions wait for row locks; the blocker as the database describes it.
    RowLocks { sessions: f64, longest_s: f64, waiting_share: f64, blocker: Option<String> },
    /// Commits wait for the write-ahead log.
    LogSync { sessions: f64, waiting_share: f64 },
    /// Sessions wait for blocks from disk.
    DiskReads { sessions: f64, waiting_share: f64 },
    /// The kernel drops new connections.
    ConnectionsDropped { late_requests: f64, late_share: f64, dropped_per_s: Option<f64> },
    /// Services open a connection for nearly every request.
    ConnectionsNotReused { per_request: f64, opened_per_s: f64, requests_per_s: f64 },
    /// Traces show one statement several times in a request.
    RepeatedStatement { statement: String, times: f64, time_share: f64, requests_share: f64 },
    /// The database counts several calls of one statement per request.
    RepeatedCalls { statement: String, calls_per_request: f64, database_share: f64 },
    /// A statement reads far more than it returns.
    MissingIndex { statement: String, read: Reading, rows: f64, mean_s: f64, database_share: f64 },
    /// A statement takes most of the database time.
    SlowStatement { statement: String, read: Reading, mean_s: f64, database_share: f64 },
    /// A statement takes most of the request time, as traces alone show.
    SlowTracedStatement { statement: String, mean_s: f64, time_share: f64 },
    /// A statement that no request executes takes a share of the database time.
    BackgroundStatement { statement: String, every_s: f64, mean_s: f64, calls: f64, database_share: f64 },
    /// Response times rise with a period.
    PeriodicLatency { period_s: f64, correlation: f64 },
    /// Many requests refill the same cache entry at once.
    CacheStampede { statement: String, concurrent: f64, mean_s: f64, requests_share: f64 },
    /// Calls of another service take the time.
    SlowCalls { service: String, operation: String, mean_s: f64, calls: f64, time_share: f64 },
    /// Calls of another program have no answer for most of the time, as the kernel's sockets show.
    Unanswered { service: String, callee: String, waiting: f64, mean_s: f64, time_share: f64 },
    /// A name is resolved for each request.
    NameResolution { service: String, mean_s: f64, time_share: f64 },
    /// Calls pass at an even rate, some at once and others late.
    CallsPaced { operation: String, per_s: f64, slow_s: f64, mean_s: f64, time_share: f64 },
    /// Spans report that calls were queued by a rate limit.
    CallsHeldBack { service: String, held_share: f64, mean_s: f64, time_share: f64 },
    /// An operation runs one at a time.
    Serialised { operation: String, done_per_s: f64, one_s: f64, busy_share: f64, mean_s: f64 },
    /// A service makes a call one at a time, while its other requests wait for their turn.
    CallsInTurn { service: String, operation: String, done_per_s: f64, one_s: f64, waiting_share: f64 },
    /// Requests wait for a worker of a service, which processes so many at once.
    WorkersBusy { service: String, operation: String, at_once: f64, through_per_s: f64, waiting_share: f64 },
    /// Requests queue in front of a service, which processes so many at once.
    QueuedInFront { service: String, at_once: f64, through_per_s: f64, waiting_share: f64 },
    /// Requests queue in front of a service and reach it at even intervals.
    PacedInFront { service: String, per_s: f64, waiting_share: f64 },
    /// More requests are in flight than at the lowest load, and no more complete.
    Plateau {
        service: String,
        operation: String,
        in_flight: f64,
        low_in_flight: f64,
        through_per_s: f64,
        low_through_per_s: f64,
        time_share: f64,
    },
    /// Consumers hold as many messages as they may while others wait.
    PrefetchUsedUp { queue: String, consumers: f64, each: f64, held: f64, prefetch: f64, ready: f64 },
    /// Tasks wait in a queue for consumers; the number of workers where more run than consume.
    FewConsumers { queue: String, consumers: f64, workers: Option<f64>, waiting_share: f64 },
    /// An autoscaler has all replicas that it may have while work waits.
    ScalerAtMaximum { scaler: String, replicas: f64, at_maximum_share: f64, waiting_share: f64 },
    /// A part of the requests is refused, most of them in this way.
    Refused { by: Refusal, refused_share: f64, passed_per_s: f64, limit: Admission },
    /// Messages are processed again.
    Redelivered { queue: String, again_share: f64 },
    /// One replica gets most of the requests.
    UnevenReplicas { replica: String, group: String, replicas: usize, times: f64, requests_share: f64 },
    /// A task waits inside its worker before it does anything.
    WaitsInWorker { operation: String, mean_wait_s: f64, time_share: f64 },
    /// Requests wait after their last call without using the CPU.
    WaitsAtEnd { service: String, mean_wait_s: f64, cpu_s: f64, time_share: f64 },
    /// Responses are large, and writing and sending them takes the time.
    LargeResponses { body_bytes: f64, time_share: f64 },
    /// Response bandwidth is saturated.
    BandwidthSaturated { bytes_per_s: f64, is_even: bool, outside_s: f64, outside_share: f64 },
    /// No task ended with an outcome that the script names.
    OutcomeNeverOccurs { outcome: String, tasks: u64 },
}

/// The way in which a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// An HTTP status.
    Status(u16),
    /// The connection is refused, reset, or closed without a response.
    Connection,
}

/// The kind of limit that refuses requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Admission {
    /// A rate limit.
    Rate,
    /// So many requests at a time.
    Concurrency(f64),
    /// The evidence does not show it.
    Unknown,
    /// No request passes: nothing takes connections.
    Closed,
}

/// The amount that one call of a statement reads, in the unit that the database counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// Blocks of the cache or the disk.
    Blocks(f64),
    /// Rows that are looked at.
    Rows(f64),
}

impl Claim {
    /// Returns the kind of fault that it is about.
    pub const fn fault(&self) -> FaultKind {
        match self {
            Claim::ProcessorAtLimit { resource: Resource { kind: ResourceKind::Cpu, .. }, .. } => {
                FaultKind::CpuLimit
            }
            Claim::ProcessorAtLimit { .. } | Claim::ProcessorsTaken { .. } => FaultKind::CpuSaturated,
            Claim::Throttled { .. } | Claim::QuotaUsedUp { .. } => FaultKind::CpuLimit,
            Claim::GarbageCollection { .. } | Claim::Pauses { .. } => FaultKind::StopTheWorld,
            Claim::EventLoopBlocked { .. } => FaultKind::EventLoop,
            Claim::CacheEvicts { .. } | Claim::MemoryFull { .. } | Claim::WaitsInWorker { .. } => {
                FaultKind::MemoryLimit
            }
            Claim::PoolExhausted { .. } => FaultKind::PoolExhausted,
            Claim::HeadOfLine { .. } | Claim::CallsInLine { .. } | Claim::HeldByConsumers { .. } => {
                FaultKind::HeadOfLine
            }
            Claim::RowLocks { .. } => FaultKind::RowLocks,
            Claim::LogSync { .. } => FaultKind::LogSync,
            Claim::DiskReads { .. } => FaultKind::DiskReads,
            Claim::ConnectionsDropped { .. } => FaultKind::AcceptQueue,
            Claim::ConnectionsNotReused { .. } => FaultKind::ConnectionChurn,
            Claim::RepeatedStatement { .. } | Claim::RepeatedCalls { .. } => FaultKind::RepeatedStatements,
            Claim::MissingIndex { .. } => FaultKind::MissingIndex,
            Claim::SlowStatement { .. } | Claim::SlowTracedStatement { .. } => FaultKind::SlowStatement,
            Claim::BackgroundStatement { .. } | Claim::PeriodicLatency { .. } => FaultKind::PeriodicJob,
            Claim::CacheStampede { .. } => FaultKind::CacheStampede,
            Claim::SlowCalls { .. } | Claim::Unanswered { .. } => FaultKind::SlowDownstream,
            Claim::NameResolution { .. } => FaultKind::DnsDelay,
            Claim::Refused { limit: Admission::Concurrency(_), .. } => FaultKind::TooFewWorkers,
            Claim::Refused { limit: Admission::Unknown | Admission::Closed, .. } => FaultKind::Refusals,
            Claim::Refused { limit: Admission::Rate, .. }
            | Claim::CallsPaced { .. }
            | Claim::CallsHeldBack { .. }
            | Claim::PacedInFront { .. } => FaultKind::DownstreamRateLimit,
            Claim::Serialised { .. } | Claim::CallsInTurn { .. } => FaultKind::HotKey,
            Claim::WorkersBusy { .. } | Claim::QueuedInFront { .. } | Claim::Plateau { .. } => {
                FaultKind::TooFewWorkers
            }
            Claim::PrefetchUsedUp { .. } => FaultKind::PrefetchTooSmall,
            Claim::FewConsumers { .. } => FaultKind::TooFewConsumers,
            Claim::ScalerAtMaximum { .. } => FaultKind::ScalerCeiling,
            Claim::Redelivered { .. } => FaultKind::Redelivery,
            Claim::UnevenReplicas { .. } => FaultKind::ReplicaImbalance,
            Claim::WaitsAtEnd { .. } => FaultKind::SynchronousLogging,
            Claim::LargeResponses { .. } => FaultKind::LargeResponses,
            Claim::BandwidthSaturated { .. } => FaultKind::BandwidthLimit,
            Claim::OutcomeNeverOccurs { .. } => FaultKind::OutcomeZero,
        }
    }

    /// Returns the place of a wait that requests have for a turn, and its share of response time; `None` for other claims.
    pub fn wait(&self) -> Option<(&str, f64)> {
        match self {
            Claim::QueuedInFront { service: place, waiting_share, .. }
            | Claim::PacedInFront { service: place, waiting_share, .. }
            | Claim::HeadOfLine { service: place, waiting_share, .. }
            | Claim::PoolExhausted { place, waiting_share, .. } => Some((place, *waiting_share)),
            _ => None,
        }
    }

    /// Returns the detector that makes it.
    pub const fn detector(&self) -> DetectorId {
        match self {
            Claim::ProcessorAtLimit { .. } | Claim::ProcessorsTaken { .. } => DetectorId::Cpu,
            Claim::Throttled { .. } | Claim::QuotaUsedUp { .. } => DetectorId::Throttling,
            Claim::GarbageCollection { .. } | Claim::Pauses { .. } => DetectorId::Pauses,
            Claim::EventLoopBlocked { .. } => DetectorId::EventLoop,
            Claim::CacheEvicts { .. } | Claim::MemoryFull { .. } => DetectorId::Memory,
            Claim::PoolExhausted { .. } => DetectorId::Pool,
            Claim::HeadOfLine { .. } | Claim::CallsInLine { .. } => DetectorId::HeadOfLine,
            Claim::RowLocks { .. } => DetectorId::Locks,
            Claim::LogSync { .. } | Claim::DiskReads { .. } => DetectorId::Disk,
            Claim::ConnectionsDropped { .. } => DetectorId::AcceptQueue,
            Claim::ConnectionsNotReused { .. } => DetectorId::Churn,
            Claim::RepeatedStatement { .. } | Claim::RepeatedCalls { .. } => DetectorId::Repeats,
            Claim::MissingIndex { .. } | Claim::SlowStatement { .. } | Claim::SlowTracedStatement { .. } => {
                DetectorId::Statements
            }
            Claim::BackgroundStatement { .. } | Claim::PeriodicLatency { .. } => DetectorId::Periodic,
            Claim::CacheStampede { .. } => DetectorId::Stampede,
            Claim::SlowCalls { .. }
            | Claim::Unanswered { .. }
            | Claim::NameResolution { .. }
            | Claim::CallsPaced { .. }
            | Claim::CallsHeldBack { .. } => DetectorId::Downstream,
            Claim::Serialised { .. } | Claim::CallsInTurn { .. } => DetectorId::Serial,
            Claim::WorkersBusy { .. }
            | Claim::QueuedInFront { .. }
            | Claim::PacedInFront { .. }
            | Claim::Plateau { .. } => DetectorId::Workers,
            Claim::PrefetchUsedUp { .. } | Claim::FewConsumers { .. } | Claim::HeldByConsumers { .. } => {
                DetectorId::Consumers
            }
            Claim::ScalerAtMaximum { .. } => DetectorId::Scaler,
            Claim::Redelivered { .. } => DetectorId::Redelivery,
            Claim::Refused { .. } => DetectorId::Refusals,
            Claim::UnevenReplicas { .. } => DetectorId::Imbalance,
            Claim::WaitsInWorker { .. } => DetectorId::WorkerMemory,
            Claim::WaitsAtEnd { .. } => DetectorId::Logging,
            Claim::LargeResponses { .. } | Claim::BandwidthSaturated { .. } => DetectorId::Payload,
            Claim::OutcomeNeverOccurs { .. } => DetectorId::Outcome,
        }
    }
}
