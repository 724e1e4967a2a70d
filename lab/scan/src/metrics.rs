//! The metrics that the service exposes: its own, those that the other processes count, and RabbitMQ's of its queues.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use labkit::{Definition, Kind, SPANS, metric};

use crate::stage::Stage;

/// A metric's name and its labels as they are shown.
pub(crate) type Series = (&'static str, &'static str);

pub(crate) const REQUEST_SECONDS: &str = "http_server_request_duration_seconds";
pub(crate) const REQUESTS: &str = "http_server_requests_total";
pub(crate) const SUBMITTED: &str = "scan_submitted_total";
pub(crate) const MESSAGES: &str = "rabbitmq_queue_messages";
pub(crate) const MESSAGES_READY: &str = "rabbitmq_queue_messages_ready";
pub(crate) const CONSUMERS: &str = "rabbitmq_queue_consumers";
pub(crate) const WORKERS: &str = "scan_workers";
pub(crate) const REPLICAS: &str = "scan_scaler_replicas";
pub(crate) const REPLICAS_MAX: &str = "scan_scaler_replicas_max";
pub(crate) const POD_INFO: &str = "kube_pod_info";
pub(crate) const HPA_REPLICAS: &str = "kube_horizontalpodautoscaler_status_current_replicas";
pub(crate) const HPA_WANTED: &str = "kube_horizontalpodautoscaler_status_desired_replicas";
pub(crate) const HPA_MAX: &str = "kube_horizontalpodautoscaler_spec_max_replicas";
pub(crate) const HPA_CONDITION: &str = "kube_horizontalpodautoscaler_status_condition";
pub(crate) const REPLICAS_MISSING: &str = "scan_scaler_missing_replica_seconds_total";
pub(crate) const TASKS: &str = "scan_tasks_total";
pub(crate) const TASK_SECONDS: &str = "scan_task_seconds_total";
pub(crate) const QUEUE_WAIT_SECONDS: &str = "scan_queue_wait_seconds_total";
pub(crate) const FAILED: &str = "scan_tasks_failed_total";
pub(crate) const GIVEN_BACK: &str = "scan_messages_given_back_total";
pub(crate) const NOT_CONSUMING: &str = "scan_worker_not_consuming_seconds_total";
pub(crate) const PREFETCH_EXHAUSTED: &str = "scan_prefetch_exhausted_seconds_total";
pub(crate) const MEMORY_WAIT: &str = "scan_memory_wait_seconds_total";
pub(crate) const LLM_CALLS: &str = "llm_calls_total";
pub(crate) const LLM_SECONDS: &str = "llm_service_seconds_total";
pub(crate) const LLM_LIMITED: &str = "llm_rate_limit_wait_seconds_total";

/// The workers as kube-state-metrics exposes an autoscaler: the metrics that any operator has of them.
pub(crate) const SCALER: &str = "horizontalpodautoscaler=\"scan-worker\",namespace=\"lab\"";
pub(crate) const SCALING_LIMITED: &str =
    "condition=\"ScalingLimited\",horizontalpodautoscaler=\"scan-worker\",namespace=\"lab\",status=\"true\"";
pub(crate) const SERVICE_POD: &str = "namespace=\"lab\",pod=\"scan\"";

/// Counters of workers, exposed by the service as the sum over all that ever ran.
pub(crate) const SHIPPED: &[Series] = &[
    (TASKS, Stage::Vision.labels()),
    (TASKS, Stage::Rule.labels()),
    (TASKS, Stage::Answer.labels()),
    (TASKS, Stage::Reward.labels()),
    (TASK_SECONDS, Stage::Vision.labels()),
    (TASK_SECONDS, Stage::Rule.labels()),
    (TASK_SECONDS, Stage::Answer.labels()),
    (TASK_SECONDS, Stage::Reward.labels()),
    (QUEUE_WAIT_SECONDS, Stage::Vision.labels()),
    (QUEUE_WAIT_SECONDS, Stage::Rule.labels()),
    (QUEUE_WAIT_SECONDS, Stage::Answer.labels()),
    (QUEUE_WAIT_SECONDS, Stage::Reward.labels()),
    (FAILED, ""),
    (GIVEN_BACK, ""),
    (NOT_CONSUMING, ""),
    (PREFETCH_EXHAUSTED, ""),
    (MEMORY_WAIT, ""),
    (LLM_CALLS, ""),
    (LLM_SECONDS, ""),
    (LLM_LIMITED, ""),
];

/// All of them.
pub(crate) const ALL: &[Definition] = &[
    metric(REQUEST_SECONDS, Kind::Histogram, "Time from a request to its answer, by route."),
    metric(REQUESTS, Kind::Counter, "Requests answered."),
    metric(SUBMITTED, Kind::Counter, "Scans that were taken."),
    metric(MESSAGES, Kind::Gauge, "Messages of a queue, those that workers hold among them."),
    metric(MESSAGES_READY, Kind::Gauge, "Messages of a queue that no worker holds."),
    metric(CONSUMERS, Kind::Gauge, "Workers that take from a queue."),
    metric(WORKERS, Kind::Gauge, "Workers that report, the canary among them."),
    metric(REPLICAS, Kind::Gauge, "Workers that the autoscaler has decided on, without the canary."),
    metric(REPLICAS_MAX, Kind::Gauge, "Workers that the autoscaler may start."),
    metric(POD_INFO, Kind::Gauge, "The service."),
    metric(HPA_REPLICAS, Kind::Gauge, "Workers that the autoscaler counts."),
    metric(HPA_WANTED, Kind::Gauge, "Workers that it has decided on."),
    metric(HPA_MAX, Kind::Gauge, "Workers that it may start."),
    metric(HPA_CONDITION, Kind::Gauge, "Whether it would start more than it may."),
    metric(REPLICAS_MISSING, Kind::Counter, "Time of workers that queues asked for beyond what is allowed."),
    metric(TASKS, Kind::Counter, "Tasks that were done, by queue."),
    metric(TASK_SECONDS, Kind::Counter, "Time that doing them has taken, by queue."),
    metric(QUEUE_WAIT_SECONDS, Kind::Counter, "Time that they had waited before, by queue."),
    metric(FAILED, Kind::Counter, "Tasks that could not be done."),
    metric(GIVEN_BACK, Kind::Counter, "Messages that went back to their queue after the work on them."),
    metric(NOT_CONSUMING, Kind::Counter, "Time of workers that ran and took from no queue."),
    metric(
        PREFETCH_EXHAUSTED,
        Kind::Counter,
        "Time of workers that could have done more, and held all messages of a queue that they may.",
    ),
    metric(MEMORY_WAIT, Kind::Counter, "Time that tasks have waited for memory."),
    metric(LLM_CALLS, Kind::Counter, "Calls of the model that were answered."),
    metric(LLM_SECONDS, Kind::Counter, "Time that the model has taken over them."),
    metric(LLM_LIMITED, Kind::Counter, "Time that calls have waited because of the model's rate limit."),
    SPANS,
];

/// Metrics of a process other than the service, which are not scraped.
pub(crate) const OF_PARTS: &[Definition] = &[SPANS];

/// The counts of a process since the last report.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    values: Mutex<BTreeMap<Series, f64>>,
}

impl Counts {
    /// Adds to a counter.
    pub(crate) fn add(&self, name: &'static str, labels: &'static str, by: f64) {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        *values.entry((name, labels)).or_default() += by;
    }

    /// Takes all of it.
    pub(crate) fn take(&self) -> BTreeMap<Series, f64> {
        std::mem::take(&mut *self.values.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
