//! Embeds the files of the built page and the description of its API into the program, compressed. They are committed, so that
//! building needs only Rust.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The built page, from this crate's folder.
const DIST: &str = "../../ui/dist";

/// The OpenAPI description of the page's API, from this crate's folder.
const DESCRIPTION: &str = "../../docs/format/page.openapi.json";

fn main() {
    // Read at run time: a compiled-in path could belong to another checkout that shares the target folder.
    let own = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let root = own.join(DIST);
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let mut code = String::from("&[\n");
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    for (number, file) in files.iter().enumerate() {
        let name = file.strip_prefix(&root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let compressed = out.join(format!("page_{number}.gz"));
        compress(file, &compressed);
        // Writing to a string cannot fail.
        let _ = writeln!(
            code,
            "    ({name:?}, include_bytes!({:?}) as &[u8]),",
            compressed.display().to_string()
        );
    }
    code += "]\n";
    let description = own.join(DESCRIPTION);
    compress(&description, &out.join("description.gz"));
    println!("cargo::rerun-if-changed={}", description.display());
    let out = out.join("page_files.rs");
    if let Err(error) = std::fs::write(&out, code) {
        println!("cargo::error=failed to write {}: {error}", out.display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    // A missing folder would make this script run on every build.
    if root.is_dir() {
        println!("cargo::rerun-if-changed={}", root.display());
    }
}

fn compress(from: &Path, to: &Path) {
    if let Err(error) = write_gzip(from, to) {
        println!("cargo::error=failed to compress {}: {error}", from.display());
    }
}

/// Writes a file as gzip, without a name and a time, so that the same file makes the same bytes.
fn write_gzip(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&std::fs::read(from)?)?;
    std::fs::write(to, encoder.finish()?)
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
