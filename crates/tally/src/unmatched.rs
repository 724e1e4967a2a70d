//! Thresholds on series that no sample belongs to, and the tag that was probably meant.

use std::collections::BTreeSet;

use model::TagSetId;

use crate::threshold::nearest;
use crate::totals::DUE_TIMED;
use crate::{Selector, Totals};

/// Values of a tag that a message lists.
const VALUES_MAX: usize = 5;

/// A metric or sub-metric with thresholds, and without samples at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// The selector's name.
    pub selector: String,
    /// The reason.
    pub why: Why,
    /// Whether the thresholds on it hold all the same.
    pub holds: bool,
}

/// Why a selector has no samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The metric has none.
    NoSamples,
    /// No sample of the run has this tag.
    NoTag {
        /// The tag.
        tag: String,
        /// A tag that is much like it.
        nearest: Option<String>,
    },
    /// No sample of the run has this value of the tag.
    NoValue {
        /// The tag.
        tag: String,
        /// The value.
        value: String,
        /// The value that is much like it.
        nearest: Option<String>,
        /// The first values that samples have, in order.
        values: Vec<String>,
        /// Number of values beyond these.
        more: usize,
    },
    /// No sample of this metric has all of the tags.
    NotTogether,
}

impl std::fmt::Display for Unmatched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Unmatched { selector, why, holds } = self;
        write!(f, "no sample belongs to the threshold's selector {selector}: ")?;
        let meant = |nearest: &Option<String>| {
            nearest.as_ref().map(|nearest| format!(" (did you mean {nearest:?}?)")).unwrap_or_default()
        };
        match why {
            Why::NoSamples => f.write_str("the metric has no samples")?,
            Why::NoTag { tag, nearest } => write!(f, "no sample has a tag {tag:?}{}", meant(nearest))?,
            Why::NoValue { tag, value, nearest, values, more } => {
                write!(f, "no sample has {tag} {value:?}{}; {tag} is ", meant(nearest))?;
                f.write_str(&values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(", "))?;
                if *more > 0 {
                    write!(f, " or one of {more} more")?;
                }
            }
            Why::NotTogether => f.write_str("no sample of the metric has all of these tags")?,
        }
        f.write_str(if *holds { "; its thresholds hold without a measurement" } else { "" })
    }
}

impl Totals {
    /// The selectors with thresholds that have no samples, in the order of the plan. Thresholds stand as last evaluated. Metrics of
    /// iterations with a due time are left out, since thresholds on them do not hold without samples.
    pub fn unmatched(&self) -> Vec<Unmatched> {
        let mut unmatched: Vec<Unmatched> = Vec::new();
        for result in &self.results {
            if unmatched.iter().any(|known| known.selector == result.selector) {
                continue;
            }
            let sub_metric = self.sub_metrics.iter().find(|sub_metric| {
                sub_metric.metric == result.metric && sub_metric.selector.name() == result.selector
            });
            let why = match (sub_metric, self.aggregate(result.metric)) {
                (_, None) if !DUE_TIMED.contains(&result.metric) => Why::NoSamples,
                (Some(sub_metric), Some(_)) if sub_metric.cell.aggregate.is_empty() => {
                    self.reason(&sub_metric.selector)
                }
                _ => continue,
            };
            let mut of_selector = self.results.iter().filter(|other| other.selector == result.selector);
            let holds = of_selector.all(|result| result.ok);
            unmatched.push(Unmatched { selector: result.selector.clone(), why, holds });
        }
        unmatched
    }

    fn reason(&self, selector: &Selector) -> Why {
        for (tag, value) in &selector.filter {
            let values = self.values(tag);
            if values.is_empty() {
                let known = self.tag_names();
                return Why::NoTag {
                    tag: tag.clone(),
                    nearest: nearest(tag, known.iter().map(String::as_str)),
                };
            }
            if !values.contains(value) {
                return Why::NoValue {
                    tag: tag.clone(),
                    value: value.clone(),
                    nearest: nearest(value, values.iter().map(String::as_str)),
                    more: values.len().saturating_sub(VALUES_MAX),
                    values: values.into_iter().take(VALUES_MAX).collect(),
                };
            }
        }
        Why::NotTogether
    }

