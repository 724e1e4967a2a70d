//! A run's door: k6's REST API, so that others can watch a test, hold it, change it and end it, and the client of it; and
//! the page that shows runs, with what it reads.
//!
//! A machine's door besides: what `plimsoll host-agent` tells of it.
//!
//! What is served is anything that is [`Live`] and anything that is [`Pages`]; the room knows nothing of engines, scripts and
//! files of runs. It answers on a thread of its own, and everything that comes in is bounded. Without a token it listens on
//! loopback only, and a browser that was lured there (a page of another site, a name that suddenly means this machine) is
//! turned away.

mod assets;
mod body;
mod client;
mod connections;
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
use tokio::sync::oneshot;

pub use assets::text as page_file;
pub use client::{Client, ClientError};
pub use feed::Feed;
pub use live::{Live, Refusal};
pub use pages::{ANSWER_BYTES_MAX, Change, PageError, Pages};
pub use question::{Question, View};
pub use rest::{BODY_BYTES_MAX, SETUP_BYTES_MAX};

/// Where k6's verbs look for a run that they are not told the address of.
pub const ADDRESS_DEFAULT: &str = "localhost:6565";

/// Why a server cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address is none, or taken.
    #[error("listen on {address}: {source}")]
    Listen {
        /// As given.
        address: String,
        /// Why.
        source: std::io::Error,
    },
    /// Others than this machine would reach it, and nothing would keep them from ending the test.
    #[error(
        "listen on {0}: without a token (PLIMSOLL_API_TOKEN) only this machine's own addresses are served"
    )]
    Exposed(String),
    /// The system has no threads left.
    #[error("start the server's thread: {0}")]
    Thread(#[from] std::io::Error),
}

/// A server; it ends when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    /// Serves a run at `address` (`localhost:6565`; port 0 takes any that is free). With a token, requests must carry it
    /// as `Authorization: Bearer`.
    ///
    /// # Errors
    /// See [`ServerError`].
    pub fn start(address: &str, token: Option<&str>, live: Arc<dyn Live>) -> Result<Server, ServerError> {
        Server::serve(address, token, |guard| rest::router(live, guard))
    }

    /// Serves the page. With a token, what it reads wants that, or the cookie that the page gets for it; the page itself is
    /// for all.
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

    /// Serves one text, made anew for each who asks for it at `path`. With a token, requests must carry it as
    /// `Authorization: Bearer`.
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

    fn serve(
        address: &str,
        token: Option<&str>,
        router: impl FnOnce(guard::Guard) -> Router,
    ) -> Result<Server, ServerError> {
        let listen = |source| ServerError::Listen { address: address.to_owned(), source };
        let addresses = addresses(address).map_err(listen)?;
        let listener = std::net::TcpListener::bind(&addresses[..]).map_err(listen)?;
        let bound = listener.local_addr().map_err(listen)?;
        if token.is_none() && !bound.ip().is_loopback() {
            return Err(ServerError::Exposed(address.to_owned()));
        }
        listener.set_nonblocking(true).map_err(listen)?;
        let guard = guard::Guard::new(token);
        let router = router(guard.clone())
            .layer(middleware::from_fn_with_state(guard, rest::check_place))
            .layer(middleware::from_fn(headers::add));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (end, is_over) = oneshot::channel();
        let serve = move || {
            runtime.block_on(connections::serve(listener, router, is_over));
            // A `teardown()` that somebody asked for may go on for long, and nobody hears of it any more.
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("rest".into()).spawn(serve)?;
        Ok(Server { address: bound, end: Some(end), thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Either may be over already.
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What an address may stand for. As in Go, `:6565` is every address of the machine, and `localhost` rather the one of
/// version 4: there clients look first.
fn addresses(address: &str) -> std::io::Result<Vec<SocketAddr>> {
    let full = if address.starts_with(':') { format!("0.0.0.0{address}") } else { address.to_owned() };
    let mut all: Vec<SocketAddr> = full.to_socket_addrs()?.collect();
    all.sort_by_key(SocketAddr::is_ipv6);
    Ok(all)
}

#[cfg(test)]
mod page_tests;
#[cfg(test)]
mod tests;
