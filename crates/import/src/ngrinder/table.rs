//! The rows of the file, and the seconds that they become.

use std::io::BufRead;
use std::time::Duration;

use model::{
    Aggregate, Instant, Mark, MetricId, MetricKind, MetricRegistry, SeriesKey, TagSetId, ValueKind, Window,
};

use crate::records::{Cells, Record, Records};
use crate::{Flaws, ImportError, Kind, RUN_START, instant};

/// Rows that are read: more than eleven days of seconds.
pub const ROWS_MAX: usize = 1_000_000;

/// The columns that a summary of rows shows.
pub const TREND_STATS: [&str; 7] = ["avg", "min", "med", "max", "p(95)", "p(99)", "p(99.9)"];

const NS_PER_S: i64 = 1_000_000_000;

/// A file, row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The rows, in order of time.
    pub rows: Vec<Row>,
    /// The sampling interval: the usual distance of two rows.
    pub interval: Duration,
    /// Facts missing from the source, one sentence each, including its flaws.
    pub gaps: Vec<String>,
    /// Lines that could not be read.
    pub flaws: Flaws,
}

/// One sampling interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Its end by the controller's clock, read as UTC.
    pub unix_ns: i64,
    /// Virtual users; absent in older versions.
    pub vusers: Option<f64>,
    /// Tests that succeeded.
    pub tests: f64,
    /// Tests that failed.
    pub errors: f64,
    /// Tests per second.
    pub tps: f64,
    /// The mean time of a test, milliseconds; `None` in an interval without tests.
    pub mean_test_time_ms: Option<f64>,
    /// The mean time to the first byte (MTTFB), milliseconds; `None` in an interval without tests.
    pub mttfb_ms: Option<f64>,
}

/// Which cell is what.
struct Columns {
    time: usize,
    vusers: Option<usize>,
    tests: usize,
    errors: usize,
    tps: usize,
    mean_test_time: Option<usize>,
    mttfb: Option<usize>,
}

impl Columns {
    fn from_header(head: Cells<'_>) -> Option<Columns> {
        // Columns of single tests have a number behind their name (`TPS-1001`) and are not looked at.
        let find = |name: &str| head.iter().position(|cell| cell.trim().eq_ignore_ascii_case(name));
        Some(Columns {
            time: find("DateTime")?,
            vusers: find("vuser"),
            tests: find("Tests")?,
            errors: find("Errors")?,
            tps: find("TPS")?,
            mean_test_time: find("Mean_Test_Time_(ms)"),
            mttfb: find("Mean_time_to_first_byte"),
        })
    }

    fn row(&self, cells: Cells<'_>) -> Result<Row, &'static str> {
        let number = |column: usize| match cells.get(column).map(|cell| cell.trim().parse::<f64>()) {
            Some(Ok(number)) if number.is_finite() && number >= 0.0 => Ok(number),
            Some(Ok(_)) => Err("a number of it is negative or not finite"),
            _ => Err("a number of it is missing or none"),
        };
        let time = cells.get(self.time).and_then(instant::zoneless).ok_or("its time is none")?;
        let (tests, errors, tps) = (number(self.tests)?, number(self.errors)?, number(self.tps)?);
        let mean = |column: Option<usize>| match column {
            // An interval without tests has a zero there, which is no mean of anything.
            Some(column) if tests + errors > 0.0 => number(column).map(Some),
            _ => Ok(None),
        };
        Ok(Row {
            unix_ns: time,
            vusers: self.vusers.map(number).transpose()?,
            tests,
            errors,
            tps,
            mean_test_time_ms: mean(self.mean_test_time)?,
            mttfb_ms: mean(self.mttfb)?,
        })
    }
}

impl Table {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, its head is not nGrinder's, or it has no row.
    pub fn read(input: &mut dyn BufRead) -> Result<Table, ImportError> {
        let nothing = |why: Option<String>| ImportError::Nothing { kind: Kind::Ngrinder, why };
        let mut records = Records::new(input);
        let columns = match records.next()? {
            Some(Record::Cells(_, cells)) => Columns::from_header(cells),
            _ => None,
        };
        let columns = columns
            .ok_or_else(|| nothing(Some("the first line names no DateTime, Tests, Errors and TPS".into())))?;
        let (mut rows, mut flaws): (Vec<Row>, Flaws) = Default::default();
        let mut beyond = 0u64;
        while let Some(record) = records.next()? {
            match record {
                Record::Flawed(line, why) => flaws.add(line, why),
                Record::Cells(_, _) if rows.len() >= ROWS_MAX => beyond += 1,
                Record::Cells(line, cells) => match columns.row(cells) {
                    Ok(row) if is_stray(&rows, &row) => {
                        flaws.add(line, "its time is more than a month from the first one's")
                    }
                    Ok(row) => rows.push(row),
                    Err(why) => flaws.add(line, why),
                },
            }
        }
        if rows.is_empty() {
            return Err(nothing(flaws.first()));
        }
        rows.sort_by_key(|row| row.unix_ns);
        let interval = interval(&rows);
        let mut table = Table { rows, interval, gaps: Vec::new(), flaws };
        table.gaps = table.sentences(beyond);
        Ok(table)
    }

    /// When the first interval began.
    pub fn started_unix_ns(&self) -> i64 {
        let first = self.rows.first().map_or(0, |row| row.unix_ns);
        first.saturating_sub(i64::try_from(self.interval.as_nanos()).unwrap_or(i64::MAX))
    }

