//! Readable JSON: arrays and objects that fit into a line are written in one.

use serde_json::Value;

/// Characters of a line that holds a whole array or object.
const LINE_CHARS_MAX: usize = 120;

/// Spaces per level.
const INDENT: usize = 2;

/// Returns a value as JSON, over several lines where one does not hold it.
pub(super) fn json(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    text
}

fn write(value: &Value, depth: usize, text: &mut String) {
    let line = spaced(value);
    let is_short = line.chars().count() + depth * INDENT <= LINE_CHARS_MAX;
    let (brackets, items): ([char; 2], Vec<(Option<&String>, &Value)>) = match value {
        Value::Array(items) if !is_short => (['[', ']'], items.iter().map(|item| (None, item)).collect()),
        Value::Object(entries) if !is_short || depth == 0 && !entries.is_empty() => {
            (['{', '}'], entries.iter().map(|(name, item)| (Some(name), item)).collect())
        }
        _ => return text.push_str(&line),
    };
    text.push(brackets[0]);
    for (index, (name, item)) in items.iter().enumerate() {
        text.push_str(if index > 0 { ",\n" } else { "\n" });
        text.push_str(&" ".repeat((depth + 1) * INDENT));
        if let Some(name) = name {
            text.push_str(&format!("{}: ", Value::from(name.as_str())));
        }
        write(item, depth + 1, text);
    }
    text.push('\n');
    text.push_str(&" ".repeat(depth * INDENT));
    text.push(brackets[1]);
}

/// Returns a value in one line, with spaces between its parts.
fn spaced(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Object(entries) => {
            let entry =
                |(name, item): (&String, &Value)| format!("{}: {}", Value::from(name.as_str()), spaced(item));
            format!("{{ {} }}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stands_in_one_line() {
        let stages: Vec<Value> =
            (0..4).map(|at| serde_json::json!({ "duration": "30s", "target": at })).collect();
        let value = serde_json::json!({ "a\"": [1, 2, {}], "stages": stages });
        let expect = "{\n  \"a\\\"\": [1, 2, {}],\n  \"stages\": [\n    { \"duration\": \"30s\", \"target\": 0 },\n    \
            { \"duration\": \"30s\", \"target\": 1 },\n    { \"duration\": \"30s\", \"target\": 2 },\n    \
            { \"duration\": \"30s\", \"target\": 3 }\n  ]\n}";
        assert_eq!(json(&value), expect);
        assert_eq!(serde_json::from_str::<Value>(&json(&value)).expect("JSON"), value);
    }
}
