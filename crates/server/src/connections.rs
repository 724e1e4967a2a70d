//! Accepts, limits and serves connections, all on one thread.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use listen::{Intake, Limits};

/// Limits of connections. When all are in use, silent and slow ones give way to new ones.
pub(crate) const LIMITS: Limits = Limits {
    connections_max: 64,
    peer_share: 32,
    first_byte: Duration::from_secs(10),
    head: Duration::from_secs(10),
    idle: Duration::from_secs(60),
    write: Duration::from_secs(15),
};

/// Maximum size of a request's head, bytes.
const HEAD_BYTES_MAX: usize = 32 * 1024;

/// Accepts connections for ever.
pub(crate) async fn accept(listener: std::net::TcpListener, router: Router, intake: Arc<Intake>) {
    let mut builder = http1::Builder::new();
    // The intake has shorter limits for silent and slow clients.
    builder.timer(TokioTimer::new()).header_read_timeout(LIMITS.idle).max_buf_size(HEAD_BYTES_MAX);
    let serve = move |stream, activity| {
        let service = listen::Reporting::new(TowerToHyperService::new(router.clone()), activity);
        let served = builder.serve_connection(TokioIo::new(stream), service);
        async move {
            // Errors of a single connection affect only its client.
            let _ = served.await;
        }
    };
    listen::accept(listener, intake, serve).await;
}
