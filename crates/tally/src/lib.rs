//! Samples become windows, windows become totals, totals decide thresholds.
//!
//! A [`Recorder`] per worker thread adds samples up; each second a [`Merger`] joins what all threads took into one
//! [`model::Window`]; [`Totals`] absorbs the windows of the whole run, judges the [`Thresholds`] and gives a [`View`] of
//! everything a report shows. Memory grows with the number of series, never with the number of requests. The room does not
//! know where samples come from, and is told the time.

mod drops;
mod facts;
mod groups;
mod merger;
mod recorder;
mod selector;
mod stat;
mod threshold;
mod totals;
mod view;

pub use groups::GROUP_DEPTH_MAX;
pub use merger::Merger;
pub use recorder::{IDLE_WINDOWS_MAX, Recorder};
pub use selector::{Selector, SelectorError};
pub use stat::Stat;
pub use threshold::{
    Abort, Comparison, Condition, ConditionError, Evaluation, SelectorThresholds, ThresholdError, Thresholds,
};
pub use totals::{DUE_TIMED, PARTS_DETAILED_MAX, Totals};
pub use view::{CheckView, GroupView, MetricView, ScenarioView, SubMetricView, View};
