//! Lines that no file may have.

use super::files::TextFile;

/// Lines of a source file. Beyond this a file holds two things.
const LINES_MAX: usize = 900;

/// Files written by hand, by extension.
const CODE: &[&str] = &["rs", "js", "ts", "py", "sh", "toml"];

/// Promises and probes, kept apart so that this file does not hold them.
const LEFTOVERS: &[&str] =
    &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("db", "g!(")];

/// Places that exist on one machine only, and hosts that packages come from on some.
const PLACES: &[&str] = &[
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/wo", "rk/"),
    concat!("/tmp/", "wt/"),
    concat!("/tmp/", "target/"),
    concat!("static.", "crates.io"),
    concat!("index.", "crates.io"),
    concat!("registry.", "npmjs.org"),
    concat!("files.python", "hosted.org"),
    concat!("proxy.", "golang.org"),
];

/// Where the packages of Cargo.lock come from.
const REGISTRY: &str = r#"source = "registry+https://github.com/rust-lang/crates.io-index""#;

/// The crates that may have unsafe code, each file with its reason.
const UNSAFE_CRATES: &[&str] = &["crates/script/src/", "crates/vu/src/"];

/// No file is too long, holds a leftover, names a machine's own place, or is unsafe without saying so.
pub(super) fn clean(files: &[TextFile]) -> anyhow::Result<Vec<String>> {
    Ok(files.iter().flat_map(complaints).collect())
}

fn complaints(file: &TextFile) -> Vec<String> {
    let mut found = Vec::new();
    if file.path == "Cargo.lock" {
        found.extend(each_line(
            file,
            |line| line.starts_with("source = ") && line != REGISTRY,
            "an unusual source",
        ));
        return found;
    }
    found.extend(each_line(file, names_place, "names a place of one machine"));
    if CODE.contains(&file.extension()) {
        found.extend(each_line(file, is_leftover, "a leftover"));
    }
    if file.extension() == "rs" {
        found.extend(too_long(file));
        found.extend(unsafe_in_silence(file));
    }
    found
}

fn each_line(file: &TextFile, is_bad: impl Fn(&str) -> bool, what: &str) -> Vec<String> {
    let bad = file.text.lines().enumerate().filter(|(_, line)| is_bad(line));
    bad.map(|(index, line)| format!("{}:{}: {what}: {}", file.path, index + 1, line.trim())).collect()
}

fn names_place(line: &str) -> bool {
    PLACES.iter().any(|place| line.contains(place))
}

/// Whether a line holds a leftover as a word of its own.
fn is_leftover(line: &str) -> bool {
    LEFTOVERS.iter().any(|leftover| {
        line.match_indices(leftover).any(|(at, _)| {
            let word = |character: char| character.is_alphanumeric() || character == '_';
            let before = line[..at].chars().next_back();
            let after = line[at + leftover.len()..].chars().next();
            let opens = leftover.ends_with('(');
            !before.is_some_and(word) && (opens || !after.is_some_and(word))
        })
    })
}

fn too_long(file: &TextFile) -> Option<String> {
    let lines = file.text.lines().count();
    (lines > LINES_MAX).then(|| format!("{}: {lines} lines, more than {LINES_MAX}: split it", file.path))
}

/// The compiler denies unsafe code where the lint is not lifted; this keeps the lifting to two crates, with a reason.
fn unsafe_in_silence(file: &TextFile) -> Option<String> {
    let lifts = |line: &&str| {
        let line = line.trim();
        line.starts_with('#') && line.contains("(unsafe_code")
    };
    let mut lifted = file.text.lines().filter(lifts).peekable();
    lifted.peek()?;
    if !UNSAFE_CRATES.iter().any(|path| file.path.starts_with(path)) {
        return Some(format!("{}: unsafe code outside its crates", file.path));
    }
    let unexplained = lifted.find(|line| !line.contains("reason = "))?;
    Some(format!("{}: unsafe code without its reason: {}", file.path, unexplained.trim()))
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
    fn leftovers_are_found_as_words() {
        check("crates/a/src/b.rs", concat!("// TO", "DO: later"), &["b.rs:1: a leftover"]);
        check("crates/a/src/b.rs", concat!("let autoTO", "DOS = 1;"), &[]);
        check("crates/a/src/b.rs", concat!("db", "g!(x);"), &["a leftover"]);
        check("docs/a.md", concat!("no TO", "DO here"), &[]);
    }

    #[test]
    fn places_are_found_everywhere() {
        check("docs/a.md", concat!("see /ho", "me/me/file"), &["a.md:1: names a place"]);
        check("docs/a.md", "see /tmp/file", &[]);
    }

    #[test]
    fn long_files_are_found() {
        check("crates/a/src/b.rs", &"\n".repeat(LINES_MAX), &[]);
        check("crates/a/src/b.rs", &"\n".repeat(LINES_MAX + 1), &["901 lines"]);
        check("conformance/expected/a.json", &"\n".repeat(LINES_MAX + 1), &[]);
    }

    #[test]
    fn unsafe_code_keeps_to_its_crates_and_states_its_reason() {
        let lifted = "#![expect(unsafe_code, reason = \"stacks\")]";
        check("crates/vu/src/a.rs", lifted, &[]);
        check("crates/wire/src/a.rs", lifted, &["outside its crates"]);
        check("crates/vu/src/a.rs", "#![allow(unsafe_code)]", &["without its reason"]);
    }

    #[test]
    fn packages_come_from_the_one_registry() {
        check("Cargo.lock", REGISTRY, &[]);
        check("Cargo.lock", "source = \"git+https://example.com\"", &["an unusual source"]);
    }
}
