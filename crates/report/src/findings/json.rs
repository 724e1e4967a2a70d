//! Findings as JSON.

use api::Number;
use api::audit::{AUDIT_VERSION, AuditBeyond, AuditDerived, AuditFigure, AuditFinding, AuditReport};
use model::{Derived, Figure, FigureValue, Finding};

use super::{Findings, Told};
use crate::{Lang, escape};

/// Everything as JSON text, indented, ending in a line break.
pub fn render(told: &Findings<'_>) -> String {
    render_in(told, Lang::En)
}

/// The same with the sentences in a language; keys and numbers are the same in all.
pub fn render_in(told: &Findings<'_>, lang: Lang) -> String {
    // Types whose keys are texts and whose numbers are finite or null have a form in JSON, always.
    escape::json(&serde_json::to_string_pretty(&document(told, lang)).unwrap_or_default()) + "\n"
}

fn document(told: &Findings<'_>, lang: Lang) -> AuditReport {
    let beyond = told.beyond.iter().map(|(rule, count)| AuditBeyond { rule, count: *count });
    AuditReport {
        schema_version: AUDIT_VERSION,
        sources: told.sources.to_vec(),
        findings: told.findings.iter().map(|finding| of_finding(finding, lang)).collect(),
        beyond: beyond.collect(),
        derived: told.derived.iter().map(|derived| of_derived(derived, lang)).collect(),
        remarks: told.remarks.to_vec(),
        remarks_beyond: told.remarks_beyond,
    }
}

fn of_finding(finding: &Finding, lang: Lang) -> AuditFinding {
    let told = Told::of(finding, lang);
    // Words of a language are those of the rule, so that what it found stands beside them.
    let claim = told.original.map(|original| format!("{} ({original})", told.claim));
    AuditFinding {
        rule: finding.rule,
        severity: finding.severity.as_str(),
        strength: finding.strength.as_str(),
        place: finding.place.clone(),
        claim: claim.unwrap_or_else(|| told.claim.to_owned()),
        evidence: finding.evidence.iter().map(|figure| of_figure(figure, lang)).collect(),
        implies: told.implies.to_owned(),
        remedy: told.mend.to_owned(),
        caveats: finding.caveats.clone(),
    }
}

fn of_derived(derived: &Derived, lang: Lang) -> AuditDerived {
    AuditDerived {
        law: derived.law,
        place: derived.place.clone(),
        says: lang.law(derived.law).map_or_else(|| derived.says.clone(), str::to_owned),
        figures: derived.figures.iter().map(|figure| of_figure(figure, lang)).collect(),
        caveats: derived.caveats.clone(),
    }
}

fn of_figure(figure: &Figure, lang: Lang) -> AuditFigure {
    let (value, unit) = match &figure.value {
        FigureValue::Number { value, unit } => (Some(Number(*value)), unit.as_str()),
        FigureValue::Text(_) => (None, ""),
    };
    AuditFigure { name: lang.figure(&figure.name).to_owned(), value, unit, text: figure.value.to_string() }
}
