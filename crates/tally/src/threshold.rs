//! Conditions that decide a run: k6's `<aggregation> <operator> <number>`.

mod meant;

use std::time::Duration;

use model::plan::ThresholdSpec;
use model::{Aggregate, Mark, Metric, MetricId, MetricKind, MetricRegistry, Quantile, ThresholdResult};

use crate::{Selector, SelectorError, Stat};

/// All thresholds of a run, checked against the metrics that the script declared.
#[derive(Clone, Debug, Default)]
pub struct Thresholds {
    pub(crate) selectors: Vec<SelectorThresholds>,
}

/// The thresholds on one selector.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectorThresholds {
    /// The selected metric and tags.
    pub selector: Selector,
    /// The selector's metric.
    pub metric: MetricId,
    /// The conditions; none just makes the sub-metric visible.
    pub conditions: Vec<Condition>,
}

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// As written.
    pub source: String,
    /// The compared statistic.
    pub stat: Stat,
    /// How.
    pub comparison: Comparison,
    /// With what.
    pub limit: f64,
    /// Whether crossing it ends the run.
    pub abort_on_fail: bool,
    /// How long crossing it does not end the run, from the start of the scenarios.
    pub delay_abort_eval: Duration,
}

/// How a value is compared with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `==` and `===`
    Equal,
    /// `!=`
    NotEqual,
}

/// The results of evaluating all thresholds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// One result per condition, in the order of the plan.
    pub results: Vec<ThresholdResult>,
    /// The first crossed condition that ends the run.
    pub abort: Option<Abort>,
}

impl Evaluation {
    /// Whether no threshold is crossed.
    pub fn ok(&self) -> bool {
        self.results.iter().all(|result| result.ok)
    }

    /// The selectors with a crossed threshold, each once, sorted, as k6 lists them.
    pub fn crossed(&self) -> Vec<&str> {
        let mut crossed: Vec<_> =
            self.results.iter().filter(|result| !result.ok).map(|r| r.selector.as_str()).collect();
        crossed.sort_unstable();
        crossed.dedup();
        crossed
    }
}

/// A threshold that ends the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abort {
    /// The name of the metric or sub-metric.
    pub selector: String,
    /// The condition as written.
    pub source: String,
}

/// Why a threshold cannot be judged. A run with such a threshold is not started (k6's exit code 104).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdError {
    /// The selector is malformed.
    #[error(transparent)]
    Selector(#[from] SelectorError),
    /// The metric is neither built in nor declared by the script.
    #[error("check a threshold: unknown metric {name:?}{}", did_you_mean(.nearest))]
    UnknownMetric {
        /// The name in question.
        name: String,
        /// A known name that is much like it.
        nearest: Option<String>,
    },
    /// The condition is malformed.
    #[error("parse threshold {condition:?} on {selector}: {error}")]
    Condition {
        /// The selector as written.
        selector: String,
        /// The condition as written.
        condition: String,
        /// The error in the condition.
        error: ConditionError,
    },
    /// The aggregation exists, but not for metrics of this kind.
    #[error("check threshold {condition:?}: it is not valid for {} metric {selector}; use {}{}", kind.as_str(), list(Stat::names_in_thresholds(*.kind)), did_you_mean(&meant::meant_of_kind(.condition, *.kind)))]
    WrongAggregation {
        /// The selector as written.
        selector: String,
        /// The condition as written.
        condition: String,
        /// The metric's kind.
        kind: MetricKind,
    },
}

/// A syntax error in a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected} at column {column}{}", did_you_mean(.meant))]
pub struct ConditionError {
    /// Where, in characters from 1.
    pub column: usize,
    /// The expected syntax.
    pub expected: &'static str,
    /// The well-formed condition that this one most likely stands for.
    pub meant: Option<String>,
}

impl Thresholds {
    /// Parses all thresholds of a plan. Call it after init, when the script's own metrics are declared.
    ///
    /// # Errors
    /// Everything that is wrong, not only the first.
    pub fn parse(
        specs: &[ThresholdSpec],
        registry: &MetricRegistry,
    ) -> Result<Thresholds, Vec<ThresholdError>> {
        let (mut selectors, mut errors) = (Vec::new(), Vec::new());
        for spec in specs {
            match parse_spec(spec, registry) {
                Ok(parsed) => selectors.push(parsed),
                Err(found) => errors.extend(found),
            }
        }
        if errors.is_empty() { Ok(Thresholds { selectors }) } else { Err(errors) }
    }

