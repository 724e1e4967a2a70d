//! One request and one response on a connection that others may share.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use ::h2::client::ResponseFuture;
use ::h2::{Error as Failure, RecvStream, SendStream};
use bytes::Bytes;
use model::{Instant, SystemClock};

use super::decode::{PROTO, head};
use super::error::{error_of, is_unprocessed};
use super::link::Slot;
use super::meter::{SentAt, StreamWatch};
use crate::budget::{BodyBudget, BodyBuffer};
use crate::error::{Error, Stage};
use crate::fault::Fault;
use crate::headers::Headers;
use crate::request::{Body, Request};
use crate::response::Response;
use crate::tap::Flow;
use crate::trace::Trace;

/// Sends `message` and the body of `request`, and receives the response. Dropping it cancels the stream, and the
/// connection goes on.
pub(crate) async fn converse(
    mut slot: Slot,
    message: http::Request<()>,
    request: &Request,
    bodies: &Arc<BodyBudget>,
    trace: &Trace,
) -> Result<Response, Error> {
    trace.enter(Stage::Send, SystemClock::now());
    let body = match &request.body {
        Body::None => Bytes::new(),
        Body::Bytes(bytes) => bytes.clone(),
    };
    let opened = slot.sender.send_request(message, body.is_empty());
    let (response, sender) = opened.map_err(|failure| fail(&slot, &failure, trace))?;
    let mut talk = Talk {
        sent_at: body.is_empty().then(|| slot.meter.note_sent()),
        watch: slot.meter.watch(),
        slot: &slot,
        trace,
        keep_body: request.keep_body,
        flow: Flow::new(request.tap.as_ref(), trace),
        sender,
        unsent: body,
        awaited: response,
        head: None,
        body: BodyBuffer::new(bodies),
        body_bytes: 0,
    };
    poll_fn(|cx| talk.poll(cx)).await
}

fn fail(slot: &Slot, failure: &Failure, trace: &Trace) -> Error {
    trace.unprocessed.set(is_unprocessed(failure));
    let farewell = if failure.is_io() && trace.stage() < Stage::Receive { slot.farewell() } else { None };
    let mut error = error_of(farewell.as_ref().unwrap_or(failure), &slot.target, slot.remote);
    error.stage = trace.stage();
    error
}

struct Talk<'a> {
    slot: &'a Slot,
    trace: &'a Trace,
    watch: StreamWatch,
    keep_body: bool,
    /// Takes the body in place of `body`, where the request asks for that.
    flow: Flow<'a>,
    sender: SendStream<Bytes>,
    /// Bytes that the server's windows have not let through yet.
    unsent: Bytes,
    /// Receives the instant when the last of the request is written; `None` while there is something left to queue.
    sent_at: Option<SentAt>,
    awaited: ResponseFuture,
    head: Option<(u16, Headers, RecvStream)>,
    body: BodyBuffer<'a>,
    body_bytes: u64,
}

impl Talk<'_> {
    fn poll(&mut self, cx: &Context<'_>) -> Poll<Result<Response, Error>> {
        let watched = self.watch.waker(cx).clone();
        let mut watched = Context::from_waker(&watched);
        let polled_at = SystemClock::now();
        self.send(&mut watched);
        if self.trace.stage() == Stage::Send
            && let Some(sent_at) = self.sent_at.as_ref().and_then(|sent_at| sent_at.get())
        {
            self.trace.enter(Stage::Wait, sent_at);
        }
        let received = self.poll_receive(cx, &mut watched, polled_at);
        received.map_err(|failure| *failure)
    }

    /// Hands over as much of the body as the server's windows allow. A stream that ended takes no more; why it ended
    /// comes with the response.
    fn send(&mut self, cx: &mut Context<'_>) {
        while !self.unsent.is_empty() {
            self.sender.reserve_capacity(self.unsent.len());
            let Poll::Ready(Some(Ok(room_bytes))) = self.sender.poll_capacity(cx) else { return };
            let piece = self.unsent.split_to(room_bytes.min(self.unsent.len()));
            if self.sender.send_data(piece, self.unsent.is_empty()).is_err() {
                self.unsent.clear();
                return;
            }
            if self.unsent.is_empty() {
                self.sent_at = Some(self.slot.meter.note_sent());
            }
        }
    }

    fn poll_receive(
        &mut self,
        cx: &Context<'_>,
        watched: &mut Context<'_>,
        polled_at: Instant,
    ) -> Poll<Result<Response, Box<Error>>> {
        if self.head.is_none() {
            let (parts, stream) = match ready!(Pin::new(&mut self.awaited).poll(watched)) {
                Ok(response) => response.into_parts(),
                Err(failure) => return Poll::Ready(Err(self.fail(&failure))),
            };
            let ready_at = self.stamp(polled_at);
            self.trace.enter(Stage::Receive, ready_at);
            let status = parts.status.as_u16();
            let headers = head(status, &parts.headers);
            self.flow.begin(status, PROTO, &headers)?;
            self.head = Some((status, headers, stream));
        }
        loop {
            // Bytes that wait in the library count against the stream's window, so the server waits too.
            if !ready!(self.flow.poll_wanted(cx)) {
                return Poll::Ready(Ok(self.response()));
            }
            let Some((_, _, stream)) = &mut self.head else { return Poll::Pending };
            match ready!(stream.poll_data(watched)) {
                Some(Ok(piece)) => {
                    // The window is given back at once, because what is read is never queued.
                    let _ = stream.flow_control().release_capacity(piece.len());
                    self.stamp(polled_at);
                    self.take_body(&piece)?;
                }
                Some(Err(failure)) => return Poll::Ready(Err(self.fail(&failure))),
                None => return Poll::Ready(Ok(self.response())),
            }
        }
    }

    /// The bytes could be read since the runtime saw the socket ready; the time from there to the poll is ours.
    fn stamp(&self, polled_at: Instant) -> Instant {
        let late_ns = match self.watch.take() {
            Some(ready_at) => polled_at.as_ns().saturating_sub(ready_at.as_ns()),
            None => self.trace.late_ns.get(),
        };
        self.trace.late_ns.set(late_ns);
        let now = SystemClock::now();
        self.trace.received_at.set(Instant::from_ns(now.as_ns() - late_ns));
        Instant::from_ns(polled_at.as_ns() - late_ns)
    }

    fn take_body(&mut self, piece: &[u8]) -> Result<(), Fault> {
        self.body_bytes += piece.len() as u64;
        if self.flow.is_open() {
            self.flow.take(piece);
            return Ok(());
        }
        if !self.keep_body {
            return Ok(());
        }
        self.body.check(self.body_bytes)?;
        self.body.push(piece, 0)
    }

    fn response(&mut self) -> Response {
        let (status, headers) =
            self.head.take().map(|(status, headers, _)| (status, headers)).unwrap_or_default();
        let body = self.body.take();
        Response { status, proto: PROTO, headers, body, body_bytes: self.body_bytes }
    }

    fn fail(&self, failure: &Failure) -> Box<Error> {
        Box::new(fail(self.slot, failure, self.trace))
    }
}
