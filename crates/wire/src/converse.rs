//! One request and one response on a connection that is ready.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, Waker, ready};

use model::{Instant, SystemClock};
use tokio::io::ReadBuf;

use crate::buffers::put_buffer;
use crate::connection::Connection;
use crate::decode::Decoder;
use crate::error::{Error, Kind, Stage};
use crate::fault::{Fault, cut};
use crate::limits::{INLINE_BODY_BYTES_MAX, READ_BYTES, READS_PER_TURN_MAX};
use crate::outbox::Times;
use crate::system::stream_error;
use crate::tls;
use crate::trace::Trace;

thread_local! {
    /// Where sockets are read into. It is held only while one is read and decoded, never across a wait, so that one
    /// per thread serves all connections.
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into_boxed_slice());
}

/// Sends `head` and `body` from `now` on and has `decoder` read the response; returns whether the connection can carry another
/// exchange.
///
/// All is borrowed: a future keeps an argument of its own beside the variable that it becomes.
pub(crate) async fn converse(
    connection: &mut Connection,
    head: &mut Vec<u8>,
    body: &[u8],
    decoder: &mut Decoder<'_>,
    trace: &Trace,
    now: Instant,
) -> Result<bool, Error> {
    // A small body goes with the head in one piece; a large one is not copied.
    let body = if body.len() <= INLINE_BODY_BYTES_MAX {
        head.extend_from_slice(body);
        &[]
    } else {
        body
    };
    let mut talk = Talk {
        connection,
        decoder,
        trace,
        sent_bytes: 0,
        is_posted: false,
        sent_at: None,
        is_clean: true,
        is_first: true,
    };
    if body.is_empty() {
        talk.post(head, now);
    }
    if !talk.is_posted {
        trace.enter(Stage::Send, now);
    }
    let sent = poll_fn(|cx| talk.poll_send(cx, head, body)).await;
    put_buffer(std::mem::take(head));
    // The server may have said why it does not want to hear more, so that a failed write is not the end yet.
    let received = poll_fn(|cx| talk.poll_receive(cx)).await;
    if talk.decoder.is_done() {
        return Ok(talk.is_clean && sent.is_ok() && talk.decoder.is_reusable());
    }
    Err(reason(sent.err(), received.err()))
}

/// Returns why there is no response: the first failure, unless the server said by TLS why it closed the connection, which is known
/// only from reading, as when a client certificate is missing (RFC 8446, 4.4.2.4).
fn reason(sent: Option<Error>, received: Option<Error>) -> Error {
    let (sent, received) = match received {
        Some(received) if received.kind == Kind::Tls => return received,
        received => (sent, received),
    };
    sent.or(received).unwrap_or_else(|| *cut("unexpected EOF"))
}

struct Talk<'a, 'b> {
    connection: &'a mut Connection,
    decoder: &'a mut Decoder<'b>,
    trace: &'a Trace,
    sent_bytes: usize,
    /// The request is in the outbox, or left it and the trace does not show that yet.
    is_posted: bool,
    /// When the request was out, until the first look for its response, which follows at once.
    sent_at: Option<Instant>,
    /// Nothing but the response came, and the connection is open.
    is_clean: bool,
    /// Nothing came yet.
    is_first: bool,
}

/// The result of one read.
struct Piece {
    read: io::Result<()>,
    bytes: usize,
    /// Whether the bytes are in the body already, or dropped; otherwise they are in the buffer.
    is_taken: bool,
}

impl Drop for Talk<'_, '_> {
    fn drop(&mut self) {
        // The exchange was given up, perhaps while its request was on its way.
        if self.is_posted
            && !self.connection.is_waiting()
            && let Poll::Ready(Ok(Some(times))) =
                self.connection.poll_posted(&Context::from_waker(Waker::noop()))
        {
            self.enter_wait(times);
        }
    }
}

impl Talk<'_, '_> {
    /// Leaves the request in the outbox of the thread, if it has one.
    fn post(&mut self, head: &mut Vec<u8>, now: Instant) {
        // Whatever woke the socket before was not the response.
        self.connection.watch.take();
        self.connection.note_sent(now);
        self.is_posted = self.connection.post(head, now);
    }

    /// Waits until a request that was posted is sent.
    fn poll_posted(&mut self, cx: &Context<'_>) -> Poll<Result<(), Error>> {
        match self.connection.poll_posted(cx) {
            Poll::Pending if self.connection.is_waiting() => return Poll::Pending,
            Poll::Pending => {
                if self.trace.stage() != Stage::Send {
                    self.trace.enter(Stage::Send, SystemClock::now());
                }
                return self.poll_early(cx);
            }
            Poll::Ready(Ok(Some(times))) => self.enter_wait(times),
            Poll::Ready(Ok(None)) => {}
            Poll::Ready(Err(error)) => {
                self.is_posted = false;
                self.trace.enter(Stage::Send, SystemClock::now());
                return Poll::Ready(Err(self.fail(&error, "write")));
            }
        }
        self.is_posted = false;
        Poll::Ready(Ok(()))
    }

    fn enter_wait(&self, times: Times) {
        if self.is_first {
            self.trace.enter(Stage::Send, times.from);
            self.trace.enter(Stage::Wait, times.until);
        }
    }

