//! WebSocket connections (RFC 6455): echoes, talkers, and every way to misbehave, with a count of what came.
//!
//! It is written apart from the client that is tested against it, so that the two agree only where both are right.

mod frames;

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::BytesMut;
use sha1::{Digest, Sha1};
use tokio::io::AsyncWriteExt;

use crate::connection::Transport;
use crate::seen::Counters;
use frames::{BINARY, CLOSE, Frames, Message, PING, PONG, TEXT, frame};

/// The constant that the accepting side adds to the key before hashing it (RFC 6455, 1.3).
const ACCEPT_GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The longest message the server takes; a longer one ends the connection.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// Messages a talker sends at most.
const MAX_MESSAGES: u64 = 10_000_000;

/// The behaviour of a connection once it is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manner {
    /// Its first action, and the behaviour after it.
    pub kind: Kind,
    /// Whether messages are compressed (RFC 7692, without context takeover).
    pub deflate: bool,
    /// Waited for before every message it sends.
    pub delay: Duration,
}

/// The behaviour of a connection. Unless stated otherwise it then answers pings and the close frame and takes no notice of
/// messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Sends every message back.
    Echo,
    /// Sends this first.
    Say {
        /// The message.
        text: Vec<u8>,
        /// Whether it is binary.
        binary: bool,
        /// How often.
        count: u64,
        /// Whether the server closes with this code after them.
        close: Option<u16>,
    },
    /// Answers every message with the number of messages and pings it has received.
    Count,
    /// Closes with this code and reason; without a code the frame is empty.
    Close {
        /// The code.
        code: Option<u16>,
        /// The reason.
        reason: String,
    },
    /// Ends the connection without a close frame.
    Cut {
        /// By a reset.
        reset: bool,
    },
    /// Pings so often, and says with a message what each pong brought.
    Ping {
        /// How often.
        count: u64,
    },
    /// Sends one message in three fragments with a ping between them.
    Fragments,
    /// Takes everything and answers nothing, not even a close frame.
    Silent,
    /// Sends these bytes, which break the protocol, then takes everything until the client goes.
    Raw(Vec<u8>),
    /// Sends fragments of a message without an end.
    Endless,
}

/// The value of `Sec-WebSocket-Accept` for a key.
pub(crate) fn accept_of(key: &str) -> String {
    let mut sha1 = Sha1::new();
    sha1.update(key.as_bytes());
    sha1.update(ACCEPT_GUID.as_bytes());
    STANDARD.encode(sha1.finalize())
}

/// Counters of WebSocket connections.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sessions: AtomicU64,
    pub(crate) messages_in: AtomicU64,
    pub(crate) messages_out: AtomicU64,
    pub(crate) message_bytes_in: AtomicU64,
    pub(crate) pings_in: AtomicU64,
    pub(crate) pongs_in: AtomicU64,
    pub(crate) closes_in: AtomicU64,
    pub(crate) malformed: AtomicU64,
}

/// Talks until either side ends it.
pub(crate) async fn converse<T: Transport>(io: T, input: BytesMut, manner: Manner, counters: &Counters) {
    let counts = &counters.websocket;
    counts.sessions.fetch_add(1, Ordering::SeqCst);
    let mut talk = Talk { frames: Frames::new(io, input), manner, counts, messages: 0, pings: 0 };
    // A client that goes is what most of these are for.
    let _ = talk.run().await;
    let Talk { frames, manner, .. } = talk;
    let mut io = frames.into_io();
    if manner.kind == (Kind::Cut { reset: true }) {
        io.prepare_reset();
        return;
    }
    let _ = io.shutdown().await;
}

struct Talk<'a, T> {
    frames: Frames<T>,
    manner: Manner,
    counts: &'a Counts,
    messages: u64,
    pings: u64,
}

