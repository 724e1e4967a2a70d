//! The output of `find --json`: a capacity study, and the diagnosis of its runs.
//!
//! The shape is published as `docs/format/find.schema.json`, which a test writes from these types. Keys may be added within a major
//! version; a key that changes its meaning or goes away makes a new one.

use serde::Serialize;

use crate::capacity::CapacityStudy;
use crate::diagnosis::DiagnosisReport;

/// The version of the shape.
pub const SCHEMA_VERSION: &str = "1.0.0";

/// The safe load and the bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FindReport {
    /// The version of this shape: major, minor, patch.
    pub schema_version: &'static str,
    /// The search for the maximum load.
    pub capacity: CapacityStudy,
    /// The diagnosis of the study's runs, from the lowest load to the highest; null where no run was valid.
    pub diagnosis: Option<DiagnosisReport>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `UPDATE_EXPECT=1 cargo test -p api` writes the file anew.
    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<FindReport>();
        let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
        expect_test::expect_file!["../../../docs/format/find.schema.json"].assert_eq(&text);
    }
}
