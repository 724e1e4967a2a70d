//! The door beside the service: whether it is ready, its metrics, and its faults. It has a thread of its own, so that it
//! answers while the service is busy.

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, put};
use tokio::sync::{mpsc, oneshot};

use crate::metrics::Metrics;

/// Orders that wait for the service; a further one is refused.
const ORDERS_MAX: usize = 8;

/// To turn a fault on or off.
#[derive(Debug)]
pub struct FaultOrder {
    /// Its name.
    pub name: String,
    /// Whether it is to act from now on.
    pub is_on: bool,
    /// Where the service says that it does, or why it cannot.
    pub done: oneshot::Sender<Result<(), String>>,
}

/// Where the service gets its orders from.
pub type Orders = mpsc::Receiver<FaultOrder>;

/// The door of a running service.
#[derive(Clone, Debug)]
pub struct Control {
    metrics: Arc<Metrics>,
    is_ready: Arc<AtomicBool>,
    on: Arc<Mutex<BTreeSet<String>>>,
    orders: mpsc::Sender<FaultOrder>,
}

impl Control {
    /// Opens the door on a loopback port.
    ///
    /// # Errors
    /// No program can listen there.
    pub fn open(port: u16, metrics: Arc<Metrics>) -> io::Result<(Control, Orders)> {
        let (sender, orders) = mpsc::channel(ORDERS_MAX);
        let control = Control { metrics, is_ready: Arc::default(), on: Arc::default(), orders: sender };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let router = control.router();
        std::thread::Builder::new().name("control".to_owned()).spawn(move || {
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                axum::serve(listener, router).await
            })
        })?;
        Ok((control, orders))
    }

    /// From now on the service answers.
    pub fn set_ready(&self) {
        self.is_ready.store(true, Ordering::Release);
    }

    fn router(&self) -> Router {
        Router::new()
            .route("/ready", get(ready))
            .route("/metrics", get(metrics))
            .route("/faults", get(faults))
            .route("/faults/{name}", put(set_fault))
            .with_state(self.clone())
    }

    fn on(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.on.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn ready(State(control): State<Control>) -> StatusCode {
    if control.is_ready.load(Ordering::Acquire) { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}

async fn metrics(State(control): State<Control>) -> ([(&'static str, &'static str); 1], String) {
    ([("content-type", "text/plain; version=0.0.4")], control.metrics.render())
}

async fn faults(State(control): State<Control>) -> String {
    serde_json::to_string(&*control.on()).unwrap_or_default()
}

async fn set_fault(
    State(control): State<Control>,
    Path(name): Path<String>,
    body: String,
) -> Result<(), (StatusCode, String)> {
    let is_on = match body.trim() {
        "on" => true,
        "off" => false,
        other => return Err((StatusCode::BAD_REQUEST, format!("{other:?} is neither on nor off"))),
    };
    let (done, is_done) = oneshot::channel();
    let order = FaultOrder { name: name.clone(), is_on, done };
    let busy = |why: &str| (StatusCode::SERVICE_UNAVAILABLE, why.to_owned());
    control.orders.try_send(order).map_err(|_| busy("it is busy with other orders"))?;
    let acted = is_done.await.map_err(|_| busy("it has given up its orders"))?;
    acted.map_err(|why| (StatusCode::CONFLICT, why))?;
    if is_on {
        control.on().insert(name);
    } else {
        control.on().remove(&name);
    }
    Ok(())
}