impl<T: Transport> Talk<'_, T> {
    async fn run(&mut self) -> io::Result<()> {
        match self.manner.kind.clone() {
            Kind::Echo | Kind::Count | Kind::Silent => {}
            Kind::Say { text, binary, count, close } => {
                for _ in 0..count.min(MAX_MESSAGES) {
                    self.say(if binary { BINARY } else { TEXT }, &text).await?;
                }
                if let Some(code) = close {
                    return self.close(Some(code), "").await;
                }
            }
            Kind::Close { code, reason } => {
                tokio::time::sleep(self.manner.delay).await;
                return self.close(code, &reason).await;
            }
            Kind::Cut { .. } => {
                tokio::time::sleep(self.manner.delay).await;
                return Ok(());
            }
            Kind::Ping { count } => {
                for number in 0..count.min(MAX_MESSAGES) {
                    self.frames.write(&frame(PING, true, false, format!("ping {number}").as_bytes())).await?;
                }
            }
            Kind::Fragments => {
                self.frames.write(&frame(TEXT, false, false, b"one, ")).await?;
                self.frames.write(&frame(PING, true, false, b"between")).await?;
                self.frames.write(&frame(0, false, false, b"two, ")).await?;
                self.frames.write(&frame(0, true, false, b"three")).await?;
                self.counts.messages_out.fetch_add(1, Ordering::SeqCst);
            }
            Kind::Raw(bytes) => {
                tokio::time::sleep(self.manner.delay).await;
                self.frames.write(&bytes).await?;
            }
            Kind::Endless => {
                self.frames.write(&frame(TEXT, false, false, b"begun")).await?;
                let more = frame(0, false, false, &[b'x'; 65_536]);
                loop {
                    self.frames.write(&more).await?;
                }
            }
        }
        self.listen().await
    }

    async fn listen(&mut self) -> io::Result<()> {
        loop {
            let message = match self.frames.read(MAX_MESSAGE_BYTES).await {
                Ok(Some(message)) => message,
                Ok(None) => return Ok(()),
                Err(error) => {
                    if error.kind() == io::ErrorKind::InvalidData {
                        self.counts.malformed.fetch_add(1, Ordering::SeqCst);
                    }
                    return Err(error);
                }
            };
            if self.take(message).await? {
                return Ok(());
            }
        }
    }

    /// Answers a message; says whether it was the last.
    async fn take(&mut self, message: Message) -> io::Result<bool> {
        let is_silent = matches!(self.manner.kind, Kind::Silent | Kind::Raw(_));
        match message.opcode {
            PING => {
                self.pings += 1;
                self.counts.pings_in.fetch_add(1, Ordering::SeqCst);
                if !is_silent {
                    self.frames.write(&frame(PONG, true, false, &message.payload)).await?;
                }
            }
            PONG => {
                self.counts.pongs_in.fetch_add(1, Ordering::SeqCst);
                if matches!(self.manner.kind, Kind::Ping { .. }) {
                    let text = format!("pong {}", String::from_utf8_lossy(&message.payload));
                    self.say(TEXT, text.as_bytes()).await?;
                }
            }
            CLOSE => {
                self.counts.closes_in.fetch_add(1, Ordering::SeqCst);
                if !is_silent {
                    self.frames.write(&frame(CLOSE, true, false, &message.payload)).await?;
                    return Ok(true);
                }
            }
            opcode => {
                self.messages += 1;
                self.counts.messages_in.fetch_add(1, Ordering::SeqCst);
                self.counts.message_bytes_in.fetch_add(message.payload.len() as u64, Ordering::SeqCst);
                match self.manner.kind {
                    Kind::Echo => self.say(opcode, &message.payload).await?,
                    Kind::Count => {
                        let text = format!("{} messages, {} pings", self.messages, self.pings);
                        self.say(TEXT, text.as_bytes()).await?;
                    }
                    _ => {}
                }
            }
        }
        Ok(false)
    }

    async fn say(&mut self, opcode: u8, payload: &[u8]) -> io::Result<()> {
        if !self.manner.delay.is_zero() {
            tokio::time::sleep(self.manner.delay).await;
        }
        // Counted first, so that a client that has it can rely on the count.
        self.counts.messages_out.fetch_add(1, Ordering::SeqCst);
        let bytes = match self.manner.deflate {
            true => frame(opcode, true, true, &frames::deflated(payload)),
            false => frame(opcode, true, false, payload),
        };
        self.frames.write(&bytes).await
    }

    async fn close(&mut self, code: Option<u16>, reason: &str) -> io::Result<()> {
        let mut payload = code.map(|code| code.to_be_bytes().to_vec()).unwrap_or_default();
        payload.extend_from_slice(reason.as_bytes());
        self.frames.write(&frame(CLOSE, true, false, &payload)).await?;
        // Until the client's own close frame has come, or its end.
        while let Some(message) = self.frames.read(MAX_MESSAGE_BYTES).await? {
            if message.opcode == CLOSE {
                self.counts.closes_in.fetch_add(1, Ordering::SeqCst);
                return Ok(());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_accepted() {
        // The example of RFC 6455, 1.3.
        assert_eq!(accept_of("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
}
