//! Which statistics of a trend become series: `K6_PROMETHEUS_RW_TREND_STATS`.

use model::{Mark, Quantile, Trend};

/// One statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stat {
    /// How many have a time.
    Count,
    /// The sum of all times.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The mean.
    Avg,
    /// A quantile, from 0 to 1.
    Quantile(f64),
}

/// The valid values, for messages.
pub(crate) const EXPECTED: &str = "a list such as p(95),p(99),min,max,avg,med,sum,count";

/// More than this many are a mistake.
const STATS_MAX: usize = 32;

/// Reads a list: each statistic with what follows the name of its metric.
pub(crate) fn parse(text: &str) -> Option<Vec<(Stat, String)>> {
    let stats: Vec<_> = text.split(',').map(|name| parse_one(name.trim())).collect::<Option<_>>()?;
    (stats.len() <= STATS_MAX).then_some(stats)
}

fn parse_one(name: &str) -> Option<(Stat, String)> {
    let stat = match name {
        "count" => Stat::Count,
        "sum" => Stat::Sum,
        "min" => Stat::Min,
        "max" => Stat::Max,
        "avg" => Stat::Avg,
        "med" => Stat::Quantile(0.5),
        _ => return percentile(name),
    };
    Some((stat, name.to_owned()))
}

/// `p(99.9)` is written `p999`, since a dot cannot be in a name.
fn percentile(name: &str) -> Option<(Stat, String)> {
    let digits = name.strip_prefix("p(")?.strip_suffix(')')?;
    let percent: f64 = digits.parse().ok().filter(|percent| (0.0..=100.0).contains(percent))?;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_plain.then(|| (Stat::Quantile(percent / 100.0), format!("p{}", digits.replace('.', ""))))
}

impl Stat {
    /// Its value in units of `1 / divisor`; `None` where the trend has none.
    ///
    /// A quantile among failures that never had a time is infinite, as they rank above every success.
    pub(crate) fn value(self, trend: &Trend, divisor: f64) -> Option<f64> {
        let value = match self {
            // A number of values has no unit, whatever k6 divides it by.
            Stat::Count => return Some(trend.count() as f64),
            Stat::Sum => Some(trend.sum().value()),
            Stat::Min => trend.min(),
            Stat::Max => trend.max(),
            Stat::Avg => trend.avg(),
            Stat::Quantile(q) => match trend.quantile(q) {
                Quantile::None => None,
                // What failed ranks above every number.
                Quantile::Failed | Quantile::AtLeast { why: Mark::Failed, .. } => Some(f64::INFINITY),
                Quantile::Value(value) | Quantile::AtLeast { bound: value, .. } => Some(value),
            },
        };
        Some(value? / divisor)
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        let mut trend = Trend::default();
        [1000.0, 2000.0, 3000.0].into_iter().for_each(|value| trend.record(value, Mark::Measured));
        let actual = parse(text).map(|stats| {
            let values = stats.iter().map(|(stat, suffix)| (suffix, stat.value(&trend, 1000.0)));
            values
                .map(|(suffix, value)| format!("{suffix}={}", value.unwrap_or(-1.0)))
                .collect::<Vec<_>>()
                .join(" ")
        });
        assert_eq!(actual.as_deref(), expect, "{text}");
    }

    #[test]
    fn statistics_are_those_k6_knows() {
        check("count, sum,min,max,avg,med", Some("count=3 sum=6 min=1 max=3 avg=2 med=2"));
        check("p(0),p(50),p(99.9),p(100)", Some("p0=1 p50=2 p999=2.998 p100=3"));
        for wrong in ["", "p95", "p(101)", "p(-1)", "p(1e1)", "p(NaN)", "p(95", "mean", "min,,max"] {
            check(wrong, None);
        }
        check(&["min"; STATS_MAX + 1].join(","), None);
    }

    #[test]
    fn failures_rank_above_every_time() {
        let mut trend = Trend::default();
        trend.record(5.0, Mark::Measured);
        trend.record(60.0, Mark::TimedOut);
        trend.record(0.0, Mark::Failed);
        let q = |q| Stat::Quantile(q).value(&trend, 1.0);
        assert_eq!((q(0.0), q(0.5), q(1.0)), (Some(5.0), Some(60.0), Some(f64::INFINITY)));
        assert_eq!(Stat::Avg.value(&Trend::default(), 1.0), None);
    }
}
