//! Whether a diagnosis names the bottleneck of systems made of other projects' programs, which `gallery/STACK/stack.toml` describes.
//!
//! **Leave one stack out.** A result has the commit of the detectors. The first result of a case stays in its file for good; it counts
//! for the first-run figures if the detectors were older than the stack. So a new stack is measured before any detector changes.
//!
//! **The plant is checked without the diagnosis.** Each fault has a remedy, which is measured under the same load. A fault limits if
//! that changes throughput or response time by more than [`EFFECT_MIN`].

use std::collections::BTreeMap;

use model::SystemClock;
use serde_json::{Value, json};

use crate::evaluate::gallery::provenance;
use crate::evaluate::gallery::stack::{self, Case, Stack};
use crate::evaluate::gallery::system::{self, System};
use crate::evaluate::page::{Bar, Table};
use crate::evaluate::{keep, result_path};

/// A case takes about this long: two runs with a start of the system each, and the waits for the last spans.
pub(super) const CASE_S: f64 = 80.0;

/// The least ratio of throughput or response time that shows that a fault limits.
const EFFECT_MIN: f64 = 1.2;

const CASES_MIN: usize = 40;
const STACKS_MIN: usize = 6;
const CONTROLS_MIN: usize = 24;
const FIRST_TOP_1_MIN: f64 = 0.7;
const FIRST_TOP_3_MIN: f64 = 0.85;
const TOP_1_MIN: f64 = 0.9;
const TOP_3_MIN: f64 = 0.97;
const FALSE_LIMITED_MAX: f64 = 1.0 / 24.0;
const INSIDE_MIN: f64 = 0.75;
const ERROR_MAX: f64 = 0.15;

/// The mark of a result whose run was diagnosed again with later detectors.
const REPLAYED: &str = "replayed";

/// The evidence that is left of a run, and the kinds that are left out for it.
const REDUCED: [(&str, &[&str]); 3] =
    [("traces", &["metrics"]), ("metrics", &["traces"]), ("nothing", &["traces", "metrics"])];

/// The case with less evidence.
const BY_SOURCES: &str = "gallery-sources";

pub(super) fn parts() -> anyhow::Result<Vec<String>> {
    let stacks = stack::all()?;
    let names = |stack: &Stack| -> Vec<String> {
        stack.case.iter().map(|case| format!("{}-{}", stack.name, case.name)).collect()
    };
    Ok(stacks.iter().flat_map(names).collect())
}

