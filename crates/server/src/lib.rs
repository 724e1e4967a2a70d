//! k6's REST API, with which other programs inspect and control a run, and its client; the page that shows runs, with its data; and
//! the metrics that `plimsoll host-agent` exposes.
//!
//! The server serves any [`Live`] and any [`Pages`]; it must not know engines, scripts and files of runs. It answers on a thread of
//! its own, and all input is bounded. Without a token it listens on loopback only, and it refuses requests that another site makes
//! through the user's browser.

mod assets;
mod body;
mod calls;
mod client;
mod connections;
mod embedded;
mod feed;
mod guard;
mod headers;
mod live;
mod machine;
mod pages;
mod question;
mod rest;

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use axum::{Router, middleware};
use listen::Intake;
use redact::RedactedUrl;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

pub use assets::text as page_file;
pub use calls::{CALL_BYTES_MAX, Calls};
pub use client::{Client, ClientError};
pub use feed::Feed;
pub use listen::Closed;
pub use live::{Live, Refusal};
pub use pages::{ANSWER_BYTES_MAX, Change, PageError, Pages, ReportFile};
pub use question::{Question, View};
pub use rest::{BODY_BYTES_MAX, SETUP_BYTES_MAX};

/// Default address of a run's REST API, as in k6.
pub const ADDRESS_DEFAULT: &str = "localhost:6565";

/// An error of starting a server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address is invalid or in use.
    #[error("listen on {}: {source}{advice}", RedactedUrl(address))]
    Listen {
        /// The address as given.
        address: String,
        /// The cause.
        source: std::io::Error,
        /// Another address, if the given one is in use.
        advice: String,
    },
    /// Without a token, other machines could reach the server and end the test.
    #[error(
        "listen on {}: without a token (PLIMSOLL_API_TOKEN) only this machine's own addresses are served",
        RedactedUrl(.0)
    )]
    Exposed(String),
    /// The system has no thread left.
    #[error("start the server's thread: {0}")]
    Thread(#[from] std::io::Error),
}

/// Ports above one in use that are tried for another.
const PORTS_TRIED: u16 = 50;

/// Returns the advice to take another port of the same host, if the given one is in use.
fn elsewhere(address: &str, source: &std::io::Error) -> Option<String> {
    if source.kind() != std::io::ErrorKind::AddrInUse {
        return None;
    }
    let (host, port) = address.rsplit_once(':')?;
    let port: u16 = port.parse().ok()?;
    let is_free = |port: &u16| {
        let found = addresses(&format!("{host}:{port}"));
        found.is_ok_and(|found| std::net::TcpListener::bind(&found[..]).is_ok())
    };
    let free = (port.checked_add(1)?..=port.saturating_add(PORTS_TRIED)).find(is_free)?;
    Some(format!("; use --address {host}:{free}, which is free"))
}

/// A running server; it ends when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    intake: Arc<Intake>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    /// Serves a run at `address` (`localhost:6565`; port 0 takes any free port). With a token, requests must carry it as
    /// `Authorization: Bearer`.
    ///
    /// # Errors
    /// See [`ServerError`].
    pub fn start(address: &str, token: Option<&str>, live: Arc<dyn Live>) -> Result<Server, ServerError> {
        Server::serve(address, token, |guard| rest::router(live, guard))
    }

    /// Serves the page. With a token, its data requires the token or the session cookie; the page itself is public.
    ///
    /// # Errors
    /// See [`ServerError`].
    pub fn start_page(
        address: &str,
        token: Option<&str>,
        pages: Arc<dyn Pages>,
    ) -> Result<Server, ServerError> {
        Server::serve(address, token, |guard| pages::router(pages, guard))
    }

    /// Serves one text, computed for each request to `path`. With a token, requests must carry it as `Authorization: Bearer`.
    ///
    /// # Errors
    /// See [`ServerError`].
    pub fn start_machine(
        address: &str,
        token: Option<&str>,
        path: &str,
        read: fn() -> Option<String>,
    ) -> Result<Server, ServerError> {
        Server::serve(address, token, |guard| machine::router(path, read, guard))
    }

    /// Serves calls over TLS. They must carry the token in this header.
    ///
    /// # Errors
    /// See [`ServerError`].
    pub fn start_calls(
        address: &str,
        (header, token): (&'static str, &str),
        acceptor: TlsAcceptor,
        calls: Arc<dyn Calls>,
    ) -> Result<Server, ServerError> {
        let router = calls::router(calls, header, token);
        Server::on_thread(bind(address)?, move |listener, _| calls::accept(listener, acceptor, router))
    }

    fn serve(
        address: &str,
        token: Option<&str>,
        router: impl FnOnce(guard::Guard) -> Router,
    ) -> Result<Server, ServerError> {
        let (listener, bound) = bind(address)?;
        if token.is_none() && !bound.ip().is_loopback() {
            return Err(ServerError::Exposed(address.to_owned()));
        }
        let guard = guard::Guard::new(token);
        let router = router(guard.clone())
            .layer(middleware::from_fn_with_state(guard, rest::check_place))
            .layer(middleware::from_fn(headers::add));
        Server::on_thread((listener, bound), move |listener, intake| {
            connections::accept(listener, router, intake)
        })
    }

    /// Accepts connections on a thread of its own, until the server is dropped. Responses in progress are cut then, because the process
    /// is about to end.
    fn on_thread<F: Future<Output = ()> + 'static>(
        (listener, address): (std::net::TcpListener, SocketAddr),
        accept: impl FnOnce(std::net::TcpListener, Arc<Intake>) -> F + Send + 'static,
    ) -> Result<Server, ServerError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (end, is_over) = oneshot::channel::<()>();
        let intake = Intake::new(connections::LIMITS);
        let accepting = intake.clone();
        let serve = move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = is_over => {}
                    () = accept(listener, accepting) => {}
                }
            });
            // A requested `teardown()` may run for long, and its result has no receiver any more.
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("rest".into()).spawn(serve)?;
        Ok(Server { address, intake, end: Some(end), thread: Some(thread) })
    }

    /// Returns the listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the number of connections that the server closed, by cause.
    pub fn closed(&self) -> Closed {
        self.intake.closed()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The thread may have ended already.
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Listens at an address.
fn bind(address: &str) -> Result<(std::net::TcpListener, SocketAddr), ServerError> {
    let listen = |source| {
        let advice = elsewhere(address, &source).unwrap_or_default();
        ServerError::Listen { address: address.to_owned(), source, advice }
    };
    let addresses = addresses(address).map_err(listen)?;
    let listener = std::net::TcpListener::bind(&addresses[..]).map_err(listen)?;
    let bound = listener.local_addr().map_err(listen)?;
    listener.set_nonblocking(true).map_err(listen)?;
    Ok((listener, bound))
}

/// Resolves an address. As in Go, `:6565` means every address of the machine, and `localhost` prefers IPv4, which clients try
/// first.
fn addresses(address: &str) -> std::io::Result<Vec<SocketAddr>> {
    let full = if address.starts_with(':') { format!("0.0.0.0{address}") } else { address.to_owned() };
    let mut all: Vec<SocketAddr> = full.to_socket_addrs()?.collect();
    all.sort_by_key(SocketAddr::is_ipv6);
    Ok(all)
}

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod page_tests;
#[cfg(test)]
mod tests;
