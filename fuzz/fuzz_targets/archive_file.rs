//! A file that says it is an archive of a script.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::archive_file::check(bytes));
