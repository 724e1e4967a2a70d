use model::capacity::{KneeMethod, Purpose, Scale};

use super::sight::Rule;
use super::*;
use crate::laws::testing::close;

fn objective(limit: f64) -> Objective {
    Objective {
        selector: "e2e".to_owned(),
        condition: format!("p(95)<={limit}"),
        statistic: "p(95)".to_owned(),
        limit,
        scale: Scale::Milliseconds,
        line: None,
    }
}

fn question(objectives: Vec<Objective>) -> Question {
    Question {
        variant: String::new(),
        unit: LoadUnit::Vus,
        objectives,
        head_room: 0.8,
        confidence: 0.95,
        service_s: Some(11.29),
        is_cut: false,
    }
}

fn level(load: f64, throughput_per_s: f64, time_s: f64) -> Level {
    Level {
        load,
        purpose: Purpose::Asked,
        run: String::new(),
        name: format!("{load} VUs"),
        vus: Some(load),
        throughput_per_s,
        requests_per_s: None,
        time_s: Some(time_s),
        mean_s: None,
        failed_share: None,
        measured_s: None,
        grade: None,
        decides: true,
        measured: Vec::new(),
        verdict: Verdict::Unknown,
    }
}

/// The sweep of post 4, held to limits of p95 in seconds.
fn post_4(limits_s: &[f64]) -> Vec<Observed> {
    let rows = [
        (50.0, 198.0, 17.7),
        (200.0, 367.0, 33.2),
        (250.0, 417.6, 40.5),
        (300.0, 402.0, 48.5),
        (400.0, 422.2, 62.2),
        (500.0, 438.0, 76.4),
    ];
    let observed = rows.map(|(vus, per_min, p95_s)| Observed {
        level: level(vus, per_min / 60.0, p95_s),
        sights: limits_s
            .iter()
            .map(|limit_s| Sight {
                rule: Rule::Stated { limit: limit_s * 1e3, is_upper: true },
                value: Some(p95_s * 1e3),
                seconds: Vec::new(),
                weight: WEIGHT_FULL,
            })
            .collect(),
        usages: Vec::new(),
    });
    observed.to_vec()
}

#[test]
fn post_4_has_a_line_for_each_of_its_limits() {
    let asked = question(vec![objective(60_000.0), objective(30_000.0)]);
    let capacity = assess(&asked, &post_4(&[60.0, 30.0]));
    let lines: Vec<f64> = capacity
        .objectives
        .iter()
        .filter_map(|objective| objective.line)
        .map(|line| line.load.value)
        .collect();
    close(lines[0], 384.0, 0.5);
    close(lines[1], 169.0, 0.5);
    assert_eq!(capacity.binding, Some(1));
    let line = capacity.line.expect("a line");
    close(line.load.value, 169.0, 0.5);
    close(line.throughput_per_s * 60.0, 332.0, 1.0);
    assert_eq!(capacity.recommended.map(|recommended| recommended.load), Some(135.0));
    let ceiling = capacity.ceiling.expect("a ceiling");
    // The slopes of the time make it 418 to 421 a minute; the highest level did 438.
    close(ceiling.per_s.value * 60.0, 438.0, 0.5);
    close(ceiling.per_s.lower * 60.0, 418.0, 0.5);
    close(ceiling.plateau_least_per_s * 60.0, 402.0, 0.01);
    let knee = &capacity.knees[capacity.knee.expect("a knee")];
    assert_eq!(knee.method, KneeMethod::AsymptoticBounds);
    let load = knee.load.expect("a load");
    close(load.lower, 79.0, 0.5);
    close(load.upper, 106.0, 0.6);
    let words: Vec<&str> = capacity.levels.iter().map(|level| level.verdict.name()).collect();
    assert_eq!(
        words,
        ["baseline", "slo_exceeded", "slo_exceeded", "slo_exceeded", "slo_exceeded", "slo_exceeded"]
    );
    let missing: Vec<&str> = capacity.missing.iter().map(Missing::as_str).collect();
    assert_eq!(missing, ["agreement", "evidence"]);
}

#[test]
fn a_level_that_decides_nothing_is_shown_and_not_counted() {
    let mut observed = post_4(&[30.0]);
    observed[0].level.decides = false;
    observed[0].level.grade = Some(Grade::Invalid);
    let capacity = assess(&question(vec![objective(30_000.0)]), &observed);
    assert_eq!(capacity.levels[0].verdict, Verdict::Unknown);
    assert_eq!(capacity.line.expect("a line").place, Place::BelowAll);
    assert_eq!((capacity.recommended, capacity.binding), (None, Some(0)));
    assert!(capacity.missing.contains(&Missing::ValidLevels { count: 1 }), "{:?}", capacity.missing);
    assert!(capacity.missing.contains(&Missing::LoadBelow), "{:?}", capacity.missing);
}

#[test]
fn what_is_asked_of_nothing_is_not_known() {
    let capacity = assess(&question(Vec::new()), &[]);
    assert_eq!((capacity.line, capacity.recommended, capacity.ceiling), (None, None, None));
    let missing: Vec<&str> = capacity.missing.iter().map(Missing::as_str).collect();
    assert_eq!(missing, ["objectives", "levels", "evidence"]);
}

#[test]
fn loads_beyond_all_levels_leave_the_line_open() {
    let capacity = assess(&question(vec![objective(90_000.0)]), &post_4(&[90.0]));
    let line = capacity.line.expect("a line");
    assert_eq!((line.place, line.load.upper), (Place::AboveAll, f64::INFINITY));
    assert_eq!(capacity.binding, None);
    close(capacity.recommended.expect("a load").load, 400.0, 1e-9);
}
