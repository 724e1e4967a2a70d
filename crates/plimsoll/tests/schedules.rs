//! Compares every executor with the times at which k6 started iterations and held VUs (`conformance/schedules.json`).

use std::path::Path;
use std::time::Duration;

use model::Instant;
use model::plan::{Executor, Scenario, ScenarioId, Segment, Stage};
use schedule::{Lane, Next, Quota};
use serde_json::Value;

/// Maximum number of steps of a scenario before it counts as endless.
const STEPS_MAX: usize = 100_000;
/// Tolerance for early starts, ms, since both sides round down to milliseconds; late starts are k6's own delay.
const EARLY_MS: f64 = 1.0;
const LATE_MS: f64 = 6.0;
/// Interval at which a held VU logs, ms; its last line may precede its end by that much.
const HOLD_STEP_MS: f64 = 20.0;
/// VUs that begin within this time, ms, are distinguished by their end, as in the recording.
const TOGETHER_MS: f64 = 50.0;

#[test]
fn executors_start_what_k6_started() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let recording = read(&folder.join("schedules.json"));
    let cases = recording["cases"].as_object().expect("the recording has cases");
    let meant = meant(&folder.join("differences.json"));
    let (mut failures, mut vanished) = (Vec::new(), meant.clone());
    vanished.retain(|name| name != "segments");
    for (name, case) in cases {
        let (scenario, segment) = (scenario(&case["scenario"]), segment(case));
        let outcome = if case.get("starts_ms").is_some() {
            check_starts(case, &scenario, &segment)
        } else if case.get("held_ms").is_some() {
            check_holds(case, &scenario, &segment)
        } else {
            check_quota(case, &scenario, &segment)
        };
        match outcome {
            Ok(()) => {}
            Err(_) if meant.contains(name) => vanished.retain(|other| other != name),
            Err(error) => failures.push(format!("{name}: {error}")),
        }
    }
    assert!(cases.len() > 50, "only {} cases were recorded", cases.len());
    assert!(failures.is_empty(), "{} of {} differ\n{}", failures.len(), cases.len(), failures.join("\n"));
    assert!(vanished.is_empty(), "{vanished:?} do not differ any more: remove them from differences.json");
}

#[test]
fn segments_deal_iterations_as_k6_deals_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let meant = meant(&folder.join("differences.json"));
    let recording = read(&folder.join("schedules.json"));
    let segments = list(&recording["segments"]);
    assert!(segments.len() > 10, "only {} sequences were recorded", segments.len());
    let mut differing = Vec::new();
    for entry in segments {
        let (k6, ours) = (numbers(&entry["owners"]), owners(entry));
        if k6 != ours {
            differing.push(format!("{}: k6 {k6:?}, ours {ours:?}", entry["sequence"]));
        }
    }
    let expected = meant.iter().any(|name| name == "segments");
    assert_eq!(!differing.is_empty(), expected, "{}", differing.join("\n"));
}

/// Returns the segment that each of the first iterations belongs to.
fn owners(entry: &Value) -> Vec<f64> {
    let sequence = entry["sequence"].as_str().expect("a sequence");
    let bounds: Vec<(u64, u64)> = sequence.split(',').map(fraction).collect();
    let whole = numbers(&entry["weights"]).iter().sum::<f64>() as u64;
    let mut owners = vec![f64::NAN; whole as usize];
    for (part, pair) in bounds.windows(2).enumerate() {
        let segment = Segment { from: pair[0], to: pair[1], sequence: bounds.clone(), ..Segment::default() };
        let executor =
            Executor::SharedIterations { vus: whole, iterations: whole, max_duration: Duration::MAX };
        let stripe = schedule::iteration_stripe(&executor, &segment);
        for local in 0..stripe.local_count(whole) {
            owners[stripe.global_index(local) as usize] = part as f64;
        }
    }
    owners
}

