//! Frames of a WebSocket server, perhaps compressed.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::websocket_frames::check(bytes));
