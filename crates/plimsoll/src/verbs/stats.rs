//! `plimsoll stats`: prints the metrics of a running test so far, as YAML in k6's format.

use std::fmt::Write;

use api::rest::Metric;
use runs::{Exit, Failure};
use session::Context;

/// Runs the subcommand.
///
/// # Errors
/// No test answers.
pub(crate) fn run(context: &Context) -> Result<Exit, Failure> {
    let metrics = context.client().metrics().map_err(|error| super::status::failure(&error))?;
    session::terminal::print(&metrics.iter().map(text).collect::<String>());
    Ok(Exit::Ok)
}

fn text(metric: &Metric) -> String {
    let it = &metric.attributes;
    let tainted = it.tainted.map(|tainted| tainted.to_string()).unwrap_or_default();
    let mut text = format!(
        "- name: {}\n  type:\n    type: {}\n    valid: true\n  contains:\n    type: {}\n    valid: true\n  tainted: \"{tainted}\"\n  sample:\n",
        scalar(&metric.id),
        scalar(&it.kind),
        scalar(&it.contains)
    );
    for (name, value) in &it.sample {
        let value = value.map_or("null".to_owned(), |number| serde_json::json!(number).to_string());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    {}: {value}", scalar(name));
    }
    text
}

/// Formats a text as YAML: bare if it is one plain word, else in JSON quotes, which are valid YAML.
fn scalar(text: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || b"_{}():".contains(&byte);
    let is_plain =
        text.bytes().all(is_bare) && text.bytes().next().is_some_and(|it| it.is_ascii_alphabetic());
    if is_plain && !text.ends_with(':') {
        text.to_owned()
    } else {
        report::escape::json(&serde_json::json!(text).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_yaml_would_read_them_otherwise() {
        for (text, expect) in [
            ("http_reqs", "http_reqs"),
            ("p(95)", "p(95)"),
            ("http_req_duration{expected_response:true}", "http_req_duration{expected_response:true}"),
            ("m{a:b c}", "\"m{a:b c}\""),
            ("m:", "\"m:\""),
            ("", "\"\""),
            ("\u{1b}[2J", "\"\\u001b[2J\""),
            ("user\u{202e}nimda", "\"user\\u202enimda\""),
        ] {
            assert_eq!(scalar(text), expect);
        }
    }
}
