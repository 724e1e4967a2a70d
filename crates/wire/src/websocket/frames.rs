//! Frames: bytes to messages and back. It does no I/O.

use bytes::{Buf, Bytes, BytesMut};

use super::deflate::{self, Inflating};
use crate::limits::{
    WS_BUFFER_KEPT_BYTES_MAX, WS_INFLATED_AT_ONCE_BYTES_MAX, WS_INFLATED_PER_TURN_BYTES_MAX,
    WS_MESSAGE_BYTES_MAX, WS_PIECES_MAX,
};

/// Bytes of a control frame's payload (RFC 6455, 5.5).
const CONTROL_BYTES_MAX: usize = 125;

/// Longer payloads are not copied out of the buffer.
const PAYLOAD_COPIED_BYTES_MAX: usize = 4 << 10;

/// The close code that stands for a close frame without one (RFC 6455, 7.4.1).
const NO_STATUS: u16 = 1005;

const FIN: u8 = 0x80;
const RSV1: u8 = 0x40;
const RSV2_AND_3: u8 = 0x30;
const MASKED: u8 = 0x80;

/// The kind of message that a frame begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// Text.
    Text = 1,
    /// Bytes.
    Binary = 2,
    /// The end.
    Close = 8,
    /// A question whether the other side is there.
    Ping = 9,
    /// Its answer.
    Pong = 10,
}

/// A frame of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Text; perhaps not UTF-8 where the decoder does not check it.
    Text(Bytes),
    /// Bytes.
    Binary(Bytes),
    /// A ping with its payload.
    Ping(Bytes),
    /// A pong with its payload.
    Pong(Bytes),
    /// The end: its code (1005 where the frame has none) and its reason.
    Close(u16, String),
}

/// Why bytes are no frames that we take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("websocket: {what}")]
pub struct FrameFault {
    /// The close code for the server.
    pub code: u16,
    /// The error.
    pub what: &'static str,
}

fn protocol(what: &'static str) -> FrameFault {
    FrameFault { code: 1002, what }
}

fn too_large() -> FrameFault {
    FrameFault { code: 1009, what: "message exceeds the limit of 64 MiB" }
}

/// The buffers of all clients take more memory than they may.
pub(super) fn exhausted() -> FrameFault {
    FrameFault {
        code: 1009,
        what: "messages and bodies of all VUs exceed their share of this machine's memory",
    }
}