    /// The thresholds by selector, in the order of the plan.
    pub fn selectors(&self) -> &[SelectorThresholds] {
        &self.selectors
    }
}

impl Condition {
    /// Parses `<aggregation> <operator> <number>` for a metric of this kind; it never ends the run.
    ///
    /// # Errors
    /// The text is malformed ([`ThresholdError::Condition`]) or the kind has no such aggregation.
    pub fn parse(source: &str, selector: &str, kind: MetricKind) -> Result<Condition, ThresholdError> {
        let (stat, comparison, limit) = parse_condition(source).map_err(|error| {
            let error = ConditionError { meant: meant::meant(source), ..error };
            ThresholdError::Condition { selector: selector.to_owned(), condition: source.to_owned(), error }
        })?;
        if !allowed(stat, kind) {
            let (selector, condition) = (selector.to_owned(), source.to_owned());
            return Err(ThresholdError::WrongAggregation { selector, condition, kind });
        }
        Ok(Condition {
            source: source.to_owned(),
            stat,
            comparison,
            limit,
            abort_on_fail: false,
            delay_abort_eval: Duration::ZERO,
        })
    }

    /// Judges an aggregate: whether the condition holds, and what was compared.
    ///
    /// Without samples k6 v2.2 reads zero, except that a condition on a rate holds (found by running it). A mean is compared as
    /// a number even where it is a lower bound, since it counts what was given up with the time that was waited for it, as k6's
    /// does; with nothing measured at all it is not known to hold.
    pub fn judge(&self, aggregate: &Aggregate, elapsed: Duration) -> (bool, Quantile) {
        if aggregate.is_empty() {
            let is_rate = matches!(aggregate, Aggregate::Rate(_));
            return (is_rate || self.comparison.holds(0.0, self.limit), Quantile::None);
        }
        let observed = self.stat.read(aggregate, elapsed).unwrap_or(Quantile::None);
        let compared = match observed {
            Quantile::AtLeast { bound, .. } if self.stat == Stat::Avg && has_measured(aggregate) => {
                Quantile::Value(bound)
            }
            // What failed ranks above every number, not only above the largest known time.
            Quantile::AtLeast { why: Mark::Failed, .. } if matches!(self.stat, Stat::Quantile(_)) => {
                Quantile::Failed
            }
            other => other,
        };
        (self.comparison.holds_for(compared, self.limit), observed)
    }
}

fn has_measured(aggregate: &Aggregate) -> bool {
    matches!(aggregate, Aggregate::Trend(trend) if trend.values.count() > 0)
}

impl Comparison {
    /// Longest first, so that `<` does not hide `<=`.
    const WRITTEN: [(&str, Comparison); 7] = [
        ("===", Comparison::Equal),
        ("==", Comparison::Equal),
        ("!=", Comparison::NotEqual),
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ];

    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Comparison::Less => value < limit,
            Comparison::LessOrEqual => value <= limit,
            Comparison::Greater => value > limit,
            Comparison::GreaterOrEqual => value >= limit,
            Comparison::Equal => value == limit,
            Comparison::NotEqual => value != limit,
        }
    }

    /// Compares what may not be known exactly; a condition that is not known to hold does not.
    ///
    /// `AtLeast` means that the wait ended at the bound without an answer: the true value is above it. So an upper limit
    /// never holds, whatever it is, and a lower limit holds up to the bound. What failed ranks above every number.
    fn holds_for(self, observed: Quantile, limit: f64) -> bool {
        let above_limit = match observed {
            Quantile::Value(value) => return self.holds(value, limit),
            Quantile::None => return self.holds(0.0, limit),
            Quantile::AtLeast { bound, .. } => bound >= limit,
            Quantile::Failed => !limit.is_nan(),
        };
        match self {
            Comparison::Less | Comparison::LessOrEqual | Comparison::Equal => false,
            Comparison::Greater | Comparison::GreaterOrEqual | Comparison::NotEqual => above_limit,
        }
    }
}

