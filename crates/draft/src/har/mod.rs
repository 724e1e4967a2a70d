//! HAR files (HTTP Archive 1.2): recordings of browsers and proxies.
//!
//! A file is read entry by entry. Only texts that can hold values are kept, within limits, so that memory depends on the requests that
//! a script keeps and not on the file's size.

mod entries;
mod pages;
mod redirects;
mod select;

use std::io::Read;

use crate::correlate::{Exchange, correlate};
use crate::plan::{Body, Call, Flow, Plan, Step};
use crate::text::Text;
use crate::url::Url;
use crate::{CALLS_MAX, DraftError, Kind, LeftOut, Settings, request, secrets, url};
use entries::{Archive, Entry};

/// The gap between two requests of a page that is a think time, s.
const PAUSE_S_MIN: f64 = 0.5;

/// Reads a recording.
pub(crate) fn read(input: &mut dyn Read, settings: &Settings) -> Result<(Plan, LeftOut), DraftError> {
    let mut plan = Plan::default();
    let mut archive = entries::read(input, settings, &mut plan.notes)?;
    archive.entries.sort_by(|a, b| a.started_ms.total_cmp(&b.started_ms));
    let mut left_out = archive.left_out.clone();
    let mut entries = std::mem::take(&mut archive.entries);
    redirects::merge(&mut entries, &mut left_out);
    select::keep(&mut entries, settings, &mut left_out);
    if entries.len() > CALLS_MAX {
        return Err(DraftError::TooMany { requests: entries.len(), kind: Kind::Har });
    }
    plan.p95_ms = p95_ms(&entries);
    let flow = flow(entries, &archive, settings, &mut plan);
    plan.flows.push(flow);
    secrets::redact(&mut plan);
    Ok((plan, left_out))
}

fn flow(entries: Vec<Entry>, archive: &Archive, settings: &Settings, plan: &mut Plan) -> Flow {
    let groups = pages::groups(&entries, archive);
    let opening = foreign_cookies(&entries, plan);
    let mut exchanges: Vec<Exchange> = Vec::with_capacity(entries.len());
    let mut times = Vec::with_capacity(entries.len());
    for entry in entries {
        times.push((entry.started_ms, entry.started_ms + entry.time_ms));
        exchanges.push(exchange(entry, plan));
    }
    let mut opening = opening;
    opening.extend(crate::data::logins(&mut exchanges, plan, settings));
    let variables = correlate(&mut exchanges, plan);
    let mut flow = Flow { name: "recording".to_owned(), opening, ..Flow::default() };
    flow.variables = variables.into_iter().map(|name| (name, Text::default())).collect();
    let mut ended_ms: Option<f64> = None;
    for ((exchange, (started, ended)), group) in exchanges.into_iter().zip(times).zip(groups) {
        let gap_s =
            ended_ms.map_or(0.0, |ended_ms| (started - ended_ms) / 1000.0).min(settings.think_time_s_max);
        let pause = (gap_s >= PAUSE_S_MIN).then_some(Step::Pause(gap_s));
        ended_ms = Some(ended_ms.map_or(ended, |last| last.max(ended)));
        let call = Step::Call(Box::new(exchange.call));
        match flow.steps.last_mut() {
            Some(Step::Group(name, steps)) if *name == group => {
                steps.extend(pause);
                steps.push(call);
            }
            _ => {
                flow.steps.extend(pause);
                flow.steps.push(Step::Group(group, vec![call]));
            }
        }
    }
    flow
}

/// The 95th percentile of the durations.
fn p95_ms(entries: &[Entry]) -> Option<f64> {
    let mut times: Vec<f64> = entries.iter().map(|entry| entry.time_ms).filter(|time| *time > 0.0).collect();
    times.sort_by(f64::total_cmp);
    times.get((times.len() * 95).div_ceil(100).saturating_sub(1)).copied()
}

fn exchange(entry: Entry, plan: &mut Plan) -> Exchange {
    let mut address = Url::parse(&Text::literal(&entry.url), plan);
    // What the address says of itself is a parameter's secret, too.
    address.query.retain(|(name, _)| !name.is_empty());
    let content_type = request::header(&entry.headers, "content-type").unwrap_or(&entry.body_type).to_owned();
    let is_safe = ["GET", "HEAD", "OPTIONS"].contains(&entry.method.as_str());
    let mut headers: Vec<(String, Text)> = Vec::new();
    for (name, value) in &entry.headers {
        let lower = name.to_ascii_lowercase();
        let is_kept = request::is_kept_header(name)
            && lower != "cookie"
            && !(lower == "accept" && request::is_plain_accept(value))
            && !(lower == "origin" && is_safe)
            && !(lower == "content-type" && entry.body.is_none());
        if is_kept {
            let value = match (lower.as_str(), url::origin(value)) {
                ("origin", Some(origin)) => plan.base(&origin),
                _ => Text::literal(value),
            };
            headers.push((display_name(name), value));
        }
    }
    let has_type = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    if entry.body.is_some() && !has_type && !content_type.is_empty() {
        headers.push(("Content-Type".to_owned(), Text::literal(content_type.clone())));
    }
    if let Some((name, password)) = url::credentials(&entry.url) {
        use base64::Engine;
        let code = base64::prelude::BASE64_STANDARD.encode(format!(
            "{}:{}",
            url::decode(name, false),
            url::decode(password, false)
        ));
        headers.push(("Authorization".to_owned(), Text::literal(format!("Basic {code}"))));
    }
    let body =
        entry.body.as_ref().map_or(Body::None, |text| request::body(&content_type, &Text::literal(text)));
    let call = Call {
        method: entry.method.clone(),
        url: address,
        headers,
        body,
        statuses: expected(entry.status),
        stops_at_redirect: (300..400).contains(&entry.status) && entry.status != 304,
        ..Call::default()
    };
    Exchange { call, response: entry.response }
}

/// The status that a first visit gets.
fn expected(status: u16) -> Vec<u16> {
    match status {
        // The browser had the content.
        304 => vec![200],
        // It is one of a range, which the script does not ask for.
        206 => vec![200, 206],
        0 => Vec::new(),
        status => vec![status],
    }
}

/// HTTP/2 has names in lowercase; people write them otherwise.
fn display_name(name: &str) -> String {
    match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => name.to_owned(),
        false => crate::correlate::canonical(name),
    }
}

/// Cookies that the browser had before the recording: they are set at the start of each iteration.
fn foreign_cookies(entries: &[Entry], plan: &mut Plan) -> Vec<String> {
    let mut known: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    for entry in entries {
        let cookies = entry.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("cookie"));
        for pair in cookies.flat_map(|(_, value)| value.split(';')) {
            let (name, value) = pair.trim().split_once('=').unwrap_or((pair.trim(), ""));
            if name.is_empty()
                || value.is_empty()
                || known.contains(&name)
                || select::is_analytics_cookie(name)
            {
                continue;
            }
            known.push(name);
            let Some(origin) = url::origin(&entry.url) else { continue };
            let base = plan.base(&origin);
            let wish = format!("COOKIE_{}", crate::js::upper_case(name, "VALUE").trim_start_matches('_'));
            let place = format!("cookie {name}, which the browser had before the recording");
            let secret = plan.secret(&wish, place);
            lines.push(format!(
                "http.cookieJar().set({}, {}, {});",
                base.js(),
                crate::js::quoted(name),
                secret.js()
            ));
        }
        known.extend(entry.response.cookies.iter().map(|(name, _)| name.as_str()));
    }
    lines
}