/// Appends a client's frame to `out`: one whole message, masked with `mask` (RFC 6455, 5.3).
pub fn encode_frame(
    out: &mut Vec<u8>,
    kind: MessageKind,
    is_compressed: bool,
    payload: &[u8],
    mask: [u8; 4],
) {
    out.reserve(payload.len() + 14);
    out.push(FIN | if is_compressed { RSV1 } else { 0 } | kind as u8);
    match payload.len() {
        length @ 0..126 => out.push(MASKED | length as u8),
        length @ 126..65_536 => {
            out.push(MASKED | 126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(MASKED | 127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&mask);
    let start = out.len();
    out.extend_from_slice(payload);
    apply_mask(&mut out[start..], mask);
}

/// Masks a payload, two masks at a time.
fn apply_mask(payload: &mut [u8], mask: [u8; 4]) {
    let [a, b, c, d] = mask;
    let two = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let (words, rest) = payload.as_chunks_mut();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ two).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(two.to_ne_bytes()) {
        *byte ^= key;
    }
}

/// Puts a server's frames together, however they are cut into pieces.
#[derive(Debug)]
pub struct FrameDecoder {
    input: BytesMut,
    /// The fragments of a message whose end has not come.
    begun: Option<Begun>,
    /// A compressed message that is all there, and whether it is text.
    inflating: Option<(bool, Inflating)>,
    takes_compressed: bool,
    checks_text: bool,
}

#[derive(Debug)]
struct Begun {
    is_text: bool,
    is_compressed: bool,
    payload: Vec<u8>,
    /// Bytes at the front of the payload that are whole characters.
    checked_bytes: usize,
    pieces: u32,
}

impl Begun {
    /// Checks the characters that came since the last check; one that is cut may go on in the next fragment.
    fn check_text(&mut self) -> Result<(), FrameFault> {
        match std::str::from_utf8(&self.payload[self.checked_bytes..]) {
            Ok(rest) => self.checked_bytes += rest.len(),
            Err(error) if error.error_len().is_none() => self.checked_bytes += error.valid_up_to(),
            Err(_) => return Err(bad_text()),
        }
        Ok(())
    }
}

/// The result of a step.
pub(super) enum Step {
    Message(Message),
    /// Nothing until more bytes come.
    NeedsBytes,
    /// There is more to do.
    Busy,
}

/// The first bytes of a frame.
struct Head {
    first: u8,
    bytes: usize,
    payload_bytes: usize,
}

impl FrameDecoder {
    /// A decoder; `takes_compressed` where compression was agreed on.
    pub fn new(takes_compressed: bool) -> FrameDecoder {
        FrameDecoder {
            input: BytesMut::new(),
            begun: None,
            inflating: None,
            takes_compressed,
            checks_text: true,
        }
    }

    /// The same decoder, which takes text that is not UTF-8, as k6 does.
    #[must_use]
    pub fn without_text_check(self) -> FrameDecoder {
        FrameDecoder { checks_text: false, ..self }
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// The next message; `None` until more bytes come.
    ///
    /// # Errors
    /// The server breaks the protocol, or a limit of ours; the decoder is of no use any more.
    pub fn next_message(&mut self) -> Result<Option<Message>, FrameFault> {
        loop {
            match self.step()? {
                Step::Message(message) => return Ok(Some(message)),
                Step::NeedsBytes => return Ok(None),
                Step::Busy => {}
            }
        }
    }

    /// The same, for a turn at most.
    pub(super) fn step(&mut self) -> Result<Step, FrameFault> {
        if let Some((is_text, inflating)) = &mut self.inflating {
            let inflated = inflating.step(WS_INFLATED_PER_TURN_BYTES_MAX).map_err(inflate_fault)?;
            let Some(payload) = inflated else { return Ok(Step::Busy) };
            let is_text = *is_text;
            self.inflating = None;
            return self.message(is_text, payload).map(Step::Message);
        }
        loop {
            let Some(head) = self.head()? else {
                self.let_go();
                return Ok(Step::NeedsBytes);
            };
            if self.input.len() < head.bytes + head.payload_bytes {
                return Ok(Step::NeedsBytes);
            }
            self.input.advance(head.bytes);
            let payload = self.payload(head.payload_bytes);
            if let Some(message) = self.take(head.first, payload)? {
                return Ok(Step::Message(message));
            }
            if self.inflating.is_some() {
                return Ok(Step::Busy);
            }
        }
    }

    /// Takes a payload from the front of the input. A copy of a short one leaves the buffer to the next frame; the last long one
    /// takes it along, so that its memory is not held for longer than the message.
    fn payload(&mut self, bytes: usize) -> Bytes {
        if bytes > PAYLOAD_COPIED_BYTES_MAX {
            let is_last = bytes == self.input.len();
            let payload = if is_last { std::mem::take(&mut self.input) } else { self.input.split_to(bytes) };
            return payload.freeze();
        }
        let payload = Bytes::copy_from_slice(&self.input[..bytes]);
        self.input.advance(bytes);
        payload
    }

    /// Bytes that its buffers take.
    pub(super) fn held_bytes(&self) -> u64 {
        let begun_bytes = self.begun.as_ref().map_or(0, |begun| begun.payload.capacity());
        let inflating_bytes = self.inflating.as_ref().map_or(0, |(_, inflating)| inflating.held_bytes());
        (self.input.capacity() + begun_bytes + inflating_bytes) as u64
    }

    /// An idle connection holds no long buffer. Its capacity does not count what was taken from its front.
    fn let_go(&mut self) {
        if self.input.is_empty() && self.input.try_reclaim(WS_BUFFER_KEPT_BYTES_MAX + 1) {
            self.input = BytesMut::new();
        }
    }

    /// The head of the next frame, checked as soon as it is there: nothing waits for a payload that will not be taken.
    fn head(&self) -> Result<Option<Head>, FrameFault> {
        let [first, second, rest @ ..] = &self.input[..] else { return Ok(None) };
        let (first, second) = (*first, *second);
        self.check_first(first)?;
        if second & MASKED != 0 {
            return Err(protocol("bad MASK"));
        }
        let (bytes, length) = match second & 127 {
            126 => (4, rest.first_chunk().map(|bytes| u64::from(u16::from_be_bytes(*bytes)))),
            127 => (10, rest.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))),
            length => (2, Some(u64::from(length))),
        };
        let Some(length) = length else { return Ok(None) };
        let is_control = first & 8 != 0;
        if is_control && length > CONTROL_BYTES_MAX as u64 {
            return Err(protocol("len > 125 for control"));
        }
        let begun_bytes = self.begun.as_ref().map_or(0, |begun| begun.payload.len()) as u64;
        if length.saturating_add(begun_bytes) > WS_MESSAGE_BYTES_MAX as u64 {
            return Err(too_large());
        }
        Ok(Some(Head { first, bytes, payload_bytes: length as usize }))
    }

    fn check_first(&self, first: u8) -> Result<(), FrameFault> {
        let (is_last, is_compressed, opcode) = (first & FIN != 0, first & RSV1 != 0, first & 15);
        if first & RSV2_AND_3 != 0 || (is_compressed && (!self.takes_compressed || !matches!(opcode, 1 | 2)))
        {
            return Err(protocol("bad reserved bits"));
        }
        match opcode {
            0 if self.begun.is_none() => Err(protocol("continuation after FIN")),
            1 | 2 if self.begun.is_some() => Err(protocol("data before FIN")),
            8..=10 if !is_last => Err(protocol("FIN not set on control")),
            0..=2 | 8..=10 => Ok(()),
            _ => Err(protocol("bad opcode")),
        }
    }

    /// Takes a checked frame; gives the message that it completes.
    fn take(&mut self, first: u8, payload: Bytes) -> Result<Option<Message>, FrameFault> {
        let (is_last, is_compressed, opcode) = (first & FIN != 0, first & RSV1 != 0, first & 15);
        match opcode {
            8 => return closing(&payload).map(Some),
            9 => return Ok(Some(Message::Ping(payload))),
            10 => return Ok(Some(Message::Pong(payload))),
            1 | 2 if is_last => return self.whole(opcode == 1, is_compressed, payload),
            1 | 2 => {
                let payload = Vec::with_capacity(payload.len());
                self.begun =
                    Some(Begun { is_text: opcode == 1, is_compressed, payload, checked_bytes: 0, pieces: 0 });
            }
            _ => {}
        }
        let Some(begun) = &mut self.begun else { return Ok(None) };
        begun.payload.extend_from_slice(&payload);
        begun.pieces += 1;
        if begun.pieces > WS_PIECES_MAX {
            return Err(FrameFault { code: 1009, what: "message has too many fragments" });
        }
        // Bad text ends the connection as soon as it is seen (RFC 6455, 8.1).
        if self.checks_text && begun.is_text && !begun.is_compressed {
            begun.check_text()?;
        }
        match self.begun.take_if(|_| is_last) {
            Some(begun) => self.whole(begun.is_text, begun.is_compressed, begun.payload.into()),
            None => Ok(None),
        }
    }

    /// A message that is all there; `None` where it is decompressed in steps.
    fn whole(
        &mut self,
        is_text: bool,
        is_compressed: bool,
        payload: Bytes,
    ) -> Result<Option<Message>, FrameFault> {
        if !is_compressed {
            return self.message(is_text, payload).map(Some);
        }
        if payload.len() <= WS_INFLATED_AT_ONCE_BYTES_MAX {
            let payload = deflate::inflate(&payload, WS_MESSAGE_BYTES_MAX).map_err(inflate_fault)?;
            return self.message(is_text, payload).map(Some);
        }
        self.inflating = Some((is_text, Inflating::new(payload, WS_MESSAGE_BYTES_MAX)));
        Ok(None)
    }

    fn message(&self, is_text: bool, payload: Bytes) -> Result<Message, FrameFault> {
        match is_text {
            true if self.checks_text && std::str::from_utf8(&payload).is_err() => Err(bad_text()),
            true => Ok(Message::Text(payload)),
            false => Ok(Message::Binary(payload)),
        }
    }
}

fn bad_text() -> FrameFault {
    FrameFault { code: 1007, what: "invalid UTF-8 in text message" }
}

fn inflate_fault(fault: deflate::Fault) -> FrameFault {
    match fault {
        deflate::Fault::TooLarge => too_large(),
        deflate::Fault::Malformed => FrameFault { code: 1007, what: "compressed message is malformed" },
    }
}

/// A close frame. As in k6, one byte counts as no code.
fn closing(payload: &[u8]) -> Result<Message, FrameFault> {
    let Some((code, reason)) = payload.split_first_chunk() else {
        return Ok(Message::Close(NO_STATUS, String::new()));
    };
    let code = u16::from_be_bytes(*code);
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
        return Err(protocol("bad close code"));
    }
    match std::str::from_utf8(reason) {
        Ok(reason) => Ok(Message::Close(code, reason.to_owned())),
        Err(_) => Err(protocol("invalid UTF-8 in close frame")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server_frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![first];
        match payload.len() {
            length @ 0..126 => bytes.push(length as u8),
            length => {
                bytes.push(126);
                bytes.extend_from_slice(&u16::try_from(length).expect("a short payload").to_be_bytes());
            }
        }
        bytes.extend_from_slice(payload);
        bytes
    }

    fn decode(bytes: &[u8], step: usize, takes_compressed: bool) -> Result<Vec<Message>, FrameFault> {
        let mut decoder = FrameDecoder::new(takes_compressed);
        let mut messages = Vec::new();
        for piece in bytes.chunks(step) {
            decoder.feed(piece);
            while let Some(message) = decoder.next_message()? {
                messages.push(message);
            }
        }
        Ok(messages)
    }

    fn text(text: &'static str) -> Message {
        Message::Text(Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn an_idle_connection_holds_no_long_buffer() {
        let mut decoder = FrameDecoder::new(false);
        for payload_bytes in [10, PAYLOAD_COPIED_BYTES_MAX, PAYLOAD_COPIED_BYTES_MAX + 1] {
            decoder.feed(&server_frame(0x82, &vec![7; payload_bytes]).repeat(1000));
            let messages = std::iter::from_fn(|| decoder.next_message().expect("good frames"));
            assert_eq!(messages.count(), 1000);
            assert!(!decoder.input.try_reclaim(WS_BUFFER_KEPT_BYTES_MAX + 1), "{payload_bytes}");
        }
    }

    #[test]
    fn messages_come_out_however_they_are_cut() {
        let bytes = [
            server_frame(0x81, b"hello"),
            server_frame(0x01, b"one, "),
            server_frame(0x89, b"between"),
            server_frame(0x00, b"two, "),
            server_frame(0x80, b"three"),
            server_frame(0x82, &[7; 300]),
            server_frame(0x8a, b""),
            server_frame(0x88, b"\x03\xe8bye"),
        ]
        .concat();
        for step in [1, 2, 3, 7, 1000] {
            let expect = [
                text("hello"),
                Message::Ping(Bytes::from_static(b"between")),
                text("one, two, three"),
                Message::Binary(Bytes::from(vec![7; 300])),
                Message::Pong(Bytes::new()),
                Message::Close(1000, "bye".into()),
            ];
            assert_eq!(decode(&bytes, step, false).expect("good frames"), expect, "{step}");
        }
    }

    #[test]
    fn what_breaks_the_protocol_is_refused() {
        let check = |bytes: &[u8], takes_compressed: bool, expect: &str| {
            let fault = decode(bytes, 1, takes_compressed).expect_err(expect);
            assert_eq!(fault.what, expect, "{bytes:x?}");
        };
        check(b"\x81\x82abcd\x09\x0b", false, "bad MASK");
        check(b"\x91\x02hi", false, "bad reserved bits");
        check(b"\xc1\x02hi", false, "bad reserved bits");
        check(b"\xc9\x00", true, "bad reserved bits");
        check(b"\xc1\x02hi", true, "compressed message is malformed");
        check(b"\x83\x02hi", false, "bad opcode");
        check(b"\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", false, "message exceeds the limit of 64 MiB");
        check(b"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff", false, "message exceeds the limit of 64 MiB");
        check(b"\x80\x02hi", false, "continuation after FIN");
        check(b"\x01\x02hi\x81\x02hi", false, "data before FIN");
        check(b"\x89\x7e\x00\x80", false, "len > 125 for control");
        check(b"\x09\x02hi", false, "FIN not set on control");
        check(b"\x88\x02\x03\xed", false, "bad close code");
        check(b"\x88\x04\x03\xe8\xc3\x28", false, "invalid UTF-8 in close frame");
    }

    #[test]
    fn text_that_is_not_utf8_is_refused_as_soon_as_it_is_seen() {
        let check = |frames: &[Vec<u8>], expect: Result<usize, u16>| {
            let decoded = decode(&frames.concat(), 1, true);
            let seen = decoded.map(|messages| messages.len()).map_err(|fault| fault.code);
            assert_eq!(seen, expect, "{frames:x?}");
        };
        check(&[server_frame(0x81, b"\xce\xba\xff")], Err(1007));
        check(&[server_frame(0x81, b"\xed\xa0\x80")], Err(1007));
        check(&[server_frame(0x81, b"\xe2\x82")], Err(1007));
        check(&[server_frame(0x82, b"\xff")], Ok(1));
        // A character in two fragments, and one that never ends.
        check(&[server_frame(0x01, b"\xe2\x82"), server_frame(0x80, b"\xac")], Ok(1));
        check(&[server_frame(0x01, b"\xe2\x82"), server_frame(0x80, b"")], Err(1007));
        // The rest of the message need not come.
        check(&[server_frame(0x01, b"ok"), server_frame(0x00, b"\xf4\x90")], Err(1007));
        check(&[server_frame(0xc1, &deflate::deflate(b"\xff"))], Err(1007));
        let mut any = FrameDecoder::new(false).without_text_check();
        any.feed(&[server_frame(0x01, b"\xff"), server_frame(0x80, b"")].concat());
        assert_eq!(any.next_message(), Ok(Some(Message::Text(Bytes::from_static(b"\xff")))));
    }

    #[test]
    fn a_close_frame_may_be_empty() {
        for bytes in [&b"\x88\x00"[..], b"\x88\x01\x03"] {
            assert_eq!(decode(bytes, 1, false).expect("a close"), [Message::Close(1005, String::new())]);
        }
    }

    #[test]
    fn fragments_without_end_are_refused() {
        let mut decoder = FrameDecoder::new(false);
        decoder.feed(&server_frame(0x01, b""));
        let fault = (0..=WS_PIECES_MAX).find_map(|_| {
            decoder.feed(&server_frame(0x00, b""));
            decoder.next_message().err()
        });
        assert_eq!(fault.map(|fault| fault.code), Some(1009));
    }

    #[test]
    fn compressed_messages_go_there_and_back() {
        let long = "again and ".repeat(1000);
        let packed = deflate::deflate(long.as_bytes());
        assert!(packed.len() < 300);
        // In two fragments: only the first says that the message is compressed.
        let (one, two) = packed.split_at(packed.len() / 2);
        let bytes = [server_frame(0x41, one), server_frame(0x80, two)].concat();
        assert_eq!(decode(&bytes, 5, true).expect("a message"), [Message::Text(Bytes::from(long))]);
    }

    #[test]
    fn a_client_masks() {
        let mut out = Vec::new();
        // The example of RFC 6455, 5.7.
        encode_frame(&mut out, MessageKind::Text, false, b"Hello", [0x37, 0xfa, 0x21, 0x3d]);
        assert_eq!(out, b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
        let (payload, mask) = ((0..19).collect::<Vec<u8>>(), [9, 8, 7, 6]);
        out.clear();
        encode_frame(&mut out, MessageKind::Binary, false, &payload, mask);
        let masked = payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key);
        assert_eq!(out[6..], masked.collect::<Vec<u8>>());
        for (length, head_bytes) in [(125, 6), (126, 8), (65_535, 8), (65_536, 14)] {
            out.clear();
            encode_frame(&mut out, MessageKind::Binary, true, &vec![0; length], [0; 4]);
            assert_eq!((out[0], out.len()), (0xc2, length + head_bytes));
        }
    }
}
