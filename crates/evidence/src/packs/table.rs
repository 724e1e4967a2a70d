//! The packs, as data. Metric names are those that the exporters document.

use model::SignalId as Id;

use super::Measure::{Count, Less, Limit, Limits, Most, Quotient, Rate, RateOfParts, Ratio, Sum};
use super::{Measure, Pack, Row};

const NODE: &[&str] = &["instance"];
const DEVICE: &[&str] = &["instance", "device"];
const CONTAINER: &[&str] = &["namespace", "pod", "container"];
const DEPLOYMENT: &[&str] = &["namespace", "deployment"];
const SCALER: &[&str] = &["namespace", "horizontalpodautoscaler"];
const KEDA: &[&str] = &["scaledObject", "scaler", "metric"];
const PROCESS: &[&str] = &["namespace", "pod", "job", "instance"];
/// The label of a route, which differs between exporters.
const ROUTE: &[&str] = &["namespace", "pod", "job", "instance", "uri", "http_route", "route"];
const POOL: &[&str] = &["pod", "instance", "pool"];
/// Pools by the names of the conventions, and before 1.26.
const OTEL_POOL: &[&str] = &["pod", "instance", "job", "db_client_connection_pool_name", "pool_name"];
const GO_POOL: &[&str] = &["pod", "instance", "db_name"];
const AGROAL: &[&str] = &["pod", "instance", "datasource"];
const VERTX_POOL: &[&str] = &["pod", "instance", "pool_name"];
const NETTY_POOL: &[&str] = &["pod", "instance", "name", "remote_address"];
const FPM: &[&str] = &["pod", "instance", "pool"];
const HAPROXY: &[&str] = &["pod", "instance", "proxy"];
const ENVOY: &[&str] = &["pod", "instance", "envoy_cluster_name"];
const DATABASE: &[&str] = &["instance", "datname"];
const QUEUE: &[&str] = &["instance", "vhost", "queue"];
const TASK: &[&str] = &["name"];

const fn row(signal: Id, measure: Measure, by: &'static [&'static str]) -> Row {
    Row { signal, measure, by }
}

