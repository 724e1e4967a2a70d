//! Everything else that a diagnosis states: remedies, doubts, suspects that are ruled out, and the parts of a prediction.
//!
//! Shares are of 1, times are seconds, rates are per second.

use super::{Resource, ResourceKind};
use crate::Grade;

/// The remedy of a finding.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each field is named by its quantity and unit, as the module says")]
pub enum Remedy {
    /// Do less, or raise the limit of a processor.
    RaiseProcessor { kind: ResourceKind, place: String, limit: f64 },
    /// Leave the cores of a machine to a program.
    FreeProcessors { place: String },
    /// Raise the CPU limit.
    RaiseCpuLimit { place: String },
    /// Allocate less, or use a concurrent collector.
    AllocateLess,
    /// Move long work off the event loop.
    MoveOffEventLoop { place: String },
    /// Raise the memory limit of a cache.
    EnlargeCache { place: String },
    /// Raise the memory limit of a container.
    RaiseMemoryLimit { place: String },
    /// Raise the limit of a connection pool.
    EnlargePool,
    /// Use more connections, or a multiplexing protocol.
    MultiplexConnections,
    /// Hold row locks for less time.
    ShortenTransactions,
    /// Write in batches, or use a faster disk.
    ReduceDiskWaits,
    /// Accept connections faster.
    AcceptFaster,
    /// Keep connections open.
    KeepConnections,
    /// Load everything with one statement.
    BatchStatements,
    /// Create an index.
    CreateIndex,
    /// Ask for less, or cache the result.
    CacheResult,
    /// Run the job less often or elsewhere.
    MoveJob,
    /// Find the job that runs with a period.
    FindJob,
    /// Let one request refill the cache.
    RefillOnce,
    /// Call asynchronously, or less often.
    CallLess,
    /// Cache name resolution.
    CacheLookups,
    /// Raise the rate limit, or batch calls.
    RaiseRateLimit,
    /// Release a lock before a call.
    ReleaseLock { service: String },
    /// Spread the work over several keys.
    SplitKey,
    /// Add workers, or cache the answer of an operation that is this share of the work.
    AddWorkers { service: String, cacheable: Option<(String, f64)> },
    /// Raise the prefetch.
    RaisePrefetch,
    /// Lower the prefetch, or separate long tasks from short ones.
    LowerPrefetch,
    /// Raise the limit of connections of a client, or that of its callee.
    RaiseClientConnections { service: String },
    /// Add consumers.
    AddConsumers,
    /// Raise the maximum of an autoscaler.
    RaiseMaximum { scaler: String },
    /// Acknowledge messages, and set aside those that fail.
    AcknowledgeMessages,
    /// Raise the limit that refuses requests.
    AdmitMore,
    /// Start the target, or correct its address.
    StartTarget,
    /// Fix the balancing of replicas.
    BalanceReplicas,
    /// Raise the memory of a worker.
    RaiseWorkerMemory,
    /// Write logs asynchronously.
    LogAsynchronously,
    /// Paginate and compress responses.
    ShortenResponses,
    /// Raise the bandwidth limit, or send less.
    RaiseBandwidth,
    /// Find out why an outcome never occurs.
    CheckOutcome,
}

