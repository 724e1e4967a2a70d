//! Metrics of the load generator's process and machine, read from the kernel once a second.
//!
//! The crate returns plain numbers; other crates interpret them. A value that the kernel does not report is absent, never
//! zero. The crate knows nothing of runs, scripts or requests.

mod calls;
mod cgroup;
mod files;
mod listeners;
mod machine;
mod memory;
mod network;
mod process;
mod sampler;
mod sockets;
mod threads;
mod timer;

pub use calls::Calls;
pub use listeners::{Listener, Listeners};
pub use machine::{Interface, Machine, Tcp, Ticks};
pub use memory::memory_bytes_max;
pub use sampler::Sampler;
