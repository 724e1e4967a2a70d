//! Embeds the files of the built page into the program. They are committed, so that building needs only Rust.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The built page, from this crate's folder.
const DIST: &str = "../../ui/dist";

fn main() {
    // Read at run time: a compiled-in path could belong to another checkout that shares the target folder.
    let own = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let root = own.join(DIST);
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let mut code = String::from("&[\n");
    for file in &files {
        let name = file.strip_prefix(&root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        // Writing to a string cannot fail.
        let _ = writeln!(code, "    ({name:?}, include_bytes!({:?}) as &[u8]),", file.display().to_string());
    }
    code += "]\n";
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default().join("page_files.rs");
    if let Err(error) = std::fs::write(&out, code) {
        println!("cargo::error=failed to write {}: {error}", out.display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    // A missing folder would make this script run on every build.
    if root.is_dir() {
        println!("cargo::rerun-if-changed={}", root.display());
    }
}

/// Returns all files below a folder; none if it is missing.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}
