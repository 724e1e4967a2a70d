//! The selected series: the parameter `tags`, a JSON object of names and values.

use std::collections::BTreeMap;

use model::{TagInterner, TagSetId};
use server::PageError;

/// Names and values of tags that a series must have; a missing tag counts as empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TagFilter(BTreeMap<String, String>);

impl TagFilter {
    /// Parses the parameter; an empty text selects everything.
    ///
    /// # Errors
    /// The text is not a JSON object of strings.
    pub(super) fn parse(text: &str) -> Result<TagFilter, PageError> {
        if text.is_empty() {
            return Ok(TagFilter::default());
        }
        serde_json::from_str(text).map(TagFilter).map_err(|error| {
            PageError::Invalid(format!("failed to read tags={text:?}: {error}; write {{\"name\":\"value\"}}"))
        })
    }

    /// Returns a filter for these tags.
    pub(super) fn from_tags(tags: &[(&str, &str)]) -> TagFilter {
        TagFilter(tags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    /// Returns the filter as the parameter; empty if it selects everything.
    pub(super) fn text(&self) -> String {
        if self.0.is_empty() { String::new() } else { serde_json::json!(self.0).to_string() }
    }

    /// Returns true if the filter selects these tags, and no others.
    pub(super) fn is(&self, tags: &[(String, String)]) -> bool {
        self.0.len() == tags.len() && tags.iter().all(|(name, value)| self.0.get(name) == Some(value))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns which tag sets match; `None` if all do.
    pub(super) fn matching(&self, tags: &TagInterner) -> Option<Vec<bool>> {
        if self.0.is_empty() {
            return None;
        }
        let count = u32::try_from(tags.len()).unwrap_or(u32::MAX);
        let fits = |id: u32| {
            let set = tags.get(TagSetId(id));
            self.0.iter().all(|(name, value)| set.get(name).unwrap_or_default() == value)
        };
        Some((0..count).map(fits).collect())
    }
}

/// Returns true if a tag set is among the matching ones.
pub(super) fn fits(matching: Option<&Vec<bool>>, tags: TagSetId) -> bool {
    matching.is_none_or(|matching| matching.get(tags.0 as usize).copied().unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use model::TagSet;

    use super::*;

    #[test]
    fn filters_are_read_and_written() {
        let filter = TagFilter::from_tags(&[("name", "/a,b:\"c\""), ("method", "GET")]);
        assert_eq!(TagFilter::parse(&filter.text()), Ok(filter));
        assert_eq!(TagFilter::parse(""), Ok(TagFilter::default()));
        assert_eq!(TagFilter::default().text(), "");
        assert!(TagFilter::parse("name:x").is_err() && TagFilter::parse("{\"a\":1}").is_err());
    }

    #[test]
    fn a_missing_tag_is_an_empty_one() {
        let tags = TagInterner::default();
        let get = tags.intern(TagSet::new([("method".into(), "GET".into())]));
        let all = tags.intern(TagSet::new([("method".into(), "GET".into()), ("group".into(), "::a".into())]));
        let matching = TagFilter::from_tags(&[("method", "GET"), ("group", "")]).matching(&tags);
        assert!(fits(matching.as_ref(), get) && !fits(matching.as_ref(), all));
        assert!(fits(None, all) && !fits(matching.as_ref(), TagSetId(99)));
    }
}
