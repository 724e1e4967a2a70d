//! A request with spans, in protobuf or JSON.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::otlp::check(bytes));
