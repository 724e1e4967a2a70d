//! Objectives of a study: thresholds as users write them, and the events per second that violate them.

use analysis::capacity::sight::Rule;
use histo::Values;
use model::capacity::{Objective, Scale};
use model::{Aggregate, MetricKind, MetricRegistry, Trend, ValueKind};
use tally::{Comparison, Condition, Selector, Stat};

use crate::{Exit, Failure};

/// Maximum number of objectives of a study.
pub(super) const OBJECTIVES_MAX: usize = 20;

/// An objective whose metric is not resolved yet.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The objective as the user wrote it.
    pub text: String,
    /// The series that the objective selects.
    pub selector: Selector,
    /// The condition as written.
    condition: String,
}

/// An objective whose metric is known.
#[derive(Clone, Debug)]
pub struct Held {
    /// The series that the objective selects.
    pub selector: Selector,
    /// The metric.
    pub metric: model::MetricId,
    /// The kind of the metric.
    pub kind: MetricKind,
    contains: ValueKind,
    /// The condition on it.
    pub condition: Condition,
}

/// Parses objectives such as `http_req_duration: p(95)<800`.
///
/// # Errors
/// An objective is invalid, or there are too many.
pub fn parse_all(texts: &[String]) -> Result<Vec<Asked>, Failure> {
    if texts.len() > OBJECTIVES_MAX {
        let text = format!("failed to read --slo: there are {}, and at most {OBJECTIVES_MAX}", texts.len());
        return Err(Failure::new(Exit::InvalidConfig, text));
    }
    texts.iter().map(|text| parse(text)).collect()
}

fn parse(text: &str) -> Result<Asked, Failure> {
    let fail = |why: &str| {
        let text =
            format!("failed to read --slo {text:?}: {why}; write --slo 'http_req_duration: p(95)<800'");
        Failure::new(Exit::InvalidConfig, text)
    };
    // A selector's braces may contain a colon, a condition never does.
    let (selector, condition) = text.rsplit_once(':').ok_or_else(|| fail("it has no colon"))?;
    let selector = Selector::parse(selector.trim()).map_err(|error| fail(&error.to_string()))?;
    let condition = condition.trim().to_owned();
    if condition.is_empty() {
        return Err(fail("it has no condition"));
    }
    Ok(Asked { text: format!("{}: {condition}", selector.name()), selector, condition })
}

/// Checks the objectives of a study against the metrics of its script, before anything is measured.
///
/// # Errors
/// A metric is neither built in nor declared by the script, or a condition does not fit it.
pub fn check(objectives: &[String], metrics: &MetricRegistry) -> Result<(), Failure> {
    for asked in parse_all(objectives)? {
        if asked.held(metrics)?.is_none() {
            let name = &asked.selector.metric;
            let meant = tally::nearest_metric(name, metrics);
            let meant = meant.map(|meant| format!("; did you mean {meant:?}?")).unwrap_or_default();
            let text = format!(
                "failed to read --slo {:?}: the metric {name:?} is neither built in nor declared by the script{meant}",
                asked.text
            );
            return Err(Failure::new(Exit::InvalidConfig, text));
        }
    }
    Ok(())
}

impl Asked {
    /// Resolves the metric; `None` while the script has not registered it.
    ///
    /// # Errors
    /// The condition does not fit a metric of this kind.
    pub fn held(&self, metrics: &MetricRegistry) -> Result<Option<Held>, Failure> {
        let Some(metric) = metrics.find(&self.selector.metric) else { return Ok(None) };
        let condition = Condition::parse(&self.condition, &self.selector.name(), metric.kind)
            .map_err(|error| Failure::new(Exit::InvalidConfig, format!("failed to {error}")))?;
        let selector = self.selector.clone();
        Ok(Some(Held {
            selector,
            metric: metric.id,
            kind: metric.kind,
            contains: metric.contains,
            condition,
        }))
    }

