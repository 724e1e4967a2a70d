//! Whether a run can be trusted, before it is asked about the target.
//!
//! Each rule of [`rules::ALL`] looks at one kind of evidence. Only what was measured counts: a rule without evidence says so,
//! and a run whose generator was not watched is not valid but unmeasured.

mod facts;
mod judge;
mod pulse;
mod rules;
mod second;
mod split;
mod verdict;

#[cfg(test)]
mod testing;

pub use facts::{ClockAnchor, DropTotals, Facts, Losses, ScenarioKind, Whole};
pub use second::TrendFacts;
pub use split::{SplitRound, is_client_limited};
pub use verdict::judge;