/// The parts whose runs are kept, or whose results are there.
pub(super) fn parts_by_sources() -> anyhow::Result<Vec<String>> {
    let mut known = parts()?;
    let runs = known.iter().map(|part| system::kept_run(part)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut runs = runs.into_iter();
    known
        .retain(|part| runs.next().is_some_and(|run| run.exists()) || result_path(BY_SOURCES, part).exists());
    Ok(known)
}

/// One result; the first result of the part is kept beside it.
pub(super) fn measure(part: &str) -> anyhow::Result<Value> {
    let (stack, case) = stack::find(part)?;
    let now = measured(&stack, &case)?;
    let before = std::fs::read_to_string(result_path("gallery", part)).ok();
    let kept: Option<Value> = before.and_then(|text| serde_json::from_str(&text).ok());
    let first = kept.map(|kept| kept["first"].clone()).filter(Value::is_object);
    Ok(described(&stack, &case, json!({ "first": first.unwrap_or_else(|| now.clone()), "now": now })))
}

/// Diagnoses the kept runs again with the present program: of these parts, or of all. Returns their number.
///
/// The evidence stays as it was collected, so a change of a detector shows within seconds and on the same run. Such a result is marked:
/// detectors that were changed because of a run are not measured by it.
pub(in crate::evaluate) fn replay(wanted: &[String]) -> anyhow::Result<usize> {
    let mut replayed = 0;
    for part in parts()? {
        let (run, result) = (system::kept_run(&part)?, result_path("gallery", &part));
        let is_wanted = wanted.is_empty() || wanted.contains(&part);
        if !is_wanted || !run.exists() || !result.exists() {
            continue;
        }
        let mut value = system::read_json(&result)?;
        let (stack, _) = stack::find(&part)?;
        value["now"]["provenance"] = provenance::of_stack(&stack.name)?;
        value["now"]["diagnosis"] = brief(&system::diagnosis(&run)?);
        value["now"][REPLAYED] = json!(true);
        keep(&result, &value)?;
        replayed += 1;
    }
    Ok(replayed)
}

/// Diagnoses the kept run of a part from traces alone, from metrics alone, and from what the load generator measured.
pub(super) fn measure_with_sources(part: &str) -> anyhow::Result<Value> {
    let (stack, case) = stack::find(part)?;
    let run = system::kept_run(part)?;
    let mut result = json!({ "provenance": provenance::of_stack(&stack.name)? });
    for (left, without) in REDUCED {
        result[left] = json!({ "diagnosis": brief(&system::diagnosis_without(&run, without)?) });
    }
    Ok(described(&stack, &case, result))
}

fn described(stack: &Stack, case: &Case, mut result: Value) -> Value {
    result["stack"] = json!(stack.name);
    result["about"] = json!(stack.about);
    result["case"] = json!(case.name);
    result["is_other_remedy"] = json!(case.is_other_remedy);
    result["truth"] = json!({
        "outcomes": case.truth.outcomes,
        "labels": case.truth.labels,
        "places": case.truth.places,
    });
    result
}

fn measured(stack: &Stack, case: &Case) -> anyhow::Result<Value> {
    let began = SystemClock::now();
    let (load, setting) = (stack.load(case), case.setting());
    let provenance = provenance::of_stack(&stack.name)?;
    let mut system = System::start(stack, &setting)?;
    let (found, summary) = system.run(&load, case.may_fail)?;
    system.keep_run(&format!("{}-{}", stack.name, case.name))?;
    drop(system);
    let before = figures(&found, &summary);
    let after = match &case.remedy {
        Some(remedy) => {
            let mut system = System::start(stack, &setting.changed(remedy))?;
            let (found, summary) = system.run(&load, case.may_fail)?;
            figures(&found, &summary)
        }
        None => Value::Null,
    };
    Ok(json!({
        "provenance": provenance,
        "users": load.users(),
        "before": before,
        "after": after,
        "diagnosis": brief(&found),
        "took_s": SystemClock::now().since(began).as_secs_f64(),
    }))
}

/// The figures of a run that the load generator measured.
fn figures(found: &Value, summary: &Value) -> Value {
    let run = &found["runs"][0];
    let metrics = &summary["metrics"];
    json!({
        "validity": run["grade"],
        "per_s": run["throughput"]["value"],
        "mean_ms": metrics["http_req_duration"]["avg"],
        "p95_ms": metrics["http_req_duration"]["p(95)"],
        "failed": metrics["http_req_failed"]["value"],
    })
}

/// The counted fields of a diagnosis.
fn brief(found: &Value) -> Value {
    let list = |name: &str| found[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let one = |finding: &Value| {
        json!({
            "label": finding["label"],
            "place": finding["place"],
            "title": finding["title"],
            "role": finding["role"],
            "strength": finding["strength"],
            "explains": finding["explains"],
            "then": finding["prediction"]["then"],
        })
    };
    json!({
        "outcome": found["outcome"],
        "headline": found["headline"],
        "ranked": list("findings").iter().map(one).collect::<Vec<_>>(),
        "missing": list("missing").len(),
        "time": found["attribution"]["parts"].as_array().map(|parts| {
            parts.iter().map(|part| json!([part["name"], part["does"], part["share"]])).collect::<Vec<_>>()
        }),
    })
}

/// The verdict on a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Score {
    /// The outcome is correct and, for a fault, the expected finding is first.
    is_first: bool,
    /// The expected finding is among the first three.
    is_among_three: bool,
    /// A control is called limited.
    is_false_limited: bool,
    /// A fault is called undecided although its sources are connected.
    is_undecided: bool,
}

fn scored(truth: &Value, measured: &Value) -> Score {
    let found = &measured["diagnosis"];
    let texts = |name: &str| -> Vec<String> {
        let values = truth[name].as_array().map(Vec::as_slice).unwrap_or_default();
        values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let (outcomes, labels, places) = (texts("outcomes"), texts("labels"), texts("places"));
    let outcome = found["outcome"].as_str().unwrap_or_default();
    let is_outcome = outcomes.iter().any(|one| one == outcome);
    if labels.is_empty() {
        return Score {
            is_first: is_outcome,
            is_among_three: is_outcome,
            is_false_limited: outcome == "limited",
            is_undecided: false,
        };
    }
    let is_it = |finding: &Value| {
        let label = finding["label"].as_str().unwrap_or_default();
        let place = format!("{} {}", finding["place"], finding["title"]).to_lowercase();
        labels.iter().any(|one| one == label)
            && (places.is_empty() || places.iter().any(|one| place.contains(&one.to_lowercase())))
    };
    let ranked = found["ranked"].as_array().map(Vec::as_slice).unwrap_or_default();
    let position = ranked.iter().position(is_it);
    Score {
        is_first: is_outcome && position == Some(0),
        is_among_three: position.is_some_and(|position| position < 3),
        is_false_limited: false,
        is_undecided: outcome == "cannot_tell",
    }
}

/// The larger of the ratios of successful requests a second and of mean response time with and without the fault. A quick refusal is
/// no gain, so response time counts only where requests succeed.
fn effect(measured: &Value) -> Option<f64> {
    let value = |run: &str, name: &str| measured[run][name].as_f64();
    let succeeded = |run: &str| Some(1.0 - value(run, "failed")?);
    let goodput = |run: &str| Some(value(run, "per_s")? * succeeded(run)?).filter(|per_s| *per_s > 0.0);
    let through = goodput("after")? / goodput("before")?;
    let quicker = value("before", "mean_ms")? / value("after", "mean_ms").filter(|mean_ms| *mean_ms > 0.0)?;
    let is_whole = succeeded("before")? >= 0.98 && succeeded("after")? >= 0.98;
    Some(if is_whole { through.max(quicker) } else { through })
}

/// A prediction of throughput beside the measured value.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Prediction {
    is_inside: bool,
    /// Whether the interval contains the throughput before the remedy, so that no gain is predicted.
    is_vacuous: bool,
    error: f64,
}

/// The prediction of the first finding; none without one, or if a run was not valid.
fn prediction(measured: &Value) -> Option<Prediction> {
    let is_valid = |run: &str| measured[run]["validity"] == "valid";
    let then = &measured["diagnosis"]["ranked"][0]["then"];
    let after = measured["after"]["per_s"].as_f64().filter(|per_s| *per_s > 0.0)?;
    let before = measured["before"]["per_s"].as_f64()?;
    let (value, low) = (then["value"].as_f64()?, then["interval"]["low"].as_f64()?);
    let high = then["interval"]["high"].as_f64()?;
    (is_valid("before") && is_valid("after")).then(|| Prediction {
        is_inside: (low..=high).contains(&after),
        is_vacuous: (low..=high).contains(&before),
        error: (value - after).abs() / after,
    })
}

/// Sums over results.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    faults: usize,
    first: usize,
    among_three: usize,
    undecided: usize,
    controls: usize,
    right_controls: usize,
    false_limited: usize,
}

