//! Findings for people and programs: as text, as Markdown, as JSON.

mod json;
mod markdown;
mod text;

use model::{Derived, Finding, Severity};

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
    pub beyond: &'a [(&'static str, usize)],
    /// The derived figures.
    pub derived: &'a [Derived],
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

/// A finding in the words of a language.
struct Wording<'a> {
    claim: &'a str,
    /// The rule's own English claim, where `claim` is a translation.
    original: Option<&'a str>,
    implies: &'a str,
    mend: &'a str,
}

impl<'a> Wording<'a> {
    fn new(finding: &'a Finding, lang: Lang) -> Wording<'a> {
        match crate::lang::rule(lang, finding.rule) {
            None => Wording {
                claim: &finding.claim,
                original: None,
                implies: &finding.implies,
                mend: &finding.remedy,
            },
            Some(words) => Wording {
                claim: words.finds,
                original: Some(&finding.claim),
                implies: words.implies,
                mend: words.mend,
            },
        }
    }
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
    use model::{Figure, Strength, Unit};

    use super::*;
    use crate::Style;

    fn finding() -> Finding {
        Finding {
            rule: "usage-above-limit",
            severity: Severity::Error,
            strength: Strength::Limit,
            claim: "pod \u{1b}[31m<b>: 1.84 cores is used of a limit of 1 cores".to_owned(),
            evidence: vec![Figure::new("usage", 1.84, Unit::Cores), Figure::text("query", "sum(x|y)")],
            implies: "the series adds up more than this resource".to_owned(),
            remedy: "sum over containers alone".to_owned(),
            caveats: vec!["sidecars have limits of their own".to_owned()],
            place: "usages.csv, row 1".to_owned(),
        }
    }

    fn derived() -> Derived {
        Derived {
            law: "slo-crossing",
            says: "p95 reaches 60 s at 384 VUs".to_owned(),
            figures: vec![Figure::new("VUs at the limit", 383.94, Unit::Vus)],
            caveats: vec!["interpolated".to_owned()],
            place: "runs.csv".to_owned(),
        }
    }

    #[track_caller]
    fn check(render: fn(&Findings<'_>) -> String, expect: Expect) {
        let (findings, derived) = ([finding()], [derived()]);
        let sources = ["usages.csv".to_owned(), "runs.csv".to_owned()];
        let remarks = ["x.csv: no kind of table has these columns".to_owned()];
        let told = Findings {
            sources: &sources,
            findings: &findings,
            beyond: &[("usage-above-limit", 3)],
            derived: &derived,
            remarks: &remarks,
            remarks_beyond: 2,
        };
        expect.assert_eq(&render(&told));
    }

    #[test]
    fn as_text() {
        check(
            // The first line keeps the blanks of the others from being taken for the macro's.
            |told| format!("text\n{}", text(told, Lang::En, Style::PLAIN)),
            expect![[r#"
                text
                  1 error and 3 more in 2 sources

                  ✗ error  usage-above-limit  usages.csv, row 1
                    pod \u{1b}[31m<b>: 1.84 cores is used of a limit of 1 cores
                      usage  1.84 cores
                      query  sum(x|y)
                    Impact: the series adds up more than this resource
                    Remedy: sum over containers alone
                    Caveat:  sidecars have limits of their own

                  3 more of usage-above-limit

                  Derived figures

                  slo-crossing  runs.csv
                    p95 reaches 60 s at 384 VUs
                      VUs at the limit  383.9 VUs
                    Caveat:  interpolated

                  Ignored input

                  x.csv: no kind of table has these columns
                  … and 2 more
            "#]],
        );
    }

    #[test]
    fn as_markdown() {
        check(
            |told| markdown(told, Lang::En),
            expect![[r#"
                **1 error and 3 more in 2 sources**

                ### error: usage-above-limit

                pod &#92;u&#123;1b&#125;&#91;31m&lt;b&gt;&#58; 1.84 cores is used of a limit of 1 cores (usages.csv, row 1)

                | Figure | Value |
                |---|--:|
                | usage | 1.84 cores |
                | query | sum(x&#124;y) |

                * **Impact**: the series adds up more than this resource
                * **Remedy**: sum over containers alone
                * **Caveat**: sidecars have limits of their own

                3 more of usage-above-limit

                ### Derived figures

                * **slo-crossing**: p95 reaches 60 s at 384 VUs (runs.csv)

                ### Ignored input

                * x.csv&#58; no kind of table has these columns
                * … and 2 more
            "#]],
        );
    }

    #[test]
    fn in_korean_with_the_original_beside_it() {
        let (findings, derived) = ([finding()], [derived()]);
        let told = Findings {
            sources: &[],
            findings: &findings,
            beyond: &[],
            derived: &derived,
            remarks: &[],
            remarks_beyond: 0,
        };
        for shown in [text(&told, Lang::Ko, Style::PLAIN), markdown(&told, Lang::Ko)] {
            for part in [
                "오류",
                "사용량이 한도보다 큽니다",
                "원문",
                "1.84 cores",
                "조치",
                "p95가 한도를 넘는 VU 수",
                "383.9 VUs",
            ] {
                assert!(shown.contains(part), "{part} is not in {shown}");
            }
            assert!(!shown.contains('\u{1b}'));
        }
        let shown = json_in(&told, Lang::Ko);
        for part in ["\"claim\": \"사용량이 한도보다", "\"original\": \"pod ", "p95가 한도를 넘는 VU 수"]
        {
            assert!(shown.contains(part), "{part} is not in {shown}");
        }
        assert!(!json(&told).contains("original"));
    }

    #[test]
    fn as_json() {
        let told = Findings {
            sources: &[],
            findings: &[finding()],
            beyond: &[],
            derived: &[derived()],
            remarks: &[],
            remarks_beyond: 0,
        };
        let text = json(&told);
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
        let told = Findings {
            sources: &[],
            findings: &many,
            beyond: &[],
            derived: &[],
            remarks: &[],
            remarks_beyond: 0,
        };
        let text = markdown(&told, Lang::En);
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
        let told = Findings {
            sources: &sources,
            findings: &[],
            beyond: &[],
            derived: &[],
            remarks: &[],
            remarks_beyond: 0,
        };
        assert_eq!(told.sentence(Lang::En), "no findings in 1 source");
        assert_eq!(told.sentence(Lang::Ko), "소스 1개에서 발견된 문제가 없습니다");
    }
}
