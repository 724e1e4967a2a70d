//! The serde types of everything outsiders read.
//!
//! Apart from [`audit`], [`capacity`], [`comparison`], [`diagnosis`], [`history`], [`report`] and [`page`], which k6 has no
//! like of, they are k6's shapes, field for field, so that what reads k6's files reads ours. Where Plimsoll knows more than
//! k6 can say, a further key stands beside k6's: a number stays a number. A quantile whose true value is only known to be
//! above a bound is that bound; one that lands among failures without a time is `null`; `censored` beside the values
//! says which, in words. The crate has no behaviour beyond naming and printing.

pub mod audit;
pub mod capacity;
#[cfg(test)]
mod closed;
pub mod comparison;
pub mod diagnosis;
pub mod escape;
pub mod find;
mod group;
pub mod history;
mod machine_summary;
mod number;
mod ordered;
pub mod page;
mod points;
pub mod report;
pub mod rest;
mod summary_data;
mod summary_export;
mod time;
mod window_row;

pub use group::{Check, Group, path_id};
pub use machine_summary::{
    MachineCheck, MachineChecks, MachineConfig, MachineMetadata, MachineMetric, MachineResults,
    MachineSummary,
};
pub use number::Number;
pub use ordered::Ordered;
pub use points::{MetricLine, MetricLineData, PointLine, PointLineData, SubMetricLine, TagMap};
pub use summary_data::{MetricData, SummaryData, SummaryDataOptions, SummaryState, ThresholdData};
pub use summary_export::{ExportGroup, ExportMetric, SummaryExport};
pub use time::{rfc3339, rfc3339_ms, rfc3339_s};
pub use window_row::WindowRow;
