//! Names that try to break out of every format.

use api::page::{ReportBlock, ReportDocument, ReportSpan};
use quick_xml::events::Event;

use super::{fixture, verdicts_fixture};
use crate::document::{Identity, Outcome};
use crate::summary::{CheckSummary, MetricSummary};
use crate::{Lang, RunReport, github, json, junit, markdown, summary};

/// Breaks out of Markdown, HTML, XML, CSV, terminals or workflow commands.
const NASTY: &[&str] = &[
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "</details></pre><h1>x",
    "a|b",
    "a\\|b|",
    "`code` ``more``",
    "```\nfence\n```",
    "line\nbreak\r\n| x | y |",
    "\x1b[2J\x1b]0;title\x07",
    "\u{9b}31m",
    "\u{0}\u{1}\u{7f}\u{ffff}",
    "]]><x/>",
    "=cmd()|' /C calc'!A0",
    "::error::owned\n::set-output name=verdict::pass",
    "plimsoll\nverdict<<plimsoll\npass",
    "[link](javascript:alert(1)) @everyone #1",
    "user\u{202e}nimda",
    "\u{200b}\u{2066}\u{2069}\u{ad}\u{61c}\u{feff}\u{e0041}",
    "+1+cmd|' /C calc'!A0",
    "-1|@SUM(1)",
    "\t=1",
    "javascript:alert(1)",
    "<svg/onload=alert(1)>",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<!--",
    "![x](http://h/x.png)",
    "&lt;script&gt;",
    "\u{1b}]8;;http://h\u{7}link\u{1b}]8;;\u{7}",
    "\"'&<>--",
    "{{ template }} ${env}",
];

/// A run in which everything that others can name is named `name`.
fn named(name: &str) -> RunReport {
    let known = verdicts_fixture::known(name);
    let (diagnosis, capacity) = (known.diagnosis, known.capacity);
    let mut report = RunReport { diagnosis, capacity, ..fixture::failed() };
    let text = || name.to_owned();
    report.identity.id = text();
    report.identity.name = text();
    report.identity.script = text();
    report.identity.commit = text();
    report.identity.target_version = text();
    report.identity.plimsoll_version = text();
    report.identity.notes = vec![text()];
    report.identity.tags = vec![(text(), text())];
    report.outcome = Some(Outcome { exit_code: 107, message: text() });
    let metrics = |metrics: &mut Vec<MetricSummary>| {
        let mut own = metrics[0].clone();
        own.name = text();
        for threshold in &mut own.thresholds {
            threshold.source = text();
        }
        metrics.push(own);
    };
    let checks = |checks: &mut Vec<CheckSummary>| checks.iter_mut().for_each(|check| check.name = text());
    metrics(&mut report.summary.metrics);
    checks(&mut report.summary.checks);
    for scenario in &mut report.summary.scenarios {
        scenario.name = text();
        metrics(&mut scenario.metrics);
        checks(&mut scenario.checks);
        scenario.groups.iter_mut().for_each(|group| (group.name, group.path) = (text(), text()));
    }
    for endpoint in &mut report.endpoints {
        (endpoint.method, endpoint.name) = (text(), text());
    }
    for error in &mut report.errors.distinct {
        (error.message, error.example) = (text(), text());
    }
    for one in &mut report.exemplars {
        (one.method, one.url, one.status, one.error) = (text(), text(), text(), text());
    }
    report.drops.iter_mut().for_each(|drop| drop.scenario = text());
    report.environment = vec![(text(), text())];
    report.options = Some(serde_json::json!({ name: name }));
    report.log.lines = vec![text(); 3];
    report
}

fn all_names() -> Vec<String> {
    let long = "\u{1b}<|`é".repeat(2_000);
    NASTY.iter().map(|name| (*name).to_owned()).chain([long]).collect()
}

/// Nothing that steers a terminal, opens a tag that scripts run from, or reorders what is read.
#[track_caller]
fn assert_harmless(text: &str) {
    assert_harmless_on_terminal(text);
    for tag in ["<script", "</script", "<img", "<h1", "</pre><", "<svg", "<a ", "<!--"] {
        assert!(!text.contains(tag), "{tag} in {text}");
    }
}

