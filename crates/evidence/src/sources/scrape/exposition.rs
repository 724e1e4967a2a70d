//! Parses metrics pages line by line: Prometheus' text format (0.0.4) and OpenMetrics 1.0.
//!
//! Existing parsers refuse a whole page because of one line, and build all of it first. This one counts invalid lines, and
//! bounds memory for any page.

use std::collections::{BTreeMap, HashMap};

/// Maximum number of samples of one page; the rest is counted.
const SAMPLES_MAX: usize = 20_000;
/// Maximum number of metrics whose type is kept.
const KINDS_MAX: usize = 20_000;
/// Maximum length of a line, bytes.
const LINE_BYTES_MAX: usize = 16 << 10;
/// Maximum number of labels of a series.
const LABELS_MAX: usize = 64;

/// Metrics of a page.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) samples: Vec<Sample>,
    kinds: HashMap<String, Kind>,
    /// Number of invalid lines.
    pub(super) wrong: u64,
    /// Number of samples beyond the limit.
    pub(super) dropped: u64,
}

/// A value of a series.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) value: f64,
}

/// Declared type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
    /// A histogram or a summary, of which only sum and count are read.
    Distribution,
    Untyped,
}

/// Role of a sample, by its name and its metric's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SampleKind {
    /// A value that goes up and down.
    Level,
    /// A value that only grows.
    Counter,
    /// Sum of a distribution.
    Sum,
    /// Number of observations of a distribution.
    Count,
    /// Buckets, quantiles over a process's whole life, and creation times: not shown over time.
    Aside,
}

impl Page {
    /// Parses a page.
    pub(super) fn parse(text: &str) -> Page {
        let mut page = Page::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if line == "# EOF" {
                break;
            }
            page.line(line);
        }
        page
    }

    fn line(&mut self, line: &str) {
        if line.len() > LINE_BYTES_MAX {
            self.wrong += 1;
            return;
        }
        if let Some(comment) = line.strip_prefix('#') {
            self.comment(comment);
            return;
        }
        match sample(line) {
            None => self.wrong += 1,
            // Non-finite values are legal but cannot be drawn.
            Some(sample) if !sample.value.is_finite() => {}
            Some(_) if self.samples.len() >= SAMPLES_MAX => self.dropped += 1,
            Some(sample) => self.samples.push(sample),
        }
    }

    fn comment(&mut self, comment: &str) {
        let mut words = comment.split_whitespace();
        let (Some("TYPE"), Some(name), Some(kind)) = (words.next(), words.next(), words.next()) else {
            return;
        };
        let kind = match kind {
            "counter" => Kind::Counter,
            "gauge" | "info" | "stateset" => Kind::Gauge,
            "histogram" | "summary" | "gaugehistogram" => Kind::Distribution,
            _ => Kind::Untyped,
        };
        if self.kinds.len() < KINDS_MAX {
            self.kinds.insert(name.to_owned(), kind);
        }
    }

    /// Returns the role of a sample. OpenMetrics names the metric without its samples' suffixes; the older format names counters
    /// with them.
    pub(super) fn part(&self, sample: &Sample) -> SampleKind {
        let name = sample.name.as_str();
        if let Some(kind) = self.kinds.get(name) {
            match kind {
                Kind::Counter => return SampleKind::Counter,
                Kind::Gauge => return SampleKind::Level,
                // A summary's quantiles have the name of the metric.
                Kind::Distribution => return SampleKind::Aside,
                Kind::Untyped => {}
            }
        }
        let below =
            |suffix: &str| name.strip_suffix(suffix).and_then(|metric| self.kinds.get(metric)).copied();
        if below("_bucket") == Some(Kind::Distribution) || below("_created").is_some() {
            return SampleKind::Aside;
        }
        match (below("_sum"), below("_count"), below("_total")) {
            (Some(Kind::Distribution), _, _) => SampleKind::Sum,
            (_, Some(Kind::Distribution), _) => SampleKind::Count,
            (_, _, Some(Kind::Counter)) => SampleKind::Counter,
            _ => part_by_name(name),
        }
    }
}

/// Returns the role of a sample without a declared type, by naming conventions.
fn part_by_name(name: &str) -> SampleKind {
    if name.ends_with("_total") {
        SampleKind::Counter
    } else if name.ends_with("_bucket") {
        SampleKind::Aside
    } else {
        SampleKind::Level
    }
}

/// Parses `name{label="value"} 1.5 1700000000000`, with an optional exemplar in OpenMetrics.
fn sample(line: &str) -> Option<Sample> {
    let end = line.find(|char: char| char == '{' || char.is_whitespace())?;
    let (name, mut rest) = line.split_at(end);
    let mut name = name.to_owned();
    let mut labels = BTreeMap::new();
    if let Some(inside) = rest.trim_start().strip_prefix('{') {
        rest = read_labels(inside, &mut name, &mut labels)?;
    }
    let value = rest.split_whitespace().next()?.parse().ok()?;
    (!name.is_empty()).then_some(Sample { name, labels, value })
}

