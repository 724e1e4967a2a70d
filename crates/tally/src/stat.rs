//! Statistics by name, as summaries and thresholds ask for them.

use std::time::Duration;

use model::{Aggregate, Failures, Mark, MetricKind, Quantile, Trend};

/// A statistic of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stat {
    /// A counter's sum; how many values a trend has.
    Count,
    /// A counter's sum per second of the test; the share of a rate.
    Rate,
    /// A gauge's last value.
    Value,
    /// A rate's non-zero values.
    Passes,
    /// A rate's zeros.
    Fails,
    /// The mean.
    Avg,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// The quantile at this fraction from 0 to 1.
    Quantile(f64),
}

impl Stat {
    /// The median.
    pub const MED: Stat = Stat::Quantile(0.5);

    /// The statistic with k6's name: `count`, `rate`, `value`, `passes`, `fails`, `avg`, `min`, `max`, `med`, or `p(N)` with a
    /// number from 0 to 100.
    pub fn parse(name: &str) -> Option<Stat> {
        Some(match name {
            "count" => Stat::Count,
            "rate" => Stat::Rate,
            "value" => Stat::Value,
            "passes" => Stat::Passes,
            "fails" => Stat::Fails,
            "avg" => Stat::Avg,
            "min" => Stat::Min,
            "max" => Stat::Max,
            "med" => Stat::MED,
            _ => Stat::Quantile(parse_percentile(name)?),
        })
    }

    /// Reads the statistic; `elapsed` is the length of the test, for what is per second.
    ///
    /// [`Quantile::None`] when there are no values to compute it from, `None` when the aggregate has no such statistic.
    pub fn read(self, aggregate: &Aggregate, elapsed: Duration) -> Option<Quantile> {
        let value = match (self, aggregate) {
            (Stat::Count, Aggregate::Counter(counter)) => Some(counter.sum.value()),
            (Stat::Rate, Aggregate::Counter(counter)) => Some(per_second(counter.sum.value(), elapsed)),
            (Stat::Value, Aggregate::Gauge(gauge)) => (!gauge.is_empty()).then_some(gauge.last),
            (Stat::Min, Aggregate::Gauge(gauge)) => (!gauge.is_empty()).then_some(gauge.min),
            (Stat::Max, Aggregate::Gauge(gauge)) => (!gauge.is_empty()).then_some(gauge.max),
            (Stat::Rate, Aggregate::Rate(rate)) => rate.rate(),
            (Stat::Passes, Aggregate::Rate(rate)) => Some(rate.passes as f64),
            (Stat::Fails, Aggregate::Rate(rate)) => Some((rate.total - rate.passes) as f64),
            (Stat::Count, Aggregate::Trend(trend)) => Some(trend.count() as f64),
            (Stat::Avg, Aggregate::Trend(trend)) => return Some(mean(trend)),
            (Stat::Min, Aggregate::Trend(trend)) => return Some(smallest(trend)),
            (Stat::Max, Aggregate::Trend(trend)) => return Some(largest(trend)),
            (Stat::Quantile(q), Aggregate::Trend(trend)) => return Some(trend.quantile(q)),
            _ => return None,
        };
        Some(value.map_or(Quantile::None, Quantile::Value))
    }

    /// The names that a threshold on a metric of this kind may use.
    pub(crate) const fn names_in_thresholds(kind: MetricKind) -> &'static [&'static str] {
        match kind {
            MetricKind::Counter => &["count", "rate"],
            MetricKind::Gauge => &["value"],
            MetricKind::Rate => &["rate"],
            MetricKind::Trend => &["avg", "min", "max", "med", "p(N)"],
        }
    }
}

/// The mean of all times. Where some of them only say how long was waited, or iterations were dropped, the true mean is above
/// it. What failed without a time is in no mean, unless there is nothing else.
fn mean(trend: &Trend) -> Quantile {
    let Some(bound) = trend.avg() else { return trend.quantile(1.0) };
    match trend.failures.as_deref().and_then(censored_by) {
        Some(why) => Quantile::AtLeast { bound, why },
        None => Quantile::Value(bound),
    }
}

