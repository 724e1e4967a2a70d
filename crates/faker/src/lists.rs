//! The word lists.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::random::Draw;

/// Begins the line with a list's name.
const HEADING: &str = "=== ";

static LISTS: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut lists = HashMap::new();
    let mut entries: &mut Vec<&str> = &mut Vec::new();
    for line in include_str!("../data/words.txt").lines() {
        match line.strip_prefix(HEADING) {
            Some(name) => entries = lists.entry(name).or_default(),
            None => entries.push(line),
        }
    }
    lists
});

/// The entries of a list, such as `person.first`; none where there is no such list.
pub(crate) fn list(name: &str) -> &'static [&'static str] {
    LISTS.get(name).map_or(&[], Vec::as_slice)
}

/// One entry of a list.
pub(crate) fn pick(draw: &mut Draw, name: &str) -> &'static str {
    let list = list(name);
    list.get(draw.below(list.len())).copied().unwrap_or_default()
}
