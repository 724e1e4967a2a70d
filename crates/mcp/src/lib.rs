//! A server of the Model Context Protocol over standard input and output: assistants check scripts, run them within the user's
//! limits, and read results with their caveats.
//!
//! Every tool calls the program itself as a process of its own and passes on the documents that it prints, so that assistants
//! read what people read. The crate must not know sessions, run files and flags: the binary passes the words of its limits. The
//! protocol is a state machine ([`protocol`]), [`server`] moves its messages.

mod condense;
mod program;
mod protocol;
mod server;
mod tools;

pub use program::Program;
pub use server::{ServeError, serve};
