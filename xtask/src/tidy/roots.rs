//! Every crate says what it is.

use super::files::TextFile;

/// Every crate root begins with a doc comment of at least one sentence.
pub(super) fn say_what_they_are(files: &[TextFile]) -> anyhow::Result<Vec<String>> {
    let silent = files.iter().filter(|file| is_root(&file.path) && !speaks(&file.text));
    Ok(silent.map(|file| format!("{}: a crate begins with `//!` and a sentence", file.path)).collect())
}

fn is_root(path: &str) -> bool {
    path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs")
}

fn speaks(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("//! ").is_some_and(|sentence| sentence.trim().contains(' '))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_root_speaks_in_its_first_line() {
        let check = |text: &str, expect: bool| assert_eq!(super::speaks(text), expect, "{text:?}");
        check("//! The one histogram.\n", true);
        check("//! (empty)\n", false);
        check("fn main() {}\n", false);
        check("", false);
    }
}
