//! Cookies and dates in headers of servers.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::cookies::check(bytes));
