//! Gatling's `simulation.log` as text, which versions 3.0 to 3.9 write. Since 3.10 it is binary.
//!
//! Columns are divided by tabs: `REQUEST`, groups, name, start, end, `OK` or `KO`, message. Before 3.4 the user's number stands before
//! the groups.

use std::io::BufRead;

use crate::lines::{Line, Lines};
use crate::requests::{Request, Row};
use crate::{ImportError, Kind};

/// Cells before the status of a line, at least.
const STATUS_MIN: usize = 4;

/// The lines of a file.
pub(crate) struct GatlingRows<'a> {
    lines: Lines<'a>,
}

impl<'a> GatlingRows<'a> {
    pub(crate) fn new(input: &'a mut dyn BufRead) -> Result<GatlingRows<'a>, ImportError> {
        // A binary log begins with the number of a record.
        if input.fill_buf()?.first().is_some_and(|byte| *byte < b'\t') {
            let why = "it is a binary log of Gatling 3.10 or newer, which is not supported; write a log of text with Gatling 3.9";
            return Err(ImportError::Nothing { kind: Kind::Gatling, why: Some(why.to_owned()) });
        }
        Ok(GatlingRows { lines: Lines::new(input) })
    }

    pub(crate) fn next(&mut self) -> Result<Option<Row>, ImportError> {
        while let Some(line) = self.lines.next()? {
            match line {
                Line::Flawed(number, why) => return Ok(Some(Row::Flawed(number, why.into()))),
                Line::Text(number, text) => {
                    let row = match text.split('\t').next() {
                        Some("REQUEST") => request(text),
                        Some("GROUP") => group(text),
                        // What runs and users begin and end, and errors outside of requests.
                        Some("RUN" | "USER" | "ERROR" | "ASSERTION") => continue,
                        _ => Err("it begins with no known word"),
                    };
                    return Ok(Some(row.map_or_else(
                        |why| Row::Flawed(number, why.into()),
                        |request| Row::Request(number, request),
                    )));
                }
            }
        }
        Ok(None)
    }
}

/// The cells of a line, and the place of its status, which says where the times are.
fn cells(text: &str) -> Result<(Vec<&str>, usize), &'static str> {
    let cells: Vec<&str> = text.split('\t').collect();
    let statuses = cells.iter().skip(STATUS_MIN).position(|cell| ["OK", "KO"].contains(cell));
    let status = statuses.ok_or("it has no status")? + STATUS_MIN;
    Ok((cells, status))
}

fn request(text: &str) -> Result<Request, &'static str> {
    let (cells, status) = cells(text)?;
    let (name, groups) = (
        cells[status - 3],
        cells.get(status.wrapping_sub(4)).copied().filter(|_| status >= 5).unwrap_or_default(),
    );
    let mut request = timed(cells[status - 2], cells[status - 1])?;
    request.is_failed = cells[status] == "KO";
    request.tags.push("name", name);
    request.tags.push("group", &group_name(groups));
    let message = cells[status + 1..].join(" ");
    if request.is_failed {
        // `status.find.is(200), but actually found 404`
        let found = message.rsplit(' ').next().unwrap_or_default();
        request.tags.push_error(found, &message);
    }
    Ok(request)
}

fn group(text: &str) -> Result<Request, &'static str> {
    let (cells, status) = cells(text)?;
    // Before the status stands the time of its requests alone.
    let (Some(start), Some(end)) = (cells.get(status - 3), cells.get(status - 2)) else {
        return Err("it has too few cells");
    };
    let mut request = timed(start, end)?;
    request.is_group = true;
    request.tags.push("group", &group_name(cells.get(status.wrapping_sub(4)).copied().unwrap_or_default()));
    Ok(request)
}

fn timed(start: &str, end: &str) -> Result<Request, &'static str> {
    let ms = |text: &str| text.parse::<i64>().map_err(|_| "its times are no numbers of milliseconds");
    let (start, end) = (ms(start)?, ms(end)?);
    let ns = |ms: i64| ms.saturating_mul(1_000_000);
    Ok(Request { started_unix_ns: ns(start), ended_unix_ns: ns(end.max(start)), ..Request::default() })
}

/// Groups as k6 names them: `a,b` → `::a::b`.
fn group_name(groups: &str) -> String {
    let names = groups.split(',').filter(|name| !name.is_empty() && name.parse::<u64>().is_err());
    names.map(|name| format!("::{name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: (i64, i64, bool, bool)) {
        let mut input = text.as_bytes();
        let mut rows = GatlingRows::new(&mut input).expect("a log");
        let Some(Row::Request(_, request)) = rows.next().expect("readable") else {
            panic!("no request in {text:?}")
        };
        let ms = |ns: i64| ns / 1_000_000;
        assert_eq!(
            (ms(request.started_unix_ns), ms(request.ended_unix_ns), request.is_failed, request.is_group),
            expect,
            "{text}"
        );
    }

    #[test]
    fn lines_of_all_text_versions_are_read() {
        check(
            "RUN\tx\ty\t1\t \t3.9.5\nREQUEST\tshop,pay\thome\t1000\t1020\tOK\t ",
            (1000, 1020, false, false),
        );
        check(
            "REQUEST\t\thome\t1000\t1020\tKO\tstatus.find.is(200), but actually found 404",
            (1000, 1020, true, false),
        );
        check("REQUEST\t7\t\thome\t1000\t1020\tOK\t ", (1000, 1020, false, false));
        check("GROUP\tshop\t1000\t1500\t400\tOK", (1000, 1500, false, true));
    }

    #[test]
    fn binary_logs_are_refused() {
        let mut input = &b"\0\0\0\x053.13"[..];
        assert!(GatlingRows::new(&mut input).is_err_and(|error| error.to_string().contains("3.10")));
    }
}
