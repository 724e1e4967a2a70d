//! Tables out of CSV, JSON and Markdown: text in, [`model::Table`] out, within limits.
//!
//! The meaning of a table is not known here. Everything has a limit, and what a limit cost is counted in [`Cost`].

mod comma;
mod json;
mod limit;
mod markdown;

use model::Table;

pub use limit::{CELL_CHARS_MAX, COLUMNS_MAX, Cost, ROWS_MAX, TABLES_MAX};

/// The longest text that is read, in bytes.
pub const BYTES_MAX: usize = 64 << 20;

/// How a text holds tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// RFC 4180, one table, with its columns' names first. Lines that begin with `#` are comments, and `# table: KIND`
    /// says what kind it is.
    Csv,
    /// An array of objects; an object of such arrays, by kind; or an object with `table` (the kind) and `rows`.
    Json,
    /// Tables as GitHub writes them; `<!-- table: KIND -->` before one says what kind it is.
    Markdown,
}

impl Format {
    /// The format of a file of this name, by its extension.
    pub fn of_name(name: &str) -> Option<Format> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "csv" => Some(Format::Csv),
            "json" => Some(Format::Json),
            "md" | "markdown" => Some(Format::Markdown),
            _ => None,
        }
    }
}

/// The contents of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// The tables, in the order of the text.
    pub tables: Vec<Table>,
    /// Counts of what did not fit.
    pub cost: Cost,
}

/// Why a text gives no tables. The texts read after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// It is too long.
    #[error("read tables from {bytes} bytes: at most {BYTES_MAX} are read")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// It is no CSV.
    #[error("read CSV: {0}")]
    Csv(#[source] csv::Error),
    /// It is no JSON, or nested too deeply.
    #[error("read JSON: {0}")]
    Json(#[source] serde_json::Error),
    /// It is JSON, and no table.
    #[error("find a table in the JSON: it needs an array of objects, or an object of such arrays")]
    Shape,
}

/// Reads all tables of a text.
///
/// # Errors
/// The text is too long, is not of this format, or is JSON that holds no table.
pub fn read(name: &str, text: &str, format: Format) -> Result<Read, TableError> {
    if text.len() > BYTES_MAX {
        return Err(TableError::TooLong { bytes: text.len() });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match format {
        Format::Csv => comma::read(name, text),
        Format::Json => json::read(name, text),
        Format::Markdown => Ok(markdown::read(name, text)),
    }
}

/// The kind that a remark names: `table: change`.
fn named_kind(remark: &str) -> Option<String> {
    let kind = remark.trim().strip_prefix("table:")?.trim();
    (!kind.is_empty()).then(|| limit::cut(kind).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, kind: Option<&str>, columns: &[&str], rows: &[&[&str]]) -> Table {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Table {
            name: name.to_owned(),
            kind: kind.map(str::to_owned),
            columns: texts(columns),
            rows: rows.iter().map(|row| texts(row)).collect(),
        }
    }

    #[track_caller]
    fn check(format: Format, text: &str, expect: &[Table]) {
        let read = read("t", text, format).expect("readable");
        assert_eq!(read.tables, expect, "{text:?}");
        assert_eq!(read.cost, Cost::default(), "{text:?}");
    }

    #[test]
    fn the_same_table_in_three_formats() {
        let named =
            |name: &str| table(name, Some("change"), &["after", "metric"], &[&["1", "a|b"], &["", "c"]]);
        check(Format::Csv, "# from a post\n# table: change\nafter,metric\n1,a|b\n,c\n", &[named("t")]);
        check(
            Format::Csv,
            "\u{feff}# table: change\r\nafter,\"metric\"\r\n1,\"a|b\"\r\n,c\r\n",
            &[named("t")],
        );
        check(
            Format::Json,
            r#"{"table": "change", "rows": [{"metric": "a|b", "after": 1}, {"metric": "c", "after": null}]}"#,
            &[named("t")],
        );
        check(
            Format::Json,
            r#"{"change": [{"metric": "a|b", "after": 1}, {"metric": "c"}]}"#,
            &[named("t: change")],
        );
        check(
            Format::Markdown,
            "# Results\n\n<!-- table: change -->\n\n| after | metric |\n|--:|---|\n| 1 | `a\\|b` |\n| | **c** |\n",
            &[named("t: Results")],
        );
    }

    #[test]
    fn names_and_kinds_do_not_leak_into_the_next_table() {
        let text = "# A\n<!-- table: change -->\n\n|x|\n|-|\n|1|\n\n|y|\n|-|\n|2|\n";
        let expect =
            [table("t: A", Some("change"), &["x"], &[&["1"]]), table("t: A (2)", None, &["y"], &[&["2"]])];
        check(Format::Markdown, text, &expect);
    }

    #[test]
    fn one_object_is_one_row() {
        check(Format::Json, r#"{"a": "x", "b": 2.50}"#, &[table("t", None, &["a", "b"], &[&["x", "2.5"]])]);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let check = |format, text: &str, expect: &str| {
            let error = read("t", text, format).expect_err("no table").to_string();
            assert!(error.starts_with(expect), "{text:?}: {error}");
        };
        check(Format::Json, "[1, 2]", "find a table");
        check(Format::Json, "3", "find a table");
        check(Format::Json, "{", "read JSON");
        check(Format::Json, &"[".repeat(1 << 20), "read JSON: recursion limit");
    }

    #[test]
    fn limits_cost_something_and_say_so() {
        let long = "x".repeat(1 << 20);
        let found = read("t", &format!("a\n{long}\n"), Format::Csv).expect("readable");
        assert_eq!(found.cost, Cost { cells: 1, ..Cost::default() });
        assert!(found.tables[0].rows[0][0].chars().count() <= CELL_CHARS_MAX);

        let many = "1\n".repeat(1_000_000);
        let found = read("t", &format!("a\n{many}"), Format::Csv).expect("readable");
        assert_eq!(found.tables[0].rows.len(), ROWS_MAX);
        assert_eq!(found.cost, Cost { rows: 1_000_000 - ROWS_MAX as u64, ..Cost::default() });

        let wide = "c,".repeat(COLUMNS_MAX + 5);
        let found = read("t", &wide, Format::Csv).expect("readable");
        assert_eq!(found.cost, Cost { columns: 6, ..Cost::default() });

        let tables = "|x|\n|-|\n|1|\n\n".repeat(TABLES_MAX + 3);
        let found = read("t", &tables, Format::Markdown).expect("readable");
        assert_eq!((found.tables.len(), found.cost.tables), (TABLES_MAX, 3));

        let nested = read("t", r#"[{"a": 1, "b": [2]}]"#, Format::Json).expect("readable");
        assert_eq!(nested.cost, Cost { cells: 1, ..Cost::default() });
    }
}
