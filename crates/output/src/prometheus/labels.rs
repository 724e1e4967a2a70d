//! Tags as labels.
//!
//! Receivers refuse a whole request for one bad label, so that what k6 sends as it is, is made good here: names keep to
//! Prometheus' alphabet, empty values are left out (an empty label is no label), and each name occurs once.

use std::collections::BTreeMap;

use model::TagSet;

use crate::totals::Labels;

/// The label of a series' name.
pub(crate) const NAME: &str = "__name__";

/// The label by which dashboards distinguish runs.
pub(crate) const TEST_ID: &str = "testid";

/// The labels of a tag set, over labels that every series has.
pub(crate) fn labels(tags: &TagSet, everywhere: &[(String, String)]) -> Labels {
    let mut labels: BTreeMap<String, String> = BTreeMap::new();
    let own = tags.iter().filter(|(_, value)| !value.is_empty());
    for (name, value) in own.chain(everywhere.iter().map(|(name, value)| (&**name, &**value))) {
        let name = clean(name);
        if name != NAME && !value.is_empty() {
            // Of names that are alike once they are clean, the first tag's stays, and a tag stands above what is everywhere.
            labels.entry(name).or_insert_with(|| value.to_owned());
        }
    }
    labels.into_iter().collect()
}

/// The name with whatever Prometheus does not allow replaced by an underscore (data model, "Metric names and labels").
fn clean(name: &str) -> String {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut clean: String = name.chars().map(|c| if is_fine(c) { c } else { '_' }).collect();
    if clean.is_empty() || clean.starts_with(|c: char| c.is_ascii_digit()) {
        clean.insert(0, '_');
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tags: &[(&str, &str)], expect: &str) {
        let tags = TagSet::new(tags.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        let everywhere = [("testid", "run"), ("zone", "")].map(|(name, value)| (name.into(), value.into()));
        let labels = labels(&tags, &everywhere);
        let text: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(text.join(" "), expect);
    }

    #[test]
    fn labels_are_clean_sorted_and_distinct() {
        check(&[], "testid=run");
        check(&[("group", ""), ("a", "1"), ("zone", "z")], "a=1 testid=run zone=z");
        check(&[("testid", "mine")], "testid=mine");
        check(&[("testid", "")], "testid=run");
        check(
            &[("my-tag", "a"), ("my_tag", "b"), ("1st", "c"), ("", "d"), ("é", "x")],
            "_=d _1st=c my_tag=a testid=run",
        );
        check(&[("__name__", "evil"), ("x", "ü\0\"")], "testid=run x=ü\0\"");
    }
}
