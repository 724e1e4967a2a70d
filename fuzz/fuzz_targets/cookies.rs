//! What a server sets as cookies, and dates.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::cookies::check(bytes));
