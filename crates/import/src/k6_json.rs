//! k6's `--out json`: one JSON object per line, a metric's declaration before its first sample.
//!
//! The shape is documented at <https://grafana.com/docs/k6/latest/results-output/real-time/json/>.

use std::borrow::Cow;
use std::io::BufRead;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::lines::{Line, Lines};
use crate::samples::{Definition, Entry, Point};
use crate::{ImportError, instant, known};

/// A file of that format.
pub(crate) struct JsonSource<'a> {
    lines: Lines<'a>,
}

#[derive(Deserialize)]
struct RawLine<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    metric: Cow<'a, str>,
    #[serde(borrow)]
    data: &'a RawValue,
}

#[derive(Deserialize)]
struct RawPoint<'a> {
    #[serde(borrow)]
    time: Cow<'a, str>,
    value: f64,
    #[serde(borrow, default)]
    tags: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawDefinition {
    #[serde(default)]
    name: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    contains: String,
    #[serde(default)]
    thresholds: Option<Vec<RawThreshold>>,
    #[serde(default, rename = "submetrics")]
    sub_metrics: Option<Vec<RawSubMetric>>,
}

/// A condition alone, or with what k6 does when it is crossed.
#[derive(Deserialize)]
#[serde(untagged)]
enum RawThreshold {
    Text(String),
    Object { threshold: String },
}

#[derive(Deserialize)]
struct RawSubMetric {
    name: String,
}

impl<'a> JsonSource<'a> {
    pub(crate) fn new(input: &'a mut dyn BufRead) -> JsonSource<'a> {
        JsonSource { lines: Lines::new(input) }
    }

    pub(crate) fn next(&mut self) -> Result<Option<Entry<'_>>, ImportError> {
        Ok(self.lines.next()?.map(|line| match line {
            Line::Flawed(number, why) => Entry::Flawed(number, why.into()),
            Line::Text(number, text) => entry(number, text).unwrap_or_else(|why| Entry::Flawed(number, why)),
        }))
    }
}

fn entry(line: u64, text: &str) -> Result<Entry<'_>, Cow<'static, str>> {
    let raw: RawLine<'_> = serde_json::from_str(text).map_err(|error| said(&error))?;
    match &*raw.kind {
        "Point" => point(line, raw).map(Entry::Point),
        "Metric" => definition(raw).map(Entry::Definition),
        _ => Err("it is neither a metric nor a sample of one".into()),
    }
}

fn point(line: u64, raw: RawLine<'_>) -> Result<Point<'_>, Cow<'static, str>> {
    let data: RawPoint<'_> = serde_json::from_str(raw.data.get()).map_err(|error| said(&error))?;
    Ok(Point {
        line,
        metric: raw.metric,
        unix_ns: instant::rfc3339(&data.time).ok_or("its time is none")?,
        value: data.value,
        tags: data.tags.map_or("", RawValue::get),
        is_whole_seconds: false,
        began: None,
    })
}

fn definition(raw: RawLine<'_>) -> Result<Definition, Cow<'static, str>> {
    let data: RawDefinition = serde_json::from_str(raw.data.get()).map_err(|error| said(&error))?;
    let condition = |threshold: RawThreshold| match threshold {
        RawThreshold::Text(text) | RawThreshold::Object { threshold: text } => text,
    };
    Ok(Definition {
        name: if data.name.is_empty() { raw.metric.into_owned() } else { data.name },
        kind: known::kind(&data.kind).ok_or("it declares a metric of an unknown kind")?,
        contains: known::contents(&data.contains).unwrap_or(model::ValueKind::Default),
        thresholds: data.thresholds.into_iter().flatten().map(condition).collect(),
        sub_metrics: data.sub_metrics.into_iter().flatten().map(|one| one.name).collect(),
    })
}

/// An error of JSON without its place, which would be that within a line.
fn said(error: &serde_json::Error) -> Cow<'static, str> {
    if error.is_eof() {
        return "it ends in the middle".into();
    }
    let text = error.to_string();
    format!("not a line of k6's JSON output: {}", text.split(" at line ").next().unwrap_or(&text)).into()
}

/// The tags of a sample; what is no object of texts has none.
pub(crate) fn tags(text: &str) -> Vec<(String, String)> {
    let tags: Option<serde_json::Map<String, serde_json::Value>> = serde_json::from_str(text).ok();
    let pair = |(name, value): (String, serde_json::Value)| match value {
        serde_json::Value::String(value) => Some((name, value)),
        _ => None,
    };
    tags.into_iter().flatten().filter_map(pair).collect()
}
