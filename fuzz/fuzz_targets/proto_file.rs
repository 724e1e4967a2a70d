//! `.proto` files.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::proto_file::check(bytes));
