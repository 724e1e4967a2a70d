//! The faults of the scanner: how they are ordered, and who makes which.
//!
//! The service writes down what is to act; the other processes read it several times a second and say what does. An order is
//! done when all of them have said so.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use labkit::Orders;
use model::SystemClock;

use crate::monitor;
use crate::seed::REPLICAS_MAX;
use crate::service::Scan;

/// The autoscaler may start no more than one worker.
const SCALER_CEILING: &str = "scaler-ceiling";
/// All workers but the canary take from no queue.
pub(crate) const TOO_FEW_CONSUMERS: &str = "too-few-consumers";
/// A worker takes one message of each queue at a time.
pub(crate) const PREFETCH_TOO_SMALL: &str = "prefetch-too-small";
/// A worker has memory for two pictures.
pub(crate) const MEMORY_LIMIT: &str = "memory-limit";
/// A third of the answers are thrown away, and their messages come again.
pub(crate) const REDELIVERY: &str = "redelivery";
/// The model takes twelve calls a second.
pub(crate) const RATE_LIMIT: &str = "downstream-rate-limit";
/// The model takes twice as long.
pub(crate) const SLOW_DOWNSTREAM: &str = "slow-downstream";

/// All of them.
const ALL: [&str; 7] = [
    TOO_FEW_CONSUMERS,
    PREFETCH_TOO_SMALL,
    SCALER_CEILING,
    RATE_LIMIT,
    SLOW_DOWNSTREAM,
    MEMORY_LIMIT,
    REDELIVERY,
];

/// A process that has not said by then that it does as ordered does not answer.
const OBEY_LIMIT: Duration = Duration::from_secs(10);

/// How often is asked whether they do.
const PERIOD: Duration = Duration::from_millis(20);

/// Whether a fault is among those that are to act.
pub(crate) fn has(faults: &str, name: &str) -> bool {
    faults.split(',').any(|fault| fault == name)
}

/// Follows orders until their sender is gone.
pub(crate) async fn obey(scan: Arc<Scan>, mut orders: Orders) {
    let mut on: BTreeSet<&'static str> = BTreeSet::new();
    while let Some(order) = orders.recv().await {
        let done = match ALL.iter().find(|known| **known == order.name) {
            None => Err(format!("it knows no fault {:?}", order.name)),
            Some(name) => {
                if order.is_on {
                    on.insert(name);
                } else {
                    on.remove(name);
                }
                act(&scan, &on).await
            }
        };
        // The sender of the order may have gone.
        let _ = order.done.send(done);
    }
}

async fn act(scan: &Arc<Scan>, on: &BTreeSet<&'static str>) -> Result<(), String> {
    let ceiling = if on.contains(SCALER_CEILING) { 1 } else { REPLICAS_MAX };
    scan.ceiling.store(ceiling, Ordering::Relaxed);
    let faults = on.iter().copied().collect::<Vec<_>>().join(",");
    scan.store.set_faults(&faults).await?;
    let asked = SystemClock::now();
    loop {
        let names = monitor::parts(scan.replicas.load(Ordering::Relaxed));
        let beats = scan.store.beats(&names).await?;
        let obeys = |beat: &Option<crate::store::Beat>| beat.as_ref().is_some_and(|it| it.faults == faults);
        let Some(idle) = beats.iter().position(|beat| !obeys(beat)) else { return Ok(()) };
        if SystemClock::now().since(asked) > OBEY_LIMIT {
            return Err(format!("{} does not answer", names[idle]));
        }
        tokio::time::sleep(PERIOD).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_has_these_faults_and_no_others() {
        let listed: BTreeSet<&str> = lab::faults_of("scan").map(|fault| fault.name.as_str()).collect();
        assert_eq!(listed, ALL.into_iter().collect());
    }

    #[test]
    fn a_fault_is_found_by_its_whole_name() {
        assert!(has("memory-limit,redelivery", REDELIVERY) && has("redelivery", REDELIVERY));
        assert!(!has("", REDELIVERY) && !has("redelivery-x", REDELIVERY));
    }
}
