//! vegeta's results, as `vegeta encode` writes them: JSON lines (`--to json`) or comma-separated values (`--to csv`).
//!
//! The fields are documented in vegeta's README under `encode`.

use std::borrow::Cow;
use std::io::BufRead;

use serde::Deserialize;

use crate::lines::{Line, Lines};
use crate::records::{Cells, Record, Records};
use crate::requests::{Request, Row};
use crate::{ImportError, instant};

/// The rows of a file.
pub(crate) enum VegetaRows<'a> {
    Json(Lines<'a>),
    Csv(Box<Records<'a>>),
}

#[derive(Deserialize)]
struct RawResult<'a> {
    code: u16,
    #[serde(borrow)]
    timestamp: Cow<'a, str>,
    latency: i64,
    bytes_out: f64,
    bytes_in: f64,
    #[serde(borrow, default)]
    error: Cow<'a, str>,
    #[serde(borrow, default)]
    method: Cow<'a, str>,
    #[serde(borrow, default)]
    url: Cow<'a, str>,
    #[serde(borrow, default)]
    attack: Cow<'a, str>,
}

impl<'a> VegetaRows<'a> {
    pub(crate) fn new(input: &'a mut dyn BufRead) -> Result<VegetaRows<'a>, ImportError> {
        let first = input.fill_buf()?.iter().find(|byte| !byte.is_ascii_whitespace()).copied();
        Ok(match first {
            Some(byte) if byte.is_ascii_digit() => VegetaRows::Csv(Box::new(Records::new(input))),
            _ => VegetaRows::Json(Lines::new(input)),
        })
    }

    pub(crate) fn next(&mut self) -> Result<Option<Row>, ImportError> {
        Ok(match self {
            VegetaRows::Json(lines) => lines.next()?.map(|line| match line {
                Line::Flawed(number, why) => Row::Flawed(number, why.into()),
                Line::Text(number, text) => of_json(text)
                    .map_or_else(|why| Row::Flawed(number, why), |request| Row::Request(number, request)),
            }),
            VegetaRows::Csv(records) => records.next()?.map(|record| match record {
                Record::Flawed(line, why) => Row::Flawed(line, why.into()),
                Record::Cells(line, cells) => of_cells(cells)
                    .map_or_else(|why| Row::Flawed(line, why.into()), |request| Row::Request(line, request)),
            }),
        })
    }
}

fn of_json(text: &str) -> Result<Request, Cow<'static, str>> {
    let raw: RawResult<'_> = serde_json::from_str(text)
        .map_err(|error| Cow::Owned(format!("it is no result of vegeta: {error}")))?;
    let started = instant::rfc3339_or_unix(&raw.timestamp).ok_or("its time is none")?;
    Ok(request(started, &raw))
}

/// Time, status, latency, bytes out, bytes in, error, body, attack, number, method, URL, headers.
fn of_cells(cells: Cells<'_>) -> Result<Request, &'static str> {
    let cell = |column: usize| cells.get(column).unwrap_or_default();
    let started: i64 = cell(0).parse().map_err(|_| "its time is no number of nanoseconds")?;
    let raw = RawResult {
        code: cell(1).parse().map_err(|_| "its status is no number")?,
        timestamp: Cow::Borrowed(""),
        latency: cell(2).parse().map_err(|_| "its latency is no number")?,
        bytes_out: cell(3).parse().unwrap_or(0.0),
        bytes_in: cell(4).parse().unwrap_or(0.0),
        error: Cow::Borrowed(cell(5)),
        attack: Cow::Borrowed(cell(7)),
        method: Cow::Borrowed(cell(9)),
        url: Cow::Borrowed(cell(10)),
    };
    Ok(request(started, &raw))
}

fn request(started_unix_ns: i64, raw: &RawResult<'_>) -> Request {
    let mut request = Request {
        started_unix_ns,
        ended_unix_ns: started_unix_ns.saturating_add(raw.latency.max(0)),
        // As in vegeta's report: success is a status from 200 to 399.
        is_failed: !(200..400).contains(&raw.code),
        sent_bytes: Some(raw.bytes_out),
        received_bytes: Some(raw.bytes_in),
        ..Request::default()
    };
    let status = raw.code.to_string();
    request.tags.push("name", &raw.url);
    request.tags.push("url", &raw.url);
    request.tags.push("method", &raw.method);
    request.tags.push("status", &status);
    request.tags.push("scenario", &raw.attack);
    if request.is_failed {
        request.tags.push_error(&status, &raw.error);
    }
    request
}
