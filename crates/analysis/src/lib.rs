//! What a run's numbers are worth, and what they say: validity, audit, comparison, capacity, traces, diagnosis.
//!
//! Pure functions of what was read from runs and tables: no files, no clocks, no output. One file per rule.

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
