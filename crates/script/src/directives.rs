//! Directives (`"use k6 with k6/x/sql >= 1.0";`): what a script wants of the program that runs it, in texts at the top of
//! its files. Each file has its own; they say nothing to JavaScript.

mod versions;

use std::collections::BTreeMap;

use versions::canonical;
pub use versions::is_met;

/// Version constraints that a script declares, by the name of the dependency (`k6`, `k6/x/sql`), as k6 writes them; `*`
/// where any version will do.
pub type Asked = BTreeMap<String, String>;

/// The newest k6 whose surface is covered: what a directive about k6 itself is held against.
pub const K6_VERSION: &str = "2.3.0";

/// The constraint that every version meets.
const ANY: &str = "*";

/// Directives read of one file; further ones are not looked at.
const DIRECTIVES_MAX: usize = 256;

/// Why a directive makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read the directive \"{directive}\" of {url}: {why}")]
pub struct DirectiveError {
    directive: String,
    url: String,
    why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Why {
    #[error("invalid version constraint {constraint:?} on {name}; expected one such as \">=1.2\"")]
    NoConstraint { name: String, constraint: String },
    #[error(
        "{0} already has a version constraint, and only one is allowed; combine them in one directive, as in \">=1 <3\""
    )]
    Twice(String),
}

/// Collects the version constraints of all files.
///
/// # Errors
/// A directive cannot be understood; k6 refuses it, too.
pub fn asked<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Asked, DirectiveError> {
    let mut asked = Asked::new();
    for (url, text) in files {
        for directive in prologue(text) {
            let Some((name, constraint)) = parse(directive) else { continue };
            let refuse = |why| {
                let (directive, url) = (directive.to_owned(), url.to_owned());
                Err(DirectiveError { directive, url, why })
            };
            let Some(constraint) = canonical(constraint) else {
                return refuse(Why::NoConstraint {
                    name: name.to_owned(),
                    constraint: constraint.to_owned(),
                });
            };
            let known = asked.entry(name.to_owned()).or_insert_with(|| ANY.to_owned());
            match (known.as_str(), constraint.as_str()) {
                (_, ANY) => {}
                (ANY, _) => *known = constraint,
                _ => return refuse(Why::Twice(name.to_owned())),
            }
        }
    }
    Ok(asked)
}

/// Name and constraint of a directive that is about k6.
fn parse(directive: &str) -> Option<(&str, &str)> {
    let rest = directive.strip_prefix("use k6")?;
    if !rest.is_empty() && !rest.starts_with(' ') {
        return None;
    }
    let rest = rest.trim_start();
    let extension = rest.strip_prefix("with ").map(str::trim_start).filter(|it| it.starts_with("k6/x/"));
    let (name, constraint) = match extension {
        Some(rest) => rest.split_once(' ').unwrap_or((rest, "")),
        None => ("k6", rest),
    };
    let constraint = constraint.trim();
    Some((name, if constraint.is_empty() { ANY } else { constraint }))
}

/// The texts at the start of a file that stand as statements of their own (ECMA-262, 11.2.1).
fn prologue(text: &str) -> Vec<&str> {
    let mut rest = text.trim_start_matches('\u{feff}');
    if rest.starts_with("#!") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    let mut directives = Vec::new();
    while directives.len() < DIRECTIVES_MAX {
        (rest, _) = skip_blank(rest);
        let Some(quote) = rest.chars().next().filter(|quote| ['"', '\''].contains(quote)) else { break };
        let Some(end) = rest[1..].find([quote, '\\', '\n']).filter(|end| rest[1 + end..].starts_with(quote))
        else {
            break;
        };
        let directive = &rest[1..=end];
        let (after, has_line_end) = skip_blank(&rest[end + 2..]);
        match after.strip_prefix(';') {
            Some(after) => rest = after,
            // Without a semicolon the statement ends with its line, unless the next one goes on with it.
            None if after.is_empty() || has_line_end && !goes_on(after) => rest = after,
            None => break,
        }
        directives.push(directive);
    }
    directives
}

