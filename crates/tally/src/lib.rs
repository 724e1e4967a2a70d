//! Samples become windows, windows become totals, totals decide thresholds.
//!
//! A [`Recorder`] per worker thread adds samples up, and its [`Notes`] hold what is not a sample: the load, single requests
//! that stand for others, and errors. Each second a [`Merger`] joins what all threads took into one [`model::Window`];
//! [`Totals`] absorbs the windows of the whole run, judges the [`Thresholds`] and gives a [`View`] of everything a report
//! shows. Memory grows with the number of series, never with the number of requests. The crate does not know where samples
//! come from, and takes the time as an argument.

mod drops;
mod errors;
mod exemplars;
mod facts;
mod groups;
mod load;
mod merger;
mod notes;
mod recorder;
mod selector;
mod stat;
mod threshold;
mod totals;
mod unmatched;
mod view;

pub use errors::{ERROR_EXAMPLE_BYTES_MAX, ERROR_MESSAGE_BYTES_MAX, Errors};
pub use exemplars::{EXEMPLAR_TEXT_BYTES_MAX, Exemplars, FAILED_MAX, SLOWEST_MAX};
pub use groups::GROUP_DEPTH_MAX;
pub use load::LoadMeter;
pub use merger::Merger;
pub use notes::{Noted, Notes};
pub use recorder::{IDLE_WINDOWS_MAX, Recorder};
pub use selector::{Selector, SelectorError};
pub use stat::Stat;
pub use threshold::{
    Abort, Comparison, Condition, ConditionError, Evaluation, SelectorThresholds, ThresholdError, Thresholds,
    nearest_metric,
};
pub use totals::{DUE_TIMED, PARTS_DETAILED_MAX, Totals};
pub use unmatched::{Unmatched, Why};
pub use view::{CheckView, GroupView, MetricView, ScenarioView, SubMetricView, View};
