//! The document of `audit --format json`: errors in numbers, and figures derived from them.
//!
//! The shape is published as `docs/format/audit.schema.json`, which a test writes from these types. Keys may be added within a
//! major version of [`AUDIT_VERSION`]; a key that changes its meaning or goes away makes a new one.

use serde::Serialize;

use crate::Number;

/// The version of the shape.
pub const AUDIT_VERSION: &str = "1.1.0";

/// Everything that an audit says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditReport {
    /// The version of this shape: major, minor, patch.
    pub schema_version: &'static str,
    /// The audited runs and tables.
    pub sources: Vec<String>,
    /// The findings, the worst first.
    pub findings: Vec<AuditFinding>,
    /// Findings that are not listed individually.
    pub beyond: Vec<AuditBeyond>,
    /// Derived figures.
    pub derived: Vec<AuditDerived>,
    /// Every rule, with what it looked at.
    pub checked: Vec<AuditChecked>,
    /// Input that was ignored.
    pub remarks: Vec<String>,
    /// Remarks that are not listed individually.
    pub remarks_beyond: u64,
}

/// A claim, its figures, its impact and its remedy.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditFinding {
    /// The rule's name; stable.
    pub rule: &'static str,
    /// `error`, `warning`, `note`.
    #[cfg_attr(test, schemars(with = "crate::closed::Severity"))]
    pub severity: &'static str,
    /// The kind of reasoning: `arithmetic`, `limit`, `statistics`, `pattern`.
    #[cfg_attr(test, schemars(with = "crate::closed::Strength"))]
    pub strength: &'static str,
    /// Where it was found.
    pub place: String,
    /// The claim.
    pub claim: String,
    /// The claim as the rule worded it, where `claim` is in another language; absent in English.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub original: Option<String>,
    /// The figures.
    pub evidence: Vec<AuditFigure>,
    /// The impact.
    pub implies: String,
    /// The remedy.
    pub remedy: String,
    /// Caveats of the claim.
    pub caveats: Vec<String>,
}

/// Figures derived by a law.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditDerived {
    /// The law's name; stable.
    pub law: &'static str,
    /// Where its figures come from.
    pub place: String,
    /// One sentence.
    pub says: String,
    /// The figures, derived ones last.
    pub figures: Vec<AuditFigure>,
    /// The assumptions of the law.
    pub caveats: Vec<String>,
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditFigure {
    /// Its name.
    pub name: String,
    /// The number; null for what is none.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub value: Option<Number>,
    /// Its unit: `s`, `%`, `points`, `/s`, `/min`, `cores`, `B`, `VUs`; empty for plain numbers.
    pub unit: &'static str,
    /// The figure as people read it.
    pub text: String,
}

/// A rule and its input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditChecked {
    /// The rule's name.
    pub rule: &'static str,
    /// The number of facts that the rule looked at; with 0 it could find nothing.
    pub facts: usize,
}

/// Findings of a rule that are only counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditBeyond {
    /// The rule's name.
    pub rule: &'static str,
    /// How many there are.
    pub count: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<AuditReport>();
        let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
        expect_test::expect_file!["../../../docs/format/audit.schema.json"].assert_eq(&text);
    }
}
