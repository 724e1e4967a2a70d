//! A response over HTTP/1.1, cut into pieces.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::http_response::check(bytes));
