//! The entries of a HAR file, one after the other.

use std::fmt;
use std::io::Read;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::select;
use crate::correlate::Response;
use crate::plan::Notes;
use crate::{DraftError, Kind, LeftOut, Settings};

/// Entries that are kept, before redirects are merged and other sites left out.
const ENTRIES_MAX: usize = 20_000;

/// Bytes of one response that are searched for values.
const RESPONSE_BYTES_MAX: usize = 2 << 20;

/// Bytes of all responses that are searched for values.
const RESPONSES_BYTES_MAX: usize = 64 << 20;

/// Bytes of one request's body that are kept.
const BODY_BYTES_MAX: usize = 1 << 20;

/// Bytes of all bodies of requests that are kept.
const BODIES_BYTES_MAX: usize = 32 << 20;

/// The content of a file, as far as a script needs it.
#[derive(Debug, Default)]
pub(super) struct Archive {
    pub(super) entries: Vec<Entry>,
    /// Names of pages: their numbers in the file, and titles.
    pub(super) pages: Vec<(String, String)>,
    pub(super) left_out: LeftOut,
    responses_bytes: usize,
    bodies_bytes: usize,
    /// Responses that were too long to be searched.
    unsearched: usize,
    /// Bodies of requests that were too long.
    cut_bodies: usize,
    sockets: usize,
    dropped: usize,
    has_entries: bool,
}

/// One request with its response.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) page: String,
    pub(super) started_ms: f64,
    pub(super) time_ms: f64,
    pub(super) method: String,
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<String>,
    pub(super) body_type: String,
    pub(super) status: u16,
    pub(super) redirect: String,
    pub(super) is_document: bool,
    pub(super) response: Response,
}

/// Reads a file. One that ends in the middle keeps its complete entries.
pub(super) fn read(
    input: &mut dyn Read,
    settings: &Settings,
    notes: &mut Notes,
) -> Result<Archive, DraftError> {
    let mut archive = Archive::default();
    let mut input = WithoutMark { input, is_started: false, rest: Vec::new() };
    let buffered = std::io::BufReader::with_capacity(256 << 10, &mut input);
    let mut deserializer = serde_json::Deserializer::from_reader(buffered);
    let top = Member { names: &["log"], archive: &mut archive, settings };
    match top.deserialize(&mut deserializer) {
        Ok(()) if !archive.has_entries => {
            return Err(DraftError::Kind { kind: Kind::Har, why: "`log.entries` is missing" });
        }
        Ok(()) => {}
        Err(error) if error.is_eof() && !archive.entries.is_empty() => {
            notes.add(format!(
                "the file ends in the middle: its {} complete entries were read",
                archive.seen()
            ));
        }
        Err(error) if error.is_io() => return Err(DraftError::Read(error.into())),
        Err(error) => return Err(DraftError::Json { kind: Kind::Har, error }),
    }
    archive.note(notes);
    Ok(archive)
}

impl Archive {
    fn seen(&self) -> usize {
        self.entries.len() + self.left_out.static_assets + self.left_out.other + self.sockets
    }

    fn note(&self, notes: &mut Notes) {
        if self.unsearched > 0 {
            notes.add(format!(
                "{} responses were too long to be searched for values (limits: {} MiB each, {} MiB in all)",
                self.unsearched,
                RESPONSE_BYTES_MAX >> 20,
                RESPONSES_BYTES_MAX >> 20
            ));
        }
        if self.cut_bodies > 0 {
            notes
                .add(format!("{} request bodies were too long and are empty in the script", self.cut_bodies));
        }
        if self.sockets > 0 {
            notes.add(format!(
                "{} WebSocket connections were not converted; write them with k6/websockets",
                self.sockets
            ));
        }
        if self.dropped > 0 {
            notes.add(format!(
                "{} requests after the first {ENTRIES_MAX} were left out; record less",
                self.dropped
            ));
        }
    }

