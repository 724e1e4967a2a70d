//! Findings for people and programs: as text, as Markdown, as JSON.

mod json;
mod markdown;
mod text;

use model::{AuditRule, Derived, Finding, Severity};

use crate::Lang;

pub use json::{render as json, render_in as json_in};
pub use markdown::{BYTES_MAX, render as markdown};
pub use text::render as text;

/// The results of an audit.
#[derive(Clone, Copy, Debug)]
pub struct Findings<'a> {
    /// The sources: runs and tables.
    pub sources: &'a [String],
    /// The findings, the worst first.
    pub findings: &'a [Finding],
    /// The numbers of findings that are not listed, by rule.
    pub beyond: &'a [(AuditRule, usize)],
    /// The derived figures.
    pub derived: &'a [Derived],
    /// Every rule, with the number of facts that it looked at.
    pub checked: &'a [(AuditRule, usize)],
    /// Remarks on ignored input.
    pub remarks: &'a [String],
    /// The number of remarks that are not listed.
    pub remarks_beyond: u64,
}

impl Findings<'_> {
    /// One sentence on how many there are, and in what.
    pub fn sentence(&self, lang: Lang) -> String {
        let sources = match self.sources.len() {
            1 => lang.audit_source(1),
            count => lang.audit_sources(count),
        };
        if self.findings.is_empty() {
            return lang.audit_nothing(sources);
        }
        let parts = [Severity::Error, Severity::Warning, Severity::Note].into_iter().filter_map(|severity| {
            let count = self.findings.iter().filter(|finding| finding.severity == severity).count();
            (count > 0).then(|| counted(severity, count, lang))
        });
        let more: usize = self.beyond.iter().map(|(_, count)| count).sum();
        let more = if more > 0 { lang.audit_more(more) } else { String::new() };
        lang.audit_found(parts.collect::<Vec<_>>().join(", "), more, sources)
    }
}

/// The sources, the rules that had something to check, and those that had nothing: each a heading and a list.
fn checks(audit: &Findings<'_>, lang: Lang) -> Vec<(&'static str, String)> {
    let with = audit.checked.iter().filter(|(_, facts)| *facts > 0);
    let with: Vec<String> = with.map(|(rule, facts)| format!("{} ({facts})", rule.as_str())).collect();
    let without = audit.checked.iter().filter(|(_, facts)| *facts == 0);
    let without: Vec<&str> = without.map(|(rule, _)| rule.as_str()).collect();
    let lists = [
        (lang.audit_input(), audit.sources.join(", ")),
        (lang.audit_checked(), with.join(", ")),
        (lang.audit_unchecked(), without.join(", ")),
    ];
    lists.into_iter().filter(|(_, list)| !list.is_empty()).collect()
}

/// `1 error`, `3 errors`.
fn counted(severity: Severity, count: usize, lang: Lang) -> String {
    match (severity, count) {
        (Severity::Error, 1) => lang.audit_error(count),
        (Severity::Error, _) => lang.audit_errors(count),
        (Severity::Warning, 1) => lang.audit_warning(count),
        (Severity::Warning, _) => lang.audit_warnings(count),
        (Severity::Note, 1) => lang.audit_note(count),
        (Severity::Note, _) => lang.audit_notes(count),
    }
}