    /// Writes the request; also ready when the whole response is there before the request is out.
    fn poll_send(&mut self, cx: &Context<'_>, head: &[u8], body: &[u8]) -> Poll<Result<(), Error>> {
        if self.is_posted {
            return self.poll_posted(cx);
        }
        while self.sent_bytes < head.len() + body.len() {
            let (first, second) = match self.sent_bytes.checked_sub(head.len()) {
                Some(sent_bytes) => (&body[sent_bytes..], &[][..]),
                None => (&head[self.sent_bytes..], body),
            };
            match self.connection.poll_write(cx, first, second) {
                Poll::Ready(Ok(0)) => {
                    return Poll::Ready(Err(self.fail(&io::ErrorKind::WriteZero.into(), "write")));
                }
                Poll::Ready(Ok(written_bytes)) => self.sent_bytes += written_bytes,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(self.fail(&error, "write"))),
                Poll::Pending => return self.poll_early(cx),
            }
        }
        match self.connection.poll_flush(cx) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => return Poll::Ready(Err(self.fail(&error, "write"))),
            Poll::Pending => return self.poll_early(cx),
        }
        if self.is_first {
            // Whatever woke the socket before was not the response.
            self.connection.watch.take();
            let now = SystemClock::now();
            self.connection.note_sent(now);
            self.sent_at = Some(now);
            self.trace.enter(Stage::Wait, now);
        }
        Poll::Ready(Ok(()))
    }

    /// While the request cannot go on, the server may answer already, and may even wait for the answer to be read.
    fn poll_early(&mut self, cx: &Context<'_>) -> Poll<Result<(), Error>> {
        ready!(self.poll_receive(cx))?;
        self.is_clean = false;
        Poll::Ready(Ok(()))
    }

    fn poll_receive(&mut self, cx: &Context<'_>) -> Poll<Result<(), Error>> {
        SCRATCH.with_borrow_mut(|scratch| {
            let mut began = None;
            for _ in 0..READS_PER_TURN_MAX {
                if self.decoder.is_done() {
                    return Poll::Ready(Ok(()));
                }
                if !ready!(self.decoder.flow.poll_wanted(cx)) {
                    self.is_clean = false;
                    self.decoder.stop();
                    return Poll::Ready(Ok(()));
                }
                let polled_at = self.sent_at.take().unwrap_or_else(SystemClock::now);
                if polled_at.since(*began.get_or_insert(polled_at)) >= vu::turns::TURN_MAX {
                    break;
                }
                let Piece { read, bytes, is_taken } = ready!(self.poll_piece(cx, scratch))?;
                self.stamp(polled_at, bytes > 0);
                match read {
                    Ok(()) => {}
                    // Many servers end TLS connections without close_notify; the framing shows whether something is missing.
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
                    Err(error) => return Poll::Ready(Err(self.fail(&error, "read"))),
                }
                if is_taken && bytes > 0 {
                    self.decoder.filled(bytes);
                    continue;
                }
                self.take(&scratch[..bytes]).map_err(|fault| self.trace.failed(*fault))?;
            }
            if self.decoder.is_done() {
                return Poll::Ready(Ok(()));
            }
            // There may be more, but the neighbours on this thread wait too, and what they wait for must be looked at.
            vu::turns::join(cx.waker());
            Poll::Pending
        })
    }

    /// Reads into the body or into `scratch`, or drops unwanted bytes.
    fn poll_piece(&mut self, cx: &Context<'_>, scratch: &mut [u8]) -> Poll<Result<Piece, Error>> {
        if let Some(bytes) = self.decoder.unwanted_bytes().filter(|_| self.connection.can_skip()) {
            let skipped = ready!(self.connection.poll_skip(cx, bytes));
            let bytes = *skipped.as_ref().unwrap_or(&0);
            return Poll::Ready(Ok(Piece { read: skipped.map(|_| ()), bytes, is_taken: true }));
        }
        let room = self.decoder.room().map_err(|fault| self.trace.failed(*fault))?;
        let is_taken = room.is_some();
        let mut buffer = ReadBuf::new(room.unwrap_or(scratch));
        let read = ready!(self.connection.poll_read(cx, &mut buffer));
        Poll::Ready(Ok(Piece { read, bytes: buffer.filled().len(), is_taken }))
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if bytes.is_empty() {
            self.is_clean = false;
            return self.decoder.end();
        }
        let used_bytes = self.decoder.feed(bytes)?;
        self.is_clean = used_bytes == bytes.len();
        Ok(())
    }

    /// The bytes could be read since they arrived, or as far as that is not known, since the runtime saw the socket ready;
    /// the time from there to the poll is ours.
    fn stamp(&mut self, polled_at: Instant, has_bytes: bool) {
        let woken_at = self.connection.watch.take().map_or(polled_at, |woken_at| woken_at.min(polled_at));
        let arrived_at =
            self.connection.take_arrival().map(|arrived_at| arrived_at.max(self.trace.stage_since()));
        let ready_at = arrived_at.map_or(woken_at, |arrived_at| arrived_at.min(woken_at));
        let late_ns = polled_at.as_ns() - ready_at.as_ns();
        if self.is_first && has_bytes {
            self.is_first = false;
            self.trace.enter(Stage::Receive, ready_at);
        }
        let read_at = SystemClock::now();
        self.trace.late_ns.set(late_ns);
        self.trace.received_at.set(Instant::from_ns(read_at.as_ns() - late_ns));
    }

    fn fail(&self, error: &io::Error, verb: &str) -> Error {
        let remote = self.connection.remote;
        let tls_error = tls::error_of(error, self.connection.target.host());
        self.trace
            .failed(tls_error.unwrap_or_else(|| stream_error(error, verb, self.connection.local(), remote)))
    }
}
