//! All renderers on the same runs.

mod fixture;
mod hostile;
mod schema;
mod snapshots;
mod verdicts;
mod verdicts_fixture;

pub(crate) use schema::follows;
