//! Frames between a hub and its agents.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::fleet_frames::check(bytes));
