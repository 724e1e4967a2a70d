//! JSON text with its members in a chosen order, which k6's `inspect` has and a sorted map would lose.

use serde_json::Value;

/// A string with its quotes.
pub(crate) fn string(text: &str) -> String {
    Value::from(text).to_string()
}

/// An array of JSON texts.
pub(crate) fn array(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

/// An object of names and JSON texts.
pub(crate) fn object<'a>(members: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let members: Vec<String> =
        members.into_iter().map(|(name, value)| format!("{}:{value}", string(name))).collect();
    format!("{{{}}}", members.join(","))
}

/// Spreads compact JSON over lines, two spaces a level, as k6 prints it.
pub(crate) fn indent(compact: &str) -> String {
    let mut out = String::with_capacity(compact.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    let mut chars = compact.chars().peekable();
    while let Some(c) = chars.next() {
        if in_string {
            out.push(c);
            in_string = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '{' | '[' if matches!(chars.peek(), Some('}' | ']')) => out.push(c),
            '{' | '[' => {
                depth += 1;
                out.push(c);
                new_line(&mut out, depth);
            }
            '}' | ']' if out.ends_with(['{', '[']) => out.push(c),
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                in_string = c == '"';
                out.push(c);
            }
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indents_as_k6_does() {
        let compact = object([
            ("b", "null".to_owned()),
            ("a\"{", array(["1".to_owned(), string("x,\\\"]:")])),
            ("c", "{}".to_owned()),
            ("d", "[]".to_owned()),
            ("e", object([("f", "[[]]".to_owned())])),
        ]);
        let expect = r#"{
  "b": null,
  "a\"{": [
    1,
    "x,\\\"]:"
  ],
  "c": {},
  "d": [],
  "e": {
    "f": [
      []
    ]
  }
}"#;
        assert_eq!(indent(&compact), expect);
    }
}
