//! The catalogue of signals: the time series that sources of evidence produce, by name, unit, kind and role.
//!
//! A signal of a run file or of a user's own query may have any name. [`SignalName`] distinguishes these; analysis and
//! reports ask for a [`SignalId`] or a [`SignalRole`] and never for a name.

mod catalogue;
pub mod label;
mod name;

pub use catalogue::SignalId;
pub use name::SignalName;

/// One signal of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalEntry {
    /// Stable name, in run files and on screen.
    pub name: &'static str,
    /// Unit in UCUM, as sources report it; empty for a number of things.
    pub unit: &'static str,
    /// How its values are to be read.
    pub kind: SignalKind,
    /// Meaning, whichever source reports it.
    pub role: SignalRole,
    /// The signals that can be its limit, the preferred one first.
    pub limits: &'static [SignalId],
    /// One line of documentation.
    pub doc: &'static str,
}

/// How values of a signal are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalKind {
    /// A level at an instant.
    Gauge,
    /// Growth of a counter per second.
    Rate,
    /// A part of a whole, 0 to 1.
    Share,
    /// The most that another signal can reach.
    Limit,
    /// A count since the start of a process.
    Counter,
    /// A mean duration of what ended in the step.
    Mean,
}

/// Meaning of a signal. Signals of one role are alternatives: different exporters report the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalRole {
    /// Accept queue overflows, dropped connections and retransmitted SYNs of servers.
    AcceptDrops,
    /// Database sessions that are active, by wait event.
    ActiveSessions,
    /// Autoscaler held at its minimum or maximum.
    AutoscalerLimited,
    /// Tasks or clients that are blocked.
    Blocked,
    /// Database blocks, from memory or disk.
    Blocks,
    /// Keys that a cache evicts.
    CacheEvictions,
    /// Reads of a cache that find their key.
    CacheHits,
    /// Memory limit of a cache.
    CacheMemoryLimit,
    /// Reads of a cache that find no key.
    CacheMisses,
    /// Connections over which a program calls another.
    CallsOpen,
    /// Calls of a program that have no answer yet.
    CallsUnanswered,
    /// Checkpoints of a database.
    Checkpoints,
    /// Commands of a cache.
    Commands,
    /// Open connections.
    Connections,
    /// Connections that listening sockets accept.
    ConnectionsAccepted,
    /// Connections that a server or a proxy refuses at its limit.
    ConnectionsDropped,
    /// Maximum number of connections.
    ConnectionsLimit,
    /// Ability of a queue's consumers to take messages at once.
    ConsumerCapacity,
    /// Consumers of queues.
    Consumers,
    /// CPU limit of a container or cores of a node.
    CpuLimit,
    /// Waiting for a CPU.
    CpuQueueing,
    /// CPU time that the hypervisor withholds.
    CpuSteal,
    /// CPU use of a machine, a core or a runtime.
    CpuUsage,
    /// Deadlocks of a database.
    Deadlocks,
    /// Open file descriptors.
    Descriptors,
    /// Maximum number of file descriptors.
    DescriptorsLimit,
    /// Utilisation of a disk.
    DiskBusy,
    /// Free disk space.
    DiskFree,
    /// Failed operations.
    Errors,
    /// Event loop lag.
    EventLoopLag,
    /// Keys that expire.
    Expirations,
    /// Garbage collections.
    GcRate,
    /// Share of time spent in garbage collection.
    GcShare,
    /// Maximum heap.
    HeapLimit,
    /// Heap in use.
    HeapUsage,
    /// Operations in flight.
    InFlight,
    /// Keys of a cache.
    Keys,
    /// Waits for locks, per second.
    LockWaits,
    /// Locks held.
    Locks,
    /// Sessions that wait for a lock.
    LocksWaiting,
    /// Lines of a log.
    LogLines,
    /// Memory of a machine or memory limit of a container.
    MemoryLimit,
    /// Memory use of a machine, a container or a process.
    MemoryUsage,
    /// Bytes or segments on the network.
    NetworkTraffic,
    /// Pods of a cluster.
    Pods,
    /// Connections of a pool that are in use.
    PoolInUse,
    /// Requests that wait for a connection of a pool.
    PoolPending,
    /// Maximum size of a connection pool.
    PoolSize,
    /// Wait for a connection of a pool.
    PoolWait,
    /// CPU use of a process or of its container.
    ProcessCpu,
    /// Connections that a proxy accepts.
    ProxyAccepted,
    /// Acknowledged messages.
    QueueAcked,
    /// Delivered messages.
    QueueDelivered,
    /// Messages in a queue, delivered ones included.
    QueueLength,
    /// Messages that consumers of a queue may hold.
    QueuePrefetch,
    /// Published messages.
    QueuePublished,
    /// Messages that wait for a consumer.
    QueueReady,
    /// Messages that consumers hold.
    QueueUnacked,
    /// Replicas of a service.
    Replicas,
    /// Replicas that an autoscaler or a deployment asks for.
    ReplicasDesired,
    /// Maximum number of replicas.
    ReplicasLimit,
    /// Duration of requests at the server.
    RequestDuration,
    /// Requests at the server.
    Requests,
    /// Restarts of containers.
    Restarts,
    /// Retransmitted segments.
    Retransmissions,
    /// Metric that an autoscaler acts on.
    ScalerMetric,
    /// Memory of a cache or a host, which report it under one name.
    ServerMemory,
    /// Requests that wait for a thread of a server.
    ServerPending,
    /// Busy request threads of a server.
    ServerThreads,
    /// Maximum number of request threads.
    ServerThreadsLimit,
    /// Slow statements or commands.
    SlowOperations,
    /// Rows read by sequential scans.
    TableRowsScanned,
    /// Sequential scans.
    TableScans,
    /// Duration of tasks.
    TaskDuration,
    /// Tasks that a worker can execute at once.
    TaskSlots,
    /// Tasks by outcome.
    Tasks,
    /// Tasks in execution.
    TasksActive,
    /// Tasks that a worker holds in reserve.
    TasksReserved,
    /// Data written to temporary files.
    TemporaryFiles,
    /// Threads or goroutines.
    Threads,
    /// CFS periods in which a container was throttled.
    Throttled,
    /// Time for which a container was throttled.
    ThrottledTime,
    /// Duration of transactions.
    TransactionDuration,
    /// Transactions or statements.
    Transactions,
    /// Prefetch of a worker.
    WorkerPrefetch,
    /// Processes of workers.
    WorkerProcesses,
    /// Workers that run.
    Workers,
    /// Workers that answer a ping.
    WorkersAnswering,
}

