//! JSON as YAML in blocks, in the form that the extension of k6 writes: elements are indented, and texts that would be read as
//! something else have quotes.

use serde_json::Value;

use super::{yaml_number, yaml_time};

/// Blanks of a level.
const INDENT: usize = 2;

/// Stands before a text that is a time (`js/yaml.js`).
const TIME_MARK: char = '\0';

/// Texts that YAML 1.1 reads as truths, in small letters.
const TRUTHS: &[&str] = &["y", "n", "yes", "no", "on", "off", "true", "false"];

/// Writes a value.
///
/// # Errors
/// A text cannot be written.
pub(super) fn write(value: &Value) -> Result<String, String> {
    let mut out = String::new();
    match is_block(value) {
        true => block(&mut out, value, 0)?,
        false => line(&mut out, value, 0)?,
    }
    Ok(out)
}

/// Whether a value takes lines of its own.
fn is_block(value: &Value) -> bool {
    match value {
        Value::Array(values) => !values.is_empty(),
        Value::Object(entries) => !entries.is_empty(),
        _ => false,
    }
}

/// Writes elements or entries. The first stands where the text ends, the others in lines that begin with `indent` blanks.
fn block(out: &mut String, value: &Value, indent: usize) -> Result<(), String> {
    let next = indent + INDENT;
    let begin =
        |out: &mut String, at: usize| out.extend(std::iter::repeat_n(' ', if at == 0 { 0 } else { indent }));
    match value {
        Value::Array(values) => values.iter().enumerate().try_for_each(|(at, value)| {
            begin(out, at);
            *out += "- ";
            if is_block(value) { block(out, value, next) } else { line(out, value, indent) }
        }),
        Value::Object(entries) => entries.iter().enumerate().try_for_each(|(at, (name, value))| {
            begin(out, at);
            *out += scalar(name)?.trim_end_matches('\n');
            if is_block(value) {
                *out += ":\n";
                out.extend(std::iter::repeat_n(' ', next));
                return block(out, value, next);
            }
            *out += ": ";
            line(out, value, indent)
        }),
        _ => line(out, value, indent),
    }
}

/// Writes a value at the end of a line. A text of several lines goes on in lines that begin with more blanks than `indent`.
fn line(out: &mut String, value: &Value, indent: usize) -> Result<(), String> {
    let text = match value {
        Value::String(text) => scalar(text)?,
        other => format!("{other}\n"),
    };
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let blanks = if at == 0 || line == "\n" { 0 } else { indent };
        out.extend(std::iter::repeat_n(' ', blanks));
        *out += line;
    }
    Ok(())
}

fn scalar(text: &str) -> Result<String, String> {
    if let Some(time) = text.strip_prefix(TIME_MARK).filter(|time| yaml_time::parse(time).is_some()) {
        return Ok(format!("{time}\n"));
    }
    if is_ambiguous(text) {
        return Ok(format!("\"{text}\"\n"));
    }
    serde_yaml_ng::to_string(text).map_err(|error| format!("yaml: {error}"))
}

/// Whether a text without quotes would be a number, a truth, a time or nothing. Such texts need no escapes.
fn is_ambiguous(text: &str) -> bool {
    let is_number = || yaml_number::parse(text).is_some() || is_sexagesimal(text);
    let small = text.to_ascii_lowercase();
    let is_word = || ["", "~", "null"].contains(&&*small) || TRUTHS.contains(&&*small);
    let is_special = || [".nan", ".inf", "+.inf", "-.inf"].contains(&&*small);
    is_number() || is_word() || is_special() || yaml_time::parse(text).is_some()
}

/// Whether a text is a number in base 60, such as `12:30`.
fn is_sexagesimal(text: &str) -> bool {
    let mut parts = text.trim_start_matches(['+', '-']).split(':');
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let first = parts.next().is_some_and(is_digits);
    first && text.contains(':') && parts.all(|part| is_digits(part) && part.len() <= 2 && part < "60")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::yaml_value;
    use super::write;

    #[track_caller]
    fn check(value: Value, expect: &str) {
        assert_eq!(write(&value).as_deref(), Ok(expect));
        let (read, special) = yaml_value::parse(expect).expect("what is written can be read");
        assert_eq!((read, special.len()), (value, 0), "{expect}");
    }

    /// As k6 v1.7 with xk6-yaml writes them.
    #[test]
    fn values_as_the_extension_writes_them() {
        check(json!({"a": {"b": {"c": 1}}}), "a:\n  b:\n    c: 1\n");
        check(json!({"a": [[1, [2]], {"b": [3]}]}), "a:\n  - - 1\n    - - 2\n  - b:\n      - 3\n");
        check(json!([{"a": 1, "b": {"c": 2}}, {"d": [4]}]), "- a: 1\n  b:\n    c: 2\n- d:\n    - 4\n");
        check(json!([[], {}, null, true, 1.5]), "- []\n- {}\n- null\n- true\n- 1.5\n");
        check(json!({"a": "x\ny", "b": ["x\n\ny\n"]}), "a: |-\n  x\n  y\nb:\n  - |\n    x\n\n    y\n");
        check(json!({"true": 3, "1": 2, "x: y": 4, "": 5}), "\"\": 5\n\"1\": 2\n\"true\": 3\n'x: y': 4\n");
        check(json!("it's: x"), "'it''s: x'\n");
    }

    #[test]
    fn times_have_no_quotes() {
        assert_eq!(write(&json!({"d": "\0 2022"})).as_deref(), Ok("d: \"\\0 2022\"\n"));
        assert_eq!(write(&json!({"d": "\x002022-08-06"})).as_deref(), Ok("d: 2022-08-06\n"));
    }

    #[test]
    fn texts_that_mean_something_else_have_quotes() {
        for text in [
            "1",
            "-1.5",
            "1_000",
            "014",
            "0x1",
            "yes",
            "NO",
            "Null",
            ".inf",
            "2022-08-06",
            "2022-8-6",
            "12:30",
            "1:2:3",
        ] {
            check(json!(text), &format!("\"{text}\"\n"));
        }
        for text in
            ["x", "a@b.c", "http://x/y?z=1", "2022-08-06 10:20", "12:60x", "1st", "=", "it's", "~x", "x:y"]
        {
            check(json!(text), &format!("{text}\n"));
        }
    }
}
