//! Locust's `PREFIX_stats.csv` (`locust --csv PREFIX`): figures per endpoint and in all.

use std::io::BufRead;

use model::{MetricKind, ValueKind};

use crate::records::{Cells, Record, Records};
use crate::stated::{Stated, StatedMetric};
use crate::{ImportError, Kind};

/// The row of all requests.
const ALL: &str = "Aggregated";

/// Columns of times with k6's names of the statistics.
const TIMES: &[(&str, &str)] = &[
    ("Average Response Time", "avg"),
    ("Min Response Time", "min"),
    ("Median Response Time", "med"),
    ("Max Response Time", "max"),
    ("90%", "p(90)"),
    ("95%", "p(95)"),
    ("99%", "p(99)"),
    ("99.9%", "p(99.9)"),
];

/// Reads a file.
///
/// # Errors
/// It cannot be read, or is no table of Locust's.
pub fn read_locust(input: &mut dyn BufRead) -> Result<Stated, ImportError> {
    let nothing = |why: &str| ImportError::Nothing { kind: Kind::LocustCsv, why: Some(why.to_owned()) };
    let mut records = Records::new(input);
    let names: Vec<String> = match records.next()? {
        Some(Record::Cells(_, cells)) => cells.iter().map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let column = |name: &str| names.iter().position(|known| known == name);
    if column("Request Count").is_none() || column("Name").is_none() {
        return Err(nothing(
            "the first line names no Name and Request Count; it is the file that ends with _stats.csv",
        ));
    }
    let mut stated = Stated::default();
    let mut has_all = false;
    while let Some(record) = records.next()? {
        let Record::Cells(_, cells) = record else { continue };
        let row = Row { cells, column: &column };
        let name = row.text("Name");
        let method = row.text("Type");
        match name == ALL && method.is_empty() {
            true => {
                has_all = true;
                // Metrics of all requests come first.
                stated.metrics.splice(0..0, row.metrics(""));
            }
            false => {
                let endpoint = format!("{method} {name}").trim().replace(['{', '}', ',', ':'], "_");
                stated.metrics.extend(row.metrics(&format!("{{name:{endpoint}}}")));
            }
        }
    }
    if !has_all {
        return Err(nothing("the row Aggregated is missing"));
    }
    stated.gaps.push(
        "Locust rounds times: percentiles to two digits, and to whole milliseconds below 100 ms".to_owned(),
    );
    stated
        .gaps
        .push("the load's plan, its seconds and the machine that made it are not in the source".to_owned());
    Ok(stated.settle())
}

struct Row<'a> {
    cells: Cells<'a>,
    column: &'a dyn Fn(&str) -> Option<usize>,
}

impl Row<'_> {
    fn text(&self, name: &str) -> &str {
        (self.column)(name).and_then(|column| self.cells.get(column)).unwrap_or_default()
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.text(name).parse().ok().filter(|number: &f64| number.is_finite())
    }

    fn metrics(&self, selector: &str) -> Vec<StatedMetric> {
        let metric = |name: &str, kind, contains, values: Vec<(&str, Option<f64>)>| StatedMetric {
            name: format!("{name}{selector}"),
            kind,
            contains,
            values: values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect(),
            thresholds: Vec::new(),
        };
        let (count, failed) = (self.number("Request Count"), self.number("Failure Count"));
        let times = TIMES.iter().map(|(column, name)| (*name, self.number(column))).collect();
        vec![
            metric(
                "http_reqs",
                MetricKind::Counter,
                ValueKind::Default,
                vec![("count", count), ("rate", self.number("Requests/s"))],
            ),
            metric("http_req_duration", MetricKind::Trend, ValueKind::Time, times),
            metric(
                "http_req_failed",
                MetricKind::Rate,
                ValueKind::Default,
                vec![("passes", failed), ("total", count)],
            ),
        ]
    }
}
