//! Messages, frames, statuses and descriptors of a gRPC server.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::grpc_messages::check(bytes));