#[test]
fn hostile_names_keep_the_shape_of_markdown() {
    let shape = |text: &str| {
        let count = |what: &str| text.matches(what).count();
        [count("<details>"), count("</details>"), count("<pre>"), count("</pre>"), count("\n### ")]
    };
    for lang in Lang::ALL {
        let expect = shape(&markdown::render(&named("x"), lang));
        for name in all_names() {
            let summary = github::step_summary(&named(&name), lang);
            assert!(summary.len() <= github::SUMMARY_BYTES_MAX, "{name:.80}");
            // A summary leaves out the raw results of a name that is too long for it.
            let whole = markdown::render_within(&named(&name), lang, usize::MAX);
            assert_eq!(shape(&whole), expect, "{name:.80}: {whole}");
            assert!(
                shape(&summary) == expect || whole.len() > github::SUMMARY_BYTES_MAX,
                "{name:.80}: {summary}"
            );
            for text in [summary, whole] {
                assert_harmless(&text);
                assert_tables(&text);
                // Within code and `<pre>` Markdown means nothing, and `<pre>` is in the last chapters alone.
                let markdown = text.split("<pre>").next().unwrap_or_default();
                let outside_code: Vec<&str> = markdown.split('`').step_by(2).collect();
                let means_something = |part: &&&str| part.contains("](") || part.contains('@');
                assert_eq!(outside_code.iter().find(means_something), None, "{name:.80}");
            }
        }
    }
}

/// The document of the page has the same blocks whatever things are named, and each name is in one piece of text.
#[test]
fn hostile_names_keep_the_shape_of_documents() {
    for lang in Lang::ALL {
        // The commands to copy have no place for an id without letters and digits.
        let named = |name: &str| {
            let report = named(name);
            RunReport { identity: Identity { id: "ab12cd34".to_owned(), ..report.identity }, ..report }
        };
        let expect = shape(&markdown::document(&named("x"), lang));
        for name in all_names() {
            let document = markdown::document(&named(&name), lang);
            let shape = shape(&document);
            let differs = shape.iter().zip(&expect).position(|(a, b)| a != b);
            assert_eq!(differs.map(|at| (at, &shape[at..])), None, "{name:.80}");
            assert_eq!(shape.len(), expect.len(), "{name:.80}");
            let texts = texts(&document);
            assert_harmless_on_terminal(&texts.concat());
            let shown = crate::escape::short(&name);
            assert!(texts.iter().any(|text| text.contains(shown.trim())), "{shown}: {texts:#?}");
        }
    }
}

/// The kinds of a document's blocks, with the number of columns of its tables.
fn shape(document: &ReportDocument) -> Vec<String> {
    let block = |block: &ReportBlock| match block {
        ReportBlock::Heading { .. } => "heading".to_owned(),
        ReportBlock::Paragraph { .. } => "paragraph".to_owned(),
        ReportBlock::List { items } => format!("list of {}", items.len()),
        ReportBlock::Remark { blocks } => format!("remark of {}", blocks.len()),
        ReportBlock::Lines { .. } => "lines".to_owned(),
        ReportBlock::Table { columns, rows } => {
            // A name with braces is taken for that of a sub-metric, which some tables leave out.
            assert!(rows.iter().all(|row| row.len() == columns.len()), "{rows:?}");
            format!("table of {}", columns.len())
        }
    };
    all_blocks(document).into_iter().map(block).collect()
}

/// Every text of a document.
fn texts(document: &ReportDocument) -> Vec<String> {
    fn spans(spans: &[ReportSpan]) -> String {
        spans.iter().map(|span| span.text.as_str()).collect()
    }
    let of = |block: &ReportBlock| match block {
        ReportBlock::Heading { text } | ReportBlock::Paragraph { text } => vec![spans(text)],
        ReportBlock::List { items } => items.iter().map(|item| spans(item)).collect(),
        ReportBlock::Remark { .. } => vec![],
        ReportBlock::Lines { lines } => vec![lines.clone()],
        ReportBlock::Table { columns, rows } => {
            let titles = columns.iter().map(|column| spans(&column.text));
            titles.chain(rows.iter().flatten().map(|cell| spans(cell))).collect()
        }
    };
    all_blocks(document).into_iter().flat_map(of).collect()
}

