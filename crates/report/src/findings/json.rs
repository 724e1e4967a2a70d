//! Findings as JSON.

use api::Number;
use api::audit::{
    AUDIT_VERSION, AuditBeyond, AuditChecked, AuditDerived, AuditFigure, AuditFinding, AuditReport,
};
use model::{Derived, Figure, FigureValue, Finding};
use words::audit as texts;

use super::Findings;
use crate::{Lang, escape};

/// Everything as JSON text, indented, ending in a line break.
pub fn render(audit: &Findings<'_>) -> String {
    render_in(audit, Lang::En)
}

/// The same with its sentences in another language; keys, words for machines and numbers stay, and the English claim stands beside
/// the translation.
pub fn render_in(audit: &Findings<'_>, lang: Lang) -> String {
    // Types whose keys are texts and whose numbers are finite or null have a form in JSON, always.
    escape::json(&serde_json::to_string_pretty(&document(audit, lang)).unwrap_or_default()) + "\n"
}

fn document(audit: &Findings<'_>, lang: Lang) -> AuditReport {
    let beyond = audit.beyond.iter().map(|(rule, count)| AuditBeyond { rule: rule.as_str(), count: *count });
    AuditReport {
        schema_version: AUDIT_VERSION,
        sources: audit.sources.to_vec(),
        findings: audit.findings.iter().map(|finding| of_finding(finding, lang)).collect(),
        beyond: beyond.collect(),
        derived: audit.derived.iter().map(|derived| of_derived(derived, lang)).collect(),
        checked: audit
            .checked
            .iter()
            .map(|(rule, facts)| AuditChecked { rule: rule.as_str(), facts: *facts })
            .collect(),
        remarks: audit.remarks.to_vec(),
        remarks_beyond: audit.remarks_beyond,
    }
}

fn of_finding(finding: &Finding, lang: Lang) -> AuditFinding {
    let claim = &finding.claim;
    AuditFinding {
        rule: finding.rule().as_str(),
        severity: finding.severity.as_str(),
        strength: finding.strength.as_str(),
        place: finding.place.clone(),
        claim: texts::claim(lang, claim),
        original: (lang != Lang::En).then(|| texts::claim(Lang::En, claim)),
        evidence: finding.evidence.iter().map(|figure| of_figure(figure, lang)).collect(),
        implies: texts::impact(lang, claim),
        remedy: texts::remedy(lang, claim),
        caveats: texts::caveats(lang, claim),
    }
}

fn of_derived(derived: &Derived, lang: Lang) -> AuditDerived {
    AuditDerived {
        law: derived.law().as_str(),
        place: derived.place.clone(),
        says: texts::law(lang, &derived.claim),
        figures: derived.figures.iter().map(|figure| of_figure(figure, lang)).collect(),
        caveats: texts::assumptions(lang, &derived.claim),
    }
}

fn of_figure(figure: &Figure, lang: Lang) -> AuditFigure {
    let (value, unit) = match &figure.value {
        FigureValue::Number { value, unit } => (Some(Number(*value)), unit.as_str()),
        FigureValue::Text(_) => (None, ""),
    };
    AuditFigure { name: texts::label(lang, &figure.label), value, unit, text: figure.value.to_string() }
}
