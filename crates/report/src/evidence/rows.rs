//! Which signals make which lane: one row each.
//!
//! The first row that names a signal has it; what no row names gets a lane of its own, so that nothing that was collected is
//! hidden.

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
    /// The signals; a star at the end stands for any end.
    names: &'static [&'static str],
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
    names: &[],
    draws: Draws::Each,
    watch: Watch::Nothing,
};

/// Queues' messages that are ready, which the queue table is made of.
pub(super) const QUEUE_READY: &str = "queue_ready";

/// A share of a CPU limit above which work waits for its turn.
const CPU_SHARE: f64 = 0.85;

/// A share of other limits that leaves little.
const FULL_SHARE: f64 = 0.95;

/// All rows, in the order of the page.
pub(super) const ROWS: &[LaneRow] = &[
    row("queue_depth", "queues", Lang::evidence_queue_depth, &[QUEUE_READY, "celery_queue_length"])
        .watching(Watch::Backlog),
    row("queue_unacked", "queues", Lang::evidence_queue_unacked, &["queue_unacked"]),
    row(
        "queue_consumers",
        "queues",
        Lang::evidence_queue_consumers,
        &["queue_consumers", "celery_consumers"],
    )
    .watching(Watch::Steps),
    row("queue_published", "queues", Lang::evidence_queue_published, &["queue_published"]),
    row("queue_delivered", "queues", Lang::evidence_queue_delivered, &["queue_delivered"]),
    row("queue_acked", "queues", Lang::evidence_queue_acked, &["queue_acked"]),
    row(
        "queue_utilisation",
        "queues",
        Lang::evidence_queue_utilisation,
        &["queue_utilisation", "queue_consumer_capacity"],
    ),
    row("queue_prefetch", "queues", Lang::evidence_queue_prefetch, &["queue_prefetch"])
        .watching(Watch::Steps),
    row("queue_other", "queues", Lang::evidence_queue_other, &["queue_*", "rabbitmq_*"]),
    row(
        "replicas",
        "workers",
        Lang::evidence_replicas,
        &["replicas*", "deployment_replicas", "hpa_replicas"],
    )
    .watching(Watch::Steps),
    row("replicas_wanted", "workers", Lang::evidence_replicas_desired, &["deployment_replicas_*", "hpa_*"])
        .watching(Watch::Steps),
    row("container_cpu", "workers", Lang::evidence_container_cpu, &["container_cpu"])
        .watching(Watch::Share(CPU_SHARE)),
    row("container_throttled", "workers", Lang::evidence_container_throttled, &["container_throttled"])
        .watching(Watch::AboveZero),
    row("container_memory", "workers", Lang::evidence_container_memory, &["container_memory"])
        .watching(Watch::Share(FULL_SHARE)),
    row("restarts", "workers", Lang::evidence_restarts, &["container_restarts", "container_oom_killed"])
        .watching(Watch::Steps),
    row("workers_celery", "workers", Lang::evidence_workers_other, &["*"]).of(&["celery"]),
    row(
        "workers_other",
        "workers",
        Lang::evidence_workers_other,
        &["container_*", "pods_*", "keda_*", "celery_*", "worker_*"],
    ),
    row("sessions", "database", Lang::evidence_sessions, &["active_sessions"]).summed_by("wait_type"),
    row("database_connections", "database", Lang::evidence_connections, &["connections"])
        .of(DATABASES)
        .watching(Watch::Share(FULL_SHARE)),
    row(
        "database_connections_told",
        "database",
        Lang::evidence_connections,
        &["pg_connections", "mysql_connections"],
    )
    .watching(Watch::Share(FULL_SHARE)),
    row("locks", "database", Lang::evidence_locks, &["locks_waiting"]).watching(Watch::AboveZero),
    row(
        "commits",
        "database",
        Lang::evidence_commits,
        &["commits", "rollbacks", "pg_commits", "pg_rollbacks", "mysql_queries"],
    ),
    row(
        "blocks",
        "database",
        Lang::evidence_blocks,
        &["blocks_hit", "blocks_read", "pg_blocks_*", "mysql_reads"],
    ),
    row("database_told", "database", Lang::evidence_database_other, &["pg_*", "mysql_*"]),
    row("database_other", "database", Lang::evidence_database_other, &["*"]).of(DATABASES),
    row("cache_memory", "cache", Lang::evidence_memory, &["memory_used"])
        .of(&["redis"])
        .watching(Watch::Share(FULL_SHARE)),
    row("cache_memory_told", "cache", Lang::evidence_memory, &["redis_memory"])
        .watching(Watch::Share(FULL_SHARE)),
    row("cache_ops", "cache", Lang::evidence_ops, &["ops"]).of(&["redis"]),
    row("cache_hits", "cache", Lang::evidence_hits, &["hits", "misses"]).of(&["redis"]),
    row("cache_hits_told", "cache", Lang::evidence_hits, &["redis_hits", "redis_misses"]),
    row("cache_evicted", "cache", Lang::evidence_evicted, &["evicted"])
        .of(&["redis"])
        .watching(Watch::AboveZero),
    row("cache_evicted_told", "cache", Lang::evidence_evicted, &["redis_evictions"])
        .watching(Watch::AboveZero),
    row("cache_clients", "cache", Lang::evidence_clients, &["clients", "blocked"]).of(&["redis"]),
    row("cache_told", "cache", Lang::evidence_cache_other, &["redis_*"]),
    row("cache_other", "cache", Lang::evidence_cache_other, &["*"]).of(&["redis"]),
    row("proxy_requests", "proxy", Lang::evidence_requests, &["requests"]).of(&["nginx"]),
    row("proxy_requests_told", "proxy", Lang::evidence_requests, &["nginx_requests", "ingress_requests"]),
    row(
        "proxy_dropped",
        "proxy",
        Lang::evidence_dropped,
        &["connections_dropped", "nginx_connections_dropped"],
    )
    .watching(Watch::AboveZero),
    row("proxy_connections", "proxy", Lang::evidence_connections, &["connections_*"]).of(&["nginx"]),
    row("proxy_other", "proxy", Lang::evidence_proxy_other, &["*"]).of(&["nginx"]),
    row("proxy_told", "proxy", Lang::evidence_proxy_other, &["nginx_*", "ingress_*"]),
    row("heap", "runtime", Lang::evidence_heap, &["jvm_heap", "jvm_heap_used", "go_heap", "nodejs_heap"])
        .watching(Watch::Share(FULL_SHARE)),
    row("gc", "runtime", Lang::evidence_gc, &["gc_share", "jvm_gc_share", "go_gc_share", "nodejs_gc_share"]),
    row("pool_active", "runtime", Lang::evidence_pool_active, &["pool_active"])
        .watching(Watch::Share(FULL_SHARE)),
    row("pool_pending", "runtime", Lang::evidence_pool_pending, &["pool_pending"]).watching(Watch::AboveZero),
    row("process_cpu", "runtime", Lang::evidence_process_cpu, &["process_cpu", "jvm_process_cpu"]),
    row("runtime_other", "runtime", Lang::evidence_runtime_other, RUNTIMES),
    row("node_cpu", "nodes", Lang::evidence_node_cpu, &["node_cpu"]).watching(Watch::Share(CPU_SHARE)),
    row("node_memory", "nodes", Lang::evidence_node_memory, &["node_memory", "node_memory_used"])
        .watching(Watch::Share(FULL_SHARE)),
    row("node_segments", "nodes", Lang::evidence_segments, &["node_segments_repeated"])
        .watching(Watch::AboveZero),
    row("node_listen", "nodes", Lang::evidence_listen, &["node_listen_overflows"]).watching(Watch::AboveZero),
    row("node_network", "nodes", Lang::evidence_network, &["node_network_*"]),
    row("node_other", "nodes", Lang::evidence_node_other, &["node_*"]),
    row("host_cpu", "host", Lang::evidence_host_cpu, &["cpu", "core_cpu"]).of(HOSTS),
    row("host_run_queue", "host", Lang::evidence_run_queue, &["run_queue"]).of(HOSTS),
    row("host_memory", "host", Lang::evidence_memory, &["memory_used"])
        .of(HOSTS)
        .watching(Watch::Share(FULL_SHARE)),
    row("host_network", "host", Lang::evidence_network, &["network_*"]).of(HOSTS),
    row("host_segments", "host", Lang::evidence_segments, &["segments_repeated"])
        .of(HOSTS)
        .watching(Watch::AboveZero),
    row("host_listen", "host", Lang::evidence_listen, &["listen_overflows"])
        .of(HOSTS)
        .watching(Watch::AboveZero),
    row("host_other", "host", Lang::evidence_host_other, &["*"]).of(HOSTS),
];