fn parse_spec(
    spec: &ThresholdSpec,
    registry: &MetricRegistry,
) -> Result<SelectorThresholds, Vec<ThresholdError>> {
    let selector = Selector::parse(&spec.selector).map_err(|error| vec![error.into()])?;
    let metric = find_metric(&selector.metric, registry).map_err(|error| vec![error])?;
    let (mut conditions, mut errors) = (Vec::new(), Vec::new());
    for condition in &spec.conditions {
        match Condition::parse(&condition.source, &spec.selector, metric.kind) {
            Ok(parsed) => conditions.push(Condition {
                abort_on_fail: condition.abort_on_fail,
                delay_abort_eval: condition.delay_abort_eval,
                ..parsed
            }),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() {
        Ok(SelectorThresholds { selector, metric: metric.id, conditions })
    } else {
        Err(errors)
    }
}

fn find_metric(name: &str, registry: &MetricRegistry) -> Result<Metric, ThresholdError> {
    registry.find(name).ok_or_else(|| ThresholdError::UnknownMetric {
        name: name.to_owned(),
        nearest: nearest_metric(name, registry),
    })
}

/// Returns the metric whose name is much like this one, if there is one.
pub fn nearest_metric(name: &str, registry: &MetricRegistry) -> Option<String> {
    let known = registry.all();
    nearest(name, known.iter().map(|metric| metric.name.as_ref()))
}

fn parse_condition(source: &str) -> Result<(Stat, Comparison, f64), ConditionError> {
    let error = |at: usize, expected| ConditionError {
        column: source[..at].chars().count() + 1,
        expected,
        meant: None,
    };
    let start = source.len() - source.trim_start().len();
    let operator_at = source.find(['<', '>', '=', '!']).unwrap_or(source.trim_end().len());
    let word = source[start..operator_at.max(start)].trim_end();
    let stat = Stat::parse(word).ok_or_else(|| {
        let expected = match word.starts_with('p') {
            true => "p(N) with a number from 0 to 100",
            false => "an aggregation (count, rate, value, avg, min, max, med or p(N))",
        };
        error(start, expected)
    })?;
    let rest = &source[operator_at..];
    let written = Comparison::WRITTEN.iter().find(|(written, _)| rest.starts_with(written));
    let Some((written, comparison)) = written else {
        return Err(error(operator_at, "an operator (<, <=, >, >=, ==, === or !=)"));
    };
    let number = &rest[written.len()..];
    let number_at = operator_at + written.len() + (number.len() - number.trim_start().len());
    // Go, and so k6, allows underscores between digits.
    let limit = number.trim().replace('_', "").parse().map_err(|_| error(number_at, NUMBER))?;
    Ok((stat, *comparison, limit))
}

/// Limits have no unit: times are in milliseconds, and shares from 0 to 1.
const NUMBER: &str = "a number without a unit (milliseconds, or a share from 0 to 1)";

const AGGREGATIONS: &[&str] = &["count", "rate", "value", "avg", "min", "max", "med"];

fn allowed(stat: Stat, kind: MetricKind) -> bool {
    matches!(
        (kind, stat),
        (MetricKind::Counter, Stat::Count | Stat::Rate)
            | (MetricKind::Gauge, Stat::Value)
            | (MetricKind::Rate, Stat::Rate)
            | (MetricKind::Trend, Stat::Avg | Stat::Min | Stat::Max | Stat::Quantile(_))
    )
}

/// The known word that is most like this one, if any is much like it.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let likeness = |known: &str| strsim::jaro_winkler(&word.to_lowercase(), known);
    known
        .map(|known| (likeness(known), known))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known.to_owned())
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|nearest| format!(" (did you mean {nearest:?}?)")).unwrap_or_default()
}

