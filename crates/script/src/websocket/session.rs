//! An open connection: a task of its own reads it, so that pings are answered and messages are stamped when they come,
//! whatever the script does meanwhile.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use model::metric::builtin;
use model::{Instant, Mark, SystemClock, TagSetId};
use tokio::task::AbortHandle;
use wire::{Message, MessageKind, Read, WebSocket};

use crate::state::VuState;
use crate::state::open_streams::OpenStream;

/// Bytes that wait for the script; beyond it nothing more is read, and the server has to wait.
const INBOX_BYTES_MAX: usize = 16 << 20;

/// Events that wait for the script.
const INBOX_EVENTS_MAX: usize = 65_536;

/// Pings whose pongs are waited for; older ones are forgotten.
const PINGS_MAX: usize = 1024;

/// How long a script's `close()` waits for the server's close frame. k6 waits until the run ends, and browsers wait for
/// seconds: a server that has not answered after ten does not answer.
const CLOSE_TIMEOUT: Duration = if cfg!(test) { Duration::from_millis(300) } else { Duration::from_secs(10) };

/// How long a socket that was closed waits for the server's close frame, so that nothing on its way is lost.
const LINGER: Duration = Duration::from_secs(1);

/// An event for the script.
#[derive(Debug)]
pub(crate) struct Event {
    pub(super) at: Instant,
    pub(super) kind: EventKind,
}

#[derive(Debug)]
pub(crate) enum EventKind {
    Text(Bytes),
    Binary(Bytes),
    Ping,
    Pong,
    /// It is over: with a code where a close frame or the end of the connection gave one, and with an error unless it
    /// ended in order.
    Closed {
        code: Option<u16>,
        reason: String,
        error: Option<String>,
    },
}

impl EventKind {
    fn bytes(&self) -> usize {
        match self {
            EventKind::Text(bytes) | EventKind::Binary(bytes) => bytes.len(),
            _ => 0,
        }
    }
}

/// An open connection.
pub(crate) struct Session {
    tags: TagSetId,
    started: Instant,
    socket: RefCell<Option<WebSocket>>,
    inbox: RefCell<VecDeque<Event>>,
    inbox_bytes: Cell<usize>,
    /// The task that waits for an event.
    listener: RefCell<Option<Waker>>,
    /// The task that reads.
    reader: RefCell<Option<Waker>>,
    pings: RefCell<VecDeque<(u32, Instant)>>,
    last_ping: Cell<u32>,
    has_sent_close: Cell<bool>,
    /// Ends the session when the server does not answer a close frame.
    close_timer: Cell<Option<AbortHandle>>,
    is_over: Cell<bool>,
}

impl OpenStream for Session {
    /// Closes the socket because the iteration is over. No duration is recorded: k6 measures sessions that ended, and this
    /// one was cut short.
    fn cut_off(&self) {
        self.send_close(1001, "");
        if !self.is_over.replace(true) {
            self.let_go();
        }
    }
}

impl Session {
    /// Begins to read `socket`.
    pub(super) fn start(
        vu: &Rc<VuState>,
        socket: WebSocket,
        tags: TagSetId,
        started: Instant,
    ) -> Rc<Session> {
        let session = Rc::new(Session {
            tags,
            started,
            socket: RefCell::new(Some(socket)),
            inbox: RefCell::default(),
            inbox_bytes: Cell::new(0),
            listener: RefCell::default(),
            reader: RefCell::default(),
            pings: RefCell::default(),
            last_ping: Cell::new(0),
            has_sent_close: Cell::new(false),
            close_timer: Cell::default(),
            is_over: Cell::new(false),
        });
        let (reading, vu) = (session.clone(), vu.clone());
        tokio::task::spawn_local(poll_fn(move |cx| reading.poll(cx, &vu)));
        session
    }

    /// Sends a message, or as much of it as goes out at once; the rest follows. Returns false when it is not taken: the
    /// socket is closed, or too much waits already.
    pub(super) fn send(&self, vu: &VuState, kind: MessageKind, payload: &[u8]) -> bool {
        if self.has_sent_close.get() || !self.queue(|socket| socket.queue(kind, payload)) {
            return false;
        }
        vu.record(builtin::WS_MSGS_SENT, self.tags, 1.0, Mark::Measured, SystemClock::now());
        true
    }

    /// Counts a frame that is no message, as k6 does in `k6/websockets`.
    pub(super) fn count_control(&self, vu: &VuState) {
        if vu.is_strict() && !self.has_sent_close.get() && !self.is_over.get() {
            vu.record(builtin::WS_MSGS_SENT, self.tags, 1.0, Mark::Measured, SystemClock::now());
        }
    }

    /// Pings; the time to the pong is measured.
    pub(super) fn ping(&self) {
        let number = self.last_ping.get().wrapping_add(1);
        self.last_ping.set(number);
        {
            let mut pings = self.pings.borrow_mut();
            if pings.len() == PINGS_MAX {
                pings.pop_front();
            }
            pings.push_back((number, SystemClock::now()));
        }
        self.queue(|socket| socket.queue(MessageKind::Ping, number.to_string().as_bytes()));
    }

