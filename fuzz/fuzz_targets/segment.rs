//! A segment of a test and a sequence of segments.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::segment::check(bytes));
