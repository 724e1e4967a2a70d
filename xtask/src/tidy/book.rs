//! The book of the documentation has every page, and its glossary is in order.

use std::collections::BTreeMap;

use super::files::TextFile;

/// The table of contents.
const SUMMARY: &str = "docs/SUMMARY.md";

/// The list of terms.
const GLOSSARY: &str = "docs/glossary.md";

/// Folders whose pages belong to the book.
const FOLDERS: &[&str] = &["docs/", "docs/guide/", "docs/adr/", "docs/format/", "docs/reliability/"];

/// Reports pages that the table of contents lacks or has twice, and terms out of order.
pub(super) fn is_whole(files: &[TextFile]) -> anyhow::Result<Vec<String>> {
    let mut complaints = pages(files);
    complaints.extend(terms(files));
    Ok(complaints)
}

fn pages(files: &[TextFile]) -> Vec<String> {
    let summary = files.iter().find(|file| file.path == SUMMARY).map_or("", |file| &file.text);
    let mut listed: BTreeMap<String, usize> = BTreeMap::new();
    let links =
        summary.match_indices("](").filter_map(|(at, mark)| summary[at + mark.len()..].split(')').next());
    for link in links {
        *listed.entry(format!("docs/{link}")).or_default() += 1;
    }
    let is_page = |file: &&TextFile| {
        let folder = file.path.rfind('/').map_or("", |at| &file.path[..=at]);
        file.extension() == "md" && FOLDERS.contains(&folder) && file.path != SUMMARY
    };
    let pages: Vec<&str> = files.iter().filter(is_page).map(|file| file.path.as_str()).collect();
    let missing = pages.iter().filter(|path| !listed.contains_key(**path));
    let missing = missing.map(|path| format!("{SUMMARY}: {path} is not listed"));
    let twice = listed.iter().filter(|(_, count)| **count > 1);
    missing.chain(twice.map(|(path, count)| format!("{SUMMARY}: {path} is listed {count} times"))).collect()
}

fn terms(files: &[TextFile]) -> Vec<String> {
    let glossary = files.iter().find(|file| file.path == GLOSSARY).map_or("", |file| &file.text);
    let rows = glossary.lines().filter_map(|line| line.strip_prefix("| ")).skip(1);
    let terms: Vec<String> = rows.filter_map(|row| row.split(" |").next()).map(str::to_lowercase).collect();
    let misplaced = terms.windows(2).find(|pair| pair[0] >= pair[1]);
    misplaced
        .map(|pair| format!("{GLOSSARY}: {:?} comes before {:?}", pair[1], pair[0]))
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> TextFile {
        TextFile { path: path.into(), text: text.into() }
    }

    #[test]
    fn pages_outside_the_book_are_found() {
        let check = |summary: &str, expect: &[&str]| {
            let files = [
                file(SUMMARY, summary),
                file("docs/guide/a.md", ""),
                file("docs/b.md", ""),
                file("lab/c.md", ""),
            ];
            assert_eq!(pages(&files), expect);
        };
        check("[A](guide/a.md)\n- [B](b.md)", &[]);
        check("[A](guide/a.md)", &["docs/SUMMARY.md: docs/b.md is not listed"]);
        check("[A](guide/a.md) [B](b.md) [B](b.md)", &["docs/SUMMARY.md: docs/b.md is listed 2 times"]);
    }

    #[test]
    fn terms_out_of_order_are_found() {
        let check = |rows: &str, expect: usize| {
            let text = format!("# Glossary\n\n| Term | Meaning |\n|---|---|\n{rows}");
            assert_eq!(terms(&[file(GLOSSARY, &text)]).len(), expect, "{rows}");
        };
        check("| a | x |\n| B | y |\n| c | z |\n", 0);
        check("| b | x |\n| a | y |\n", 1);
        check("| a | x |\n| a | y |\n", 1);
    }
}