/// Whether a line that begins so continues an expression.
fn goes_on(line: &str) -> bool {
    line.starts_with(['.', ',', '+', '-', '*', '/', '%', '(', '[', '?', '<', '>', '=', '&', '|', '^', '`'])
        || line.starts_with("in ")
        || line.starts_with("instanceof ")
}

/// The text after blanks and comments, and whether a line ended in them.
fn skip_blank(text: &str) -> (&str, bool) {
    let (mut rest, mut has_line_end) = (text, false);
    loop {
        let trimmed = rest.trim_start();
        has_line_end |= rest[..rest.len() - trimmed.len()].contains('\n');
        rest = if trimmed.starts_with("//") {
            trimmed.find('\n').map_or("", |end| &trimmed[end..])
        } else if let Some(comment) = trimmed.strip_prefix("/*") {
            let (inside, after) = comment.split_once("*/").unwrap_or((comment, ""));
            has_line_end |= inside.contains('\n');
            after
        } else {
            return (trimmed, has_line_end);
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[(&str, &str)]) {
        let asked = asked([("file:///s.js", text)]).expect("k6 reads it");
        let asked: Vec<_> = asked.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(asked, expect, "{text}");
    }

    /// Results of k6 v2.2 for the same texts.
    #[test]
    fn directives_are_read_at_the_top_alone() {
        check(
            "\"use k6 >= 0.5\";\n'use k6 with k6/x/faker >=0.4.0';",
            &[("k6", ">=0.5"), ("k6/x/faker", ">=0.4.0")],
        );
        check("// a\n/* b */ \"use k6 with k6/x/sql * \";", &[("k6/x/sql", "*")]);
        check("\"use strict\"; \"use k6 >=9\";", &[("k6", ">=9")]);
        check("\"use k6\"\nimport 'k6'", &[("k6", "*")]);
        check(
            "#!/usr/bin/env plimsoll\n'use k6 with k6/x/a'\n'use k6 with k6/x/b'",
            &[("k6/x/a", "*"), ("k6/x/b", "*")],
        );
        check("const a = 1; \"use k6 >=9\";", &[]);
        check("\"use k6 >=9\" + 1", &[]);
        check("\"use k6 >=9\"\n.length", &[]);
        check("\"use k6s\"; \"used\"", &[]);
        check("", &[]);
        check("\"use k6", &[]);
        check("\"use k6 >= 1\\n\"", &[]);
        check("\"use k6 > 1, < 3 || ^5.x\";", &[("k6", ">1 <3 || ^5.x")]);
        check("\"use k6\"; \"use k6 >1\"; \"use k6\"", &[("k6", ">1")]);
    }

    #[test]
    fn what_k6_cannot_read_is_refused() {
        for text in [
            "use k6 bogus",
            "use k6 <>1",
            "use k6 >=",
            "use k6 with nope",
            "use k6 with k6/http >1",
            "use k6 with k6/x/a 1.2.3.4",
        ] {
            let error = asked([("file:///s.js", format!("'{text}'").as_str())]).expect_err(text).to_string();
            assert!(error.contains(text) && error.contains("invalid version constraint"), "{error}");
        }
    }

    #[test]
    fn each_name_has_one_constraint() {
        for texts in [["use k6 >1", "use k6 <3"], ["use k6 >1", "use k6 > 1"]] {
            let files = texts.map(|text| format!("'{text}'"));
            let both = files.iter().enumerate().map(|(index, text)| (["a.js", "b.js"][index], text.as_str()));
            let error = asked(both).expect_err(texts[1]).to_string();
            assert!(
                error.contains(texts[1]) && error.contains("b.js") && error.contains("already"),
                "{error}"
            );
        }
    }

    #[test]
    fn hostile_texts_end() {
        for text in ["'".repeat(100_000), "/*".repeat(100_000), "'a';".repeat(100_000), "'é'\n;'ü'".into()]
        {
            let _ = asked([("file:///s.js", text.as_str())]);
        }
    }
}
