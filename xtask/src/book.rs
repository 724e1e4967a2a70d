//! The documentation as a book with search, built by mdbook, whose links all lead to a page and a heading of it.
//!
//! Documents link to source files, which are in no book: there, the names of these files stand without a link.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::workspace;

/// Broken links that are shown.
const SHOWN_MAX: usize = 20;

/// Folders of the sources that hold no pages: figures that other documents are made from.
const SKIPPED: &[&str] = &["analysis"];

pub(crate) fn main(mut parser: lexopt::Parser) -> anyhow::Result<()> {
    if let Some(argument) = parser.next().context("read the arguments")? {
        bail!("book: {}", argument.unexpected());
    }
    if Command::new("mdbook").arg("--version").output().is_err() {
        println!("skipped: mdbook is not installed, so the book is not built (cargo install mdbook)");
        return Ok(());
    }
    let folder = workspace::target_directory()?.join("book");
    let _ = std::fs::remove_dir_all(&folder);
    let (sources, html) = (folder.join("docs"), folder.join("html"));
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let settings = workspace::root().join("book.toml");
    std::fs::copy(&settings, folder.join("book.toml")).context("copy book.toml")?;
    copy(&workspace::root().join("docs"), &sources, Path::new(""))?;
    let built = Command::new("mdbook").arg("build").arg(&folder).arg("--dest-dir").arg(&html).output();
    let built = built.context("run mdbook")?;
    let log = String::from_utf8_lossy(&built.stderr);
    ensure!(built.status.success(), "build the book: {log}");
    ensure!(!log.contains("WARN"), "build the book without warnings: {log}");
    let pages = pages(&html)?;
    let broken = broken(&pages, &html);
    for link in broken.iter().take(SHOWN_MAX) {
        println!("{link}");
    }
    ensure!(broken.is_empty(), "follow {} links of the book", broken.len());
    let has_index = std::fs::read_dir(&html)
        .context("list the book's files")?
        .flatten()
        .any(|entry| entry.file_name().to_string_lossy().starts_with("searchindex"));
    ensure!(has_index, "find the index of the search");
    println!("{}: {} pages, all links lead somewhere", html.join("index.html").display(), pages.len());
    Ok(())
}

/// Copies a folder of documents. Links that leave the documents become plain text.
fn copy(from: &Path, to: &Path, inside: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to).with_context(|| format!("create {}", to.display()))?;
    for entry in std::fs::read_dir(from).with_context(|| format!("read {}", from.display()))? {
        let path = entry.context("read the documents")?.path();
        let Some(name) = path.file_name() else { continue };
        let (to, inside) = (to.join(name), inside.join(name));
        if path.is_dir() {
            if !SKIPPED.iter().any(|skipped| Path::new(skipped) == inside) {
                copy(&path, &to, &inside)?;
            }
        } else if path.extension().is_some_and(|end| end == "md") {
            let text = std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
            let folder = inside.parent().unwrap_or(Path::new(""));
            std::fs::write(&to, without_links(&text, folder))
                .with_context(|| format!("write {}", to.display()))?;
        } else {
            std::fs::copy(&path, &to).with_context(|| format!("copy {}", path.display()))?;
        }
    }
    Ok(())
}

/// The text of a document in `folder`, where links to anything but pages and pictures of the book are plain text.
fn without_links(text: &str, folder: &Path) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        let Some(end) = after.find(')') else { break };
        let target = &after[..end];
        match opening(before).filter(|_| !is_in_book(target, folder)) {
            Some(opening) => {
                plain.push_str(&before[..opening]);
                plain.push_str(&before[opening + 1..]);
            }
            None => plain.push_str(&rest[..at + 2 + end + 1]),
        }
        rest = &after[end + 1..];
    }
    plain.push_str(rest);
    plain
}

