//! The options of a script.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::options_json::check(bytes));
