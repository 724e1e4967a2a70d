//! A threshold's selector and condition.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::threshold::check(bytes));
