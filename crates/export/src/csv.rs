//! Rows as comma-separated values (RFC 4180), with a line of names first.

use std::io::Write;

use api::escape::terminal;
use api::{Number, WindowRow};

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
        field(&row.metric),
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
        field(&tags.join("&")),
    ]
}

/// Characters that begin a formula in spreadsheets, also in the wide forms that East Asian keyboards write.
const FORMULA_STARTS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// One field of a CSV file (RFC 4180): quoted where it has to be, and with an apostrophe in front where a spreadsheet would
/// take it for a formula. Not for numbers, whose sign is one.
fn field(text: &str) -> String {
    let starts_formula =
        text.trim_start().starts_with(FORMULA_STARTS) || text.starts_with(['\t', '\r', '\n']);
    let text = terminal(text);
    let text = if starts_formula { format!("'{text}") } else { text };
    match text.contains([',', '"', '\n', '\r', ';']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(escape: fn(&str) -> String, cases: &[(&str, &str)]) {
        for (text, expect) in cases {
            assert_eq!(escape(text), *expect, "{text:?}");
        }
    }

    #[test]
    fn spreadsheets_compute_nothing() {
        check(
            field,
            &[
                ("=cmd()|' /C calc'!A0", "'=cmd()|' /C calc'!A0"),
                (" +1", "' +1"),
                ("@SUM(1,2)", "\"'@SUM(1,2)\""),
                ("say \"hi\"", "\"say \"\"hi\"\"\""),
                ("a\nb", "a\\nb"),
                ("plain", "plain"),
            ],
        );
    }
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
    fn hostile_names_are_no_formulas_and_break_no_row() {
        let names = [
            "=cmd|' /C calc'!A0",
            "+1+1",
            "-2+3+cmd|' /C calc'!A0",
            "@SUM(1,2)",
            "\t=1+1",
            "\r=1+1",
            "\n=1+1",
            " \u{a0}=1+1",
            "\u{feff}=1+1",
            "\u{202e}=1+1",
            "＝1+1",
            "\"=1+1",
            "a,=1+1",
            "a;=1+1",
            "a\",\"=1+1\r\n=1+1",
            "\u{0}\u{1b}[2J",
        ];
        for name in names {
            let row = WindowRow {
                metric: name.into(),
                tags: [(name.to_owned(), name.to_owned())].into_iter().collect(),
                ..WindowRow::default()
            };
            let mut bytes = Vec::new();
            write([Ok(vec![row])].into_iter(), &mut bytes).expect("memory takes all");
            let mut reader = csv::Reader::from_reader(&bytes[..]);
            let records: Vec<_> = reader.records().map(|record| record.expect("well-formed")).collect();
            assert_eq!((records.len(), records[0].len()), (1, COLUMNS.len()), "{name:?}");
            for cell in &records[0] {
                assert!(!cell.trim_start().starts_with(FORMULA_STARTS), "{name:?}: {cell:?}");
                assert!(!cell.contains(api::escape::is_unseen), "{name:?}: {cell:?}");
            }
        }
    }
}
