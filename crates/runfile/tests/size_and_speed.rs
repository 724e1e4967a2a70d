//! How large files are, and how long reading takes. The full sizes are for an optimized build on a quiet machine:
//! `cargo test --profile checked -p runfile --test size_and_speed -- --ignored --nocapture --test-threads 1`.

mod support;

use std::path::Path;

use model::SystemClock;
use runfile::Reader;
use support::{Made, Shape};

/// Writes a run and gives its size and the longest time that summing any of many ranges took.
fn measure(path: &Path, shape: Shape, windows: u32) -> (u64, f64) {
    let report = Made::new(shape).write(path, "a", windows);
    assert!(report.error.is_none() && report.windows_lost == 0, "{report:?}");
    let reader = Reader::open(path).expect("open");
    let mut slowest_ms = 0f64;
    for (start, end) in
        [(0, windows), (1, windows - 1), (7, windows / 2 + 3), (windows / 3 + 1, windows / 3 + 55)]
    {
        let before = SystemClock::now();
        assert!(!reader.sum(start..end).expect("readable").series.is_empty());
        let took_ms = SystemClock::now().ms_since(before);
        println!("{start}..{end}: {took_ms:.1} ms");
        slowest_ms = slowest_ms.max(took_ms);
    }
    println!("{shape:?} × {windows} s: {} kB, sums within {slowest_ms:.1} ms", report.bytes / 1000);
    (report.bytes, slowest_ms)
}

#[test]
fn two_minutes_are_small() {
    let folder = tempfile::tempdir().expect("folder");
    let (bytes, _) = measure(&folder.path().join("a"), Shape { series: 20, samples: 10, seed: 1 }, 120);
    assert!(bytes < 1_000_000, "{bytes} bytes");
}

#[test]
#[ignore = "long"]
fn ten_minutes_of_twenty_series() {
    let folder = tempfile::tempdir().expect("folder");
    let (bytes, _) = measure(&folder.path().join("a"), Shape { series: 20, samples: 50, seed: 1 }, 600);
    assert!(bytes <= 5_000_000, "{bytes} bytes");
}

/// For callgrind, which counts how much of it is checksums (docs/performance.md).
#[test]
#[ignore = "long"]
fn five_minutes_are_written_and_read_whole() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a");
    let report = Made::new(Shape { series: 50, samples: 20, seed: 1 }).write(&path, "a", 300);
    assert!(report.is_whole, "{report:?}");
    support::read_all(&Reader::open(&path).expect("open")).expect("readable");
}

#[test]
#[ignore = "long"]
fn an_hour_of_five_hundred_series() {
    let folder = tempfile::tempdir().expect("folder");
    let shape = Shape { series: 500, samples: 10, seed: 1 };
    let (bytes, sum_ms) = measure(&folder.path().join("a"), shape, 3600);
    assert!(bytes <= 100_000_000, "{bytes} bytes");
    assert!(sum_ms < 100.0, "{sum_ms} ms");
}

#[test]
#[ignore = "long"]
fn two_thousand_series_are_written_within_their_second() {
    let folder = tempfile::tempdir().expect("folder");
    let made = Made::new(Shape { series: 2000, samples: 10, seed: 1 });
    let windows: Vec<_> = (0..130).map(|index| made.window(index)).collect();
    let mut writer = made.writer(&folder.path().join("a"), "a");
    let before = SystemClock::now();
    windows.into_iter().for_each(|window| support::send(&mut writer, window));
    let report = writer.finish(runfile::Ending::default());
    let ms_per_window = SystemClock::now().ms_since(before) / 130.0;
    println!("2,000 series: {ms_per_window:.1} ms per window, compaction and the end included");
    assert!(report.error.is_none() && report.windows_lost == 0, "{report:?}");
    assert!(ms_per_window < 1000.0, "{ms_per_window} ms");
}
