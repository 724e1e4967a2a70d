//! Tables of results: of one tool, and of two beside each other.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::results::{FileResult, Results};

/// A row.
#[derive(Default)]
struct Counts {
    cases: usize,
    ours: usize,
    theirs: usize,
}

/// One tool's cases by directory.
pub(super) fn summary(results: &Results) -> String {
    let mut text = format!("{}\n| | Cases | Passed |\n|---|--:|--:|\n", results.tool);
    let rows = counted(results, results);
    for (name, count) in with_total(rows) {
        let _ =
            writeln!(text, "| `{name}` | {} | {} |", thousands(count.cases), share(count.ours, count.cases));
    }
    for (why, count) in &results.left_out {
        let _ = writeln!(text, "left out: {} ({why})", thousands(*count));
    }
    text
}

/// Two tools by directory. A file has as many cases as the tool that came farther has named, so that a file which ends early
/// fails with what it did not reach. Features of which neither passes a single test are claimed by neither, and apart.
pub(super) fn table(ours: &Results, theirs: &Results) -> String {
    let unclaimed = unclaimed(ours, theirs);
    let is_claimed = |file: &&FileResult| !file.features.iter().any(|name| unclaimed.contains_key(name));
    let claimed = |results: &Results| Results {
        files: results
            .files
            .iter()
            .filter(|(_, file)| is_claimed(file))
            .map(|(path, file)| (path.clone(), copy(file)))
            .collect(),
        ..Results::default()
    };
    let rows = counted(&claimed(ours), &claimed(theirs));
    let mut text = format!("| | Cases | {} | {} |\n|---|--:|--:|--:|\n", ours.tool, theirs.tool);
    for (name, count) in with_total(rows) {
        let (first, second) = (share(count.ours, count.cases), share(count.theirs, count.cases));
        let _ = writeln!(text, "| `{name}` | {} | {first} | {second} |", thousands(count.cases));
    }
    if !unclaimed.is_empty() {
        let named: Vec<String> = unclaimed.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        let _ = writeln!(text, "\nNeither passes a test of: {}.", named.join(", "));
    }
    text
}

fn copy(file: &FileResult) -> FileResult {
    FileResult { cases: file.cases.clone(), ..FileResult::default() }
}

/// Features with tests of which neither tool passes one, with their number of files.
fn unclaimed(ours: &Results, theirs: &Results) -> BTreeMap<String, usize> {
    let mut files: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (path, file) in &ours.files {
        let passed = file.passed() + theirs.files.get(path).map_or(0, FileResult::passed);
        for feature in &file.features {
            let counts = files.entry(feature.clone()).or_default();
            counts.0 += 1;
            counts.1 += passed;
        }
    }
    files.into_iter().filter(|(_, counts)| counts.1 == 0).map(|(name, counts)| (name, counts.0)).collect()
}

fn counted(ours: &Results, theirs: &Results) -> BTreeMap<String, Counts> {
    let mut rows: BTreeMap<String, Counts> = BTreeMap::new();
    let nothing = FileResult::default();
    let paths = ours.files.keys().chain(theirs.files.keys().filter(|path| !ours.files.contains_key(*path)));
    for path in paths {
        let (one, two) =
            (ours.files.get(path).unwrap_or(&nothing), theirs.files.get(path).unwrap_or(&nothing));
        let row = rows.entry(directory(path)).or_default();
        row.cases += one.cases.len().max(two.cases.len()).max(1);
        row.ours += one.passed();
        row.theirs += two.passed();
    }
    rows
}

/// The first two folders of a path.
fn directory(path: &str) -> String {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').take(2).collect::<Vec<_>>().join("/")
}

/// The rows, after each first folder its sum, and at the end the sum of all.
fn with_total(rows: BTreeMap<String, Counts>) -> Vec<(String, Counts)> {
    let mut sums: BTreeMap<String, Counts> = BTreeMap::new();
    let mut all = Counts::default();
    for (name, row) in &rows {
        let part = name.split('/').next().unwrap_or_default().to_owned();
        for sum in [sums.entry(part).or_default(), &mut all] {
            sum.cases += row.cases;
            sum.ours += row.ours;
            sum.theirs += row.theirs;
        }
    }
    let several = sums.len() > 1;
    let mut shown: Vec<(String, Counts)> = rows.into_iter().collect();
    shown.extend(sums.into_iter().map(|(part, sum)| (format!("{part}, all"), sum)));
    shown.extend(several.then_some(("all".to_owned(), all)));
    shown
}

fn share(passed: usize, cases: usize) -> String {
    // A share that is not whole is never shown as 100 %.
    let tenths = (passed * 1_000 / cases.max(1)) as f64 / 10.0;
    format!("{} ({tenths:.1} %)", thousands(passed))
}

fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(tool: &str, files: &[(&str, &str, &[bool])]) -> Results {
        let files = files.iter().map(|(path, feature, cases)| {
            let cases =
                cases.iter().enumerate().map(|(index, passed)| (index.to_string(), *passed)).collect();
            let features = if feature.is_empty() { Vec::new() } else { vec![(*feature).to_owned()] };
            ((*path).to_owned(), FileResult { cases, features, ..FileResult::default() })
        });
        Results { tool: tool.to_owned(), files: files.collect(), left_out: BTreeMap::new() }
    }

    #[test]
    fn a_file_that_ends_early_fails_with_what_it_did_not_reach() {
        let ours = results("a", &[("url/x/1.js", "", &[true, true, false])]);
        let theirs = results("b", &[("url/x/1.js", "", &[true])]);
        let text = table(&ours, &theirs);
        assert!(text.contains("| `url/x` | 3 | 2 (66.6 %) | 1 (33.3 %) |"), "{text}");
    }

    #[test]
    fn features_that_neither_has_are_apart() {
        let rows: &[(&str, &str, &[bool])] = &[("l/a/1.js", "New", &[false]), ("l/a/2.js", "Old", &[true])];
        let text = table(&results("a", rows), &results("b", rows));
        assert!(text.contains("| `l/a` | 1 | 1 (100.0 %) | 1 (100.0 %) |"), "{text}");
        assert!(text.ends_with("Neither passes a test of: New (1).\n"), "{text}");
    }

    #[test]
    fn numbers_are_for_people() {
        assert_eq!([thousands(7), thousands(1_234), thousands(1_234_567)], ["7", "1,234", "1,234,567"]);
        assert_eq!(share(9_999, 10_000), "9,999 (99.9 %)");
    }
}
