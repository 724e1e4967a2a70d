//! Traces come in: a receiver for the OpenTelemetry protocol (OTLP 1.x), gRPC and HTTP, bounded, that keeps what is worth it.
//!
//! What programs send is decoded ([`Decoder`]), added up per operation ([`Red`]) and gathered into traces of which some are
//! kept ([`Keeper`]); these three are handed bytes and the time and do no I/O. [`Receiver`] opens the doors, on a thread of
//! its own. The room knows nothing of runs and files.

mod budget;
mod counts;
mod decode;
mod doors;
mod grpc;
mod http;
mod keep;
mod receiver;
mod red;
mod walk;

pub use counts::Counts;
pub use decode::{Decoded, Decoder, Malformed};
pub use keep::{Keeper, Pace};
pub use receiver::{ADDRESSES_DEFAULT, Receiver, Settings, StartError, Taken};
pub use red::Red;
