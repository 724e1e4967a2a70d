//! One call on a connection that others may share: bytes in both directions at the same time, and trailers.

use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::h2::client::ResponseFuture;
use ::h2::{Error as Failure, RecvStream, SendStream};
use bytes::Bytes;
use model::{Instant, SystemClock};

use super::decode::head;
use super::error::{error_of, is_unprocessed};
use super::limits::CALL_QUEUE_BYTES_MAX;
use super::link::Slot;
use super::meter::StreamWatch;
use crate::error::{Error, Stage};
use crate::headers::Headers;

/// A call under way. Dropping it cancels the stream, and the connection goes on.
pub struct Call {
    slot: Slot,
    watch: StreamWatch,
    sender: SendStream<Bytes>,
    /// Bytes that the server's windows have not let through yet.
    unsent: VecDeque<Bytes>,
    unsent_bytes: usize,
    /// Whether nothing follows what is queued.
    ends: bool,
    /// Whether the end is out, or nothing can be sent any more.
    is_sent: bool,
    awaited: Option<ResponseFuture>,
    receiver: Option<RecvStream>,
    is_past_data: bool,
    received_at: Instant,
    late_ns: u64,
    is_unprocessed: bool,
}

/// What comes from the server, in this order: a head, any number of pieces, perhaps trailers, the end.
#[derive(Debug)]
pub enum CallEvent {
    /// The status and the headers.
    Head(u16, Headers),
    /// Bytes; they count against the server's window until [`Call::release`].
    Data(Bytes),
    /// The trailers.
    Trailers(Headers),
    /// Nothing more comes.
    End,
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("remote", &self.slot.remote).finish_non_exhaustive()
    }
}

impl Call {
    /// Sends the head of a request whose body follows.
    pub(crate) fn open(mut slot: Slot, message: http::Request<()>) -> Result<Call, Error> {
        let (awaited, sender) = match slot.sender.send_request(message, false) {
            Ok(opened) => opened,
            Err(failure) => {
                let mut error = error_of(&failure, &slot.target, slot.remote);
                error.stage = Stage::Send;
                return Err(error);
            }
        };
        Ok(Call {
            watch: slot.meter.watch(),
            slot,
            sender,
            unsent: VecDeque::new(),
            unsent_bytes: 0,
            ends: false,
            is_sent: false,
            awaited: Some(awaited),
            receiver: None,
            is_past_data: false,
            received_at: SystemClock::now(),
            late_ns: 0,
            is_unprocessed: false,
        })
    }

    /// The other end.
    pub fn remote(&self) -> SocketAddr {
        self.slot.remote
    }

    /// Queues bytes. Returns false, and does nothing, when too many wait already.
    pub fn queue(&mut self, bytes: Bytes) -> bool {
        if self.unsent_bytes > 0 && self.unsent_bytes + bytes.len() > CALL_QUEUE_BYTES_MAX {
            return false;
        }
        if !self.is_sent && !self.ends {
            self.unsent_bytes += bytes.len();
            self.unsent.push_back(bytes);
        }
        true
    }

    /// Nothing follows what is queued.
    pub fn finish(&mut self) {
        self.ends = true;
    }

    /// Bytes queued and not handed over.
    pub fn queued_bytes(&self) -> usize {
        self.unsent_bytes
    }

    /// Hands over what is queued, as the server's windows allow. A stream that ended takes no more; why it ended comes
    /// with the response.
    pub fn poll_send(&mut self, cx: &Context<'_>) {
        let watched = self.watch.waker(cx).clone();
        let mut watched = Context::from_waker(&watched);
        while let Some(first) = self.unsent.front_mut() {
            self.sender.reserve_capacity(first.len());
            let room_bytes = if first.is_empty() {
                0
            } else {
                match self.sender.poll_capacity(&mut watched) {
                    Poll::Pending => return,
                    Poll::Ready(Some(Ok(room_bytes))) => room_bytes,
                    Poll::Ready(_) => return self.give_up_sending(),
                }
            };
            let piece = first.split_to(room_bytes.min(first.len()));
            self.unsent_bytes -= piece.len();
            if first.is_empty() {
                self.unsent.pop_front();
            }
            let is_last = self.ends && self.unsent.is_empty();
            if self.sender.send_data(piece, is_last).is_err() {
                return self.give_up_sending();
            }
            self.is_sent = is_last;
        }
        if self.ends && !self.is_sent {
            self.is_sent = true;
            // Fails on a stream that ended, whose end the response has.
            let _ = self.sender.send_data(Bytes::new(), true);
        }
    }

