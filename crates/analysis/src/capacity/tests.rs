use model::capacity::{KneeMethod, Purpose, Scale};

use super::sight::{Rule, WEIGHT_DEGRADED};
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

/// A shop that takes 42 ms up to 20 requests a second, and fails at 60.
fn rates(levels: &[(f64, f64, bool)]) -> Vec<Observed> {
    let observed = |&(load, mean_s, decides): &(f64, f64, bool)| {
        let share = if load > 50.0 { 1.0 } else { 0.0 };
        let rule = Rule::Share { allowed: 0.05 };
        let (seconds, weight) = (vec![(load * share, load); 20], WEIGHT_FULL);
        let level = Level {
            vus: Some(load * mean_s),
            mean_s: Some(mean_s),
            grade: Some(Grade::Valid),
            decides,
            ..level(load, load, mean_s)
        };
        Observed {
            level,
            sights: vec![Sight { rule, value: Some(mean_s * 1e3), seconds, weight }],
            usages: Vec::new(),
        }
    };
    levels.iter().map(observed).collect()
}

#[test]
fn the_line_is_not_below_a_level_that_passes_at_42_of_800_ms() {
    let asked = Question { unit: LoadUnit::PerSecond, ..question(vec![objective(800.0)]) };
    let levels = [(15.0, 0.042, true), (20.0, 0.042, true), (60.0, 2.0, true)];
    let capacity = assess(&asked, &rates(&levels));
    let line = capacity.line.expect("a line");
    assert!((20.0..=60.0).contains(&line.load.value), "{line:?}");
    assert!(line.load.lower <= line.load.value && line.load.value <= line.load.upper, "{line:?}");
}

/// 16 a second of 42 ms keep 0.67 VUs busy on average, and more than one at times; levels beyond the line say nothing of that.
#[test]
fn vus_come_of_the_concurrency_that_was_measured() {
    let asked = Question { unit: LoadUnit::PerSecond, ..question(vec![objective(800.0)]) };
    let levels = [(15.0, 0.042, true), (20.0, 0.042, true), (60.0, 30.0, true)];
    let safe = assess(&asked, &rates(&levels)).recommended.expect("a load");
    let busy = safe.load * 0.042;
    assert_eq!(safe.vus, Some((busy + 3.0 * busy.sqrt()).ceil()), "{safe:?}");
    assert!(safe.vus >= Some(3.0), "{safe:?}");
}

/// A row that does not decide says neither that its objectives hold, nor that they do not.
#[test]
fn rows_that_do_not_count_pass_and_fail_nothing() {
    let asked = Question { unit: LoadUnit::PerSecond, ..question(vec![objective(800.0)]) };
    let excluded = [(15.0, 0.042, false), (20.0, 0.042, false), (60.0, 2.0, true)];
    let capacity = assess(&asked, &rates(&excluded));
    assert_eq!(capacity.line.map(|line| line.place), Some(Place::BelowAll));
    let kept: Vec<Option<bool>> = capacity.levels.iter().map(|level| level.measured[0].is_kept()).collect();
    assert_eq!(kept, [None, None, Some(false)]);
    let none = assess(&asked, &rates(&[(15.0, 0.042, false)]));
    assert_eq!((none.line, none.recommended), (None, None));
    let missing: Vec<&str> = none.missing.iter().map(Missing::as_str).collect();
    assert_eq!(missing, ["levels", "valid_levels", "evidence"]);
}

/// A level whose fault does not touch its objective moves the line less than a valid one, and more than none.
#[test]
fn degraded_levels_count_with_less_weight() {
    let asked = Question { unit: LoadUnit::PerSecond, ..question(vec![objective(800.0)]) };
    let mut observed = rates(&[(15.0, 0.042, true), (20.0, 0.042, true), (60.0, 2.0, true)]);
    observed[1].level.grade = Some(Grade::Degraded);
    observed[1].sights[0].weight = WEIGHT_DEGRADED;
    let capacity = assess(&asked, &observed);
    assert!(capacity.line.expect("a line").load.value >= 20.0, "{:?}", capacity.line);
    assert!(
        !capacity.levels[1].measured[0].is_sure() && capacity.levels[1].measured[0].is_kept() == Some(true)
    );
    assert!(capacity.missing.contains(&Missing::FullWeight { count: 1 }), "{:?}", capacity.missing);
}