    /// Sends a close frame, once.
    pub(super) fn send_close(&self, code: u16, reason: &str) {
        if !self.has_sent_close.replace(true) {
            self.queue(|socket| socket.queue_close(code, reason));
        }
    }

    /// Sends a close frame; the server's is the end, or that none comes in [`CLOSE_TIMEOUT`].
    pub(super) fn close(self: &Rc<Session>, vu: &Rc<VuState>, code: u16, reason: &str) {
        self.send_close(code, reason);
        let (session, vu) = (self.clone(), vu.clone());
        let timer = tokio::task::spawn_local(async move {
            tokio::time::sleep(CLOSE_TIMEOUT).await;
            session.give_up(&vu);
        });
        if let Some(earlier) = self.close_timer.replace(Some(timer.abort_handle())) {
            earlier.abort();
        }
    }

    /// The server has not answered the close frame.
    fn give_up(&self, vu: &VuState) {
        if self.is_over.get() {
            return;
        }
        let at = SystemClock::now();
        let reason = format!("no close frame from the server in {} ms", CLOSE_TIMEOUT.as_millis());
        let error = Some(close_text(1006, &reason));
        let kind = EventKind::Closed { code: Some(1006), reason, error };
        self.inbox.borrow_mut().push_back(Event { at, kind });
        self.end(vu, at);
    }

    /// Bytes that wait to be sent.
    pub(super) fn queued_bytes(&self) -> usize {
        self.socket.borrow().as_ref().map_or(0, WebSocket::queued_bytes)
    }

    /// The next event, if there is one.
    pub(super) fn take_event(&self) -> Option<Event> {
        let event = self.inbox.borrow_mut().pop_front()?;
        let was_full = self.is_full();
        self.inbox_bytes.set(self.inbox_bytes.get() - event.kind.bytes());
        if was_full {
            self.wake_reader();
        }
        Some(event)
    }

