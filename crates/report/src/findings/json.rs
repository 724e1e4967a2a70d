//! Findings as JSON.

use api::Number;
use api::audit::{AUDIT_VERSION, AuditBeyond, AuditDerived, AuditFigure, AuditFinding, AuditReport};
use model::{Derived, Figure, FigureValue, Finding};

use super::{Findings, Wording};
use crate::{Lang, escape};

/// Everything as JSON text, indented, ending in a line break.
pub fn render(told: &Findings<'_>) -> String {
    render_in(told, Lang::En)
}

/// The same with its sentences in another language; keys, words for machines and numbers stay, and so does what a rule said
/// itself, beside the translation.
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
    let told = Wording::new(finding, lang);
    AuditFinding {
        rule: finding.rule,
        severity: finding.severity.as_str(),
        strength: finding.strength.as_str(),
        place: finding.place.clone(),
        claim: told.claim.to_owned(),
        original: told.original.map(str::to_owned),
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
        says: crate::lang::law(lang, derived.law).unwrap_or(&derived.says).to_owned(),
        figures: derived.figures.iter().map(|figure| of_figure(figure, lang)).collect(),
        caveats: derived.caveats.clone(),
    }
}

fn of_figure(figure: &Figure, lang: Lang) -> AuditFigure {
    let (value, unit) = match &figure.value {
        FigureValue::Number { value, unit } => (Some(Number(*value)), unit.as_str()),
        FigureValue::Text(_) => (None, ""),
    };
    AuditFigure {
        name: crate::lang::figure(lang, &figure.name).to_owned(),
        value,
        unit,
        text: figure.value.to_string(),
    }
}
