//! Accepts, limits and serves connections, all on one thread.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};

/// Maximum number of simultaneous connections; further ones wait in the kernel's queue.
const CONNECTIONS_MAX: usize = 64;

/// Maximum size of a request's head, bytes.
const HEAD_BYTES_MAX: usize = 32 * 1024;

/// Timeout for a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Pause after a failed accept, for example without free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves until `is_over` fires or its sender is dropped. Responses in progress are cut then, because the process is about to end.
pub(crate) async fn serve(listener: std::net::TcpListener, router: Router, is_over: oneshot::Receiver<()>) {
    tokio::select! {
        _ = is_over => {}
        () = accept(listener, router) => {}
    }
}

async fn accept(listener: std::net::TcpListener, router: Router) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let seats = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(seat) = seats.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // The end of a response does not wait until the browser confirms its beginning. If this is refused, it waits.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let mut connection = http1::Builder::new();
            connection
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIMEOUT)
                .max_buf_size(HEAD_BYTES_MAX);
            // Errors of a single connection affect only its client.
            let _ = connection.serve_connection(TokioIo::new(stream), service).await;
            drop(seat);
        });
    }
}
