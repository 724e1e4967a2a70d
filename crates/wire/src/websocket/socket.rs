//! An open WebSocket: messages in, messages out, and no opinion about them.

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::task::{Context, Poll};

use tokio::io::ReadBuf;

use super::deflate;
use super::frames::{FrameDecoder, FrameFault, Message, MessageKind, encode_frame};
use crate::connection::Connection;
use crate::error::Error;
use crate::limits::{READ_BYTES, READS_PER_TURN_MAX, WS_BUFFER_KEPT_BYTES_MAX, WS_SEND_QUEUE_BYTES_MAX};
use crate::system::stream_error;

thread_local! {
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into_boxed_slice());
}

/// An open WebSocket. It is polled by one task; frames that are queued go out when it is flushed.
pub struct WebSocket {
    connection: Connection,
    decoder: FrameDecoder,
    deflates: bool,
    out: Vec<u8>,
    /// Bytes of `out` that are sent.
    sent_bytes: usize,
    /// State of the generator of masks.
    mask: u64,
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

impl fmt::Debug for WebSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSocket").field("remote", &self.connection.remote).finish_non_exhaustive()
    }
}

impl WebSocket {
    /// On a connection that was upgraded and has already received `rest`.
    pub(super) fn new(connection: Connection, rest: &[u8], deflates: bool) -> WebSocket {
        let mut decoder = FrameDecoder::new(deflates);
        decoder.feed(rest);
        let mut seed = [0; 8];
        // Masks keep proxies from being confused by chosen bytes (RFC 6455, 10.3): here only the author of the script
        // chooses them.
        let _ = getrandom::fill(&mut seed);
        let mask = u64::from_le_bytes(seed) | 1;
        WebSocket { connection, decoder, deflates, out: Vec::new(), sent_bytes: 0, mask }
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
            match self.decoder.next_message() {
                Ok(Some(message)) => return Poll::Ready(Read::Message(message)),
                Ok(None) => {}
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
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Poll::Ready(Read::End);
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Read::Broken(self.broken(&error, "read"))),
                Poll::Pending => return Poll::Pending,
            }
        }
        // The message may go on, but the neighbours on this thread wait too.
        vu::turns::join(cx.waker());
        Poll::Pending
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
