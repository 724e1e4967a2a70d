//! Server-sent events; the first byte chooses the size of the pieces that the stream comes in.

use wire::{EventStream, ServerEvent};

use crate::choice_and_rest;

/// However a stream is cut into pieces, its events are the same.
pub fn check(bytes: &[u8]) {
    let (choice, bytes) = choice_and_rest(bytes);
    let piece_bytes = usize::from(choice % 16) + 1;
    assert_eq!(
        events_of(bytes, bytes.len().max(1)),
        events_of(bytes, piece_bytes),
        "pieces of {piece_bytes}"
    );
}

fn events_of(bytes: &[u8], piece_bytes: usize) -> Vec<ServerEvent> {
    let mut stream = EventStream::default();
    let mut events = Vec::new();
    for piece in bytes.chunks(piece_bytes) {
        if stream.feed(piece, |event| events.push(event)).is_err() {
            return events;
        }
    }
    events.extend(stream.end());
    events
}
