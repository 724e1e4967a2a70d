//! The licences of everything that a program is made of.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::Value;

use super::sbom::Crates;

/// Beginnings of the names of files with licences and notices.
const NAMES: &[&str] = &["licen", "copying", "notice", "unlicense", "copyright"];

/// Depth of the folders in which works in C lie, such as `c_src/mimalloc`.
const FOLDERS_MAX: usize = 3;

/// Folders whose contents are not in the program.
const SKIPPED: &[&str] = &["benches", "doc", "docs", "examples", "fuzz", "test", "tests", "tools"];

/// Characters of a file of that name; longer ones are no licences.
const CHARS_MAX: usize = 200_000;

/// Returns the notices: the crates by their licence, then each text once, with the crates that have it.
pub(super) fn text(crates: &Crates) -> anyhow::Result<String> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut list = String::new();
    for package in crates.others() {
        let name = format!("{} {}", string(&package["name"]), string(&package["version"]));
        list += &format!("{name}: {}\n", package["license"].as_str().unwrap_or("see its text below"));
        for text in texts_of(package)? {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    let mut notices = format!(
        "Plimsoll is licensed under the Apache License 2.0 (LICENSE). It contains the following works of others.\n\n{list}"
    );
    for (text, names) in &texts {
        notices += &format!("\n{}\n{}\n\n{}\n", "=".repeat(80), names.join(", "), text.trim_end());
    }
    Ok(notices)
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The texts in the folder of a package, and in those of the works in other languages that it contains. Of a package without a
/// text, where its source is.
fn texts_of(package: &Value) -> anyhow::Result<Vec<String>> {
    let manifest = Path::new(string(&package["manifest_path"]));
    let mut paths = Vec::new();
    find(manifest.parent().context("find the folder of a package")?, FOLDERS_MAX, &mut paths)?;
    paths.sort();
    let mut texts = Vec::new();
    for path in paths {
        let bytes = std::fs::read(&path).with_context(|| format!("read {}", path.display()))?;
        let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
        if text.len() <= CHARS_MAX {
            texts.push(text);
        }
    }
    if texts.is_empty() {
        let authors = package["authors"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let authors: Vec<&str> = authors.collect();
        let (license, source) = (string(&package["license"]), string(&package["repository"]));
        texts.push(format!(
            "{license}\n{}\nThe package has no text of its licence. Source: {source}",
            authors.join(", ")
        ));
    }
    Ok(texts)
}

/// Finds files with licences in a folder, and in folders below it up to a depth.
fn find(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_skipped = path.file_name().is_some_and(|name| SKIPPED.iter().any(|skipped| name == *skipped));
        if path.is_dir() && depth > 0 && !is_skipped {
            find(&path, depth - 1, found)?;
        } else if is_notice(&path) {
            found.push(path);
        }
    }
    Ok(())
}

fn is_notice(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    path.is_file() && NAMES.iter().any(|start| name.starts_with(start)) && !name.ends_with(".rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_stands_once_with_its_crates() {
        let crates = Crates::resolve(super::super::TARGET).expect("the workspace");
        let notices = text(&crates).expect("licences");
        let heading = |line: &str| line.starts_with("rquickjs-sys ") && !line.contains(',');
        assert!(notices.lines().any(heading), "the engine is listed");
        assert!(notices.contains("Permission is hereby granted"));
        assert!(notices.contains("Fabrice Bellard"), "the engine's own text");
        let apache = notices.matches("TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION").count();
        // Some 350 crates have this licence; their texts differ in the owner's name and in white space.
        assert!((1..100).contains(&apache), "{apache} copies");
    }
}
