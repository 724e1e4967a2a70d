//! The kinds of faults that a diagnosis finds, the detectors that find them, and the evidence that they need.

use super::code::codes;

codes! {
    /// A kind of fault, in the field's words, as the lab labels it.
    FaultKind {
        /// A process or container uses all of its CPU limit.
        CpuLimit = "CPU limit",
        /// The cores of a machine are busy.
        CpuSaturated = "CPU saturated",
        /// A service stops as a whole.
        StopTheWorld = "stop-the-world pauses",
        /// A callback blocks the event loop of a service.
        EventLoop = "event loop blocked",
        /// Memory is used up.
        MemoryLimit = "memory limit",
        /// Requests wait for a database connection.
        PoolExhausted = "connection pool too small",
        /// Requests wait behind another response on the same connection.
        HeadOfLine = "head-of-line blocking",
        /// Sessions wait for locks of other transactions.
        RowLocks = "row lock contention",
        /// Commits wait for the write-ahead log.
        LogSync = "database log sync",
        /// Sessions wait for blocks from disk.
        DiskReads = "database reads from disk",
        /// The kernel drops new connections.
        AcceptQueue = "accept-queue overflow",
        /// Nearly every request opens a connection.
        ConnectionChurn = "connection churn",
        /// One statement runs again and again in one request.
        RepeatedStatements = "N+1 queries",
        /// A statement scans for want of an index.
        MissingIndex = "missing index",
        /// A statement takes most of the database time.
        SlowStatement = "slow statement",
        /// A scheduled job competes with requests.
        PeriodicJob = "periodic job",
        /// Many requests refill an expired cache entry at once.
        CacheStampede = "cache stampede",
        /// Calls of another service take the time.
        SlowDownstream = "slow downstream",
        /// Another service limits the rate of calls.
        DownstreamRateLimit = "downstream rate limit",
        /// Name resolution takes the time.
        DnsDelay = "DNS delay",
        /// Work is serialised on one key or lock.
        HotKey = "hot key",
        /// A service processes a fixed number of requests at once.
        TooFewWorkers = "too few workers",
        /// Too few consumers take from a queue.
        TooFewConsumers = "too few consumers",
        /// Consumers may hold too few messages.
        PrefetchTooSmall = "prefetch too small",
        /// An autoscaler is at its maximum.
        ScalerCeiling = "scaler ceiling",
        /// Messages are processed more than once.
        Redelivery = "redelivered messages",
        /// A part of the requests is refused.
        Refusals = "requests refused",
        /// Replicas do not share the load.
        ReplicaImbalance = "replica imbalance",
        /// Requests wait for a log write at their end.
        SynchronousLogging = "synchronous logging",
        /// Responses are large.
        LargeResponses = "chatty serialisation",
        /// Response bandwidth is saturated.
        BandwidthLimit = "bandwidth limit",
        /// A business outcome never occurs.
        OutcomeZero = "business outcome is zero",
    }
}

codes! {
    /// A detector of the diagnosis.
    DetectorId {
        /// Processors at their limit.
        Cpu = "cpu-limit",
        /// CPU quotas that are used up.
        Throttling = "throttling",
        /// Stop-the-world pauses.
        Pauses = "stop-the-world",
        /// Blocked event loops.
        EventLoop = "event-loop",
        /// Memory limits of caches and containers.
        Memory = "memory-limit",
        /// Waits for database connections.
        Pool = "connection-pool",
        /// Waits for connections to other services.
        HeadOfLine = "head-of-line",
        /// Lock waits.
        Locks = "lock-wait",
        /// Waits of a database for its disk.
        Disk = "database-disk",
        /// Dropped connections.
        AcceptQueue = "accept-queue",
        /// Connections that are not reused.
        Churn = "connection-churn",
        /// Repeated statements.
        Repeats = "repeated-statements",
        /// Slow statements and missing indexes.
        Statements = "statement",
        /// Periodic jobs.
        Periodic = "periodic-load",
        /// Cache stampedes.
        Stampede = "stampede",
        /// Calls of other services.
        Downstream = "downstream",
        /// Serialised work.
        Serial = "one-at-a-time",
        /// Queue consumers and their prefetch.
        Consumers = "consumers",
        /// Autoscalers.
        Scaler = "scaler-ceiling",
        /// Redelivered messages.
        Redelivery = "redelivery",
        /// Refused requests.
        Refusals = "refusals",
        /// Uneven replicas.
        Imbalance = "replica-imbalance",
        /// Waits inside workers.
        WorkerMemory = "worker-memory",
        /// Waits at the end of requests.
        Logging = "waits-at-the-end",
        /// Large responses and full links.
        Payload = "payload",
        /// Outcomes that never occur.
        Outcome = "outcome-zero",
        /// Worker slots of services.
        Workers = "workers",
    }
}

codes! {
    /// Evidence that was not collected. The order is that of reports.
    MissingKind {
        /// CPU use of the servers.
        ServerProcessors = "processors",
        /// Queue metrics of the message broker.
        Broker = "broker",
        /// Statistics of the database.
        DatabaseCounters = "database",
        /// TCP counters of the servers' kernels.
        KernelCounters = "kernel",
        /// Connection pool metrics.
        ConnectionPools = "pools",
        /// Distributed traces.
        Traces = "traces",
        /// A server's own metrics of its workers and threads.
        ServerWorkers = "workers",
    }
}

codes! {
    /// A kind of resource with a limit.
    ResourceKind {
        /// The CPU limit of a container.
        Cpu = "CPU",
        /// The CPU of a node.
        NodeCpu = "CPU of the node",
        /// A core of a machine.
        Core = "core",
        /// The CPU that a program on a machine can have.
        ProgramCpu = "CPU of the program",
        /// The CPU of a program whose threads compute one at a time.
        OneThread = "CPU of the program, one thread at a time",
        /// One thread of a program, which a core can run.
        Thread = "thread",
        /// The CPU of a JVM process.
        JvmCpu = "CPU of the JVM",
        /// A disk.
        Disk = "disk",
        /// The threads of a server.
        Threads = "threads",
        /// The task slots of workers.
        TaskSlots = "slots",
        /// The client connections of a server.
        Clients = "clients",
    }
}

/// A resource: its kind, and the container, node, core or server that has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Resource {
    /// Its kind.
    pub kind: ResourceKind,
    /// Where it is.
    pub place: String,
}
