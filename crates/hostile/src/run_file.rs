//! A file that says it is a run. `crates/runfile/tests/hostile.rs` does the same with damage that knows the format.

use std::cell::OnceCell;

use runfile::{Reader, Verification, Want};

thread_local! {
    /// One folder per thread, since each file is opened by its path.
    static FOLDER: OnceCell<tempfile::TempDir> = const { OnceCell::new() };
}

/// Whatever there is is read or refused; a range that is empty has nothing in it. A file that matches its checksums can be read.
pub fn check(bytes: &[u8]) {
    FOLDER.with(|folder| {
        let folder = folder.get_or_init(|| tempfile::tempdir().expect("a temporary folder"));
        let path = folder.path().join("a.plimsoll");
        std::fs::write(&path, bytes).expect("a temporary file");
        let verified = runfile::verify(&path);
        let opened = Reader::open(&path);
        let is_sound = matches!(verified, Ok(Verification::Sound { .. }));
        assert!(opened.is_ok() || !is_sound, "{verified:?}, and {:?}", opened.err());
        let Ok(reader) = opened else { return };
        let _ = reader.windows(0..u32::MAX).take_while(Result::is_ok).count();
        for want in [Want::Whole, Want::Brief, Want::Nothing] {
            let _ = reader.minute(0..60, |_| want, |_, _, _| {});
        }
        let _ = reader.sum(0..u32::MAX);
        let _ = (reader.thresholds(), reader.log(), reader.errors(), reader.load(0..u32::MAX));
        let _ = (reader.exemplars(0..u32::MAX), reader.marks(), reader.notes(), reader.anchors());
        let _ = (reader.signals(), reader.records(), reader.gaps());
        let _ = (reader.traces(), reader.trace_marks(), reader.operations());
        assert_eq!(reader.windows(0..0).take_while(Result::is_ok).count(), 0);
    });
}
