//! The script host: k6 scripts on QuickJS.
//!
//! A [`Bundle`] is a script loaded, compiled to bytecode and evaluated once; [`Bundle::instantiate`] makes a
//! [`ScriptVu`] of it from the shared bytecode. A VU blocks by suspending its coroutine (crate `vu`), so everything here
//! may wait wherever k6's own functions wait.
//!
//! The crate knows nothing of schedules, storage or the terminal: samples go to a [`Sink`], other events to [`Notes`], log
//! lines to a [`Log`], and `test.abort()` to a [`Control`].

mod async_groups;
mod bundle;
mod callbacks;
mod console;
mod declarations;
mod dialer;
mod directives;
mod error;
mod event_line;
mod event_loop;
mod flow;
mod globals;
mod grpc;
mod host;
mod http;
mod imports;
mod js;
mod layouts;
mod loader;
mod memory;
mod modules;
mod opening;
mod outside;
mod rate_gate;
mod rows;
mod secrets;
mod setup_data;
mod shapes;
mod shared_values;
mod source;
mod stacks;
mod state;
mod syntax;
mod tags;
#[cfg(test)]
mod tests;
mod trace_context;
mod vm;
mod webcrypto;
mod websocket;

pub use bundle::{Bundle, Entry, Files, STACK_BYTES, ScriptVu, Settings};
pub use callbacks::{Control, Finished, InterruptDeadline, Log, Notes, Share, Sink, Spans};
pub use declarations::{DECLARATIONS, TYPESCRIPT_CONFIG};
pub use directives::{Asked, DirectiveError, K6_VERSION, asked, is_met};
pub use error::ScriptError;
pub use host::has_module;
pub use imports::{Imports, imports};
pub use memory::MemoryLimits;
pub use outside::{Fetch, Outside, PackageImport, PackedFiles};
pub use rate_gate::RateGate;
pub use secrets::{
    Handover, NoSecretServer, SECRET_BYTES_MAX, SecretReply, SecretRequest, SecretServer, Secrets,
    SecretsError,
};
pub use source::MODULE_BYTES_MAX;
pub use state::{Call, RunContext, VuBinding};
pub use trace_context::TraceSample;
