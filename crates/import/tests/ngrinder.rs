//! nGrinder's rows give the figures of a published table, and what changed between its runs.

use std::time::Duration;

use import::ngrinder::{Change, Indicator, Table, changes, figures, indicators};
use model::{Aggregate, MetricRegistry};

const PODS: [&str; 3] = [
    include_str!("../fixtures/ngrinder-pods-1.csv"),
    include_str!("../fixtures/ngrinder-pods-2.csv"),
    include_str!("../fixtures/ngrinder-pods-3.csv"),
];

/// The published table: a figure, its value in each run, and its printed changes. Two changes do not follow from the values.
const PUBLISHED: &[(&str, [f64; 3], [f64; 2])] = &[
    ("Total tests", [181_050.0, 240_587.0, 259_702.0], [32.93, 7.94]),
    ("TPS average", [312.16, 410.55, 442.83], [31.51, 7.86]),
    ("TPS p50", [319.0, 422.5, 458.0], [32.38, 8.38]),
    ("TPS p95", [217.45, 288.6, 250.8], [32.69, -13.08]),
    ("TPS p99", [132.28, 147.62, 119.48], [11.62, -19.01]),
    ("TPS p99.9", [96.52, 37.04, 59.51], [-61.68, 60.69]),
    ("MTTFB average", [950.89, 709.86, 651.05], [-25.29, -8.3]),
    ("MTTFB p50", [919.2, 693.65, 631.72], [-24.54, -8.92]),
    ("MTTFB p95", [1322.11, 958.64, 1017.44], [-27.49, 6.12]),
    ("MTTFB p99", [1833.22, 1117.45, 1265.16], [-39.05, 13.22]),
    ("MTTFB p99.9", [2099.12, 1396.8, 1407.03], [-33.54, 0.73]),
    ("MTTFB average difference", [112.52, 58.82, 88.51], [-47.66, 50.27]),
    ("MTTFB average variability, by the later interval", [10.67, 7.67, 11.53], [-28.09, 49.01]),
];

fn table(text: &str) -> Table {
    Table::read(&mut text.as_bytes()).unwrap_or_else(|error| panic!("failed to {error}"))
}

fn find<'a>(all: &'a [Indicator], name: &str) -> &'a Indicator {
    all.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("no figure is called {name}"))
}

#[test]
fn a_published_table_is_found_again() {
    let runs: Vec<Vec<Indicator>> = PODS.iter().map(|text| indicators(&table(text).rows)).collect();
    for (name, values, printed) in PUBLISHED {
        for (run, expect) in runs.iter().zip(values) {
            let value = find(run, name).value.expect("a value");
            assert!((value - expect).abs() < 0.006, "{name}: {value}, not {expect}");
        }
        for (pair, printed) in runs.windows(2).zip(printed) {
            let all: Vec<Change> = changes(&pair[0], &pair[1]);
            let change = all.iter().find(|change| &change.name == name).expect("every figure changes");
            let percent = change.percent.expect("there are old values");
            let is_wrong_in_print = [50.27, 49.01].contains(printed);
            let tolerance = if is_wrong_in_print { 1.5 } else { 0.1 };
            assert!((percent - printed).abs() < tolerance, "{name}: {percent}, not {printed}");
            assert_eq!((percent - printed).abs() > 0.15, is_wrong_in_print, "{name}: {percent} {printed}");
            assert_eq!(change.is_better, Some((*printed > 0.0) == name.starts_with('T')), "{name}");
        }
    }
    let errors =
        |run: usize| find(&runs[run], "Error rate").value.map(|percent| (percent * 100.0).round() / 100.0);
    assert_eq!([errors(0), errors(1), errors(2)], [Some(0.0), Some(0.0), Some(0.08)]);
}

#[test]
fn the_two_readings_of_variability_differ() {
    let all = indicators(&table(PODS[0]).rows);
    let proper = find(&all, "MTTFB average variability").value.expect("a value");
    let later = find(&all, "MTTFB average variability, by the later interval").value.expect("a value");
    assert!((later - 10.67).abs() < 0.006 && proper > 11.0, "{proper} {later}");
}

