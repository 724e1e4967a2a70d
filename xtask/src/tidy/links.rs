//! Links of documents lead somewhere, and the map names every crate.

use std::path::{Component, Path, PathBuf};

use super::files::TextFile;
use crate::workspace;

/// The document that names every crate.
const MAP: &str = "ARCHITECTURE.md";

/// Every relative link of every document leads to a file or folder, and the map names every crate.
pub(super) fn resolve(files: &[TextFile]) -> anyhow::Result<Vec<String>> {
    let root = workspace::root();
    let documents = files.iter().filter(|file| file.extension() == "md");
    let mut found: Vec<String> = documents
        .flat_map(|file| {
            let dead = targets(&file.text).into_iter().filter(|link| !leads(&root, &file.path, link));
            dead.map(|link| format!("{}: leads nowhere: {link}", file.path))
        })
        .collect();
    found.extend(unmapped(files));
    Ok(found)
}

/// The targets of Markdown links, without those to other hosts and within the page.
fn targets(text: &str) -> Vec<&str> {
    let after = text.match_indices("](").map(|(at, _)| &text[at + 2..]);
    let targets = after.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let path = targets.map(|target| target.split('#').next().unwrap_or_default());
    path.filter(|path| !path.is_empty() && !path.contains("://") && !path.starts_with("mailto:")).collect()
}

fn leads(root: &Path, from: &str, link: &str) -> bool {
    let folder = Path::new(from).parent().unwrap_or(Path::new(""));
    let inside = normalize(&folder.join(link));
    inside.is_some_and(|path| root.join(path).exists())
}

/// The path without `..`; `None` where it leaves the root.
fn normalize(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => normal.push(part),
            Component::ParentDir => {
                if !normal.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(normal)
}

/// Crates that the map does not link to.
fn unmapped(files: &[TextFile]) -> Vec<String> {
    let map = files.iter().find(|file| file.path == MAP).map_or("", |file| file.text.as_str());
    let links = targets(map);
    let crates = files.iter().filter_map(|file| file.path.strip_suffix("/Cargo.toml"));
    let missing = crates.filter(|folder| !links.iter().any(|link| link.trim_end_matches('/') == *folder));
    missing.map(|folder| format!("{MAP}: does not link to {folder}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_the_relative_ones() {
        let text = "[a](docs/a.md) [b](https://example.com/) [c](#below) [d](../b.md#part)";
        assert_eq!(targets(text), ["docs/a.md", "../b.md"]);
    }

    #[test]
    fn links_stay_inside() {
        let check = |from: &str, link: &str, expect: bool| {
            assert_eq!(leads(&workspace::root(), from, link), expect, "{from} → {link}");
        };
        check("README.md", "Cargo.toml", true);
        check("docs/adr/a.md", "../../Cargo.toml", true);
        check("README.md", "../README.md", false);
        check("README.md", "nowhere.md", false);
    }

    #[test]
    fn a_crate_without_a_link_is_missed() {
        let file = |path: &str, text: &str| TextFile { path: path.into(), text: text.into() };
        let crates = [file("crates/a/Cargo.toml", ""), file("crates/b/Cargo.toml", "")];
        let map = file(MAP, "[a](crates/a)");
        let [a, b] = crates;
        assert_eq!(unmapped(&[a, b, map]), ["ARCHITECTURE.md: does not link to crates/b"]);
    }
}
