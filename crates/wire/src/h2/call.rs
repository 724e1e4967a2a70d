//! One call on a connection that others may share: bytes in both directions at the same time, and trailers.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::h2::client::ResponseFuture;
use ::h2::{Error as Failure, RecvStream, SendStream};
use bytes::Bytes;
use model::{Instant, SystemClock};

use super::error::{error_of, is_unprocessed};
use super::limits::{CALL_QUEUE_BYTES_MAX, FIRST_BYTES_MAX};
use super::link::Slot;
use super::meter::StreamWatch;
use crate::error::{Error, Stage};

/// A call under way. Dropping it cancels the stream, and the connection goes on.
pub struct Call {
    slot: Slot,
    watch: StreamWatch,
    sender: SendStream<Bytes>,
    /// Bytes that the server's windows have not let through yet.
    unsent: VecDeque<Bytes>,
    unsent_bytes: usize,
    /// Whether the first bytes are handed over.
    has_begun: bool,
    /// Whether nothing follows what is queued.
    ends: bool,
    /// Whether the end is out, or nothing can be sent any more.
    is_sent: bool,
    awaited: Option<ResponseFuture>,
    receiver: Option<RecvStream>,
    is_past_data: bool,
    received_at: Instant,
    is_unprocessed: bool,
}

/// An event from the server, in this order: a head, any number of pieces, perhaps trailers, the end.
#[derive(Debug)]
pub enum CallEvent {
    /// The status and the headers.
    Head(u16, Fields),
    /// Bytes; they count against the server's window until [`Call::release`].
    Data(Bytes),
    /// The trailers.
    Trailers(Fields),
    /// Nothing more comes.
    End,
}

/// Header or trailer fields, with names in lower case.
#[derive(Clone, Debug, Default)]
pub struct Fields(http::HeaderMap);

impl Fields {
    /// The first value of a field.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(http::HeaderValue::as_bytes)
    }

    /// The names, each once, with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = &[u8]>)> {
        self.0
            .keys()
            .map(|name| (name.as_str(), self.0.get_all(name).iter().map(http::HeaderValue::as_bytes)))
    }
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
            has_begun: false,
            ends: false,
            is_sent: false,
            awaited: Some(awaited),
            receiver: None,
            is_past_data: false,
            received_at: SystemClock::now(),
            is_unprocessed: false,
        })
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
            // The head is not out yet, and the library gives no window to a stream before: a small first message would go
            // out by itself, in a write of its own.
            let is_small_first = !self.has_begun && first.len() <= FIRST_BYTES_MAX;
            let room_bytes = if is_small_first {
                first.len()
            } else {
                self.sender.reserve_capacity(first.len());
                match self.sender.poll_capacity(&mut watched) {
                    Poll::Pending => return,
                    Poll::Ready(Some(Ok(0))) => continue,
                    Poll::Ready(Some(Ok(room_bytes))) => room_bytes,
                    Poll::Ready(_) => return self.give_up_sending(),
                }
            };
            self.has_begun = true;
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
        let watched = self.watch.waker(cx).clone();
        let mut watched = Context::from_waker(&watched);
        if let Some(awaited) = &mut self.awaited {
            let response = ready!(Pin::new(awaited).poll(&mut watched));
            self.awaited = None;
            self.stamp();
            let (parts, receiver) = match response {
                Ok(response) => response.into_parts(),
                Err(failure) => return Poll::Ready(Err(self.fail(&failure))),
            };
            self.receiver = Some(receiver);
            return Poll::Ready(Ok(CallEvent::Head(parts.status.as_u16(), Fields(parts.headers))));
        }
        let Some(receiver) = &mut self.receiver else { return Poll::Ready(Ok(CallEvent::End)) };
        if !self.is_past_data {
            match ready!(receiver.poll_data(&mut watched)) {
                Some(Ok(piece)) => {
                    self.stamp();
                    return Poll::Ready(Ok(CallEvent::Data(piece)));
                }
                Some(Err(failure)) => return Poll::Ready(Err(self.fail(&failure))),
                None => self.is_past_data = true,
            }
        }
        let trailers = ready!(receiver.poll_trailers(&mut watched));
        self.stamp();
        match trailers {
            Ok(Some(trailers)) => {
                self.receiver = None;
                Poll::Ready(Ok(CallEvent::Trailers(Fields(trailers))))
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

    /// Whether the server said that it has not looked at the call, so that it may be made again.
    pub fn is_unprocessed(&self) -> bool {
        self.is_unprocessed
    }

    /// Notes when the bytes that woke the call could be read. Further events of the same bytes have the same time.
    fn stamp(&mut self) {
        if let Some(ready_at) = self.watch.take() {
            self.received_at = ready_at;
        }
    }

    fn fail(&mut self, failure: &Failure) -> Error {
        self.is_unprocessed = is_unprocessed(failure);
        self.receiver = None;
        let farewell = if failure.is_io() { self.slot.farewell() } else { None };
        error_of(farewell.as_ref().unwrap_or(failure), &self.slot.target, self.slot.remote)
    }
}