/// Returns the cases with intentional differences.
fn meant(path: &Path) -> Vec<String> {
    let all = read(path);
    let entries = list(&all["schedules"]).iter();
    entries.map(|entry| entry["case"].as_str().expect("a difference names its case").to_owned()).collect()
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn check_starts(case: &Value, scenario: &Scenario, segment: &Segment) -> Result<(), String> {
    let counts = numbers(&case["counts"]);
    let (starts, iterations) = (numbers(&case["starts_ms"]), numbers(&case["iterations_in_test"]));
    let arrivals: Vec<(f64, f64)> = steps(scenario, segment)
        .into_iter()
        .filter_map(|step| match step {
            Next::Arrival(arrival) => Some((ms(arrival.due), arrival.iteration as f64)),
            _ => None,
        })
        .collect();
    if !counts.contains(&(arrivals.len() as f64)) {
        return Err(format!("{} arrivals, k6 started {counts:?}", arrivals.len()));
    }
    for (at, (due_ms, iteration)) in arrivals.iter().take(starts.len()).enumerate() {
        if starts[at] < due_ms - EARLY_MS || starts[at] > due_ms + LATE_MS {
            return Err(format!("start {at} is due at {due_ms:.1} ms, k6 started it at {} ms", starts[at]));
        }
        if *iteration != iterations[at] {
            return Err(format!("start {at} is iteration {iteration} of the test, in k6 {}", iterations[at]));
        }
    }
    Ok(())
}

fn check_holds(case: &Value, scenario: &Scenario, segment: &Segment) -> Result<(), String> {
    let recorded: Vec<Vec<f64>> = list(&case["held_ms"]).iter().map(numbers).collect();
    let spans = held(&steps(scenario, segment));
    if recorded.len() != spans.len() {
        return Err(format!("holds {spans:?}, k6 {recorded:?}"));
    }
    for (span, seen) in spans.iter().zip(&recorded) {
        let begins = seen[0] >= span.0 - EARLY_MS && seen[0] <= span.0 + LATE_MS;
        let ends = seen[1] >= span.1 - 2.0 * HOLD_STEP_MS && seen[1] <= span.1 + LATE_MS;
        if !begins || !ends {
            return Err(format!(
                "holds a VU from {} to {} ms, k6 was seen to from {} to {}",
                span.0, span.1, seen[0], seen[1]
            ));
        }
    }
    Ok(())
}

fn check_quota(case: &Value, scenario: &Scenario, segment: &Segment) -> Result<(), String> {
    let stripe = schedule::iteration_stripe(&scenario.executor, segment);
    let vus = held(&steps(scenario, segment)).len() as u64;
    let total = match schedule::quota(&scenario.executor, segment) {
        Quota::Shared(iterations) => iterations,
        Quota::PerVu(iterations) => iterations * vus,
        Quota::Unlimited => return Err("has no quota".to_owned()),
    };
    let ours: Vec<f64> = (0..total).map(|local| stripe.global_index(local) as f64).collect();
    let k6 = numbers(&case["iterations_in_test"]);
    if ours == k6 { Ok(()) } else { Err(format!("runs {ours:?}, k6 {k6:?}")) }
}

/// Returns all steps of a schedule, with a clock that jumps to the next one.
fn steps(scenario: &Scenario, segment: &Segment) -> Vec<Next> {
    let mut schedule = schedule::schedule(ScenarioId(0), scenario, segment, Lane::ONLY, Instant::ZERO);
    let mut now = Instant::ZERO;
    let mut steps = Vec::new();
    while steps.len() < STEPS_MAX {
        let next = schedule.next(now);
        if let Next::Wait(until) = next {
            now = until;
            continue;
        }
        steps.push(next);
        if matches!(next, Next::Done { .. }) {
            return steps;
        }
    }
    panic!("the schedule does not end");
}

/// Returns when each VU starts and ends its loop, in ms.
fn held(steps: &[Next]) -> Vec<(f64, f64)> {
    let mut open: Vec<f64> = Vec::new();
    let mut spans = Vec::new();
    for step in steps {
        let (at, target) = match *step {
            Next::Vus { at, target } => (ms(at), target as usize),
            Next::Done { at } => (ms(at), 0),
            _ => continue,
        };
        while open.len() > target {
            spans.extend(open.pop().map(|since| (since, at)));
        }
        open.resize(target, at);
    }
    // A VU that begins at the very end never logs.
    spans.retain(|(begin, end)| begin < end);
    spans.sort_by(|a, b| {
        let key = |span: &(f64, f64)| ((span.0 / TOGETHER_MS).round(), span.1);
        key(a).partial_cmp(&key(b)).expect("times are numbers")
    });
    spans
}

fn scenario(json: &Value) -> Scenario {
    let number = |key: &str| json[key].as_u64().unwrap_or_default();
    let time = |key: &str| json[key].as_str().map_or(Duration::from_secs(600), duration);
    let stages = || {
        let stage = |stage: &Value| Stage {
            duration: duration(stage["duration"].as_str().expect("a stage has a duration")),
            target: stage["target"].as_u64().expect("a stage has a target"),
        };
        list(&json["stages"]).iter().map(stage).collect::<Vec<_>>()
    };
    let (time_unit, pre_allocated_vus) = (time("timeUnit"), number("preAllocatedVUs"));
    let executor = match json["executor"].as_str().expect("a scenario has an executor") {
        "constant-arrival-rate" => Executor::ConstantArrivalRate {
            rate: number("rate"),
            time_unit,
            duration: time("duration"),
            pre_allocated_vus,
            max_vus: pre_allocated_vus,
        },
        "ramping-arrival-rate" => Executor::RampingArrivalRate {
            start_rate: number("startRate"),
            time_unit,
            stages: stages(),
            pre_allocated_vus,
            max_vus: pre_allocated_vus,
        },
        "ramping-vus" => Executor::RampingVus {
            start_vus: number("startVUs"),
            stages: stages(),
            graceful_ramp_down: Duration::ZERO,
        },
        "constant-vus" => Executor::ConstantVus { vus: number("vus"), duration: time("duration") },
        "shared-iterations" => Executor::SharedIterations {
            vus: number("vus"),
            iterations: number("iterations"),
            max_duration: time("maxDuration"),
        },
        "per-vu-iterations" => Executor::PerVuIterations {
            vus: number("vus"),
            iterations: number("iterations"),
            max_duration: time("maxDuration"),
        },
        other => panic!("{other} was recorded, but is not compared"),
    };
    Scenario {
        name: "probe".into(),
        exec: "default".into(),
        executor,
        start_time: Duration::ZERO,
        graceful_stop: Duration::ZERO,
        env: Default::default(),
        tags: Default::default(),
    }
}

fn segment(case: &Value) -> Segment {
    let Some(text) = case["segment"].as_str() else { return Segment::default() };
    let (from, to) = text.split_once(':').expect("a segment has two bounds");
    let sequence = case["sequence"].as_str().expect("a segment has a sequence");
    Segment {
        from: fraction(from),
        to: fraction(to),
        sequence: sequence.split(',').map(fraction).collect(),
        ..Segment::default()
    }
}

fn fraction(text: &str) -> (u64, u64) {
    let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
    let number = |text: &str| text.parse().expect("a bound is a fraction");
    (number(numerator), number(denominator))
}

/// Parses `500ms`, `3s` or `1m`, the only formats in the recording.
fn duration(text: &str) -> Duration {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: u64 = digits.parse().expect("a duration begins with a number");
    match &text[digits.len()..] {
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number),
        "m" => Duration::from_secs(60 * number),
        unit => panic!("{unit} is no unit of the recording"),
    }
}

fn ms(instant: Instant) -> f64 {
    instant.ms_since(Instant::ZERO)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().filter_map(Value::as_f64).collect()
}
