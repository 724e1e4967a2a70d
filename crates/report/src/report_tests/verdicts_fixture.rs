//! Diagnosis, capacity and comparison of a run.

use std::time::Duration;

use api::Number;
use api::capacity::{
    Capacity, CapacityCaptions, CapacityDemand, CapacityLevel, CapacityMeasured, CapacityMissing,
    CapacityObjective, CapacityStudy,
};
use api::comparison::Bounds;
use api::diagnosis::{
    DiagnosisFinding, DiagnosisInterval, DiagnosisMissing, DiagnosisNumber, DiagnosisPart,
    DiagnosisPrediction, DiagnosisQuery, DiagnosisRemedy, DiagnosisReport, DiagnosisRuledOut, DiagnosisTime,
    DiagnosisWay,
};
use api::report::ReportValue;

use super::fixture;
use crate::RunReport;
use crate::document::Milestone;

/// A run of which everything is known; what others name is named `name`.
pub(super) fn known(name: &str) -> RunReport {
    let milestone = |second, kind: &str| Milestone {
        at: Duration::from_secs(second),
        kind: kind.to_owned(),
        text: String::new(),
    };
    RunReport {
        evidence: crate::evidence::scene::scan(),
        diagnosis: Some(diagnosis(name)),
        capacity: Some(capacity(name)),
        previous: Some(crate::comparison::tests::slower()),
        timeline: vec![
            milestone(0, "scenarios_started"),
            milestone(118, "scenarios_ended"),
            milestone(120, "ended"),
        ],
        options: Some(serde_json::json!({"scenarios": {"shop": {
            "executor": "ramping-vus",
            "stages": [{"duration": "30s", "target": 500}, {"duration": "90s", "target": 500}]
        }}})),
        ..fixture::failed()
    }
}

fn number(name: &str, value: f64, text: &str, interval: Option<(f64, f64)>) -> DiagnosisNumber {
    DiagnosisNumber {
        name: name.to_owned(),
        value: Some(Number(value)),
        unit: "s",
        text: text.to_owned(),
        interval: interval.map(|(low, high)| DiagnosisInterval {
            low: Number(low),
            high: Number(high),
            text: format!("[{low} – {high}]"),
        }),
        note: String::new(),
    }
}

/// Four workers at their limit; what others name is named `name`.
fn diagnosis(name: &str) -> DiagnosisReport {
    let text = || name.to_owned();
    let seconds = |value: f64| number("", value, &format!("{value} s"), None);
    let part = |does, mean: f64| DiagnosisPart {
        name: text(),
        does,
        mean: seconds(mean),
        share: Number(mean / 59.2),
        low: None,
    };
    let way = |method, waits, apart| DiagnosisWay {
        method,
        from: text(),
        waits: Some(seconds(waits)),
        works: Some(seconds(11.3)),
        rest: None,
        sum: seconds(waits + 11.3),
        apart,
    };
    let time = DiagnosisTime {
        of: text(),
        count: 1_336,
        mean: seconds(59.2),
        measured: Some(seconds(59.2)),
        waits: seconds(47.9),
        waits_share: Number(47.9 / 59.2),
        parts: vec![part("waits", 47.9), part("works", 11.3)],
        ways: vec![way("traces", 47.9, Some(Number(0.0))), way("little", 47.1, Some(Number(0.002)))],
        disagreement: Some(Number(0.017)),
        caveats: vec![text()],
    };
    let finding = DiagnosisFinding {
        detector: "cpu-limit",
        label: "CPU limit",
        place: text(),
        title: text(),
        summary: text(),
        claim: text(),
        role: "limits",
        strength: "limit",
        explains: Some(Number(0.8)),
        numbers: vec![number("CPU demand per scan", 0.57, "0.57 CPU-s", Some((0.54, 0.6)))],
        demand: None,
        queries: vec![DiagnosisQuery {
            source: text(),
            signal: text(),
            text: text(),
            run: text(),
            from: "2026-01-27T03:57:11Z".into(),
            to: "2026-01-27T03:59:37Z".into(),
            t_from: Number(40.0),
            t_to: Number(186.0),
            step_ms: Number(5_000.0),
            points: 120,
        }],
        exemplars: vec![],
        ruled_out: vec![],
        flags: vec![text()],
        caveats: vec![text()],
        remedy: text(),
        cost: "setting",
        prediction: Some(DiagnosisPrediction {
            change: text(),
            now: Some(number("ceiling", 421.0, "421/min", None)),
            then: Some(number("ceiling", 737.0, "737/min", Some((690.0, 780.0)))),
            next_limit: text(),
            wrong_if: text(),
            command: text(),
        }),
    };
    DiagnosisReport {
        schema_version: "1.0.0",
        outcome: "limited",
        headline: text(),
        runs: vec![],
        attribution: None,
        time_uses: vec![time],
        findings: vec![finding],
        findings_beyond: 0,
        remedies: vec![DiagnosisRemedy { cost: "setting", text: text(), finding: 1 }],
        ruled_out: vec![DiagnosisRuledOut { what: text(), why: text(), number: "69 of 400 busy".into() }],
        missing: vec![DiagnosisMissing { what: text(), tells: text(), connect: text() }],
        caveats: vec![],
    }
}

