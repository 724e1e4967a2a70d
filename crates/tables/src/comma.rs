//! A table as comma-separated values.

use crate::limit::Collector;
use crate::{Read, TableError, named_kind};

/// The one table of a text.
pub(crate) fn read(name: &str, text: &str) -> Result<Read, TableError> {
    let mut collector = Collector::default();
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut record = csv::StringRecord::new();
    let mut is_first = true;
    while reader.read_record(&mut record).map_err(TableError::Csv)? {
        let cells = record.iter().map(str::to_owned);
        if is_first {
            collector.begin(name, kind(text), cells);
        } else {
            collector.row(cells);
        }
        is_first = false;
    }
    Ok(collector.finish())
}

/// The title that the comments before the table give.
fn kind(text: &str) -> Option<String> {
    let comments = text.lines().map_while(|line| line.trim_end().strip_prefix('#'));
    comments.filter_map(named_kind).next()
}
