//! Redis: commands and their replies in order, over one connection per node.
//!
//! The protocol is version 2 of RESP, which every server speaks. A command that fails is not sent again: whether it took effect
//! is then unknown, and a second attempt would hide the failure. Only an idle connection that the server has closed is replaced.

mod client;
mod resp;
mod settings;
mod wire;

pub use client::{Client, RedisError};
pub use resp::Reply;
pub use settings::{Settings, SettingsError};
