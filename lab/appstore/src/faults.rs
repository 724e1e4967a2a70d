//! The faults of the app store, and how each is made.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::try_join_all;
use labkit::Orders;
use model::SystemClock;
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use crate::store::{Store, Variant};
use crate::{data, database, metrics, queries};

/// How long the service stands still, and how long it goes on between.
const PAUSE: Duration = Duration::from_millis(250);
const BETWEEN_PAUSES: Duration = Duration::from_millis(750);

/// How long the disk takes over a line of the log.
const LOG_SYNC: Duration = Duration::from_millis(4);

/// How long a transaction holds the row that downloads count in, and how long it is free between.
const ROW_HELD: Duration = Duration::from_millis(300);
const ROW_FREE: Duration = Duration::from_millis(100);

/// From one round of reports to the next.
const REPORT_PERIOD: Duration = Duration::from_secs(2);

/// How long reports run in each round, on a machine of any speed: the last ones of a round start before this is over.
const REPORTS_RUN: Duration = Duration::from_secs(1);

/// How often the time of running reports is counted.
const JOB_STEP: Duration = Duration::from_millis(100);

/// Reports that run at the same time.
const REPORTS: usize = 8;

/// The app whose row is held; the scripts download it.
const HELD_APP: i64 = 1;

/// Follows orders until their sender is gone.
pub(crate) async fn obey(store: Arc<Store>, url: String, mut orders: Orders) {
    let mut planted: Vec<(String, Planted)> = Vec::new();
    while let Some(order) = orders.recv().await {
        let is_planted = planted.iter().any(|(name, _)| *name == order.name);
        let done = match (order.is_on, is_planted) {
            (true, true) | (false, false) => Ok(()),
            (true, false) => plant(&store, &url, &order.name).await.map(|it| planted.push((order.name, it))),
            (false, true) => {
                planted.retain(|(name, _)| *name != order.name);
                remove(&store, &url, &order.name).await
            }
        };
        // The sender of the order may have gone.
        let _ = order.done.send(done);
    }
}

/// The guard of a fault; dropped, the fault ends.
enum Planted {
    /// It is a switch.
    Switched,
    /// Connections that are withheld.
    Held(#[expect(dead_code, reason = "held, not read")] tokio::sync::OwnedSemaphorePermit),
    /// Something that runs beside the requests.
    Beside(#[expect(dead_code, reason = "dropped, not read")] Beside),
}

struct Beside(JoinHandle<()>);

impl Drop for Beside {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn plant(store: &Arc<Store>, url: &str, name: &str) -> Result<Planted, String> {
    let beside = |task| Ok(Planted::Beside(Beside(task)));
    let switches = &store.switches;
    match name {
        "pool-too-small" => {
            let most = u32::try_from(database::CONNECTIONS_MAX).unwrap_or(1) - 1;
            let held = store.pool.permits().clone().acquire_many_owned(most).await;
            return held.map(Planted::Held).map_err(|error| error.to_string());
        }
        "row-lock" => return beside(tokio::spawn(hold_row(connect(url).await?))),
        "missing-index" => execute(url, "drop index if exists visit_app").await?,
        "n-plus-one" => switches.n_plus_one.store(true, Ordering::Relaxed),
        "periodic-job" => {
            let mut clients = Vec::with_capacity(REPORTS);
            for _ in 0..REPORTS {
                clients.push(connect(url).await?);
            }
            return beside(tokio::spawn(report(store.clone(), clients)));
        }
        "cache-stampede" if store.variant == Variant::TwoQueries => {
            return Err("this variant has no cache".to_owned());
        }
        "cache-stampede" => store.cache.set_stampede(true),
        "gc-pauses" => return beside(tokio::spawn(pause(store.clone()))),
        "slow-log-sync" => store.log.set_sync(Some(LOG_SYNC)),
        "chatty-serialisation" => switches.chatty.store(true, Ordering::Relaxed),
        "cpu-limit" => switches.cpu_limit.store(true, Ordering::Relaxed),
        other => return Err(format!("it knows no fault {other:?}")),
    }
    Ok(Planted::Switched)
}

/// Undoes what does not end by itself.
async fn remove(store: &Store, url: &str, name: &str) -> Result<(), String> {
    match name {
        "missing-index" => execute(url, data::VISIT_INDEX).await?,
        "n-plus-one" => store.switches.n_plus_one.store(false, Ordering::Relaxed),
        "cache-stampede" => store.cache.set_stampede(false),
        "slow-log-sync" => store.log.set_sync(None),
        "chatty-serialisation" => store.switches.chatty.store(false, Ordering::Relaxed),
        "cpu-limit" => store.switches.cpu_limit.store(false, Ordering::Relaxed),
        _ => {}
    }
    Ok(())
}

async fn connect(url: &str) -> Result<Client, String> {
    database::connect(url).await.map_err(|error| error.to_string())
}

async fn execute(url: &str, sql: &str) -> Result<(), String> {
    connect(url).await?.batch_execute(sql).await.map_err(|error| error.to_string())
}

/// Holds a row in a transaction. When this is aborted its connection closes, and the database releases the row's lock.
async fn hold_row(client: Client) {
    let sql = format!("begin; select 1 from app where app_id = {HELD_APP} for update");
    while client.batch_execute(&sql).await.is_ok() {
        tokio::time::sleep(ROW_HELD).await;
        if client.batch_execute("commit").await.is_err() {
            return;
        }
        tokio::time::sleep(ROW_FREE).await;
    }
}

async fn report(store: Arc<Store>, clients: Vec<Client>) {
    loop {
        let began = SystemClock::now();
        while SystemClock::now().since(began) < REPORTS_RUN {
            if report_once(&store, &clients).await.is_err() {
                return;
            }
        }
        tokio::time::sleep(REPORT_PERIOD.saturating_sub(SystemClock::now().since(began))).await;
    }
}

/// One report on each connection, at the same time.
async fn report_once(store: &Store, clients: &[Client]) -> Result<(), tokio_postgres::Error> {
    let mut reports = pin!(try_join_all(clients.iter().map(|client| client.batch_execute(queries::REPORT))));
    loop {
        let before = SystemClock::now();
        let outcome = tokio::time::timeout(JOB_STEP, reports.as_mut()).await;
        store.metrics.add(metrics::JOB_SECONDS, "", SystemClock::now().since(before).as_secs_f64());
        if let Ok(outcome) = outcome {
            return outcome.map(drop);
        }
    }
}

/// Everything of the service is on one thread, so a thread that sleeps is a collector that stops the world.
async fn pause(store: Arc<Store>) {
    loop {
        tokio::time::sleep(BETWEEN_PAUSES).await;
        std::thread::sleep(PAUSE);
        store.metrics.add(metrics::PAUSE_SECONDS, "", PAUSE.as_secs_f64());
    }
}