    fn take(&mut self, raw: RawEntry, settings: &Settings) {
        let Some(request) = raw.request else { return self.left_out.other += 1 };
        let url = request.url.unwrap_or_default();
        let method = request.method.unwrap_or_default().to_ascii_uppercase();
        let response = raw.response.unwrap_or_default();
        let status = response.status.map_or(0, |Status(status)| status);
        let lower = url.get(..url.len().min(6)).unwrap_or_default().to_ascii_lowercase();
        if lower.starts_with("ws://")
            || lower.starts_with("wss://")
            || raw.resource_type.as_deref() == Some("websocket")
            || status == 101
        {
            return self.sockets += 1;
        }
        let is_http = lower.starts_with("http:/") || lower.starts_with("https:");
        let headers = pairs(request.headers);
        let is_preflight = method == "OPTIONS"
            && crate::request::header(&headers, "access-control-request-method").is_some();
        let is_token = !method.is_empty()
            && method.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-' || byte == b'_');
        // Without a status, the request was blocked or cancelled.
        if !is_http || is_preflight || !is_token || status == 0 || method == "CONNECT" {
            return self.left_out.other += 1;
        }
        let content = response.content.unwrap_or_default();
        let content_type = content.mime_type.unwrap_or_default().to_ascii_lowercase();
        let resource = raw.resource_type.unwrap_or_default();
        if !settings.keeps_static && select::is_static(&resource, &content_type, &url, &method) {
            return self.left_out.static_assets += 1;
        }
        if self.entries.len() >= ENTRIES_MAX {
            return self.dropped += 1;
        }
        let is_document = is_document(&resource, &headers, &content_type);
        let response_headers = pairs(response.headers);
        let body = self.searched(content.text, content.encoding.as_deref(), &content_type);
        let (body_type, request_body) = self.body(request.post_data);
        let cookies = response_headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
        // Several cookies of one header are divided by line breaks.
        let cookies = cookies.flat_map(|(_, value)| value.split('\n')).filter_map(|cookie| {
            let (name, value) = cookie.split(';').next()?.split_once('=')?;
            Some((name.trim().to_owned(), value.trim().to_owned()))
        });
        let cookies: Vec<(String, String)> = cookies.collect();
        self.entries.push(Entry {
            page: raw.page.unwrap_or_default(),
            started_ms: raw
                .started
                .as_deref()
                .and_then(unix_ms)
                .unwrap_or_else(|| self.entries.last().map_or(0.0, |last| last.started_ms)),
            time_ms: raw.time.filter(|time| time.is_finite() && *time >= 0.0).unwrap_or_default(),
            method,
            url,
            headers,
            body: request_body,
            body_type,
            status,
            redirect: response.redirect.unwrap_or_default(),
            is_document,
            response: Response {
                content_type,
                headers: response_headers,
                body,
                final_url: String::new(),
                cookies,
            },
        });
    }

    /// The text of a response, if it can be searched.
    fn searched(&mut self, text: Option<String>, encoding: Option<&str>, content_type: &str) -> String {
        let text = text.unwrap_or_default();
        let is_text = ["text/", "json", "xml", "javascript", "urlencoded"]
            .iter()
            .any(|kind| content_type.contains(kind));
        if text.is_empty() || !is_text && !content_type.is_empty() {
            return String::new();
        }
        if text.len() > RESPONSE_BYTES_MAX || self.responses_bytes + text.len() > RESPONSES_BYTES_MAX {
            self.unsearched += 1;
            return String::new();
        }
        self.responses_bytes += text.len();
        match encoding {
            Some("base64") => {
                let bytes = BASE64_STANDARD.decode(text.trim()).unwrap_or_default();
                String::from_utf8(bytes).unwrap_or_default()
            }
            _ => text,
        }
    }

    fn body(&mut self, data: Option<RawBody>) -> (String, Option<String>) {
        let Some(data) = data else { return Default::default() };
        let kind = data.mime_type.unwrap_or_default();
        let encode = crate::url::encode;
        let text = data.text.filter(|text| !text.is_empty()).or_else(|| {
            let params = data.params.unwrap_or_default();
            let pair = |pair: RawPair| {
                format!(
                    "{}={}",
                    encode(&pair.name.unwrap_or_default()),
                    encode(&pair.value.unwrap_or_default())
                )
            };
            (!params.is_empty()).then(|| params.into_iter().map(pair).collect::<Vec<_>>().join("&"))
        });
        let Some(text) = text else { return (kind, None) };
        if text.len() > BODY_BYTES_MAX || self.bodies_bytes + text.len() > BODIES_BYTES_MAX {
            self.cut_bodies += 1;
            return (kind, None);
        }
        self.bodies_bytes += text.len();
        (kind, Some(text))
    }
}

fn is_document(resource: &str, headers: &[(String, String)], content_type: &str) -> bool {
    if !resource.is_empty() {
        return resource == "document";
    }
    match crate::request::header(headers, "sec-fetch-dest") {
        Some(destination) => destination == "document",
        None => {
            let accept = crate::request::header(headers, "accept").unwrap_or_default();
            content_type.contains("html") && accept.starts_with("text/html")
        }
    }
}

fn pairs(raw: Option<Vec<RawPair>>) -> Vec<(String, String)> {
    let raw = raw.unwrap_or_default().into_iter();
    raw.filter_map(|pair| Some((pair.name?, pair.value.unwrap_or_default()))).collect()
}

