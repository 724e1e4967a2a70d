//! Objects as a YAML stream.

use serde_json::Value;

/// The documents of a stream, each with a comment above it.
pub fn stream(documents: &[(&str, Value)]) -> String {
    let document = |(comment, object): &(&str, Value)| {
        // Objects of strings, numbers and lists always have a YAML form.
        let text = serde_yaml_ng::to_string(object).unwrap_or_default();
        let comment: String = comment.lines().map(|line| format!("# {line}\n")).collect();
        format!("---\n{comment}{text}")
    };
    documents.iter().map(document).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strings_that_look_like_numbers_stay_strings() {
        let text = stream(&[("Cores.", json!({"cpu": "1", "on": "yes", "deep": [{"a": 1}]}))]);
        assert!(text.starts_with("---\n# Cores.\n"), "{text}");
        let back: Value = serde_yaml_ng::from_str(&text).expect("YAML");
        assert_eq!(back, json!({"cpu": "1", "on": "yes", "deep": [{"a": 1}]}));
    }
}
