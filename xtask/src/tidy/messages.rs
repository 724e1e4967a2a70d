//! Messages are short: help texts and the catalogue of sentences have no long sentence, and no help starts with "What".

use super::files::TextFile;
use super::prose::{Kind, Passage, passages};

/// Words of a sentence that users read.
const WORDS_MAX: usize = 30;

/// Files whose doc comments and literals become help texts.
const HELP: &str = "crates/plimsoll/src/flags";

/// Files whose literals are the sentences of reports, the page and the terminal.
const SENTENCES: &str = "crates/words/src/";

/// First words that make a question or a riddle of a help text.
const OPENERS: &[&str] = &["What ", "Who ", "Whoever ", "Whose "];

/// Reports sentences of more than [`WORDS_MAX`] words in messages, and help texts that start with a question word.
pub(super) fn short(files: &[TextFile]) -> anyhow::Result<Vec<String>> {
    Ok(files.iter().flat_map(complaints).collect())
}

fn complaints(file: &TextFile) -> Vec<String> {
    let is_help = file.path.starts_with(HELP);
    if !is_help && !file.path.starts_with(SENTENCES) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for passage in joined(passages(file)) {
        let path = format!("{}:{}", file.path, passage.line);
        if is_help && OPENERS.iter().any(|opener| passage.text.starts_with(opener)) {
            found.push(format!("{path}: a help text starts with a question word: name the subject"));
        }
        if passage.kind == Kind::Doc && !is_help || passage.kind == Kind::Comment {
            continue;
        }
        for sentence in sentences(&passage.text) {
            let words = sentence.split_whitespace().count();
            if words > WORDS_MAX {
                let start: Vec<&str> = sentence.split_whitespace().take(6).collect();
                found.push(format!("{path}: a sentence of {words} words: {} …", start.join(" ")));
            }
        }
    }
    found
}

/// Joins the lines of one doc comment.
fn joined(passages: Vec<Passage>) -> Vec<Passage> {
    let mut found: Vec<Passage> = Vec::new();
    let mut previous_line = 0;
    for passage in passages {
        let follows = passage.kind == Kind::Doc && passage.line == previous_line + 1;
        previous_line = passage.line;
        match found.last_mut().filter(|last| follows && last.kind == Kind::Doc) {
            Some(last) => {
                last.text.push(if passage.text.is_empty() { '\n' } else { ' ' });
                last.text.push_str(&passage.text);
            }
            None => found.push(passage),
        }
    }
    found
}

/// Splits a text into sentences. Indented lines are examples; an empty line ends a sentence, and so does a bracket with a
/// default value.
fn sentences(text: &str) -> Vec<String> {
    let prose: Vec<&str> = text.lines().map(|line| if line.starts_with("  ") { "" } else { line }).collect();
    let mut found = Vec::new();
    for paragraph in prose.split(|line| line.is_empty()) {
        let paragraph = paragraph.join(" ").replace(" [default", ". [default");
        let mut rest = paragraph.as_str();
        while let Some(end) = [". ", "! ", "? "].iter().filter_map(|stop| rest.find(stop)).min() {
            found.push(rest[..=end].to_owned());
            rest = &rest[end + 2..];
        }
        found.push(rest.to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expect: &[&str]) {
        let file = TextFile { path: path.into(), text: text.into() };
        let found = complaints(&file);
        assert_eq!(found.len(), expect.len(), "{path}: {text:?} gave {found:?}");
        for (found, expect) in found.iter().zip(expect) {
            assert!(found.contains(expect), "{found:?} lacks {expect:?}");
        }
    }

    #[test]
    fn a_planted_long_sentence_is_found() {
        let long = "word ".repeat(WORDS_MAX + 1);
        let literal = format!("const A: &str = \"Short. {long}\";");
        check("crates/words/src/a.rs", &literal, &["a sentence of 31 words"]);
        check("crates/plimsoll/src/flags/a.rs", &literal, &["a sentence of 31 words"]);
        check("crates/plimsoll/src/a.rs", &literal, &[]);
        check("crates/words/src/a.rs", &format!("/// {long}"), &[]);
        let half = "word ".repeat(WORDS_MAX / 2 + 1);
        check(
            "crates/plimsoll/src/flags.rs",
            &format!("/// {half}\n/// {half}"),
            &["flags.rs:1: a sentence"],
        );
    }

    #[test]
    fn examples_and_defaults_are_no_part_of_a_sentence() {
        let example = format!("\"Examples:\n  {}\"", "word ".repeat(WORDS_MAX));
        check("crates/plimsoll/src/flags.rs", &example, &[]);
        let half = "word ".repeat(WORDS_MAX - 10);
        check("crates/plimsoll/src/flags.rs", &format!("/// {half} [default: {half}]"), &[]);
    }

    #[test]
    fn a_planted_question_word_is_found() {
        check("crates/plimsoll/src/flags/a.rs", "/// What to do", &["question word"]);
        check("crates/plimsoll/src/flags/a.rs", "/// Do it", &[]);
    }
}
