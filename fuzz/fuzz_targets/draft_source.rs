//! A recording or a description of requests.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::draft_source::check(bytes));