/// A doubt about a finding, about its data, or about the whole diagnosis.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each field is named by its quantity and unit, as the module says")]
pub enum Caveat {
    /// Only one run was given.
    OneRun,
    /// The measurement itself is not valid.
    Measurement { grade: Grade },
    /// The load generator waited for a core, which can have added at most the time outside of servers.
    GeneratorWaited { outside_share: f64 },
    /// So many spans exceed the number of operations that are kept apart.
    SpansBeyond { spans: u64 },
    /// Only traces of slow and failed requests were kept.
    BiasedTraces,
    /// Traced requests took longer than all requests.
    TracedAreSlower,
    /// The network's part is a difference of two clocks.
    TwoClocks,
    /// The ways to measure waiting differ.
    WaitEstimatesDiffer { difference_share: f64 },
    /// Stages are not known without traces.
    StagesUnknown,
    /// More than a limit is used, which is impossible.
    OverLimit { peak_share: f64 },
    /// The load hardly varied.
    ConstantLoad,
    /// The machine does not report whose work its core does.
    CoreOwnerUnknown,
    /// More connections help only while the database has capacity.
    DatabaseCapacity,
    /// The CPU quota was not collected.
    QuotaUnknown,
    /// No runtime metric confirms garbage collection.
    CollectorUnconfirmed,
    /// A control group is counted twice.
    CountedTwice { times: f64 },
    /// The counters cover the whole machine.
    MachineWide,
    /// Packet loss looks the same.
    PacketLoss,
    /// The cost of a handshake is not known.
    HandshakeCost { waiting_share: f64 },
    /// Without traces calls are not attributed to requests.
    CallsUnattributed,
    /// The query plan was not collected.
    PlanUnknown,
    /// Sessions of the database sleep or wait for their client in this share of their time.
    SessionsIdle { idle_share: f64 },
    /// Database counters were not collected.
    NoDatabaseCounters,
    /// A request without a trace could execute the statement.
    UntracedRequests,
    /// A periodic load shows the same.
    PeriodicLoad,
    /// Nothing shows that the calls are slower than usual.
    NoBaseline,
    /// A pool of the caller and a limit of the callee look the same.
    PoolOrCallee { at_once: f64 },
    /// More workers alone change nothing.
    WorkersDoNotHelp,
    /// The number of keys is not known.
    KeysUnknown,
    /// The number of workers is not known.
    WorkersUnknown,
    /// The work of the consumers may be the limit.
    ConsumersBusy,
    /// More replicas need capacity on the nodes.
    NodeCapacity,
    /// The throughput that counts repeated work.
    Throughput { per_s: f64 },
    /// The use of the busiest replica is not known.
    BusiestUnconfirmed,
    /// The reason of the wait is not known.
    WaitReasonUnknown,
    /// Any other wait without a span looks the same.
    WaitWithoutSpan,
    /// Only a run with smaller responses would confirm it.
    SizeUnconfirmed,
    /// A slow proxy looks the same.
    SlowProxy,
    /// The fault has no effect on capacity.
    NoCapacityEffect,
}

/// A suspect that was checked and is not it, with the number that shows it.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each field is named by its quantity and unit, as the module says")]
pub enum RuledOut {
    /// The load generator.
    LoadGenerator,
    /// A processor.
    Processor { resource: Resource, used: f64, limit: f64, full_share: f64, at_limit_share: f64 },
    /// CPU throttling.
    Throttling { place: String, throttled_share: f64 },
    /// Garbage collection.
    GarbageCollection { place: String, share: f64 },
    /// Pauses of a service.
    Pauses { place: String, stalled_share: f64 },
    /// Evictions of a cache.
    CacheEvictions { missed_share: f64, evicted_per_s: f64 },
    /// The memory of a container.
    Memory { place: String, peak_share: f64 },
    /// Exhausted connection pools; how many requests wait, where pools report it.
    ConnectionPools { pending: Option<f64> },
    /// Row locks.
    RowLocks { sessions: f64 },
    /// The write-ahead log.
    LogSync { sessions: f64 },
    /// Reads from disk.
    DiskReads { sessions: f64 },
    /// The accept queue.
    AcceptQueue { dropped_per_s: f64 },
    /// New connections.
    ConnectionChurn { taken_per_s: f64, per_request: f64, others_per_s: f64 },
    /// Repeated statements: none.
    NoRepeatedStatements,
    /// Repeated statements that take little time.
    RepeatedStatement { statement: String, times: f64, time_share: f64 },
    /// The slowest statement.
    SlowStatement { statement: String, time_share: f64 },
    /// The largest job beside the requests.
    BackgroundStatement { statement: String, database_share: f64, time_share: f64 },
    /// Calls of other services.
    SlowCalls { service: String, operation: String, time_share: f64 },
    /// A rate limit of another service.
    CallsHeldBack { held: u64, calls: u64 },
    /// Waiting messages.
    Queues { ready: f64 },
    /// Full worker slots.
    WorkerSlots { through_per_s: f64, service_s: f64, busy: f64, slots: f64 },
    /// The maximum of an autoscaler.
    ScalerMaximum { scaler: String, at_maximum_share: f64, waiting_share: f64, replicas: f64, maximum: f64 },
    /// Redelivered messages.
    Redelivery { queue: String, again_share: f64 },
    /// Uneven replicas.
    UnevenReplicas { group: String, replicas: usize, times: f64 },
    /// The size of responses.
    ResponseSize { body_bytes: f64 },
}

