//! The most useful next study, as a shell command.

use analysis::capacity::LEVELS_MAX;
use model::capacity::{Capacity, Confirmation, Line, LoadUnit, Place, Purpose};
use report::capacity::{StudyKind, StudyReport};
use runfile::Header;

use super::objective::{OBJECTIVES_MAX, parse_all};
use crate::{Offered, quoted};

/// The objective for a script that defines none.
const OBJECTIVE: &str = "http_req_duration: p(95)<800";

/// Factor by which the next search exceeds the existing levels.
const BEYOND_FACTOR: f64 = 16.0;

/// Factor on the time of the levels, for the next search after one that ended too early or never met its objectives; at least
/// one minute.
const BUDGET_FACTOR: f64 = 2.0;
const BUDGET_MIN: f64 = 20.0;

/// Returns the command that resolves a study's open questions, or finds the maximum load; empty if that is confirmed.
pub fn next_command(header: &Header, report: Option<&StudyReport>) -> String {
    let mut words = vec!["plimsoll".to_owned(), "capacity".to_owned(), header.script.clone()];
    for objective in objectives(header) {
        words.extend(["--slo".to_owned(), objective]);
    }
    words.extend(load(header).map(str::to_owned));
    words.extend(scenario(header).into_iter().flat_map(|name| ["--scenario".to_owned(), name]));
    let Some(more) = report.map_or_else(|| Some(Vec::new()), |report| further(header, report)) else {
        return String::new();
    };
    words.extend(more);
    let version = header.target_version.iter().filter(|version| !version.is_empty());
    words.extend(version.flat_map(|version| ["--target-version".to_owned(), version.clone()]));
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Returns the objectives of the study or the script that can apply to a level.
fn objectives(header: &Header) -> Vec<String> {
    let of_study = header.study.iter().flat_map(|facts| facts.objectives.clone());
    let thresholds = header.thresholds.iter().flat_map(|threshold| {
        threshold.conditions.iter().map(|condition| format!("{}: {}", threshold.selector, condition.source))
    });
    let mut asked: Vec<String> = of_study.collect();
    if asked.is_empty() {
        asked = thresholds.collect();
    }
    asked.retain(|text| parse_all(std::slice::from_ref(text)).is_ok());
    asked.truncate(OBJECTIVES_MAX);
    if asked.is_empty() {
        asked.push(OBJECTIVE.to_owned());
    }
    asked
}

/// Returns the flag that sets the unit of loads.
fn load(header: &Header) -> Option<&'static str> {
    let is_rate = match &header.study {
        Some(facts) => facts.unit == LoadUnit::PerSecond.as_str(),
        None => Offered::from_header(header).is_some_and(|offered| offered.is_open()),
    };
    is_rate.then_some("--rate")
}

/// Returns the scenario to measure, if there are several: levels have one each.
fn scenario(header: &Header) -> Option<String> {
    let offered = Offered::from_header(header)?;
    let mut names = offered.names();
    let first = names.next()?.to_owned();
    names.next().map(|_| first)
}

/// Returns the flags that resolve a study's open questions; `None` if there are none.
fn further(header: &Header, report: &StudyReport) -> Option<Vec<String>> {
    let of_run = |part: &&Capacity| part.levels.iter().any(|level| level.run == header.run_id);
    let part = report.parts.iter().find(of_run).or(report.parts.first())?;
    let flags = |flags: &[(&str, String)]| {
        Some(flags.iter().flat_map(|(name, value)| [(*name).to_owned(), value.clone()]).collect())
    };
    let shown = |load: f64| shown(load, part.unit);
    let Some(line) = &part.line else { return Some(Vec::new()) };
    let ends = || part.levels.iter().filter(|level| level.decides).map(|level| level.load);
    match line.place {
        Place::AboveAll => {
            let most = ends().fold(line.load.value, f64::max);
            flags(&[("--from", shown(most)), ("--to", shown(most * BEYOND_FACTOR))])
        }
        Place::BelowAll => {
            let least = ends().fold(line.load.value, f64::min);
            flags(&[("--from", shown(least / BEYOND_FACTOR)), ("--to", shown(least))])
        }
        Place::Inside if report.kind != StudyKind::Capacity => flags(&[("--from", shown(lowest(line)))]),
        Place::Inside => match part.confirmation {
            Confirmation::Held { .. } => None,
            Confirmation::Untried | Confirmation::Broke { .. } => {
                // With the same name and the same first load the study continues where it stopped.
                let ramp = part.levels.iter().take(LEVELS_MAX).find(|level| level.purpose == Purpose::Ramp);
                let minutes = (report.load_s * BUDGET_FACTOR / 60.0).ceil().max(BUDGET_MIN);
                flags(&[
                    ("--from", shown(ramp.map_or(lowest(line), |level| level.load))),
                    ("--study", report.name.clone()),
                    ("--budget", format!("{minutes}m")),
                ])
            }
        },
    }
}