fn value(value: f64, text: &str) -> ReportValue {
    ReportValue { value: Some(Number(value)), text: text.to_owned(), censored: None }
}

fn none() -> ReportValue {
    ReportValue { value: None, text: "n/a: first".into(), censored: Some("n/a: first".into()) }
}

/// Two steps, the second of which is the run itself.
fn capacity(name: &str) -> CapacityStudy {
    let text = || name.to_owned();
    let level = |run: &str, load: f64, throughput, gain, is_kept, words: &str| CapacityLevel {
        run: run.to_owned(),
        name: text(),
        purpose: "asked",
        load: value(load, &format!("{load} VUs")),
        vus: value(load, &load.to_string()),
        throughput: value(throughput, &format!("{throughput}/s")),
        requests: value(throughput * 30.0, &format!("{}/s", throughput * 30.0)),
        time: value(load * 100.0, &format!("{}s", load / 10.0)),
        failed: value(0.0, "0.00%"),
        gain,
        power: none(),
        measured: value(120_000.0, "2m0s"),
        grade: Some("valid"),
        decides: true,
        objectives: vec![CapacityMeasured {
            value: value(load * 100.0, &format!("{}s", load / 10.0)),
            is_kept: Some(is_kept),
            holds: Some(Number(f64::from(u8::from(is_kept)))),
            against: none(),
        }],
        verdict: if is_kept { "baseline" } else { "slo_exceeded" },
        words: words.to_owned(),
        remark: text(),
    };
    let bounds = || Bounds { lower: Some(Number(0.54)), upper: Some(Number(0.6)) };
    let part = Capacity {
        variant: String::new(),
        unit: "vus",
        verdict: "found",
        sentence: text(),
        confirmed: String::new(),
        plan: text(),
        objectives: vec![CapacityObjective {
            text: text(),
            selector: text(),
            statistic: "p(95)".into(),
            limit: value(30_000.0, "30s"),
            is_time: true,
            line: None,
        }],
        binding: Some(0),
        line: None,
        recommended: None,
        ceiling: None,
        knee: None,
        knees: vec![],
        demands: vec![CapacityDemand {
            resource: text(),
            per_work: value(0.57, "0.57 CPU-s"),
            interval: bounds(),
            idle: value(0.07, "0.07"),
            limit: value(4.0, "4"),
            ceiling: value(7.02, "7.02/s"),
            ceiling_interval: Some(bounds()),
            levels: 6,
            fit: Number(0.99),
            used: value(0.89, "89.00%"),
        }],
        end: None,
        levels: vec![
            level("other", 50.0, 3.3, none(), true, "baseline"),
            level("ab12cd34", 500.0, 7.3, value(1.2, "120.00%"), false, "SLO exceeded"),
        ],
        captions: CapacityCaptions { throughput: text(), time: text(), knee: text() },
        missing: vec![CapacityMissing { kind: "repeats", sentence: text() }],
    };
    CapacityStudy {
        schema_version: "1.0.0",
        name: text(),
        kind: "sweep",
        script: text(),
        load_time: value(240_000.0, "4m0s"),
        parts: vec![part],
    }
}