impl Counts {
    fn add(&mut self, is_control: bool, score: Score) {
        let count = usize::from;
        if is_control {
            self.controls += 1;
            self.right_controls += count(score.is_first);
            self.false_limited += count(score.is_false_limited);
        } else {
            self.faults += 1;
            self.first += count(score.is_first);
            self.among_three += count(score.is_among_three);
            self.undecided += count(score.is_undecided);
        }
    }
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let titles =
        ["case", "expected", "first run", "now", "named first now", "limits", "req/s, then with remedy"];
    let mut table = Table { rows: vec![titles.map(str::to_owned).to_vec()], ..Table::default() };
    let mut stacks: BTreeMap<String, Counts> = BTreeMap::new();
    let (mut first, mut now, mut weak) = (Counts::default(), Counts::default(), Vec::new());
    let (mut first_of_replays, mut replays) = (Counts::default(), Counts::default());
    let mut predictions = Vec::new();
    for (part, result) in results {
        let truth = &result["truth"];
        let is_control = truth["labels"].as_array().is_none_or(Vec::is_empty);
        let of_first = scored(truth, &result["first"]);
        let of_now = scored(truth, &result["now"]);
        if result["first"]["provenance"]["detectors_older_than_stack"] == true {
            first.add(is_control, of_first);
            let stack = result["stack"].as_str().unwrap_or_default().to_owned();
            stacks.entry(stack).or_default().add(is_control, of_first);
        }
        now.add(is_control, of_now);
        if result["now"][REPLAYED] == true {
            first_of_replays.add(is_control, of_first);
            replays.add(is_control, of_now);
        }
        let is_compared = of_now.is_first && !is_control && result["is_other_remedy"] != true;
        predictions.extend(prediction(&result["now"]).filter(|_| is_compared));
        if effect(&result["now"]).is_some_and(|effect| effect < EFFECT_MIN) {
            weak.push(*part);
        }
        table.rows.push(row(part, result, of_first, of_now));
    }
    table.bars = bars(results.len(), &stacks, [first, now, replays]);
    table.bars.extend(bars_of_predictions(&predictions));
    table.notes = notes(&stacks, &weak, results);
    table.notes.extend(note_of_replays(first_of_replays, replays));
    table
}

