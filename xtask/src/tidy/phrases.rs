//! Phrases that the style guide replaces, in documents, help, comments and messages. The words and the counts are data in
//! [`super::ratchet`].

use super::files::TextFile;
use super::prose::{Kind, passages};
use super::ratchet::{BANNED, BUDGETS, EXCEPTIONS, SKIPPED};

/// Reports files that hold a banned phrase, and areas with more of them than their budget.
///
/// A file outside the areas with a budget must have none. A clean area must leave the table.
pub(super) fn plain(files: &[TextFile]) -> anyhow::Result<Vec<String>> {
    Ok(complaints(files, BUDGETS))
}

fn complaints(files: &[TextFile], budgets: &[(&str, usize)]) -> Vec<String> {
    let mut found = Vec::new();
    let mut counts = vec![0; budgets.len()];
    for file in files.iter().filter(|file| !SKIPPED.iter().any(|prefix| file.path.starts_with(prefix))) {
        let places = places(file);
        match area(&file.path, budgets) {
            Some(index) => counts[index] += places.len(),
            None => found.extend(places),
        }
    }
    for ((prefix, most), count) in budgets.iter().zip(counts) {
        if count > *most {
            found.push(format!("{prefix}: {count} banned phrases, more than {most}: rewrite the new ones"));
        } else if count == 0 && *most > 0 {
            found.push(format!("{prefix}: no banned phrase is left: remove its line from the ratchet"));
        }
    }
    found
}

/// Returns the index of the longest prefix of the path among the budgets.
fn area(path: &str, budgets: &[(&str, usize)]) -> Option<usize> {
    let matching = budgets.iter().enumerate().filter(|(_, (prefix, _))| path.starts_with(prefix));
    matching.max_by_key(|(_, (prefix, _))| prefix.len()).map(|(index, _)| index)
}

/// Returns one complaint for each banned phrase of a file.
fn places(file: &TextFile) -> Vec<String> {
    let mut found = Vec::new();
    for passage in passages(file) {
        if passage.kind == Kind::Doc && passage.text.starts_with("What ") {
            found.push(format!("{}:{}: a doc comment starts with \"What\"", file.path, passage.line));
        }
        let text = passage.text.to_lowercase();
        for (phrase, instead) in BANNED {
            if is_excepted(&file.path, phrase) {
                continue;
            }
            for _ in 0..occurrences(&text, phrase) {
                found.push(format!("{}:{}: \"{phrase}\": {instead}", file.path, passage.line));
            }
        }
    }
    found
}

fn is_excepted(path: &str, phrase: &str) -> bool {
    EXCEPTIONS
        .iter()
        .any(|(prefix, excepted, _)| path.starts_with(prefix) && (*excepted == phrase || *excepted == "*"))
}

/// Counts a phrase where it stands as words of its own. Hyphens and underscores are part of a word.
fn occurrences(text: &str, phrase: &str) -> usize {
    let word = |character: char| character.is_alphanumeric() || character == '_' || character == '-';
    let places = text.match_indices(phrase).filter(|(at, _)| {
        let before = text[..*at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        !before.is_some_and(word) && !after.is_some_and(word)
    });
    places.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, budgets: &[(&str, usize)], expect: &[&str]) {
        let file = TextFile { path: path.into(), text: text.into() };
        let found = complaints(&[file], budgets);
        assert_eq!(found.len(), expect.len(), "{path}: {text:?} gave {found:?}");
        for (found, expect) in found.iter().zip(expect) {
            assert!(found.contains(expect), "{found:?} lacks {expect:?}");
        }
    }

    #[test]
    fn a_planted_phrase_is_found_with_its_line() {
        check("docs/a.md", "Fine.\nNobody reads it.", &[], &["docs/a.md:2: \"nobody\""]);
        check("docs/a.md", "`nobody` is a user; retold is a word.", &[], &[]);
        check("crates/a/src/b.rs", "/// What it is.\nfn f() {}", &[], &["b.rs:1: a doc comment starts"]);
        check("crates/a/src/b.rs", "fn told() { g(\"servers told\") }", &[], &["b.rs:1: \"told\""]);
    }

    #[test]
    fn an_area_keeps_its_budget_and_leaves_the_table_when_clean() {
        let text = "// told\n// told";
        check("crates/a/src/b.rs", text, &[("crates/a", 2)], &[]);
        check("crates/a/src/b.rs", text, &[("crates/a", 1)], &["crates/a: 2 banned phrases, more than 1"]);
        check("crates/a/src/b.rs", "// fine", &[("crates/a", 1)], &["no banned phrase is left"]);
        check("crates/a/src/b.rs", "// fine", &[("crates/a/src", 0)], &[]);
        let nested = [("crates/a", 2), ("crates/a/src", 0)];
        check("crates/a/src/b.rs", text, &nested, &["crates/a: no banned", "crates/a/src: 2 banned"]);
    }

    #[test]
    fn every_exception_is_about_a_listed_phrase_and_has_a_reason() {
        for (prefix, phrase, reason) in EXCEPTIONS {
            assert!(!reason.is_empty(), "{prefix}");
            assert!(
                *phrase == "*" || BANNED.iter().any(|(banned, _)| banned == phrase),
                "{prefix}: {phrase}"
            );
        }
    }
}
