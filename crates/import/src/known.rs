//! Metrics that k6 has by itself, for sources that name a metric and do not say what it is.

use model::metric::builtin;
use model::{MetricKind, ValueKind};

use MetricKind::{Counter, Gauge, Rate, Trend};
use ValueKind::{Data, Default, Time};

/// k6's metrics of modules that are not among the built-in ones here, from its reference of metrics.
const FURTHER: &[(&str, MetricKind, ValueKind)] = &[
    ("grpc_req_duration", Trend, Time),
    ("grpc_streams", Counter, Default),
    ("grpc_streams_msgs_received", Counter, Default),
    ("grpc_streams_msgs_sent", Counter, Default),
    ("browser_data_received", Counter, Data),
    ("browser_data_sent", Counter, Data),
    ("browser_http_req_duration", Trend, Time),
    ("browser_http_req_failed", Rate, Default),
    ("browser_web_vital_cls", Trend, Default),
    ("browser_web_vital_fcp", Trend, Time),
    ("browser_web_vital_fid", Trend, Time),
    ("browser_web_vital_inp", Trend, Time),
    ("browser_web_vital_lcp", Trend, Time),
    ("browser_web_vital_ttfb", Trend, Time),
];

/// The kind and unit of one of k6's metrics, or of a sub-metric (`metric{tag:value}`) of one.
pub(crate) fn metric(name: &str) -> Option<(MetricKind, ValueKind)> {
    let parent = name.split_once('{').map_or(name, |(parent, _)| parent);
    let is_it = |row: &&(&str, MetricKind, ValueKind)| row.0 == parent;
    builtin::TABLE.iter().find(is_it).or_else(|| FURTHER.iter().find(is_it)).map(|row| (row.1, row.2))
}

/// A kind by k6's word for it.
pub(crate) fn kind(word: &str) -> Option<MetricKind> {
    [Counter, Gauge, Rate, Trend].into_iter().find(|kind| kind.as_str() == word)
}

/// A unit by k6's word for it.
pub(crate) fn contents(word: &str) -> Option<ValueKind> {
    [Default, Time, Data].into_iter().find(|contents| contents.as_str() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known() {
        assert_eq!(metric("http_req_duration{expected_response:true}"), Some((Trend, Time)));
        assert_eq!(metric("vus"), Some((Gauge, Default)));
        assert_eq!(metric("grpc_req_duration"), Some((Trend, Time)));
        assert_eq!(metric("orders"), None);
        assert_eq!((kind("rate"), contents("data")), (Some(Rate), Some(Data)));
        assert_eq!((kind("Rate"), contents("")), (None, None));
    }
}