/// Failures rank above every success, so that the smallest value is the smallest measured one, if there is any.
fn smallest(trend: &Trend) -> Quantile {
    trend.values.min().map_or_else(|| trend.quantile(0.0), Quantile::Value)
}

/// The largest time, which is a lower bound as soon as anything ranks above it: `p(100)` is that, but a bound still says
/// something where `failed` would not, and stays a number for scripts that read the summary.
fn largest(trend: &Trend) -> Quantile {
    let Some(bound) = trend.max() else { return trend.quantile(1.0) };
    let why = |failures: &Failures| match failures.failed {
        0 => censored_by(failures),
        _ => Some(Mark::Failed),
    };
    match trend.failures.as_deref().and_then(why) {
        Some(why) => Quantile::AtLeast { bound, why },
        None => Quantile::Value(bound),
    }
}

/// Why the mean of the times is only a lower bound, if it is.
fn censored_by(failures: &Failures) -> Option<Mark> {
    let counts = [
        (failures.timed_out.count(), Mark::TimedOut),
        (failures.cut.count(), Mark::Cut),
        (failures.dropped, Mark::Dropped),
    ];
    counts.into_iter().find(|(count, _)| *count > 0).map(|(_, why)| why)
}

/// The fraction that `p(N)` asks for. N is divided by 100 exactly as written, since the last digits of small runs depend on it.
fn parse_percentile(name: &str) -> Option<f64> {
    let percent: f64 = name.strip_prefix("p(")?.strip_suffix(')')?.parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(percent / 100.0)
}

