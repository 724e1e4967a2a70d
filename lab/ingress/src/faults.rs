//! The faults of the ingress, and how each is made: some in the backend, some in the proxies, through their own doors.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use labkit::Orders;

use crate::backend::Backend;

/// The orders for a proxy: to refuse nearly all requests, and to use one connection to the backend.
pub(crate) const REFUSE: &str = "refuse";
pub(crate) const ONE_CONNECTION: &str = "one-connection";

/// A proxy that takes longer to follow an order counts as gone.
const PROXY_LIMIT: Duration = Duration::from_secs(2);

/// Follows orders until their sender is gone. `proxies` are their control addresses.
pub(crate) async fn obey(backend: Arc<Backend>, proxies: Vec<String>, mut orders: Orders) {
    while let Some(order) = orders.recv().await {
        let done = set(&backend, &proxies, &order.name, order.is_on).await;
        // The sender of the order may have gone.
        let _ = order.done.send(done);
    }
}

/// Turns a fault on or off; each is a switch, so twice is as once.
async fn set(backend: &Backend, proxies: &[String], name: &str, is_on: bool) -> Result<(), String> {
    match name {
        "downstream-rate-limit" => backend.limiter.set(is_on),
        "generator-limit" => backend.is_generator_limited.store(is_on, Ordering::Relaxed),
        "head-of-line" => return set_in_proxies(proxies, ONE_CONNECTION, is_on).await,
        "replica-imbalance" if proxies.len() < 2 => return Err("this variant has one proxy".to_owned()),
        "replica-imbalance" => return set_in_proxies(&proxies[1..], REFUSE, is_on).await,
        other => return Err(format!("it knows no fault {other:?}")),
    }
    Ok(())
}

/// Sets a fault in each of the proxies.
async fn set_in_proxies(proxies: &[String], fault: &'static str, is_on: bool) -> Result<(), String> {
    let urls: Vec<String> = proxies.iter().map(|proxy| format!("{proxy}/faults/{fault}")).collect();
    let answer = tokio::task::spawn_blocking(move || {
        let config = ureq::Agent::config_builder().timeout_global(Some(PROXY_LIMIT)).proxy(None);
        let agent = config.build().new_agent();
        urls.iter().try_for_each(|url| {
            let answer = agent.put(url).send(if is_on { "on" } else { "off" });
            answer.map(|_| ()).map_err(|error| format!("set the fault at {url}: {error}"))
        })
    });
    answer.await.map_err(|error| error.to_string())?
}
