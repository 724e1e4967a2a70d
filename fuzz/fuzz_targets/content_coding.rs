//! A compressed body.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::content_coding::check(bytes));