fn per_second(value: f64, elapsed: Duration) -> f64 {
    if elapsed.is_zero() { 0.0 } else { value / elapsed.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Instant, Mark};

    fn aggregate_of(kind: MetricKind, values: &[f64]) -> Aggregate {
        let mut aggregate = Aggregate::empty(kind);
        for (i, value) in values.iter().enumerate() {
            aggregate.record(*value, Mark::Measured, Instant::from_ns(i as u64));
        }
        aggregate
    }

    #[track_caller]
    fn check(kind: MetricKind, values: &[f64], name: &str, expect: Option<f64>) {
        let stat = Stat::parse(name).unwrap_or_else(|| panic!("{name} is a statistic"));
        let actual = stat.read(&aggregate_of(kind, values), Duration::from_secs(2));
        assert_eq!(actual, expect.map(Quantile::Value), "{name} of {values:?}");
    }

    #[test]
    fn each_kind_has_its_statistics() {
        use MetricKind::{Counter, Gauge, Rate, Trend};
        check(Counter, &[1.0, 2.0], "count", Some(3.0));
        check(Counter, &[1.0, 2.0], "rate", Some(1.5));
        check(Counter, &[], "count", Some(0.0));
        check(Counter, &[1.0], "avg", None);
        check(Gauge, &[5.0, 1.0, 3.0], "value", Some(3.0));
        check(Gauge, &[5.0, 1.0, 3.0], "min", Some(1.0));
        check(Gauge, &[5.0, 1.0, 3.0], "max", Some(5.0));
        check(Rate, &[1.0, 0.0, 0.0, 2.0], "rate", Some(0.5));
        check(Rate, &[1.0, 0.0, 0.0], "passes", Some(1.0));
        check(Rate, &[1.0, 0.0, 0.0], "fails", Some(2.0));
        check(Trend, &[1.0, 2.0, 6.0], "count", Some(3.0));
        check(Trend, &[1.0, 2.0, 6.0], "rate", None);
    }

    /// Compares with the values that k6 v2.2 printed.
    #[test]
    fn small_trends_equal_k6_to_the_last_digit() {
        let ten = [0.1, 0.7, 1.3, 2.9, 3.1, 17.123456, 0.333333, 1.0 / 3.0, 5.55, 1e-7];
        for (name, expect) in [
            ("avg", 3.144012243333333),
            ("min", 1e-7),
            ("med", 1.0),
            ("max", 17.123456),
            ("count", 10.0),
            ("p(0)", 1e-7),
            ("p(10)", 0.09000001),
            ("p(33.3)", 0.3333333323333333),
            ("p(90)", 6.707345599999996),
            ("p(95)", 11.915400799999988),
            ("p(99.9)", 17.019294896000016),
            ("p(100)", 17.123456),
        ] {
            check(MetricKind::Trend, &ten, name, Some(expect));
        }
        for (name, expect) in [
            ("avg", 0.39999999999999997),
            ("med", 0.4),
            ("p(10)", 0.16),
            ("p(33.3)", 0.29979999999999996),
            ("p(90)", 0.64),
            ("p(95)", 0.6699999999999999),
            ("p(99.9)", 0.6994),
        ] {
            check(MetricKind::Trend, &[0.1, 0.7], name, Some(expect));
        }
    }

    #[test]
    fn no_number_hides_what_failed() {
        const OK: (f64, Mark) = (12.0, Mark::Measured);
        const TIMEOUT: (f64, Mark) = (60.0, Mark::TimedOut);
        const CUT: (f64, Mark) = (6.0, Mark::Cut);
        const DROPPED: (f64, Mark) = (0.0, Mark::Dropped);
        const FAILED: (f64, Mark) = (0.0, Mark::Failed);
        let value = Quantile::Value;
        let at_least = |bound, why| Quantile::AtLeast { bound, why };
        let failed = Quantile::Failed;
        let nothing = at_least(0.0, Mark::Dropped);
        for (samples, avg, min, max) in [
            (&[][..], Quantile::None, Quantile::None, Quantile::None),
            (&[FAILED, FAILED], failed, failed, failed),
            (&[DROPPED], nothing, nothing, nothing),
            (&[OK, FAILED], value(12.0), value(12.0), at_least(12.0, Mark::Failed)),
            (&[OK, TIMEOUT], at_least(36.0, Mark::TimedOut), value(12.0), at_least(60.0, Mark::TimedOut)),
            (&[OK, CUT], at_least(9.0, Mark::Cut), value(12.0), at_least(12.0, Mark::Cut)),
            (&[OK, DROPPED], at_least(12.0, Mark::Dropped), value(12.0), at_least(12.0, Mark::Dropped)),
            (
                &[TIMEOUT, CUT],
                at_least(33.0, Mark::TimedOut),
                at_least(6.0, Mark::Cut),
                at_least(60.0, Mark::TimedOut),
            ),
            (
                &[TIMEOUT, FAILED],
                at_least(60.0, Mark::TimedOut),
                at_least(60.0, Mark::TimedOut),
                at_least(60.0, Mark::Failed),
            ),
        ] {
            let mut trend = Aggregate::empty(MetricKind::Trend);
            samples.iter().for_each(|(value, mark)| trend.record(*value, *mark, Instant::ZERO));
            let read = |stat: Stat| stat.read(&trend, Duration::ZERO).expect("a trend has it");
            let actual = (read(Stat::Avg), read(Stat::Min), read(Stat::Max));
            assert_eq!(actual, (avg, min, max), "{samples:?}");
        }
    }

    #[test]
    fn without_values_there_is_none() {
        for (kind, name) in [
            (MetricKind::Gauge, "value"),
            (MetricKind::Rate, "rate"),
            (MetricKind::Trend, "avg"),
            (MetricKind::Trend, "p(95)"),
        ] {
            let stat = Stat::parse(name).expect("a statistic");
            assert_eq!(stat.read(&Aggregate::empty(kind), Duration::ZERO), Some(Quantile::None), "{name}");
        }
    }

    #[test]
    fn names_that_are_none() {
        for name in ["", "p", "p()", "p(101)", "p(-1)", "p(NaN)", "p(95", "p95", "AVG", "p( 95 )"] {
            assert_eq!(Stat::parse(name), None, "{name}");
        }
    }
}
