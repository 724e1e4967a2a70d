use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{CATALOGUES, PageText};
use crate::testing::{Entry, check};

/// Keys without Hangul: symbols, and terms that Korean engineers write in Latin letters.
const LATIN: &[&str] = &[
    "figure_p50",
    "figure_p95",
    "figure_p99",
    "knee_kneedle",
    "knee_usl",
    "n_plus_one",
    "objective",
    "of_n",
    "open_lanes",
    "phase_setup",
    "phase_teardown",
    "phase_tls",
    "population",
    "precision_histogram",
    "spans_times",
    "stage_work",
    "trace_sentence_also",
    "vital_cpu",
];

const HEAD: &str = "\
// Generated from crates/words/src/page by `UPDATE_EXPECT=1 cargo test -p words`; do not edit.

/** Every text of the page in English and Korean. `{0}` stands for the first value. */
export const TEXTS = {
";

const VALUES: &str = "\
} as const;

type Value = string | number;

/** The values of each text that has any. */
export interface Values {
";

fn texts() -> impl Iterator<Item = &'static PageText> {
    CATALOGUES.iter().copied().flatten()
}

#[test]
fn texts_follow_the_rules_of_wording() {
    let entries: Vec<Entry> = texts().map(|text| (text.key, text.english, text.korean)).collect();
    check(&entries, LATIN);
}

#[test]
fn keys_are_unique() {
    let keys: BTreeSet<&str> = texts().map(|text| text.key).collect();
    let mut repeated: Vec<&str> = texts().map(|text| text.key).collect();
    for key in keys {
        let at = repeated.iter().position(|one| *one == key);
        repeated.remove(at.expect("a key is one of all keys"));
    }
    assert!(repeated.is_empty(), "{repeated:?}");
}

/// `UPDATE_EXPECT=1 cargo test -p words` writes the file anew.
#[test]
fn the_generated_texts_of_the_page_are_current() {
    expect_test::expect_file!["../../../../ui/src/texts.ts"].assert_eq(&typescript());
}

/// Returns the texts as TypeScript: one table of texts, and the types of their values.
fn typescript() -> String {
    let mut table = String::from(HEAD);
    let mut values = String::from(VALUES);
    for text in texts() {
        let [english, korean] = [text.english, text.korean].map(|wording| quoted(&numbered(wording, text)));
        let _ = writeln!(table, "  {}: [{english}, {korean}],", text.key);
        if !text.arguments.is_empty() {
            let named: Vec<String> = text.arguments.iter().map(|name| format!("{name}: Value")).collect();
            let _ = writeln!(values, "  {}: [{}];", text.key, named.join(", "));
        }
    }
    format!("{table}{values}}}\n")
}

/// Replaces the names in braces by the positions of the arguments.
fn numbered(wording: &str, text: &PageText) -> String {
    let arguments = text.arguments.iter().enumerate();
    arguments.fold(wording.to_owned(), |wording, (position, name)| {
        wording.replace(&format!("{{{name}}}"), &format!("{{{position}}}"))
    })
}

fn quoted(wording: &str) -> String {
    format!("'{}'", wording.replace('\\', r"\\").replace('\'', r"\'"))
}
