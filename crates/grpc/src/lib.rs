//! gRPC without its connection: message types, the mapping between JSON and protobuf, framing, status, reflection.
//!
//! The crate knows neither JavaScript nor sockets: texts and bytes in, texts and bytes out. A [`Schema`] is made of
//! `.proto` files ([`compile`]), of a descriptor set ([`Schema::from_set`]) or of the answers of a server
//! ([`Discovery`]). [`Schema::encode`] and [`Schema::decode`] map messages as ProtoJSON defines it, with the choices
//! that k6 makes. [`Deframer`] and [`frame`] are the length-prefixed messages of gRPC over HTTP/2, [`Status`] is how a
//! call ends.

mod decode;
mod encode;
mod error;
mod frame;
pub mod health;
mod json;
pub mod limits;
mod metadata;
mod number;
mod raw;
mod reflection;
mod schema;
mod source;
mod status;
mod time;
mod well_known;

#[cfg(test)]
mod mapping_tests;

pub use decode::decode_any;
pub use error::{DecodeError, EncodeError, SchemaError};
pub use frame::{Deframer, FrameError, frame};
pub use metadata::{MetadataError, check as check_metadata, decode_binary, encode_binary};
pub use reflection::{Discovery, REFLECTION_PATHS};
pub use schema::{MessageId, Method, Schema};
pub use source::{ProtoFiles, compile};
pub use status::{Code, Status, StatusFields, is_grpc_content_type};

/// Called now and then in long work; false ends it.
pub type Pause<'a> = &'a mut dyn FnMut() -> bool;