    /// Waits until there is an event, or there will be none.
    pub(super) async fn ready(&self) {
        poll_fn(|cx| {
            if self.is_over.get() || !self.inbox.borrow().is_empty() {
                return Poll::Ready(());
            }
            *self.listener.borrow_mut() = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Waits until little waits to be sent.
    pub(super) async fn flushed(&self, bytes_max: usize) {
        poll_fn(|cx| {
            if self.queued_bytes() <= bytes_max {
                return Poll::Ready(());
            }
            *self.listener.borrow_mut() = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Says goodbye without waiting for the answer.
    pub(super) fn leave(&self, vu: &VuState) {
        self.send_close(1001, "");
        self.end(vu, SystemClock::now());
    }

    /// The session is over: counts it and lets the connection go.
    pub(super) fn end(&self, vu: &VuState, at: Instant) {
        if self.is_over.replace(true) {
            return;
        }
        vu.record(builtin::WS_SESSION_DURATION, self.tags, at.ms_since(self.started), Mark::Measured, at);
        self.let_go();
    }

    fn let_go(&self) {
        if let Some(timer) = self.close_timer.take() {
            timer.abort();
        }
        if let Some(mut socket) = self.socket.borrow_mut().take() {
            // Tried at once: the run may be over before the task has its turn.
            if let Some(reader) = self.reader.borrow().as_ref() {
                let _ = socket.poll_flush(&Context::from_waker(reader));
            }
            tokio::task::spawn_local(linger(socket));
        }
        self.wake_reader();
        self.wake_listener();
    }

    fn queue(&self, queue: impl FnOnce(&mut WebSocket) -> bool) -> bool {
        let mut slot = self.socket.borrow_mut();
        let Some(socket) = slot.as_mut() else { return false };
        if !queue(socket) {
            return false;
        }
        // Tried at once, on behalf of the reader: a script may compute or wait for long before that has its turn. What
        // fails here fails again there.
        if let Some(reader) = self.reader.borrow().as_ref()
            && matches!(socket.poll_flush(&Context::from_waker(reader)), Poll::Ready(Err(_)))
        {
            reader.wake_by_ref();
        }
        true
    }

    fn is_full(&self) -> bool {
        self.inbox_bytes.get() > INBOX_BYTES_MAX || self.inbox.borrow().len() >= INBOX_EVENTS_MAX
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

    /// The reader's turn.
    fn poll(&self, cx: &Context<'_>, vu: &VuState) -> Poll<()> {
        self.remember_reader(cx);
        let mut began = None;
        loop {
            let mut slot = self.socket.borrow_mut();
            let Some(socket) = slot.as_mut() else { return Poll::Ready(()) };
            let queued_bytes = socket.queued_bytes();
            let flushed = socket.poll_flush(cx);
            if queued_bytes > 0 && socket.queued_bytes() < queued_bytes {
                self.wake_listener();
            }
            let read = match flushed {
                Poll::Ready(Err(error)) => Poll::Ready(Read::Broken(error)),
                // Read on, the server may be waiting for that.
                _ if self.is_full() => Poll::Pending,
                _ => socket.poll_read(cx),
            };
            let Poll::Ready(read) = read else { return Poll::Pending };
            let at = SystemClock::now();
            let kind = self.take(vu, socket, read, at);
            drop(slot);
            let is_end = matches!(kind, EventKind::Closed { .. });
            self.inbox_bytes.set(self.inbox_bytes.get() + kind.bytes());
            self.inbox.borrow_mut().push_back(Event { at, kind });
            self.wake_listener();
            if is_end {
                self.end(vu, at);
                return Poll::Ready(());
            }
            if at.since(*began.get_or_insert(at)) >= vu::turns::TURN_MAX {
                vu::turns::join(cx.waker());
                return Poll::Pending;
            }
        }
    }

    fn remember_reader(&self, cx: &Context<'_>) {
        let mut reader = self.reader.borrow_mut();
        if !reader.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            *reader = Some(cx.waker().clone());
        }
    }

    /// Answers what must be answered and counts what is counted.
    fn take(&self, vu: &VuState, socket: &mut WebSocket, read: Read, at: Instant) -> EventKind {
        match read {
            Read::Message(Message::Text(text)) => {
                vu.record(builtin::WS_MSGS_RECEIVED, self.tags, 1.0, Mark::Measured, at);
                EventKind::Text(text)
            }
            Read::Message(Message::Binary(bytes)) => {
                vu.record(builtin::WS_MSGS_RECEIVED, self.tags, 1.0, Mark::Measured, at);
                EventKind::Binary(bytes)
            }
            Read::Message(Message::Ping(payload)) => {
                socket.queue_pong(&payload);
                EventKind::Ping
            }
            Read::Message(Message::Pong(payload)) => {
                self.take_pong(vu, &payload, at);
                EventKind::Pong
            }
            Read::Message(Message::Close(code, reason)) => {
                if !self.has_sent_close.replace(true) {
                    socket.queue_close(code, "");
                }
                let error = (!matches!(code, 1000 | 1001)).then(|| close_text(code, &reason));
                EventKind::Closed { code: Some(code), reason, error }
            }
            Read::End => {
                let reason = "unexpected EOF".to_owned();
                EventKind::Closed { code: Some(1006), error: Some(close_text(1006, &reason)), reason }
            }
            Read::Fault(fault) => {
                if !self.has_sent_close.replace(true) {
                    socket.queue_close(fault.code, fault.what);
                }
                EventKind::Closed { code: None, reason: String::new(), error: Some(fault.to_string()) }
            }
            Read::Broken(error) => {
                EventKind::Closed { code: None, reason: String::new(), error: Some(error.story().to_owned()) }
            }
        }
    }

    /// A pong answers the ping of the same number and forgets those before it; an unsolicited one is ignored (RFC
    /// 6455, 5.5.3).
    fn take_pong(&self, vu: &VuState, payload: &[u8], at: Instant) {
        let number: Option<u32> = std::str::from_utf8(payload).ok().and_then(|text| text.parse().ok());
        let mut pings = self.pings.borrow_mut();
        let place = pings.iter().position(|(known, _)| Some(*known) == number);
        if let Some((_, sent_at)) = place.and_then(|place| pings.drain(..=place).next_back()) {
            vu.record(builtin::WS_PING, self.tags, at.ms_since(sent_at), Mark::Measured, at);
        }
    }
}

/// Sends what is left and waits for the server to end, so that the kernel does not throw away what is on its way.
async fn linger(mut socket: WebSocket) {
    let end = poll_fn(|cx| {
        if let Poll::Ready(Err(_)) = socket.poll_flush(cx) {
            return Poll::Ready(());
        }
        let until = SystemClock::now() + vu::turns::TURN_MAX;
        while SystemClock::now() < until {
            match socket.poll_read(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(
                    Read::Message(Message::Close(..)) | Read::End | Read::Fault(_) | Read::Broken(_),
                ) => {
                    return Poll::Ready(());
                }
                Poll::Ready(_) => {}
            }
        }
        vu::turns::join(cx.waker());
        Poll::Pending
    });
    let _ = tokio::time::timeout(LINGER, end).await;
    socket.close();
}

/// k6's words for the end of a connection.
fn close_text(code: u16, reason: &str) -> String {
    let name = match code {
        1000 => " (normal)",
        1001 => " (going away)",
        1002 => " (protocol error)",
        1003 => " (unsupported data)",
        1005 => " (no status)",
        1006 => " (abnormal closure)",
        1007 => " (invalid payload data)",
        1008 => " (policy violation)",
        1009 => " (message too big)",
        1010 => " (mandatory extension missing)",
        1011 => " (internal server error)",
        1015 => " (TLS handshake error)",
        _ => "",
    };
    let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    format!("websocket: close {code}{name}{reason}")
}
