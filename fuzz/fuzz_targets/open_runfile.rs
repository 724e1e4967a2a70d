//! Opens any bytes as a run and reads whatever there is. `crates/runfile/tests/hostile.rs` does the same with damaged runs
//! in every test run; start from `crates/runfile/tests/data`.

#![no_main]

use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use runfile::Reader;

fuzz_target!(|bytes: &[u8]| {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a temporary folder"));
    let path: PathBuf = folder.path().join("a.plimsoll");
    std::fs::write(&path, bytes).expect("a temporary file");
    let Ok(reader) = Reader::open(&path) else { return };
    // Only panics and memory count; errors are what damaged files are supposed to give.
    let _ = reader.windows(0..u32::MAX).take_while(Result::is_ok).count();
    let _ = reader.sum(0..u32::MAX);
    let _ = (reader.thresholds(), reader.log(), reader.errors(), reader.load(0..u32::MAX));
    let _ = (reader.exemplars(0..u32::MAX), reader.marks(), reader.notes(), reader.anchors());
});