impl SignalId {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        self.entry().name
    }

    /// Its unit in UCUM.
    pub const fn unit(self) -> &'static str {
        self.entry().unit
    }

    /// The signal that is its limit; of several the preferred one.
    pub fn limit(self) -> Option<SignalId> {
        self.entry().limits.first().copied()
    }
}

impl SignalRole {
    /// The signals of this role.
    pub fn signals(self) -> Vec<SignalId> {
        SignalId::ALL.iter().copied().filter(|id| id.entry().role == self).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_their_entries() {
        for id in SignalId::ALL {
            assert_eq!(SignalId::named(id.as_str()), Some(*id), "{id:?}");
            assert!(!id.entry().doc.is_empty(), "{id:?}");
            assert!(
                id.as_str().chars().all(|char| char.is_ascii_lowercase() || "_0123456789".contains(char)),
                "{id:?}"
            );
        }
        assert_eq!(SignalId::named("queue_of_tomorrow"), None);
    }

    #[test]
    fn limits_are_limits_in_the_same_unit_under_the_expected_name() {
        for id in SignalId::ALL {
            for limit in id.entry().limits {
                assert_eq!(limit.entry().kind, SignalKind::Limit, "{id:?}");
                assert_eq!(limit.unit(), id.unit(), "{id:?}");
            }
            let names: Vec<String> = SignalName::from(*id).limit_names().collect();
            let is_expected = |limit: &SignalId| names.iter().any(|name| name == limit.as_str());
            // OpenTelemetry names its limits differently.
            let is_free = id.as_str().starts_with("db_client_");
            assert!(is_free || id.entry().limits.iter().all(is_expected), "{id:?}: {names:?}");
        }
    }

    #[test]
    fn roles_have_the_alternatives_of_exporters() {
        let check = |role: SignalRole, expect: &[SignalId]| assert_eq!(role.signals(), expect, "{role:?}");
        use SignalId as S;
        check(SignalRole::QueueReady, &[S::QueueReady]);
        check(SignalRole::GcShare, &[S::JvmGcShare, S::GoGcShare, S::NodejsGcShare]);
        check(SignalRole::ProcessCpu, &[S::ListenerCpu, S::ContainerCpu, S::ProcessCpu]);
        check(SignalRole::Workers, &[S::CeleryWorkers, S::WorkerCount]);
        check(SignalRole::ConnectionsAccepted, &[S::ConnectionsTaken, S::NodeConnectionsTaken]);
        check(
            SignalRole::AcceptDrops,
            &[S::SynRepeated, S::ListenDrops, S::ListenOverflows, S::NodeListenOverflows],
        );
        check(SignalRole::ServerMemory, &[S::MemoryUsed, S::RedisMemory]);
        check(SignalRole::CacheMemoryLimit, &[S::MemoryMax, S::RedisMemoryLimit]);
        check(SignalRole::CacheEvictions, &[S::Evicted, S::RedisEvictions]);
        check(SignalRole::CacheHits, &[S::Hits, S::RedisHits]);
        check(SignalRole::CacheMisses, &[S::Misses, S::RedisMisses]);
        check(
            SignalRole::PoolPending,
            &[S::PoolPending, S::DbClientConnectionPendingRequests, S::DbClientConnectionsPendingRequests],
        );
        check(
            SignalRole::PoolSize,
            &[S::PoolActiveLimit, S::DbClientConnectionMax, S::DbClientConnectionsMax],
        );
        check(
            SignalRole::PoolInUse,
            &[S::PoolActive, S::DbClientConnectionUsed, S::DbClientConnectionsUsage],
        );
    }
}
