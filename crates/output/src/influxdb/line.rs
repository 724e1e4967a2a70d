//! InfluxDB's line protocol: `measurement,tag=value field=value timestamp`.
//!
//! Source: <https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/>.

use std::collections::HashMap;
use std::io::Write;

use model::{Mark, Metadata, MetricId, Sample, TagSetId};

use super::stamps::Stamps;
use crate::Context;
use crate::json::{has_value, mark_name};

/// Bytes kept of a tag's name or value. InfluxDB refuses a series whose name and tags have more than 65,535 together.
const TAG_BYTES_MAX: usize = 4096;

/// The type of a field made of a tag (`vu:int` in `K6_INFLUXDB_TAGS_AS_FIELDS`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    Text,
    Integer,
    Float,
    Boolean,
}

/// A tag that becomes a field, since it has too many values to be indexed.
pub(super) type Field = (String, FieldKind);

/// Writes samples as lines.
pub(super) struct Lines {
    context: Context,
    fields: Vec<Field>,
    heads: HashMap<(MetricId, TagSetId), Head>,
    series: HashMap<Vec<u8>, u32>,
    stamps: Stamps,
}

/// The parts that all samples of one metric and tag set share.
struct Head {
    /// Measurement and tags.
    series: Vec<u8>,
    /// Tags that become fields, each with a comma behind.
    fields: Vec<u8>,
    /// The number of `series`: tag sets that differ in fields alone are one series for InfluxDB.
    number: u32,
}

impl Lines {
    pub(super) fn new(context: Context, fields: Vec<Field>) -> Lines {
        Lines { context, fields, heads: HashMap::new(), series: HashMap::new(), stamps: Stamps::default() }
    }

    /// Appends the line of a sample. A sample without a value has the field `mark` alone, so that queries of `value` do not
    /// see it; `false` when the value is no number that the protocol has.
    pub(super) fn write(&mut self, sample: &Sample, metadata: Option<&Metadata>, out: &mut Vec<u8>) -> bool {
        if has_value(sample.mark) && !sample.value.is_finite() {
            return false;
        }
        let key = (sample.metric, sample.tags);
        if !self.heads.contains_key(&key) {
            let head = self.head(sample.metric, sample.tags);
            self.heads.insert(key, head);
        }
        let head = &self.heads[&key];
        let stamp = self.stamps.take(head.number, self.context.epoch.wall_unix_ns(sample.at));
        out.extend_from_slice(&head.series);
        out.push(b' ');
        out.extend_from_slice(&head.fields);
        for (name, value) in metadata.iter().flat_map(|metadata| metadata.iter()) {
            if let Some((name, kind)) = self.fields.iter().find(|(field, _)| **field == **name) {
                write_field(name, *kind, value, out);
            }
        }
        write_value(sample, out);
        writeln!(out, " {stamp}").expect("memory takes every byte");
        true
    }

    fn head(&mut self, metric: MetricId, tags: TagSetId) -> Head {
        let (metric, tags) = (self.context.metrics.get(metric), self.context.tags.get(tags));
        let mut series = Vec::new();
        escape(&metric.name, &[',', ' '], &mut series);
        let mut fields = Vec::new();
        for (name, value) in tags.iter().filter(|(name, value)| !name.is_empty() && !value.is_empty()) {
            if let Some((name, kind)) = self.fields.iter().find(|(field, _)| field == name) {
                write_field(name, *kind, value, &mut fields);
                continue;
            }
            series.push(b',');
            write_tag_name(name, &mut series);
            series.push(b'=');
            escape(value, TAG_SPECIAL, &mut series);
        }
        let number = u32::try_from(self.series.len()).unwrap_or(u32::MAX);
        let number = *self.series.entry(series.clone()).or_insert(number);
        Head { series, fields, number }
    }
}

fn write_value(sample: &Sample, out: &mut Vec<u8>) {
    let write = match (mark_name(sample.mark), has_value(sample.mark)) {
        (Some(mark), false) => write!(out, "mark=\"{mark}\""),
        (Some(mark), true) => write!(out, "mark=\"{mark}\",value={}", sample.value),
        (None, _) => write!(out, "value={}", sample.value),
    };
    write.expect("memory takes every byte");
    debug_assert!(sample.mark != Mark::Measured || has_value(sample.mark));
}

const TAG_SPECIAL: &[char] = &[',', '=', ' '];

/// Names that InfluxDB keeps for itself.
const RESERVED: &[&str] = &["time", "_time", "_field", "_measurement"];

