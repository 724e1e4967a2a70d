//! A file that says it is the result of another tool.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::import_file::check(bytes));
