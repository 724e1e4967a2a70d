//! The rule that a sentence has one translation: the same English has the same Korean in terminal, reports and page.
//!
//! The sources are read as text, because sentences stand in catalogues, in `text!` and in tables of labels alike.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

/// English whose Korean depends on the counted noun: 건, 개, 회.
const COUNTED: &[&str] = &["{0} of {1}"];

/// Files that hold no sentences for users.
const NO_WORDING: &[&str] = &["agreement.rs", "lib.rs", "macros.rs", "testing.rs", "tests.rs"];

/// Korean translations of a sentence, each with the files that hold it.
type Translations = BTreeMap<String, BTreeSet<String>>;

#[test]
fn the_same_english_has_the_same_korean() {
    let mut sentences: BTreeMap<String, Translations> = BTreeMap::new();
    let mut count = 0;
    for (path, text) in
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).expect("sources can be read")
    {
        for (english, korean) in pairs(&text) {
            let arguments = arguments(english);
            let translations = sentences.entry(positional(english, &arguments)).or_default();
            translations.entry(positional(korean, &arguments)).or_default().insert(path.clone());
            count += 1;
        }
    }
    assert!(count > 1000, "only {count} sentences were found");
    let differing: Vec<String> = sentences
        .iter()
        .filter(|(english, translations)| translations.len() > 1 && !COUNTED.contains(&english.as_str()))
        .map(|(english, translations)| format!("{english:?}: {translations:?}"))
        .collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn pairs_are_found_in_every_form() {
    let catalogue = "key(count) = \"{count} runs\"\n  | \"실행 {count}개\";";
    assert_eq!(pairs(catalogue), [("{count} runs", "실행 {count}개")]);
    assert_eq!(pairs("text!(lang, \"runs\", \"실행\")"), [("runs", "실행")]);
    assert_eq!(pairs("[\"runs\", \"실행\"], [\"steps\", \"단계\"]"), [("runs", "실행"), ("steps", "단계")]);
    assert_eq!(pairs("// \"runs\", \"실행\"\n"), []);
    assert_eq!(positional("{after} of {before:.1}", &arguments("{before} {after}")), "{1} of {0}");
}

/// Returns the sources below a directory that hold sentences, by path.
fn sources(directory: &Path) -> io::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            let below = sources(&entry.path())?;
            found.extend(below.into_iter().map(|(path, text)| (format!("{name}/{path}"), text)));
        } else if !NO_WORDING.contains(&name.as_str()) {
            found.push((name, fs::read_to_string(entry.path())?));
        }
    }
    Ok(found)
}

/// Returns every English string literal with the Korean one that follows it after a comma or a bar.
fn pairs(source: &str) -> Vec<(&str, &str)> {
    let literals = literals(source);
    let neighbours = literals.windows(2).filter(|pair| {
        let between = source[pair[0].1 + 1..pair[1].0].trim();
        (between == "," || between == "|") && !has_hangul(pair[0].2) && has_hangul(pair[1].2)
    });
    neighbours.map(|pair| (pair[0].2, pair[1].2)).collect()
}

/// Returns the string literals outside comments: positions of their quotes, and their text.
fn literals(source: &str) -> Vec<(usize, usize, &str)> {
    let mut found = Vec::new();
    let mut start = None;
    let (mut is_comment, mut is_escaped) = (false, false);
    for (at, glyph) in source.char_indices() {
        match (start, glyph) {
            (_, '\n') if is_comment => is_comment = false,
            _ if is_comment => {}
            (None, '/') if source[at..].starts_with("//") => is_comment = true,
            (None, '"') => start = Some(at),
            (None, _) => {}
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(from), '"') => {
                found.push((from, at, &source[from + 1..at]));
                start = None;
            }
            (Some(_), _) => {}
        }
    }
    found
}

fn has_hangul(text: &str) -> bool {
    text.contains(|glyph: char| ('가'..='힣').contains(&glyph))
}

/// Returns the names of a sentence's arguments, in order.
fn arguments(sentence: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for placeholder in sentence.split('{').skip(1).filter_map(|rest| rest.split(['}', ':']).next()) {
        if !names.contains(&placeholder) {
            names.push(placeholder);
        }
    }
    names
}

/// Replaces the names of arguments by their positions, so that names do not matter.
fn positional(sentence: &str, arguments: &[&str]) -> String {
    let mut parts = sentence.split('{');
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (placeholder, rest) = part.split_once('}').unwrap_or((part, ""));
        let name = placeholder.split(':').next().unwrap_or_default();
        match arguments.iter().position(|argument| *argument == name) {
            Some(position) => replaced.push_str(&format!("{{{position}}}")),
            None => replaced.push_str(&format!("{{{name}}}")),
        }
        replaced.push_str(rest);
    }
    replaced
}
