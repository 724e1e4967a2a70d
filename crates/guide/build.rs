//! Embeds the short form of every guide in `docs/guide`.

#[path = "src/brief.rs"]
mod brief;

use std::path::{Path, PathBuf};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/brief.rs");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("a folder that can be read").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    let topics: Vec<String> = paths.iter().map(|path| topic(path)).collect();
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let list = format!("&[\n{}]\n", topics.concat());
    std::fs::write(Path::new(&out).join("topics.rs"), list).expect("the list is written");
}

/// One topic as a Rust expression.
fn topic(path: &Path) -> String {
    println!("cargo::rerun-if-changed={}", path.display());
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let brief::Brief { title, text } = brief::of(&text);
    format!("    Topic {{ name: {name:?}, title: {title:?}, text: {text:?} }},\n")
}
