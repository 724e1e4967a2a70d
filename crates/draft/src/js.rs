//! Foreign text as JavaScript: literals, template literals, names, comments. No text can end its literal or its comment.

use std::fmt::Write;

/// Characters of a label (the name of a group, a check or a tag).
const LABEL_CHARS_MAX: usize = 100;

/// Characters of an identifier.
const NAME_CHARS_MAX: usize = 40;

/// Words that are no identifiers, or that scripts of k6 use by another meaning.
const RESERVED: &[&str] = &[
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "check",
    "class",
    "const",
    "continue",
    "csv",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "encoding",
    "enum",
    "eval",
    "exec",
    "export",
    "extends",
    "false",
    "finally",
    "fs",
    "for",
    "function",
    "group",
    "http",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "open",
    "options",
    "package",
    "pause",
    "private",
    "protected",
    "public",
    "response",
    "return",
    "setup",
    "sleep",
    "static",
    "super",
    "switch",
    "teardown",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "console",
    "between",
    "crypto",
    "jar",
    "row",
    "find",
    "required",
    "round",
    "pick",
    "table",
    "missing",
    "async",
    "of",
    "get",
    "set",
    "Math",
    "JSON",
    "Date",
    "Number",
    "String",
    "Object",
    "Array",
    "SharedArray",
    "encodeURIComponent",
    "decodeURIComponent",
    "Infinity",
    "NaN",
];

/// The text as a literal in single quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    escape_into(&mut out, text, '\'');
    out.push('\'');
    out
}

/// Escapes `text` for a literal that ends with `quote`; in a template literal `${` is escaped too.
pub(crate) fn escape_into(out: &mut String, text: &str, quote: char) {
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '$' if quote == '`' && letters.peek() == Some(&'{') => out.push_str("\\$"),
            letter if letter == quote => {
                out.push('\\');
                out.push(letter);
            }
            letter if is_unprintable(letter) => {
                let mut units = [0; 2];
                for unit in letter.encode_utf16(&mut units) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            letter => out.push(letter),
        }
    }
}

/// Whether a character cannot be seen in an editor, or ends a line of JavaScript.
fn is_unprintable(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A name for people: one line, at most 100 characters.
pub(crate) fn label(text: &str) -> String {
    let clean: String =
        text.chars().map(|letter| if is_unprintable(letter) { ' ' } else { letter }).collect();
    let clean = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    match clean.chars().count() > LABEL_CHARS_MAX {
        true => clean.chars().take(LABEL_CHARS_MAX - 1).chain(['…']).collect(),
        false => clean,
    }
}

/// The name of a property: bare if it is an identifier, else a literal.
pub(crate) fn property(name: &str) -> String {
    let mut letters = name.chars();
    let is_first = |letter: char| letter.is_ascii_alphabetic() || matches!(letter, '_' | '$');
    let is_bare = letters.next().is_some_and(is_first)
        && letters.all(|letter| is_first(letter) || letter.is_ascii_digit())
        // It would set the prototype.
        && name != "__proto__";
    if is_bare {
        name.to_owned()
    } else if name == "__proto__" {
        "['__proto__']".to_owned()
    } else {
        quoted(name)
    }
}

/// An identifier in camel case from any text; `fallback` if nothing of the text can be used.
pub(crate) fn camel_case(text: &str, fallback: &str) -> String {
    let mut name = String::new();
    for word in words(text) {
        let mut letters = word.chars();
        let Some(first) = letters.next() else { continue };
        match name.is_empty() {
            true => name.push(first.to_ascii_lowercase()),
            false => name.push(first.to_ascii_uppercase()),
        }
        let is_shouted = word.len() > 1 && word.chars().all(|letter| !letter.is_ascii_lowercase());
        name.extend(letters.map(|letter| if is_shouted { letter.to_ascii_lowercase() } else { letter }));
    }
    identifier(name, fallback)
}

/// An identifier in capital letters, as variables of the environment have them.
pub(crate) fn upper_case(text: &str, fallback: &str) -> String {
    let spaced = words(text).flat_map(split_humps).collect::<Vec<_>>().join("_").to_ascii_uppercase();
    identifier(spaced, fallback)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// `accessToken` → `access`, `Token`.
fn split_humps(word: &str) -> Vec<&str> {
    let bytes = word.as_bytes();
    let is_hump = |at: usize| bytes[at - 1].is_ascii_lowercase() && bytes[at].is_ascii_uppercase();
    let mut parts = Vec::new();
    let mut start = 0;
    for at in (1..bytes.len()).filter(|at| is_hump(*at)) {
        parts.push(&word[start..at]);
        start = at;
    }
    parts.push(&word[start..]);
    parts
}

fn identifier(name: String, fallback: &str) -> String {
    let mut name: String = name.chars().take(NAME_CHARS_MAX).collect();
    if name.is_empty() {
        return fallback.to_owned();
    }
    if name.starts_with(|letter: char| letter.is_ascii_digit()) {
        name.insert(0, '_');
    }
    if RESERVED.contains(&name.as_str()) {
        name.push_str("Value");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_hold_what_they_were_given() {
        let check = |text: &str, expect: &str| assert_eq!(quoted(text), expect);
        check("it's", r"'it\'s'");
        check("a\\b\nc\u{2028}", r"'a\\b\nc\u2028'");
        check("${x}`", "'${x}`'");
        let mut template = String::new();
        escape_into(&mut template, "`${x}` $5 \\", '`');
        assert_eq!(template, r"\`\${x}\` $5 \\");
    }

    #[test]
    fn names_are_identifiers() {
        let camel = |text: &str| camel_case(text, "value");
        assert_eq!(camel("access_token"), "accessToken");
        assert_eq!(camel("X-CSRF-Token"), "xCsrfToken");
        assert_eq!(camel("주문"), "value");
        assert_eq!(camel("2fa"), "_2fa");
        assert_eq!(camel("delete"), "deleteValue");
        assert_eq!(camel("a); alert(1"), "aAlert1");
        assert_eq!(camel(&"x".repeat(500)).len(), 40);
        assert_eq!(upper_case("clientSecret", "X"), "CLIENT_SECRET");
        assert_eq!(upper_case("x-api-key", "X"), "X_API_KEY");
        assert_eq!(property("a-b"), "'a-b'");
        assert_eq!(property("a1"), "a1");
    }

    #[test]
    fn labels_are_one_short_line() {
        assert_eq!(label("a\n  b\u{2028}c"), "a b c");
        assert_eq!(label(&"x".repeat(500)).chars().count(), 100);
    }
}
