//! A file of the first format stays readable, and says the same numbers.
//!
//! `data/v1.plimsoll` was written once by `make_the_file_of_this_format` and is never written again: a new format gets a
//! file of its own.

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

#[test]
fn the_first_format_is_readable() {
    let reader = Reader::open(&data("v1.plimsoll")).expect("open");
    assert_eq!(reader.state(), State::Complete);
    assert_eq!(reader.windows(0..u32::MAX).filter(|window| window.is_ok()).count(), WINDOWS as usize);
    let expect = std::fs::read_to_string(data("v1.txt")).expect("readable");
    assert_eq!(lines_of(&reader), expect);
}

#[test]
#[ignore = "writes the file that the other test reads"]
fn make_the_file_of_this_format() {
    let path = data(&format!("v{}.plimsoll", runfile::FORMAT_VERSION));
    let made = Made::new(Shape { series: 6, samples: 4, seed: 11 });
    assert!(made.write(&path, "v1", WINDOWS).error.is_none());
    add_note(&path, 1, "a remark").expect("a run that is over takes remarks");
    std::fs::write(path.with_extension("txt"), lines_of(&Reader::open(&path).expect("open"))).expect("write");
}
