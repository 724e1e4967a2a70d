//! Phrases that the style guide replaces, in documents, help, comments and messages. The phrases are data in [`super::banned`].

use super::banned::{BANNED, EXCEPTIONS, SKIPPED};
use super::files::TextFile;
use super::prose::{Kind, passages};

/// Reports each banned phrase in the files.
pub(super) fn plain(files: &[TextFile]) -> anyhow::Result<Vec<String>> {
    let checked = files.iter().filter(|file| !SKIPPED.iter().any(|prefix| file.path.starts_with(prefix)));
    Ok(checked.flat_map(places).collect())
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

    fn check(path: &str, text: &str, expect: &[&str]) {
        let file = TextFile { path: path.into(), text: text.into() };
        let found = plain(&[file]).expect("a result");
        assert_eq!(found.len(), expect.len(), "{path}: {text:?} gave {found:?}");
        for (found, expect) in found.iter().zip(expect) {
            assert!(found.contains(expect), "{found:?} lacks {expect:?}");
        }
    }

    #[test]
    fn a_planted_phrase_is_found_with_its_line() {
        check("docs/a.md", "Fine.\nNobody reads it.", &["docs/a.md:2: \"nobody\""]);
        check("docs/a.md", "`nobody` is a user; retold is a word.", &[]);
        check("crates/a/src/b.rs", "/// What it is.\nfn f() {}", &["b.rs:1: a doc comment starts"]);
        check("crates/a/src/b.rs", "fn told() { g(\"servers told\") }", &["b.rs:1: \"told\""]);
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
