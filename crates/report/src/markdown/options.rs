//! The consolidated options as JSON, without those that are not set.

use serde_json::Value;

use crate::escape::html_lines;

use super::{Context, lines};

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let options = set(context.report.options.as_ref()?);
    Some(format!("<pre>\n{}\n</pre>\n", html_lines(&lines::json(&options))))
}

/// Returns the values that are set. Objects of which nothing is set are left out as well.
fn set(value: &Value) -> Value {
    let Value::Object(entries) = value else { return value.clone() };
    let known = entries.iter().map(|(name, value)| (name.clone(), set(value)));
    Value::Object(known.filter(|(_, value)| !value.is_null() && *value != serde_json::json!({})).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_set_is_shown() {
        let options = serde_json::json!({ "dns": { "ttl": null }, "rps": 0, "tags": null, "hosts": [null] });
        assert_eq!(set(&options), serde_json::json!({ "rps": 0, "hosts": [null] }));
    }
}
