//! An open stream: a task of its own reads it, so that messages are stamped when they come, whatever the script does
//! meanwhile.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use grpc::{Code, Deframer, Status};
use model::metric::builtin;
use model::{Instant, Mark, SystemClock};
use wire::{Call, CallEvent, CallHead};

use super::client::{Client, Known};
use super::connect::{Connection, Listening};
use super::samples::{CallTags, UnderWay, emit, tags_of};
use super::status::{Fields, deadline_exceeded, of_break, of_connection, of_frame};
use super::trace::CallSpan;
use crate::state::VuState;
use crate::state::open_streams::OpenStream;

/// Bytes that wait for the script; beyond it nothing more is read, and the server has to wait.
const INBOX_BYTES_MAX: usize = 1 << 20;

/// Events that wait for the script.
const INBOX_EVENTS_MAX: usize = 65_536;

/// Bytes that wait for the connection while it is opened again.
const EARLY_BYTES_MAX: usize = 64 << 20;

/// An event for the script.
pub(super) enum Event {
    Data(Bytes, Instant),
    Error(Status, Instant),
    End(Instant),
}

/// A stream.
pub(super) struct Session {
    pub(super) client: Rc<Client>,
    pub(super) known: Known,
    pub(super) discards: bool,
    connection: Rc<Connection>,
    tags: CallTags,
    started: Instant,
    call: RefCell<Option<Call>>,
    /// Messages written before the call is open.
    early: RefCell<VecDeque<Bytes>>,
    early_bytes: Cell<usize>,
    /// Whether the script has ended its side.
    has_ended: Cell<bool>,
    /// Whether the request is complete: nothing can follow.
    has_sent_all: Cell<bool>,
    inbox: RefCell<VecDeque<Event>>,
    inbox_bytes: Cell<usize>,
    /// The task that waits for an event.
    listener: RefCell<Option<Waker>>,
    /// The task that reads.
    reader: RefCell<Option<Waker>>,
    /// Whether the iteration is over, or a handler threw.
    is_cut: Cell<bool>,
    /// Why the script's own message cannot be sent.
    fault: RefCell<Option<Status>>,
    is_over: Cell<bool>,
    /// The response of a call with one, which counts with the status.
    received_once: Cell<bool>,
    span: Option<CallSpan>,
}

impl OpenStream for Session {
    fn cut_off(&self) {
        self.is_cut.set(true);
        self.wake_reader();
        self.wake_listener();
    }
}

impl Session {
    /// Opens a stream; it ends after `timeout`, where there is one.
    pub(super) fn start(
        vu: &Rc<VuState>,
        client: Rc<Client>,
        connection: Rc<Connection>,
        known: Known,
        (tags, discards): (CallTags, bool),
        (head, span, timeout): (CallHead, Option<CallSpan>, Option<Duration>),
    ) -> Rc<Session> {
        let started = SystemClock::now();
        let session = Rc::new(Session {
            client,
            known,
            discards,
            connection,
            tags,
            started,
            call: RefCell::default(),
            early: RefCell::default(),
            early_bytes: Cell::new(0),
            has_ended: Cell::new(false),
            has_sent_all: Cell::new(false),
            inbox: RefCell::default(),
            inbox_bytes: Cell::new(0),
            listener: RefCell::default(),
            reader: RefCell::default(),
            is_cut: Cell::new(false),
            fault: RefCell::default(),
            is_over: Cell::new(false),
            received_once: Cell::new(false),
            span,
        });
        vu.record(builtin::GRPC_STREAMS, session.tag_set(vu, None), 1.0, Mark::Measured, started);
        tokio::task::spawn_local(run(session.clone(), vu.clone(), head, timeout));
        session
    }

    /// Sends a message, or as much of it as goes out at once; the rest follows. Returns false when too much waits
    /// already.
    pub(super) fn write(&self, vu: &VuState, message: &[u8]) -> bool {
        if self.has_ended.get() || self.is_over.get() {
            return true;
        }
        if self.has_sent_all.get() {
            self.break_off(Status::new(Code::INTERNAL, "SendMsg called after CloseSend"));
            return true;
        }
        if message.len() > self.connection.send_bytes_max {
            let bytes_max = self.connection.send_bytes_max;
            let text = format!("trying to send message larger than max ({} vs. {bytes_max})", message.len());
            self.break_off(Status::new(Code::RESOURCE_EXHAUSTED, text));
            return true;
        }
        let framed = grpc::frame(message);
        let is_taken = match self.call.borrow_mut().as_mut() {
            Some(call) => call.queue(framed),
            None => self.queue_early(framed),
        };
        if is_taken {
            vu.record(
                builtin::GRPC_STREAMS_MSGS_SENT,
                self.tag_set(vu, None),
                1.0,
                Mark::Measured,
                SystemClock::now(),
            );
            // A server may answer only once it knows that its one request is whole.
            if !self.known.method.is_client_streaming {
                self.send_end();
            }
            self.flush();
        }
        is_taken
    }

