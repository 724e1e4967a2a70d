//! A duration in k6's notation.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::duration::check(bytes));
