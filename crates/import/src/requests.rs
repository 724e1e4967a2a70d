//! Sources with one line per finished request: JMeter, vegeta, Gatling. A line becomes samples of k6's metrics.
//!
//! A sample is taken at a request's end, as in k6; the run begins when its first request did.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::BufRead;

use crate::gatling::GatlingRows;
use crate::jtl::JtlRows;
use crate::samples::{Entry, Point};
use crate::vegeta::VegetaRows;
use crate::{ImportError, Kind};

/// Separator between the tags of a sample, as in [`crate::k6_csv`].
const SEPARATOR: char = '\u{1f}';

/// Bytes of a tag's value; the rest of a longer one is left out.
const TAG_BYTES_MAX: usize = 1024;

/// One finished request, or a group of them.
#[derive(Debug, Default)]
pub(crate) struct Request {
    pub(crate) started_unix_ns: i64,
    pub(crate) ended_unix_ns: i64,
    /// A group's time counts in `group_duration`, and not as a request.
    pub(crate) is_group: bool,
    pub(crate) is_failed: bool,
    pub(crate) waiting_ms: Option<f64>,
    pub(crate) connecting_ms: Option<f64>,
    pub(crate) sent_bytes: Option<f64>,
    pub(crate) received_bytes: Option<f64>,
    pub(crate) tags: Tags,
}

/// Tags as a text, `name=value` with separators between.
#[derive(Debug, Default)]
pub(crate) struct Tags(String);

impl Tags {
    pub(crate) fn push(&mut self, name: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        if !self.0.is_empty() {
            self.0.push(SEPARATOR);
        }
        self.0.push_str(name);
        self.0.push('=');
        let value = &value[..value.floor_char_boundary(TAG_BYTES_MAX)];
        self.0.extend(value.chars().map(|letter| if letter == SEPARATOR { ' ' } else { letter }));
    }

    /// The tags of a failed request: k6's code of its status (1400–1599), or that of an error without a name (1000).
    pub(crate) fn push_error(&mut self, status: &str, message: &str) {
        let code = status
            .parse::<u16>()
            .ok()
            .filter(|status| (400..600).contains(status))
            .map_or(1000, |status| 1000 + status);
        self.push("error_code", &code.to_string());
        self.push("error", message.trim());
    }
}

/// One line of a source.
pub(crate) enum Row {
    Request(u64, Request),
    Flawed(u64, Cow<'static, str>),
}

enum Rows<'a> {
    Jtl(Box<JtlRows<'a>>),
    Vegeta(VegetaRows<'a>),
    Gatling(GatlingRows<'a>),
}

/// A file of requests.
pub(crate) struct RequestSource<'a> {
    rows: Rows<'a>,
    line: u64,
    request: Request,
    pending: VecDeque<(&'static str, f64)>,
}

impl<'a> RequestSource<'a> {
    /// Reads the head of the file.
    ///
    /// # Errors
    /// The file cannot be read, or is of another format.
    pub(crate) fn new(kind: Kind, input: &'a mut dyn BufRead) -> Result<RequestSource<'a>, ImportError> {
        let rows = match kind {
            Kind::Jtl => Rows::Jtl(Box::new(JtlRows::new(input)?)),
            Kind::Gatling => Rows::Gatling(GatlingRows::new(input)?),
            _ => Rows::Vegeta(VegetaRows::new(input)?),
        };
        Ok(RequestSource { rows, line: 0, request: Request::default(), pending: VecDeque::new() })
    }

    pub(crate) fn next(&mut self) -> Result<Option<Entry<'_>>, ImportError> {
        if self.pending.is_empty() {
            let row = match &mut self.rows {
                Rows::Jtl(rows) => rows.next()?,
                Rows::Vegeta(rows) => rows.next()?,
                Rows::Gatling(rows) => rows.next()?,
            };
            match row {
                None => return Ok(None),
                Some(Row::Flawed(line, why)) => return Ok(Some(Entry::Flawed(line, why))),
                Some(Row::Request(line, request)) => {
                    (self.line, self.request) = (line, request);
                    self.pending = samples(&self.request);
                }
            }
        }
        let Some((metric, value)) = self.pending.pop_front() else { return Ok(None) };
        Ok(Some(Entry::Point(Point {
            line: self.line,
            metric: Cow::Borrowed(metric),
            unix_ns: self.request.ended_unix_ns,
            value,
            tags: &self.request.tags.0,
            is_whole_seconds: false,
            began: Some(self.request.started_unix_ns),
        })))
    }
}

fn samples(request: &Request) -> VecDeque<(&'static str, f64)> {
    let duration_ms = request.ended_unix_ns.saturating_sub(request.started_unix_ns) as f64 / 1e6;
    if request.is_group {
        return VecDeque::from([("group_duration", duration_ms)]);
    }
    let mut samples = VecDeque::from([
        ("http_reqs", 1.0),
        ("http_req_duration", duration_ms),
        ("http_req_failed", f64::from(u8::from(request.is_failed))),
    ]);
    let more = [
        ("http_req_waiting", request.waiting_ms),
        ("http_req_connecting", request.connecting_ms),
        ("data_sent", request.sent_bytes),
        ("data_received", request.received_bytes),
    ];
    samples.extend(more.into_iter().filter_map(|(metric, value)| Some((metric, value?))));
    samples
}