    fn queue_early(&self, framed: Bytes) -> bool {
        let bytes = self.early_bytes.get() + framed.len();
        if self.early_bytes.get() > 0 && bytes > EARLY_BYTES_MAX {
            return false;
        }
        self.early_bytes.set(bytes);
        self.early.borrow_mut().push_back(framed);
        true
    }

    /// Nothing follows what was written.
    pub(super) fn end(&self) {
        if self.has_ended.replace(true) {
            return;
        }
        self.send_end();
        self.flush();
    }

    /// Completes the request.
    fn send_end(&self) {
        if self.has_sent_all.replace(true) {
            return;
        }
        if let Some(call) = self.call.borrow_mut().as_mut() {
            call.finish();
        }
    }

    /// Ends the stream with an error that came from this side.
    pub(super) fn break_off(&self, status: Status) {
        self.fault.borrow_mut().get_or_insert(status);
        self.wake_reader();
    }

    /// Ends the stream without an event: a handler threw.
    pub(super) fn abandon(&self) {
        self.inbox.borrow_mut().clear();
        self.inbox_bytes.set(0);
        self.cut_off();
    }

    /// The next event, if there is one.
    pub(super) fn take_event(&self) -> Option<Event> {
        let event = self.inbox.borrow_mut().pop_front()?;
        let was_full = self.is_full();
        if let Event::Data(bytes, _) = &event {
            self.inbox_bytes.set(self.inbox_bytes.get() - bytes.len());
        }
        if was_full {
            self.wake_reader();
        }
        Some(event)
    }

