//! Frames of a WebSocket server. The first byte chooses the size of the pieces and whether messages may be compressed.

use wire::{FrameDecoder, FrameFault, Message, MessageKind, encode_frame};

use crate::choice_and_rest;

/// The most bytes of one message.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// However the bytes are cut into pieces, they are the same messages and the same fault, and never more than there was; what
/// a client writes is what a server that takes the mask off reads.
pub fn check(bytes: &[u8]) {
    let (choice, bytes) = choice_and_rest(bytes);
    let (takes_compressed, piece_bytes) = (choice & 1 != 0, usize::from(choice >> 1).max(1));
    let whole = decode(bytes, bytes.len().max(1), takes_compressed);
    assert_eq!(whole, decode(bytes, piece_bytes, takes_compressed), "in pieces of {piece_bytes}");
    let lengths = whole.0.iter().map(length);
    match takes_compressed {
        true => assert!(lengths.max().unwrap_or(0) <= MESSAGE_BYTES_MAX),
        false => assert!(lengths.sum::<usize>() <= bytes.len(), "more came out than went in"),
    }
    round_trip(bytes, choice);
}

fn decode(bytes: &[u8], piece_bytes: usize, takes_compressed: bool) -> (Vec<Message>, Option<FrameFault>) {
    let mut decoder = FrameDecoder::new(takes_compressed);
    let mut messages = Vec::new();
    for piece in bytes.chunks(piece_bytes) {
        decoder.feed(piece);
        loop {
            match decoder.next_message() {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(fault) => return (messages, Some(fault)),
            }
        }
    }
    (messages, None)
}

fn round_trip(payload: &[u8], choice: u8) {
    let mask = [choice, choice.wrapping_mul(3), 0, 0xff];
    let mut frame = Vec::new();
    encode_frame(&mut frame, MessageKind::Binary, false, payload, mask);
    let head_bytes = frame.len() - payload.len();
    let (head, masked) = frame.split_at(head_bytes);
    let mut plain = head[..head_bytes - mask.len()].to_vec();
    plain[1] &= 0x7f;
    plain.extend(masked.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key));
    let read = decode(&plain, plain.len(), false);
    assert_eq!(read, (vec![Message::Binary(payload.to_vec().into())], None));
}

fn length(message: &Message) -> usize {
    match message {
        Message::Text(bytes) | Message::Binary(bytes) | Message::Ping(bytes) | Message::Pong(bytes) => {
            bytes.len()
        }
        Message::Close(_, reason) => reason.len(),
    }
}