    fn give_up_sending(&mut self) {
        self.unsent.clear();
        self.unsent_bytes = 0;
        self.is_sent = true;
    }

    /// Receives what comes next.
    ///
    /// # Errors
    /// The stream or the connection ended.
    pub fn poll_receive(&mut self, cx: &Context<'_>) -> Poll<Result<CallEvent, Error>> {
        let polled_at = SystemClock::now();
        let watched = self.watch.waker(cx).clone();
        let mut watched = Context::from_waker(&watched);
        if let Some(awaited) = &mut self.awaited {
            let response = ready!(Pin::new(awaited).poll(&mut watched));
            self.awaited = None;
            self.stamp(polled_at);
            let (parts, receiver) = match response {
                Ok(response) => response.into_parts(),
                Err(failure) => return Poll::Ready(Err(self.fail(&failure))),
            };
            self.receiver = Some(receiver);
            let status = parts.status.as_u16();
            return Poll::Ready(Ok(CallEvent::Head(status, head(status, &parts.headers))));
        }
        let Some(receiver) = &mut self.receiver else { return Poll::Ready(Ok(CallEvent::End)) };
        if !self.is_past_data {
            match ready!(receiver.poll_data(&mut watched)) {
                Some(Ok(piece)) => {
                    self.stamp(polled_at);
                    return Poll::Ready(Ok(CallEvent::Data(piece)));
                }
                Some(Err(failure)) => return Poll::Ready(Err(self.fail(&failure))),
                None => self.is_past_data = true,
            }
        }
        let trailers = ready!(receiver.poll_trailers(&mut watched));
        self.stamp(polled_at);
        match trailers {
            Ok(Some(trailers)) => {
                self.receiver = None;
                Poll::Ready(Ok(CallEvent::Trailers(head(0, &trailers))))
            }
            Ok(None) => {
                self.receiver = None;
                Poll::Ready(Ok(CallEvent::End))
            }
            Err(failure) => Poll::Ready(Err(self.fail(&failure))),
        }
    }

    /// So many bytes that came are read: the server may send as many more.
    pub fn release(&mut self, bytes: usize) {
        if let Some(receiver) = &mut self.receiver {
            // It fails for more than came, which is not so.
            let _ = receiver.flow_control().release_capacity(bytes);
        }
    }

    /// When the last of what came could be read.
    pub fn received_at(&self) -> Instant {
        self.received_at
    }

    /// Between that and the moment it was read: the load generator's own delay.
    pub fn late_ns(&self) -> u64 {
        self.late_ns
    }

    /// Whether the server said that it has not looked at the call, so that it may be made again.
    pub fn is_unprocessed(&self) -> bool {
        self.is_unprocessed
    }

    fn stamp(&mut self, polled_at: Instant) {
        if let Some(ready_at) = self.watch.take() {
            self.late_ns = polled_at.as_ns().saturating_sub(ready_at.as_ns());
        }
        self.received_at = Instant::from_ns(SystemClock::now().as_ns().saturating_sub(self.late_ns));
    }

    fn fail(&mut self, failure: &Failure) -> Error {
        self.is_unprocessed = is_unprocessed(failure);
        self.receiver = None;
        let farewell = if failure.is_io() { self.slot.farewell() } else { None };
        error_of(farewell.as_ref().unwrap_or(failure), &self.slot.target, self.slot.remote)
    }
}
