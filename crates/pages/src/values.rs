//! Numbers with their text, exactly as the terminal prints them.

use std::time::Duration;

use api::Number;
use api::page::{RunFigures, Value};
use histo::Values as Durations;
use model::metric::builtin::{HTTP_REQ_DURATION, HTTP_REQ_FAILED, HTTP_REQS};
use model::plan::TimeUnit;
use model::{Aggregate, MetricKind, Quantile, Trend, ValueKind, Window};
use report::number;
use report::summary::{Statistic, Values};

use super::add;

/// Minimum number of samples beyond a quantile for it to be supported.
pub(super) const SUPPORT_MIN: f64 = 10.0;

/// The reason why a quantile is not shown.
const UNSUPPORTED: &str = "fewer than 10 samples beyond it";

/// Formats a count.
pub(super) fn count(count: u64) -> Value {
    value(count as f64, number::plain(count as f64))
}

/// Formats a rate per second, as reports write it.
pub(super) fn per_second(rate: f64) -> Value {
    value(rate, number::per_second(rate))
}

/// Formats a share of 1.
pub(super) fn share(share: f64) -> Value {
    value(share, number::percent(share))
}

/// Formats milliseconds.
pub(super) fn ms(ms: f64, unit: Option<TimeUnit>) -> Value {
    value(ms, number::duration(ms, unit))
}

/// Formats a number in its metric's unit.
pub(super) fn of_kind(number: f64, contains: ValueKind, unit: Option<TimeUnit>) -> Value {
    value(number, number::value(number, contains, unit))
}

/// Combines a number with its text.
pub(super) fn value(number: f64, text: String) -> Value {
    Value { value: Some(Number(number)), text, censored: None }
}

/// Returns a missing value with its reason.
pub(super) fn none(why: &str) -> Value {
    Value { value: None, text: format!("n/a: {why}"), censored: Some(format!("n/a: {why}")) }
}

/// Formats a statistic of a trend, with the names that the summary uses.
pub(super) fn statistic(trend: &Trend, name: &str, contains: ValueKind, unit: Option<TimeUnit>) -> Value {
    if trend.population() == 0 {
        return none("no samples");
    }
    let names = [name.to_owned()];
    let values = Values::from_aggregate(&Aggregate::Trend(trend.clone()), &names, Duration::ZERO);
    let Values::Trend { stats, .. } = values else { return none("no samples") };
    match stats.first().map(|stat| stat.1) {
        Some(Statistic::Number(of)) => {
            value(of, number::statistic(of, name, MetricKind::Trend, contains, unit))
        }
        Some(Statistic::AtLeast(bound, why)) => Value {
            value: Some(Number(bound)),
            text: number::at_least(bound, why, contains),
            censored: Some(why.to_owned()),
        },
        Some(Statistic::Failed) => {
            Value { value: None, text: "failed".into(), censored: Some("failed".into()) }
        }
        Some(Statistic::NotApplicable(why)) => none(why),
        None => none("no samples"),
    }
}

/// Formats a quantile of a trend; missing if too few samples lie beyond it.
pub(super) fn quantile(trend: &Trend, q: f64, contains: ValueKind, unit: Option<TimeUnit>) -> Value {
    if trend.population() == 0 {
        return none("no samples");
    }
    if !is_supported(trend.population(), q) {
        return none(UNSUPPORTED);
    }
    statistic(trend, &format!("p({})", number::plain(q * 100.0)), contains, unit)
}

/// Returns a missing value for an unsupported quantile.
pub(super) fn unsupported() -> Value {
    none(UNSUPPORTED)
}

/// Formats a quantile of durations in milliseconds; missing if too few samples lie beyond it.
pub(super) fn quantile_ms(durations: &Durations, q: f64, unit: Option<TimeUnit>) -> Value {
    if durations.count() == 0 {
        return none("no samples");
    }
    if !is_supported(durations.count(), q) {
        return unsupported();
    }
    durations.quantile(q).map_or_else(|| none("no samples"), |of| ms(of, unit))
}

