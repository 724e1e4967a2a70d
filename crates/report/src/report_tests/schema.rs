//! Documents follow their published schemas.

use serde_json::Value;

use super::{fixture, verdicts_fixture};
use crate::json;

const SCHEMA: &str = include_str!("../../../../docs/format/report.schema.json");

#[test]
fn reports_follow_their_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    for report in [fixture::failed(), fixture::passed(), fixture::nothing(), verdicts_fixture::known("x")] {
        let value: Value = serde_json::from_str(&json::render(&report)).expect("JSON");
        let complaints = complaints(&schema, &schema, &value, "report");
        assert!(complaints.is_empty(), "{complaints:#?}");
    }
}

#[test]
fn what_is_known_beside_the_run_is_in_json() {
    let value: Value = serde_json::from_str(&json::render(&verdicts_fixture::known("x"))).expect("JSON");
    let vision = value["evidence"]["queues"]
        .as_array()
        .expect("queues")
        .iter()
        .find(|row| row["queue"] == "scan.vision");
    assert_eq!(vision.expect("the queue")["peak"]["text"], "352");
    assert_eq!(value["diagnosis"]["findings"][0]["prediction"]["then"]["text"], "737/min");
    assert_eq!(value["capacity"]["parts"][0]["levels"][1]["run"], "ab12cd34");
    assert_eq!(value["previous"]["verdict"], "regressed");
    let value: Value = serde_json::from_str(&json::render(&fixture::passed())).expect("JSON");
    assert!(["evidence", "diagnosis", "capacity", "previous"].iter().all(|key| value.get(key).is_none()));
}

#[test]
fn what_does_not_follow_the_schema_is_found() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let good: Value = serde_json::from_str(&json::render(&fixture::failed())).expect("JSON");
    let check = |change: &dyn Fn(&mut Value)| {
        let mut bad = good.clone();
        change(&mut bad);
        assert_ne!(complaints(&schema, &schema, &bad, "report"), Vec::<String>::new());
    };
    check(&|report| report["errorsBeyond"] = "three".into());
    check(&|report| report["verdict"]["verdict"] = "perhaps".into());
    check(&|report| report["checks"][0]["passes"] = Value::Null);
    check(&|report| drop(report.as_object_mut().map(|object| object.remove("verdict"))));
    check(&|report| report["unheard"] = 1.into());
    check(&|report| report["metrics"][0]["values"]["avg"]["text"] = 1.into());
}

/// Fails unless a JSON text follows a schema.
#[track_caller]
pub(crate) fn follows(schema: &str, text: &str) {
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    let value: Value = serde_json::from_str(text).expect("JSON");
    let complaints = complaints(&schema, &schema, &value, "document");
    assert!(complaints.is_empty(), "{complaints:#?}");
}

/// The part of JSON Schema (draft 2020-12) that schemars writes: `$ref`, `anyOf`, `type`, `enum`, `properties`, `required`,
/// `additionalProperties`, `items`. Keys that the schema does not name are complaints, so that none is forgotten in it.
fn complaints(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    if schema == &Value::Bool(true) {
        return vec![];
    }
    if let Some(target) = schema["$ref"].as_str() {
        let target = root.pointer(target.trim_start_matches('#')).expect("a definition");
        return complaints(root, target, value, at);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let all: Vec<_> = any.iter().map(|one| complaints(root, one, value, at)).collect();
        return if all.iter().any(Vec::is_empty) { vec![] } else { all.concat() };
    }
    if !has_type(&schema["type"], value) {
        return vec![format!("{at} is {value}, not {}", schema["type"])];
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        return vec![format!("{at} is {value}, which is none of {words:?}")];
    }
    let mut found = Vec::new();
    if let Some(object) = value.as_object() {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        found
            .extend(required.filter(|key| !object.contains_key(*key)).map(|key| format!("{at} lacks {key}")));
        for (key, value) in object {
            let at = format!("{at}.{key}");
            match (schema["properties"].get(key), schema.get("additionalProperties")) {
                (Some(schema), _) | (None, Some(schema)) => {
                    found.extend(complaints(root, schema, value, &at))
                }
                (None, None) => found.push(format!("{at} is not in the schema")),
            }
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        found.extend(complaints(root, &schema["items"], item, &format!("{at}[{index}]")));
    }
    found
}

/// A missing type allows everything.
fn has_type(allowed: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("null") => value.is_null(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("number") => value.is_number(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    };
    match allowed {
        Value::Null => true,
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    }
}
