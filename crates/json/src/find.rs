//! Evaluation of a path over a text.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::keys;

/// Bytes of a path; a longer one finds nothing.
pub const PATH_BYTES_MAX: usize = 16 << 10;

/// Parts of a path, each of which costs the library a piece of stack; a path with more finds nothing.
pub const PATH_PARTS_MAX: usize = 128;

/// How deep values may be nested where a modifier (`@flatten`, `@pretty`) walks them; deeper ones have nothing to be found.
/// Paths without modifiers go as deep as they are long, whatever lies below.
pub const DEPTH_MAX: usize = 128;

/// The result of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string, its escapes resolved; a half of a surrogate pair is U+FFFD, as in Go.
    Text(String),
    /// An object or an array, as JSON.
    Json(String),
}

/// Evaluates `path` over `text`; `None` where it matches nothing, where `text` is not JSON, and beyond the limits.
pub fn find(text: &str, path: &str) -> Option<Found> {
    let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
    if !is_json || !is_bounded(path) || (path.contains('@') && depth(text) > DEPTH_MAX) {
        return None;
    }
    let (mut text, mut path) = (Cow::Borrowed(text), path);
    while let Some((before, after)) = keys::split(path) {
        (text, path) = (Cow::Owned(keys::member_names(&text, before)), after);
    }
    let found = gjson::get(&text, path);
    if !found.exists() {
        return None;
    }
    Some(match found.kind() {
        gjson::Kind::Null => Found::Null,
        gjson::Kind::False => Found::Bool(false),
        gjson::Kind::True => Found::Bool(true),
        gjson::Kind::Number => Found::Number(found.f64()),
        // The library's own reading of surrogate pairs is wrong beyond U+1FFFF.
        gjson::Kind::String => {
            Found::Text(serde_json::from_str(found.json()).unwrap_or_else(|_| found.str().to_owned()))
        }
        gjson::Kind::Array | gjson::Kind::Object => Found::Json(found.json().to_owned()),
    })
}

fn is_bounded(path: &str) -> bool {
    let is_part = |byte: &u8| matches!(byte, b'.' | b'|' | b'{' | b'[' | b'(' | b'*');
    path.len() <= PATH_BYTES_MAX && path.bytes().filter(is_part).count() < PATH_PARTS_MAX
}

/// How deep the values of a text that is JSON are nested.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in text.bytes() {
        if in_string {
            in_string = is_escaped || byte != b'"';
            is_escaped = byte == b'\\' && !is_escaped;
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found() {
        let text =
            r#"{"a":{"b":[1,null,true,"x\n"]},"s":"\ud840\udc00 \ud83d\ude00","half":"\ud800!","n":-1.5e3}"#;
        let check = |path: &str, expect: Option<Found>| assert_eq!(find(text, path), expect, "{path}");
        check("a.b.0", Some(Found::Number(1.0)));
        check("a.b.1", Some(Found::Null));
        check("a.b.2", Some(Found::Bool(true)));
        check("a.b.3", Some(Found::Text("x\n".into())));
        check("a.b", Some(Found::Json(r#"[1,null,true,"x\n"]"#.into())));
        check("a.@keys", Some(Found::Json(r#"["b"]"#.into())));
        check("s", Some(Found::Text("\u{20000} 😀".into())));
        check("half", Some(Found::Text("\u{fffd}!".into())));
        check("n", Some(Found::Number(-1500.0)));
        check("none", None);
        check("", None);
    }

    #[test]
    fn what_is_not_json_has_nothing() {
        for text in ["", "{", "{\"a\":1}}", "{\"a\":1,}", "{\"a\":\"\u{1}\"}", "{'a':1}"] {
            assert_eq!(find(text, "a"), None, "{text}");
        }
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        assert!(find(&deep(1_000_000), "a.0").is_some());
        for modifier in
            ["@flatten:{\"deep\":true}", "@pretty", "@ugly", "@reverse", "@join", "@valid", "@this"]
        {
            assert_eq!(find(&deep(100_000), &format!("a|{modifier}")), None);
            assert!(find(&deep(DEPTH_MAX - 1), &format!("a|{modifier}")).is_some(), "{modifier}");
        }
        let long = "a.".repeat(PATH_PARTS_MAX);
        let nested = "[".repeat(100_000);
        for path in [&long, &nested] {
            assert_eq!(find(&deep(1), path), None);
        }
    }

    #[test]
    fn depth_is_counted_outside_of_strings() {
        let check = |text: &str, expect: usize| assert_eq!(depth(text), expect, "{text}");
        check("1", 0);
        check(r#"[{"[[[":"\"[["},[]]"#, 2);
        check(r#"["\\",[[]]]"#, 3);
    }
}