    /// Returns the objective as the answer contains it, without a result.
    pub fn noun(&self, held: Option<&Held>) -> Objective {
        let statistic = self.condition.split(['<', '>', '=', '!']).next().unwrap_or_default().trim();
        Objective {
            selector: self.selector.name(),
            condition: self.condition.clone(),
            statistic: statistic.to_owned(),
            limit: held.map_or(f64::NAN, |held| held.condition.limit),
            scale: held.map_or(Scale::Plain, Held::scale),
            line: None,
        }
    }
}

impl Held {
    /// Returns the unit of the limit.
    pub fn scale(&self) -> Scale {
        match (self.kind, self.contains) {
            (MetricKind::Rate, _) => Scale::Share,
            (MetricKind::Trend | MetricKind::Gauge, ValueKind::Time) => Scale::Milliseconds,
            _ => Scale::Plain,
        }
    }

    /// Returns true if the objective is about a duration.
    pub fn is_time(&self) -> bool {
        self.kind == MetricKind::Trend && self.contains == ValueKind::Time
    }

    /// Returns true if the objective is about a share of requests or checks, which has no unit of time.
    pub fn is_share(&self) -> bool {
        self.kind == MetricKind::Rate
    }

    /// Returns true if the statistic is to be at most the limit.
    pub fn is_upper(&self) -> bool {
        matches!(self.condition.comparison, Comparison::Less | Comparison::LessOrEqual)
    }

    /// Returns the rule by which the objective holds, and whether seconds say more than their sum.
    pub fn rule(&self) -> Rule {
        let limit = self.condition.limit;
        let is_upper = self.is_upper();
        let is_lower = matches!(self.condition.comparison, Comparison::Greater | Comparison::GreaterOrEqual);
        let is_equal = self.condition.comparison == Comparison::Equal;
        match (self.kind, self.condition.stat) {
            (MetricKind::Trend, Stat::Quantile(q)) if is_upper => Rule::Share { allowed: 1.0 - q },
            (MetricKind::Trend, Stat::Quantile(q)) if is_lower => Rule::Share { allowed: q },
            (MetricKind::Rate, Stat::Rate) if is_upper || is_equal && limit == 0.0 => {
                Rule::Share { allowed: limit.clamp(0.0, 1.0) }
            }
            (MetricKind::Rate, Stat::Rate) if is_lower || is_equal && limit == 1.0 => {
                Rule::Share { allowed: (1.0 - limit).clamp(0.0, 1.0) }
            }
            (MetricKind::Trend, Stat::Avg) | (MetricKind::Counter, Stat::Rate) if is_upper || is_lower => {
                Rule::Mean { limit, is_upper }
            }
            _ => Rule::Whole { holds: None },
        }
    }

    /// Returns the violations and the total of a second as the rule counts them; `length_s` is the second's length.
    pub fn second(&self, aggregate: &Aggregate, length_s: f64) -> (f64, f64) {
        let is_upper = self.is_upper();
        let limit = self.condition.limit;
        match (aggregate, self.condition.stat) {
            (Aggregate::Trend(trend), Stat::Quantile(_)) => {
                let all = trend.population() as f64;
                let above = all_above(trend, limit);
                (if is_upper { above } else { all - above }, all)
            }
            (Aggregate::Trend(trend), Stat::Avg) => (trend.sum().value(), trend.count() as f64),
            (Aggregate::Rate(rate), _) => {
                let fails = (rate.total - rate.passes) as f64;
                let is_of_passes = is_upper || limit == 0.0;
                (if is_of_passes { rate.passes as f64 } else { fails }, rate.total as f64)
            }
            (Aggregate::Counter(counter), _) => (counter.sum.value(), length_s),
            _ => (0.0, 0.0),
        }
    }
}

/// Counts values above a limit: measured ones, and all requests that failed or were interrupted.
fn all_above(trend: &Trend, limit: f64) -> f64 {
    let measured = above(&trend.values, limit);
    measured + (trend.population() - trend.values.count()) as f64
}

/// Counts values above a limit.
pub(super) fn above(values: &Values, limit: f64) -> f64 {
    if limit == f64::INFINITY {
        return 0.0;
    }
    if let Some(raw) = values.raw() {
        return raw.iter().filter(|value| **value > limit).count() as f64;
    }
    let last = if limit > 0.0 { histo::index_of(limit) } else { histo::INDEX_MIN - 1 };
    let histogram = values.to_histogram();
    let above = histogram.positive().filter(|(index, _)| *index > last);
    above.map(|(_, count)| count as f64).sum()
}

