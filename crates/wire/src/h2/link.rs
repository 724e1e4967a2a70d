//! One HTTP/2 connection and its places for exchanges.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use ::h2::client::{Builder, Connection, SendRequest};
use bytes::Bytes;

use super::limits::{FAULTY_STREAMS_MAX, FRAME_BYTES_MAX, HEADERS_BYTES_MAX, RESET_STREAMS_MAX, Windows};
use super::meter::{Meter, Metered, Transport};
use crate::target::Target;
use crate::tls_facts::TlsFacts;

/// One HTTP/2 connection to a target's origin. It closes when it has no owner and its last exchange is over.
pub(crate) struct Link {
    target: Target,
    pub(crate) remote: SocketAddr,
    /// `None` without TLS.
    pub(crate) tls: Option<Arc<TlsFacts>>,
    sender: SendRequest<Bytes>,
    meter: Rc<Meter>,
    /// Exchanges under way.
    active_count: Rc<Cell<usize>>,
}

impl Link {
    /// Greets the server on `stream` and moves frames in a task of its own, so that a connection whose VU sleeps still
    /// answers pings and hears a farewell. Needs a tokio `LocalSet`.
    ///
    /// # Errors
    /// The greeting could not be written.
    pub(crate) async fn open(
        stream: impl Transport,
        target: Target,
        remote: SocketAddr,
        tls: Option<Arc<TlsFacts>>,
        windows: Windows,
    ) -> Result<Link, ::h2::Error> {
        let meter = Rc::new(Meter::default());
        meter.begin_turn();
        let (sender, connection) = Builder::new()
            .enable_push(false)
            .initial_window_size(windows.stream_bytes)
            .initial_connection_window_size(windows.connection_bytes)
            .max_header_list_size(HEADERS_BYTES_MAX)
            .max_frame_size(FRAME_BYTES_MAX)
            .max_concurrent_reset_streams(RESET_STREAMS_MAX)
            .max_local_error_reset_streams(Some(FAULTY_STREAMS_MAX))
            // Until the server has said how many it takes; it would refuse those beyond.
            .initial_max_send_streams(1)
            .handshake(Metered::new(stream, meter.clone()))
            .await?;
        // Exchanges that its end cuts get the error; without any, the error has no use.
        tokio::task::spawn_local(in_turns(connection, meter.clone()));
        Ok(Link { target, remote, tls, sender, meter, active_count: Rc::default() })
    }

    /// A target of the origin that it is for.
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// A place for one exchange; `None` where the server allows no more of them at a time.
    pub(crate) fn slot(&self) -> Option<Slot> {
        if self.active_count.get() >= self.sender.current_max_send_streams() {
            return None;
        }
        Some(self.first_slot())
    }

    /// The place of the exchange that the connection was opened for.
    pub(crate) fn first_slot(&self) -> Slot {
        self.active_count.set(self.active_count.get() + 1);
        Slot {
            sender: self.sender.clone(),
            meter: self.meter.clone(),
            active_count: self.active_count.clone(),
            target: self.target.clone(),
            remote: self.remote,
        }
    }

    /// Whether it takes new exchanges: neither side has ended it.
    pub(crate) fn is_open(&mut self) -> bool {
        !matches!(self.sender.poll_ready(&mut Context::from_waker(Waker::noop())), Poll::Ready(Err(_)))
    }
}

/// Moves a connection's frames until its end. A server that sends without pause leaves the other tasks of the thread their
/// turns.
async fn in_turns<S: Transport>(mut connection: Connection<Metered<S>>, meter: Rc<Meter>) {
    loop {
        let turn = poll_fn(|cx| {
            meter.begin_turn();
            match Pin::new(&mut connection).poll(cx) {
                Poll::Ready(_) => Poll::Ready(true),
                Poll::Pending if meter.is_turn_over() => Poll::Ready(false),
                Poll::Pending => Poll::Pending,
            }
        });
        if turn.await {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// A place for one exchange.
pub(crate) struct Slot {
    pub(super) sender: SendRequest<Bytes>,
    pub(super) meter: Rc<Meter>,
    active_count: Rc<Cell<usize>>,
    pub(super) target: Target,
    pub(super) remote: SocketAddr,
}

impl Slot {
    /// The server's reason for ending the connection, if it gave one.
    pub(super) fn farewell(&self) -> Option<::h2::Error> {
        match self.sender.clone().poll_ready(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Err(error)) if error.is_go_away() && error.is_remote() => Some(error),
            _ => None,
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.active_count.set(self.active_count.get() - 1);
    }
}