fn all_blocks(document: &ReportDocument) -> Vec<&ReportBlock> {
    fn with_inner(block: &ReportBlock) -> Vec<&ReportBlock> {
        match block {
            ReportBlock::Remark { blocks } => {
                std::iter::once(block).chain(blocks.iter().flat_map(with_inner)).collect()
            }
            other => vec![other],
        }
    }
    let sections = document.chapters.iter().flat_map(|chapter| &chapter.sections);
    let all = document.head.iter().chain(sections.flat_map(|section| &section.blocks)).chain(&document.foot);
    all.flat_map(with_inner).collect()
}

/// Every row of a table has as many cells as its title, as GitHub splits them: at each `|` that no `\` precedes.
#[track_caller]
fn assert_tables(text: &str) {
    let mut columns = None;
    for line in text.lines() {
        if !line.starts_with('|') {
            columns = None;
            continue;
        }
        assert!(
            !line.contains("\\|"),
            "an escaped cell's end is read differently by different readers: {line}"
        );
        let cells = line.matches('|').count();
        assert_eq!(*columns.get_or_insert(cells), cells, "{line}");
    }
}

#[test]
fn hostile_names_are_read_back_from_xml() {
    for name in all_names() {
        let text = junit::render(&named(&name));
        assert_harmless(&text);
        let mut reader = quick_xml::Reader::from_str(&text);
        reader.config_mut().check_end_names = true;
        let mut cases = 0;
        loop {
            match reader.read_event().expect("well-formed XML") {
                Event::Eof => break,
                Event::Start(element) | Event::Empty(element) => {
                    cases += usize::from(element.name().as_ref() == "testcase");
                    for attribute in element.attributes() {
                        let attribute = attribute.expect("a well-formed attribute");
                        attribute
                            .normalized_value(quick_xml::XmlVersion::Implicit1_0)
                            .expect("known entities alone");
                    }
                }
                _ => {}
            }
        }
        // The run and its validity, four thresholds and the three on the hostile metric, two checks.
        assert_eq!(cases, 2 + 4 + 3 + 2, "{text}");
    }
}

#[test]
fn hostile_names_are_read_back_from_json() {
    for name in all_names() {
        let text = json::render(&named(&name));
        assert_harmless(&text);
        let value: serde_json::Value = serde_json::from_str(&text).expect("well-formed JSON");
        assert_eq!(value["run"]["id"], name.as_str());
        assert_eq!(value["checks"][0]["name"], name.as_str());
        assert_eq!(value["options"][&name], name.as_str());
    }
}

#[test]
fn hostile_names_start_no_workflow_command() {
    for name in all_names() {
        let mut report = named(&name);
        for lang in Lang::ALL {
            let text = github::annotations(&report, lang);
            assert_harmless_on_terminal(&text);
            let (doubt, crossed) = text.split_once('\n').expect("lines");
            assert!(doubt.starts_with("::warning "), "{text}");
            assert!(crossed.lines().all(|line| line.starts_with("::error ")), "{text}");
        }
        report.identity.id = name.clone();
        let text = github::outputs(&report);
        assert_harmless_on_terminal(&text);
        assert_eq!(
            outputs_as_github_reads_them(&text),
            ["verdict", "validity", "run_id", "p95", "p95_ms"],
            "{text}"
        );
    }
}

/// The names of the outputs: `name<<delimiter`, lines, `delimiter`.
fn outputs_as_github_reads_them(text: &str) -> Vec<&str> {
    let mut lines = text.lines();
    let mut names = Vec::new();
    while let Some(line) = lines.next() {
        let (name, delimiter) = line.split_once("<<").expect("a name and a delimiter");
        names.push(name);
        assert!(lines.any(|line| line == delimiter), "{text}");
    }
    names
}

#[test]
fn hostile_names_do_not_steer_the_terminal() {
    for name in all_names() {
        for layout in [summary::Layout::Compact, summary::Layout::Full, summary::Layout::Legacy] {
            let options = summary::Options { layout, ..summary::Options::default() };
            assert_harmless_on_terminal(&summary::render(&named(&name).summary, &options));
        }
    }
}

#[track_caller]
fn assert_harmless_on_terminal(text: &str) {
    let steers = |glyph: char| crate::escape::is_unseen(glyph) && glyph != '\n';
    assert!(!text.contains(steers), "{text:?}");
}
