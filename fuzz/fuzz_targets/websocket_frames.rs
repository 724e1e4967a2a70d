//! Whatever a server sends, however it is cut into pieces: messages or a fault, and never more than there was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::FrameDecoder;

fuzz_target!(|input: (u8, bool, Vec<u8>)| {
    let (step, takes_compressed, bytes) = input;
    let decode = |step: usize| {
        let mut decoder = FrameDecoder::new(takes_compressed);
        let mut messages = Vec::new();
        for piece in bytes.chunks(step) {
            decoder.feed(piece);
            loop {
                match decoder.next_message() {
                    Ok(Some(message)) => messages.push(message),
                    Ok(None) => break,
                    Err(_) => return (messages, true),
                }
            }
        }
        (messages, false)
    };
    assert_eq!(decode(usize::from(step).max(1)), decode(bytes.len().max(1)));
});