    /// From the start of the first interval to the end of the last.
    pub fn elapsed(&self) -> Duration {
        let last = self.rows.last().map_or(0, |row| row.unix_ns);
        Duration::from_nanos(u64::try_from(last.saturating_sub(self.started_unix_ns())).unwrap_or(0))
    }

    /// The rows as seconds. Their metrics are declared: `ngrinder_tests`, `ngrinder_errors` and `ngrinder_vusers`, and with the
    /// interval in their names `ngrinder_tps_1s`, `ngrinder_mttfb_mean_1s` and `ngrinder_test_time_mean_1s`, whose values are
    /// one per row.
    pub fn windows(&self, registry: &MetricRegistry) -> Vec<Window> {
        let metrics = Metrics::declare(registry, &self.interval_text());
        let mut windows: Vec<Window> = Vec::new();
        for row in &self.rows {
            let end_ns = u64::try_from(row.unix_ns.saturating_sub(self.started_unix_ns())).unwrap_or(0);
            let index =
                u32::try_from(end_ns.saturating_sub(1) / NS_PER_S.unsigned_abs()).unwrap_or(u32::MAX - 1);
            if windows.last().is_none_or(|last| last.index != index) {
                let start = RUN_START + Duration::from_secs(u64::from(index));
                windows.push(Window {
                    index,
                    start,
                    end: start + Duration::from_secs(1),
                    ..Window::default()
                });
            }
            let at = RUN_START + Duration::from_nanos(end_ns);
            if let Some(window) = windows.last_mut() {
                metrics.record(row, at, registry, &mut window.series);
            }
        }
        for window in &mut windows {
            window.series.sort_by_key(|series| series.0);
        }
        windows
    }

    /// `1s`
    pub fn interval_text(&self) -> String {
        model::GoDuration::from(self.interval).to_string()
    }

    fn sentences(&self, beyond: u64) -> Vec<String> {
        let interval = self.interval_text();
        let mut gaps = vec![
            format!("percentiles are of {interval} means, not of requests: slow requests within an interval are hidden"),
            "times have no zone in the source and are read as UTC; a row is taken for the interval that ends then".to_owned(),
            "nGrinder leaves out the first samples of a test, which are not here either".to_owned(),
            "single requests, their errors, the script and the machines that made the load are not in the source".to_owned(),
        ];
        let idle = self.rows.iter().filter(|row| row.mttfb_ms.is_none()).count();
        if idle > 0 {
            gaps.push(format!(
                "{idle} of {} intervals had no test: they count for TPS and have no times",
                self.rows.len()
            ));
        }
        if beyond > 0 {
            gaps.push(format!("{beyond} rows after the first {ROWS_MAX} are left out"));
        }
        gaps.extend(self.flaws.sentence());
        gaps
    }
}

/// Whether a row is more than a month from the first: a broken one.
fn is_stray(rows: &[Row], row: &Row) -> bool {
    let month_ns = (crate::SPAN_DAYS_MAX * 24 * 3600 * NS_PER_S).unsigned_abs();
    rows.first().is_some_and(|first| row.unix_ns.abs_diff(first.unix_ns) > month_ns)
}

/// The median distance of two rows; a second where there is one row alone.
fn interval(rows: &[Row]) -> Duration {
    let mut steps: Vec<i64> =
        rows.windows(2).map(|pair| pair[1].unix_ns - pair[0].unix_ns).filter(|step| *step > 0).collect();
    steps.sort_unstable();
    let median = steps.get(steps.len() / 2).copied().unwrap_or(NS_PER_S);
    Duration::from_nanos(median.unsigned_abs())
}

/// The metrics that rows become.
struct Metrics {
    counters: [Option<MetricId>; 2],
    vusers: Option<MetricId>,
    trends: [Option<MetricId>; 3],
}

impl Metrics {
    fn declare(registry: &MetricRegistry, interval: &str) -> Metrics {
        let of = |name: &str, kind, contains| registry.register(name, kind, contains).ok();
        let trend = |name: &str, contains| of(&format!("{name}_{interval}"), MetricKind::Trend, contains);
        Metrics {
            counters: ["ngrinder_tests", "ngrinder_errors"]
                .map(|name| of(name, MetricKind::Counter, ValueKind::Default)),
            vusers: of("ngrinder_vusers", MetricKind::Gauge, ValueKind::Default),
            trends: [
                trend("ngrinder_tps", ValueKind::Default),
                trend("ngrinder_mttfb_mean", ValueKind::Time),
                trend("ngrinder_test_time_mean", ValueKind::Time),
            ],
        }
    }

    fn record(
        &self,
        row: &Row,
        at: Instant,
        registry: &MetricRegistry,
        series: &mut Vec<(SeriesKey, Aggregate)>,
    ) {
        let [tests, errors] = self.counters;
        let [tps, mttfb, test_time] = self.trends;
        let values = [
            (tests, Some(row.tests)),
            (errors, Some(row.errors)),
            (self.vusers, row.vusers),
            (tps, Some(row.tps)),
            (mttfb, row.mttfb_ms),
            (test_time, row.mean_test_time_ms),
        ];
        for (metric, value) in values {
            let (Some(metric), Some(value)) = (metric, value) else { continue };
            let key = SeriesKey { metric, tags: TagSetId::EMPTY };
            let place = series.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
                series.push((key, Aggregate::empty(registry.get(metric).kind)));
                series.len() - 1
            });
            series[place].1.record(value, Mark::Measured, at);
        }
    }
}
