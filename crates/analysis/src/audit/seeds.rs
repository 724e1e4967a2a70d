//! Tables of published load tests: the errors of each are found, its derived figures are right, and corrected tables give no finding.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use model::FigureLabel;
use tables::Format;
use words::Lang;
use words::audit::{claim, impact, label};

use super::{Audit, Facts, RULES, Remarks, audit, gather};
use crate::laws::testing::{close, figure};

const SEEDS: &[&str] = &["001", "002", "003", "004"];

/// The audit of all tables of a folder, each of which is parsed to the last cell.
#[track_caller]
fn audited(folder: &str) -> Audit {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/seeds").join(folder);
    let (mut facts, mut remarks) = (Facts::default(), Remarks::default());
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    for path in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "csv")) {
        let name = path.file_name().expect("a file").to_string_lossy();
        let read = tables::read(&name, &std::fs::read_to_string(path).expect("a text"), Format::Csv)
            .expect("a table");
        assert_eq!(read.cost, tables::Cost::default(), "{name}");
        gather(&read.tables, &mut facts, &mut remarks);
    }
    assert_eq!(remarks, Remarks::default());
    assert_ne!(facts, Facts::default());
    audit(&facts)
}

fn rules(audit: &Audit) -> BTreeSet<&'static str> {
    audit.findings.iter().map(|finding| finding.rule().as_str()).collect()
}

#[track_caller]
fn check(seed: &str, expect: &[&str]) {
    let audit = audited(seed);
    assert_eq!(rules(&audit), expect.iter().copied().collect(), "{seed}: {:#?}", audit.findings);
}

#[test]
fn every_mistake_is_found() {
    check("001", &["lost-points", "unequal-load", "unmeasured-criterion"]);
    check("002", &["before-missing", "censored-timeout", "failed-as-fast", "syn-retransmission"]);
    check("003", &["change-arithmetic", "closed-loop", "percentile-of-means", "unsupported-quantile"]);
    check(
        "004",
        &[
            "before-missing",
            "business-zero",
            "conflicting-slos",
            "queue-in-service",
            "snapshot-outside",
            "sources-disagree",
            "time-zone",
            "too-few-points",
            "usage-above-limit",
            "wrong-window",
        ],
    );
}

#[test]
fn every_rule_has_its_case() {
    let found: BTreeSet<&str> = SEEDS.iter().flat_map(|seed| rules(&audited(seed))).collect();
    let all: BTreeSet<&str> = RULES.iter().map(|rule| rule.id.as_str()).collect();
    assert_eq!(found, all);
}

#[test]
fn nothing_is_found_where_it_is_mended() {
    for seed in SEEDS {
        let audit = audited(&format!("{seed}/clean"));
        assert_eq!(audit.findings, [], "{seed}");
    }
}