fn severity(severity: Severity, lang: Lang) -> &'static str {
    match severity {
        Severity::Error => lang.audit_severity_error(),
        Severity::Warning => lang.audit_severity_warning(),
        Severity::Note => lang.audit_severity_note(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use model::audit::{AuditClaim, LawClaim};
    use model::{Figure, FigureLabel, FigureValue, Strength, Unit};

    use super::*;
    use crate::Style;

    fn finding() -> Finding {
        let cores = |value| FigureValue::number(value, Unit::Cores);
        Finding {
            severity: Severity::Error,
            strength: Strength::Limit,
            claim: AuditClaim::UsageAboveLimit {
                resource: "pod \u{1b}[31m<b>".to_owned(),
                used: cores(1.84),
                limit: cores(1.0),
                half: None,
            },
            evidence: vec![
                Figure::new(FigureLabel::Usage, 1.84, Unit::Cores),
                Figure::text(FigureLabel::Named("query".to_owned()), "sum(x|y)"),
            ],
            place: "usages.csv, row 1".to_owned(),
        }
    }

    fn derived() -> Derived {
        Derived {
            claim: LawClaim::Crossing { limit_s: 60.0, vus: 383.94 },
            figures: vec![Figure::new(FigureLabel::VusAtLimit, 383.94, Unit::Vus)],
            place: "runs.csv".to_owned(),
        }
    }

    #[track_caller]
    fn check(render: fn(&Findings<'_>) -> String, expect: Expect) {
        let (findings, derived) = ([finding()], [derived()]);
        let sources = ["usages.csv".to_owned(), "runs.csv".to_owned()];
        let remarks = ["x.csv: no kind of table has these columns".to_owned()];
        let audit = Findings {
            sources: &sources,
            findings: &findings,
            beyond: &[(AuditRule::UsageAboveLimit, 3)],
            derived: &derived,
            checked: &[(AuditRule::UsageAboveLimit, 4), (AuditRule::TimeZone, 0)],
            remarks: &remarks,
            remarks_beyond: 2,
        };
        expect.assert_eq(&render(&audit));
    }

    #[test]
    fn as_text() {
        check(
            // The first line keeps the blanks of the others from being taken for the macro's.
            |audit| format!("text\n{}", text(audit, Lang::En, Style::PLAIN)),
            expect![[r#"
                text
                  1 error and 3 more in 2 sources

                  ✗ error  usage-above-limit  usages.csv, row 1
                    pod \u{1b}[31m<b>: usage of 1.84 cores exceeds its limit of 1 cores, which is impossible
                      usage  1.84 cores
                      query  sum(x|y)
                    Impact: the series sums more than this resource
                    Remedy: sum over containers alone (container!="", image!=""), check the label `container` for sidecars, and read limits by the same label
                    Caveat:  sidecars in the same pod have their own limits and could explain part of the excess

                  3 more of usage-above-limit

                  Derived figures

                  slo-crossing  runs.csv
                    p95 reaches 60 s at 384 VUs
                      VUs at the limit  383.9 VUs
                    Caveat:  interpolated between two load steps measured once each

                  Input: usages.csv, runs.csv
                  Rules checked, with the number of values: usage-above-limit (4)
                  Rules without input: time-zone

                  Ignored input

                  x.csv: no kind of table has these columns
                  … and 2 more
            "#]],
        );
    }

    #[test]
    fn as_markdown() {
        check(
            |audit| markdown(audit, Lang::En),
            expect![[r#"
                **1 error and 3 more in 2 sources**

                ### error: usage-above-limit

                pod &#92;u&#123;1b&#125;&#91;31m&lt;b&gt;: usage of 1.84 cores exceeds its limit of 1 cores, which is impossible (usages.csv, row 1)

                | Figure | Value |
                |---|--:|
                | usage | 1.84 cores |
                | query | sum(x&#124;y) |

                * **Impact**: the series sums more than this resource
                * **Remedy**: sum over containers alone (container&#33;=&#34;&#34;, image&#33;=&#34;&#34;), check the label &#96;container&#96; for sidecars, and read limits by the same label
                * **Caveat**: sidecars in the same pod have their own limits and could explain part of the excess

                3 more of usage-above-limit

                ### Derived figures

                * **slo-crossing**: p95 reaches 60 s at 384 VUs (runs.csv)

                * **Input**: usages.csv, runs.csv
                * **Rules checked, with the number of values**: usage-above-limit (4)
                * **Rules without input**: time-zone

                ### Ignored input

                * x.csv: no kind of table has these columns
                * … and 2 more
            "#]],
        );
    }

    #[test]
    fn in_korean() {
        let (findings, derived) = ([finding()], [derived()]);
        let audit = Findings {
            sources: &[],
            findings: &findings,
            beyond: &[],
            derived: &derived,
            checked: &[],
            remarks: &[],
            remarks_beyond: 0,
        };
        for shown in [text(&audit, Lang::Ko, Style::PLAIN), markdown(&audit, Lang::Ko)] {
            for part in [
                "오류",
                "사용량 1.84 cores가 한도 1 cores보다 큽니다",
                "조치",
                "p95가 VU 384개에서 60 s에 이릅니다",
            ] {
                assert!(shown.contains(part), "{part} is not in {shown}");
            }
            assert!(!shown.contains('\u{1b}'));
        }
        let shown = json_in(&audit, Lang::Ko);
        for part in ["사용량 1.84 cores가 한도", "\"original\": \"pod ", "p95가 VU 384개에서"] {
            assert!(shown.contains(part), "{part} is not in {shown}");
        }
        assert!(!json(&audit).contains("original"));
    }

    #[test]
    fn as_json() {
        let audit = Findings {
            sources: &[],
            findings: &[finding()],
            beyond: &[],
            derived: &[derived()],
            checked: &[],
            remarks: &[],
            remarks_beyond: 0,
        };
        let text = json(&audit);
        crate::report_tests::follows(include_str!("../../../../docs/format/audit.schema.json"), &text);
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert!(!text.contains('\u{1b}'));
        assert_eq!(value["findings"][0]["rule"], "usage-above-limit");
        assert_eq!(value["findings"][0]["evidence"][0]["value"], 1.84);
        assert_eq!(value["findings"][0]["evidence"][0]["unit"], "cores");
        assert_eq!(value["findings"][0]["evidence"][1]["value"], serde_json::Value::Null);
        assert_eq!(value["derived"][0]["figures"][0]["text"], "383.9 VUs");
    }

    #[test]
    fn a_report_that_is_too_long_says_so() {
        let many = vec![finding(); 2000];
        let audit = Findings {
            sources: &[],
            findings: &many,
            beyond: &[],
            derived: &[],
            checked: &[],
            remarks: &[],
            remarks_beyond: 0,
        };
        let text = markdown(&audit, Lang::En);
        assert!(text.len() <= BYTES_MAX, "{}", text.len());
        assert!(
            text.trim_end().ends_with("For all of them, use `--format json`."),
            "{}",
            &text[text.len() - 200..]
        );
    }

    #[test]
    fn nothing_is_said_in_a_sentence() {
        let sources = ["a".to_owned()];
        let audit = Findings {
            sources: &sources,
            findings: &[],
            beyond: &[],
            derived: &[],
            checked: &[],
            remarks: &[],
            remarks_beyond: 0,
        };
        assert_eq!(audit.sentence(Lang::En), "no findings in 1 source");
        assert_eq!(audit.sentence(Lang::Ko), "소스 1개에서 발견된 문제가 없습니다");
    }
}
