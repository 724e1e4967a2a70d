//! Rows as comma-separated values (RFC 4180), with a line of names first.

use std::io::Write;

use api::{Number, WindowRow};
use report::escape;

use crate::ExportError;

const COLUMNS: [&str; 20] = [
    "second",
    "time",
    "seconds",
    "metric",
    "type",
    "contains",
    "count",
    "sum",
    "value",
    "passes",
    "unmeasured",
    "avg",
    "min",
    "med",
    "p90",
    "p95",
    "p99",
    "max",
    "censored",
    "tags",
];

/// Writes rows as they come. Spreadsheets would run a name that begins like a formula; such a name gets an apostrophe
/// before it.
///
/// # Errors
/// A row cannot be had, or the stream takes no more.
pub fn write(
    rows: impl Iterator<Item = Result<Vec<WindowRow>, ExportError>>,
    to: &mut dyn Write,
) -> Result<(), ExportError> {
    line(&COLUMNS, to)?;
    for batch in rows {
        for row in batch? {
            line(&cells(&row), to)?;
        }
    }
    Ok(to.flush()?)
}

fn line(cells: &[impl AsRef<str>], to: &mut dyn Write) -> std::io::Result<()> {
    for (at, cell) in cells.iter().enumerate() {
        to.write_all(if at == 0 { b"" } else { b"," })?;
        to.write_all(cell.as_ref().as_bytes())?;
    }
    to.write_all(b"\r\n")
}

fn cells(row: &WindowRow) -> [String; COLUMNS.len()] {
    let number = |number: Option<Number>| number.map_or_else(String::new, |number| number.0.to_string());
    let tags: Vec<String> = row.tags.iter().map(|(name, value)| format!("{name}={value}")).collect();
    [
        row.second.to_string(),
        row.time.clone(),
        row.seconds.0.to_string(),
        escape::csv_field(&row.metric),
        row.kind.to_owned(),
        row.contains.to_owned(),
        row.count.to_string(),
        number(row.sum),
        number(row.value),
        row.passes.map_or_else(String::new, |passes| passes.to_string()),
        row.unmeasured.to_string(),
        number(row.avg),
        number(row.min),
        number(row.med),
        number(row.p90),
        number(row.p95),
        number(row.p99),
        number(row.max),
        row.censored.join(" "),
        escape::csv_field(&tags.join("&")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::sample;

    #[test]
    fn every_row_is_a_record_of_as_many_cells() {
        let mut bytes = Vec::new();
        write([Ok(sample()), Ok(sample())].into_iter(), &mut bytes).expect("memory takes all");
        let mut reader = csv::Reader::from_reader(&bytes[..]);
        assert_eq!(reader.headers().expect("a line of names").len(), 20);
        let records: Vec<_> = reader.records().map(|record| record.expect("well-formed")).collect();
        assert_eq!(records.len(), 8);
        let requests = records.iter().find(|record| &record[3] == "http_reqs").expect("it is there");
        assert_eq!((&requests[6], &requests[7], &requests[11]), ("2", "2", ""));
    }

    #[test]
    fn names_are_no_formulas() {
        let row = WindowRow { metric: "=cmd()".into(), ..WindowRow::default() };
        let cell = cells(&row)[3].clone();
        assert!(cell.trim_start_matches('"').starts_with('\''), "{cell}");
    }
}
