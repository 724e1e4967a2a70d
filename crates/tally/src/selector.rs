//! `metric` or `metric{tag:value,…}`: what a threshold is about.

use model::TagSet;

/// A metric's name and the tags that narrow it down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// The metric's name.
    pub metric: String,
    /// Between the braces, as written but for spaces around it; `None` without braces.
    pub suffix: Option<String>,
    /// Tag and value; a sample belongs to the selector when it has all of them.
    pub filter: Vec<(String, String)>,
}

/// A syntax error in a selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parse selector {selector:?}: expected {expected} at column {column}")]
pub struct SelectorError {
    /// As written.
    pub selector: String,
    /// Where, in characters from 1.
    pub column: usize,
    /// The expected syntax.
    pub expected: &'static str,
}

impl Selector {
    /// Parses a selector as k6 does: spaces around names and values and quotes around either do not count, a value may
    /// contain colons but no comma, and of two values for one tag the later counts.
    ///
    /// # Errors
    /// Says where what was expected.
    pub fn parse(text: &str) -> Result<Selector, SelectorError> {
        let error = |at: usize, expected| SelectorError {
            selector: text.to_owned(),
            column: text[..at].chars().count() + 1,
            expected,
        };
        let (metric, inside) = match text.split_once('{') {
            None if text.contains('}') => {
                return Err(error(text.find('}').unwrap_or(0), "an opening brace before"));
            }
            None => (text, None),
            Some((metric, rest)) => match rest.find('}') {
                None => return Err(error(text.len(), "a closing brace")),
                Some(_) if !rest.ends_with('}') => {
                    return Err(error(
                        metric.len() + 2 + rest.rfind('}').unwrap_or(0),
                        "nothing after the closing brace",
                    ));
                }
                Some(_) => (metric, Some(&rest[..rest.len() - 1])),
            },
        };
        if metric.trim().is_empty() {
            return Err(error(0, "the name of a metric"));
        }
        let mut filter: Vec<(String, String)> = Vec::new();
        let mut at = metric.len() + 1;
        for part in inside.into_iter().flat_map(|inside| inside.split(',')) {
            let (tag, value) = part.split_once(':').ok_or_else(|| error(at, "tag:value"))?;
            let (tag, value_at) = (unquoted(tag), at + part.len() - value.len());
            let value = unquoted(value);
            if tag.is_empty() {
                return Err(error(at, "the name of a tag"));
            }
            if value.is_empty() {
                return Err(error(value_at, "the tag's value"));
            }
            filter.retain(|known| known.0 != tag);
            filter.push((tag.to_owned(), value.to_owned()));
            at += part.len() + 1;
        }
        Ok(Selector {
            metric: metric.trim().to_owned(),
            suffix: inside.map(|inside| inside.trim().to_owned()),
            filter,
        })
    }

    /// The name under which k6 shows it: the metric, and what stands between the braces.
    pub fn name(&self) -> String {
        match &self.suffix {
            Some(suffix) => format!("{}{{{suffix}}}", self.metric),
            None => self.metric.clone(),
        }
    }

    /// Whether samples with these tags belong to it.
    pub fn matches(&self, tags: &TagSet) -> bool {
        self.filter.iter().all(|(tag, value)| tags.get(tag) == Some(value))
    }
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Name and filter, or column and what was expected there.
    type Parsed<'a> = Result<(&'a str, &'a [(&'a str, &'a str)]), (usize, &'a str)>;

    #[track_caller]
    fn check(text: &str, expect: Parsed<'_>) {
        let actual = Selector::parse(text);
        let actual = match &actual {
            Ok(selector) => {
                let filter: Vec<_> = selector.filter.iter().map(|(t, v)| (t.as_str(), v.as_str())).collect();
                Ok((selector.name(), filter))
            }
            Err(error) => Err((error.column, error.expected)),
        };
        assert_eq!(actual, expect.map(|(name, filter)| (name.to_owned(), filter.to_vec())), "{text}");
    }

    #[test]
    fn selectors() {
        check("http_reqs", Ok(("http_reqs", &[])));
        check("m{a:b}", Ok(("m{a:b}", &[("a", "b")])));
        check("m{ q:1 , w:a b }", Ok(("m{q:1 , w:a b}", &[("q", "1"), ("w", "a b")])));
        check("m{url:http://a:80/x}", Ok(("m{url:http://a:80/x}", &[("url", "http://a:80/x")])));
        check("m{\"q\":'1'}", Ok(("m{\"q\":'1'}", &[("q", "1")])));
        check("m{group:::a::b}", Ok(("m{group:::a::b}", &[("group", "::a::b")])));
        check("m{q:1,q:2}", Ok(("m{q:1,q:2}", &[("q", "2")])));
        check("m{url:http://x/${id}}", Ok(("m{url:http://x/${id}}", &[("url", "http://x/${id}")])));
    }

    #[test]
    fn malformed_selectors() {
        check("", Err((1, "the name of a metric")));
        check("{q:1}", Err((1, "the name of a metric")));
        check("m{}", Err((3, "tag:value")));
        check("m{q}", Err((3, "tag:value")));
        check("m{q:1,}", Err((7, "tag:value")));
        check("m{q:1", Err((6, "a closing brace")));
        check("m{q:1}x", Err((7, "nothing after the closing brace")));
        check("m{q:}", Err((5, "the tag's value")));
        check("m{ü:1,:1}", Err((7, "the name of a tag")));
        check("m}", Err((2, "an opening brace before")));
        check("m{w:a,b}", Err((7, "tag:value")));
    }

    proptest! {
        #[test]
        fn any_text_parses_or_fails_inside_itself(text in "[a{}:,\"' é]{0,12}") {
            if let Err(error) = Selector::parse(&text) {
                prop_assert!((1..=text.chars().count() + 1).contains(&error.column), "{}", error);
            }
        }
    }
}
