//! The packs, as data. Names of metrics are those that the exporters themselves document.

use super::Measure::{Count, Less, Limit, Limits, Most, Quotient, Rate, Ratio, Sum};
use super::{Measure, Pack, Row};

const NODE: &[&str] = &["instance"];
const DEVICE: &[&str] = &["instance", "device"];
const CONTAINER: &[&str] = &["namespace", "pod", "container"];
const DEPLOYMENT: &[&str] = &["namespace", "deployment"];
const SCALER: &[&str] = &["namespace", "horizontalpodautoscaler"];
const KEDA: &[&str] = &["scaledObject", "scaler", "metric"];
const PROCESS: &[&str] = &["namespace", "pod", "job", "instance"];
/// A route is called differently by those who count.
const ROUTE: &[&str] = &["namespace", "pod", "job", "instance", "uri", "http_route", "route"];
const POOL: &[&str] = &["pod", "instance", "pool"];
const DATABASE: &[&str] = &["instance", "datname"];
const QUEUE: &[&str] = &["instance", "vhost", "queue"];
const TASK: &[&str] = &["name"];

const fn row(signal: &'static str, unit: &'static str, measure: Measure, by: &'static [&'static str]) -> Row {
    Row { signal, unit, measure, by }
}

/// All packs. Where two tell the same signal, the one that stands first is believed.
pub(crate) const PACKS: &[Pack] = &[
    Pack {
        name: "node",
        reveals: "node_cpu_seconds_total",
        rows: &[
            row("node_cpu", "{cpu}", Rate("node_cpu_seconds_total{mode!~\"idle|iowait|steal\"}"), NODE),
            row("node_cpu_limit", "{cpu}", Count("node_cpu_seconds_total{mode=\"idle\"}"), NODE),
            row("node_cpu_steal", "{cpu}", Rate("node_cpu_seconds_total{mode=\"steal\"}"), NODE),
            row("node_run_queue", "", Sum("node_procs_running"), NODE),
            row("node_cpu_waiting", "1", Rate("node_pressure_cpu_waiting_seconds_total"), NODE),
            row(
                "node_memory",
                "By",
                Less("node_memory_MemTotal_bytes", "node_memory_MemAvailable_bytes"),
                NODE,
            ),
            row("node_memory_limit", "By", Sum("node_memory_MemTotal_bytes"), NODE),
            row("node_disk_busy", "1", Rate("node_disk_io_time_seconds_total"), DEVICE),
            row("node_network_in", "By/s", Rate("node_network_receive_bytes_total{device!=\"lo\"}"), NODE),
            row("node_network_out", "By/s", Rate("node_network_transmit_bytes_total{device!=\"lo\"}"), NODE),
            row("node_segments_repeated", "/s", Rate("node_netstat_Tcp_RetransSegs"), NODE),
            row("node_listen_overflows", "/s", Rate("node_netstat_TcpExt_ListenOverflows"), NODE),
            row("node_connections_taken", "/s", Rate("node_netstat_Tcp_PassiveOpens"), NODE),
        ],
    },
    Pack {
        name: "kube-state-metrics",
        reveals: "kube_pod_info",
        rows: &[
            row(
                "container_cpu_limit",
                "{cpu}",
                Most("kube_pod_container_resource_limits{resource=\"cpu\"}"),
                CONTAINER,
            ),
            row(
                "container_memory_limit",
                "By",
                Most("kube_pod_container_resource_limits{resource=\"memory\"}"),
                CONTAINER,
            ),
            row("container_restarts", "", Most("kube_pod_container_status_restarts_total"), CONTAINER),
            row(
                "container_oom_killed",
                "",
                Most("kube_pod_container_status_last_terminated_reason{reason=\"OOMKilled\"}"),
                CONTAINER,
            ),
            row("pods_pending", "", Sum("kube_pod_status_phase{phase=\"Pending\"}"), &["namespace"]),
            row("deployment_replicas", "", Most("kube_deployment_status_replicas"), DEPLOYMENT),
            row(
                "deployment_replicas_available",
                "",
                Most("kube_deployment_status_replicas_available"),
                DEPLOYMENT,
            ),
            row("deployment_replicas_wanted", "", Most("kube_deployment_spec_replicas"), DEPLOYMENT),
            row("hpa_replicas", "", Most("kube_horizontalpodautoscaler_status_current_replicas"), SCALER),
            row(
                "hpa_replicas_wanted",
                "",
                Most("kube_horizontalpodautoscaler_status_desired_replicas"),
                SCALER,
            ),
            row("hpa_replicas_limit", "", Most("kube_horizontalpodautoscaler_spec_max_replicas"), SCALER),
            row(
                "autoscaler_limited",
                "1",
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
                "container_cpu",
                "{cpu}",
                Rate("container_cpu_usage_seconds_total{container!=\"\",image!=\"\"}"),
                CONTAINER,
            ),
            row(
                "container_cpu_limit",
                "{cpu}",
                Quotient(
                    "container_spec_cpu_quota{container!=\"\",image!=\"\"}",
                    "container_spec_cpu_period{container!=\"\",image!=\"\"}",
                ),
                CONTAINER,
            ),
            row(
                "container_throttled",
                "1",
                Ratio(
                    "container_cpu_cfs_throttled_periods_total{container!=\"\",image!=\"\"}",
                    "container_cpu_cfs_periods_total{container!=\"\",image!=\"\"}",
                ),
                CONTAINER,
            ),
            row(
                "container_throttled_time",
                "1",
                Rate("container_cpu_cfs_throttled_seconds_total{container!=\"\",image!=\"\"}"),
                CONTAINER,
            ),
            row(
                "container_memory",
                "By",
                Sum("container_memory_working_set_bytes{container!=\"\",image!=\"\"}"),
                CONTAINER,
            ),
            row(
                "container_memory_limit",
                "By",
                Limit("container_spec_memory_limit_bytes{container!=\"\",image!=\"\"}"),
                CONTAINER,
            ),
        ],
    },
    Pack {
        name: "KEDA",
        reveals: "keda_scaler_metrics_value",
        rows: &[
            row("keda_scaler_value", "", Most("keda_scaler_metrics_value"), KEDA),
            row("keda_scaler_active", "", Most("keda_scaler_active"), KEDA),
            row("keda_scaler_errors", "/s", Rate("keda_scaler_detail_errors_total"), KEDA),
        ],
    },
    // Micrometer and the JMX exporter name most things differently, and share some names.
    Pack {
        name: "JVM (Micrometer)",
        reveals: "jvm_memory_used_bytes",
        rows: &[
            row("jvm_heap", "By", Sum("jvm_memory_used_bytes{area=\"heap\"}"), PROCESS),
            // Of G1's spaces only one has a limit, which is that of all; the others say -1.
            row("jvm_heap_limit", "By", Limits("jvm_memory_max_bytes{area=\"heap\"}"), PROCESS),
            row("jvm_gc", "/s", Rate("jvm_gc_pause_seconds_count"), PROCESS),
            row("jvm_gc", "/s", Rate("jvm_gc_collection_seconds_count"), PROCESS),
            row("jvm_gc_share", "1", Rate("jvm_gc_pause_seconds_sum"), PROCESS),
            row("jvm_gc_share", "1", Rate("jvm_gc_collection_seconds_sum"), PROCESS),
            row("jvm_threads", "", Sum("jvm_threads_live_threads"), PROCESS),
            row("jvm_threads", "", Sum("jvm_threads_current"), PROCESS),
            row("jvm_process_cpu", "1", Most("process_cpu_usage"), PROCESS),
        ],
    },
    Pack {
        name: "JVM (JMX exporter before 1.0)",
        reveals: "jvm_memory_bytes_used",
        rows: &[
            row("jvm_heap", "By", Sum("jvm_memory_bytes_used{area=\"heap\"}"), PROCESS),
            row("jvm_heap_limit", "By", Limits("jvm_memory_bytes_max{area=\"heap\"}"), PROCESS),
            row("jvm_gc", "/s", Rate("jvm_gc_collection_seconds_count"), PROCESS),
            row("jvm_gc_share", "1", Rate("jvm_gc_collection_seconds_sum"), PROCESS),
            row("jvm_threads", "", Sum("jvm_threads_current"), PROCESS),
        ],
    },
    Pack {
        name: "HikariCP",
        reveals: "hikaricp_connections_active",
        rows: &[
            row("pool_active", "", Sum("hikaricp_connections_active"), POOL),
            row("pool_active_limit", "", Sum("hikaricp_connections_max"), POOL),
            row("pool_pending", "", Sum("hikaricp_connections_pending"), POOL),
            row(
                "pool_wait_mean",
                "s",
                Ratio(
                    "hikaricp_connections_acquire_seconds_sum",
                    "hikaricp_connections_acquire_seconds_count",
                ),
                POOL,
            ),
            row("pool_timeouts", "/s", Rate("hikaricp_connections_timeout_total"), POOL),
        ],
    },
    Pack {
        name: "HTTP server (Micrometer)",
        reveals: "http_server_requests_seconds_count",
        rows: &[
            row("server_requests", "/s", Rate("http_server_requests_seconds_count"), ROUTE),
            row("server_errors", "/s", Rate("http_server_requests_seconds_count{status=~\"5..\"}"), ROUTE),
            row(
                "server_request_mean",
                "s",
                Ratio("http_server_requests_seconds_sum", "http_server_requests_seconds_count"),
                ROUTE,
            ),
        ],
    },
    Pack {
        name: "HTTP server (OpenTelemetry)",
        reveals: "http_server_request_duration_seconds_count",
        rows: &[
            row("server_requests", "/s", Rate("http_server_request_duration_seconds_count"), ROUTE),
            row(
                "server_errors",
                "/s",
                Rate("http_server_request_duration_seconds_count{http_response_status_code=~\"5..\"}"),
                ROUTE,
            ),
            row(
                "server_request_mean",
                "s",
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
            row("server_threads", "", Sum("tomcat_threads_busy_threads"), PROCESS),
            row("server_threads_limit", "", Sum("tomcat_threads_config_max_threads"), PROCESS),
        ],
    },
    Pack {
        name: "process",
        reveals: "process_cpu_seconds_total",
        rows: &[
            row("process_cpu", "{cpu}", Rate("process_cpu_seconds_total"), PROCESS),
            row("process_memory", "By", Sum("process_resident_memory_bytes"), PROCESS),
            row("process_descriptors", "", Sum("process_open_fds"), PROCESS),
            row("process_descriptors_limit", "", Sum("process_max_fds"), PROCESS),
        ],
    },
    Pack {
        name: "Go",
        reveals: "go_goroutines",
        rows: &[
            row("go_goroutines", "", Sum("go_goroutines"), PROCESS),
            row("go_threads", "", Sum("go_threads"), PROCESS),
            row("go_heap", "By", Sum("go_memstats_heap_inuse_bytes"), PROCESS),
            row("go_gc", "/s", Rate("go_gc_duration_seconds_count"), PROCESS),
            row("go_gc_share", "1", Rate("go_gc_duration_seconds_sum"), PROCESS),
        ],
    },
    Pack {
        name: "Node.js",
        reveals: "nodejs_eventloop_lag_seconds",
        rows: &[
            row("nodejs_lag_p99", "s", Most("nodejs_eventloop_lag_p99_seconds"), PROCESS),
            row("nodejs_lag_mean", "s", Most("nodejs_eventloop_lag_mean_seconds"), PROCESS),
            row("nodejs_heap", "By", Sum("nodejs_heap_size_used_bytes"), PROCESS),
            row("nodejs_gc", "/s", Rate("nodejs_gc_duration_seconds_count"), PROCESS),
            row("nodejs_gc_share", "1", Rate("nodejs_gc_duration_seconds_sum"), PROCESS),
            row("nodejs_requests", "", Sum("nodejs_active_requests_total"), PROCESS),
        ],
    },
    Pack {
        name: "PostgreSQL",
        reveals: "pg_stat_database_xact_commit",
        rows: &[
            row("pg_commits", "/s", Rate("pg_stat_database_xact_commit"), DATABASE),
            row("pg_rollbacks", "/s", Rate("pg_stat_database_xact_rollback"), DATABASE),
            row("pg_connections", "", Sum("pg_stat_activity_count"), NODE),
            row("pg_connections_limit", "", Most("pg_settings_max_connections"), NODE),
            row("pg_connections_active", "", Sum("pg_stat_activity_count{state=\"active\"}"), DATABASE),
            row("pg_blocks_read", "/s", Rate("pg_stat_database_blks_read"), DATABASE),
            row("pg_blocks_hit", "/s", Rate("pg_stat_database_blks_hit"), DATABASE),
            row("pg_deadlocks", "/s", Rate("pg_stat_database_deadlocks"), DATABASE),
            row("pg_temporary_bytes", "By/s", Rate("pg_stat_database_temp_bytes"), DATABASE),
            row("pg_transaction_max", "s", Most("pg_stat_activity_max_tx_duration"), DATABASE),
            row("pg_locks", "", Sum("pg_locks_count"), &["instance", "datname", "mode"]),
        ],
    },
    Pack {
        name: "MySQL",
        reveals: "mysql_global_status_threads_running",
        rows: &[
            row("mysql_queries", "/s", Rate("mysql_global_status_queries"), NODE),
            row("mysql_queries_slow", "/s", Rate("mysql_global_status_slow_queries"), NODE),
            row("mysql_threads_running", "", Sum("mysql_global_status_threads_running"), NODE),
            row("mysql_connections", "", Sum("mysql_global_status_threads_connected"), NODE),
            row("mysql_connections_limit", "", Most("mysql_global_variables_max_connections"), NODE),
            row("mysql_row_lock_waits", "/s", Rate("mysql_global_status_innodb_row_lock_waits"), NODE),
            row("mysql_reads", "/s", Rate("mysql_global_status_innodb_buffer_pool_reads"), NODE),
        ],
    },
    Pack {
        name: "Redis",
        reveals: "redis_commands_processed_total",
        rows: &[
            row("redis_commands", "/s", Rate("redis_commands_processed_total"), NODE),
            row("redis_memory", "By", Sum("redis_memory_used_bytes"), NODE),
            row("redis_memory_limit", "By", Limit("redis_memory_max_bytes"), NODE),
            row("redis_clients", "", Sum("redis_connected_clients"), NODE),
            row("redis_clients_limit", "", Limit("redis_config_maxclients"), NODE),
            row("redis_clients_blocked", "", Sum("redis_blocked_clients"), NODE),
            row("redis_evictions", "/s", Rate("redis_evicted_keys_total"), NODE),
            row("redis_hits", "/s", Rate("redis_keyspace_hits_total"), NODE),
            row("redis_misses", "/s", Rate("redis_keyspace_misses_total"), NODE),
        ],
    },
    // What waits and what is being worked on are never added up: only the first is a queue.
    Pack {
        name: "RabbitMQ",
        reveals: "rabbitmq_queue_messages_ready",
        rows: &[
            row("queue_ready", "", Sum("rabbitmq_queue_messages_ready"), QUEUE),
            row("queue_unacked", "", Sum("rabbitmq_queue_messages_unacked"), QUEUE),
            row("queue_consumers", "", Sum("rabbitmq_queue_consumers"), QUEUE),
            row("queue_consumer_capacity", "1", Most("rabbitmq_queue_consumer_capacity"), QUEUE),
            row("rabbitmq_received", "/s", Rate("rabbitmq_global_messages_received_total"), NODE),
            row("rabbitmq_acknowledged", "/s", Rate("rabbitmq_global_messages_acknowledged_total"), NODE),
            row("rabbitmq_memory", "By", Sum("rabbitmq_process_resident_memory_bytes"), NODE),
            row("rabbitmq_memory_limit", "By", Sum("rabbitmq_resident_memory_limit_bytes"), NODE),
        ],
    },
    Pack {
        name: "RabbitMQ (detailed)",
        reveals: "rabbitmq_detailed_queue_messages_ready",
        rows: &[
            row("queue_ready", "", Sum("rabbitmq_detailed_queue_messages_ready"), QUEUE),
            row("queue_unacked", "", Sum("rabbitmq_detailed_queue_messages_unacked"), QUEUE),
            row("queue_consumers", "", Sum("rabbitmq_detailed_queue_consumers"), QUEUE),
        ],
    },
    Pack {
        name: "NGINX",
        reveals: "nginx_connections_active",
        rows: &[
            row("nginx_requests", "/s", Rate("nginx_http_requests_total"), NODE),
            row("nginx_connections", "", Sum("nginx_connections_active"), NODE),
            row("nginx_connections_waiting", "", Sum("nginx_connections_waiting"), NODE),
            // Accepted and not handled: the limit of worker connections was reached.
            row(
                "nginx_connections_dropped",
                "",
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
                "ingress_requests",
                "/s",
                Rate("nginx_ingress_controller_requests"),
                &["controller_pod", "ingress", "status"],
            ),
            row(
                "ingress_mean",
                "s",
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
            row("celery_workers", "", Sum("celery_worker_up"), &[]),
            row("celery_tasks_active", "", Sum("celery_worker_tasks_active"), &["hostname"]),
            row("celery_queue_length", "", Most("celery_queue_length"), &["queue_name"]),
            row("celery_consumers", "", Most("celery_active_consumer_count"), &["queue_name"]),
            row("celery_processes", "", Most("celery_active_process_count"), &["queue_name"]),
            row("celery_received", "/s", Rate("celery_task_received_total"), TASK),
            row("celery_succeeded", "/s", Rate("celery_task_succeeded_total"), TASK),
            row("celery_failed", "/s", Rate("celery_task_failed_total"), TASK),
            row("celery_retried", "/s", Rate("celery_task_retried_total"), TASK),
            row("celery_task_mean", "s", Ratio("celery_task_runtime_sum", "celery_task_runtime_count"), TASK),
        ],
    },
];