#[cfg(test)]
mod tests {
    use model::{Instant, Mark, RateTotal};

    use super::*;

    fn held(text: &str) -> Held {
        let asked = parse(text).expect("an objective");
        asked.held(&MetricRegistry::default()).expect("a condition").expect("a built-in metric")
    }

    #[test]
    fn objectives_are_read() {
        for (text, selector, condition) in [
            ("http_req_duration: p(95)<800", "http_req_duration", "p(95)<800"),
            ("http_req_failed:rate==0", "http_req_failed", "rate==0"),
            ("http_req_duration{name:a:b}: avg<5", "http_req_duration{name:a:b}", "avg<5"),
        ] {
            let asked = parse(text).expect("an objective");
            assert_eq!((asked.selector.name().as_str(), asked.condition.as_str()), (selector, condition));
        }
        for text in ["", "p(95)<800", "a: ", "{}: p(95)<1"] {
            assert!(parse(text).is_err(), "{text}");
        }
        let wrong = parse("http_req_failed: p(95)<1").expect("it looks like one");
        assert!(wrong.held(&MetricRegistry::default()).is_err(), "a rate has no quantile");
        let unknown = parse("e2e: p(95)<1").expect("an objective");
        assert!(unknown.held(&MetricRegistry::default()).expect("it is none yet").is_none());
    }

    #[test]
    fn what_decides_is_a_share_or_a_mean() {
        let rule = |text: &str| held(text).rule();
        let Rule::Share { allowed } = rule("http_req_duration: p(95)<800") else { panic!("a share") };
        assert!((allowed - 0.05).abs() < 1e-12);
        assert_eq!(rule("http_req_failed: rate==0"), Rule::Share { allowed: 0.0 });
        assert_eq!(rule("http_req_failed: rate<0.25"), Rule::Share { allowed: 0.25 });
        assert_eq!(rule("checks: rate>0.75"), Rule::Share { allowed: 0.25 });
        assert_eq!(rule("http_req_duration: avg<200"), Rule::Mean { limit: 200.0, is_upper: true });
        assert_eq!(rule("http_reqs: rate>10"), Rule::Mean { limit: 10.0, is_upper: false });
        assert_eq!(rule("http_req_duration: max<200"), Rule::Whole { holds: None });
    }

    #[test]
    fn seconds_count_what_breaks_the_limit() {
        let mut trend = Trend::default();
        for value in [5.0, 10.0, 11.0, 20.0] {
            trend.record(value, Mark::Measured);
        }
        trend.record(0.0, Mark::Failed);
        let trend = Aggregate::Trend(trend);
        assert_eq!(held("http_req_duration: p(95)<10").second(&trend, 1.0), (3.0, 5.0));
        assert_eq!(held("http_req_duration: p(95)>10").second(&trend, 1.0), (2.0, 5.0));
        assert_eq!(held("http_req_duration: avg<10").second(&trend, 1.0), (46.0, 4.0));
        let rate = Aggregate::Rate(RateTotal { passes: 3, total: 10 });
        assert_eq!(held("http_req_failed: rate<0.1").second(&rate, 1.0), (3.0, 10.0));
        assert_eq!(held("checks: rate>0.9").second(&rate, 1.0), (7.0, 10.0));
        let mut counter = Aggregate::empty(MetricKind::Counter);
        counter.record(4.0, Mark::Measured, Instant::ZERO);
        assert_eq!(held("http_reqs: rate>1").second(&counter, 0.5), (4.0, 0.5));
    }

    /// Beyond a few hundred values only buckets are kept.
    #[test]
    fn many_values_are_counted_by_buckets() {
        let mut values = Values::default();
        (1..=10_000).for_each(|value| values.record(f64::from(value)));
        assert!(values.raw().is_none());
        let share = above(&values, 9_000.0) / 1_000.0;
        assert!((0.98..1.02).contains(&share), "{share}");
        assert_eq!(above(&values, f64::INFINITY), 0.0);
    }
}
