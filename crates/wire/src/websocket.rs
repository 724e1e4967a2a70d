//! WebSocket (RFC 6455) with compressed messages (RFC 7692), on the same dialer as HTTP.

mod deflate;
mod frames;
mod socket;
mod upgrade;

#[cfg(test)]
pub(crate) use deflate::deflate;
pub use frames::{FrameDecoder, FrameFault, Message, MessageKind, encode_frame};
pub use socket::{Read, WebSocket};
pub use upgrade::{Upgrade, Upgraded};
