//! Every text of the auditor in every language: complete, with its numbers, and in the field's terms.

use std::collections::BTreeSet;

use model::audit::{AuditClaim, ConnectStatistic, Law, LawClaim, ShiftVerdict, SlotUse};
use model::capacity::Verdict;
use model::{AuditRule, FigureLabel, FigureValue, Unit};

use super::*;
use crate::Lang;
use crate::testing::{Entry, check};

fn name() -> String {
    "shop".to_owned()
}

/// A value whose text is `41.5 s`.
const VALUE: FigureValue = FigureValue::number(41.5, Unit::Seconds);

/// Every kind of claim, with each of its optional numbers and without.
fn claims() -> Vec<AuditClaim> {
    let (metric, statistic, value) = (name(), "p95".to_owned(), VALUE);
    let mut claims = Vec::new();
    for flag in [false, true] {
        let half = flag.then(|| (VALUE, FigureValue::number(41.5, Unit::Percent)));
        let late_s = if flag { 41.5 } else { -41.5 };
        claims.extend([
            AuditClaim::UsageAboveLimit { resource: name(), used: VALUE, limit: VALUE, half },
            AuditClaim::SnapshotOutside { reading: name(), off_s: 41.5, is_after: flag },
            AuditClaim::WindowDiffers {
                begins_late_s: late_s,
                ends_late_s: -late_s,
                analysed_s: 41.5,
                rates_percent: 41.5,
            },
        ]);
        for is_higher_better in [false, true] {
            claims.push(AuditClaim::ChangeMismarked {
                metric: name(),
                before: VALUE,
                after: VALUE,
                is_marked_good: flag,
                is_higher_better,
            });
        }
    }
    for statistic in [ConnectStatistic::P90, ConnectStatistic::P95, ConnectStatistic::Largest] {
        claims.push(AuditClaim::LostSyns { metric: name(), statistic, value_s: 41.5, lost: 2 });
    }
    claims.extend([
        AuditClaim::ZoneMislabelled {
            event: name(),
            shown: "13:00".to_owned(),
            zone: "KST".to_owned(),
            actual_h: 41.5,
            off_h: 41.5,
        },
        AuditClaim::TooFewPoints {
            series: name(),
            points: 41.5,
            span_s: 41.5,
            step_s: 41.5,
            step_max_s: 41.5,
        },
        AuditClaim::PointsLost { kind: name(), lost: 41.5, sent: 41.5 },
        AuditClaim::PointsGained { kind: name(), gained: 41.5 },
        AuditClaim::QueueInService { queue: name(), in_service: 41.5, peak: 41.5 },
        AuditClaim::PercentileOfMeans {
            metric: name(),
            quantile: 41.5,
            source: "1-s means".to_owned(),
            presented_as: "requests".to_owned(),
        },
        AuditClaim::QuantileUnsupported { metric: name(), quantile: 41.5, needed: 59.0, independent: 41.5 },
        AuditClaim::LoadsDiffer { least_per_s: 41.5, most_per_s: 83.0 },
        AuditClaim::CriterionUnmeasured {
            statistic: statistic.clone(),
            metric: metric.clone(),
            limit: VALUE,
            measured: 2,
            criteria: 4,
        },
        AuditClaim::LimitsConflict { statistic, metric, first: VALUE, second: value },
        AuditClaim::OneResult { run: name(), in_flight: 41.5, threads: 42.0 },
        AuditClaim::FailuresLowerMedian { metric: name(), failed: 7.0, successful_s: 41.5, all_s: 3.0 },
        AuditClaim::FailuresAsZero { metric: name(), failed: 41.5 },
        AuditClaim::MaximumIsTimeout { metric: name(), timeout_s: 41.5 },
        AuditClaim::OutcomeZero { business: name(), technical: name(), technical_percent: 41.5 },
        AuditClaim::SourcesDisagree {
            fact: name(),
            low: VALUE,
            low_source: "k6".to_owned(),
            high: VALUE,
            high_source: "logs".to_owned(),
        },
        AuditClaim::ChangeWithoutBaseline { metric: name(), change: VALUE },
        AuditClaim::ValueWithoutBaseline { metric: name(), after: VALUE },
        AuditClaim::ChangeWrong {
            metric: name(),
            before: VALUE,
            after: VALUE,
            actual_percent: 3.0,
            reported_percent: 4.0,
        },
    ]);
    claims
}

