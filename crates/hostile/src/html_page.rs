//! A page and a selector, which is the first line.

use std::collections::HashSet;

use html::{Axis, Document, NodeId, Selector, Until, data_value};

use crate::line_and_rest;

/// Every node can be asked everything; what is found is found once; what was written is a page again.
pub fn check(bytes: &[u8]) {
    let (selector, page) = line_and_rest(bytes);
    let document = Document::parse(&page);
    let selector = Selector::parse(&selector).or_else(|_| Selector::parse("*")).expect("* is a selector");
    let found = document.find(&[NodeId::ROOT], &selector);
    assert_eq!(found.iter().collect::<HashSet<_>>().len(), found.len(), "nothing is found twice");
    assert!(found.iter().all(|id| selector.matches(&document, *id)));
    for axis in [Axis::Parents, Axis::Children, Axis::NextAll, Axis::PreviousAll, Axis::Siblings] {
        let _ = document.walk(&found, axis, &Until::Match(&selector));
        let walked = document.walk(&found, axis, &Until::Never);
        assert!(walked.iter().all(|id| document.is_under(*id, NodeId::ROOT)), "{axis:?}");
    }
    for id in found {
        for (_, value) in document.attributes(id) {
            let _ = data_value(value);
        }
    }
    let again = Document::parse(&document.inner_html(NodeId::ROOT));
    let _ = (document.text(NodeId::ROOT), again.text(NodeId::ROOT));
}