/// `a, b or c`.
fn list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::plan::ThresholdCondition;
    use model::{Instant, Mark};
    use proptest::prelude::*;

    #[track_caller]
    fn check_parse(source: &str, expect: Result<(Stat, Comparison, f64), (usize, &str)>) {
        let actual = parse_condition(source).map_err(|error| (error.column, error.expected));
        assert_eq!(actual, expect, "{source:?}");
    }

    #[test]
    fn conditions() {
        use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        check_parse("p(95)<500", Ok((Stat::Quantile(0.95), Less, 500.0)));
        check_parse(" p(99.9) <= 5e2 ", Ok((Stat::Quantile(0.9990000000000001), LessOrEqual, 500.0)));
        check_parse("count>1_000", Ok((Stat::Count, Greater, 1000.0)));
        check_parse("rate>=.5", Ok((Stat::Rate, GreaterOrEqual, 0.5)));
        check_parse("value===+5", Ok((Stat::Value, Equal, 5.0)));
        check_parse("avg==5", Ok((Stat::Avg, Equal, 5.0)));
        check_parse("min!=-1", Ok((Stat::Min, NotEqual, -1.0)));
        check_parse("max<Infinity", Ok((Stat::Max, Less, f64::INFINITY)));
        check_parse("med<=5", Ok((Stat::MED, LessOrEqual, 5.0)));
    }

    #[test]
    fn malformed_conditions() {
        let aggregation = "an aggregation (count, rate, value, avg, min, max, med or p(N))";
        let operator = "an operator (<, <=, >, >=, ==, === or !=)";
        check_parse("", Err((1, aggregation)));
        check_parse("  ", Err((3, aggregation)));
        check_parse("foo<5", Err((1, aggregation)));
        check_parse("<5", Err((1, aggregation)));
        check_parse("p(101)<5", Err((1, "p(N) with a number from 0 to 100")));
        check_parse("p95<5", Err((1, "p(N) with a number from 0 to 100")));
        check_parse("avg", Err((4, operator)));
        check_parse("avg=5", Err((4, operator)));
        check_parse("avg!==5", Err((6, NUMBER)));
        check_parse("avg<", Err((5, NUMBER)));
        check_parse("p(95) < 500ms", Err((9, NUMBER)));
        check_parse("avg<6 && min<3", Err((5, NUMBER)));
        check_parse("é<1", Err((1, aggregation)));
    }

    fn spec(selector: &str, conditions: &[&str]) -> ThresholdSpec {
        let condition = |source: &&str| ThresholdCondition {
            source: (*source).to_owned(),
            abort_on_fail: false,
            delay_abort_eval: Duration::ZERO,
        };
        ThresholdSpec {
            selector: selector.to_owned(),
            conditions: conditions.iter().map(condition).collect(),
        }
    }

    #[track_caller]
    fn check_errors(selector: &str, conditions: &[&str], expect: &[&str]) {
        let errors = Thresholds::parse(&[spec(selector, conditions)], &MetricRegistry::default())
            .map(|thresholds| thresholds.selectors.len())
            .expect_err("has errors");
        assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn errors_say_what_where_and_what_was_meant() {
        check_errors(
            "http_req_durations{status:200}",
            &["p(95)<5"],
            &[
                "check a threshold: unknown metric \"http_req_durations\" (did you mean \"http_req_duration\"?)",
            ],
        );
        check_errors("qqq", &[], &["check a threshold: unknown metric \"qqq\""]);
        check_errors(
            "http_reqs{",
            &[],
            &["parse selector \"http_reqs{\": expected a closing brace at column 11"],
        );
        check_errors(
            "http_reqs",
            &["cuont>5", "count>x", "p(95)<5"],
            &[
                "parse threshold \"cuont>5\" on http_reqs: expected an aggregation (count, rate, value, avg, min, \
                 max, med or p(N)) at column 1 (did you mean \"count>5\"?)",
                "parse threshold \"count>x\" on http_reqs: expected a number without a unit (milliseconds, or a share from 0 to 1) at column 7",
                "check threshold \"p(95)<5\": it is not valid for counter metric http_reqs; use count or rate",
            ],
        );
        check_errors(
            "http_req_duration",
            &["count>5"],
            &[
                "check threshold \"count>5\": it is not valid for trend metric http_req_duration; use avg, min, max, med or p(N)",
            ],
        );
    }

    #[track_caller]
    fn check_judge(kind: MetricKind, samples: &[(f64, Mark)], source: &str, expect: bool) {
        let mut aggregate = Aggregate::empty(kind);
        samples.iter().for_each(|(value, mark)| aggregate.record(*value, *mark, Instant::ZERO));
        let condition = Condition::parse(source, "m", kind).expect("well-formed");
        assert_eq!(
            condition.judge(&aggregate, Duration::from_secs(2)).0,
            expect,
            "{source} over {samples:?}"
        );
    }

    #[test]
    fn measured_values_are_compared() {
        use MetricKind::{Counter, Gauge, Rate, Trend};
        let values = [(1.0, Mark::Measured), (0.0, Mark::Measured), (2.0, Mark::Measured)];
        for (kind, holds, fails) in [
            (Counter, "count===3", "count!=3"),
            (Counter, "rate<=1.5", "rate<1.5"),
            (Gauge, "value==2", "value>2"),
            (Rate, "rate>0.66", "rate>0.67"),
            (Trend, "med>=1", "med>1"),
            (Trend, "p(75)<=1.5", "p(75)<1.5"),
            (Trend, "avg==1", "max<2"),
        ] {
            check_judge(kind, &values, holds, true);
            check_judge(kind, &values, fails, false);
        }
        check_judge(Trend, &values, "avg<NaN", false);
    }

    /// As k6 v2.2 judged them in a run without samples.
    #[test]
    fn without_samples_zero_is_read_but_rates_hold() {
        use MetricKind::{Counter, Gauge, Rate, Trend};
        for (kind, source, expect) in [
            (Trend, "p(95)>1", false),
            (Trend, "p(95)<1", true),
            (Trend, "max>1", false),
            (Trend, "med===0", true),
            (Counter, "count>1", false),
            (Counter, "count<1", true),
            (Counter, "rate>1", false),
            (Rate, "rate>0.5", true),
            (Rate, "rate<0.5", true),
            (Gauge, "value>1", false),
            (Gauge, "value<1", true),
        ] {
            check_judge(kind, &[], source, expect);
        }
    }

    #[test]
    fn what_is_not_known_to_hold_does_not() {
        let measured = (5.0, Mark::Measured);
        let with = |mark| [measured, measured, (60.0, mark), (60.0, mark)];
        for (mark, source, expect) in [
            (Mark::TimedOut, "p(95)<100", false),
            (Mark::TimedOut, "p(95)<=60", false),
            (Mark::TimedOut, "p(95)>50", true),
            (Mark::TimedOut, "p(95)>60", true),
            (Mark::TimedOut, "p(95)>=61", false),
            (Mark::TimedOut, "p(95)==60", false),
            (Mark::TimedOut, "p(95)!=50", true),
            (Mark::TimedOut, "p(10)<6", true),
            (Mark::Cut, "p(95)<100", false),
            (Mark::Dropped, "p(95)<100", false),
            (Mark::Dropped, "p(95)>4", true),
            (Mark::Failed, "p(95)<1e300", false),
            (Mark::Failed, "p(95)>1e300", true),
            (Mark::Failed, "p(95)!=5", true),
            (Mark::Failed, "p(95)==5", false),
            (Mark::Failed, "p(95)>NaN", false),
            (Mark::Failed, "p(10)<6", true),
            (Mark::Failed, "avg<6", true),
            (Mark::Failed, "min<6", true),
            (Mark::Failed, "max<6", false),
            (Mark::Failed, "max>4", true),
            (Mark::TimedOut, "max<100", false),
            (Mark::TimedOut, "max>50", true),
            (Mark::TimedOut, "min<6", true),
            (Mark::TimedOut, "avg<33", true),
            (Mark::TimedOut, "avg<32", false),
        ] {
            check_judge(MetricKind::Trend, &with(mark), source, expect);
        }
    }

    #[test]
    fn nothing_holds_where_nothing_was_measured() {
        for mark in [Mark::Failed, Mark::TimedOut, Mark::Cut, Mark::Dropped] {
            for source in ["avg<100", "min<100", "max<100", "med<100", "p(95)<100"] {
                check_judge(MetricKind::Trend, &[(60.0, mark), (60.0, mark)], source, false);
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_parses_or_fails_inside_itself(source in "[avgp(95) <>=!_.é]{0,12}") {
            if let Err(error) = parse_condition(&source) {
                prop_assert!((1..=source.chars().count() + 1).contains(&error.column), "{}", error);
            }
        }
    }
}
