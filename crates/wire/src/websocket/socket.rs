//! An open WebSocket: messages in, messages out, and no opinion about them.

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::ReadBuf;

use super::deflate;
use super::frames::{FrameDecoder, FrameFault, Message, MessageKind, Step, encode_frame, exhausted};
use crate::budget::{BodyBudget, Held};
use crate::connection::Connection;
use crate::error::Error;
use crate::limits::{
    READ_BYTES, READS_PER_TURN_MAX, WS_BUFFER_KEPT_BYTES_MAX, WS_PONGS_QUEUED_BYTES_MAX,
    WS_SEND_QUEUE_BYTES_MAX,
};
use crate::system::stream_error;

thread_local! {
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into_boxed_slice());
}

/// An open WebSocket. It is polled by one task; frames that are queued go out when it is flushed.
pub struct WebSocket {
    connection: Box<Connection>,
    decoder: FrameDecoder,
    deflates: bool,
    out: Vec<u8>,
    /// Bytes of `out` that are sent.
    sent_bytes: usize,
    /// State of the generator of masks.
    mask: u64,
    /// The share of the budget of messages that are not complete.
    held: Held,
}

/// The result of a read.
#[derive(Debug)]
pub enum Read {
    /// A message.
    Message(Message),
    /// The server's end of the connection.
    End,
    /// The server broke the protocol.
    Fault(FrameFault),
    /// The connection broke.
    Broken(Error),
}

/// Lets the thread look at its timers and sockets and the other tasks run before this one goes on.
fn let_others(cx: &Context<'_>) -> Poll<Read> {
    vu::turns::join(cx.waker());
    Poll::Pending
}

impl fmt::Debug for WebSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSocket").field("remote", &self.connection.remote).finish_non_exhaustive()
    }
}

impl WebSocket {
    /// On a connection that was upgraded and has already received `rest`.
    pub(super) fn new(
        connection: Box<Connection>,
        rest: &[u8],
        deflates: bool,
        mut decoder: FrameDecoder,
        budget: Arc<BodyBudget>,
    ) -> WebSocket {
        decoder.feed(rest);
        let mut seed = [0; 8];
        // Masks keep proxies from being confused by chosen bytes (RFC 6455, 10.3): here only the author of the script
        // chooses them.
        let _ = getrandom::fill(&mut seed);
        let mask = u64::from_le_bytes(seed) | 1;
        let held = Held::new(budget);
        WebSocket { connection, decoder, deflates, out: Vec::new(), sent_bytes: 0, mask, held }
    }

    /// Queues a message. Returns false, and does nothing, when the queue is full.
    pub fn queue(&mut self, kind: MessageKind, payload: &[u8]) -> bool {
        if self.queued_bytes() + payload.len() > WS_SEND_QUEUE_BYTES_MAX {
            return false;
        }
        let mask = self.next_mask();
        if self.deflates && matches!(kind, MessageKind::Text | MessageKind::Binary) {
            encode_frame(&mut self.out, kind, true, &deflate::deflate(payload), mask);
        } else {
            encode_frame(&mut self.out, kind, false, payload, mask);
        }
        true
    }

    /// Queues the answer to a ping. Only the latest of several must be answered (RFC 6455, 5.5.3), and none is while the
    /// server does not read the earlier ones.
    pub fn queue_pong(&mut self, payload: &[u8]) -> bool {
        self.queued_bytes() <= WS_PONGS_QUEUED_BYTES_MAX && self.queue(MessageKind::Pong, payload)
    }

    /// Queues a close frame; a code of 1005 is none.
    pub fn queue_close(&mut self, code: u16, reason: &str) -> bool {
        let mut payload = Vec::with_capacity(2 + reason.len());
        if code != 1005 {
            payload.extend_from_slice(&code.to_be_bytes());
            payload.extend_from_slice(reason.as_bytes());
        }
        self.queue(MessageKind::Close, &payload)
    }

    /// Bytes queued and not sent.
    pub fn queued_bytes(&self) -> usize {
        self.out.len() - self.sent_bytes
    }