/// Kinds of sources that are databases.
const DATABASES: &[&str] = &["postgresql", "mysql"];

/// Metrics of language runtimes.
const RUNTIMES: &[&str] = &["jvm_*", "go_*", "nodejs_*", "pool_*", "process_*", "server_*"];

/// Kinds of sources that tell of a machine.
const HOSTS: &[&str] = &["host"];

/// Suffixes of signals that are limits of others.
const LIMIT_ENDS: [&str; 3] = ["_max", "_limit", "_total"];

/// Suffixes that are removed first: `memory_used` has the limit `memory_max`.
const USE_ENDS: [&str; 2] = ["_used", "_active"];

/// The names that a limit of this signal can have.
pub(super) fn limit_names(name: &str) -> impl Iterator<Item = String> {
    let stem = USE_ENDS.iter().find_map(|end| name.strip_suffix(end));
    let stems = [Some(name), stem].into_iter().flatten().map(str::to_owned).collect::<Vec<_>>();
    stems.into_iter().flat_map(|stem| LIMIT_ENDS.map(|end| format!("{stem}{end}")))
}

/// The row of a signal, by its place.
pub(super) fn place_of(kind: &str, name: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.has(kind, name))
}

const fn row(
    key: &'static str,
    group: &'static str,
    title: fn(Lang) -> &'static str,
    names: &'static [&'static str],
) -> LaneRow {
    LaneRow { key, group, title: Some(title), kinds: &[], names, draws: Draws::Each, watch: Watch::Nothing }
}

impl LaneRow {
    const fn of(self, kinds: &'static [&'static str]) -> LaneRow {
        LaneRow { kinds, ..self }
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

    fn has(&self, kind: &str, name: &str) -> bool {
        let is_named = |pattern: &str| match pattern.strip_suffix('*') {
            Some(begin) => name.starts_with(begin),
            None => name == pattern,
        };
        (self.kinds.is_empty() || self.kinds.contains(&kind)) && self.names.iter().any(|name| is_named(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: &str, name: &str, expect: &str) {
        let key = place_of(kind, name).map_or(OTHER.key, |place| ROWS[place].key);
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

    #[test]
    fn limits_go_by_the_names_of_what_they_limit() {
        let names: Vec<_> = limit_names("jvm_heap_used").collect();
        assert!(names.contains(&"jvm_heap_max".to_owned()), "{names:?}");
        let names: Vec<_> = limit_names("container_cpu").collect();
        assert_eq!(names, ["container_cpu_max", "container_cpu_limit", "container_cpu_total"]);
    }
}