/// All packs. If two have the same signal, the first one is used.
pub(crate) const PACKS: &[Pack] = &[
    Pack {
        name: "node",
        reveals: "node_cpu_seconds_total",
        rows: &[
            row(Id::NodeCpu, Rate("node_cpu_seconds_total{mode!~\"idle|iowait|steal\"}"), NODE),
            row(Id::NodeCpuLimit, Count("node_cpu_seconds_total{mode=\"idle\"}"), NODE),
            row(Id::NodeCpuSteal, Rate("node_cpu_seconds_total{mode=\"steal\"}"), NODE),
            row(Id::NodeRunQueue, Sum("node_procs_running"), NODE),
            row(Id::NodeCpuWaiting, Rate("node_pressure_cpu_waiting_seconds_total"), NODE),
            row(Id::NodeMemory, Less("node_memory_MemTotal_bytes", "node_memory_MemAvailable_bytes"), NODE),
            row(Id::NodeMemoryLimit, Sum("node_memory_MemTotal_bytes"), NODE),
            row(Id::NodeDiskBusy, Rate("node_disk_io_time_seconds_total"), DEVICE),
            row(Id::NodeNetworkIn, Rate("node_network_receive_bytes_total{device!=\"lo\"}"), NODE),
            row(Id::NodeNetworkOut, Rate("node_network_transmit_bytes_total{device!=\"lo\"}"), NODE),
            row(Id::NodeSegmentsRepeated, Rate("node_netstat_Tcp_RetransSegs"), NODE),
            row(Id::NodeListenOverflows, Rate("node_netstat_TcpExt_ListenOverflows"), NODE),
            row(Id::NodeConnectionsTaken, Rate("node_netstat_Tcp_PassiveOpens"), NODE),
        ],
    },
    Pack {
        name: "kube-state-metrics",
        reveals: "kube_pod_info",
        rows: &[
            row(
                Id::ContainerCpuLimit,
                Most("kube_pod_container_resource_limits{resource=\"cpu\"}"),
                CONTAINER,
            ),
            row(
                Id::ContainerMemoryLimit,
                Most("kube_pod_container_resource_limits{resource=\"memory\"}"),
                CONTAINER,
            ),
            row(Id::ContainerRestarts, Most("kube_pod_container_status_restarts_total"), CONTAINER),
            row(
                Id::ContainerOomKilled,
                Most("kube_pod_container_status_last_terminated_reason{reason=\"OOMKilled\"}"),
                CONTAINER,
            ),
            row(Id::PodsPending, Sum("kube_pod_status_phase{phase=\"Pending\"}"), &["namespace"]),
            row(Id::DeploymentReplicas, Most("kube_deployment_status_replicas"), DEPLOYMENT),
            row(
                Id::DeploymentReplicasAvailable,
                Most("kube_deployment_status_replicas_available"),
                DEPLOYMENT,
            ),
            row(Id::DeploymentReplicasWanted, Most("kube_deployment_spec_replicas"), DEPLOYMENT),
            row(Id::HpaReplicas, Most("kube_horizontalpodautoscaler_status_current_replicas"), SCALER),
            row(Id::HpaReplicasWanted, Most("kube_horizontalpodautoscaler_status_desired_replicas"), SCALER),
            row(Id::HpaReplicasLimit, Most("kube_horizontalpodautoscaler_spec_max_replicas"), SCALER),
            row(
                Id::AutoscalerLimited,
                Most(
                    "kube_horizontalpodautoscaler_status_condition{condition=\"ScalingLimited\",status=\"true\"}",
                ),
                SCALER,
            ),
        ],
    },
    Pack {
        name: "cAdvisor",
        reveals: "container_cpu_usage_seconds_total",
        rows: &[
            row(
                Id::ContainerCpu,
                Rate("container_cpu_usage_seconds_total{container!=\"\",image!=\"\"}"),
                CONTAINER,
            ),
            row(
                Id::ContainerCpuLimit,
                Quotient(
                    "container_spec_cpu_quota{container!=\"\",image!=\"\"}",
                    "container_spec_cpu_period{container!=\"\",image!=\"\"}",
                ),
                CONTAINER,
            ),
            row(
                Id::ContainerThrottled,
                Ratio(
                    "container_cpu_cfs_throttled_periods_total{container!=\"\",image!=\"\"}",
                    "container_cpu_cfs_periods_total{container!=\"\",image!=\"\"}",
                ),
                CONTAINER,
            ),
            row(
                Id::ContainerThrottledTime,
                Rate("container_cpu_cfs_throttled_seconds_total{container!=\"\",image!=\"\"}"),
                CONTAINER,
            ),
            row(
                Id::ContainerMemory,
                Sum("container_memory_working_set_bytes{container!=\"\",image!=\"\"}"),
                CONTAINER,
            ),
            row(
                Id::ContainerMemoryLimit,
                Limit("container_spec_memory_limit_bytes{container!=\"\",image!=\"\"}"),
                CONTAINER,
            ),
        ],
    },
    Pack {
        name: "KEDA",
        reveals: "keda_scaler_metrics_value",
        rows: &[
            row(Id::KedaScalerValue, Most("keda_scaler_metrics_value"), KEDA),
            row(Id::KedaScalerActive, Most("keda_scaler_active"), KEDA),
            row(Id::KedaScalerErrors, Rate("keda_scaler_detail_errors_total"), KEDA),
        ],
    },
    // Micrometer and the JMX exporter use mostly different names, but share some.
    Pack {
        name: "JVM (Micrometer)",
        reveals: "jvm_memory_used_bytes",
        rows: &[
            row(Id::JvmHeap, Sum("jvm_memory_used_bytes{area=\"heap\"}"), PROCESS),
            // Of G1's spaces only one has a limit, that of the whole heap; the others report -1.
            row(Id::JvmHeapLimit, Limits("jvm_memory_max_bytes{area=\"heap\"}"), PROCESS),
            row(Id::JvmGc, Rate("jvm_gc_pause_seconds_count"), PROCESS),
            row(Id::JvmGc, Rate("jvm_gc_collection_seconds_count"), PROCESS),
            row(Id::JvmGcShare, Rate("jvm_gc_pause_seconds_sum"), PROCESS),
            row(Id::JvmGcShare, Rate("jvm_gc_collection_seconds_sum"), PROCESS),
            row(Id::JvmThreads, Sum("jvm_threads_live_threads"), PROCESS),
            row(Id::JvmThreads, Sum("jvm_threads_current"), PROCESS),
            row(Id::JvmProcessCpu, Most("process_cpu_usage"), PROCESS),
        ],
    },
    Pack {
        name: "JVM (JMX exporter before 1.0)",
        reveals: "jvm_memory_bytes_used",
        rows: &[
            row(Id::JvmHeap, Sum("jvm_memory_bytes_used{area=\"heap\"}"), PROCESS),
            row(Id::JvmHeapLimit, Limits("jvm_memory_bytes_max{area=\"heap\"}"), PROCESS),
            row(Id::JvmGc, Rate("jvm_gc_collection_seconds_count"), PROCESS),
            row(Id::JvmGcShare, Rate("jvm_gc_collection_seconds_sum"), PROCESS),
            row(Id::JvmThreads, Sum("jvm_threads_current"), PROCESS),
        ],
    },
    Pack {
        name: "HikariCP",
        reveals: "hikaricp_connections_active",
        rows: &[
            row(Id::PoolActive, Sum("hikaricp_connections_active"), POOL),
            row(Id::PoolActiveLimit, Sum("hikaricp_connections_max"), POOL),
            row(Id::PoolPending, Sum("hikaricp_connections_pending"), POOL),
            row(
                Id::PoolWaitMean,
                Ratio(
                    "hikaricp_connections_acquire_seconds_sum",
                    "hikaricp_connections_acquire_seconds_count",
                ),
                POOL,
            ),
            row(Id::PoolTimeouts, Rate("hikaricp_connections_timeout_total"), POOL),
        ],
    },
    // OpenTelemetry's database metrics, as an SDK's Prometheus exporter names them: node-postgres, HikariCP by the Java agent,
    // Npgsql, go-redis ("Semantic conventions for database client metrics").
    Pack {
        name: "Connection pools (OpenTelemetry)",
        reveals: "db_client_connection_count",
        rows: &[
            row(
                Id::DbClientConnectionUsed,
                Sum("db_client_connection_count{db_client_connection_state=\"used\"}"),
                OTEL_POOL,
            ),
            row(Id::DbClientConnectionMax, Sum("db_client_connection_max"), OTEL_POOL),
            row(
                Id::DbClientConnectionPendingRequests,
                Sum("db_client_connection_pending_requests"),
                OTEL_POOL,
            ),
        ],
    },
    Pack {
        name: "Connection pools (OpenTelemetry before 1.26)",
        reveals: "db_client_connections_usage",
        rows: &[
            row(Id::DbClientConnectionsUsage, Sum("db_client_connections_usage{state=\"used\"}"), OTEL_POOL),
            row(Id::DbClientConnectionsMax, Sum("db_client_connections_max"), OTEL_POOL),
            row(
                Id::DbClientConnectionsPendingRequests,
                Sum("db_client_connections_pending_requests"),
                OTEL_POOL,
            ),
        ],
    },
    // otelpgx, meter.go. The pool counts no pending requests, and its wait is in nanoseconds.
    Pack {
        name: "pgxpool",
        reveals: "pgxpool_acquired_connections",
        rows: &[
            row(Id::DbClientConnectionUsed, Sum("pgxpool_acquired_connections"), OTEL_POOL),
            row(Id::DbClientConnectionMax, Sum("pgxpool_max_connections"), OTEL_POOL),
        ],
    },
    // prometheus/client_golang, collectors/dbstats_collector.go. Seconds of waiting per second are the mean number of requests
    // that wait (Little's law).
    Pack {
        name: "database/sql (Go)",
        reveals: "go_sql_in_use_connections",
        rows: &[
            row(Id::DbClientConnectionUsed, Sum("go_sql_in_use_connections"), GO_POOL),
            // Zero is no limit.
            row(Id::DbClientConnectionMax, Limits("go_sql_max_open_connections"), GO_POOL),
            row(Id::DbClientConnectionPendingRequests, Rate("go_sql_wait_duration_seconds_total"), GO_POOL),
        ],
    },
    // The plugin of GORM and the instrumentation of Uptrace (otelsql, `go.sql.connections_*`) through OpenTelemetry's exporter.
    Pack {
        name: "database/sql (Go, OpenTelemetry)",
        reveals: "go_sql_connections_in_use",
        rows: &[
            row(Id::DbClientConnectionUsed, Sum("go_sql_connections_in_use"), GO_POOL),
            row(Id::DbClientConnectionMax, Limits("go_sql_connections_max_open"), GO_POOL),
            row(
                Id::DbClientConnectionPendingRequests,
                RateOfParts("go_sql_connections_wait_duration_nanoseconds_total", 1_000_000_000),
                GO_POOL,
            ),
        ],
    },
    // Agroal, the pool of Quarkus and WildFly, by Micrometer.
    Pack {
        name: "Agroal",
        reveals: "agroal_awaiting_count",
        rows: &[
            row(Id::PoolActive, Sum("agroal_active_count"), AGROAL),
            row(Id::PoolPending, Sum("agroal_awaiting_count"), AGROAL),
        ],
    },
    // Micrometer, PooledConnectionProviderMeterRegistrar of reactor-netty.
    Pack {
        name: "Reactor Netty",
        reveals: "reactor_netty_connection_provider_active_connections",
        rows: &[
            row(Id::PoolActive, Sum("reactor_netty_connection_provider_active_connections"), NETTY_POOL),
            row(Id::PoolActiveLimit, Sum("reactor_netty_connection_provider_max_connections"), NETTY_POOL),
            row(Id::PoolPending, Sum("reactor_netty_connection_provider_pending_connections"), NETTY_POOL),
        ],
    },
    // Envoy, "Cluster manager, statistics": requests that wait for a connection of the cluster's pool.
    Pack {
        name: "Envoy",
        reveals: "envoy_cluster_upstream_rq_pending_active",
        rows: &[
            row(Id::PoolPending, Sum("envoy_cluster_upstream_rq_pending_active"), ENVOY),
            row(Id::PoolActive, Sum("envoy_cluster_upstream_cx_active"), ENVOY),
            row(Id::PoolTimeouts, Rate("envoy_cluster_upstream_rq_pending_overflow"), ENVOY),
        ],
    },
    Pack {
        name: "HTTP server (Micrometer)",
        reveals: "http_server_requests_seconds_count",
        rows: &[
            row(Id::ServerRequests, Rate("http_server_requests_seconds_count"), ROUTE),
            row(Id::ServerErrors, Rate("http_server_requests_seconds_count{status=~\"5..\"}"), ROUTE),
            row(
                Id::ServerRequestMean,
                Ratio("http_server_requests_seconds_sum", "http_server_requests_seconds_count"),
                ROUTE,
            ),
        ],
    },
    Pack {
        name: "HTTP server (OpenTelemetry)",
        reveals: "http_server_request_duration_seconds_count",
        rows: &[
            row(Id::ServerRequests, Rate("http_server_request_duration_seconds_count"), ROUTE),
            row(
                Id::ServerErrors,
                Rate("http_server_request_duration_seconds_count{http_response_status_code=~\"5..\"}"),
                ROUTE,
            ),
            row(
                Id::ServerRequestMean,
                Ratio(
                    "http_server_request_duration_seconds_sum",
                    "http_server_request_duration_seconds_count",
                ),
                ROUTE,
            ),
        ],
    },
    Pack {
        name: "Tomcat",
        reveals: "tomcat_threads_busy_threads",
        rows: &[
            row(Id::ServerThreads, Sum("tomcat_threads_busy_threads"), PROCESS),
            row(Id::ServerThreadsLimit, Sum("tomcat_threads_config_max_threads"), PROCESS),
        ],
    },
    // Vert.x and Quarkus by Micrometer: their pools of worker threads.
    Pack {
        name: "Vert.x worker pools",
        reveals: "worker_pool_queue_size",
        rows: &[
            row(Id::ServerThreads, Sum("worker_pool_active"), VERTX_POOL),
            row(Id::ServerThreadsLimit, Quotient("worker_pool_active", "worker_pool_ratio"), VERTX_POOL),
            row(Id::ServerPending, Sum("worker_pool_queue_size"), VERTX_POOL),
        ],
    },
    // The exporter of Apache's status page. Apache starts further processes up to its limit, so that without an idle one all there may
    // be are there.
    Pack {
        name: "Apache",
        reveals: "apache_workers",
        rows: &[
            row(Id::ServerThreads, Sum("apache_workers{state=\"busy\"}"), PROCESS),
            row(Id::ServerThreadsLimit, Sum("apache_workers"), PROCESS),
        ],
    },
    // PHP-FPM's own status page (`?openmetrics`, PHP 8.1). The processes of a pool of constant size are its limit.
    Pack {
        name: "PHP-FPM",
        reveals: "phpfpm_active_processes",
        rows: &[
            row(Id::ServerThreads, Sum("phpfpm_active_processes"), FPM),
            row(Id::ServerThreadsLimit, Sum("phpfpm_total_processes"), FPM),
            row(Id::ServerPending, Sum("phpfpm_listen_queue"), FPM),
        ],
    },
    // yabeda-puma-plugin.
    Pack {
        name: "Puma",
        reveals: "puma_backlog",
        rows: &[
            row(Id::ServerThreadsLimit, Sum("puma_max_threads"), PROCESS),
            row(Id::ServerPending, Sum("puma_backlog"), PROCESS),
        ],
    },
    // HAProxy's own exporter: requests in the queue of a backend, because its servers have as many as `maxconn` lets through. Zero is
    // no limit.
    Pack {
        name: "HAProxy",
        reveals: "haproxy_backend_current_queue",
        rows: &[
            row(Id::ServerThreads, Sum("haproxy_server_current_sessions"), HAPROXY),
            row(Id::ServerThreadsLimit, Limits("haproxy_server_limit_sessions"), HAPROXY),
            row(Id::ServerPending, Sum("haproxy_backend_current_queue"), HAPROXY),
        ],
    },
    Pack {
        name: "process",
        reveals: "process_cpu_seconds_total",
        rows: &[
            row(Id::ProcessCpu, Rate("process_cpu_seconds_total"), PROCESS),
            row(Id::ProcessMemory, Sum("process_resident_memory_bytes"), PROCESS),
            row(Id::ProcessDescriptors, Sum("process_open_fds"), PROCESS),
            row(Id::ProcessDescriptorsLimit, Sum("process_max_fds"), PROCESS),
        ],
    },
    Pack {
        name: "Go",
        reveals: "go_goroutines",
        rows: &[
            row(Id::GoGoroutines, Sum("go_goroutines"), PROCESS),
            row(Id::GoThreads, Sum("go_threads"), PROCESS),
            row(Id::GoHeap, Sum("go_memstats_heap_inuse_bytes"), PROCESS),
            row(Id::GoGc, Rate("go_gc_duration_seconds_count"), PROCESS),
            row(Id::GoGcShare, Rate("go_gc_duration_seconds_sum"), PROCESS),
        ],
    },
    Pack {
        name: "Node.js",
        reveals: "nodejs_eventloop_lag_seconds",
        rows: &[
            row(Id::NodejsLagP99, Most("nodejs_eventloop_lag_p99_seconds"), PROCESS),
            row(Id::NodejsLagMean, Most("nodejs_eventloop_lag_mean_seconds"), PROCESS),
            row(Id::NodejsHeap, Sum("nodejs_heap_size_used_bytes"), PROCESS),
            row(Id::NodejsGc, Rate("nodejs_gc_duration_seconds_count"), PROCESS),
            row(Id::NodejsGcShare, Rate("nodejs_gc_duration_seconds_sum"), PROCESS),
            row(Id::NodejsRequests, Sum("nodejs_active_requests_total"), PROCESS),
        ],
    },
    // OpenTelemetry's runtime metrics ("Semantic conventions for Node.js, JVM and Go runtime metrics").
    Pack {
        name: "Node.js (OpenTelemetry)",
        reveals: "nodejs_eventloop_delay_mean_seconds",
        rows: &[
            row(Id::NodejsLagP99, Most("nodejs_eventloop_delay_p99_seconds"), PROCESS),
            row(Id::NodejsLagMean, Most("nodejs_eventloop_delay_mean_seconds"), PROCESS),
        ],
    },
    Pack {
        name: "JVM (OpenTelemetry)",
        reveals: "jvm_cpu_recent_utilization_ratio",
        rows: &[
            row(Id::JvmHeap, Sum("jvm_memory_used_bytes{jvm_memory_type=\"heap\"}"), PROCESS),
            row(Id::JvmHeapLimit, Limits("jvm_memory_limit_bytes{jvm_memory_type=\"heap\"}"), PROCESS),
            row(Id::JvmGc, Rate("jvm_gc_duration_seconds_count"), PROCESS),
            row(Id::JvmGcShare, Rate("jvm_gc_duration_seconds_sum"), PROCESS),
            row(Id::JvmThreads, Sum("jvm_thread_count"), PROCESS),
            row(Id::JvmProcessCpu, Most("jvm_cpu_recent_utilization_ratio"), PROCESS),
        ],
    },
    Pack {
        name: "Go (OpenTelemetry)",
        reveals: "go_goroutine_count",
        rows: &[row(Id::GoGoroutines, Sum("go_goroutine_count"), PROCESS)],
    },
    Pack {
        name: "process (OpenTelemetry)",
        reveals: "process_cpu_time_seconds_total",
        rows: &[row(Id::ProcessCpu, Rate("process_cpu_time_seconds_total"), PROCESS)],
    },
    Pack {
        name: "PostgreSQL",
        reveals: "pg_stat_database_xact_commit",
        rows: &[
            row(Id::PgCommits, Rate("pg_stat_database_xact_commit"), DATABASE),
            row(Id::PgRollbacks, Rate("pg_stat_database_xact_rollback"), DATABASE),
            row(Id::PgConnections, Sum("pg_stat_activity_count"), NODE),
            row(Id::PgConnectionsLimit, Most("pg_settings_max_connections"), NODE),
            row(Id::PgConnectionsActive, Sum("pg_stat_activity_count{state=\"active\"}"), DATABASE),
            row(Id::PgBlocksRead, Rate("pg_stat_database_blks_read"), DATABASE),
            row(Id::PgBlocksHit, Rate("pg_stat_database_blks_hit"), DATABASE),
            row(Id::PgDeadlocks, Rate("pg_stat_database_deadlocks"), DATABASE),
            row(Id::PgTemporaryBytes, Rate("pg_stat_database_temp_bytes"), DATABASE),
            row(Id::PgTransactionMax, Most("pg_stat_activity_max_tx_duration"), DATABASE),
            row(Id::PgLocks, Sum("pg_locks_count"), &["instance", "datname", "mode"]),
        ],
    },
    Pack {
        name: "MySQL",
        reveals: "mysql_global_status_threads_running",
        rows: &[
            row(Id::MysqlQueries, Rate("mysql_global_status_queries"), NODE),
            row(Id::MysqlQueriesSlow, Rate("mysql_global_status_slow_queries"), NODE),
            row(Id::MysqlThreadsRunning, Sum("mysql_global_status_threads_running"), NODE),
            row(Id::MysqlConnections, Sum("mysql_global_status_threads_connected"), NODE),
            row(Id::MysqlConnectionsLimit, Most("mysql_global_variables_max_connections"), NODE),
            row(Id::MysqlRowLockWaits, Rate("mysql_global_status_innodb_row_lock_waits"), NODE),
            row(Id::MysqlRowLockTime, RateOfParts("mysql_global_status_innodb_row_lock_time", 1000), NODE),
            row(Id::LocksWaiting, Sum("mysql_global_status_innodb_row_lock_current_waits"), NODE),
            row(Id::MysqlReads, Rate("mysql_global_status_innodb_buffer_pool_reads"), NODE),
        ],
    },
    Pack {
        name: "Redis",
        reveals: "redis_commands_processed_total",
        rows: &[
            row(Id::RedisCommands, Rate("redis_commands_processed_total"), NODE),
            row(Id::RedisMemory, Sum("redis_memory_used_bytes"), NODE),
            row(Id::RedisMemoryLimit, Limit("redis_memory_max_bytes"), NODE),
            row(Id::RedisClients, Sum("redis_connected_clients"), NODE),
            row(Id::RedisClientsLimit, Limit("redis_config_maxclients"), NODE),
            row(Id::RedisClientsBlocked, Sum("redis_blocked_clients"), NODE),
            row(Id::RedisEvictions, Rate("redis_evicted_keys_total"), NODE),
            row(Id::RedisHits, Rate("redis_keyspace_hits_total"), NODE),
            row(Id::RedisMisses, Rate("redis_keyspace_misses_total"), NODE),
        ],
    },
    // Waiting and running work are never added up: only the first is queued.
    Pack {
        name: "RabbitMQ",
        reveals: "rabbitmq_queue_messages_ready",
        rows: &[
            row(Id::QueueReady, Sum("rabbitmq_queue_messages_ready"), QUEUE),
            row(Id::QueueUnacked, Sum("rabbitmq_queue_messages_unacked"), QUEUE),
            row(Id::QueueConsumers, Sum("rabbitmq_queue_consumers"), QUEUE),
            row(Id::QueueConsumerCapacity, Most("rabbitmq_queue_consumer_capacity"), QUEUE),
            row(Id::RabbitmqReceived, Rate("rabbitmq_global_messages_received_total"), NODE),
            row(Id::RabbitmqAcknowledged, Rate("rabbitmq_global_messages_acknowledged_total"), NODE),
            row(Id::RabbitmqMemory, Sum("rabbitmq_process_resident_memory_bytes"), NODE),
            row(Id::RabbitmqMemoryLimit, Sum("rabbitmq_resident_memory_limit_bytes"), NODE),
        ],
    },
    Pack {
        name: "RabbitMQ (detailed)",
        reveals: "rabbitmq_detailed_queue_messages_ready",
        rows: &[
            row(Id::QueueReady, Sum("rabbitmq_detailed_queue_messages_ready"), QUEUE),
            row(Id::QueueUnacked, Sum("rabbitmq_detailed_queue_messages_unacked"), QUEUE),
            row(Id::QueueConsumers, Sum("rabbitmq_detailed_queue_consumers"), QUEUE),
        ],
    },
    // danielqsj/kafka_exporter: messages of a topic that a group of consumers has not read yet.
    Pack {
        name: "Kafka",
        reveals: "kafka_consumergroup_lag",
        rows: &[row(Id::QueueReady, Sum("kafka_consumergroup_lag"), &["instance", "consumergroup", "topic"])],
    },
    Pack {
        name: "NGINX",
        reveals: "nginx_connections_active",
        rows: &[
            row(Id::NginxRequests, Rate("nginx_http_requests_total"), NODE),
            row(Id::NginxConnections, Sum("nginx_connections_active"), NODE),
            row(Id::NginxConnectionsWaiting, Sum("nginx_connections_waiting"), NODE),
            // Accepted but not handled: the limit of worker connections was reached.
            row(
                Id::NginxConnectionsDropped,
                Less("nginx_connections_accepted", "nginx_connections_handled"),
                NODE,
            ),
        ],
    },
    Pack {
        name: "ingress-nginx",
        reveals: "nginx_ingress_controller_requests",
        rows: &[
            row(
                Id::IngressRequests,
                Rate("nginx_ingress_controller_requests"),
                &["controller_pod", "ingress", "status"],
            ),
            row(
                Id::IngressMean,
                Ratio(
                    "nginx_ingress_controller_request_duration_seconds_sum",
                    "nginx_ingress_controller_request_duration_seconds_count",
                ),
                &["controller_pod", "ingress"],
            ),
        ],
    },
    Pack {
        name: "Celery",
        reveals: "celery_worker_up",
        rows: &[
            row(Id::CeleryWorkers, Sum("celery_worker_up"), &[]),
            row(Id::CeleryTasksActive, Sum("celery_worker_tasks_active"), &["hostname"]),
            row(Id::CeleryQueueLength, Most("celery_queue_length"), &["queue_name"]),
            row(Id::CeleryConsumers, Most("celery_active_consumer_count"), &["queue_name"]),
            row(Id::CeleryProcesses, Most("celery_active_process_count"), &["queue_name"]),
            row(Id::CeleryReceived, Rate("celery_task_received_total"), TASK),
            row(Id::CelerySucceeded, Rate("celery_task_succeeded_total"), TASK),
            row(Id::CeleryFailed, Rate("celery_task_failed_total"), TASK),
            row(Id::CeleryRetried, Rate("celery_task_retried_total"), TASK),
            row(Id::CeleryTaskMean, Ratio("celery_task_runtime_sum", "celery_task_runtime_count"), TASK),
        ],
    },
];
