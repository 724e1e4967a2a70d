//! A threshold beside what it was compared with.

use tally::{Comparison, Condition};

use crate::number;
use crate::summary::{MetricSummary, Options, Statistic, ThresholdSummary, Values, statistic_text};

use super::RunReport;

/// A threshold, the metric that it is on, and how far it was from its limit.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    /// The metric or sub-metric.
    pub metric: &'a MetricSummary,
    /// The threshold.
    pub threshold: &'a ThresholdSummary,
    /// The limit; `None` where the condition cannot be read.
    pub limit: Option<f64>,
    /// How far the observed value is from the limit; `None` where it is no number or the condition knows no more and less.
    pub margin: Option<Margin>,
    /// How values are shown.
    pub(crate) options: Options,
}

/// How far a value is from its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin {
    /// In the metric's unit: positive is the distance left to the limit, negative is how far the limit was exceeded.
    pub value: f64,
    /// As a share of the limit; `None` where the limit is zero.
    pub share: Option<f64>,
}

impl RunReport {
    /// All thresholds: metrics by name, conditions in the order of the script.
    pub fn judged(&self) -> Vec<Judged<'_>> {
        let mut metrics: Vec<&MetricSummary> = self.summary.metrics.iter().collect();
        metrics.sort_by(|a, b| a.name.cmp(&b.name));
        let options = self.number_options();
        let of = |metric| move |threshold| Judged::new(metric, threshold, options);
        metrics.into_iter().flat_map(|metric| metric.thresholds.iter().map(of(metric))).collect()
    }

    /// How values are shown: as on the terminal, without its colours.
    pub(crate) fn number_options(&self) -> Options {
        Options { time_unit: self.time_unit, compat: self.compat, ..Options::default() }
    }
}

impl<'a> Judged<'a> {
    fn new(metric: &'a MetricSummary, threshold: &'a ThresholdSummary, options: Options) -> Judged<'a> {
        let condition = Condition::parse(&threshold.source, &metric.name, metric.kind()).ok();
        let margin = condition.as_ref().and_then(|condition| margin(condition, threshold.observed.1));
        Judged { metric, threshold, limit: condition.map(|condition| condition.limit), margin, options }
    }

    /// The metric and the statistic, `checkout_time p95`; `named` makes names harmless.
    pub fn name(&self, named: impl FnOnce(&str) -> String) -> String {
        let name = named(&self.metric.name);
        match &self.metric.values {
            // The share of a rate is what its name says.
            Values::Rate { .. } => name,
            _ => format!("{name} {}", self.threshold.observed.0.replace(['(', ')'], "")),
        }
    }

    /// The observed value as the terminal shows it: `812ms`, `≥ 60 s (timeout)`.
    ///
    /// A value that violates a limit of the same text has as many more digits as distinguish them: `3005ms` for a limit of `3s`.
    pub fn observed_text(&self) -> String {
        let text = self.text(self.threshold.observed.1);
        match (self.threshold.observed.1, self.limit) {
            (Statistic::Number(observed), Some(limit)) if !self.threshold.ok && text == self.limit_text() => {
                let (kind, contains) = (self.metric.kind(), self.metric.contains);
                number::distinguished(observed, limit, kind, contains).unwrap_or(text)
            }
            _ => text,
        }
    }

    /// The limit as the terminal would show it; `–` where the condition cannot be read.
    pub fn limit_text(&self) -> String {
        self.limit.map_or_else(|| "–".to_owned(), |limit| self.text(Statistic::Number(limit)))
    }

    /// Whether it could not be judged, since there can be no value.
    pub fn is_unmeasured(&self) -> bool {
        matches!(self.threshold.observed.1, Statistic::NotApplicable(_))
    }

    /// Formats the margin, for example `+37.5%`: distance left to the limit, negative beyond it.
    pub fn margin_text(&self) -> Option<String> {
        let margin = self.margin?;
        let sign = if margin.value < 0.0 { "−" } else { "+" };
        Some(match margin.share {
            Some(share) => format!("{sign}{}", number::percent(share.abs())),
            None => format!("{sign}{}", self.text(Statistic::Number(margin.value.abs()))),
        })
    }

    fn text(&self, statistic: Statistic) -> String {
        statistic_text(statistic, &self.threshold.observed.0, self.metric, &self.options)
    }
}

fn margin(condition: &Condition, observed: Statistic) -> Option<Margin> {
    let Statistic::Number(observed) = observed else { return None };
    let value = match condition.comparison {
        Comparison::Less | Comparison::LessOrEqual => condition.limit - observed,
        Comparison::Greater | Comparison::GreaterOrEqual => observed - condition.limit,
        Comparison::Equal | Comparison::NotEqual => return None,
    };
    if !value.is_finite() {
        return None;
    }
    let share = value / condition.limit.abs();
    Some(Margin { value, share: share.is_finite().then_some(share) })
}
