//! Parses any text as a page and asks it everything. The first line is the selector.

#![no_main]

use html::{Axis, Document, NodeId, Selector, Until};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (selector, page) = text.split_once('\n').unwrap_or(("*", text));
    let document = Document::parse(page);
    let selector = Selector::parse(selector).or_else(|_| Selector::parse("*")).expect("* is a selector");
    let found = document.find(&[NodeId::ROOT], &selector);
    let _ = document.walk(&found, Axis::Parents, &Until::Match(&selector));
    let _ = document.walk(&found, Axis::Siblings, &Until::Never);
    // What was written must be a page again.
    let again = Document::parse(&document.inner_html(NodeId::ROOT));
    let _ = (document.text(NodeId::ROOT), again.text(NodeId::ROOT));
});
