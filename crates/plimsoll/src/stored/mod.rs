//! A run's file while the run goes on: its header, its recording, its ending, and the reports made of it.

mod ci;
mod ending;
mod header;
mod recording;

pub(crate) use ci::{CiOutputs, render};
pub(crate) use recording::{RecordSettings, Recording};
