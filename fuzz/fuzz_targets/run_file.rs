//! A file that says it is a run.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::run_file::check(bytes));
