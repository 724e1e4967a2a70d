//! A file that says it is the result of another tool.

use std::io::Cursor;
use std::sync::Arc;

use import::{Kind, SPAN_DAYS_MAX, Samples, Survey, ngrinder};
use model::{MetricRegistry, TagInterner, Window};

/// Windows of a file that are looked at: a damaged time stamp can put days between two samples, a window for each second.
const WINDOWS_MAX: usize = 10_000;

/// Most seconds between the first sample of a file and its last.
const SPAN_S_MAX: u64 = SPAN_DAYS_MAX as u64 * 24 * 3600;

/// The file is imported as each format, or refused with a reason. The time of an imported run goes forward, and it has no more samples
/// than lines.
pub fn check(bytes: &[u8]) {
    let _ = Kind::detect(bytes);
    for kind in Kind::ALL {
        match kind {
            Kind::K6Json | Kind::K6Csv | Kind::Jtl | Kind::Gatling | Kind::Vegeta => {
                check_samples(kind, bytes)
            }
            Kind::OhaJson => check_text(bytes, |text| import::read_oha(text).map(drop)),
            Kind::LocustCsv => {
                if let Err(error) = import::read_locust(&mut Cursor::new(bytes)) {
                    assert!(!error.to_string().is_empty());
                }
            }
            Kind::K6Summary => check_text(bytes, |text| import::read_summary(text).map(drop)),
            Kind::K6Text => check_text(bytes, |text| import::read_text(text).map(drop)),
            Kind::Ngrinder => check_table(bytes),
        }
    }
}

fn check_samples(kind: Kind, bytes: &[u8]) {
    let (registry, tags) = (Arc::<MetricRegistry>::default(), Arc::<TagInterner>::default());
    let survey = match Survey::read(kind, &mut Cursor::new(bytes), &registry) {
        Ok(survey) => survey,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let lines = bytes.split(|byte| *byte == b'\n').count() as u64;
    // A line of a request is a sample of seven metrics at most.
    let most = if matches!(kind, Kind::K6Json | Kind::K6Csv) { lines } else { lines * 7 };
    assert!(survey.samples <= most, "{} samples in {lines} lines", survey.samples);
    let seconds = survey.ended_unix_ns.abs_diff(survey.started_unix_ns) / 1_000_000_000;
    assert!(seconds <= SPAN_S_MAX, "{seconds} s");
    let mut second = Cursor::new(bytes);
    let samples = Samples::new(kind, &mut second, &survey, registry, tags).expect("it was read before");
    let windows: Vec<Window> = samples.take(WINDOWS_MAX).map_while(Result::ok).collect();
    check_order(&windows);
}

fn check_text(bytes: &[u8], read: impl Fn(&str) -> Result<(), import::ImportError>) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(error) = read(text) {
        assert!(!error.to_string().is_empty());
    }
}

fn check_table(bytes: &[u8]) {
    match ngrinder::Table::read(&mut Cursor::new(bytes)) {
        Ok(table) => {
            check_order(&table.windows(&MetricRegistry::default()));
            let _ = ngrinder::figures(&table);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn check_order(windows: &[Window]) {
    for pair in windows.windows(2) {
        assert!(pair[0].index < pair[1].index && pair[0].start <= pair[1].start, "time goes backwards");
    }
}
