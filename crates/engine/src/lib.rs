//! One run in one process: clock × schedule × VUs × tally → [`model::RunEvent`].
//!
//! Each worker thread owns its VUs, its lanes of every scenario's schedule and its recorder, and shares none of them; lanes
//! agree on the rest (shared iterations, idle VUs of other threads) through a handful of atomics. The run as a whole is a
//! value, the `coordinator`, with the time as an argument: it starts the phases, closes a window each second and evaluates
//! thresholds. Its `driver` on the caller's thread owns the channels, the clock and the listener, so a VU that blocks its
//! thread delays its neighbours and nothing else.
//!
//! VUs run a [`Program`]: this crate knows no JavaScript, HTTP, storage or terminal.

mod control;
mod coordinator;
mod driver;
mod iteration;
mod lane_closed;
mod lane_open;
mod mailbox;
mod outcome;
mod pile;
mod program;
mod report;
mod roster;
mod scenario_lane;
mod shared;
mod steering;
mod vu_task;
mod windows;
mod worker_thread;

pub use control::{AbortReason, Deadline, RunControl};
pub use coordinator::{plan_progress, update_progress};
pub use driver::run;
pub use outcome::{DropCounts, LifecycleError, RunConfig, RunOutcome};
pub use pile::Pile;
pub use program::{IterationCall, Program, ProgramError, Seat, Vu};
pub use report::SAMPLE_BATCHES_IN_FLIGHT_MAX;
pub use scenario_lane::scenario_tags;
pub use shared::{SAMPLES_PER_BATCH_MAX, WorkerShared};
pub use steering::{Start, SteerError};

#[cfg(test)]
mod tests;

#[cfg(test)]
mod simulation;
