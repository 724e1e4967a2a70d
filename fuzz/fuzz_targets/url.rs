//! A URL and a reference seen from it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::url::check(bytes));
