//! The lines of `--out json`: each metric once, when it is first seen, and each sample.

use serde::{Serialize, Serializer};

use crate::Number;

/// A metric is seen for the first time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricLine<'a> {
    /// `Metric`.
    #[serde(rename = "type")]
    pub line: &'static str,
    /// Its type.
    pub data: MetricLineData<'a>,
    /// Its name.
    pub metric: &'a str,
}

/// The description of a metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricLineData<'a> {
    /// Its name.
    pub name: &'a str,
    /// `counter`, `gauge`, `rate`, `trend`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// `default`, `time` (milliseconds), `data` (bytes).
    pub contains: &'static str,
    /// Conditions on it, as written.
    pub thresholds: Vec<&'a str>,
    /// Sub-metrics of it; `null` where there is none.
    pub submetrics: Option<Vec<SubMetricLine<'a>>>,
}

/// A sub-metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SubMetricLine<'a> {
    /// `metric{tag:value}`.
    pub name: &'a str,
    /// `tag:value`.
    pub suffix: &'a str,
    /// The tags a sample must have.
    pub tags: TagMap<'a>,
}

/// One sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointLine<'a> {
    /// The metric's name.
    pub metric: &'a str,
    /// `Point`.
    #[serde(rename = "type")]
    pub line: &'static str,
    /// The sample.
    pub data: PointLineData<'a>,
}

/// A sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointLineData<'a> {
    /// RFC 3339 with nanoseconds, UTC.
    pub time: &'a str,
    /// In the metric's unit; `null` where there is only the knowledge of a failure.
    pub value: Option<Number>,
    /// Its tags in order of their names.
    pub tags: TagMap<'a>,
    /// Facts that are no tags (`vu`, `iter`, …); absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TagMap<'a>>,
    /// Why the value is a bound or missing (`timed_out`, `cut`, `dropped`, `failed`). Not in k6.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<&'static str>,
}

/// Names with their values, written as a JSON object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagMap<'a>(pub Vec<(&'a str, &'a str)>);

impl Serialize for TagMap<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_k6_prints() {
        let metric = MetricLine {
            line: "Metric",
            data: MetricLineData {
                name: "http_reqs",
                kind: "counter",
                contains: "default",
                thresholds: vec![],
                submetrics: Some(vec![SubMetricLine {
                    name: "http_reqs{name:login}",
                    suffix: "name:login",
                    tags: TagMap(vec![("name", "login")]),
                }]),
            },
            metric: "http_reqs",
        };
        let point = PointLine {
            metric: "http_reqs",
            line: "Point",
            data: PointLineData {
                time: "2026-11-21T09:34:09.521582913Z",
                value: Some(Number(1.0)),
                tags: TagMap(vec![("group", ""), ("my tag", "v&1,2"), ("status", "200")]),
                metadata: Some(TagMap(vec![("iter", "0"), ("trace", "abc,\"x\""), ("vu", "1")])),
                mark: None,
            },
        };
        assert_eq!(
            serde_json::to_string(&metric).expect("a line has a form"),
            r#"{"type":"Metric","data":{"name":"http_reqs","type":"counter","contains":"default","thresholds":[],"submetrics":[{"name":"http_reqs{name:login}","suffix":"name:login","tags":{"name":"login"}}]},"metric":"http_reqs"}"#
        );
        assert_eq!(
            serde_json::to_string(&point).expect("a line has a form"),
            r#"{"metric":"http_reqs","type":"Point","data":{"time":"2026-11-21T09:34:09.521582913Z","value":1,"tags":{"group":"","my tag":"v&1,2","status":"200"},"metadata":{"iter":"0","trace":"abc,\"x\"","vu":"1"}}}"#
        );
    }
}