fn row(part: &str, result: &Value, first: Score, now: Score) -> Vec<String> {
    let measured = &result["now"];
    let found = &measured["diagnosis"];
    let ranked = &found["ranked"][0];
    let named = match (found["outcome"].as_str(), ranked["label"].as_str()) {
        (Some("limited"), Some(label)) => format!("{label}: {}", ranked["place"].as_str().unwrap_or("–")),
        (Some(outcome), _) => format!("`{outcome}`"),
        (None, _) => "–".to_owned(),
    };
    let expected = match result["truth"]["labels"][0].as_str() {
        Some(label) => label.to_owned(),
        None => format!("`{}`", result["truth"]["outcomes"][0].as_str().unwrap_or("–")),
    };
    let word = |score: Score| match (score.is_first, score.is_among_three) {
        (true, _) => "correct",
        (false, true) => "among three",
        (false, false) => "wrong",
    };
    let rate =
        |run: &str| measured[run]["per_s"].as_f64().map_or("–".to_owned(), |rate| format!("{rate:.1}"));
    let limits = match effect(measured) {
        Some(effect) if effect >= EFFECT_MIN => format!("yes, {effect:.1} times"),
        Some(effect) => format!("**no**, {effect:.1} times"),
        None => "–".to_owned(),
    };
    vec![
        part.to_owned(),
        expected,
        word(first).to_owned(),
        format!("{}{}", word(now), if measured[REPLAYED] == true { ", replay" } else { "" }),
        named,
        limits,
        format!("{}, {}", rate("before"), rate("after")),
    ]
}

fn bars(cases: usize, stacks: &BTreeMap<String, Counts>, [first, now, replays]: [Counts; 3]) -> Vec<Bar> {
    let replayed = |count: usize| match count {
        0 => String::new(),
        count => format!(" ({count} of them replays)"),
    };
    let share = |line: &str, part: usize, all: usize, least: f64| Bar {
        line: format!("{line}: {part} of {all} (at least {:.0} %)", least * 100.0),
        reached: all > 0 && part as f64 >= least * all as f64,
    };
    let count = |line: &str, count: usize, least: usize| Bar {
        line: format!("{line}: {count} (at least {least})"),
        reached: count >= least,
    };
    vec![
        count("cases", cases, CASES_MIN),
        count("stacks that are newer than the detectors of their first run", stacks.len(), STACKS_MIN),
        count("controls", now.controls, CONTROLS_MIN),
        share("first run, Top-1", first.first, first.faults, FIRST_TOP_1_MIN),
        share("first run, Top-3", first.among_three, first.faults, FIRST_TOP_3_MIN),
        share(&format!("now{}, Top-1", replayed(replays.faults)), now.first, now.faults, TOP_1_MIN),
        share(&format!("now{}, Top-3", replayed(replays.faults)), now.among_three, now.faults, TOP_3_MIN),
        Bar {
            line: format!(
                "controls called limited{}: {} of {} (at most 1 of 24)",
                replayed(replays.controls),
                now.false_limited,
                now.controls
            ),
            reached: now.false_limited as f64 <= FALSE_LIMITED_MAX * now.controls as f64,
        },
        Bar {
            line: format!(
                "faults left undecided with all sources: {} of {} (none)",
                now.undecided, now.faults
            ),
            reached: now.undecided == 0,
        },
    ]
}

