//! One call: messages in, messages out, a status at the end.

use std::future::poll_fn;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, HeaderName, HeaderValue};
use prost::Message;

/// Bytes of one message that a client may send.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// Flag and length before each message.
const PREFIX_BYTES: usize = 5;

/// The client is gone, or sent what is no message.
pub(super) struct Gone;

/// One call.
pub(super) struct Call {
    pub(super) metadata: HeaderMap,
    stream: RecvStream,
    buffer: BytesMut,
    respond: SendResponse<Bytes>,
    /// Present once the response has begun.
    sender: Option<SendStream<Bytes>>,
}

impl Call {
    pub(super) fn new(metadata: HeaderMap, stream: RecvStream, respond: SendResponse<Bytes>) -> Call {
        Call { metadata, stream, buffer: BytesMut::new(), respond, sender: None }
    }

    /// The client's next message; `None` when it has ended.
    pub(super) async fn next<M: Message + Default>(&mut self) -> Result<Option<M>, Gone> {
        loop {
            if let Some([_, length @ ..]) = self.buffer.first_chunk::<PREFIX_BYTES>() {
                let message_bytes = u32::from_be_bytes(*length) as usize;
                if message_bytes > MESSAGE_BYTES_MAX {
                    return Err(Gone);
                }
                if self.buffer.len() >= PREFIX_BYTES + message_bytes {
                    self.buffer.advance(PREFIX_BYTES);
                    let message = self.buffer.split_to(message_bytes).freeze();
                    return M::decode(message).map(Some).map_err(|_| Gone);
                }
            }
            let Some(piece) = self.stream.data().await else { return Ok(None) };
            let piece = piece.map_err(|_| Gone)?;
            let _ = self.stream.flow_control().release_capacity(piece.len());
            self.buffer.extend_from_slice(&piece);
        }
    }

    /// Waits, unless the client goes.
    pub(super) async fn wait(&mut self, time: Duration) -> Result<(), Gone> {
        if time.is_zero() {
            return Ok(());
        }
        let (respond, sender) = (&mut self.respond, &mut self.sender);
        let gone = poll_fn(|context| match sender {
            Some(sender) => sender.poll_reset(context),
            None => respond.poll_reset(context),
        });
        tokio::select! {
            () = tokio::time::sleep(time) => Ok(()),
            _ = gone => Err(Gone),
        }
    }

    /// Sends the headers, unless they are out. Metadata of the client that begins with `x-` comes back in them.
    pub(super) fn begin(&mut self) -> Result<&mut SendStream<Bytes>, Gone> {
        if self.sender.is_none() {
            let head = self.head();
            self.sender = Some(self.respond.send_response(head, false).map_err(|_| Gone)?);
        }
        self.sender.as_mut().ok_or(Gone)
    }

    /// Sends a message.
    pub(super) async fn send(&mut self, message: &impl Message) -> Result<(), Gone> {
        let mut framed = BytesMut::with_capacity(PREFIX_BYTES + message.encoded_len());
        framed.put_u8(0);
        framed.put_u32(message.encoded_len() as u32);
        message.encode(&mut framed).map_err(|_| Gone)?;
        let mut rest = framed.freeze();
        let sender = self.begin()?;
        while !rest.is_empty() {
            sender.reserve_capacity(rest.len());
            let room = poll_fn(|context| sender.poll_capacity(context)).await;
            let Some(Ok(room_bytes)) = room else { return Err(Gone) };
            let piece = rest.split_to(room_bytes.min(rest.len()));
            sender.send_data(piece, false).map_err(|_| Gone)?;
        }
        Ok(())
    }

    /// Ends with a status: in trailers, or in the headers where no message was sent.
    pub(super) async fn end(&mut self, status: u16, message: &str, details: &[u8]) -> Option<u16> {
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", HeaderValue::from(status));
        if !message.is_empty() {
            trailers.insert("grpc-message", text(&percent_encoded(message)));
        }
        if !details.is_empty() {
            trailers.insert("grpc-status-details-bin", text(&STANDARD_NO_PAD.encode(details)));
        }
        trailers.insert("x-trailer", HeaderValue::from_static("the end"));
        trailers.insert("x-trailer-bin", HeaderValue::from_static("AAH/"));
        match &mut self.sender {
            Some(sender) => sender.send_trailers(trailers).ok()?,
            None => {
                let mut head = self.head();
                head.headers_mut().extend(trailers);
                self.respond.send_response(head, true).ok()?;
            }
        }
        Some(status)
    }

    /// Answers with a page of HTTP.
    pub(super) fn end_as_http(&mut self, status: u16) -> Option<u16> {
        let response = http::Response::builder().status(status).header("content-type", "text/plain");
        let mut sender = self.respond.send_response(response.body(()).ok()?, false).ok()?;
        sender.send_data(Bytes::from_static(b"not gRPC\n"), true).ok()?;
        Some(0)
    }

    /// Resets the stream.
    pub(super) fn reset(&mut self, reason: u32) -> Option<u16> {
        match &mut self.sender {
            Some(sender) => sender.send_reset(Reason::from(reason)),
            None => self.respond.send_reset(Reason::from(reason)),
        }
        Some(0)
    }

    fn head(&self) -> http::Response<()> {
        let mut head = http::Response::new(());
        let headers = head.headers_mut();
        headers.insert("content-type", HeaderValue::from_static("application/grpc"));
        for (name, value) in echoed(&self.metadata) {
            headers.append(name, value.clone());
        }
        head
    }
}

/// The metadata that comes back.
pub(super) fn echoed(metadata: &HeaderMap) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
    metadata.iter().filter(|(name, _)| name.as_str().starts_with("x-") || *name == "traceparent")
}

fn text(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}

/// As gRPC writes messages of a status.
fn percent_encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if (0x20..=0x7e).contains(&byte) && byte != b'%' {
            encoded.push(byte.into());
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
