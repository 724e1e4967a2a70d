//! Documents of the program, made short for assistants: validity and caveats first, and nothing that another tool shows.

use serde_json::{Map, Value, json};

/// Bytes of a document that an assistant gets.
pub(crate) const DOCUMENT_BYTES_MAX: usize = 256 << 10;

/// Entries of a list in a summary; the rest is counted.
const ENTRIES_MAX: usize = 40;

/// Parts of a report that belong to a summary.
const SUMMARY_PARTS: &[&str] = &[
    "verdict",
    "run",
    "outcome",
    "thresholds",
    "metrics",
    "checks",
    "scenarios",
    "endpoints",
    "errors",
    "generator",
];

/// Lists that grow with the script.
const LISTS: &[&str] = &["thresholds", "metrics", "checks", "scenarios", "endpoints", "errors"];

/// Returns the summary of a report: a run's validity, verdict and figures.
pub(crate) fn summary(report: &Value) -> Value {
    let mut summary = Map::new();
    summary.insert("validity".to_owned(), report["validity"].clone());
    summary.insert("caveats".to_owned(), Value::from(caveats(report)));
    for part in SUMMARY_PARTS {
        summary.insert((*part).to_owned(), report[*part].clone());
    }
    for list in LISTS {
        shorten(&mut summary, list);
    }
    if let Some(scenarios) = summary.get_mut("scenarios").and_then(Value::as_array_mut) {
        // Their metrics are in the report, by scenario.
        scenarios.iter_mut().filter_map(Value::as_object_mut).for_each(|scenario| {
            scenario.retain(|name, _| ["name", "path", "checks"].contains(&name.as_str()));
        });
    }
    let diagnosis = &report["diagnosis"];
    summary.insert(
        "bottleneck".to_owned(),
        json!({ "outcome": diagnosis["outcome"], "headline": diagnosis["headline"] }),
    );
    Value::Object(summary)
}

/// Keeps the first entries of a list, and counts the others.
fn shorten(summary: &mut Map<String, Value>, name: &str) {
    let Some(list) = summary.get_mut(name).and_then(Value::as_array_mut) else { return };
    let beyond = list.len().saturating_sub(ENTRIES_MAX);
    if beyond > 0 {
        list.truncate(ENTRIES_MAX);
        summary.insert(format!("{name}Beyond"), Value::from(beyond));
    }
}

/// Returns the reasons to doubt a run's figures.
pub(crate) fn caveats(report: &Value) -> Vec<String> {
    let validity = &report["validity"];
    let mut caveats = Vec::new();
    if validity["grade"] != "valid" {
        caveats.push(format!("the measurement is {}", validity["line"].as_str().unwrap_or("not valid")));
    }
    for list in [&validity["reasons"], &validity["unmeasured"], &report["diagnosis"]["caveats"]] {
        caveats.extend(list.as_array().into_iter().flatten().map(sentence));
    }
    let generator = &report["generator"];
    let losses = [("windowsLost", "seconds"), ("samplesLost", "samples"), ("workersLost", "worker threads")];
    for (field, what) in losses {
        let lost = generator[field].as_u64().unwrap_or(0);
        if lost > 0 {
            caveats.push(format!("{lost} {what} of the load generator were lost"));
        }
    }
    caveats
}

/// A caveat as text: itself, or its sentence.
fn sentence(caveat: &Value) -> String {
    let fields = ["sentence", "text", "line", "what"];
    let text = caveat.as_str().or_else(|| fields.iter().find_map(|field| caveat[*field].as_str()));
    text.map_or_else(|| caveat.to_string(), str::to_owned)
}

/// Returns the sentences before a summary.
pub(crate) fn head(summary: &Value) -> String {
    let line = summary["validity"]["line"].as_str().unwrap_or("validity unknown");
    let mut head = format!("{line}. {}", summary["verdict"]["sentence"].as_str().unwrap_or_default());
    let caveats = summary["caveats"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let caveats: Vec<&str> = caveats.collect();
    if !caveats.is_empty() {
        head += &format!("\nCaveats: {}", caveats.join("; "));
    }
    head
}

/// Returns the sentences before a comparison.
pub(crate) fn comparison_head(comparison: &Value) -> String {
    let mut head = format!(
        "{}: {}",
        comparison["verdict"].as_str().unwrap_or("unknown"),
        comparison["sentence"].as_str().unwrap_or_default()
    );
    let doubts: Vec<String> = comparison["findings"].as_array().into_iter().flatten().map(sentence).collect();
    if !doubts.is_empty() {
        head += &format!("\nCaveats: {}", doubts.join("; "));
    }
    head
}

/// Returns the sentences before a diagnosis.
pub(crate) fn diagnosis_head(diagnosis: &Value) -> String {
    let runs = diagnosis["runs"].as_array().into_iter().flatten();
    let grades: Vec<String> = runs
        .filter_map(|run| Some(format!("run {}: {}", run["id"].as_str()?, run["grade"].as_str()?)))
        .collect();
    let mut head = format!(
        "Validity: {}. {}",
        grades.join(", "),
        diagnosis["headline"].as_str().unwrap_or("no bottleneck is named")
    );
    let caveats: Vec<String> = diagnosis["caveats"].as_array().into_iter().flatten().map(sentence).collect();
    if !caveats.is_empty() {
        head += &format!("\nCaveats: {}", caveats.join("; "));
    }
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Value {
        json!({
            "validity": { "grade": "degraded", "line": "DEGRADED", "reasons": [{ "sentence": "it was late" }],
                          "unmeasured": ["steal"] },
            "verdict": { "verdict": "fail", "sentence": "Fail: 1 threshold" },
            "metrics": (0..ENTRIES_MAX + 2).collect::<Vec<_>>(),
            "scenarios": [{ "name": "a", "metrics": [1] }],
            "generator": { "windowsLost": 2 },
            "options": { "ext": "secret" },
            "diagnosis": { "outcome": "cannot_tell", "headline": "none", "caveats": ["short"] },
        })
    }

    #[test]
    fn a_summary_has_caveats_and_counts_what_it_leaves_out() {
        let summary = summary(&report());
        assert_eq!(
            summary["caveats"],
            json!([
                "the measurement is DEGRADED",
                "it was late",
                "steal",
                "short",
                "2 seconds of the load generator were lost"
            ])
        );
        assert_eq!(
            (summary["metricsBeyond"].as_u64(), summary["scenarios"][0].get("metrics")),
            (Some(2), None)
        );
        assert!(summary.get("options").is_none());
        assert_eq!(summary["bottleneck"]["outcome"], "cannot_tell");
    }

    #[test]
    fn validity_stands_first() {
        let head = head(&summary(&report()));
        assert!(
            head.starts_with("DEGRADED. Fail: 1 threshold\nCaveats: the measurement is DEGRADED; it"),
            "{head}"
        );
        let valid =
            json!({ "validity": { "grade": "valid", "line": "VALID" }, "verdict": { "sentence": "Pass" } });
        assert_eq!(super::head(&summary(&valid)), "VALID. Pass");
    }

    #[test]
    fn comparisons_and_diagnoses_begin_with_what_limits_them() {
        let comparison = json!({ "verdict": "inconclusive", "sentence": "No.", "findings": [{ "sentence": "too short" }] });
        assert_eq!(comparison_head(&comparison), "inconclusive: No.\nCaveats: too short");
        let diagnosis =
            json!({ "runs": [{ "id": "ab", "grade": "valid" }], "headline": "Pool.", "caveats": [] });
        assert_eq!(diagnosis_head(&diagnosis), "Validity: run ab: valid. Pool.");
    }
}