#[test]
fn rows_become_seconds() {
    let table = table(PODS[1]);
    assert_eq!((table.rows.len(), table.interval_text().as_str()), (586, "1s"));
    assert_eq!(table.elapsed(), Duration::from_secs(586));
    let registry = MetricRegistry::default();
    let windows = table.windows(&registry);
    assert_eq!((windows.len(), windows[0].index, windows[585].index), (586, 0, 585));
    let mut tests = 0.0;
    for window in &windows {
        assert!(window.series.is_sorted_by(|a, b| a.0 < b.0));
        for (key, aggregate) in &window.series {
            match (&*registry.get(key.metric).name, aggregate) {
                ("ngrinder_tests", Aggregate::Counter(counter)) => tests += counter.sum.value(),
                ("ngrinder_mttfb_mean_1s", Aggregate::Trend(trend)) => assert_eq!(trend.count(), 1),
                _ => {}
            }
        }
    }
    assert_eq!(tests, 240_587.0);
    assert!(table.gaps[0].starts_with("percentiles are of 1s means, not of requests"), "{:?}", table.gaps);
    let notes = figures(&table);
    let p999 = notes.iter().find(|figure| figure.name == "MTTFB p99.9").expect("a figure");
    assert!(p999.note.contains("586 of them are too few"), "{}", p999.note);
}

const HEAD: &str = "DateTime,Tests,Errors,Mean_Test_Time_(ms),Test_Time_Standard_Deviation_(ms),TPS,Mean_response_length,\
                    Response_bytes_per_second,Response_errors,Mean_time_to_resolve_host,Mean_time_to_establish_connection,\
                    Mean_time_to_first_byte";

#[test]
fn idle_intervals_have_no_times() {
    let text = format!(
        "\u{feff}{HEAD}\r\n2013-02-22 14:07:40,20,0,24.5,1,4,1,1,0,0,0,18\r\n2013-02-22 14:07:45,0,0,0,0,0,0,0,0,0,0,0\r\n\
         2013-02-22 14:07:50,30,1,26.5,1,6,1,1,0,0,0,20\r\n"
    );
    let table = table(&text);
    assert_eq!((table.interval_text().as_str(), table.rows[1].mttfb_ms), ("5s", None));
    let all = indicators(&table.rows);
    assert_eq!(find(&all, "MTTFB average").value, Some(19.0));
    assert_eq!(find(&all, "TPS average").value, Some(10.0 / 3.0));
    assert_eq!(find(&all, "MTTFB average difference").value, None);
    assert!(table.gaps.iter().any(|gap| gap.starts_with("1 of 3 intervals had no test")), "{:?}", table.gaps);
    let indexes: Vec<u32> =
        table.windows(&MetricRegistry::default()).iter().map(|window| window.index).collect();
    assert_eq!(indexes, [4, 9, 14], "a row is at the end of its interval");
}

#[track_caller]
fn check_flaw(row: &str, expect: &str) {
    let good = "2013-02-22 14:07:42,79,0,24.177,16.621,79,10016.861,791332,0,2.481,7.101,18.203";
    let table = table(&format!("{HEAD}\n{good}\n{row}\n{good}\n"));
    assert_eq!((table.rows.len(), table.flaws.count()), (2, 1), "{row}");
    let first = table.flaws.first().unwrap_or_default();
    assert!(first.starts_with("line 3: ") && first.contains(expect), "{first} does not say {expect}");
}

#[test]
fn broken_rows_are_named() {
    check_flaw("2013-02-22 14:07:43,-1,0,1,1,1,1,1,0,0,0,1", "negative");
    check_flaw("2013-02-22 14:07:43,1,0,1,1,NaN,1,1,0,0,0,1", "not finite");
    check_flaw("2013-02-22 14:07:43,1,0,1,1", "missing");
    check_flaw("yesterday,1,0,1,1,1,1,1,0,0,0,1", "its time is none");
    check_flaw("1970-02-22 14:07:43,1,0,1,1,1,1,1,0,0,0,1", "more than a month");
    check_flaw(&format!("\"{}\"", "x".repeat(3 << 20)), "longer than 1 MiB");
}

#[test]
fn other_files_are_refused() {
    for text in ["", "a,b\n1,2\n", HEAD, "DateTime,Tests,Errors\n"] {
        assert!(Table::read(&mut text.as_bytes()).is_err(), "{text}");
    }
}
