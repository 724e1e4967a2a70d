//! One run in one process: clock × schedule × VUs × tally → [`model::RunEvent`].
//!
//! Each worker thread holds its VUs, its lanes of every scenario's schedule and its recorder, and shares none of
//! them; what lanes must agree on (a pile of iterations, idle VUs elsewhere) is a handful of atomics. A coordinator on
//! the caller's thread starts the phases, closes a window each second and judges thresholds, so that a VU that hogs
//! its thread delays its neighbours and nothing else.
//!
//! What a VU does is a [`Program`]: the room knows no JavaScript, HTTP, storage or terminal.

mod control;
mod coordinator;
mod iteration;
mod lane_closed;
mod lane_open;
mod mailbox;
mod outcome;
mod program;
mod report;
mod room;
mod roster;
mod scenario;
mod shared;
mod steering;
mod vu_task;
mod windows;

pub use control::{AbortReason, Deadline, RunControl};
pub use coordinator::run;
pub use outcome::{DropCounts, LifecycleError, RunConfig, RunOutcome};
pub use program::{IterationCall, IterationEnd, Program, ProgramError, Seat, Vu};
pub use report::SAMPLE_BATCHES_IN_FLIGHT_MAX;
pub use shared::{SAMPLES_PER_BATCH_MAX, WorkerShared};
pub use steering::SteerError;

#[cfg(test)]
mod tests;