/// Returns true if at least ten samples lie beyond a quantile.
pub(super) fn is_supported(population: u64, q: f64) -> bool {
    // 1 − 0.95 is slightly below 0.05 in floats.
    population as f64 * (1.0 - q) >= SUPPORT_MIN * (1.0 - 1e-9)
}

/// Returns a quantile as a number, if it is one or has a bound.
pub(super) fn number_of(quantile: Quantile) -> Option<f64> {
    match quantile {
        Quantile::Value(value) | Quantile::AtLeast { bound: value, .. } => Some(value),
        Quantile::None | Quantile::Failed => None,
    }
}

/// The sums behind the key figures of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct FigureTotals {
    requests: u64,
    failed: u64,
    judged: u64,
    duration: Trend,
}

impl FigureTotals {
    /// Computes the totals of a window, or of a sum of windows.
    pub(super) fn from_window(window: &Window) -> FigureTotals {
        let mut totals = FigureTotals::default();
        totals.add(window);
        totals
    }

    /// Adds a window.
    pub(super) fn add(&mut self, window: &Window) {
        for (key, aggregate) in &window.series {
            match aggregate {
                Aggregate::Counter(counter) if key.metric == HTTP_REQS => {
                    add(&mut self.requests, counter.count);
                }
                Aggregate::Rate(rate) if key.metric == HTTP_REQ_FAILED => {
                    add(&mut self.failed, rate.passes);
                    add(&mut self.judged, rate.total);
                }
                Aggregate::Trend(trend) if key.metric == HTTP_REQ_DURATION => self.duration.merge(trend),
                _ => {}
            }
        }
    }

    /// Returns the number of requests.
    pub(super) fn requests(&self) -> u64 {
        self.requests
    }

    /// Returns the durations of requests.
    pub(super) fn duration(&self) -> &Trend {
        &self.duration
    }

    /// Returns the figures over `elapsed`.
    pub(super) fn figures(&self, elapsed: Duration, unit: Option<TimeUnit>) -> RunFigures {
        let seconds = elapsed.as_secs_f64();
        let quantile = |q| quantile(&self.duration, q, ValueKind::Time, unit);
        RunFigures {
            requests: count(self.requests),
            rate: match seconds > 0.0 {
                true => per_second(self.requests as f64 / seconds),
                false => none("no time"),
            },
            failed: match self.judged {
                0 => none("no samples"),
                judged => share(self.failed as f64 / judged as f64),
            },
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Mark;

    use super::*;

    fn trend(count: u32, failed: u32) -> Trend {
        let mut trend = Trend::default();
        (0..count).for_each(|value| trend.record(f64::from(value), Mark::Measured));
        (0..failed).for_each(|_| trend.record(0.0, Mark::Failed));
        trend
    }

    #[track_caller]
    fn check(trend: &Trend, q: f64, expect: &str) {
        assert_eq!(quantile(trend, q, ValueKind::Time, None).text, expect, "p{q} of {}", trend.population());
    }

    #[test]
    fn quantiles_need_ten_samples_beyond_them() {
        check(&trend(200, 0), 0.95, "189.05ms");
        check(&trend(199, 0), 0.95, "n/a: fewer than 10 samples beyond it");
        check(&trend(20, 0), 0.5, "9.5ms");
        check(&trend(180, 20), 0.95, "≥ 179 ms (failed)");
        check(&trend(0, 200), 0.95, "failed");
        check(&trend(0, 0), 0.5, "n/a: no samples");
    }

    #[test]
    fn texts_are_those_of_the_terminal() {
        assert_eq!(count(36532).text, "36532");
        assert_eq!(per_second(121.773_333_3).text, "122/s");
        assert_eq!(share(0.000_71).text, "0.07%");
        assert_eq!(ms(1640.0, None).text, "1.64s");
        assert_eq!(ms(1640.0, Some(TimeUnit::Milliseconds)).text, "1640.00ms");
    }
}
