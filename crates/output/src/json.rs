//! `--out json`: one JSON object a line.

use std::collections::HashSet;
use std::io::{self, Write};
use std::time::Duration;

use api::{MetricLine, MetricLineData, Number, PointLine, PointLineData, SubMetricLine, TagMap, rfc3339};
use model::plan::ThresholdSpec;
use model::{Mark, Metadata, Metric, MetricId, Sample};

use crate::{Context, Format, Kind, writer};

/// How often lines are written out, so that the file can be followed.
const FLUSH_INTERVAL: Duration = Duration::from_millis(200);

/// The sub-metric that k6 always has.
const ALWAYS: &str = "http_req_duration{expected_response:true}";

pub(crate) const KIND: Kind = Kind {
    name: "json",
    help: "json[=FILE[.gz]]: every sample as a line of JSON; without FILE to standard output",
    open: |path, context| {
        writer::open(
            "json",
            path,
            FLUSH_INTERVAL,
            Box::new(Json { context: context.clone(), seen: HashSet::new() }),
        )
    },
};

struct Json {
    context: Context,
    seen: HashSet<MetricId>,
}

impl Format for Json {
    fn start(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn sample(
        &mut self,
        sample: &Sample,
        metadata: Option<&Metadata>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let metric = self.context.metrics.get(sample.metric);
        if self.seen.insert(sample.metric) {
            write_line(&metric_line(&metric, &self.context.thresholds), out)?;
        }
        let tags = self.context.tags.get(sample.tags);
        let time = rfc3339(self.context.epoch.wall_unix_ns(sample.at));
        let point = PointLine {
            metric: &metric.name,
            line: "Point",
            data: PointLineData {
                time: &time,
                value: has_value(sample.mark).then_some(Number(sample.value)),
                tags: TagMap(tags.iter().collect()),
                metadata: metadata.filter(|metadata| !metadata.is_empty()).map(|metadata| sorted(metadata)),
                mark: mark_name(sample.mark),
            },
        };
        write_line(&point, out)
    }
}

fn write_line(line: &impl serde::Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

fn metric_line<'a>(metric: &'a Metric, thresholds: &'a [ThresholdSpec]) -> MetricLine<'a> {
    let own = thresholds.iter().filter(|spec| spec.selector.trim() == &*metric.name);
    let own = own.flat_map(|spec| spec.conditions.iter().map(|condition| condition.source.as_str()));
    let written = thresholds.iter().map(|spec| spec.selector.trim());
    let always = (!written.clone().any(|selector| selector == ALWAYS)).then_some(ALWAYS);
    let sub_metrics: Vec<_> =
        written.chain(always).filter_map(|selector| sub_metric(selector, &metric.name)).collect();
    MetricLine {
        line: "Metric",
        data: MetricLineData {
            name: &metric.name,
            kind: metric.kind.as_str(),
            contains: metric.contains.as_str(),
            thresholds: own.collect(),
            submetrics: (!sub_metrics.is_empty()).then_some(sub_metrics),
        },
        metric: &metric.name,
    }
}

/// The sub-metric that `selector` names, if it is one of `metric`.
fn sub_metric<'a>(selector: &'a str, metric: &str) -> Option<SubMetricLine<'a>> {
    let suffix = selector.strip_prefix(metric)?.strip_prefix('{')?.strip_suffix('}')?;
    let bare = |text: &'a str| text.trim().trim_matches(['"', '\'']);
    let mut tags: Vec<_> = suffix
        .split(',')
        .filter_map(|tag| tag.split_once(':'))
        .map(|(name, value)| (bare(name), bare(value)))
        .collect();
    tags.sort_unstable();
    Some(SubMetricLine { name: selector, suffix, tags: TagMap(tags) })
}

/// Metadata in the order of its names.
pub(crate) fn sorted(metadata: &Metadata) -> TagMap<'_> {
    let mut pairs: Vec<_> = metadata.iter().map(|(name, value)| (&**name, &**value)).collect();
    pairs.sort_unstable();
    TagMap(pairs)
}

/// Whether there is a number at all; a bound is one.
pub(crate) fn has_value(mark: Mark) -> bool {
    !matches!(mark, Mark::Failed | Mark::Dropped)
}

/// The quality mark of a sample, where it is not plain.
pub(crate) fn mark_name(mark: Mark) -> Option<&'static str> {
    match mark {
        Mark::Measured => None,
        Mark::TimedOut => Some("timed_out"),
        Mark::Cut => Some("cut"),
        Mark::Dropped => Some("dropped"),
        Mark::Failed => Some("failed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::tests::{context, sample, written};

    #[test]
    fn lines_are_those_k6_writes() {
        let mut context = context(&[]);
        let condition = |source: &str| model::plan::ThresholdCondition {
            source: source.into(),
            abort_on_fail: false,
            delay_abort_eval: Duration::ZERO,
        };
        context.thresholds = vec![
            ThresholdSpec {
                selector: "http_req_duration".into(),
                conditions: vec![condition("p(95)<500"), condition("avg<0.001")],
            },
            ThresholdSpec { selector: "http_req_duration{scenario:shop}".into(), conditions: vec![] },
        ];
        let samples = [
            sample(&context, "http_req_duration", 0.760779, Mark::Measured),
            sample(&context, "http_req_duration", 60_000.0, Mark::TimedOut),
            sample(&context, "http_req_duration", 0.0, Mark::Failed),
            sample(&context, "iterations", 1.0, Mark::Measured),
        ];
        let tags = r#""tags":{"expected_response":"true","group":"","my tag":"v&1,2","status":"200"}"#;
        let metadata = r#""metadata":{"iter":"0","trace":"abc,\"x\"","vu":"1"}"#;
        let time = r#""time":"2026-11-21T09:34:09.521582913Z""#;
        let point = |name: &str, value: &str, mark: &str| {
            format!(
                r#"{{"metric":"{name}","type":"Point","data":{{{time},"value":{value},{tags},{metadata}{mark}}}}}"#
            )
        };
        let expect = [
            r#"{"type":"Metric","data":{"name":"http_req_duration","type":"trend","contains":"time","thresholds":["p(95)<500","avg<0.001"],"submetrics":[{"name":"http_req_duration{scenario:shop}","suffix":"scenario:shop","tags":{"scenario":"shop"}},{"name":"http_req_duration{expected_response:true}","suffix":"expected_response:true","tags":{"expected_response":"true"}}]},"metric":"http_req_duration"}"#.to_owned(),
            point("http_req_duration", "0.760779", ""),
            point("http_req_duration", "60000", r#","mark":"timed_out""#),
            point("http_req_duration", "null", r#","mark":"failed""#),
            r#"{"type":"Metric","data":{"name":"iterations","type":"counter","contains":"default","thresholds":[],"submetrics":null},"metric":"iterations"}"#.to_owned(),
            point("iterations", "1", ""),
        ];
        assert_eq!(written(&mut Json { context, seen: HashSet::new() }, &samples), expect.join("\n") + "\n");
    }
}
