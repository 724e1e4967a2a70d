//! The option `thresholds`: conditions by selector, in all of k6's forms. The conditions are parsed by their judge.

use std::collections::BTreeMap;

use model::plan::{ThresholdCondition, ThresholdSpec};
use serde_json::Value;

use crate::error::Problem;
use crate::value::{OptionValue, echo_or_null, gather, invalid, read_field, read_list, wrong_type};
use crate::{GoDuration, json};

/// Thresholds by selector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thresholds(pub BTreeMap<String, Vec<ThresholdConfig>>);

/// One condition, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThresholdConfig {
    /// `p(95)<500`.
    pub threshold: String,
    /// Whether crossing it ends the run.
    pub abort_on_fail: Option<bool>,
    /// How long not to judge it.
    pub delay_abort_eval: Option<GoDuration>,
}

impl Thresholds {
    /// The thresholds in order of their selectors.
    pub fn resolve(&self) -> Vec<ThresholdSpec> {
        let specs = self.0.iter().map(|(selector, conditions)| ThresholdSpec {
            selector: selector.clone(),
            conditions: conditions.iter().map(ThresholdConfig::resolve).collect(),
        });
        specs.collect()
    }
}

impl ThresholdConfig {
    fn resolve(&self) -> ThresholdCondition {
        ThresholdCondition {
            source: self.threshold.clone(),
            abort_on_fail: self.abort_on_fail.unwrap_or(false),
            delay_abort_eval: self.delay_abort_eval.unwrap_or_default().to_std(),
        }
    }

    fn read(value: &Value, at: &str) -> Result<ThresholdConfig, Vec<Problem>> {
        match value {
            Value::String(text) => Ok(ThresholdConfig { threshold: text.clone(), ..Default::default() }),
            Value::Object(object) => Ok(ThresholdConfig {
                threshold: match read_field::<String>(object, "threshold", at)? {
                    Some(threshold) => threshold,
                    None => return Err(invalid(at, "has no \"threshold\"")),
                },
                abort_on_fail: read_field(object, "abortOnFail", at)?,
                delay_abort_eval: read_field(object, "delayAbortEval", at)?,
            }),
            _ => Err(wrong_type(at, "a condition such as \"p(95)<500\" or {threshold, abortOnFail}", value)),
        }
    }

    /// k6 prints a condition without settings as its text alone.
    fn echo(&self) -> String {
        if self.abort_on_fail.is_none_or(|abort| !abort) && self.delay_abort_eval.is_none() {
            return self.threshold.echo();
        }
        json::object([
            ("threshold", self.threshold.echo()),
            ("abortOnFail", self.abort_on_fail.unwrap_or(false).echo()),
            ("delayAbortEval", echo_or_null(&self.delay_abort_eval)),
        ])
    }
}

impl OptionValue for Thresholds {
    /// A list per selector; one condition alone stands for a list of one, which k6 refuses.
    fn read(value: &Value, at: &str) -> Result<Thresholds, Vec<Problem>> {
        let object =
            value.as_object().ok_or_else(|| wrong_type(at, "an object of metric to conditions", value))?;
        let entries = object.iter().map(|(selector, conditions)| {
            let at = format!("{at}.{selector}");
            let conditions = match conditions {
                Value::Null => Vec::new(),
                Value::Array(items) => read_list(items, &at, ThresholdConfig::read)?,
                single => vec![ThresholdConfig::read(single, &at)?],
            };
            Ok((selector.clone(), conditions))
        });
        Ok(Thresholds(gather(entries)?.into_iter().collect()))
    }

    fn echo(&self) -> String {
        json::object(self.0.iter().map(|(selector, conditions)| {
            (selector.as_str(), json::array(conditions.iter().map(ThresholdConfig::echo)))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expect: &str) {
        let read = Thresholds::parse(value, "thresholds");
        let shown = read.map_or_else(|problems| problems[0].to_string(), |it| it.echo());
        assert_eq!(shown, expect, "{value}");
    }

    #[test]
    fn all_forms() {
        check(
            r#"{"a":[{"threshold":"p(95)<1","abortOnFail":true,"delayAbortEval":"10s"},"avg<1",{"threshold":"x"}]}"#,
            r#"{"a":[{"threshold":"p(95)<1","abortOnFail":true,"delayAbortEval":"10s"},"avg<1","x"]}"#,
        );
        check(r#"{"a{b:c}":[]}"#, r#"{"a{b:c}":[]}"#);
        check(r#"{"a":null}"#, r#"{"a":[]}"#);
        check(r#"{"a":"x<1"}"#, r#"{"a":["x<1"]}"#);
    }

    #[test]
    fn wrong_forms() {
        check("[]", "option \"thresholds\" must be an object of metric to conditions, got []");
        check(r#"{"a":[{"abortOnFail":true}]}"#, "option \"thresholds.a[0]\": has no \"threshold\"");
        check(
            r#"{"a":[5]}"#,
            "option \"thresholds.a[0]\" must be a condition such as \"p(95)<500\" or {threshold, abortOnFail}, got 5",
        );
        check("checks:x", "option \"thresholds\": must be JSON, expected value at line 1 column 1");
    }
}
