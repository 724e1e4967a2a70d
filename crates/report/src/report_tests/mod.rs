//! All renderers on the same runs.

mod fixture;
mod hostile;
mod schema;
mod snapshots;
mod verdicts;

pub(crate) use schema::follows;
