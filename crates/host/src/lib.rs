//! What the load generator's own process and machine are doing, read from the kernel once a second.
//!
//! Plain numbers come out; what they mean for a run is decided elsewhere. What a kernel does not tell is left out, never
//! replaced by a zero. The room knows nothing of runs, scripts or requests.

mod cgroup;
mod files;
mod machine;
mod network;
mod process;
mod sampler;
mod threads;
mod timer;

pub use machine::{Interface, Machine, Tcp, Ticks};
pub use sampler::Sampler;
