//! A bounded receiver of traces in the OpenTelemetry protocol (OTLP 1.x), over gRPC and HTTP, with sampling.
//!
//! Requests are decoded ([`Decoder`]), added up per operation ([`Red`]) and gathered into traces of which some are
//! kept ([`Keeper`]); these three take bytes and the time and do no I/O. [`Receiver`] listens, on a thread of
//! its own. The crate knows nothing of runs and files.

mod bodies;
mod budget;
mod counts;
mod decode;
mod grpc;
mod http;
mod keep;
mod listeners;
mod receiver;
mod red;
mod walk;

pub use counts::Counts;
pub use decode::{Decoded, Decoder, Malformed};
pub use keep::{Keeper, Pace};
pub use receiver::{ADDRESSES_DEFAULT, Receiver, Settings, StartError, Taken};
pub use red::Red;