/// The bracket that is still open at the end of a text.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, letter) in text.char_indices().rev() {
        match letter {
            ']' => depth += 1,
            '[' if depth == 0 => return Some(at),
            '[' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn is_in_book(target: &str, folder: &Path) -> bool {
    let path = target.split('#').next().unwrap_or_default();
    if path.is_empty() || path.contains("://") || path.starts_with("mailto:") {
        return true;
    }
    let is_kept = [".md", ".png", ".svg", ".json"].iter().any(|end| path.ends_with(end));
    let inside = normalized(&folder.join(path));
    is_kept && inside.is_some_and(|path| !SKIPPED.iter().any(|skipped| path.starts_with(skipped)))
}

/// The path without `..`; `None` where it leaves the root.
fn normalized(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => normal.push(part),
            Component::ParentDir if !normal.pop() => return None,
            Component::ParentDir | Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(normal)
}

/// A page of the book: the places that links can lead to, and its links.
#[derive(Debug, Default, PartialEq)]
struct Page {
    anchors: BTreeSet<String>,
    links: BTreeSet<String>,
}

/// The pages of the book by their path inside of it. The one for printing, which has all others, and that for lost readers are none.
fn pages(html: &Path) -> anyhow::Result<BTreeMap<PathBuf, Page>> {
    let mut pages = BTreeMap::new();
    let mut folders = vec![html.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("read {}", folder.display()))? {
            let path = entry.context("read the book")?.path();
            let inside = path.strip_prefix(html).unwrap_or(&path).to_path_buf();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "html")
                && !["print.html", "404.html"].iter().any(|name| Path::new(name) == inside)
            {
                let text =
                    std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
                pages.insert(inside, page(&text));
            }
        }
    }
    Ok(pages)
}

fn page(html: &str) -> Page {
    let values = |name: &str| -> BTreeSet<String> {
        let mark = format!(" {name}=\"");
        let values =
            html.match_indices(&mark).filter_map(|(at, mark)| html[at + mark.len()..].split('"').next());
        values.map(|value| value.replace("&amp;", "&")).collect()
    };
    let mut links = values("href");
    links.extend(values("src"));
    links.retain(|link| !link.contains("://") && !link.starts_with("mailto:") && !link.starts_with("data:"));
    Page { anchors: values("id"), links }
}

/// Links that lead to no file of the book, or to no heading of a page.
fn broken(pages: &BTreeMap<PathBuf, Page>, html: &Path) -> Vec<String> {
    let mut broken = Vec::new();
    for (path, page) in pages {
        let folder = path.parent().unwrap_or(Path::new(""));
        for link in &page.links {
            let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = target.split('?').next().unwrap_or_default();
            let to = if target.is_empty() { Some(path.clone()) } else { normalized(&folder.join(target)) };
            let leads = to.is_some_and(|to| match pages.get(&to) {
                Some(page) => anchor.is_empty() || page.anchors.contains(anchor),
                None => html.join(&to).exists(),
            });
            if !leads {
                broken.push(format!("{}: leads nowhere: {link}", path.display()));
            }
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_out_of_the_book_become_text() {
        let check = |text: &str, expect: &str| {
            assert_eq!(without_links(text, Path::new("guide")), expect);
        };
        check("see [`wire`](../../crates/wire) and [x](y.md#z)", "see `wire` and [x](y.md#z)");
        check("[a [b] c](../../x.md)[d](https://h/)[e](#f)", "a [b] c[d](https://h/)[e](#f)");
        check(
            "![p](../images/p.png) [s](../format/s.json) [l](l.sh)",
            "![p](../images/p.png) [s](../format/s.json) l",
        );
        check("[figures](../analysis/x.json) `a](b`", "figures `a](b`");
    }

    #[test]
    fn broken_links_are_found() {
        let read = |pairs: &[(&str, &str)]| -> Vec<String> {
            let pages = pairs.iter().map(|(path, html)| (PathBuf::from(path), page(html))).collect();
            broken(&pages, Path::new("/nowhere"))
        };
        let there = ("guide/b.html", "<h2 id=\"x&amp;y\"></h2>");
        assert!(read(&[("a.html", "<a href=\"guide/b.html#x&amp;y\"></a>"), there]).is_empty());
        assert!(
            read(&[("guide/a.html", "<a href=\"b.html\"></a><a href=\"https://h/\"></a>"), there]).is_empty()
        );
        assert_eq!(read(&[("a.html", "<a href=\"b.html\"></a>"), there]), ["a.html: leads nowhere: b.html"]);
        assert_eq!(
            read(&[("a.html", "<a href=\"guide/b.html#z\"></a><p id=\"z\">"), there]),
            ["a.html: leads nowhere: guide/b.html#z"]
        );
        assert_eq!(read(&[("a.html", "<img src=\"../p.png\">")]), ["a.html: leads nowhere: ../p.png"]);
    }
}
