//! A connection. Every call has a channel of its own, as in k6: a refusal ends the channel and not the connection.

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::frame::{
    self, BODY, FRAME_BYTES_MAX, Frame, HEADER, HEARTBEAT, METHOD, Reader, malformed, push, push_long,
    push_text,
};
use super::method::{Method, Publication, Reply, start};
use super::{AmqpError, Settings};
use crate::BoxStream;

/// The protocol and its version.
const PROTOCOL: &[u8] = b"AMQP\0\0\x09\x01";

/// The channel of calls.
const CHANNEL: u16 = 1;

/// Bytes of a message that is received or sent.
const MESSAGE_BYTES_MAX: usize = 16 << 20;

/// Bytes to read at once.
const READ_BYTES: usize = 16 << 10;

/// An open connection.
pub struct Connection {
    stream: BoxStream,
    input: BytesMut,
    /// Bytes of a frame's payload that the broker takes.
    payload_bytes_max: usize,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

/// A message that a queue gave away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The content.
    pub body: Vec<u8>,
    /// Messages that are left in the queue.
    pub left: u32,
}

impl Connection {
    /// Logs in over a connection.
    ///
    /// # Errors
    /// See [`AmqpError`].
    pub async fn open(stream: BoxStream, settings: &Settings) -> Result<Connection, AmqpError> {
        let mut connection = Connection { stream, input: BytesMut::new(), payload_bytes_max: 0 };
        connection.send(PROTOCOL).await?;
        connection.expect(0, 10, 10).await?;
        let mut answer = start(10, 11);
        push_long(&mut answer, &[]);
        push_text(&mut answer, "PLAIN")?;
        push_long(&mut answer, format!("\0{}\0{}", settings.user, settings.password).as_bytes());
        push_text(&mut answer, "en_US")?;
        connection.send_method(0, &answer).await?;
        // A broker that does not know the user closes the connection, with or without a reason.
        let tune = connection.expect(0, 10, 30).await.map_err(|error| match error {
            AmqpError::Lost(_) | AmqpError::Refused { .. } => {
                refused(403, "username or password not allowed")
            }
            other => other,
        })?;
        let mut tune = Reader(tune);
        let (channels, frame_bytes) = (tune.u16()?, tune.u32()? as usize);
        let frame_bytes = if frame_bytes == 0 { FRAME_BYTES_MAX } else { frame_bytes.min(FRAME_BYTES_MAX) };
        connection.payload_bytes_max = frame_bytes.saturating_sub(8).max(1);
        let mut answer = start(10, 31);
        answer.extend_from_slice(&channels.to_be_bytes());
        answer.extend_from_slice(&(frame_bytes as u32).to_be_bytes());
        // Without heartbeats: a script that computes would not send them.
        answer.extend_from_slice(&[0, 0]);
        connection.send_method(0, &answer).await?;
        let mut open = start(10, 40);
        push_text(&mut open, &settings.vhost)?;
        open.extend_from_slice(&[0, 0]);
        connection.send_method(0, &open).await?;
        connection.expect(0, 10, 41).await.map_err(|error| match error {
            AmqpError::Lost(_) | AmqpError::Refused { .. } => refused(403, "no access to this vhost"),
            other => other,
        })?;
        Ok(connection)
    }

    /// Calls a method.
    ///
    /// # Errors
    /// See [`AmqpError`].
    pub async fn call(&mut self, method: &Method) -> Result<Reply, AmqpError> {
        let payload = method.payload()?;
        self.open_channel().await?;
        self.send_method(CHANNEL, &payload).await?;
        let reply = method.reply(self.answer(CHANNEL).await?)?;
        self.close_channel().await?;
        Ok(reply)
    }

    /// Publishes a message, and waits until the broker has taken it.
    ///
    /// # Errors
    /// See [`AmqpError`].
    pub async fn publish(&mut self, publication: &Publication) -> Result<(), AmqpError> {
        if publication.body.len() > MESSAGE_BYTES_MAX {
            let (has, max) = (publication.body.len() >> 20, MESSAGE_BYTES_MAX >> 20);
            return Err(AmqpError::Invalid(format!("the body has {has} MiB; at most {max} MiB can be sent")));
        }
        let [method, header] = publication.payloads()?;
        self.open_channel().await?;
        let mut out = Vec::with_capacity(publication.body.len() + 256);
        push(&mut out, METHOD, CHANNEL, &method);
        push(&mut out, HEADER, CHANNEL, &header);
        for part in publication.body.chunks(self.payload_bytes_max) {
            push(&mut out, BODY, CHANNEL, part);
        }
        self.send(&out).await?;
        // A refusal comes before the answer to this.
        self.close_channel().await
    }

