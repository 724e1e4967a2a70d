//! Analysis of a run: validity, audit, comparison, capacity, traces, diagnosis.
//!
//! Pure functions of data from runs and tables: no files, no clocks, no output. One file per rule.

pub mod audit;
pub mod capacity;
pub mod compare;
pub mod diagnosis;
pub mod history;
pub mod laws;
pub mod repeats;
pub mod roles;
pub mod steady;
pub mod traces;
pub mod validity;
