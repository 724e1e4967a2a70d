//! Findings as JSON.

use api::Number;
use api::audit::{AUDIT_VERSION, AuditBeyond, AuditDerived, AuditFigure, AuditFinding, AuditReport};
use model::{Derived, Figure, FigureValue, Finding};

use super::Findings;
use crate::escape;

/// Everything as JSON text, indented, ending in a line break.
pub fn render(told: &Findings<'_>) -> String {
    // Types whose keys are texts and whose numbers are finite or null have a form in JSON, always.
    escape::json(&serde_json::to_string_pretty(&document(told)).unwrap_or_default()) + "\n"
}

fn document(told: &Findings<'_>) -> AuditReport {
    let beyond = told.beyond.iter().map(|(rule, count)| AuditBeyond { rule, count: *count });
    AuditReport {
        schema_version: AUDIT_VERSION,
        sources: told.sources.to_vec(),
        findings: told.findings.iter().map(of_finding).collect(),
        beyond: beyond.collect(),
        derived: told.derived.iter().map(of_derived).collect(),
        remarks: told.remarks.to_vec(),
        remarks_beyond: told.remarks_beyond,
    }
}

fn of_finding(finding: &Finding) -> AuditFinding {
    AuditFinding {
        rule: finding.rule,
        severity: finding.severity.as_str(),
        strength: finding.strength.as_str(),
        place: finding.place.clone(),
        claim: finding.claim.clone(),
        evidence: finding.evidence.iter().map(of_figure).collect(),
        implies: finding.implies.clone(),
        remedy: finding.remedy.clone(),
        caveats: finding.caveats.clone(),
    }
}

fn of_derived(derived: &Derived) -> AuditDerived {
    AuditDerived {
        law: derived.law,
        place: derived.place.clone(),
        says: derived.says.clone(),
        figures: derived.figures.iter().map(of_figure).collect(),
        caveats: derived.caveats.clone(),
    }
}

fn of_figure(figure: &Figure) -> AuditFigure {
    let (value, unit) = match &figure.value {
        FigureValue::Number { value, unit } => (Some(Number(*value)), unit.as_str()),
        FigureValue::Text(_) => (None, ""),
    };
    AuditFigure { name: figure.name.clone(), value, unit, text: figure.value.to_string() }
}
