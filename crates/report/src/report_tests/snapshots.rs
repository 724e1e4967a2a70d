//! Whole reports, kept beside the code. `UPDATE_EXPECT=1 cargo test -p report` writes them anew: read the difference.

use expect_test::{ExpectFile, expect_file};

use super::{fixture, verdicts_fixture};
use crate::{Lang, RunReport, github, json, junit, markdown};

#[track_caller]
fn check(actual: String, expect: ExpectFile) {
    expect.assert_eq(&actual);
}

#[test]
fn markdown_is_as_kept() {
    let (failed, passed, nothing) = (fixture::failed(), fixture::passed(), fixture::nothing());
    check(markdown::render(&failed, Lang::En), expect_file!["../../golden/reports/failed.en.md"]);
    check(markdown::render(&failed, Lang::Ko), expect_file!["../../golden/reports/failed.ko.md"]);
    check(markdown::render(&passed, Lang::En), expect_file!["../../golden/reports/passed.en.md"]);
    check(markdown::render(&nothing, Lang::Ko), expect_file!["../../golden/reports/nothing.ko.md"]);
}

#[test]
fn evidence_is_as_kept() {
    let report = RunReport { evidence: crate::evidence::scene::scan(), ..fixture::passed() };
    check(markdown::render(&report, Lang::En), expect_file!["../../golden/reports/evidence.en.md"]);
    check(markdown::render(&report, Lang::Ko), expect_file!["../../golden/reports/evidence.ko.md"]);
}

#[test]
fn a_report_of_everything_is_as_kept() {
    let report = verdicts_fixture::known("scan-worker CPU is at its limit");
    check(markdown::render(&report, Lang::En), expect_file!["../../golden/reports/known.en.md"]);
    check(markdown::render(&report, Lang::Ko), expect_file!["../../golden/reports/known.ko.md"]);
}

/// Every text of the Markdown report is in the document that the page shows, in the same order.
#[test]
fn a_document_has_the_texts_of_the_markdown_report() {
    for lang in Lang::ALL {
        let report = verdicts_fixture::known("scan-worker CPU is at its limit");
        let document = markdown::document(&report, lang);
        let text = serde_json::to_string(&document).expect("a document is JSON");
        let markdown = markdown::render(&report, lang);
        let titles = markdown.lines().filter_map(|line| line.trim_start_matches('#').strip_prefix(' '));
        let titles = titles.filter(|title| !title.contains(['*', '`', '&', '❌', '✅', '⚠']));
        let mut count = 0;
        for title in titles.filter(|title| markdown.contains(&format!("# {title}"))) {
            let title = title.split_once(". ").map_or(title, |(_, title)| title);
            assert!(text.contains(title), "{title} is missing");
            count += 1;
        }
        assert!(count > 15, "{count} titles");
        let cells = markdown.lines().filter(|line| line.starts_with("| ")).count();
        let rows: usize = document
            .chapters
            .iter()
            .flat_map(|chapter| &chapter.sections)
            .flat_map(|section| &section.blocks)
            .map(|block| match block {
                api::page::ReportBlock::Table { rows, .. } => rows.len() + 1,
                _ => 0,
            })
            .sum();
        assert_eq!(rows, cells);
    }
}

#[test]
fn machines_formats_are_as_kept() {
    check(json::render(&fixture::failed()), expect_file!["../../golden/reports/failed.json"]);
    check(junit::render(&fixture::failed()), expect_file!["../../golden/reports/failed.xml"]);
    check(junit::render(&fixture::nothing()), expect_file!["../../golden/reports/nothing.xml"]);
    let outputs = |report: &RunReport| {
        let annotations = Lang::ALL.map(|lang| github::annotations(report, lang)).concat();
        format!("{annotations}{}", github::outputs(report))
    };
    check(outputs(&fixture::failed()), expect_file!["../../golden/reports/failed.github.txt"]);
    check(outputs(&fixture::passed()), expect_file!["../../golden/reports/passed.github.txt"]);
}

/// The values of the terminal's rows are in all formats.
#[test]
fn every_surface_has_the_same_numbers() {
    let report = fixture::failed();
    let terminal = crate::summary::render(&report.summary, &report.number_options());
    let surfaces = [
        markdown::render(&report, Lang::En),
        markdown::render(&report, Lang::Ko),
        github::step_summary(&report, Lang::En),
        json::render(&report),
    ];
    let numbers =
        ["812ms", "212.5ms", "≥ 60 s (timeout)", "n/a: closed loop", "0.11%", "12 MB", "1m23s", "900µs"];
    for number in numbers {
        assert!(terminal.contains(number), "{number} is not on the terminal: {terminal}");
        let is_row_of_words = number.starts_with("n/a");
        for surface in &surfaces {
            let said = surface.contains(number) || is_row_of_words && surface.contains("closed loop");
            assert!(said, "{number} is missing in {surface}");
        }
    }
    let xml = junit::render(&report);
    assert!(xml.contains(r#"message="p(95)=812ms, limit 500ms""#), "{xml}");
}