/// Every kind of result of a law.
fn laws() -> Vec<LawClaim> {
    let mut laws: Vec<LawClaim> = [SlotUse::Free, SlotUse::NearlyExhausted, SlotUse::Impossible]
        .map(|used| LawClaim::BusySlots { pool: name(), busy: 69.0, slots: 200.0, used })
        .to_vec();
    for trend in ShiftVerdict::ALL {
        let (before, after, trend) = (name(), name(), *trend);
        laws.push(LawClaim::MeanShift {
            before: before.clone(),
            after: after.clone(),
            change_percent: -25.3,
            trend,
        });
        laws.push(LawClaim::ErrorShift { before, after, errors_before: 3.0, errors_after: 206.0, trend });
    }
    laws.extend([
        LawClaim::ChangesMatch { matching: 11, verifiable: 13 },
        LawClaim::InFlight { run: name(), in_flight: 296.8, threads: 300.0 },
        LawClaim::CpuDemand { version: name(), per_request_s: 0.0156, ceiling_per_s: 128.2 },
        LawClaim::Saturation { low_per_min: 418.0, high_per_min: 421.0, knee_low: 79.0, knee_high: 106.0 },
        LawClaim::Crossing { limit_s: 30.0, vus: 169.0 },
        LawClaim::Steps { steps: vec![(50.0, Verdict::Baseline), (400.0, Verdict::SloExceeded)] },
        LawClaim::Collapse {
            best_per_s: 425.0,
            best_vus: 1200.0,
            fallen_per_s: 341.0,
            fallen_vus: 4200.0,
            lost_percent: 20.0,
        },
    ]);
    laws
}

/// A text in both languages, as the rules of wording take it.
fn entry(key: &'static str, text: impl Fn(Lang) -> String) -> Entry {
    (key, text(Lang::En).leak(), text(Lang::Ko).leak())
}

#[test]
fn texts_follow_the_rules_of_wording() {
    let mut entries = Vec::new();
    for one in &claims() {
        let key = one.rule().as_str();
        entries.push(entry(key, |lang| claim(lang, one)));
        entries.push(entry(key, |lang| impact(lang, one)));
        entries.push(entry(key, |lang| remedy(lang, one)));
        entries.extend(
            (0..caveats(Lang::En, one).len()).map(|at| entry(key, |lang| caveats(lang, one)[at].clone())),
        );
    }
    for one in &laws() {
        let key = one.law().as_str();
        entries.push(entry(key, |lang| law(lang, one)));
        let count = assumptions(Lang::En, one).len();
        entries.extend((0..count).map(|at| entry(key, |lang| assumptions(lang, one)[at].clone())));
    }
    entries.extend(AuditRule::ALL.iter().map(|one| entry(one.as_str(), |lang| rule(lang, *one).to_owned())));
    check(&entries, &[]);
}

#[test]
fn every_rule_and_law_has_a_claim() {
    let found: BTreeSet<AuditRule> = claims().iter().map(AuditClaim::rule).collect();
    assert_eq!(found, AuditRule::ALL.iter().copied().collect());
    let found: BTreeSet<Law> = laws().iter().map(LawClaim::law).collect();
    assert_eq!(found, Law::ALL.iter().copied().collect());
}

/// Both languages have the same numbers.
#[test]
fn a_translation_has_the_numbers_of_the_original() {
    let numbers = |text: &str| -> BTreeSet<String> {
        let words = text.split(|glyph: char| !(glyph.is_ascii_digit() || glyph == '.'));
        let words = words.map(|word| word.trim_matches('.').to_owned());
        words.filter(|word| word.contains(|glyph: char| glyph.is_ascii_digit())).collect()
    };
    let texts = |lang: Lang| -> Vec<String> {
        let claims = claims()
            .into_iter()
            .flat_map(move |one| [claim(lang, &one), impact(lang, &one), remedy(lang, &one)]);
        claims.chain(laws().iter().map(move |one| law(lang, one)).collect::<Vec<String>>()).collect()
    };
    for (english, korean) in texts(Lang::En).iter().zip(&texts(Lang::Ko)) {
        assert_eq!(numbers(english), numbers(korean), "{english}\n{korean}");
    }
}

#[test]
fn labels_take_their_arguments() {
    for (shown, english, korean) in [
        (FigureLabel::Named(name()), "shop", "shop"),
        (FigureLabel::LimitIn(name()), "limit in shop", "한도(shop)"),
        (FigureLabel::OfferedTo(name()), "shop: offered", "shop: 가한 부하"),
        (FigureLabel::ConnectTime(ConnectStatistic::Largest), "largest connect time", "연결 시간 최댓값"),
        (FigureLabel::RunStart, "run start", "실행 시작"),
    ] {
        assert_eq!((label(Lang::En, &shown).as_str(), label(Lang::Ko, &shown).as_str()), (english, korean));
    }
}

#[test]
fn the_guide_has_every_rule() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/audit.md");
    let guide = std::fs::read_to_string(path).expect("a guide");
    for one in AuditRule::ALL {
        let row = format!("| `{}` | {} |\n", one.as_str(), rule(Lang::En, *one));
        assert!(guide.contains(&row), "docs/guide/audit.md lacks, or has in other words:\n{row}");
    }
}
