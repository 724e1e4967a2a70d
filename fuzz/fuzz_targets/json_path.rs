//! A JSON text and a GJSON path.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::json_path::check(bytes));