/// The text of all findings of a rule, with their figures.
fn text_of(audit: &Audit, rule: &str) -> String {
    let findings = audit.findings.iter().filter(|finding| finding.rule().as_str() == rule);
    let lines = findings.map(|finding| {
        let figures: Vec<String> = finding
            .evidence
            .iter()
            .map(|figure| format!("{}: {}", label(Lang::En, &figure.label), figure.value))
            .collect();
        let (claim, impact) = (claim(Lang::En, &finding.claim), impact(Lang::En, &finding.claim));
        format!("{claim} | {} | {impact}", figures.join(" | "))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The sentences of a law.
fn derived(audit: &Audit, law: &str) -> Vec<String> {
    let derived = audit.derived.iter().filter(|derived| derived.law().as_str() == law);
    derived.map(|derived| words::audit::law(Lang::En, &derived.claim)).collect()
}

#[track_caller]
fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is in\n{text}");
    }
}

#[test]
fn post_1_by_the_law_of_utilisation() {
    let audit = audited("001");
    let said = derived(&audit, "demand");
    assert_eq!(said.len(), 3);
    for (said, demand, ceiling) in
        [(&said[0], "15.6 ms", "128.2/s"), (&said[1], "6.133 ms", "326.1/s"), (&said[2], "4.5 ms", "444.4/s")]
    {
        holds(said, &[demand, ceiling]);
    }
    holds(&text_of(&audit, "unequal-load"), &["100/s and 400/s, a factor of 4"]);
}

#[test]
fn post_2_collapses_and_counts_failures_as_fast() {
    let audit = audited("002");
    holds(&derived(&audit, "collapse")[0], &["from 425/s at 1200 VUs to 341/s at 4200 VUs"]);
    holds(
        &text_of(&audit, "failed-as-fast"),
        &["5852 failed requests lower the median from 99.12 ms to 71.3 ms"],
    );
    holds(
        &text_of(&audit, "syn-retransmission"),
        &[
            "largest of 3.04 s matches 2 lost and retransmitted SYNs",
            "p95 of 1.03 s matches 1 lost and retransmitted SYN",
        ],
    );
    holds(&text_of(&audit, "censored-timeout"), &["timeout of 60 s"]);
}

#[test]
fn post_3_follows_in_24_of_26_and_is_one_number() {
    let audit = audited("003");
    assert_eq!(
        derived(&audit, "change"),
        [
            "13 of 13 reported changes match their own figures",
            "11 of 13 reported changes match their own figures"
        ]
    );
    holds(&text_of(&audit, "change-arithmetic"), &["50.48 %, not of 50.27 %", "50.33 %, not of 49.01 %"]);
    let little = derived(&audit, "little");
    for (said, busy) in little.iter().zip(["296.8", "291.4", "288.3"]) {
        holds(said, &[busy, "of 300"]);
    }
    assert_eq!(little.len(), 3);
    holds(&text_of(&audit, "closed-loop"), &["10.16 ms", "20.87 ms", "26.41 ms"]);
    let shift = derived(&audit, "shift");
    holds(&shift[0], &["1 pod → 2 pods", "-25.3 %: improved"]);
    holds(&shift[1], &["2 pods → 3 pods", "-8.3 %: inconclusive"]);
    let errors = derived(&audit, "errors");
    holds(&errors[0], &["0 → 3: inconclusive"]);
    holds(&errors[1], &["3 → 206: regressed"]);
}

#[test]
fn post_4_has_a_ceiling_a_knee_and_free_slots() {
    let audit = audited("004");
    let figure = |label: &FigureLabel| figure(&audit.derived, label);
    close(figure(&FigureLabel::CeilingFromBelow), 418.0, 0.5);
    // The slope beyond the knee makes it 421; the highest row did 438.
    close(figure(&FigureLabel::CeilingFromAbove), 438.0, 0.5);
    close(figure(&FigureLabel::MinimumPlateauThroughput), 402.0, 0.01);
    close(figure(&FigureLabel::MaximumPlateauThroughput), 438.0, 0.01);
    close(figure(&FigureLabel::KneeFrom), 79.0, 0.5);
    close(figure(&FigureLabel::KneeTo), 106.0, 0.6);
    close(figure(&FigureLabel::BusySlots), 69.0, 0.5);
    close(figure(&FigureLabel::TimeOutsideService), 47.9, 0.05);
    close(figure(&FigureLabel::ShareOutsideService), 80.9, 0.05);
    assert_eq!(
        derived(&audit, "slo-crossing"),
        ["p95 reaches 30 s at 169 VUs", "p95 reaches 60 s at 384 VUs"]
    );
    assert_eq!(
        derived(&audit, "ladder"),
        [
            "by VUs: 50 baseline, 200 past the knee, 250 past the knee, 300 saturated, 400 SLO exceeded, 500 SLO exceeded"
        ]
    );
    for (vus, power) in [(50, 11.2), (200, 11.1), (250, 10.3), (300, 8.3), (400, 6.8), (500, 5.7)] {
        close(figure(&FigureLabel::PowerAt(f64::from(vus))), power, 0.05);
    }
    let slots = derived(&audit, "slots");
    holds(&slots[0], &["69 of 200", "refuted"]);
    holds(&slots[1], &["69 of 400", "refuted"]);
}

#[test]
fn post_4_looked_at_another_window_and_counted_twice() {
    let audit = audited("004");
    holds(
        &text_of(&audit, "wrong-window"),
        &["03:56:31.7 UTC", "04:00:09.6 UTC", "38.3 s after its start", "63.4", "89.6"],
    );
    holds(
        &text_of(&audit, "usage-above-limit"),
        &[
            "1.72 cores",
            "usage of 1.84 cores exceeds its limit of 1 cores, which is impossible",
            "0.86 cores",
            "0.92 cores",
        ],
    );
    holds(&text_of(&audit, "time-zone"), &["labelled KST but is in UTC+0"]);
    holds(&text_of(&audit, "queue-in-service"), &["up to 352 of its 352 messages were in service"]);
    holds(&text_of(&audit, "conflicting-slos"), &["two conflicting limits, 30 s and 60 s"]);
    holds(&text_of(&audit, "business-zero"), &["reward rate is 0 % while success rate is 100 %"]);
}
