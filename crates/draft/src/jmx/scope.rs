//! Elements that hold for all samplers below them: defaults, headers, timers, assertions, extractors.

use super::functions::Names;
use super::xml::Element;
use super::{assertions, extractors, timers};
use crate::plan::Plan;
use crate::request;
use crate::text::Text;

/// The elements that hold for others.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope<'a> {
    /// HTTP Request Defaults, the nearest last.
    pub(super) defaults: Vec<&'a Element>,
    pub(super) headers: Vec<(String, Text)>,
    /// Seconds before each request.
    pub(super) timers: Vec<String>,
    pub(super) assertions: Vec<&'a Element>,
    pub(super) extractors: Vec<&'a Element>,
}

/// Whether an element is one of these, or one of a file of data.
pub(super) fn is_known(tag: &str) -> bool {
    tag == "HeaderManager"
        || tag == "CSVDataSet"
        || is_defaults(tag)
        || timers::is_timer(tag)
        || assertions::is_assertion(tag)
        || extractors::is_extractor(tag)
}

fn is_defaults(tag: &str) -> bool {
    tag == "ConfigTestElement"
}

impl<'a> Scope<'a> {
    /// The scope of what stands beside these elements.
    pub(super) fn within(
        &self,
        entries: &[(&'a Element, Option<&'a Element>)],
        names: &mut Names,
        plan: &mut Plan,
    ) -> Scope<'a> {
        let mut scope = self.clone();
        for (element, _) in entries {
            let tag = element.tag.as_str();
            if is_defaults(tag)
                && element.children.iter().any(|child| child.attribute("name").starts_with("HTTPSampler."))
            {
                scope.defaults.push(element);
            } else if tag == "HeaderManager" {
                scope.add_headers(element, names, plan);
            } else if timers::is_timer(tag) {
                scope.timers.extend(timers::seconds(element, names, plan));
            } else if assertions::is_assertion(tag) {
                scope.assertions.push(element);
            } else if extractors::is_extractor(tag) {
                scope.extractors.push(element);
            }
        }
        scope
    }

    fn add_headers(&mut self, element: &Element, names: &mut Names, plan: &mut Plan) {
        let Some(list) = element.property_element("HeaderManager.headers") else { return };
        for header in &list.children {
            let name = header.property("Header.name");
            if request::is_kept_header(name) {
                let value = names.text(header.property("Header.value"), plan);
                self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
                self.headers.push((name.to_owned(), value));
            }
        }
    }

    /// A property of the sampler or of the nearest defaults that have it.
    pub(super) fn property(&self, sampler: &'a Element, name: &str) -> &'a str {
        let own = std::iter::once(sampler).chain(self.defaults.iter().rev().copied());
        own.map(|element| element.property(name)).find(|text| !text.is_empty()).unwrap_or_default()
    }
}