    /// The values of a tag in all tag sets of the run, of which there are at most [`model::tags::TAG_SETS_MAX`].
    fn values(&self, tag: &str) -> BTreeSet<String> {
        let sets = self.tag_sets();
        sets.filter_map(|set| set.get(tag).map(str::to_owned)).collect()
    }

    fn tag_names(&self) -> BTreeSet<String> {
        self.tag_sets()
            .flat_map(|set| set.iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>())
            .collect()
    }

    fn tag_sets(&self) -> impl Iterator<Item = std::sync::Arc<model::TagSet>> {
        let tags = &self.table.tags;
        (0..tags.len()).map(|number| tags.get(TagSetId(number as u32)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use model::metric::builtin::HTTP_REQ_DURATION;
    use model::plan::{ThresholdCondition, ThresholdSpec};
    use model::{Aggregate, Instant, Mark, MetricKind, MetricRegistry, SeriesKey, TagInterner, TagSet};

    use super::*;
    use crate::Thresholds;

    #[track_caller]
    fn check(selector: &str, source: &str, expect: &[&str]) {
        let condition = ThresholdCondition {
            source: source.to_owned(),
            abort_on_fail: false,
            delay_abort_eval: Duration::ZERO,
        };
        let spec = ThresholdSpec { selector: selector.to_owned(), conditions: vec![condition] };
        let registry = Arc::new(MetricRegistry::default());
        let tags = Arc::new(TagInterner::default());
        let thresholds = Thresholds::parse(&[spec], &registry).expect("well-formed");
        let mut totals = Totals::new(registry, tags.clone(), thresholds);
        for (name, method) in [("/cart", "GET"), ("/pay", "POST")] {
            let set = [("name", name), ("method", method)].map(|(name, value)| (name.into(), value.into()));
            let mut aggregate = Aggregate::empty(MetricKind::Trend);
            aggregate.record(5.0, Mark::Measured, Instant::ZERO);
            let key = SeriesKey { metric: HTTP_REQ_DURATION, tags: tags.intern(TagSet::new(set)) };
            totals.absorb_series(key, &aggregate);
        }
        totals.evaluate_at_end(Duration::from_secs(1));
        let actual: Vec<String> = totals.unmatched().iter().map(ToString::to_string).collect();
        assert_eq!(actual, expect, "{selector}");
    }

    #[test]
    fn selectors_without_samples_are_reported_with_what_was_meant() {
        check("http_req_duration", "p(95)<100", &[]);
        check("http_req_duration{name:/cart}", "p(95)<100", &[]);
        check(
            "http_req_duration{name:/crat}",
            "p(95)<100",
            &[
                "no sample belongs to the threshold's selector http_req_duration{name:/crat}: no sample has name \
               \"/crat\" (did you mean \"/cart\"?); name is \"/cart\", \"/pay\"; its thresholds hold without a \
               measurement",
            ],
        );
        check(
            "http_req_duration{nmae:/cart}",
            "avg>1",
            &[
                "no sample belongs to the threshold's selector http_req_duration{nmae:/cart}: no sample has a tag \
               \"nmae\" (did you mean \"name\"?)",
            ],
        );
        check(
            "http_req_duration{name:/cart,method:POST}",
            "p(95)<100",
            &[
                "no sample belongs to the threshold's selector http_req_duration{name:/cart,method:POST}: no sample \
               of the metric has all of these tags; its thresholds hold without a measurement",
            ],
        );
        check(
            "checks",
            "rate>0.9",
            &[
                "no sample belongs to the threshold's selector checks: the metric has no samples; its thresholds \
               hold without a measurement",
            ],
        );
        check("http_req_response_time", "p(95)<100", &[]);
    }

    #[test]
    fn long_lists_end() {
        let why = Why::NoValue {
            tag: "name".into(),
            value: "x".into(),
            nearest: None,
            values: vec!["a".into(), "b".into()],
            more: 7,
        };
        let unmatched = Unmatched { selector: "http_reqs{name:x}".into(), why, holds: false };
        assert_eq!(
            unmatched.to_string(),
            "no sample belongs to the threshold's selector http_reqs{name:x}: no sample has name \"x\"; name is \
             \"a\", \"b\" or one of 7 more"
        );
    }
}
