use analysis::capacity::sight::{Rule, Sight, WEIGHT_FULL};
use analysis::capacity::{Observed, Question, assess};
use model::Grade;
use model::capacity::{
    Confirmation, Estimate, Knee, KneeMethod, Level, LoadUnit, Objective, Place, Purpose, Scale, Verdict,
};

use super::*;
use crate::{Lang, Style};

fn level(load: f64, throughput_per_s: f64, p95_ms: f64) -> Observed {
    Observed {
        level: Level {
            load,
            purpose: Purpose::Asked,
            run: format!("run{load}"),
            name: String::new(),
            vus: Some(load),
            throughput_per_s,
            requests_per_s: None,
            time_s: Some(p95_ms / 1e3),
            mean_s: None,
            failed_share: Some(0.0),
            measured_s: Some(60.0),
            grade: Some(Grade::Valid),
            decides: true,
            measured: Vec::new(),
            verdict: Verdict::Unknown,
        },
        sights: vec![Sight {
            rule: Rule::Stated { limit: 30_000.0, is_upper: true },
            value: Some(p95_ms),
            seconds: Vec::new(),
            weight: WEIGHT_FULL,
        }],
        usages: Vec::new(),
    }
}

/// The sweep of post 4 with a limit of 30 s, and a name that means harm.
fn study() -> StudyReport {
    let rows =
        [(50.0, 3.3, 17_700.0), (200.0, 6.117, 33_200.0), (250.0, 6.96, 40_500.0), (300.0, 6.7, 48_500.0)];
    let observed: Vec<Observed> = rows.map(|(vus, per_s, ms)| level(vus, per_s, ms)).to_vec();
    let question = Question {
        variant: "\u{1b}[31mv1".to_owned(),
        unit: LoadUnit::Vus,
        objectives: vec![Objective {
            selector: "e2e".to_owned(),
            condition: "p(95)<=30000".to_owned(),
            statistic: "p(95)".to_owned(),
            limit: 30_000.0,
            scale: Scale::Milliseconds,
            line: None,
        }],
        head_room: 0.8,
        confidence: 0.95,
        service_s: None,
        is_cut: false,
    };
    let mut part = assess(&question, &observed);
    part.confirmation =
        Confirmation::Held { load: 169.0, for_s: 300.0, above_broke: Some(true), recovered: None };
    StudyReport {
        name: "night".to_owned(),
        kind: StudyKind::Sweep,
        script: "scan.js".to_owned(),
        load_s: 240.0,
        parts: vec![part],
    }
}

#[test]
fn a_study_is_told_in_sentences_and_rows() {
    let rendered = text(&study(), Lang::En, Style::PLAIN);
    for expect in [
        "Maximum load: 169 VUs (between the steps at 50 and 200 VUs), limited by the SLO e2e: p(95)<=30000.",
        "Confirmed by 5m0s at 169 VUs; a higher load violated an SLO.",
        "Safe load: 135 VUs, 4.9/s (0.8 × the point estimate",
        "200 VUs  requested",
        "33.2s ✗",
        "SLO exceeded",
        "--evidence",
    ] {
        assert!(rendered.contains(expect), "{expect:?} is not in\n{rendered}");
    }
    assert!(!rendered.contains('\u{1b}'), "{rendered:?}");
    let korean = text(&study(), Lang::Ko, Style::PLAIN);
    assert!(korean.contains("부하 한계: VU 169개") && korean.contains("SLO 초과"), "{korean}");
}

#[test]
fn throughput_that_a_lower_step_had_does_not_rise() {
    let caption = |throughputs: [f64; 4]| {
        let mut part = study().parts.remove(0);
        part.ceiling = None;
        part.levels.iter_mut().zip(throughputs).for_each(|(level, per_s)| level.throughput_per_s = per_s);
        sentences::throughput_caption(&part, Lang::En)
    };
    assert_eq!(caption([132.0, 590.0, 599.0, 601.0]), "Throughput is flat from 200 VUs on, at 590/s to 601/s.");
    assert_eq!(caption([132.0, 264.0, 485.0, 590.0]), "Throughput still rises at the highest step, to 590/s.");
}

