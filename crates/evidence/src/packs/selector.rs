//! Evaluates the subset of PromQL selectors that packs use, for metrics pages without a Prometheus.

use std::collections::BTreeMap;

use regex::Regex;

/// Label matchers of a selector.
#[derive(Clone, Debug)]
pub(crate) struct Selector {
    /// The metric's name.
    pub(crate) name: String,
    matchers: Vec<Matcher>,
}

/// A condition on a label. A missing label has an empty value, as in PromQL.
#[derive(Clone, Debug)]
struct Matcher {
    label: String,
    test: Test,
    is_negated: bool,
}

#[derive(Clone, Debug)]
enum Test {
    Is(String),
    Looks(Regex),
}

impl Selector {
    /// Parses a selector; `None` if it is outside the subset: values must have no commas and no escapes.
    pub(crate) fn parse(text: &str) -> Option<Selector> {
        let Some((name, rest)) = text.split_once('{') else {
            return Some(Selector { name: text.to_owned(), matchers: Vec::new() });
        };
        let matchers = rest.strip_suffix('}')?.split(',').map(Matcher::parse).collect::<Option<_>>()?;
        Some(Selector { name: name.to_owned(), matchers })
    }

    /// Returns true if a series of the metric matches.
    pub(crate) fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.matchers.iter().all(|matcher| matcher.matches(labels))
    }
}

impl Matcher {
    fn parse(text: &str) -> Option<Matcher> {
        let (head, rest) = text.split_once('"')?;
        let value = rest.strip_suffix('"')?;
        if value.contains(['"', '\\']) {
            return None;
        }
        let whole = || Regex::new(&format!("^(?:{value})$")).ok().map(Test::Looks);
        let (label, test, is_negated) = if let Some(label) = head.strip_suffix("!=") {
            (label, Test::Is(value.to_owned()), true)
        } else if let Some(label) = head.strip_suffix("=~") {
            (label, whole()?, false)
        } else if let Some(label) = head.strip_suffix("!~") {
            (label, whole()?, true)
        } else {
            (head.strip_suffix('=')?, Test::Is(value.to_owned()), false)
        };
        Some(Matcher { label: label.to_owned(), test, is_negated })
    }

    fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.label).map_or("", String::as_str);
        let meets = match &self.test {
            Test::Is(text) => text == value,
            Test::Looks(regex) => regex.is_match(value),
        };
        meets != self.is_negated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(selector: &str, labels: &[(&str, &str)], expect: bool) {
        let selector = Selector::parse(selector).expect("it is one of those that packs use");
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(selector.matches(&labels), expect, "{selector:?}");
    }

    #[test]
    fn labels_are_matched_as_promql_does() {
        check("a", &[("mode", "idle")], true);
        check("a{mode=\"idle\"}", &[("mode", "idle")], true);
        check("a{mode=\"idle\"}", &[("mode", "user")], false);
        check("a{mode!~\"idle|iowait\"}", &[("mode", "iowait")], false);
        check("a{mode!~\"idle|iowait\"}", &[("mode", "iowaiting")], true);
        check("a{mode=~\"id.*\",cpu=\"0\"}", &[("mode", "idle"), ("cpu", "0")], true);
        check("a{container!=\"\",image!=\"\"}", &[("container", "x")], false);
        check("a{gone=\"\"}", &[], true);
    }

    #[test]
    fn what_packs_do_not_use_is_not_guessed() {
        for text in ["a{", "a{b}", "a{b=c}", "a{b=\"c\\\"\"}", "a{b=~\"(\"}"] {
            assert!(Selector::parse(text).is_none(), "{text}");
        }
    }
}
