//! Connections: accepted, counted, served one thread for all.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};

/// Connections at once; further ones wait in the kernel's queue.
const CONNECTIONS_MAX: usize = 64;

/// Bytes of a request's head.
const HEAD_BYTES_MAX: usize = 32 * 1024;

/// How long a request's head may take.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// How long to wait after a connection could not be accepted: the process is out of file descriptors, say.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves until `is_over`, or until its sender is gone. Answers under way are cut then: the process is about to end.
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
        // The end of an answer does not wait for the browser to confirm its beginning. Where that is refused, it waits.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let mut connection = http1::Builder::new();
            connection
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIMEOUT)
                .max_buf_size(HEAD_BYTES_MAX);
            // What a client does to its connection is its own affair.
            let _ = connection.serve_connection(TokioIo::new(stream), service).await;
            drop(seat);
        });
    }
}