#[test]
fn a_level_is_remarked_upon() {
    let part = study().parts.remove(0);
    let check = |change: fn(&mut Capacity), at: usize, expect: &str| {
        let mut part = part.clone();
        change(&mut part);
        assert_eq!(remark::remark(&part, at, Lang::En), expect);
    };
    check(|_| (), 0, "");
    check(|_| (), 1, "First step to violate e2e: p(95)<=30000, by 10.66%.");
    check(|_| (), 3, "");
    let useless = |part: &mut Capacity| {
        (part.levels[3].decides, part.levels[3].grade) = (false, Some(Grade::Degraded));
    };
    check(useless, 3, "Excluded: measurement DEGRADED.");
    let again = |part: &mut Capacity| {
        part.levels.push(part.levels[3].clone());
        (part.levels[3].decides, part.levels[3].grade) = (false, Some(Grade::Invalid));
    };
    check(again, 3, "Excluded: measurement INVALID. Measured again.");
    check(again, 4, "");
    let repeated = |part: &mut Capacity| part.levels.push(part.levels[3].clone());
    check(repeated, 4, "One of 2 measurements at this load.");
    let held = |part: &mut Capacity| part.levels[0].purpose = Purpose::Hold;
    check(held, 0, "Met the SLOs for 1m0s.");
    let above = |part: &mut Capacity| part.levels[3].purpose = Purpose::Above;
    check(above, 3, "Violated an SLO, as expected above the maximum load.");
    let unsure = |part: &mut Capacity| part.levels[0].measured[0].holds = Some(0.63);
    check(unsure, 0, "Uncertain: e2e: p(95)<=30000 is met with probability 63.00%.");
    let fell = |part: &mut Capacity| {
        (part.levels[3].verdict, part.levels[3].throughput_per_s) = (Verdict::Collapse, 3.48);
    };
    check(fell, 3, "Throughput is 50.00% below the 6.96/s of a lower load.");
}

/// Steps whose measurement is invalid were measured all the same, but do not count.
#[test]
fn a_study_of_invalid_steps_alone_is_described_truly() {
    let observed: Vec<Observed> = [(8.0, 212.0, 1.01), (20.0, 447.0, 0.664)]
        .map(|(load, per_s, ms)| {
            let mut observed = level(load, per_s, ms);
            (observed.level.grade, observed.level.decides) = (Some(Grade::Invalid), false);
            observed
        })
        .to_vec();
    let question = Question {
        variant: String::new(),
        unit: LoadUnit::Vus,
        objectives: study().parts[0].objectives.clone(),
        head_room: 0.8,
        confidence: 0.95,
        service_s: None,
        is_cut: false,
    };
    let part = assess(&question, &observed);
    let rendered = text(&StudyReport { parts: vec![part], ..study() }, Lang::En, Style::PLAIN);
    assert!(
        rendered.starts_with("No step has a measurement that counts, so the maximum load is unknown."),
        "{rendered}"
    );
    assert!(rendered.contains("Steps excluded because their measurement is invalid: 2."), "{rendered}");
    for untrue in ["No step measured", "Safe load", "Every step", "✓", "✗"] {
        assert!(!rendered.contains(untrue), "{untrue:?} is in\n{rendered}");
    }
}

/// Sentences above and below the rows agree with them.
#[test]
fn sentences_agree_with_the_rows() {
    let answer = |change: &dyn Fn(&mut Capacity)| {
        let mut part = study().parts.remove(0);
        change(&mut part);
        sentences::answer(&part, Lang::En)
    };
    let place = |part: &mut Capacity, place: Place| {
        part.line.as_mut().expect("a line").place = place;
        part.binding = (place == Place::BelowAll).then_some(0);
    };
    let keep = |part: &mut Capacity, holds: f64| {
        part.levels.iter_mut().for_each(|level| level.measured[0].holds = Some(holds));
    };
    let above = answer(&|part| {
        place(part, Place::AboveAll);
        keep(part, 0.9);
    });
    assert!(above.starts_with("Every step meets the SLOs"), "{above}");
    let above = answer(&|part| {
        place(part, Place::AboveAll);
        keep(part, 0.9);
        part.levels[0].measured[0].holds = Some(0.3);
    });
    assert!(above.starts_with("The highest step meets the SLOs"), "{above}");
    let below = answer(&|part| {
        place(part, Place::BelowAll);
        keep(part, 0.1);
    });
    assert!(below.starts_with("No step meets the SLO e2e"), "{below}");
    let below = answer(&|part| {
        place(part, Place::BelowAll);
        keep(part, 0.1);
        part.levels[3].measured[0].holds = Some(0.9);
    });
    assert!(below.contains("although a higher step meets it"), "{below}");
    let invalid = answer(&|part| {
        part.line = None;
        part.levels.iter_mut().for_each(|level| level.decides = false);
    });
    assert!(invalid.starts_with("No step has a measurement that counts"), "{invalid}");
}

#[test]
fn knees_that_look_the_same_are_one() {
    let mut part = study().parts.remove(0);
    let knee = |value: f64| Knee {
        method: KneeMethod::Power,
        load: Some(Estimate { value, lower: value, upper: value }),
        why: "",
    };
    part.knees = vec![knee(20.0), knee(20.001)];
    assert_eq!(sentences::knee_caption(&part, Lang::En), "2 of 2 methods find a knee, at 20 VUs.");
    part.knees.push(knee(30.0));
    assert_eq!(
        sentences::knee_caption(&part, Lang::En),
        "3 of 3 methods find a knee, between 20 and 30 VUs."
    );
}

#[test]
fn few_failures_are_not_none() {
    let check = |share: f64, expect: &str| assert_eq!(sentences::share(share), expect, "{share}");
    check(0.0, "0.00%");
    check(0.000_002, "< 0.01%");
    check(0.546, "54.60%");
    check(1.0, "100.00%");
}

