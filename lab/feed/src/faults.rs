//! The faults of the feed, and how each is made.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use labkit::Orders;

use crate::state::Feed;

/// Follows orders until their sender is gone.
pub(crate) async fn obey(feed: Arc<Feed>, mut orders: Orders) {
    while let Some(order) = orders.recv().await {
        let done = set(&feed, &order.name, order.is_on).await;
        // The sender of the order may have gone.
        let _ = order.done.send(done);
    }
}

/// Turns a fault on or off; each is a switch, so twice is as once.
pub(crate) async fn set(feed: &Feed, name: &str, is_on: bool) -> Result<(), String> {
    match name {
        "accept-queue-overflow" => return feed.door.set_slow(is_on).map_err(|error| error.to_string()),
        "connection-churn" => feed.is_churning.store(is_on, Ordering::Relaxed),
        "bandwidth-limit" => feed.link.set_limited(is_on),
        "hot-key" => feed.keys.set_hot(is_on),
        "slow-downstream" => feed.downstream.is_slow.store(is_on, Ordering::Relaxed),
        "dns-delay" => feed.downstream.is_lookup_slow.store(is_on, Ordering::Relaxed),
        "memory-limit" => {
            let cache = feed.cache.as_ref().ok_or("this variant has no cache")?;
            return cache.set_limited(is_on).await.map_err(|error| error.to_string());
        }
        other => return Err(format!("it knows no fault {other:?}")),
    }
    Ok(())
}
