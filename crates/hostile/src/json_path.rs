//! A JSON text and a GJSON path, which is the first line.

use json::{Found, find};
use serde_json::Value;

use crate::line_and_rest;

/// The library tries all ways in which stars can match, which takes a power of the text's length for each: a script that writes
/// many waits for them, and no server can make it write one.
const STARS_MAX: usize = 2;

/// Any path can be asked; a plain one finds what walking the values step by step finds.
pub fn check(bytes: &[u8]) {
    let (path, text) = line_and_rest(bytes);
    if path.matches('*').count() > STARS_MAX {
        return;
    }
    let found = find(&text, &path);
    let Ok(value) = serde_json::from_str::<Value>(&text) else { return };
    if let Some(Found::Json(json)) = found {
        let _ = serde_json::from_str::<Value>(&json);
    }
    if !is_plain(&path) {
        return;
    }
    // Of members with the same name the library takes the first and the other side the last: written again, there is one.
    let text = value.to_string();
    let walked = path.split('.').try_fold(&value, |value, step| match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        Value::Object(members) => members.get(step),
        _ => None,
    });
    let found = find(&text, &path);
    let is_same = match (&found, walked) {
        (Some(found), Some(value)) => is_same(found, value),
        (found, value) => found.is_none() && value.is_none(),
    };
    assert!(is_same, "{path:?} finds {found:?} and not {walked:?} in {text}");
}

/// Whether no character of a path means anything but itself, and no number is written in more than one way.
fn is_plain(path: &str) -> bool {
    let is_name = |step: &str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_index =
        |step: &str| step.len() < 9 && step.parse::<u32>().is_ok_and(|index| index.to_string() == step);
    path.split('.').all(|step| is_name(step) || is_index(step))
}

fn is_same(found: &Found, value: &Value) -> bool {
    match found {
        Found::Null => value.is_null(),
        Found::Bool(found) => value.as_bool() == Some(*found),
        Found::Number(found) => value.as_f64() == Some(*found),
        Found::Text(found) => value.as_str() == Some(found),
        Found::Json(json) => serde_json::from_str::<Value>(json).is_ok_and(|found| found == *value),
    }
}
