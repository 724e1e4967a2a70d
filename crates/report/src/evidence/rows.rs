//! Which signals make which lane: one row each.
//!
//! The first row that names a signal has it; what no row names gets a lane of its own, so that nothing that was collected is
//! hidden.

use model::signal::label;
use model::{SignalId as Id, SignalName};

use crate::Lang;

/// The signals of a lane.
#[derive(Debug)]
pub(super) struct LaneRow {
    /// Its name in addresses.
    pub(super) key: &'static str,
    /// With which others it stands.
    pub(super) group: &'static str,
    /// Its title; `None` for the signal's own name.
    pub(super) title: Option<fn(Lang) -> &'static str>,
    /// The kinds of sources that it is of; none for all of them. Several sources have a word like `memory_used`.
    kinds: &'static [&'static str],
    /// Signals of the catalogue.
    signals: &'static [Id],
    /// Names beside them, of exporters and of users' own queries; a star at the end stands for any ending.
    patterns: &'static [&'static str],
    /// How they become series.
    pub(super) draws: Draws,
    /// The events that are worth a sentence.
    pub(super) watch: Watch,
}

/// How signals become series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Draws {
    /// Each is one.
    Each,
    /// Those with the same value of this label are added up. Only for counts of what was so at the same instants: what is
    /// missing at an instant at which others are present counts as zero.
    SumBy(&'static str),
}

/// The events that are worth a sentence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Watch {
    /// Nothing.
    Nothing,
    /// Each change. Values hold until the next.
    Steps,
    /// The longest time for which the mean share of the limit is above this one.
    Share(f64),
    /// In which order the series peak, and which of them do not come back.
    Backlog,
    /// That it was above zero at all.
    AboveZero,
}

/// The row of signals without a row of their own.
pub(super) const OTHER: LaneRow = LaneRow {
    key: "other",
    group: "other",
    title: None,
    kinds: &[],
    signals: &[],
    patterns: &[],
    draws: Draws::Each,
    watch: Watch::Nothing,
};

/// A share of a CPU limit above which work waits for its turn.
const CPU_SHARE: f64 = 0.85;

/// A share of other limits that leaves little.
const FULL_SHARE: f64 = 0.95;

