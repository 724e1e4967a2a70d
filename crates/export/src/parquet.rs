//! Rows as Apache Parquet: flat columns, zstd, a row group per [`GROUP_ROWS`] rows.

use std::io::Write;
use std::sync::Arc;

use api::{Number, WindowRow};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use crate::ExportError;

/// Rows that are held in memory and written together.
const GROUP_ROWS: usize = 65_536;

type Value<T> = fn(&WindowRow) -> T;

/// A column: its name, and how it is read from a row.
enum Column {
    Whole(&'static str, Value<Option<i64>>),
    Real(&'static str, Value<Option<f64>>),
    Text(&'static str, Value<String>),
}

const COLUMNS: &[Column] = &[
    Column::Whole("second", |row| Some(i64::from(row.second))),
    Column::Text("time", |row| row.time.clone()),
    Column::Real("seconds", |row| Some(row.seconds.0)),
    Column::Text("metric", |row| row.metric.clone()),
    Column::Text("type", |row| row.kind.to_owned()),
    Column::Text("contains", |row| row.contains.to_owned()),
    Column::Whole("count", |row| i64::try_from(row.count).ok()),
    Column::Real("sum", |row| real(row.sum)),
    Column::Real("value", |row| real(row.value)),
    Column::Whole("passes", |row| i64::try_from(row.passes?).ok()),
    Column::Whole("unmeasured", |row| i64::try_from(row.unmeasured).ok()),
    Column::Real("avg", |row| real(row.avg)),
    Column::Real("min", |row| real(row.min)),
    Column::Real("med", |row| real(row.med)),
    Column::Real("p90", |row| real(row.p90)),
    Column::Real("p95", |row| real(row.p95)),
    Column::Real("p99", |row| real(row.p99)),
    Column::Real("max", |row| real(row.max)),
    Column::Text("censored", |row| row.censored.join(" ")),
    // One column whatever the tags are called, since names of columns would be names from scripts.
    Column::Text("tags", |row| serde_json::to_string(&row.tags).unwrap_or_default()),
];

fn real(number: Option<Number>) -> Option<f64> {
    number.map(|number| number.0)
}

/// Writes rows as they come, [`GROUP_ROWS`] at a time.
///
/// # Errors
/// A row cannot be had, or the stream takes no more.
pub fn write(
    rows: impl Iterator<Item = Result<Vec<WindowRow>, ExportError>>,
    to: &mut (dyn Write + Send),
) -> Result<(), ExportError> {
    let schema = Arc::new(parse_message_type(&schema())?);
    let compression = Compression::ZSTD(ZstdLevel::default());
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut writer = SerializedFileWriter::new(to, schema, properties)?;
    let mut held = Vec::new();
    for batch in rows {
        held.extend(batch?);
        if held.len() >= GROUP_ROWS {
            write_group(&mut writer, &held)?;
            held.clear();
        }
    }
    if !held.is_empty() {
        write_group(&mut writer, &held)?;
    }
    writer.close()?;
    Ok(())
}

fn schema() -> String {
    let line = |column: &Column| match column {
        Column::Whole(name, _) => format!("OPTIONAL INT64 {name};"),
        Column::Real(name, _) => format!("OPTIONAL DOUBLE {name};"),
        Column::Text(name, _) => format!("REQUIRED BYTE_ARRAY {name} (UTF8);"),
    };
    let lines: Vec<String> = COLUMNS.iter().map(line).collect();
    format!("message windows {{ {} }}", lines.join(" "))
}

fn write_group<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    rows: &[WindowRow],
) -> Result<(), ExportError> {
    let mut group = writer.next_row_group()?;
    for column in COLUMNS {
        let Some(mut to) = group.next_column()? else { break };
        write_column(column, rows, &mut to)?;
        to.close()?;
    }
    group.close()?;
    Ok(())
}

fn write_column(
    column: &Column,
    rows: &[WindowRow],
    to: &mut SerializedColumnWriter<'_>,
) -> Result<(), ExportError> {
    match column {
        Column::Whole(_, read) => {
            let (values, levels) = present(rows, read);
            to.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
        }
        Column::Real(_, read) => {
            let (values, levels) = present(rows, read);
            to.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
        }
        Column::Text(_, read) => {
            let values: Vec<ByteArray> =
                rows.iter().map(|row| ByteArray::from(read(row).into_bytes())).collect();
            to.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        }
    }
    Ok(())
}

/// The values that are there, and for each row whether it has one.
fn present<T>(rows: &[WindowRow], read: &Value<Option<T>>) -> (Vec<T>, Vec<i16>) {
    let all: Vec<Option<T>> = rows.iter().map(read).collect();
    let levels = all.iter().map(|value| i16::from(value.is_some())).collect();
    (all.into_iter().flatten().collect(), levels)
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;
    use crate::row::tests::sample;

    #[test]
    fn rows_come_back() {
        let mut bytes = Vec::new();
        write([Ok(sample()), Ok(sample())].into_iter(), &mut bytes).expect("memory takes all");
        let path = std::env::temp_dir().join(format!("plimsoll-export-{}.parquet", std::process::id()));
        std::fs::write(&path, &bytes).expect("a file can be written");
        let reader =
            SerializedFileReader::new(std::fs::File::open(&path).expect("it is there")).expect("Parquet");
        let rows: Vec<_> =
            reader.get_row_iter(None).expect("rows").map(|row| row.expect("well-formed")).collect();
        let _ = std::fs::remove_file(&path);
        assert_eq!(rows.len(), 8);
        let is_wanted = |row: &&parquet::record::Row| row.get_string(3).is_ok_and(|name| name == "http_reqs");
        let first = rows.iter().find(is_wanted).expect("it was recorded");
        assert_eq!((first.get_long(6).ok(), first.get_double(7).ok()), (Some(2), Some(2.0)));
        assert!(first.get_double(11).is_err(), "a counter has no mean");
        let tags: serde_json::Value =
            serde_json::from_str(first.get_string(19).expect("text")).expect("JSON");
        assert_eq!(tags["name"], sample()[0].tags["name"]);
    }
}
