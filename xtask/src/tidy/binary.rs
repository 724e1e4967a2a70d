//! The binary stays thin.

use super::files::TextFile;

/// The sources of the binary.
const SOURCES: &str = "crates/plimsoll/src/";

/// Lines of code that they may have, without tests, comments and blank lines.
const LINES_MAX: usize = 6_000;

/// The beginning of a file's tests.
const TESTS: &str = "#[cfg(test)]\nmod ";

/// Reports a binary that has grown into an application.
pub(super) fn is_thin(files: &[TextFile]) -> anyhow::Result<Vec<String>> {
    let sources = files.iter().filter(|file| file.path.starts_with(SOURCES));
    let lines: usize = sources.map(|file| code_lines(&file.text)).sum();
    let complaint =
        || format!("{SOURCES}: {lines} lines of code, limit {LINES_MAX}; move behaviour into a crate");
    Ok((lines > LINES_MAX).then(complaint).into_iter().collect())
}

fn code_lines(text: &str) -> usize {
    let code = text.split(TESTS).next().unwrap_or_default();
    code.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_counts() {
        let check = |text: &str, expect: usize| assert_eq!(code_lines(text), expect, "{text:?}");
        check("//! What it is.\n\nfn main() {}\n", 1);
        check("fn a() {}\n    // Why.\nfn b() {}\n#[cfg(test)]\nmod tests {\n    fn c() {}\n}\n", 2);
    }

    #[test]
    fn a_binary_that_is_an_application_is_reported() {
        let file =
            |lines: usize| TextFile { path: format!("{SOURCES}x.rs"), text: "fn f() {}\n".repeat(lines) };
        let count = |lines| is_thin(&[file(lines)]).map(|found| found.len()).ok();
        assert_eq!((count(LINES_MAX), count(LINES_MAX + 1)), (Some(0), Some(1)));
    }
}