fn bars_of_predictions(predictions: &[Prediction]) -> [Bar; 2] {
    let inside = predictions.iter().filter(|one| one.is_inside).count();
    let vacuous = predictions.iter().filter(|one| one.is_vacuous).count();
    let error = median_error(predictions);
    [
        Bar {
            line: format!(
                "predictions of correct findings inside their interval: {inside} of {} (at least {:.0} %), {vacuous} predict no gain",
                predictions.len(),
                INSIDE_MIN * 100.0
            ),
            reached: !predictions.is_empty() && inside as f64 >= INSIDE_MIN * predictions.len() as f64,
        },
        Bar {
            line: format!(
                "median error of predictions: {} (at most {:.0} %)",
                error.map_or("–".to_owned(), |error| format!("{:.0} %", error * 100.0)),
                ERROR_MAX * 100.0
            ),
            reached: error.is_some_and(|error| error <= ERROR_MAX),
        },
    ]
}

fn median_error(predictions: &[Prediction]) -> Option<f64> {
    let mut errors: Vec<f64> = predictions.iter().map(|one| one.error).collect();
    errors.sort_by(f64::total_cmp);
    errors.get(errors.len() / 2).copied()
}

fn notes(stacks: &BTreeMap<String, Counts>, weak: &[&str], results: &[(&str, Value)]) -> Vec<String> {
    let stack = |(name, counts): (&String, &Counts)| {
        let commit = results.iter().find(|(_, result)| result["stack"] == **name);
        let commit = commit.and_then(|(_, result)| result["first"]["provenance"]["detectors"].as_str());
        format!(
            "{name}: {} of {} faults, {} of {} controls (detectors {})",
            counts.first,
            counts.faults,
            counts.right_controls,
            counts.controls,
            commit.and_then(|commit| commit.get(..12)).unwrap_or("unknown")
        )
    };
    let mut notes = vec![
        format!("First run by detectors: {}.", by_detectors(results).join("; ")),
        format!("First run by stack: {}.", stacks.iter().map(stack).collect::<Vec<_>>().join("; ")),
    ];
    if !weak.is_empty() {
        notes.push(format!("The remedy changed less than {EFFECT_MIN} times in: {}.", weak.join(", ")));
    }
    notes
}

/// The first runs of each generation of detectors: a generation was fixed after the runs before it.
fn by_detectors(results: &[(&str, Value)]) -> Vec<String> {
    let mut generations: Vec<(String, Counts)> = Vec::new();
    for (_, result) in results {
        let provenance = &result["first"]["provenance"];
        if provenance["detectors_older_than_stack"] != true {
            continue;
        }
        let commit =
            provenance["detectors"].as_str().and_then(|commit| commit.get(..12)).unwrap_or("unknown");
        let place = generations.iter().position(|(known, _)| known == commit).unwrap_or_else(|| {
            generations.push((commit.to_owned(), Counts::default()));
            generations.len() - 1
        });
        let truth = &result["truth"];
        let is_control = truth["labels"].as_array().is_none_or(Vec::is_empty);
        generations[place].1.add(is_control, scored(truth, &result["first"]));
    }
    let text = |(commit, counts): &(String, Counts)| {
        format!(
            "{commit}: Top-1 {} and Top-3 {} of {} faults, {} of {} controls called limited",
            counts.first, counts.among_three, counts.faults, counts.false_limited, counts.controls
        )
    };
    generations.iter().map(text).collect()
}

fn note_of_replays(first: Counts, now: Counts) -> Option<String> {
    let of = |counts: Counts| {
        format!(
            "{} of {} faults, {} of {} controls",
            counts.first, counts.faults, counts.right_controls, counts.controls
        )
    };
    (now.faults + now.controls > 0).then(|| {
        format!(
            "Replays, after the detectors were fixed on these very runs: {}; the same runs with the detectors of their first run: {}. \
             Replays do not show how the diagnosis fares on other runs.",
            of(now),
            of(first)
        )
    })
}