    /// Waits until there is an event, or there will be none.
    pub(super) async fn ready(&self) {
        poll_fn(|cx| {
            if self.is_over.get() || !self.inbox.borrow().is_empty() || self.is_cut.get() {
                return Poll::Ready(());
            }
            *self.listener.borrow_mut() = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn tag_set(&self, vu: &VuState, status: Option<Code>) -> model::TagSetId {
        tags_of(vu, &self.connection, Some(&self.known.method), &self.tags, status)
    }

    fn is_full(&self) -> bool {
        self.inbox_bytes.get() > INBOX_BYTES_MAX || self.inbox.borrow().len() >= INBOX_EVENTS_MAX
    }

    /// Tried at once, on behalf of the reader: a script may compute or wait for long before that has its turn.
    fn flush(&self) {
        let mut call = self.call.borrow_mut();
        match (call.as_mut(), self.reader.borrow().as_ref()) {
            (Some(call), Some(reader)) => call.poll_send(&Context::from_waker(reader)),
            (_, Some(reader)) => reader.wake_by_ref(),
            _ => {}
        }
    }

    fn wake_reader(&self) {
        if let Some(reader) = self.reader.borrow().as_ref() {
            reader.wake_by_ref();
        }
    }

    fn wake_listener(&self) {
        if let Some(listener) = self.listener.borrow_mut().take() {
            listener.wake();
        }
    }

    /// Whether this side ends it.
    fn is_ended_here(&self) -> bool {
        self.fault.borrow().is_some() || self.connection.is_closed() || self.is_cut.get()
    }

    /// The status of a stream that this side ends: that of a message which cannot be sent, unless it is none of its type, or
    /// cancelled.
    fn own_end(&self) -> Status {
        let fault = self.fault.borrow();
        fault.as_ref().filter(|fault| fault.code != Code::UNKNOWN).cloned().unwrap_or_else(cancelled)
    }

    fn open(&self, mut call: Call) {
        for framed in self.early.take() {
            // All of them together are no more than a call takes.
            call.queue(framed);
        }
        if self.has_sent_all.get() {
            call.finish();
        }
        *self.call.borrow_mut() = Some(call);
    }

    /// The reader's turn.
    fn poll(&self, cx: &Context<'_>, vu: &VuState, reading: &mut Reading) -> Poll<(Status, Mark)> {
        *self.reader.borrow_mut() = Some(cx.waker().clone());
        reading.listening.get_or_insert_with(|| self.connection.listen(cx.waker()));
        let began = SystemClock::now();
        loop {
            if self.is_ended_here() {
                return Poll::Ready((self.own_end(), Mark::Cut));
            }
            let mut slot = self.call.borrow_mut();
            let Some(call) = slot.as_mut() else { return Poll::Pending };
            call.poll_send(cx);
            match self.take_messages(vu, call, reading) {
                Ok(()) => {}
                Err(status) => return Poll::Ready((status, Mark::Cut)),
            }
            if self.is_full() {
                return Poll::Pending;
            }
            let event = match ready!(call.poll_receive(cx)) {
                Ok(event) => event,
                Err(error) => return Poll::Ready((of_break(&error), Mark::Cut)),
            };
            match event {
                CallEvent::Head(http_status, headers) => {
                    if let Some(status) = reading.fields.take_head(http_status, headers) {
                        return Poll::Ready((status, Mark::Measured));
                    }
                }
                CallEvent::Data(bytes) => {
                    call.release(bytes.len());
                    reading.deframer.feed(&bytes);
                }
                CallEvent::Trailers(trailers) => reading.fields.trailers = Some(trailers),
                CallEvent::End => return Poll::Ready((reading.end(), Mark::Measured)),
            }
            drop(slot);
            if SystemClock::now().since(began) >= vu::turns::TURN_MAX {
                vu::turns::join(cx.waker());
                return Poll::Pending;
            }
        }
    }

    /// Puts whole messages into the inbox, as many as it takes.
    fn take_messages(&self, vu: &VuState, call: &Call, reading: &mut Reading) -> Result<(), Status> {
        while !self.is_full() {
            let Some(message) = reading.deframer.next_message().map_err(|error| of_frame(&error))? else {
                return Ok(());
            };
            let at = call.received_at();
            if self.known.method.is_server_streaming {
                vu.record(
                    builtin::GRPC_STREAMS_MSGS_RECEIVED,
                    self.tag_set(vu, None),
                    1.0,
                    Mark::Measured,
                    at,
                );
            } else if self.received_once.replace(true) {
                let text = "cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message";
                return Err(Status::new(Code::INTERNAL, text));
            }
            self.inbox_bytes.set(self.inbox_bytes.get() + message.len());
            self.inbox.borrow_mut().push_back(Event::Data(message, at));
            self.wake_listener();
        }
        Ok(())
    }

    /// The stream is over: counts it, and queues its end for the script.
    fn finish(&self, vu: &VuState, status: Status, mark: Mark) {
        let received_at = self.call.borrow_mut().take().map(|call| call.received_at());
        let finished = match (mark, received_at) {
            (Mark::Measured, Some(at)) => at,
            _ => SystemClock::now(),
        };
        let tags = self.tag_set(vu, Some(status.code));
        if self.received_once.get() {
            vu.record(builtin::GRPC_STREAMS_MSGS_RECEIVED, tags, 1.0, Mark::Measured, finished);
        }
        // One that the end of the iteration cuts is a lower bound, as a request is. k6 has no sample of it.
        if !(self.is_cut.get() && vu.is_strict()) {
            let url = || format!("{}{}", self.connection.address, self.known.method.path);
            emit(vu, tags, (self.started, finished), mark, &status, &url);
        }
        if let Some(span) = self.span.as_ref().filter(|_| received_at.is_some()) {
            let place = (&*self.connection, &*self.known.method.path);
            span.hand_over(vu, place, (self.started, finished), mark, &status);
        }
        // The script hears of its own end with another number, as in k6; samples have gRPC's.
        let is_ended_here = self.is_ended_here();
        let fault = self.fault.borrow_mut().take();
        let status = match fault {
            Some(fault) => fault,
            None if status.code == Code::CANCELLED && is_ended_here => {
                Status::new(Code::UNKNOWN, status.message)
            }
            None => status,
        };
        let mut inbox = self.inbox.borrow_mut();
        if status.code != Code::OK {
            inbox.push_back(Event::Error(status, finished));
        }
        inbox.push_back(Event::End(finished));
        drop(inbox);
        self.is_over.set(true);
        self.wake_listener();
    }
}

/// The status of a stream that this side ends.
fn cancelled() -> Status {
    Status::new(Code::CANCELLED, "canceled by client (k6)")
}

/// State of the reader between its turns.
struct Reading {
    deframer: Deframer,
    fields: Fields,
    /// Wakes the reader when the connection is closed.
    listening: Option<Listening>,
}

impl Reading {
    fn end(&mut self) -> Status {
        let status = self.fields.status();
        if status.code == Code::OK && self.deframer.is_within() {
            return Status::new(Code::INTERNAL, "unexpected EOF: the response ended inside of a message");
        }
        status
    }
}

async fn run(session: Rc<Session>, vu: Rc<VuState>, head: CallHead, timeout: Option<Duration>) {
    let under_way = UnderWay::begin(&vu, session.started);
    let deadline = timeout.map_or(Instant::MAX, |timeout| session.started + timeout);
    let work = std::pin::pin!(talk(&session, &vu, &head, deadline));
    let limited = match vu.http.client() {
        Some(http) if timeout.is_some() => http.limit(deadline, work).await,
        _ => Some(work.await),
    };
    let (status, mark) = limited.unwrap_or_else(|| (deadline_exceeded(), Mark::TimedOut));
    drop(under_way);
    session.finish(&vu, status, mark);
}

async fn talk(session: &Session, vu: &VuState, head: &CallHead, deadline: Instant) -> (Status, Mark) {
    if session.connection.is_closed() {
        return (cancelled(), Mark::Failed);
    }
    match session.connection.channel.call(head, deadline).await {
        Ok(call) => session.open(call),
        Err(error) => {
            let mark = if error.kind == wire::Kind::TimedOut { Mark::TimedOut } else { Mark::Failed };
            return (of_connection(&error), mark);
        }
    }
    let receive_bytes_max = session.connection.receive_bytes_max;
    let deframer = Deframer::new(receive_bytes_max);
    let mut reading = Reading { deframer, fields: Fields::default(), listening: None };
    poll_fn(|cx| session.poll(cx, vu, &mut reading)).await
}