    /// Passes the messages of a queue on, until it has given away those that were there. Messages that are not acknowledged
    /// return to it afterwards.
    ///
    /// # Errors
    /// See [`AmqpError`].
    pub async fn open_queue(&mut self) -> Result<(), AmqpError> {
        self.open_channel().await
    }

    /// The next message of a queue, after [`Connection::open_queue`].
    ///
    /// # Errors
    /// See [`AmqpError`].
    pub async fn next(&mut self, queue: &str, acknowledges: bool) -> Result<Option<Delivery>, AmqpError> {
        let mut get = start(60, 70);
        get.extend_from_slice(&[0, 0]);
        push_text(&mut get, queue)?;
        get.push(acknowledges.into());
        self.send_method(CHANNEL, &get).await?;
        let mut answer = Reader(self.answer(CHANNEL).await?);
        match (answer.u16()?, answer.u16()?) {
            (60, 72) => Ok(None),
            (60, 71) => {
                answer.u64()?;
                answer.u8()?;
                answer.text()?;
                answer.text()?;
                let left = answer.u32()?;
                Ok(Some(Delivery { body: self.content().await?, left }))
            }
            _ => Err(malformed()),
        }
    }

    /// Ends what [`Connection::open_queue`] began.
    ///
    /// # Errors
    /// See [`AmqpError`].
    pub async fn close_queue(&mut self) -> Result<(), AmqpError> {
        self.close_channel().await
    }

    async fn open_channel(&mut self) -> Result<(), AmqpError> {
        let mut open = start(20, 10);
        open.push(0);
        self.send_method(CHANNEL, &open).await?;
        // Where both sides closed the last channel at a time, the broker's answer to our close is still to come.
        for _ in 0..2 {
            let mut reader = Reader(self.answer(CHANNEL).await?);
            match (reader.u16()?, reader.u16()?) {
                (20, 11) => return Ok(()),
                (20, 41) => {}
                _ => break,
            }
        }
        Err(malformed())
    }

    async fn close_channel(&mut self) -> Result<(), AmqpError> {
        let mut close = start(20, 40);
        // 200 is a success.
        close.extend_from_slice(&200_u16.to_be_bytes());
        close.extend_from_slice(&[0, 0, 0, 0, 0]);
        self.send_method(CHANNEL, &close).await?;
        self.expect(CHANNEL, 20, 41).await.map(drop)
    }

    /// Receives the content that follows a method.
    async fn content(&mut self) -> Result<Vec<u8>, AmqpError> {
        let header = self.frame().await?;
        if header.kind != HEADER {
            return Err(malformed());
        }
        let mut header = Reader(header.payload);
        header.u32()?;
        let length = usize::try_from(header.u64()?).unwrap_or(usize::MAX);
        if length > MESSAGE_BYTES_MAX {
            let max = MESSAGE_BYTES_MAX >> 20;
            return Err(AmqpError::Lost(format!("the queue has a message of more than {max} MiB")));
        }
        let mut body = Vec::new();
        while body.len() < length {
            let frame = self.frame().await?;
            if frame.kind != BODY || body.len() + frame.payload.len() > length {
                return Err(malformed());
            }
            body.extend_from_slice(&frame.payload);
        }
        Ok(body)
    }

    /// Receives a certain method; its arguments.
    async fn expect(&mut self, channel: u16, class: u16, number: u16) -> Result<Bytes, AmqpError> {
        let mut reader = Reader(self.answer(channel).await?);
        match (reader.u16()?, reader.u16()?) == (class, number) {
            true => Ok(reader.0),
            false => Err(malformed()),
        }
    }

    /// Receives the next method of a channel; its payload. Messages that come back are left out.
    async fn answer(&mut self, channel: u16) -> Result<Bytes, AmqpError> {
        loop {
            let frame = self.frame().await?;
            if frame.kind != METHOD {
                continue;
            }
            let mut reader = Reader(frame.payload.clone());
            match (reader.u16()?, reader.u16()?) {
                (10, 50) => {
                    let (code, text) = (reader.u16()?, reader.text()?);
                    self.send_method(0, &start(10, 51)).await?;
                    return Err(AmqpError::Refused { code, text, is_over: true });
                }
                (20, 40) => {
                    let (code, text) = (reader.u16()?, reader.text()?);
                    self.send_method(CHANNEL, &start(20, 41)).await?;
                    return Err(AmqpError::Refused { code, text, is_over: false });
                }
                (60, 50) => {}
                // The broker is short of memory, or is so no longer.
                (10, 60 | 61) => {}
                _ if frame.channel == channel => return Ok(frame.payload),
                _ => return Err(malformed()),
            }
        }
    }