/// Milliseconds since 1970 of a time such as `2026-11-26T06:00:00.123+01:00` (RFC 3339).
pub(super) fn unix_ms(text: &str) -> Option<f64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let rest = text.get(19..)?;
    let (fraction, zone) = rest.split_at(rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len()));
    let fraction: f64 = if fraction.is_empty() { 0.0 } else { format!("0{fraction}").parse().ok()? };
    let offset_min = match zone.get(1..3).and_then(|hours| hours.parse::<i64>().ok()) {
        Some(hours) => {
            let minutes = zone
                .trim_start_matches(|sign: char| !sign.is_ascii_digit())
                .get(2..)
                .map_or(0, |rest| rest.trim_start_matches(':').parse().unwrap_or(0));
            (hours * 60 + minutes) * if zone.starts_with('-') { -1 } else { 1 }
        }
        None => 0,
    };
    // Days from 1970 in the proleptic Gregorian calendar; the year begins in March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days =
        365 * y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + (153 * m + 2) / 5 + day - 719_469;
    let seconds = ((days * 24 + hour) * 60 + minute - offset_min) * 60 + second;
    Some(seconds as f64 * 1000.0 + fraction * 1000.0)
}

/// A source without its byte order mark.
struct WithoutMark<'a> {
    input: &'a mut dyn Read,
    is_started: bool,
    rest: Vec<u8>,
}

impl Read for WithoutMark<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if !self.is_started {
            self.is_started = true;
            let mut head = Vec::new();
            self.input.take(3).read_to_end(&mut head)?;
            self.rest = if head == b"\xef\xbb\xbf" { Vec::new() } else { head };
        }
        if !self.rest.is_empty() {
            let count = self.rest.len().min(buffer.len());
            buffer[..count].copy_from_slice(&self.rest[..count]);
            self.rest.drain(..count);
            return Ok(count);
        }
        self.input.read(buffer)
    }
}

/// An object, of which the members on the way to the entries are read.
struct Member<'a> {
    names: &'static [&'static str],
    archive: &'a mut Archive,
    settings: &'a Settings,
}

impl<'de> DeserializeSeed<'de> for Member<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Member<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a HAR file: an object with `log` and in it `entries`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            if self.names == ["log"] && name == "log" {
                members.next_value_seed(Member {
                    names: &[],
                    archive: &mut *self.archive,
                    settings: self.settings,
                })?;
            } else if self.names.is_empty() && name == "entries" {
                self.archive.has_entries = true;
                members.next_value_seed(Entries { archive: &mut *self.archive, settings: self.settings })?;
            } else if self.names.is_empty() && name == "pages" {
                let pages = members.next_value::<Option<Vec<RawPage>>>()?.unwrap_or_default();
                let page = |page: RawPage| (page.id.unwrap_or_default(), page.title.unwrap_or_default());
                self.archive.pages = pages.into_iter().map(page).collect();
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct Entries<'a> {
    archive: &'a mut Archive,
    settings: &'a Settings,
}

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the list of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(entry) = entries.next_element::<RawEntry>()? {
            self.archive.take(entry, self.settings);
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct RawEntry {
    #[serde(rename = "pageref")]
    page: Option<String>,
    #[serde(rename = "startedDateTime")]
    started: Option<String>,
    time: Option<f64>,
    request: Option<RawRequest>,
    response: Option<RawResponse>,
    #[serde(rename = "_resourceType")]
    resource_type: Option<String>,
}

#[derive(Deserialize)]
struct RawRequest {
    method: Option<String>,
    url: Option<String>,
    headers: Option<Vec<RawPair>>,
    #[serde(rename = "postData")]
    post_data: Option<RawBody>,
}

#[derive(Deserialize)]
struct RawBody {
    #[serde(rename = "mimeType")]
    mime_type: Option<String>,
    text: Option<String>,
    params: Option<Vec<RawPair>>,
}

#[derive(Default, Deserialize)]
struct RawResponse {
    status: Option<Status>,
    headers: Option<Vec<RawPair>>,
    content: Option<RawContent>,
    #[serde(rename = "redirectURL")]
    redirect: Option<String>,
}

#[derive(Default, Deserialize)]
struct RawContent {
    #[serde(rename = "mimeType")]
    mime_type: Option<String>,
    text: Option<String>,
    encoding: Option<String>,
}

#[derive(Deserialize)]
struct RawPair {
    name: Option<String>,
    value: Option<String>,
}

#[derive(Deserialize)]
struct RawPage {
    id: Option<String>,
    title: Option<String>,
}

/// A status; recorders write 0, −1 or a fraction for requests without a response.
struct Status(u16);

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Status, D::Error> {
        let number = f64::deserialize(deserializer)?;
        Ok(Status(if (100.0..1000.0).contains(&number) { number as u16 } else { 0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let check = |text: &str, expect: Option<f64>| assert_eq!(unix_ms(text), expect, "{text}");
        check("1970-01-01T00:00:00Z", Some(0.0));
        check("2026-11-26T06:00:00.500Z", Some(1_795_672_800_500.0));
        check("2026-11-26T07:30:00.5+01:30", Some(1_795_672_800_500.0));
        check("2024-02-29T23:59:59-01:00", Some(1_709_254_799_000.0));
        check("today", None);
        check("", None);
    }
}