fn write_tag_name(name: &str, out: &mut Vec<u8>) {
    escape(name, TAG_SPECIAL, out);
    if RESERVED.contains(&name) {
        out.push(b'_');
    }
}

/// Writes a field with a comma behind; nothing when the value is not of its kind, since one value of another kind would
/// make InfluxDB refuse the point.
fn write_field(name: &str, kind: FieldKind, value: &str, out: &mut Vec<u8>) {
    let text = match kind {
        FieldKind::Text => None,
        FieldKind::Integer => value.parse::<i64>().ok().map(|value| format!("{value}i")),
        FieldKind::Float => {
            value.parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| format!("{value}"))
        }
        FieldKind::Boolean => crate::setting::is_true(value).map(|value| value.to_string()),
    };
    if text.is_none() && kind != FieldKind::Text {
        return;
    }
    escape(name, TAG_SPECIAL, out);
    out.push(b'=');
    match text {
        Some(text) => out.extend_from_slice(text.as_bytes()),
        None => quote(value, out),
    }
    out.push(b',');
}

/// A text field in quotes. A line's end inside would end the line for some parsers, so it becomes a blank.
fn quote(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for glyph in clipped(text).chars() {
        match glyph {
            '"' | '\\' => out.extend_from_slice(&[b'\\', glyph as u8]),
            _ => push(if glyph.is_control() { ' ' } else { glyph }, out),
        }
    }
    out.push(b'"');
}

/// A measurement, or a tag's name or value, with backslashes before the special characters.
///
/// The protocol has no escape for a backslash. One before a special character, before another one, or at the end would
/// escape what follows, so these become slashes; all others are literal. Line ends and other control characters become
/// blanks, and a text is cut at [`TAG_BYTES_MAX`].
fn escape(text: &str, special: &[char], out: &mut Vec<u8>) {
    let mut glyphs = clipped(text).chars().peekable();
    while let Some(glyph) = glyphs.next() {
        let glyph = if glyph.is_control() { ' ' } else { glyph };
        let escapes = |next: &char| *next == '\\' || next.is_control() || TAG_SPECIAL.contains(next);
        match glyph {
            '\\' if glyphs.peek().is_none_or(escapes) => out.push(b'/'),
            _ if special.contains(&glyph) => {
                out.push(b'\\');
                push(glyph, out);
            }
            _ => push(glyph, out),
        }
    }
}

fn push(glyph: char, out: &mut Vec<u8>) {
    out.extend_from_slice(glyph.encode_utf8(&mut [0; 4]).as_bytes());
}

