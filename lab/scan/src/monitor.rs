//! The background work of the service: it reads the queues, exposes them, and decides how many workers there are.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use lab::Assignment;
use model::{Instant, SystemClock};
use serde_json::json;

use crate::metrics;
use crate::scaler::{Depths, POLLING_INTERVAL, Scaler};
use crate::service::Scan;
use crate::stage::Stage;
use crate::store;
use crate::{CANARY, LLM, WORKERS};

/// How often queues are looked at. That costs RabbitMQ four short answers.
const PERIOD: Duration = Duration::from_millis(100);

/// The processes beside the service, with so many workers.
pub(crate) fn parts(replicas: usize) -> Vec<&'static str> {
    [LLM, CANARY].into_iter().chain(WORKERS.into_iter().take(replicas)).collect()
}

/// How long it waits after something was gone.
const PAUSE: Duration = Duration::from_secs(1);

/// Looks on for as long as the service runs. What it cannot see stands in the log; requests go on without it.
pub(crate) async fn run(scan: Arc<Scan>, assignment: Assignment, scaler: Scaler) {
    let now = SystemClock::now();
    let mut monitor = Monitor { scan, assignment, scaler, seen: now, polled: now, ceiling: None };
    loop {
        if let Err(why) = monitor.look().await {
            monitor.scan.log.line("error", "monitor", json!({ "error": format!("failed to {why}") }));
            tokio::time::sleep(PAUSE).await;
        }
        tokio::time::sleep(PERIOD).await;
    }
}

struct Monitor {
    scan: Arc<Scan>,
    assignment: Assignment,
    scaler: Scaler,
    /// When it looked last.
    seen: Instant,
    /// When the autoscaler decided last, and what it was allowed then.
    polled: Instant,
    ceiling: Option<usize>,
}

impl Monitor {
    async fn look(&mut self) -> Result<(), String> {
        let scan = self.scan.clone();
        let queues = scan.broker.queues().await?;
        // Of all that there may be: one that is ending still holds messages.
        let beats = scan.store.beats(&parts(WORKERS.len())).await?;
        let held = store::held(&beats);
        let depths = Stage::ALL.map(|stage| queues[stage.index()].ready + held[stage.index()]);
        for stage in Stage::ALL {
            let (index, labels) = (stage.index(), stage.labels());
            scan.metrics.set(metrics::MESSAGES, labels, depths[index] as f64);
            scan.metrics.set(metrics::MESSAGES_READY, labels, queues[index].ready as f64);
            scan.metrics.set(metrics::CONSUMERS, labels, queues[index].consumers as f64);
        }
        let workers = beats.iter().skip(1).flatten().count();
        scan.metrics.set(metrics::WORKERS, "", workers as f64);
        // The model comes first and the canary then; the others are the autoscaler's.
        let deployed = beats.iter().skip(2).flatten().count();
        scan.metrics.set(metrics::POD_INFO, metrics::SERVICE_POD, 1.0);
        scan.metrics.set(metrics::HPA_REPLICAS, metrics::SCALER, deployed as f64);
        let counters = scan.store.counters().await?;
        for ((name, labels), value) in metrics::SHIPPED.iter().zip(counters) {
            scan.metrics.set(name, labels, value);
        }
        self.scale(SystemClock::now(), &depths)
    }

    fn scale(&mut self, now: Instant, depths: &Depths) -> Result<(), String> {
        let scan = self.scan.clone();
        let passed = now.since(self.seen).min(PAUSE);
        self.seen = now;
        let ceiling = scan.ceiling.load(Ordering::Relaxed);
        let missing = self.scaler.wanted(depths).saturating_sub(ceiling);
        scan.metrics.add(metrics::REPLICAS_MISSING, "", missing as f64 * passed.as_secs_f64());
        scan.metrics.set(metrics::REPLICAS_MAX, "", ceiling as f64);
        scan.metrics.set(metrics::HPA_MAX, metrics::SCALER, ceiling as f64);
        scan.metrics.set(metrics::HPA_CONDITION, metrics::SCALING_LIMITED, f64::from(u8::from(missing > 0)));
        if now.since(self.polled) < POLLING_INTERVAL && self.ceiling == Some(ceiling) {
            return Ok(());
        }
        (self.polled, self.ceiling) = (now, Some(ceiling));
        let replicas = self.scaler.step(now, depths, ceiling);
        scan.metrics.set(metrics::REPLICAS, "", replicas as f64);
        scan.metrics.set(metrics::HPA_WANTED, metrics::SCALER, replicas as f64);
        let before = scan.replicas.swap(replicas, Ordering::Relaxed);
        if before == replicas {
            return Ok(());
        }
        scan.log.line("info", "scale", json!({ "from": before, "to": replicas, "depths": depths }));
        self.assignment.ask_for(&parts(replicas))
    }
}
