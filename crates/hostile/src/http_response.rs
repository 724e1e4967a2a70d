//! A response over HTTP/1.1. The first byte chooses whether it answers a `HEAD`, and the size of the pieces it comes in.

use wire::{Recorded, read_response};

use crate::choice_and_rest;

/// However the bytes are cut into pieces, they are the same response or none; nothing of it is invented or lost.
pub fn check(bytes: &[u8]) {
    let (choice, bytes) = choice_and_rest(bytes);
    let (is_head, piece_bytes) = (choice & 1 != 0, usize::from(choice >> 1).max(1));
    let whole = read_response([bytes], is_head).ok();
    let cut = read_response(bytes.chunks(piece_bytes), is_head).ok();
    assert_eq!(whole.as_ref().map(facts), cut.as_ref().map(facts), "in pieces of {piece_bytes}");
    let Some(Recorded { response, used_bytes, .. }) = whole else { return };
    assert!(used_bytes <= bytes.len(), "more was read than there is");
    assert_eq!(response.body_bytes, response.body.len() as u64);
    assert!(
        response.headers.as_bytes().len() + response.body.len() <= used_bytes,
        "more came out than went in"
    );
    assert!((200..1000).contains(&response.status), "{} is no final status", response.status);
    for (name, value) in response.headers.iter() {
        assert!(!name.contains(&b'\n') && !value.contains(&b'\n'), "a header left its line");
        let name = std::str::from_utf8(name).expect("names are tokens");
        assert!(
            response.headers.get_all(name).any(|known| known == value),
            "{name} is not found by its name"
        );
    }
    let lines = response.headers.as_bytes().iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(response.headers.iter().count() + 2, lines, "a line is no header");
}

/// Everything but how it came.
fn facts(recorded: &Recorded) -> (u16, &'static str, &[u8], &[u8], usize, bool) {
    let response = &recorded.response;
    let head = response.headers.as_bytes();
    (response.status, response.proto, head, &response.body, recorded.used_bytes, recorded.is_reusable)
}
