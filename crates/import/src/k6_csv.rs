//! k6's `--out csv`: a row per sample, a column per system tag, and the other tags in one cell.
//!
//! The shape is documented at <https://grafana.com/docs/k6/latest/results-output/real-time/csv/>.

use std::borrow::Cow;
use std::io::BufRead;

use crate::records::{Cells, Record, Records};
use crate::samples::{Entry, Point};
use crate::{ImportError, Kind, instant};

/// Separator between the tags of a sample; k6 writes none in its texts.
const SEPARATOR: char = '\u{1f}';

/// A file of that format.
pub(crate) struct CsvSource<'a> {
    records: Records<'a>,
    columns: Columns,
    /// The tags of the row at hand, as `name=value` with separators between.
    tags: String,
    metric: String,
}

/// Which cell is what.
#[derive(Debug, Default)]
struct Columns {
    metric: usize,
    time: usize,
    value: usize,
    extra: Option<usize>,
    tags: Vec<(usize, String)>,
}

impl<'a> CsvSource<'a> {
    /// Reads the head of the file.
    ///
    /// # Errors
    /// The file cannot be read, or its first row is not k6's.
    pub(crate) fn new(input: &'a mut dyn BufRead) -> Result<CsvSource<'a>, ImportError> {
        let mut records = Records::new(input);
        let columns = match records.next()? {
            Some(Record::Cells(_, cells)) => Columns::from_header(cells),
            _ => None,
        };
        let why = || Some("the first line names no metric_name, timestamp and metric_value".to_owned());
        let columns = columns.ok_or_else(|| ImportError::Nothing { kind: Kind::K6Csv, why: why() })?;
        Ok(CsvSource { records, columns, tags: String::new(), metric: String::new() })
    }

    pub(crate) fn next(&mut self) -> Result<Option<Entry<'_>>, ImportError> {
        let CsvSource { records, columns, tags, metric } = self;
        let (line, cells) = match records.next()? {
            None => return Ok(None),
            Some(Record::Flawed(line, why)) => return Ok(Some(Entry::Flawed(line, why.into()))),
            Some(Record::Cells(line, cells)) => (line, cells),
        };
        Ok(Some(match columns.point(cells) {
            Err(why) => Entry::Flawed(line, why.into()),
            Ok((name, time, unix_ns, value)) => {
                columns.write_tags(cells, tags);
                name.clone_into(metric);
                let is_whole_seconds = instant::is_whole_seconds(time);
                Entry::Point(Point {
                    line,
                    metric: Cow::Borrowed(metric),
                    unix_ns,
                    value,
                    tags,
                    is_whole_seconds,
                    began: None,
                })
            }
        }))
    }
}

impl Columns {
    fn from_header(head: Cells<'_>) -> Option<Columns> {
        let find = |name: &str| head.iter().position(|cell| cell == name);
        let fixed = ["metric_name", "timestamp", "metric_value", "extra_tags", "metadata"];
        let tags = head.iter().enumerate().filter(|(_, name)| !fixed.contains(name) && !name.is_empty());
        Some(Columns {
            metric: find("metric_name")?,
            time: find("timestamp")?,
            value: find("metric_value")?,
            extra: find("extra_tags"),
            tags: tags.map(|(column, name)| (column, name.to_owned())).collect(),
        })
    }

    fn point<'c>(&self, cells: Cells<'c>) -> Result<(&'c str, &'c str, i64, f64), &'static str> {
        let cell = |column| cells.get(column).ok_or("it has too few cells");
        let (name, time, value) = (cell(self.metric)?, cell(self.time)?, cell(self.value)?);
        if name.is_empty() {
            return Err("it names no metric");
        }
        let unix_ns = instant::rfc3339_or_unix(time).ok_or("its time is none")?;
        Ok((name, time, unix_ns, value.parse().map_err(|_| "its value is no number")?))
    }

    fn write_tags(&self, cells: Cells<'_>, out: &mut String) {
        out.clear();
        let mut push = |name: &str, value: &str| {
            if !out.is_empty() {
                out.push(SEPARATOR);
            }
            out.push_str(name);
            out.push('=');
            out.push_str(value);
        };
        for (column, name) in &self.tags {
            if let Some(value) = cells.get(*column).filter(|value| !value.is_empty()) {
                push(name, value);
            }
        }
        // k6 joins `name=value` with `&` and escapes neither: a part without `=` belongs to the value before it.
        let mut rest = self.extra.and_then(|column| cells.get(column)).unwrap_or_default();
        while let Some((name, after)) = rest.split_once('=') {
            let end = end_of_value(after);
            push(name, &after[..end]);
            rest = after[end..].strip_prefix('&').unwrap_or_default();
        }
    }
}

/// Where a value ends: at the last `&` before the next `=`.
fn end_of_value(text: &str) -> usize {
    let next = text.find('=').unwrap_or(text.len());
    if next == text.len() { next } else { text[..next].rfind('&').unwrap_or(text.len()) }
}

/// The tags of a sample.
pub(crate) fn tags(text: &str) -> Vec<(String, String)> {
    let pair = |part: &str| part.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    text.split(SEPARATOR).filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(row: &str, expect: &str) {
        let text = format!("metric_name,timestamp,metric_value,method,group,extra_tags,metadata\n{row}\n");
        let mut input = text.as_bytes();
        let mut source = CsvSource::new(&mut input).expect("a head");
        let shown = match source.next().expect("readable").expect("a row") {
            Entry::Point(point) => format!("{} {} {:?}", point.metric, point.value, tags(point.tags)),
            other => format!("{other:?}"),
        };
        assert_eq!(shown, expect);
    }

    #[test]
    fn rows_become_samples() {
        check("http_reqs,1795287946,1.000000,GET,,,", r#"http_reqs 1 [("method", "GET")]"#);
        check(
            "http_reqs,1795287946,1,GET,::a,\"odd=a,b=c & \"\"d\"\"\",vu=1",
            r#"http_reqs 1 [("method", "GET"), ("group", "::a"), ("odd", "a,b=c & \"d\"")]"#,
        );
        check("x,1795287946,2.5,,,a=1&b=2 & 3&c=,", r#"x 2.5 [("a", "1"), ("b", "2 & 3"), ("c", "")]"#);
        check("x,never,1,,,,", r#"Flawed(2, "its time is none")"#);
        check("x,1795287946,one,,,,", r#"Flawed(2, "its value is no number")"#);
        check("x,1795287946", r#"Flawed(2, "it has too few cells")"#);
        check(",1795287946,1,,,,", r#"Flawed(2, "it names no metric")"#);
    }

    #[test]
    fn another_head_is_refused() {
        for head in ["", "a,b,c\n", "metric_name,timestamp\n"] {
            let mut input = head.as_bytes();
            assert!(CsvSource::new(&mut input).is_err(), "{head:?}");
        }
    }
}