pub(super) fn table_of_sources(results: &[(&str, Value)]) -> Table {
    let titles =
        ["evidence", "faults named first", "among the first three", "undecided", "controls called limited"];
    let mut table = Table { rows: vec![titles.map(str::to_owned).to_vec()], ..Table::default() };
    for (left, _) in REDUCED {
        let mut counts = Counts::default();
        for (_, result) in results {
            let is_control = result["truth"]["labels"].as_array().is_none_or(Vec::is_empty);
            counts.add(is_control, scored(&result["truth"], &result[left]));
        }
        table.rows.push(vec![
            left.to_owned(),
            format!("{} of {}", counts.first, counts.faults),
            format!("{} of {}", counts.among_three, counts.faults),
            format!("{} of {}", counts.undecided, counts.faults),
            format!("{} of {}", counts.false_limited, counts.controls),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(outcome: &str, ranked: &[(&str, &str)]) -> Value {
        let ranked: Vec<Value> =
            ranked.iter().map(|(label, place)| json!({ "label": label, "place": place })).collect();
        json!({ "diagnosis": { "outcome": outcome, "ranked": ranked } })
    }

    #[test]
    fn a_fault_is_correct_by_label_place_and_outcome() {
        let truth = json!({ "outcomes": ["limited"], "labels": ["a", "b"], "places": ["shop"] });
        let check = |outcome: &str, ranked: &[(&str, &str)], expect: [bool; 3]| {
            let score = scored(&truth, &result(outcome, ranked));
            assert_eq!([score.is_first, score.is_among_three, score.is_undecided], expect, "{ranked:?}");
        };
        check("limited", &[("b", "the Shop"), ("c", "x")], [true, true, false]);
        check("limited", &[("a", "elsewhere")], [false, false, false]);
        check("limited", &[("c", "shop"), ("a", "shop")], [false, true, false]);
        check("cannot_tell", &[("a", "shop")], [false, true, true]);
        check("no_server_bottleneck", &[], [false, false, false]);
    }

    #[test]
    fn a_control_is_correct_by_its_outcome() {
        let truth = json!({ "outcomes": ["no_server_bottleneck"], "labels": [], "places": [] });
        let right = scored(&truth, &result("no_server_bottleneck", &[]));
        assert!(right.is_first && !right.is_false_limited);
        let wrong = scored(&truth, &result("limited", &[("a", "shop")]));
        assert!(!wrong.is_first && wrong.is_false_limited);
        assert!(!scored(&truth, &result("cannot_tell", &[])).is_first);
    }

    #[test]
    fn predictions_and_plants_are_compared_with_the_remedy() {
        let run = |per_s: f64, mean_ms: f64| json!({ "validity": "valid", "per_s": per_s, "mean_ms": mean_ms, "failed": 0.0 });
        let then = json!({ "value": 110.0, "interval": { "low": 90.0, "high": 120.0 } });
        let mut measured = json!({
            "before": run(50.0, 30.0),
            "after": run(100.0, 10.0),
            "diagnosis": { "ranked": [{ "then": then }] },
        });
        let expect = Prediction { is_inside: true, is_vacuous: false, error: 0.1 };
        assert_eq!(prediction(&measured), Some(expect));
        assert_eq!(effect(&measured), Some(3.0));
        measured["before"]["failed"] = json!(0.6);
        assert!(effect(&measured).is_some_and(|effect| (effect - 5.0).abs() < 1e-9));
        measured["after"] = Value::Null;
        assert_eq!((prediction(&measured), effect(&measured)), (None, None));
    }

    #[test]
    fn replays_are_named_and_have_figures_of_their_own() {
        let wrong = result("no_server_bottleneck", &[]);
        let right = result("limited", &[("a", "shop")]);
        let mut replayed = right.clone();
        replayed[REPLAYED] = json!(true);
        let case = |first: &Value, now: &Value| {
            let truth = json!({ "outcomes": ["limited"], "labels": ["a"], "places": [] });
            json!({ "stack": "s", "truth": truth, "first": first, "now": now })
        };
        let table = table(&[("one", case(&wrong, &replayed)), ("two", case(&wrong, &right))]);
        assert_eq!((table.rows[1][3].as_str(), table.rows[2][3].as_str()), ("correct, replay", "correct"));
        let note = table.notes.last().expect("a note");
        assert!(note.contains("1 of 1 faults, 0 of 0 controls; the same"), "{note}");
        assert!(note.contains("0 of 1 faults"), "{note}");
    }

    #[test]
    fn each_part_has_a_case() {
        let parts = parts().expect("parts");
        assert!(parts_by_sources().expect("parts").iter().all(|part| parts.contains(part)));
        assert!(parts.iter().all(|part| stack::find(part).is_ok()));
    }
}