    /// Sends what is queued.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn poll_flush(&mut self, cx: &Context<'_>) -> Poll<Result<(), Error>> {
        while self.sent_bytes < self.out.len() {
            match self.connection.poll_write(cx, &self.out[self.sent_bytes..], &[]) {
                Poll::Ready(Ok(0)) => {
                    return Poll::Ready(Err(self.broken(&io::ErrorKind::WriteZero.into(), "write")));
                }
                Poll::Ready(Ok(bytes)) => self.sent_bytes += bytes,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(self.broken(&error, "write"))),
                Poll::Pending => return Poll::Pending,
            }
        }
        self.sent_bytes = 0;
        self.out.clear();
        if self.out.capacity() > WS_BUFFER_KEPT_BYTES_MAX {
            self.out = Vec::new();
        }
        match self.connection.poll_flush(cx) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(self.broken(&error, "write"))),
            Poll::Ready(Ok(())) => Poll::Ready(Ok(())),
            Poll::Pending => Poll::Pending,
        }
    }

    /// The next thing that comes.
    pub fn poll_read(&mut self, cx: &Context<'_>) -> Poll<Read> {
        for _ in 0..READS_PER_TURN_MAX {
            match self.decoder.step() {
                Ok(Step::Message(message)) => return Poll::Ready(self.hold(message)),
                Ok(Step::NeedsBytes) => {}
                Ok(Step::Busy) if self.held.set_to(self.decoder.held_bytes()) => return let_others(cx),
                Ok(Step::Busy) => return Poll::Ready(Read::Fault(exhausted())),
                Err(fault) => return Poll::Ready(Read::Fault(fault)),
            }
            let polled = SCRATCH.with_borrow_mut(|scratch| {
                let mut buffer = ReadBuf::new(scratch);
                self.connection.poll_read(cx, &mut buffer).map_ok(|()| {
                    self.decoder.feed(buffer.filled());
                    buffer.filled().len()
                })
            });
            match polled {
                Poll::Ready(Ok(0)) => return Poll::Ready(Read::End),
                Poll::Ready(Ok(_)) if self.held.set_to(self.decoder.held_bytes()) => {}
                Poll::Ready(Ok(_)) => return Poll::Ready(Read::Fault(exhausted())),
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Poll::Ready(Read::End);
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Read::Broken(self.broken(&error, "read"))),
                Poll::Pending => return Poll::Pending,
            }
        }
        // The message may go on, but the neighbours on this thread wait too.
        let_others(cx)
    }

    /// The message, which takes its part of the budget for as long as it is referred to.
    fn hold(&mut self, message: Message) -> Read {
        // It is no part of the decoder any more.
        self.held.set_to(self.decoder.held_bytes());
        let held = match message {
            Message::Text(text) => self.held.of_message(text).map(Message::Text),
            Message::Binary(bytes) => self.held.of_message(bytes).map(Message::Binary),
            short => Some(short),
        };
        held.map_or_else(|| Read::Fault(exhausted()), Read::Message)
    }

    /// Ends the connection.
    pub fn close(self) {
        self.connection.close();
    }

    fn broken(&self, error: &io::Error, verb: &str) -> Error {
        stream_error(error, verb, self.connection.local(), self.connection.remote)
    }

    /// The next mask (xorshift64*; G. Marsaglia, "Xorshift RNGs", 2003; S. Vigna, 2016).
    fn next_mask(&mut self) -> [u8; 4] {
        self.mask ^= self.mask >> 12;
        self.mask ^= self.mask << 25;
        self.mask ^= self.mask >> 27;
        let [.., a, b, c, d] = self.mask.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes();
        [a, b, c, d]
    }
}

#[cfg(test)]
mod tests {
    use model::plan::{HttpOptions, NetworkOptions, TlsOptions};

    use super::*;
    use crate::testing::{local, request};
    use crate::{Client, Shared, Upgrade};

    async fn echo(socket: &mut WebSocket, bytes: usize) -> Read {
        assert!(socket.queue(MessageKind::Binary, &vec![7; bytes]));
        std::future::poll_fn(|cx| {
            // What is left goes out as the server reads.
            assert!(!matches!(socket.poll_flush(cx), Poll::Ready(Err(_))), "the server is there");
            socket.poll_read(cx)
        })
        .await
    }

    #[test]
    fn messages_take_their_part_of_the_budget() {
        local(async {
            let server = testkit::http::start();
            let (http, network, tls) =
                (HttpOptions::default(), NetworkOptions::default(), TlsOptions::default());
            let budget = BodyBudget::new(16 << 20);
            let shared = Shared::new(&http, &network, &tls).expect("good options");
            let client = Client::new(Arc::new(shared.with_bodies(budget.clone())), 1);
            for path in ["/ws/echo", "/ws/echo?deflate=1"] {
                let upgrade = Upgrade {
                    request: request("GET", &server.url(path)),
                    jar: None,
                    offers_deflate: true,
                    mirrors_k6: false,
                };
                let mut socket = client.upgrade(upgrade).await.result.expect("it opens");
                let Read::Message(Message::Binary(first)) = echo(&mut socket, 3 << 20).await else {
                    panic!("no message")
                };
                assert!(first.len() == 3 << 20 && budget.held_bytes() >= 3 << 20, "{path}");
                drop(first);
                let small = echo(&mut socket, 100).await;
                assert!(matches!(small, Read::Message(_)) && budget.held_bytes() == 0, "{path}");
                // Of those that the script keeps, the sixth is refused at the latest.
                let mut kept = Vec::new();
                while let Read::Message(message) = echo(&mut socket, 3 << 20).await {
                    kept.push(message);
                    assert!(kept.len() < 6, "{path}: {} bytes are held", budget.held_bytes());
                }
            }
        });
    }
}