    async fn frame(&mut self) -> Result<Frame, AmqpError> {
        loop {
            match frame::take(&mut self.input)? {
                Some(frame) if frame.kind == HEARTBEAT => {}
                Some(frame) => return Ok(frame),
                None => {
                    self.input.reserve(READ_BYTES);
                    if self.stream.read_buf(&mut self.input).await.map_err(lost)? == 0 {
                        return Err(AmqpError::Lost("the server closed the connection (EOF)".to_owned()));
                    }
                }
            }
        }
    }

    async fn send_method(&mut self, channel: u16, payload: &[u8]) -> Result<(), AmqpError> {
        let mut out = Vec::with_capacity(payload.len() + 8);
        push(&mut out, METHOD, channel, payload);
        self.send(&out).await
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), AmqpError> {
        self.stream.write_all(bytes).await.map_err(lost)?;
        self.stream.flush().await.map_err(lost)
    }
}

fn refused(code: u16, text: &str) -> AmqpError {
    AmqpError::Refused { code, text: text.to_owned(), is_over: true }
}

fn lost(error: std::io::Error) -> AmqpError {
    AmqpError::Lost(format!("the connection is lost: {error}"))
}

#[cfg(test)]
mod tests {
    use tokio::io::DuplexStream;

    use super::*;

    fn method(class: u16, number: u16, arguments: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let channel = if class == 10 { 0 } else { CHANNEL };
        push(&mut out, METHOD, channel, &[&start(class, number)[..], arguments].concat());
        out
    }

    async fn open(
        far: &mut DuplexStream,
        near: DuplexStream,
        replies: &[Vec<u8>],
    ) -> Result<Connection, AmqpError> {
        let settings = Settings::parse("amqp://u:p@h/v").expect("a URL");
        far.write_all(&replies.concat()).await.expect("it reads");
        Connection::open(Box::new(near), &settings).await
    }

    fn login() -> Vec<Vec<u8>> {
        vec![
            method(10, 10, b"\0\x09\0\0\0\0\0\0\0\x05PLAIN\0\0\0\x05en_US"),
            method(10, 30, b"\x07\xff\0\x02\0\0\0\x3c"),
            method(10, 41, b"\0"),
        ]
    }

    /// A broker that refuses a message has closed the channel, and answers the close that follows the message all the same.
    #[tokio::test]
    async fn a_refused_message_leaves_the_connection_in_order() {
        let (near, mut far) = tokio::io::duplex(1 << 16);
        let mut connection = open(&mut far, near, &login()).await.expect("it is let in");
        let replies = [
            method(20, 11, b"\0\0\0\0"),
            method(20, 40, b"\x01\x94\x04none\0\x3c\0\x28"),
            method(20, 41, b""),
            method(20, 11, b"\0\0\0\0"),
            method(20, 41, b""),
        ];
        far.write_all(&replies.concat()).await.expect("it reads");
        let error = connection.publish(&Publication::default()).await.expect_err("it is refused");
        assert_eq!(error.to_string(), "Exception (404) Reason: \"none\"");
        connection.publish(&Publication::default()).await.expect("it is taken");
    }

    #[tokio::test]
    async fn a_refusal_ends_the_channel_and_not_the_connection() {
        let (near, mut far) = tokio::io::duplex(1 << 16);
        let mut connection = open(&mut far, near, &login()).await.expect("it is let in");
        let replies = [
            method(20, 11, b"\0\0\0\0"),
            method(20, 40, b"\x01\x94\x04none\0\x32\0\x0a"),
            method(20, 11, b"\0\0\0\0"),
            method(50, 31, b"\0\0\0\x02"),
            method(20, 41, b""),
        ];
        far.write_all(&replies.concat()).await.expect("it reads");
        let purge = Method::PurgeQueue("q".to_owned());
        let error = connection.call(&purge).await.expect_err("it is refused");
        assert_eq!(error.to_string(), "Exception (404) Reason: \"none\"");
        assert_eq!(connection.call(&purge).await.expect("it is there").messages, 2);
    }

    #[tokio::test]
    async fn logins_that_fail() {
        for (replies, expect) in [
            (vec![b"AMQP\0\x01\0\0".to_vec()], "does not answer as AMQP"),
            (vec![b"HTTP/1.1 400".to_vec()], "does not answer as AMQP"),
            (vec![login()[0].clone(), method(10, 50, b"\x01\x93\x01x\0\0\0\0")], "username or password"),
            (
                vec![login()[0].clone(), login()[1].clone(), method(10, 50, b"\x02\x12\x01x\0\0\0\0")],
                "this vhost",
            ),
            (vec![login()[0].clone(), method(10, 30, b"\0")], "malformed"),
        ] {
            let (near, mut far) = tokio::io::duplex(1 << 16);
            let error = open(&mut far, near, &replies).await.expect_err("it fails").to_string();
            assert!(error.contains(expect), "{error}");
        }
    }
}
