//! nGrinder's `output.csv`: one row of means per sampling interval.
//!
//! nGrinder computes each row from the tests of its interval alone: `Mean_time_to_first_byte` is the interval's sum of first-byte
//! times divided by its tests. A percentile over rows is therefore one of means, which hides the slow requests within each
//! second, and every name here says so.

mod indicators;
mod table;

pub use indicators::{Change, Indicator, changes, figures, indicators};
pub use table::{ROWS_MAX, Row, TREND_STATS, Table};