#[test]
fn rows_that_may_be_chance_are_marked() {
    let mut study = study();
    study.parts[0].levels[0].measured[0].holds = Some(0.6);
    study.parts[0].levels[1].measured[0].holds = Some(0.3);
    study.parts[0].levels[2].measured[0].holds = None;
    let rendered = text(&study, Lang::En, Style::PLAIN);
    for expect in ["17.7s ✓?", "33.2s ✗?", "40.5s ?", "48.5s ✗ ", "may be chance", "does not count"] {
        assert!(rendered.contains(expect), "{expect:?} is not in\n{rendered}");
    }
}

#[test]
fn programs_read_the_same() {
    let text = document(&study(), Lang::En);
    let part = &text.parts[0];
    assert_eq!((part.verdict, part.unit, part.binding), ("confirmed", "vus", Some(0)));
    let line = part.line.as_ref().expect("a line");
    assert_eq!((line.load.text.as_str(), line.method, line.place), ("169 VUs", "isotonic", "inside"));
    assert_eq!(part.levels[1].objectives[0].against.text, "+10.7 %");
    assert_eq!(part.levels[1].gain.text, "+85.4 %");
    let text = json(&study());
    assert!(text.ends_with("}\n") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn a_level_is_told_when_it_is_over() {
    let observed = level(40.0, 39.6, 31_240.0);
    let study = study();
    let line = LevelLine {
        level: &Level { purpose: Purpose::Ramp, ..observed.level.clone() },
        sights: &observed.sights,
        objectives: &study.parts[0].objectives,
        unit: LoadUnit::PerSecond,
        change: "",
        left_s: 364.2,
    };
    assert_eq!(level_line(&line), "ramp 40/s: 39.6/s done, e2e p(95) 31.24s ✗; about 6m4s left");
    assert_eq!(level_name(3.0, LoadUnit::Vus, "REPLICAS=2"), "3 VUs REPLICAS=2");
}

#[test]
fn what_nobody_knows_is_said() {
    let nothing = StudyReport { parts: vec![Capacity::default()], ..study() };
    let rendered = text(&nothing, Lang::En, Style::PLAIN);
    assert!(rendered.contains("No SLOs are defined"), "{rendered}");
    assert_eq!(document(&nothing, Lang::En).parts[0].verdict, "unknown");
    let kinds = [StudyKind::Sweep, StudyKind::Capacity, StudyKind::Table];
    assert!(kinds.into_iter().all(|kind| StudyKind::named(kind.as_str()) == kind));
}

/// The seconds of a level: it does not count, or so many of 40 requests a second were too slow, of which 2 may be.
const SEEN: [Option<f64>; 5] = [None, Some(0.0), Some(1.8), Some(2.2), Some(20.0)];

/// Every study of three levels that saw one of these.
fn small_studies() -> impl Iterator<Item = StudyReport> {
    let triples =
        SEEN.into_iter().flat_map(|a| SEEN.into_iter().flat_map(move |b| SEEN.map(move |c| [a, b, c])));
    triples.map(|seen| {
        let observed: Vec<Observed> = [10.0, 20.0, 40.0]
            .into_iter()
            .zip(seen)
            .map(|(load, slow)| {
                let mut one = level(load, load, 42.0);
                one.level.decides = slow.is_some();
                one.level.grade = Some(if slow.is_some() { Grade::Valid } else { Grade::Invalid });
                one.sights[0].rule = Rule::Share { allowed: 0.05 };
                one.sights[0].seconds = vec![(slow.unwrap_or(0.0), 40.0); 10];
                one
            })
            .collect();
        let question = Question {
            variant: String::new(),
            unit: LoadUnit::PerSecond,
            objectives: study().parts[0].objectives.clone(),
            head_room: 0.8,
            confidence: 0.95,
            service_s: None,
            is_cut: false,
        };
        StudyReport { parts: vec![assess(&question, &observed)], ..study() }
    })
}

/// The first sentence, the rows and the limitations never contradict each other.
#[test]
fn no_small_study_contradicts_itself() {
    for report in small_studies() {
        let shown = text(&report, Lang::En, Style::PLAIN);
        let part = &report.parts[0];
        let rows: Vec<&str> = shown.lines().filter(|line| line.contains("requested")).collect();
        let has = |mark: &str| rows.iter().any(|row| row.contains(mark));
        let says = |text: &str| shown.contains(text);
        assert!(!(says("Every step meets") && has("✗")), "{shown}");
        assert!(!(says("No step meets the SLO ") && has("✓")), "{shown}");
        assert!(!(says("No step has a measurement") && (has("✓") || has("✗"))), "{shown}");
        assert!(has("✓") || !says("Safe load"), "{shown}");
        assert_eq!(
            part.levels.iter().filter(|level| !level.decides).count(),
            rows.iter().filter(|row| row.contains(" ?  ")).count(),
            "{shown}"
        );
        if let Some((_, rest)) = shown.split_once("find a knee, between ") {
            let (least, most) = rest.split_once(" and ").expect("two loads");
            assert!(!most.starts_with(least), "{shown}");
        }
        for lang in Lang::ALL {
            assert!(!document(&report, lang).parts[0].sentence.is_empty());
        }
    }
}