/// All rows, in the order of the page.
pub(super) const ROWS: &[LaneRow] = &[
    row("queue_depth", "queues", Lang::evidence_queue_depth, &[Id::QueueReady, Id::CeleryQueueLength])
        .watching(Watch::Backlog),
    row("queue_unacked", "queues", Lang::evidence_queue_unacked, &[Id::QueueUnacked]),
    row(
        "queue_consumers",
        "queues",
        Lang::evidence_queue_consumers,
        &[Id::QueueConsumers, Id::CeleryConsumers],
    )
    .watching(Watch::Steps),
    row("queue_published", "queues", Lang::evidence_queue_published, &[Id::QueuePublished]),
    row("queue_delivered", "queues", Lang::evidence_queue_delivered, &[Id::QueueDelivered]),
    row("queue_acked", "queues", Lang::evidence_queue_acked, &[Id::QueueAcked]),
    row(
        "queue_utilisation",
        "queues",
        Lang::evidence_queue_utilisation,
        &[Id::QueueUtilisation, Id::QueueConsumerCapacity],
    ),
    row("queue_prefetch", "queues", Lang::evidence_queue_prefetch, &[Id::QueuePrefetch])
        .watching(Watch::Steps),
    row("queue_other", "queues", Lang::evidence_queue_other, &[]).and_named(&["queue_*", "rabbitmq_*"]),
    row("replicas", "workers", Lang::evidence_replicas, &[Id::DeploymentReplicas, Id::HpaReplicas])
        .and_named(&["replicas*"])
        .watching(Watch::Steps),
    row("replicas_wanted", "workers", Lang::evidence_replicas_desired, &[])
        .and_named(&["deployment_replicas_*", "hpa_*"])
        .watching(Watch::Steps),
    row("autoscaler", "workers", Lang::evidence_autoscaler, &[Id::AutoscalerLimited])
        .and_named(&["autoscaler_*"])
        .watching(Watch::Steps),
    row("container_cpu", "workers", Lang::evidence_container_cpu, &[Id::ContainerCpu])
        .watching(Watch::Share(CPU_SHARE)),
    row(
        "container_throttled",
        "workers",
        Lang::evidence_container_throttled,
        &[Id::ContainerThrottled, Id::ContainerThrottledTime],
    )
    .watching(Watch::AboveZero),
    row("container_memory", "workers", Lang::evidence_container_memory, &[Id::ContainerMemory])
        .watching(Watch::Share(FULL_SHARE)),
    row("restarts", "workers", Lang::evidence_restarts, &[Id::ContainerRestarts, Id::ContainerOomKilled])
        .watching(Watch::Steps),
    row("workers_celery", "workers", Lang::evidence_workers_other, &[])
        .and_named(&["*"])
        .limited_to(&["celery"]),
    row("workers_other", "workers", Lang::evidence_workers_other, &[]).and_named(&[
        "container_*",
        "pods*",
        "keda_*",
        "celery_*",
        "worker_*",
    ]),
    row("sessions", "database", Lang::evidence_sessions, &[Id::ActiveSessions]).summed_by(label::WAIT_TYPE),
    row("database_connections", "database", Lang::evidence_connections, &[Id::Connections])
        .limited_to(DATABASES)
        .watching(Watch::Share(FULL_SHARE)),
    row(
        "database_connections_told",
        "database",
        Lang::evidence_connections,
        &[Id::PgConnections, Id::MysqlConnections],
    )
    .watching(Watch::Share(FULL_SHARE)),
    row("locks", "database", Lang::evidence_locks, &[Id::LocksWaiting]).watching(Watch::AboveZero),
    row(
        "commits",
        "database",
        Lang::evidence_commits,
        &[Id::Commits, Id::Rollbacks, Id::PgCommits, Id::PgRollbacks, Id::MysqlQueries],
    ),
    row("blocks", "database", Lang::evidence_blocks, &[Id::BlocksHit, Id::BlocksRead, Id::MysqlReads])
        .and_named(&["pg_blocks_*"]),
    row("database_told", "database", Lang::evidence_database_other, &[]).and_named(&["pg_*", "mysql_*"]),
    row("database_other", "database", Lang::evidence_database_other, &[])
        .and_named(&["*"])
        .limited_to(DATABASES),
    row("cache_memory", "cache", Lang::evidence_memory, &[Id::MemoryUsed])
        .limited_to(&["redis"])
        .watching(Watch::Share(FULL_SHARE)),
    row("cache_memory_told", "cache", Lang::evidence_memory, &[Id::RedisMemory])
        .watching(Watch::Share(FULL_SHARE)),
    row("cache_ops", "cache", Lang::evidence_ops, &[Id::Ops]).limited_to(&["redis"]),
    row("cache_hits", "cache", Lang::evidence_hits, &[Id::Hits, Id::Misses]).limited_to(&["redis"]),
    row("cache_hits_told", "cache", Lang::evidence_hits, &[Id::RedisHits, Id::RedisMisses]),
    row("cache_evicted", "cache", Lang::evidence_evicted, &[Id::Evicted])
        .limited_to(&["redis"])
        .watching(Watch::AboveZero),
    row("cache_evicted_told", "cache", Lang::evidence_evicted, &[Id::RedisEvictions])
        .watching(Watch::AboveZero),
    row("cache_clients", "cache", Lang::evidence_clients, &[Id::Clients, Id::Blocked]).limited_to(&["redis"]),
    row("cache_told", "cache", Lang::evidence_cache_other, &[]).and_named(&["redis_*"]),
    row("cache_other", "cache", Lang::evidence_cache_other, &[]).and_named(&["*"]).limited_to(&["redis"]),
    row("proxy_requests", "proxy", Lang::evidence_requests, &[Id::Requests]).limited_to(&["nginx"]),
    row("proxy_requests_told", "proxy", Lang::evidence_requests, &[Id::NginxRequests, Id::IngressRequests]),
    row(
        "proxy_dropped",
        "proxy",
        Lang::evidence_dropped,
        &[Id::ConnectionsDropped, Id::NginxConnectionsDropped],
    )
    .watching(Watch::AboveZero),
    row("proxy_connections", "proxy", Lang::evidence_connections, &[])
        .and_named(&["connections_*"])
        .limited_to(&["nginx"]),
    row("proxy_other", "proxy", Lang::evidence_proxy_other, &[]).and_named(&["*"]).limited_to(&["nginx"]),
    row("proxy_told", "proxy", Lang::evidence_proxy_other, &[]).and_named(&["nginx_*", "ingress_*"]),
    row("heap", "runtime", Lang::evidence_heap, &[Id::JvmHeap, Id::GoHeap, Id::NodejsHeap])
        .and_named(&["jvm_heap_used"])
        .watching(Watch::Share(FULL_SHARE)),
    row("gc", "runtime", Lang::evidence_gc, &[Id::JvmGcShare, Id::GoGcShare, Id::NodejsGcShare])
        .and_named(&["gc_share"]),
    row("pool_active", "runtime", Lang::evidence_pool_active, &[Id::PoolActive])
        .and_named(&["db_client_connection_used", "db_client_connections_usage"])
        .watching(Watch::Share(FULL_SHARE)),
    row("pool_pending", "runtime", Lang::evidence_pool_pending, &[Id::PoolPending])
        .and_named(&["db_client_connection_pending_requests", "db_client_connections_pending_requests"])
        .watching(Watch::AboveZero),
    row("process_cpu", "runtime", Lang::evidence_process_cpu, &[Id::ProcessCpu, Id::JvmProcessCpu]),
    row("runtime_other", "runtime", Lang::evidence_runtime_other, &[]).and_named(RUNTIMES),
    row("log_lines", "runtime", Lang::evidence_log_lines, &[Id::LogLines, Id::LogErrors]),
    row("node_cpu", "nodes", Lang::evidence_node_cpu, &[Id::NodeCpu]).watching(Watch::Share(CPU_SHARE)),
    row("node_memory", "nodes", Lang::evidence_node_memory, &[Id::NodeMemory])
        .and_named(&["node_memory_used"])
        .watching(Watch::Share(FULL_SHARE)),
    row("node_segments", "nodes", Lang::evidence_segments, &[Id::NodeSegmentsRepeated])
        .watching(Watch::AboveZero),
    row("node_listen", "nodes", Lang::evidence_listen, &[Id::NodeListenOverflows]).watching(Watch::AboveZero),
    row("node_network", "nodes", Lang::evidence_network, &[]).and_named(&["node_network_*"]),
    row("node_other", "nodes", Lang::evidence_node_other, &[]).and_named(&["node_*"]),
    row("host_cpu", "host", Lang::evidence_host_cpu, &[Id::Cpu, Id::CoreCpu]).limited_to(HOSTS),
    row("host_programs", "host", Lang::evidence_host_programs, &[Id::ListenerCpu]),
    row("host_run_queue", "host", Lang::evidence_run_queue, &[Id::RunQueue]).limited_to(HOSTS),
    row("host_memory", "host", Lang::evidence_memory, &[Id::MemoryUsed])
        .limited_to(HOSTS)
        .watching(Watch::Share(FULL_SHARE)),
    row("host_network", "host", Lang::evidence_network, &[]).and_named(&["network_*"]).limited_to(HOSTS),
    row("host_segments", "host", Lang::evidence_segments, &[Id::SegmentsRepeated])
        .limited_to(HOSTS)
        .watching(Watch::AboveZero),
    row("host_listen", "host", Lang::evidence_listen, &[Id::ListenOverflows])
        .limited_to(HOSTS)
        .watching(Watch::AboveZero),
    row("host_other", "host", Lang::evidence_host_other, &[]).and_named(&["*"]).limited_to(HOSTS),
];

