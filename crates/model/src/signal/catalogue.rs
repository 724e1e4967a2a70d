//! Every signal that Plimsoll knows, one entry each. Names are stored in run files and shown to users; they never change.

use super::{SignalEntry, SignalKind, SignalRole};

/// Makes the identifiers, their list, the table and the lookup from one list of entries:
/// `/// Doc` and then `Variant "name" "unit" Kind Role [limits]`.
macro_rules! signals {
    ($(#[doc = $doc:literal] $id:ident $name:literal $unit:literal $kind:ident $role:ident $([$($limit:ident)+])?,)+) => {
        /// A signal that Plimsoll knows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum SignalId {
            $(#[doc = $doc] $id,)+
        }

        /// The entries, in the order of the identifiers.
        const ENTRIES: &[SignalEntry] = &[$(SignalEntry {
            name: $name,
            unit: $unit,
            kind: SignalKind::$kind,
            role: SignalRole::$role,
            limits: &[$($(SignalId::$limit,)+)?],
            doc: $doc.trim_ascii(),
        },)+];

        impl SignalId {
            /// All of them, in the order of the catalogue.
            pub const ALL: &[SignalId] = &[$(SignalId::$id,)+];

            /// The signal of this name, if it is in the catalogue.
            pub fn named(name: &str) -> Option<SignalId> {
                match name {
                    $($name => Some(SignalId::$id),)+
                    _ => None,
                }
            }
        }
    };
}

impl SignalId {
    /// Its entry in the catalogue.
    pub const fn entry(self) -> &'static SignalEntry {
        &ENTRIES[self as usize]
    }
}