fn clipped(text: &str) -> &str {
    &text[..text.floor_char_boundary(TAG_BYTES_MAX)]
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use model::TagSet;
    use proptest::prelude::*;

    use super::*;
    use crate::csv::tests::{context, sample};

    /// Splits at an unescaped character, as the specification has it.
    fn split(text: &str, at: char) -> Vec<String> {
        let mut parts = vec![String::new()];
        let (mut escaped, mut quoted) = (false, false);
        for glyph in text.chars() {
            quoted ^= glyph == '"' && !escaped && at != '=';
            if glyph == at && !escaped && !(quoted && text.contains("=\"")) {
                parts.push(String::new());
            } else {
                parts.last_mut().expect("there is one").push(glyph);
            }
            escaped = glyph == '\\' && !escaped;
        }
        parts
    }

    fn unescape(text: &str) -> String {
        TAG_SPECIAL
            .iter()
            .fold(text.to_owned(), |text, glyph| text.replace(&format!("\\{glyph}"), &glyph.to_string()))
    }

    fn tag_of(name: &str, value: &str) -> String {
        let context = context(&[]);
        let tags = TagSet::new([(Arc::from(name), Arc::from(value))]);
        let mut sample = sample(&context, "http_reqs", 1.0, Mark::Measured);
        sample.tags = context.tags.intern(tags);
        let mut out = Vec::new();
        assert!(Lines::new(context, vec![]).write(&sample, None, &mut out));
        String::from_utf8(out).expect("text")
    }

    /// A line's only tag, as a parser reads it.
    fn parsed(line: &str) -> (String, String) {
        let body = line.strip_suffix(" value=1 1795253649521582913\n").expect("value and time");
        let parts = split(body, ',');
        assert_eq!((parts.len(), parts[0].as_str()), (2, "http_reqs"), "{line:?}");
        assert_eq!(split(body, ' ').len(), 1, "{line:?}");
        let tag = split(&parts[1], '=');
        assert_eq!(tag.len(), 2, "{line:?}");
        (unescape(&tag[0]), unescape(&tag[1]))
    }

    proptest! {
        /// A text without backslash and control character comes back as it was.
        #[test]
        fn tags_come_back(name in r"[^\\\pC]{1,20}", value in r"[^\\\pC]{1,60}") {
            prop_assume!(!RESERVED.contains(&name.as_str()));
            prop_assert_eq!(parsed(&tag_of(&name, &value)), (name, value));
        }

        /// Whatever stands in it, a tag stays one tag of one line.
        #[test]
        fn hostile_tags_are_harmless(name in r"[\\,= \nab\r\t]{1,20}", value in r"[\\,= \n\x22ab\x00]{1,60}") {
            let line = tag_of(&name, &value);
            prop_assert_eq!(line.matches('\n').count(), 1);
            let (read_name, read) = parsed(&line);
            let same = |a: &str, b: &str| {
                a.chars().count() == b.chars().count()
                    && a.chars().zip(b.chars()).all(|(a, b)| {
                        a == b || a == ' ' && b.is_control() || a == '/' && b == '\\'
                    })
            };
            prop_assert!(same(&read, &value) && same(&read_name, &name), "{:?}", line);
        }
    }

    #[track_caller]
    fn check_tag(name: &str, value: &str, expect: &str) {
        let expect = format!("http_reqs{expect} value=1 1795253649521582913\n");
        assert_eq!(tag_of(name, value), expect);
    }

    #[test]
    fn tags_are_escaped() {
        check_tag("a b", "c, d=e \"x\"\\", ",a\\ b=c\\,\\ d\\=e\\ \"x\"/");
        check_tag("path", r"C:\a\\b", r",path=C:\a/\b");
        check_tag("time", "1", ",time_=1");
        check_tag("empty", "", "");
        check_tag("né", "日本", ",né=日本");
        check_tag("a", "x\nhttp_reqs value=9", ",a=x\\ http_reqs\\ value\\=9");
        check_tag("a", &"é".repeat(4096), &format!(",a={}", "é".repeat(2048)));
    }

    #[test]
    fn lines_are_those_k6_writes() {
        let context = context(&[]);
        let fields = vec![
            ("vu".to_owned(), FieldKind::Integer),
            ("iter".to_owned(), FieldKind::Integer),
            ("status".to_owned(), FieldKind::Text),
        ];
        let mut lines = Lines::new(context.clone(), fields);
        let metadata: Metadata =
            [("vu", "1"), ("iter", "none"), ("trace", "x")].map(|(a, b)| (a.into(), b.into())).into();
        let mut out = Vec::new();
        for (value, mark) in [
            (0.760779, Mark::Measured),
            (60_000.0, Mark::TimedOut),
            (0.0, Mark::Failed),
            (1e21, Mark::Measured),
        ] {
            let sample = sample(&context, "http_req_duration", value, mark);
            assert!(lines.write(&sample, Some(&metadata), &mut out));
        }
        assert!(!lines.write(&sample(&context, "vus", f64::NAN, Mark::Measured), None, &mut out));
        let head = "http_req_duration,expected_response=true,my\\ tag=v&1\\,2 status=\"200\",vu=1i,";
        let stamp = |n: u64| format!("{}", 1_795_253_649_521_582_913 + n);
        let expect = [
            format!("{head}value=0.760779 {}", stamp(0)),
            format!("{head}mark=\"timed_out\",value=60000 {}", stamp(1)),
            format!("{head}mark=\"failed\" {}", stamp(2)),
            format!("{head}value=1000000000000000000000 {}", stamp(3)),
        ];
        assert_eq!(String::from_utf8(out).expect("text"), expect.join("\n") + "\n");
    }

    #[test]
    fn tag_sets_that_differ_in_fields_are_one_series() {
        let context = context(&[]);
        let mut lines = Lines::new(context.clone(), vec![("url".to_owned(), FieldKind::Text)]);
        let mut out = Vec::new();
        for url in ["a\"\\\nb", "c"] {
            let mut sample = sample(&context, "http_reqs", 1.0, Mark::Measured);
            sample.tags = context.tags.intern(TagSet::new([(Arc::from("url"), Arc::from(url))]));
            lines.write(&sample, None, &mut out);
        }
        let expect = "http_reqs url=\"a\\\"\\\\ b\",value=1 1795253649521582913\n\
                      http_reqs url=\"c\",value=1 1795253649521582914\n";
        assert_eq!(String::from_utf8(out).expect("text"), expect);
    }
}
