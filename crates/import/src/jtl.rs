//! JMeter's results as comma-separated values (`jmeter -l results.jtl`), with a line of names.
//!
//! The columns are documented at <https://jmeter.apache.org/usermanual/listeners.html#csvlogformat>.

use std::io::BufRead;

use crate::records::{Cells, Record, Records};
use crate::requests::{Request, Row};
use crate::{ImportError, Kind};

/// The message of a row that sums up a transaction; its requests have rows of their own.
const TRANSACTION: &str = "Number of samples in transaction";

/// The rows of a file.
pub(crate) struct JtlRows<'a> {
    records: Records<'a>,
    columns: Columns,
}

/// Which cell is what.
#[derive(Debug, Default)]
struct Columns {
    time: usize,
    elapsed: usize,
    label: Option<usize>,
    code: Option<usize>,
    message: Option<usize>,
    failure: Option<usize>,
    thread: Option<usize>,
    success: Option<usize>,
    bytes: Option<usize>,
    sent: Option<usize>,
    url: Option<usize>,
    latency: Option<usize>,
    connect: Option<usize>,
}

impl<'a> JtlRows<'a> {
    pub(crate) fn new(input: &'a mut dyn BufRead) -> Result<JtlRows<'a>, ImportError> {
        let mut records = Records::new(input);
        let columns = match records.next()? {
            Some(Record::Cells(_, cells))
                if cells.get(0).is_some_and(|cell| cell.trim_start().starts_with('<')) =>
            {
                return Err(nothing(
                    "it is XML; set jmeter.save.saveservice.output_format=csv and run JMeter again",
                ));
            }
            Some(Record::Cells(_, cells)) => Columns::from_header(cells),
            _ => None,
        };
        let why = "the first line names no timeStamp and elapsed; set jmeter.save.saveservice.print_field_names=true";
        Ok(JtlRows { records, columns: columns.ok_or_else(|| nothing(why))? })
    }

    pub(crate) fn next(&mut self) -> Result<Option<Row>, ImportError> {
        Ok(match self.records.next()? {
            None => None,
            Some(Record::Flawed(line, why)) => Some(Row::Flawed(line, why.into())),
            Some(Record::Cells(line, cells)) => Some(match self.columns.request(cells) {
                Ok(request) => Row::Request(line, request),
                Err(why) => Row::Flawed(line, why.into()),
            }),
        })
    }
}

fn nothing(why: &str) -> ImportError {
    ImportError::Nothing { kind: Kind::Jtl, why: Some(why.to_owned()) }
}

impl Columns {
    fn from_header(head: Cells<'_>) -> Option<Columns> {
        let find = |name: &str| head.iter().position(|cell| cell == name);
        Some(Columns {
            time: find("timeStamp")?,
            elapsed: find("elapsed")?,
            label: find("label"),
            code: find("responseCode"),
            message: find("responseMessage"),
            failure: find("failureMessage"),
            thread: find("threadName"),
            success: find("success"),
            bytes: find("bytes"),
            sent: find("sentBytes"),
            url: find("URL"),
            latency: find("Latency"),
            connect: find("Connect"),
        })
    }

    fn request(&self, cells: Cells<'_>) -> Result<Request, &'static str> {
        let cell = |column: Option<usize>| column.and_then(|column| cells.get(column)).unwrap_or_default();
        let number = |column: Option<usize>| cell(column).parse::<f64>().ok().filter(|number| *number >= 0.0);
        let time = cells.get(self.time).ok_or("it has too few cells")?;
        let started_ms: i64 = time.parse().map_err(|_| "its time is no number of milliseconds")?;
        let elapsed_ms: i64 =
            cell(Some(self.elapsed)).parse().map_err(|_| "its elapsed time is no number")?;
        let ns = |ms: i64| ms.saturating_mul(1_000_000);
        let mut request = Request {
            started_unix_ns: ns(started_ms),
            ended_unix_ns: ns(started_ms.saturating_add(elapsed_ms.max(0))),
            is_group: cell(self.message).starts_with(TRANSACTION),
            is_failed: cell(self.success) == "false",
            connecting_ms: number(self.connect),
            received_bytes: number(self.bytes),
            sent_bytes: number(self.sent),
            ..Request::default()
        };
        // JMeter's latency begins with connecting.
        request.waiting_ms =
            number(self.latency).map(|latency| (latency - request.connecting_ms.unwrap_or(0.0)).max(0.0));
        let label = if request.is_group { "group" } else { "name" };
        let name =
            if request.is_group { format!("::{}", cell(self.label)) } else { cell(self.label).to_owned() };
        request.tags.push(label, &name);
        request.tags.push("scenario", group_of(cell(self.thread)));
        if request.is_group {
            return Ok(request);
        }
        let code = cell(self.code);
        request.tags.push("status", if code.parse::<u16>().is_ok() { code } else { "0" });
        request.tags.push("url", cell(self.url).trim_start_matches("null"));
        if request.is_failed {
            let message = match (cell(self.failure), cell(self.message)) {
                ("", message) => message,
                (failure, _) => failure,
            };
            request.tags.push_error(code, message);
        }
        Ok(request)
    }
}

/// The thread group of a thread: `Visitors 1-3` → `Visitors`.
fn group_of(thread: &str) -> &str {
    let (name, numbers) = thread.rsplit_once(' ').unwrap_or((thread, ""));
    let is_numbers = !numbers.is_empty() && numbers.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if is_numbers { name } else { thread }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_groups_are_named_without_their_numbers() {
        assert_eq!(group_of("Visitors 1-3"), "Visitors");
        assert_eq!(group_of("setUp Thread Group 1-1"), "setUp Thread Group");
        assert_eq!(group_of("alone"), "alone");
    }
}
