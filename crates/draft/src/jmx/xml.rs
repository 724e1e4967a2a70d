//! XML as a tree, bounded.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::DraftError;

/// Levels of elements.
const DEPTH_MAX: usize = 256;

/// Elements of a plan.
const ELEMENTS_MAX: usize = 1_000_000;

/// An element of XML.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) tag: String,
    attributes: Vec<(String, String)>,
    pub(super) text: String,
    pub(super) children: Vec<Element>,
}

impl Element {
    pub(super) fn attribute(&self, name: &str) -> &str {
        self.attributes.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The name that people gave it.
    pub(super) fn name(&self) -> &str {
        match self.attribute("testname") {
            "" => self.tag.rsplit('.').next().unwrap_or(&self.tag),
            name => name,
        }
    }

    /// The property with this name.
    pub(super) fn property_element(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.attribute("name") == name)
    }

    /// Its text; empty if there is none. Old plans have properties without a class (`property`), too.
    pub(super) fn property(&self, name: &str) -> &str {
        self.property_element(name).map_or("", |child| child.text.trim())
    }

    /// The same with its white space.
    pub(super) fn raw_property(&self, name: &str) -> &str {
        self.property_element(name).map_or("", |child| &child.text)
    }

    pub(super) fn is_set(&self, name: &str) -> bool {
        self.property(name).eq_ignore_ascii_case("true")
    }
}

/// The enabled elements of a `hashTree`, each with the tree of what is below it.
pub(super) fn entries(tree: &Element) -> Vec<(&Element, Option<&Element>)> {
    let mut entries = Vec::new();
    let mut children = tree.children.iter().peekable();
    while let Some(element) = children.next() {
        if element.tag == "hashTree" {
            continue;
        }
        let below = children.next_if(|next| next.tag == "hashTree");
        if element.attribute("enabled") != "false" {
            entries.push((element, below));
        }
    }
    entries
}

/// Parses a document.
pub(super) fn parse(text: &str) -> Result<Element, DraftError> {
    let failed = |why: String| DraftError::Xml(why);
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    let mut open: Vec<Element> = Vec::new();
    let mut count = 0;
    loop {
        let event = reader
            .read_event()
            .map_err(|error| failed(format!("{error} (byte {})", reader.error_position())))?;
        let closed = match event {
            Event::Start(start) => {
                open.push(element(&start)?);
                count += 1;
                if open.len() > DEPTH_MAX || count > ELEMENTS_MAX {
                    return Err(failed(format!("more than {DEPTH_MAX} levels or {ELEMENTS_MAX} elements")));
                }
                None
            }
            Event::Empty(start) => {
                count += 1;
                if count > ELEMENTS_MAX {
                    return Err(failed(format!("more than {ELEMENTS_MAX} elements")));
                }
                Some(element(&start)?)
            }
            Event::End(_) => open.pop(),
            Event::Text(text) => {
                open.last_mut().into_iter().for_each(|element| element.text.push_str(&text));
                None
            }
            Event::CData(data) => {
                open.last_mut().into_iter().for_each(|element| element.text.push_str(&data));
                None
            }
            Event::GeneralRef(reference) => {
                let letter = match reference.resolve_char_ref() {
                    Ok(Some(letter)) => letter.to_string(),
                    _ => quick_xml::escape::resolve_xml_entity(&reference).unwrap_or_default().to_owned(),
                };
                open.last_mut().into_iter().for_each(|element| element.text.push_str(&letter));
                None
            }
            Event::Eof => return Err(failed("it ends before its outermost element does".to_owned())),
            _ => None,
        };
        let Some(closed) = closed else { continue };
        match open.last_mut() {
            Some(parent) => parent.children.push(closed),
            None => return Ok(closed),
        }
    }
}

fn element(start: &BytesStart<'_>) -> Result<Element, DraftError> {
    let mut element = Element { tag: start.name().as_ref().to_owned(), ..Element::default() };
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| DraftError::Xml(error.to_string()))?;
        let value = quick_xml::escape::unescape(&attribute.value)
            .map_err(|error| DraftError::Xml(error.to_string()))?;
        element.attributes.push((attribute.key.as_ref().to_owned(), value.into_owned()));
    }
    Ok(element)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_bounded() {
        assert!(parse(&"<a>".repeat(100_000)).is_err());
        assert!(parse("<a><b></a>").is_err());
        assert!(parse("<a>").is_err());
        assert!(parse("").is_err());
        let tree = parse("<?xml version=\"1.0\"?><a n='1 &amp; 2'>x &lt; &#65;<![CDATA[<y>]]><b/></a>")
            .expect("XML");
        assert_eq!((tree.attribute("n"), tree.text.as_str(), tree.children.len()), ("1 & 2", "x < A<y>", 1));
    }
}
