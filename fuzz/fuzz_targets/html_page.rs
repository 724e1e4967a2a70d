//! A page and a selector.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::html_page::check(bytes));
