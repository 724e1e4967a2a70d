//! Files of every format stay readable, and say the same numbers.
//!
//! `data/v1.plimsoll` and `data/v2.plimsoll` were written once by `make_the_file_of_this_format`, each by a build of its
//! time, and are never written again: a new format gets a file of its own.

mod support;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use model::Aggregate;
use runfile::{Reader, State, add_note};
use support::{Made, Shape};

const WINDOWS: u32 = 65;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Every number of a run in lines that a later build must give again; floats with all their digits.
fn lines_of(reader: &Reader) -> String {
    let mut lines = String::new();
    for range in [0..WINDOWS, 7..62] {
        let sum = reader.sum(range.clone()).expect("readable");
        for (key, aggregate) in &sum.series {
            let (metric, tags) = (reader.registry().get(key.metric), reader.tags().get(key.tags));
            let tags: Vec<_> = tags.iter().collect();
            let numbers = match aggregate {
                Aggregate::Counter(counter) => format!("{} of {}", counter.sum.value(), counter.count),
                Aggregate::Gauge(gauge) => format!("{} {} {}", gauge.last, gauge.min, gauge.max),
                Aggregate::Rate(rate) => format!("{} of {}", rate.passes, rate.total),
                Aggregate::Trend(trend) => format!(
                    "{} of {}: {:?} {:?} {:?} {:?}",
                    trend.count(),
                    trend.population(),
                    trend.avg(),
                    trend.quantile(0.5),
                    trend.quantile(0.95),
                    trend.max()
                ),
            };
            writeln!(lines, "{range:?} {} {tags:?}: {numbers}", metric.name).expect("a string takes all");
        }
        writeln!(lines, "{range:?} load {:?}", sum.load).expect("a string takes all");
    }
    for error in reader.errors().expect("readable") {
        writeln!(lines, "error {} {} × {}", error.code, error.message, error.count)
            .expect("a string takes all");
    }
    for note in reader.notes().expect("readable") {
        writeln!(lines, "note {} {}", note.wall_unix_ns, note.text).expect("a string takes all");
    }
    writeln!(lines, "exemplars {}", reader.exemplars(0..WINDOWS).expect("readable").len()).expect("a string");
    let (header, ending) = (reader.header(), reader.ending().expect("complete"));
    // Facts by name, since later builds know more of them.
    writeln!(lines, "{} {} {}", header.run_id, header.started_wall_ns, header.started_ns).expect("a string");
    writeln!(lines, "{} {} {}", header.modules[0].path, header.modules[0].sha256, header.options_json)
        .expect("a string takes all");
    writeln!(lines, "{} {}", ending.elapsed_ns, ending.windows_lost).expect("a string takes all");
    lines
}

#[track_caller]
fn check(format: &str) {
    let reader = Reader::open(&data(&format!("{format}.plimsoll"))).expect("open");
    assert_eq!(reader.state(), State::Complete);
    assert_eq!(reader.windows(0..u32::MAX).filter(|window| window.is_ok()).count(), WINDOWS as usize);
    let expect = std::fs::read_to_string(data(&format!("{format}.txt"))).expect("readable");
    assert_eq!(lines_of(&reader), expect);
}

#[test]
fn the_first_format_is_readable() {
    check("v1");
}

#[test]
fn the_second_format_is_readable() {
    check("v2");
}

#[test]
fn a_run_of_the_first_format_is_merged_into_one_of_this() {
    let folder = tempfile::tempdir().expect("folder");
    let out = folder.path().join("b.plimsoll");
    let first = Reader::open(&data("v1.plimsoll")).expect("open");
    runfile::merge(&[&first], &out, runfile::MergeOptions::default()).expect("merged");
    let second = Reader::open(&out).expect("open");
    let windows = |reader: &Reader| -> Vec<model::Window> {
        reader.windows(0..u32::MAX).map(|window| window.expect("readable")).collect()
    };
    assert_eq!(windows(&second), windows(&first));
    for range in [0..WINDOWS, 7..62, 3..59] {
        let (a, b) = (first.sum(range.clone()).expect("readable"), second.sum(range).expect("readable"));
        assert_eq!(a.series, b.series);
    }
}

#[test]
#[ignore = "writes the file that the other test reads"]
fn make_the_file_of_this_format() {
    let path = data(&format!("v{}.plimsoll", runfile::FORMAT_VERSION));
    // More samples than stay raw.
    let made = Made::new(Shape { series: 6, samples: 70, seed: 11 });
    assert!(made.write(&path, "stored", WINDOWS).error.is_none());
    add_note(&path, 1, "a remark").expect("a run that is over takes remarks");
    std::fs::write(path.with_extension("txt"), lines_of(&Reader::open(&path).expect("open"))).expect("write");
}