/// Parses labels up to the closing brace, and returns the rest. A quoted name without a value is the metric's name (version 1.0.0
/// of the text format).
fn read_labels<'a>(
    mut text: &'a str,
    name: &mut String,
    labels: &mut BTreeMap<String, String>,
) -> Option<&'a str> {
    loop {
        text = text.trim_start_matches([' ', '\t', ',']);
        if let Some(rest) = text.strip_prefix('}') {
            return Some(rest);
        }
        let label;
        (label, text) = match text.strip_prefix('"') {
            Some(quoted) => unquote(quoted)?,
            None => {
                let end = text.find(['=', '}', ','])?;
                (text[..end].trim().to_owned(), &text[end..])
            }
        };
        text = text.trim_start();
        let Some(value) = text.strip_prefix('=') else {
            *name = label;
            continue;
        };
        let value = value.trim_start().strip_prefix('"')?;
        let value = {
            let (value, rest) = unquote(value)?;
            text = rest;
            value
        };
        if label.is_empty() || labels.len() >= LABELS_MAX {
            return None;
        }
        labels.insert(label, value);
    }
}

/// Returns the text before the closing quotation mark with escapes resolved, and the rest.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((place, char)) = chars.next() {
        match char {
            '"' => return Some((value, &text[place + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                escaped => value.push(escaped),
            },
            _ => value.push(char),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, name: &str, labels: &[(&str, &str)], value: f64) {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(sample(line), Some(Sample { name: name.to_owned(), labels, value }), "{line}");
    }

    #[test]
    fn samples_are_read() {
        check("up 1", "up", &[], 1.0);
        check(
            "http_requests_total{method=\"post\",code=\"200\"} 1027 1395066363000",
            "http_requests_total",
            &[("code", "200"), ("method", "post")],
            1027.0,
        );
        check("a{p=\"C:\\\\D\\\"x\\ny\", } 1.458255915e9", "a", &[("p", "C:\\D\"x\ny")], 1_458_255_915.0);
        check(
            "a_bucket{le=\"+Inf\"} 144320 # {trace_id=\"x\"} 0.67",
            "a_bucket",
            &[("le", "+Inf")],
            144_320.0,
        );
        check("{\"my.metric\",\"a label\"=\"b\"} 2", "my.metric", &[("a label", "b")], 2.0);
        check("a {b=\"c\"} 3", "a", &[("b", "c")], 3.0);
    }

    #[test]
    fn what_is_no_sample_is_counted() {
        let lines = ["a", "a{", "a{b=\"c\" 1", "a{b=c} 1", "a x", "{} 1", "a{b=\"c\\", "a{=\"c\"} 1"];
        assert_eq!(Page::parse(&lines.join("\n")).wrong, lines.len() as u64);
        let long = format!("a{{b=\"{}\"}} 1", "x".repeat(LINE_BYTES_MAX));
        assert_eq!(Page::parse(&long).wrong, 1);
        let page = Page::parse("a NaN\nb +Inf\nc 1\n# EOF\nd 1\n");
        assert_eq!((page.wrong, page.samples.len()), (0, 1));
    }

    #[test]
    fn a_page_is_read_up_to_its_limit() {
        let page = Page::parse(&"a 1\n".repeat(SAMPLES_MAX + 3));
        assert_eq!((page.samples.len(), page.dropped), (SAMPLES_MAX, 3));
    }

    #[track_caller]
    fn check_part(types: &str, name: &str, expect: SampleKind) {
        let page = Page::parse(types);
        let sample = Sample { name: name.to_owned(), labels: BTreeMap::new(), value: 1.0 };
        assert_eq!(page.part(&sample), expect, "{types} {name}");
    }

    #[test]
    fn samples_are_told_apart_by_the_kind_of_their_metric() {
        check_part("# TYPE a_total counter", "a_total", SampleKind::Counter);
        check_part("# TYPE a counter", "a_total", SampleKind::Counter);
        check_part("# TYPE a counter", "a_created", SampleKind::Aside);
        check_part("# TYPE a histogram", "a_bucket", SampleKind::Aside);
        check_part("# TYPE a histogram", "a_sum", SampleKind::Sum);
        check_part("# TYPE a summary", "a_count", SampleKind::Count);
        check_part("# TYPE a summary", "a", SampleKind::Aside);
        check_part(
            "# TYPE nodejs_active_requests_total gauge",
            "nodejs_active_requests_total",
            SampleKind::Level,
        );
        check_part("# TYPE a untyped", "a", SampleKind::Level);
        check_part("", "a_total", SampleKind::Counter);
        check_part("", "a_count", SampleKind::Level);
    }

    /// A truncated page, or one with any byte damaged, is parsed as far as possible.
    #[test]
    fn damaged_pages_are_read_as_far_as_they_go() {
        let text = "# TYPE a counter\na_total{b=\"c\\n\",d=\"\"} 1 # {x=\"y\"} 2\n{\"é\",\"ü\"=\"\\\"\"} 3\n";
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            let page = Page::parse(&text[..end]);
            assert!(page.samples.len() <= 2);
            for char in ['"', '{', '}', '\\', '=', ',', '#', '\u{0}', 'é'] {
                let _ = Page::parse(&format!("{}{char}{}", &text[..end], &text[end..]));
            }
        }
    }
}