signals! {
    // Hosts: the direct source, and the node exporter.
    /// Share of all cores' time that is used.
    Cpu "cpu" "1" Share CpuUsage,
    /// Share of a core's time that is used.
    CoreCpu "core_cpu" "1" Share CpuUsage,
    /// Share of time in which at least one task waits for a CPU (PSI).
    CpuWaiting "cpu_waiting" "1" Share CpuQueueing,
    /// Tasks that run or wait for a CPU.
    RunQueue "run_queue" "" Gauge CpuQueueing,
    /// Tasks blocked on I/O; of Redis, clients in a blocking command.
    Blocked "blocked" "" Gauge Blocked,
    /// CPU use of a program on this machine that the load reaches.
    ListenerCpu "listener_cpu" "{cpu}" Rate ProcessCpu,
    /// Share of a core's time that the busiest thread of such a program uses.
    ListenerThread "listener_thread" "1" Share CpuUsage,
    /// Threads of such a program that are ready to run and wait for a CPU.
    ListenerWaiting "listener_waiting" "" Gauge CpuQueueing,
    /// Connections that such a program has not accepted yet.
    ListenerQueue "listener_queue" "{connection}" Gauge ServerPending,
    /// Connections of such a program to another one.
    CallsOpen "calls_open" "{connection}" Gauge CallsOpen,
    /// Those of them on which it waits for an answer.
    CallsUnanswered "calls_unanswered" "{call}" Gauge CallsUnanswered,
    /// Memory in use, of a host or a cache.
    MemoryUsed "memory_used" "By" Gauge ServerMemory [MemoryMax MemoryLimit],
    /// Memory of a host.
    MemoryLimit "memory_limit" "By" Limit MemoryLimit,
    /// Bytes received per second by an interface.
    NetworkIn "network_in" "By/s" Rate NetworkTraffic,
    /// Bytes sent per second by an interface.
    NetworkOut "network_out" "By/s" Rate NetworkTraffic,
    /// TCP segments sent per second.
    SegmentsSent "segments_sent" "/s" Rate NetworkTraffic,
    /// TCP segments retransmitted per second.
    SegmentsRepeated "segments_repeated" "/s" Rate Retransmissions,
    /// SYN or SYN-ACK segments retransmitted per second.
    SynRepeated "syn_repeated" "/s" Rate AcceptDrops,
    /// Connections per second that a listening socket dropped.
    ListenDrops "listen_drops" "/s" Rate AcceptDrops,
    /// Overflows of accept queues per second.
    ListenOverflows "listen_overflows" "/s" Rate AcceptDrops,
    /// Connections accepted per second by all listening sockets.
    ConnectionsTaken "connections_taken" "/s" Rate ConnectionsAccepted,
    /// Cores of a node that are in use.
    NodeCpu "node_cpu" "{cpu}" Rate CpuUsage [NodeCpuLimit],
    /// Cores of a node.
    NodeCpuLimit "node_cpu_limit" "{cpu}" Limit CpuLimit,
    /// Cores of a node whose time the hypervisor withholds.
    NodeCpuSteal "node_cpu_steal" "{cpu}" Rate CpuSteal,
    /// Processes of a node that run or wait for a CPU.
    NodeRunQueue "node_run_queue" "" Gauge CpuQueueing,
    /// Share of time in which at least one task of a node waits for a CPU (PSI).
    NodeCpuWaiting "node_cpu_waiting" "1" Share CpuQueueing,
    /// Memory of a node that is not available; of a RabbitMQ node, memory in use.
    NodeMemory "node_memory" "By" Gauge MemoryUsage [NodeMemoryLimit],
    /// Memory of a node; of a RabbitMQ node, its high watermark.
    NodeMemoryLimit "node_memory_limit" "By" Limit MemoryLimit,
    /// Share of time in which a disk serves requests.
    NodeDiskBusy "node_disk_busy" "1" Share DiskBusy,
    /// Bytes received per second by a node.
    NodeNetworkIn "node_network_in" "By/s" Rate NetworkTraffic,
    /// Bytes sent per second by a node.
    NodeNetworkOut "node_network_out" "By/s" Rate NetworkTraffic,
    /// TCP segments retransmitted per second by a node.
    NodeSegmentsRepeated "node_segments_repeated" "/s" Rate Retransmissions,
    /// Overflows of accept queues per second on a node.
    NodeListenOverflows "node_listen_overflows" "/s" Rate AcceptDrops,
    /// Connections accepted per second on a node.
    NodeConnectionsTaken "node_connections_taken" "/s" Rate ConnectionsAccepted,
    /// File descriptors in use by a RabbitMQ node.
    NodeFiles "node_files" "" Gauge Descriptors [NodeFilesLimit],
    /// File descriptors that a RabbitMQ node may open.
    NodeFilesLimit "node_files_limit" "" Limit DescriptorsLimit,
    /// Sockets in use by a RabbitMQ node.
    NodeSockets "node_sockets" "" Gauge Connections [NodeSocketsLimit],
    /// Sockets that a RabbitMQ node may open.
    NodeSocketsLimit "node_sockets_limit" "" Limit ConnectionsLimit,
    /// Free disk space of a RabbitMQ node.
    NodeDiskFree "node_disk_free" "By" Gauge DiskFree,

    // Containers and orchestration.
    /// Cores that a container uses.
    ContainerCpu "container_cpu" "{cpu}" Rate ProcessCpu [ContainerCpuLimit],
    /// CPU limit of a container, in cores.
    ContainerCpuLimit "container_cpu_limit" "{cpu}" Limit CpuLimit,
    /// Share of a container's CFS periods in which it was throttled.
    ContainerThrottled "container_throttled" "1" Share Throttled,
    /// Throttled time of a container per second.
    ContainerThrottledTime "container_throttled_time" "1" Share ThrottledTime,
    /// Working set of a container.
    ContainerMemory "container_memory" "By" Gauge MemoryUsage [ContainerMemoryLimit],
    /// Memory limit of a container.
    ContainerMemoryLimit "container_memory_limit" "By" Limit MemoryLimit,
    /// Restarts of a container since it was created.
    ContainerRestarts "container_restarts" "" Counter Restarts,
    /// 1 if a container was last terminated by the OOM killer.
    ContainerOomKilled "container_oom_killed" "" Gauge Restarts,
    /// Pods in a phase.
    Pods "pods" "" Gauge Pods,
    /// Pods that are not scheduled yet.
    PodsPending "pods_pending" "" Gauge Pods,
    /// Replicas of a deployment.
    DeploymentReplicas "deployment_replicas" "" Gauge Replicas,
    /// Available replicas of a deployment.
    DeploymentReplicasAvailable "deployment_replicas_available" "" Gauge Replicas,
    /// Desired replicas of a deployment.
    DeploymentReplicasWanted "deployment_replicas_wanted" "" Gauge ReplicasDesired,
    /// Current replicas of an autoscaler's target.
    HpaReplicas "hpa_replicas" "" Gauge Replicas [HpaReplicasLimit],
    /// Desired replicas of an autoscaler's target.
    HpaReplicasWanted "hpa_replicas_wanted" "" Gauge ReplicasDesired,
    /// Maximum replicas of an autoscaler.
    HpaReplicasLimit "hpa_replicas_limit" "" Limit ReplicasLimit,
    /// 1 while an autoscaler is held at its minimum or maximum.
    AutoscalerLimited "autoscaler_limited" "1" Gauge AutoscalerLimited,
    /// Value of a KEDA scaler's metric.
    KedaScalerValue "keda_scaler_value" "" Gauge ScalerMetric,
    /// 1 while a KEDA scaler is active.
    KedaScalerActive "keda_scaler_active" "" Gauge ScalerMetric,
    /// Errors of a KEDA scaler per second.
    KedaScalerErrors "keda_scaler_errors" "/s" Rate Errors,

    // Processes and language runtimes.
    /// Cores that a process uses.
    ProcessCpu "process_cpu" "{cpu}" Rate ProcessCpu,
    /// Resident memory of a process.
    ProcessMemory "process_memory" "By" Gauge MemoryUsage,
    /// Open file descriptors of a process.
    ProcessDescriptors "process_descriptors" "" Gauge Descriptors [ProcessDescriptorsLimit],
    /// File descriptors that a process may open.
    ProcessDescriptorsLimit "process_descriptors_limit" "" Limit DescriptorsLimit,
    /// Heap of a JVM in use.
    JvmHeap "jvm_heap" "By" Gauge HeapUsage [JvmHeapLimit],
    /// Maximum heap of a JVM.
    JvmHeapLimit "jvm_heap_limit" "By" Limit HeapLimit,
    /// Garbage collections of a JVM per second.
    JvmGc "jvm_gc" "/s" Rate GcRate,
    /// Share of time that a JVM spends in garbage collection.
    JvmGcShare "jvm_gc_share" "1" Share GcShare,
    /// Threads of a JVM.
    JvmThreads "jvm_threads" "" Gauge Threads,
    /// Share of all cores that a JVM uses.
    JvmProcessCpu "jvm_process_cpu" "1" Share CpuUsage,
    /// Goroutines.
    GoGoroutines "go_goroutines" "" Gauge Threads,
    /// Operating system threads of a Go process.
    GoThreads "go_threads" "" Gauge Threads,
    /// Heap of a Go process in use.
    GoHeap "go_heap" "By" Gauge HeapUsage,
    /// Garbage collections of a Go process per second.
    GoGc "go_gc" "/s" Rate GcRate,
    /// Share of time that a Go process is stopped for garbage collection.
    GoGcShare "go_gc_share" "1" Share GcShare,
    /// 99th percentile of Node.js' event loop lag.
    NodejsLagP99 "nodejs_lag_p99" "s" Gauge EventLoopLag,
    /// Mean of Node.js' event loop lag.
    NodejsLagMean "nodejs_lag_mean" "s" Gauge EventLoopLag,
    /// Heap of a Node.js process in use.
    NodejsHeap "nodejs_heap" "By" Gauge HeapUsage,
    /// Garbage collections of a Node.js process per second.
    NodejsGc "nodejs_gc" "/s" Rate GcRate,
    /// Share of time that a Node.js process spends in garbage collection.
    NodejsGcShare "nodejs_gc_share" "1" Share GcShare,
    /// Active libuv requests of a Node.js process.
    NodejsRequests "nodejs_requests" "" Gauge InFlight,

    // HTTP servers and connection pools.
    /// Requests per second of a route.
    ServerRequests "server_requests" "/s" Rate Requests,
    /// Responses with a 5xx status per second of a route.
    ServerErrors "server_errors" "/s" Rate Errors,
    /// Mean duration of a route's requests.
    ServerRequestMean "server_request_mean" "s" Mean RequestDuration,
    /// Busy request threads of a server.
    ServerThreads "server_threads" "" Gauge ServerThreads [ServerThreadsLimit],
    /// Request threads that a server may have.
    ServerThreadsLimit "server_threads_limit" "" Limit ServerThreadsLimit,
    /// Requests that a server has accepted and that wait for one of its threads, processes or connections.
    ServerPending "server_pending" "{request}" Gauge ServerPending,
    /// Connections of a pool in use (HikariCP).
    PoolActive "pool_active" "" Gauge PoolInUse [PoolActiveLimit],
    /// Maximum size of a pool (HikariCP).
    PoolActiveLimit "pool_active_limit" "" Limit PoolSize,
    /// Threads that wait for a connection of a pool (HikariCP).
    PoolPending "pool_pending" "" Gauge PoolPending,
    /// Mean wait for a connection of a pool (HikariCP).
    PoolWaitMean "pool_wait_mean" "s" Mean PoolWait,
    /// Waits for a connection that timed out, per second (HikariCP).
    PoolTimeouts "pool_timeouts" "/s" Rate Errors,
    /// Connections of a pool in use (OpenTelemetry).
    DbClientConnectionUsed "db_client_connection_used" "{connection}" Gauge PoolInUse [DbClientConnectionMax],
    /// Maximum size of a pool (OpenTelemetry).
    DbClientConnectionMax "db_client_connection_max" "{connection}" Limit PoolSize,
    /// Requests that wait for a connection (OpenTelemetry).
    DbClientConnectionPendingRequests "db_client_connection_pending_requests" "{request}" Gauge PoolPending,
    /// Connections of a pool in use (OpenTelemetry before 1.26).
    DbClientConnectionsUsage "db_client_connections_usage" "{connection}" Gauge PoolInUse [DbClientConnectionsMax],
    /// Maximum size of a pool (OpenTelemetry before 1.26).
    DbClientConnectionsMax "db_client_connections_max" "{connection}" Limit PoolSize,
    /// Requests that wait for a connection (OpenTelemetry before 1.26).
    DbClientConnectionsPendingRequests "db_client_connections_pending_requests" "{request}" Gauge PoolPending,

    // Databases.
    /// Active sessions by wait event, PostgreSQL's own source.
    ActiveSessions "active_sessions" "" Gauge ActiveSessions,
    /// Sessions that wait for a lock.
    LocksWaiting "locks_waiting" "" Gauge LocksWaiting,
    /// Connections by state.
    Connections "connections" "{connection}" Gauge Connections [ConnectionsMax],
    /// Maximum number of connections.
    ConnectionsMax "connections_max" "{connection}" Limit ConnectionsLimit,
    /// Transactions committed per second.
    Commits "commits" "1/s" Rate Transactions,
    /// Transactions rolled back per second.
    Rollbacks "rollbacks" "1/s" Rate Transactions,
    /// Blocks per second found in shared buffers.
    BlocksHit "blocks_hit" "1/s" Rate Blocks,
    /// Blocks per second read from disk or the page cache.
    BlocksRead "blocks_read" "1/s" Rate Blocks,
    /// Bytes per second written to temporary files.
    TempBytes "temp_bytes" "By/s" Rate TemporaryFiles,
    /// Deadlocks per second.
    Deadlocks "deadlocks" "1/s" Rate Deadlocks,
    /// Checkpoints per second.
    Checkpoints "checkpoints" "1/s" Rate Checkpoints,
    /// Blocks per second written by checkpoints.
    CheckpointBlocks "checkpoint_blocks" "1/s" Rate Checkpoints,
    /// Sequential scans of a table per second.
    TableScans "table_scans" "1/s" Rate TableScans,
    /// Rows per second read by sequential scans of a table.
    TableRowsScanned "table_rows_scanned" "1/s" Rate TableRowsScanned,
    /// Transactions committed per second (postgres_exporter).
    PgCommits "pg_commits" "/s" Rate Transactions,
    /// Transactions rolled back per second (postgres_exporter).
    PgRollbacks "pg_rollbacks" "/s" Rate Transactions,
    /// Connections of a server (postgres_exporter).
    PgConnections "pg_connections" "" Gauge Connections [PgConnectionsLimit],
    /// Maximum number of connections (postgres_exporter).
    PgConnectionsLimit "pg_connections_limit" "" Limit ConnectionsLimit,
    /// Connections in state active (postgres_exporter).
    PgConnectionsActive "pg_connections_active" "" Gauge Connections,
    /// Blocks per second read from disk or the page cache (postgres_exporter).
    PgBlocksRead "pg_blocks_read" "/s" Rate Blocks,
    /// Blocks per second found in shared buffers (postgres_exporter).
    PgBlocksHit "pg_blocks_hit" "/s" Rate Blocks,
    /// Deadlocks per second (postgres_exporter).
    PgDeadlocks "pg_deadlocks" "/s" Rate Deadlocks,
    /// Bytes per second written to temporary files (postgres_exporter).
    PgTemporaryBytes "pg_temporary_bytes" "By/s" Rate TemporaryFiles,
    /// Duration of the longest open transaction (postgres_exporter).
    PgTransactionMax "pg_transaction_max" "s" Gauge TransactionDuration,
    /// Locks by mode (postgres_exporter).
    PgLocks "pg_locks" "" Gauge Locks,
    /// Statements per second (mysqld_exporter).
    MysqlQueries "mysql_queries" "/s" Rate Transactions,
    /// Slow statements per second (mysqld_exporter).
    MysqlQueriesSlow "mysql_queries_slow" "/s" Rate SlowOperations,
    /// Threads that run a statement (mysqld_exporter).
    MysqlThreadsRunning "mysql_threads_running" "" Gauge Threads,
    /// Connections of a server (mysqld_exporter).
    MysqlConnections "mysql_connections" "" Gauge Connections [MysqlConnectionsLimit],
    /// Maximum number of connections (mysqld_exporter).
    MysqlConnectionsLimit "mysql_connections_limit" "" Limit ConnectionsLimit,
    /// Waits for InnoDB row locks per second (mysqld_exporter).
    MysqlRowLockWaits "mysql_row_lock_waits" "/s" Rate LockWaits,
    /// Sessions that wait for InnoDB row locks, by the total time of their waits (mysqld_exporter).
    MysqlRowLockTime "mysql_row_lock_time" "" Rate LocksWaiting,
    /// InnoDB reads from disk per second (mysqld_exporter).
    MysqlReads "mysql_reads" "/s" Rate Blocks,

    // Caches.
    /// Memory limit of a cache.
    MemoryMax "memory_max" "By" Limit CacheMemoryLimit,
    /// Resident memory of a cache.
    MemoryRss "memory_rss" "By" Gauge MemoryUsage,
    /// Connected clients.
    Clients "clients" "" Gauge Connections [ClientsMax],
    /// Maximum number of clients.
    ClientsMax "clients_max" "" Limit ConnectionsLimit,
    /// Commands per second.
    Ops "ops" "1/s" Rate Commands,
    /// Reads per second that found their key.
    Hits "hits" "1/s" Rate CacheHits,
    /// Reads per second that found no key.
    Misses "misses" "1/s" Rate CacheMisses,
    /// Keys evicted per second.
    Evicted "evicted" "1/s" Rate CacheEvictions,
    /// Keys expired per second.
    Expired "expired" "1/s" Rate Expirations,
    /// Connections refused per second at the limit of clients.
    RejectedConnections "rejected_connections" "1/s" Rate ConnectionsDropped,
    /// Bytes received per second.
    BytesIn "bytes_in" "By/s" Rate NetworkTraffic,
    /// Bytes sent per second.
    BytesOut "bytes_out" "By/s" Rate NetworkTraffic,
    /// Keys of a database.
    Keys "keys" "" Gauge Keys,
    /// Slow commands per second.
    SlowCommands "slow_commands" "1/s" Rate SlowOperations,
    /// Commands per second (redis_exporter).
    RedisCommands "redis_commands" "/s" Rate Commands,
    /// Memory in use (redis_exporter).
    RedisMemory "redis_memory" "By" Gauge ServerMemory [RedisMemoryLimit],
    /// Memory limit (redis_exporter).
    RedisMemoryLimit "redis_memory_limit" "By" Limit CacheMemoryLimit,
    /// Connected clients (redis_exporter).
    RedisClients "redis_clients" "" Gauge Connections [RedisClientsLimit],
    /// Maximum number of clients (redis_exporter).
    RedisClientsLimit "redis_clients_limit" "" Limit ConnectionsLimit,
    /// Clients in a blocking command (redis_exporter).
    RedisClientsBlocked "redis_clients_blocked" "" Gauge Blocked,
    /// Keys evicted per second (redis_exporter).
    RedisEvictions "redis_evictions" "/s" Rate CacheEvictions,
    /// Reads per second that found their key (redis_exporter).
    RedisHits "redis_hits" "/s" Rate CacheHits,
    /// Reads per second that found no key (redis_exporter).
    RedisMisses "redis_misses" "/s" Rate CacheMisses,

    // Brokers and workers.
    /// Messages that are ready for delivery.
    QueueReady "queue_ready" "" Gauge QueueReady,
    /// Messages delivered and not acknowledged yet.
    QueueUnacked "queue_unacked" "" Gauge QueueUnacked,
    /// Consumers of a queue.
    QueueConsumers "queue_consumers" "" Gauge Consumers,
    /// Memory of a queue.
    QueueMemory "queue_memory" "By" Gauge MemoryUsage,
    /// Messages published per second to a queue.
    QueuePublished "queue_published" "1/s" Rate QueuePublished,
    /// Messages delivered per second from a queue.
    QueueDelivered "queue_delivered" "1/s" Rate QueueDelivered,
    /// Messages acknowledged per second.
    QueueAcked "queue_acked" "1/s" Rate QueueAcked,
    /// Share of time in which a queue can deliver to its consumers at once.
    QueueUtilisation "queue_utilisation" "1" Share ConsumerCapacity,
    /// Prefetch counts of all consumers of a queue, added up.
    QueuePrefetch "queue_prefetch" "" Limit QueuePrefetch,
    /// Share of time in which a queue can deliver to its consumers at once (rabbitmq_prometheus).
    QueueConsumerCapacity "queue_consumer_capacity" "1" Share ConsumerCapacity,
    /// Messages received per second by a node (rabbitmq_prometheus).
    RabbitmqReceived "rabbitmq_received" "/s" Rate QueuePublished,
    /// Messages acknowledged per second on a node (rabbitmq_prometheus).
    RabbitmqAcknowledged "rabbitmq_acknowledged" "/s" Rate QueueAcked,
    /// Memory of a node (rabbitmq_prometheus).
    RabbitmqMemory "rabbitmq_memory" "By" Gauge MemoryUsage [RabbitmqMemoryLimit],
    /// Memory high watermark of a node (rabbitmq_prometheus).
    RabbitmqMemoryLimit "rabbitmq_memory_limit" "By" Limit MemoryLimit,
    /// Celery workers that answer (Flower).
    Workers "workers" "" Gauge WorkersAnswering,
    /// Tasks finished per second (Flower).
    TasksDone "tasks_done" "1/s" Rate Tasks,
    /// Tasks that a worker executes (Flower).
    TasksActive "tasks_active" "" Gauge TasksActive [TasksActiveMax],
    /// Tasks that a worker can execute at once (Flower).
    TasksActiveMax "tasks_active_max" "" Limit TaskSlots,
    /// Tasks that a worker has reserved (Flower).
    TasksReserved "tasks_reserved" "" Gauge TasksReserved,
    /// Prefetch count of a worker (Flower).
    Prefetch "prefetch" "" Limit WorkerPrefetch,
    /// Processes of a worker's pool (Flower).
    Processes "processes" "" Gauge WorkerProcesses,
    /// Celery workers that are up (celery-exporter).
    CeleryWorkers "celery_workers" "" Gauge Workers,
    /// Tasks that a worker executes (celery-exporter).
    CeleryTasksActive "celery_tasks_active" "" Gauge TasksActive,
    /// Messages in a queue (celery-exporter).
    CeleryQueueLength "celery_queue_length" "" Gauge QueueLength,
    /// Consumers of a queue (celery-exporter).
    CeleryConsumers "celery_consumers" "" Gauge Consumers,
    /// Worker processes that serve a queue (celery-exporter).
    CeleryProcesses "celery_processes" "" Gauge WorkerProcesses,
    /// Tasks received per second (celery-exporter).
    CeleryReceived "celery_received" "/s" Rate Tasks,
    /// Tasks that succeeded per second (celery-exporter).
    CelerySucceeded "celery_succeeded" "/s" Rate Tasks,
    /// Tasks that failed per second (celery-exporter).
    CeleryFailed "celery_failed" "/s" Rate Errors,
    /// Tasks retried per second (celery-exporter).
    CeleryRetried "celery_retried" "/s" Rate Tasks,
    /// Mean runtime of a task (celery-exporter).
    CeleryTaskMean "celery_task_mean" "s" Mean TaskDuration,
    /// Workers that run, as a service's own metrics count them.
    WorkerCount "worker_count" "" Gauge Workers,

    // Proxies.
    /// Open connections of a proxy.
    ConnectionsActive "connections_active" "{connection}" Gauge Connections,
    /// Connections whose request is being read.
    Reading "reading" "{connection}" Gauge Connections,
    /// Connections to which a response is being written.
    Writing "writing" "{connection}" Gauge Connections,
    /// Idle keep-alive connections.
    Waiting "waiting" "{connection}" Gauge Connections,
    /// Connections accepted per second by a proxy.
    ConnectionsAccepted "connections_accepted" "1/s" Rate ProxyAccepted,
    /// Connections dropped per second by a proxy at its limit.
    ConnectionsDropped "connections_dropped" "1/s" Rate ConnectionsDropped,
    /// Requests per second.
    Requests "requests" "1/s" Rate Requests,
    /// Requests per second (nginx-prometheus-exporter).
    NginxRequests "nginx_requests" "/s" Rate Requests,
    /// Open connections (nginx-prometheus-exporter).
    NginxConnections "nginx_connections" "" Gauge Connections,
    /// Idle keep-alive connections (nginx-prometheus-exporter).
    NginxConnectionsWaiting "nginx_connections_waiting" "" Gauge Connections,
    /// Connections accepted and not handled since the start (nginx-prometheus-exporter).
    NginxConnectionsDropped "nginx_connections_dropped" "" Counter ConnectionsDropped,
    /// Requests per second of an ingress.
    IngressRequests "ingress_requests" "/s" Rate Requests,
    /// Mean request duration of an ingress.
    IngressMean "ingress_mean" "s" Mean RequestDuration,

    // Logs.
    /// Lines per second.
    LogLines "log_lines" "/s" Rate LogLines,
    /// Lines per second that report an error.
    LogErrors "log_errors" "/s" Rate Errors,
}