/// Kinds of sources that are databases.
const DATABASES: &[&str] = &["postgresql", "mysql"];

/// Metrics of language runtimes.
const RUNTIMES: &[&str] = &["jvm_*", "go_*", "nodejs_*", "pool_*", "process_*", "server_*"];

/// Kinds of sources that report on a machine.
const HOSTS: &[&str] = &["host"];

/// The row of a signal, by its place.
pub(super) fn place_of(kind: &str, name: &SignalName) -> Option<usize> {
    ROWS.iter().position(|row| row.has(kind, name))
}

const fn row(
    key: &'static str,
    group: &'static str,
    title: fn(Lang) -> &'static str,
    signals: &'static [Id],
) -> LaneRow {
    LaneRow {
        key,
        group,
        title: Some(title),
        kinds: &[],
        signals,
        patterns: &[],
        draws: Draws::Each,
        watch: Watch::Nothing,
    }
}

impl LaneRow {
    const fn limited_to(self, kinds: &'static [&'static str]) -> LaneRow {
        LaneRow { kinds, ..self }
    }

    const fn and_named(self, patterns: &'static [&'static str]) -> LaneRow {
        LaneRow { patterns, ..self }
    }

    const fn watching(self, watch: Watch) -> LaneRow {
        LaneRow { watch, ..self }
    }

    const fn summed_by(self, label: &'static str) -> LaneRow {
        LaneRow { draws: Draws::SumBy(label), ..self }
    }

    /// Whether a value holds until the next.
    pub(super) fn is_stepped(&self) -> bool {
        self.watch == Watch::Steps
    }

    fn has(&self, kind: &str, name: &SignalName) -> bool {
        let is_known = name.id().is_some_and(|id| self.signals.contains(&id));
        let is_named = |pattern: &str| match pattern.strip_suffix('*') {
            Some(begin) => name.as_str().starts_with(begin),
            None => name == pattern,
        };
        (self.kinds.is_empty() || self.kinds.contains(&kind))
            && (is_known || self.patterns.iter().any(|pattern| is_named(pattern)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: &str, name: &str, expect: &str) {
        let key = place_of(kind, &name.into()).map_or(OTHER.key, |place| ROWS[place].key);
        assert_eq!(key, expect, "{name} of {kind}");
    }

    #[test]
    fn every_signal_has_its_lane() {
        check("rabbitmq", "queue_ready", "queue_depth");
        check("rabbitmq", "queue_of_tomorrow", "queue_other");
        check("prometheus", "hpa_replicas", "replicas");
        check("prometheus", "hpa_replicas_wanted", "replicas_wanted");
        check("prometheus", "pg_connections", "database_connections_told");
        check("postgresql", "connections", "database_connections");
        check("postgresql", "checkpoints", "database_other");
        check("redis", "memory_used", "cache_memory");
        check("host", "memory_used", "host_memory");
        check("nginx", "connections_dropped", "proxy_dropped");
        check("nginx", "connections_active", "proxy_connections");
        check("celery", "queue_ready", "queue_depth");
        check("celery", "tasks_active", "workers_celery");
        check("host", "core_cpu", "host_cpu");
        check("prometheus", "autoscaler_limited", "autoscaler");
        check("prometheus", "pods", "workers_other");
        check("loki", "log_errors", "log_lines");
        check("scrape", "db_client_connection_used", "pool_active");
        check("scrape", "db_client_connection_pending_requests", "pool_pending");
        check("prometheus", "memory_used", "other");
        check("prometheus", "anything", "other");
    }

    #[test]
    fn keys_are_told_apart() {
        let mut keys: Vec<_> = ROWS.iter().map(|row| row.key).chain([OTHER.key]).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), ROWS.len() + 1);
    }
}