/// Returns a load that meets the objectives, as far as is known.
fn lowest(line: &Line) -> f64 {
    if line.load.lower > 0.0 { line.load.lower } else { line.load.value }
}

fn shown(load: f64, unit: LoadUnit) -> String {
    match unit {
        LoadUnit::Vus => load.floor().max(1.0).to_string(),
        LoadUnit::PerSecond if load >= 10.0 => load.floor().to_string(),
        LoadUnit::PerSecond => ((load * 100.0).floor() / 100.0).max(0.01).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use model::capacity::{Estimate, LineMethod};
    use runfile::{ConditionFacts, StudyFacts, ThresholdFacts};

    use super::*;

    fn header(options: &str) -> Header {
        Header { script: "my shop.js".to_owned(), options_json: options.to_owned(), ..Header::default() }
    }

    #[test]
    fn a_run_of_no_study_is_asked_for_what_its_script_asks() {
        let check = |header: &Header, expect: &str| assert_eq!(next_command(header, None), expect);
        let closed = header(r#"{"scenarios":{"a":{"executor":"constant-vus","vus":2,"duration":"10s"}}}"#);
        check(&closed, "plimsoll capacity 'my shop.js' --slo 'http_req_duration: p(95)<800'");
        let open = header(
            r#"{"scenarios":{"a":{"executor":"constant-arrival-rate","rate":5,"duration":"10s","preAllocatedVUs":2}}}"#,
        );
        let threshold = ThresholdFacts {
            selector: "http_req_failed".to_owned(),
            conditions: vec![ConditionFacts { source: "rate==0".to_owned(), ..ConditionFacts::default() }],
        };
        let asked =
            Header { thresholds: vec![threshold], target_version: Some("v 2".to_owned()), ..open.clone() };
        check(
            &asked,
            "plimsoll capacity 'my shop.js' --slo 'http_req_failed: rate==0' --rate --target-version 'v 2'",
        );
        check(&header("?"), "plimsoll capacity 'my shop.js' --slo 'http_req_duration: p(95)<800'");
    }

    #[test]
    fn a_study_is_asked_for_what_it_left_open() {
        let facts = StudyFacts {
            unit: "per_second".to_owned(),
            objectives: vec!["e2e: p(95)<30000".to_owned()],
            ..StudyFacts::default()
        };
        let header = Header { study: Some(Box::new(facts)), ..header("?") };
        let check = |kind, place, confirmation, expect: Option<&str>| {
            let load = Estimate { value: 169.0, lower: 152.5, upper: 187.0 };
            let line = Line {
                load,
                place,
                method: LineMethod::LogLinear,
                confidence: 0.95,
                throughput_per_s: 169.0,
            };
            let part =
                Capacity { unit: LoadUnit::PerSecond, line: Some(line), confirmation, ..Capacity::default() };
            let (name, script) = ("night".to_owned(), "shop.js".to_owned());
            let report = StudyReport { name, kind, script, load_s: 1_500.0, parts: vec![part] };
            let start = "plimsoll capacity 'my shop.js' --slo 'e2e: p(95)<30000' --rate";
            let expect = expect.map_or_else(String::new, |rest| format!("{start} {rest}"));
            assert_eq!(next_command(&header, Some(&report)), expect);
        };
        use StudyKind::{Capacity as Searched, Sweep};
        let held = Confirmation::Held { load: 152.0, for_s: 180.0, above_broke: None, recovered: None };
        let untried = Confirmation::Untried;
        check(Sweep, Place::AboveAll, untried, Some("--from 169 --to 2704"));
        check(Sweep, Place::BelowAll, untried, Some("--from 10 --to 169"));
        check(Sweep, Place::Inside, untried, Some("--from 152"));
        check(Searched, Place::Inside, untried, Some("--from 152 --study night --budget 50m"));
        check(Searched, Place::Inside, held, None);
    }
}
