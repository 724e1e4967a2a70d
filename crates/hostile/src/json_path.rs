//! A JSON text and a GJSON path, which is the first line.

use json::{Found, find};
use serde_json::Value;

use crate::line_and_rest;

/// Any path can be asked; a plain one finds what walking the values step by step finds.
pub fn check(bytes: &[u8]) {
    let (path, text) = line_and_rest(bytes);
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
    assert_eq!(find(&text, &path).map(plain), walked.cloned(), "{path:?} in {text}");
}

/// Whether no character of a path means anything but itself, and no number is written in more than one way.
fn is_plain(path: &str) -> bool {
    let is_name = |step: &str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_index =
        |step: &str| step.len() < 9 && step.parse::<u32>().is_ok_and(|index| index.to_string() == step);
    path.split('.').all(|step| is_name(step) || is_index(step))
}

fn plain(found: Found) -> Value {
    match found {
        Found::Null => Value::Null,
        Found::Bool(value) => Value::Bool(value),
        // As the text has it: whole numbers and fractions are told apart by the other side.
        Found::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            if number.is_sign_negative() && number == 0.0 {
                Value::from(number)
            } else {
                Value::from(number as i64)
            }
        }
        Found::Number(number) => Value::from(number),
        Found::Text(text) => Value::String(text),
        Found::Json(json) => serde_json::from_str(&json).expect("a value of a JSON text is JSON"),
    }
}
