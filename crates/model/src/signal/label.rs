//! Names of the labels that analysis and reports look at. Signals may have any others.

/// Container of a pod.
pub const CONTAINER: &str = "container";
/// Pod of a cluster.
pub const POD: &str = "pod";
/// Message queue.
pub const QUEUE: &str = "queue";
/// Virtual host of a broker.
pub const VIRTUAL_HOST: &str = "vhost";
/// Connection pool.
pub const POOL: &str = "pool";
/// Program on a machine: its name and its TCP port.
pub const PROGRAM: &str = "program";
/// Address that a program calls.
pub const CALLEE: &str = "callee";
/// Number of a core.
pub const CORE: &str = "core";
/// Address that Prometheus scrapes.
pub const INSTANCE: &str = "instance";
/// Job of Prometheus' configuration.
pub const JOB: &str = "job";
/// State of a connection.
pub const STATE: &str = "state";
/// Replica of a service.
pub const REPLICA: &str = "replica";
/// Pod of an ingress controller.
pub const CONTROLLER_POD: &str = "controller_pod";
/// Host of a worker.
pub const HOSTNAME: &str = "hostname";
/// Table of a database.
pub const TABLE: &str = "table";
/// Kind of wait of a database session, as in `pg_stat_activity`.
pub const WAIT_TYPE: &str = "wait_type";
/// Wait event of a database session, as in `pg_stat_activity`.
pub const WAIT_EVENT: &str = "wait_event";