/// The change that a prediction is about.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each field is named by its quantity and unit, as the module says")]
pub enum Change {
    /// A processor has another limit.
    ProcessorLimit { kind: ResourceKind, place: String, from: f64, to: f64 },
    /// The CPU limit is raised.
    CpuLimitRaised,
    /// There are no pauses.
    NoPauses,
    /// No callback blocks the event loop.
    LoopFree,
    /// The cache evicts nothing.
    NoEvictions,
    /// The pool has enough connections.
    EnoughConnections,
    /// A limit of concurrency is raised.
    Slots { kind: SlotKind, from: f64, to: f64 },
    /// Calls do not wait for a connection.
    NoConnectionWait,
    /// No session waits for a lock.
    NoLockWait,
    /// No session waits for the disk.
    NoDiskWait,
    /// No connection is dropped.
    NoDroppedConnections,
    /// One statement replaces many.
    OneStatement,
    /// The index exists.
    IndexExists,
    /// A statement takes next to no time, or all statements on its tables do.
    StatementFast { alike: usize },
    /// The result of a statement is cached.
    ResultCached,
    /// The answer of an operation is cached.
    AnswerCached { operation: String },
    /// The job does not run.
    NoJob,
    /// The cache is refilled once per expiry.
    OneRefill,
    /// No request waits for the call.
    NoCallWait,
    /// No call is queued by a rate limit.
    NoRateLimit,
    /// Nothing is serialised.
    NoSerialisation,
    /// There are enough workers.
    EnoughWorkers,
    /// A proxy in front gets more replicas.
    MoreProxies { service: String },
    /// The prefetch is large enough.
    EnoughPrefetch,
    /// No task waits for a consumer.
    EnoughConsumers,
    /// The maximum of the autoscaler is raised.
    MaximumRaised,
    /// No message is redelivered.
    NoRedelivery,
    /// Replicas share the load.
    BalancedReplicas,
    /// Nothing waits inside the worker.
    NoWorkerWait,
    /// Requests do not wait at their end.
    NoEndWait,
    /// Responses are a tenth as large.
    SmallResponses,
    /// The link has spare bandwidth.
    EnoughBandwidth,
}

/// The things that a limit of concurrency counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotKind {
    /// Connections of a pool.
    Connections,
    /// Workers of a service.
    Workers,
    /// Consumers of a queue.
    Consumers,
}

/// The limit after a change.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each field is named by its quantity and unit, as the module says")]
pub enum NextLimit {
    /// A resource, at this rate where it is known.
    Resource { resource: Resource, ceiling_per_s: Option<f64> },
    /// The raised limit of concurrency again.
    SameSlots,
    /// The same resource again.
    Same { resource: Resource },
    /// The number of virtual users; above them a resource.
    Users { resource: Resource, ceiling_per_s: f64 },
    /// The number of virtual users, or the largest remaining part.
    UsersOrRemainder,
    /// The largest remaining part of the time.
    Remainder,
    /// A resource that all replicas share.
    Shared,
    /// A service, as before.
    Unchanged { service: String },
    /// Unknown, since no resource reported its use against a limit.
    Unknown,
}

/// The measurement that refutes a prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "each field is named by its quantity and unit, as the module says")]
pub enum Refutation {
    /// Throughput stays below this.
    ThroughputBelow { per_s: f64 },
    /// Throughput stays below this under a higher offered load.
    ThroughputBelowOffered { per_s: f64 },
    /// Throughput rises above this.
    ThroughputAbove { per_s: f64 },
    /// The mean response time stays above this.
    MeanAbove { seconds: f64 },
}
