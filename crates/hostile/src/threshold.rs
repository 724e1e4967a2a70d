//! A threshold: the first line is its selector, the second its condition.

use std::time::Duration;

use model::plan::{ThresholdCondition, ThresholdSpec};
use model::{Aggregate, Instant, Mark, MetricKind, MetricRegistry};
use tally::{Condition, Selector, Stat, Thresholds};

use crate::line_and_rest;

const KINDS: [MetricKind; 4] = [MetricKind::Counter, MetricKind::Gauge, MetricKind::Rate, MetricKind::Trend];

/// A selector's name means the same selector; an error points into the text; what is accepted can be judged, and the opposite
/// condition is not judged the same.
pub fn check(bytes: &[u8]) {
    let (selector, condition) = line_and_rest(bytes);
    match Selector::parse(&selector) {
        Ok(parsed) => {
            let again = Selector::parse(&parsed.name()).expect("a name is a selector");
            assert_eq!((again.metric, again.filter), (parsed.metric, parsed.filter), "{selector:?}");
        }
        Err(error) => assert!((1..=selector.chars().count() + 1).contains(&error.column), "{error}"),
    }
    for kind in KINDS {
        if let Ok(parsed) = Condition::parse(&condition, &selector, kind) {
            judge(&parsed, kind);
        }
    }
    let condition =
        ThresholdCondition { source: condition, abort_on_fail: false, delay_abort_eval: Duration::ZERO };
    let spec = ThresholdSpec { selector, conditions: vec![condition] };
    if let Err(errors) = Thresholds::parse(&[spec], &MetricRegistry::default()) {
        assert!(!errors.is_empty() && errors.iter().all(|error| !error.to_string().is_empty()));
    }
}

fn judge(condition: &Condition, kind: MetricKind) {
    if let Stat::Quantile(fraction) = condition.stat {
        assert!((0.0..=1.0).contains(&fraction), "{condition:?}");
    }
    let mut aggregate = Aggregate::empty(kind);
    for (value, mark) in
        [(0.0, Mark::Measured), (1.0, Mark::Measured), (40.0, Mark::TimedOut), (7.0, Mark::Failed)]
    {
        let _ = condition.judge(&aggregate, Duration::from_secs(1));
        aggregate.record(value, mark, Instant::from_ns(1));
    }
    let judged = condition.judge(&aggregate, Duration::from_secs(1));
    assert_eq!(judged, condition.judge(&aggregate.clone(), Duration::from_secs(1)), "{condition:?}");
}
