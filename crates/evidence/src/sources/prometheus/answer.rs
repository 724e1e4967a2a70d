//! Responses to range queries.

use std::collections::BTreeMap;

use model::Instant;
use serde::Deserialize;

use super::window::Window;

/// Labels of a series, and its points.
pub(super) type Labelled = (BTreeMap<String, String>, Vec<(Instant, f64)>);

/// Series with their points.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Answer {
    pub(super) series: Vec<Labelled>,
    /// Number of series beyond the limit.
    pub(super) series_dropped: usize,
}

/// Prometheus' HTTP API, version 1: "Range queries".
#[derive(Deserialize)]
struct Body {
    data: Data,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    result_type: String,
    result: Vec<Series>,
}

#[derive(Deserialize)]
struct Series {
    metric: BTreeMap<String, String>,
    /// Native histograms have none.
    #[serde(default)]
    values: Vec<(f64, String)>,
}

impl Answer {
    /// Parses a response. If it has more than `series_max` series, those with the highest values are kept.
    pub(super) fn parse(text: &str, series_max: usize, window: &Window) -> Result<Answer, String> {
        let body: Body =
            serde_json::from_str(text).map_err(|error| format!("unexpected response: {error}"))?;
        if body.data.result_type != "matrix" {
            return Err(format!("expected a matrix, got a {:?}", body.data.result_type));
        }
        let series = body.data.result.into_iter().map(|series| series.kept(window));
        let mut series: Vec<Labelled> = series.filter(|(_, points)| !points.is_empty()).collect();
        let series_dropped = series.len().saturating_sub(series_max);
        if series_dropped > 0 {
            series.sort_by(|(_, one), (_, other)| peak(other).total_cmp(&peak(one)));
            series.truncate(series_max);
        }
        series.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(Answer { series, series_dropped })
    }
}

impl Series {
    fn kept(mut self, window: &Window) -> Labelled {
        self.metric.remove("__name__");
        let points = self.values.iter().filter_map(|(unix_s, value)| {
            let value: f64 = value.parse().ok()?;
            // Prometheus has a resolution of milliseconds.
            let wall_ns = (unix_s * 1e3).round() as i64 * 1_000_000;
            value.is_finite().then(|| (window.period.instant(wall_ns), value))
        });
        let mut points: Vec<_> = points.collect();
        points.sort_by_key(|(at, _)| *at);
        (self.metric, points)
    }
}

fn peak(points: &[(Instant, f64)]) -> f64 {
    points.iter().map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::contract::{Moment, Period};

    fn window() -> Window {
        let moment = |second: u64| Moment {
            at: Instant::from_ns(second * 1_000_000_000),
            wall_ns: 1_700_000_000_000_000_000 + second as i64 * 1_000_000_000,
        };
        Window::around(&Period { from: moment(5), to: moment(60) }, Duration::from_secs(5), i64::MAX)
    }

    fn matrix(series: &[&str]) -> String {
        format!(
            "{{\"status\":\"success\",\"data\":{{\"resultType\":\"matrix\",\"result\":[{}]}}}}",
            series.join(",")
        )
    }

    #[test]
    fn series_are_read_with_their_times() {
        let series = r#"{"metric":{"__name__":"up","job":"a"},"values":[[1700000005,"1"],[1700000010.5,"NaN"],[1700000015.25,"2.5"]]}"#;
        let answer = Answer::parse(&matrix(&[series]), 9, &window()).expect("an answer");
        let labels = BTreeMap::from([("job".to_owned(), "a".to_owned())]);
        let points = vec![(Instant::from_ns(5_000_000_000), 1.0), (Instant::from_ns(15_250_000_000), 2.5)];
        assert_eq!(answer, Answer { series: vec![(labels, points)], series_dropped: 0 });
    }

    #[test]
    fn the_highest_series_are_kept() {
        let one = |name: &str, value: u32| {
            format!(r#"{{"metric":{{"pod":"{name}"}},"values":[[1700000005,"{value}"]]}}"#)
        };
        let (a, b, c) = (one("a", 2), one("b", 1), one("c", 3));
        let answer = Answer::parse(&matrix(&[&a, &b, &c]), 2, &window()).expect("an answer");
        let kept: Vec<&str> = answer.series.iter().map(|(labels, _)| labels["pod"].as_str()).collect();
        assert_eq!((kept, answer.series_dropped), (vec!["a", "c"], 1));
    }

    #[test]
    fn other_answers_are_refused() {
        let check = |text: &str| assert!(Answer::parse(text, 9, &window()).is_err(), "{text}");
        check("");
        check("{}");
        check(r#"{"data":{"resultType":"vector","result":[]}}"#);
        check(r#"{"data":{"resultType":"matrix","result":[{"metric":{},"values":[["x",1]]}]}}"#);
    }
}
