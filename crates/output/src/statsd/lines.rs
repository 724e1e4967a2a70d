//! The lines of a push interval: one for a counter or a gauge, one for each timing.

use std::collections::BTreeMap;

use model::{MetricId, MetricKind, Sample, TagSetId};

use crate::Context;
use crate::json::has_value;
use crate::net::Payload;

/// Timings of a series kept between two pushes; of more, a random choice stands for all.
pub(super) const TIMINGS_PER_SERIES_MAX: usize = 1000;

/// Lines that make a push before its time.
const LINES_MAX: usize = 100_000;

/// Bytes of a name, or of a tag's name or value. Datadog cuts tags at 200.
const WORD_BYTES_MAX: usize = 200;

/// How lines look.
pub(super) struct Style {
    /// The prefix of each name.
    pub(super) namespace: String,
    /// Whether tags are sent, in Datadog's form.
    pub(super) has_tags: bool,
    /// Tags that are not.
    pub(super) blocklist: Vec<String>,
}

/// Gathers samples.
pub(super) struct Lines {
    context: Context,
    style: Style,
    series: BTreeMap<(MetricId, TagSetId), Gathered>,
    kept: usize,
    thinned: u64,
    /// The state of a xorshift generator (Marsaglia, "Xorshift RNGs", 2003); which timings are kept need not be a secret.
    random: u64,
}

/// A series since the last push.
struct Gathered {
    samples: u64,
    value: Value,
}

enum Value {
    Counter(f64),
    Gauge(f64),
    Rate { passes: u64 },
    Timings(Vec<f64>),
}

impl Lines {
    pub(super) fn new(context: Context, style: Style) -> Lines {
        Lines { context, style, series: BTreeMap::new(), kept: 0, thinned: 0, random: 0x9E37_79B9_7F4A_7C15 }
    }

    /// Takes a sample; `false` when it has no value, for which StatsD has no word.
    pub(super) fn take(&mut self, sample: &Sample) -> bool {
        if !has_value(sample.mark) || !sample.value.is_finite() {
            return false;
        }
        let key = (sample.metric, sample.tags);
        let context = &self.context;
        let gathered = self.series.entry(key).or_insert_with(|| {
            self.kept += 1;
            Gathered { samples: 0, value: Value::empty(context.metrics.get(sample.metric).kind) }
        });
        gathered.samples += 1;
        match &mut gathered.value {
            Value::Counter(sum) => *sum += sample.value,
            Value::Gauge(last) => *last = sample.value,
            Value::Rate { passes } => *passes += u64::from(sample.value != 0.0),
            Value::Timings(timings) if timings.len() < TIMINGS_PER_SERIES_MAX => {
                timings.push(sample.value);
                self.kept += 1;
            }
            Value::Timings(timings) => {
                // Algorithm R (Vitter, "Random sampling with a reservoir", 1985): each timing is kept with equal chance.
                self.thinned += 1;
                self.random ^= self.random << 13;
                self.random ^= self.random >> 7;
                self.random ^= self.random << 17;
                let place = usize::try_from(self.random % gathered.samples).unwrap_or(usize::MAX);
                if let Some(kept) = timings.get_mut(place) {
                    *kept = sample.value;
                }
            }
        }
        true
    }

    pub(super) fn is_full(&self) -> bool {
        self.kept >= LINES_MAX
    }

    /// How many timings are sent only as the rate of others.
    pub(super) fn thinned(&self) -> u64 {
        self.thinned
    }

    /// The lines of everything gathered; their counts add up to the samples that they stand for.
    pub(super) fn drain(&mut self) -> Vec<Payload> {
        self.kept = 0;
        let series = std::mem::take(&mut self.series);
        series.into_iter().flat_map(|((metric, tags), gathered)| self.lines(metric, tags, gathered)).collect()
    }

    fn lines(&self, metric: MetricId, tags: TagSetId, gathered: Gathered) -> Vec<Payload> {
        let metric = self.context.metrics.get(metric);
        let name = format!("{}{}", self.style.namespace, word(&metric.name));
        let tags = self.tags(tags);
        let samples = gathered.samples;
        let line = |text: String, count| Payload { body: format!("{text}{tags}").into_bytes(), count };
        match gathered.value {
            Value::Counter(sum) => vec![line(format!("{name}:{sum}|c"), samples)],
            // A sign means a change; to be set to a value below zero, a gauge is set to zero first.
            Value::Gauge(last) if last < 0.0 => {
                vec![line(format!("{name}:0|g{tags}\n{name}:{last}|g"), samples)]
            }
            Value::Gauge(last) => vec![line(format!("{name}:{last}|g"), samples)],
            // What passed under the metric's name, as k6 has it; a share needs the whole as well.
            Value::Rate { passes } => {
                vec![
                    line(format!("{name}:{passes}|c"), samples),
                    line(format!("{name}.total:{samples}|c"), 0),
                ]
            }
            Value::Timings(timings) => {
                let kept = timings.len() as u64;
                let rate = match kept == samples {
                    true => String::new(),
                    false => format!("|@{:.6}", kept as f64 / samples as f64),
                };
                let line_of = |(index, timing): (usize, f64)| {
                    // What was left out is counted with the first of those that stand for it.
                    let count = if index == 0 { samples - kept + 1 } else { 1 };
                    line(format!("{name}:{timing}|ms{rate}"), count)
                };
                timings.into_iter().enumerate().map(line_of).collect()
            }
        }
    }

    /// `|#name:value,…`, or nothing.
    fn tags(&self, tags: TagSetId) -> String {
        if !self.style.has_tags {
            return String::new();
        }
        let tags = self.context.tags.get(tags);
        let wanted = tags.iter().filter(|(name, value)| {
            !value.is_empty() && !self.style.blocklist.iter().any(|blocked| blocked == name)
        });
        let tags: Vec<_> =
            wanted.map(|(name, value)| format!("{}:{}", word(name), tag_value(value))).collect();
        if tags.is_empty() { String::new() } else { format!("|#{}", tags.join(",")) }
    }
}

impl Value {
    fn empty(kind: MetricKind) -> Value {
        match kind {
            MetricKind::Counter => Value::Counter(0.0),
            MetricKind::Gauge => Value::Gauge(0.0),
            MetricKind::Rate => Value::Rate { passes: 0 },
            MetricKind::Trend => Value::Timings(Vec::new()),
        }
    }
}

/// A name without what has a meaning in a line.
fn word(text: &str) -> String {
    clean(text, |glyph| matches!(glyph, ':' | '|' | '@' | '#' | ','))
}

/// A tag's value; a colon in it (of a URL) is no separator any more.
fn tag_value(text: &str) -> String {
    clean(text, |glyph| matches!(glyph, '|' | '#' | ','))
}

fn clean(text: &str, is_special: impl Fn(char) -> bool) -> String {
    let clipped = &text[..text.floor_char_boundary(WORD_BYTES_MAX)];
    let replace = |glyph: char| glyph.is_control() || glyph.is_whitespace() || is_special(glyph);
    clipped.chars().map(|glyph| if replace(glyph) { '_' } else { glyph }).collect()
}
