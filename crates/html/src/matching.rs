//! Whether an element is what a selector says.

use crate::document::{Document, Kind, NodeId};
use crate::selector::{Combinator, Complex, Nth, Selector, Simple, Test};

/// Whether a chain of compounds fits, and if not, whether another ancestor could still make it fit. Without the
/// difference `a b c d` would try every way of choosing four ancestors.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Fits,
    Fails,
    FailsAbove,
}

impl Selector {
    /// Whether the node is an element that the selector describes.
    pub fn matches(&self, document: &Document, id: NodeId) -> bool {
        document.is_element(id) && self.0.iter().any(|complex| complex.matches(document, id))
    }
}

impl Complex {
    fn matches(&self, document: &Document, id: NodeId) -> bool {
        let last = self.0.len() - 1;
        fits(document, id, &self.0[last].1) && self.before(document, id, last) == Outcome::Fits
    }

    /// Whether what stands left of part `index` fits around a node that part `index` fits.
    fn before(&self, document: &Document, id: NodeId, index: usize) -> Outcome {
        if index == 0 {
            return Outcome::Fits;
        }
        let simples = &self.0[index - 1].1;
        let check = |node: NodeId| {
            let is_it = document.is_element(node) && fits(document, node, simples);
            if is_it { self.before(document, node, index - 1) } else { Outcome::Fails }
        };
        match self.0[index].0 {
            Combinator::Child => document.parent(id).map_or(Outcome::Fails, check),
            Combinator::Descendant => document
                .ancestors(id)
                .map(check)
                .find(|outcome| *outcome != Outcome::Fails)
                .unwrap_or(Outcome::FailsAbove),
            Combinator::NextSibling => previous_elements(document, id).next().map_or(Outcome::Fails, check),
            Combinator::LaterSibling => previous_elements(document, id)
                .map(check)
                .find(|outcome| *outcome != Outcome::Fails)
                .unwrap_or(Outcome::Fails),
        }
    }
}

fn previous_elements(document: &Document, id: NodeId) -> impl Iterator<Item = NodeId> {
    std::iter::successors(document.previous(id), move |node| document.previous(*node))
        .filter(move |node| document.is_element(*node))
}

fn fits(document: &Document, id: NodeId, simples: &[Simple]) -> bool {
    simples.iter().all(|simple| fits_simple(document, id, simple))
}

fn fits_simple(document: &Document, id: NodeId, simple: &Simple) -> bool {
    let has = |name: &str| document.attribute(id, name).is_some();
    match simple {
        Simple::Tag(tag) => document.name(id) == tag,
        Simple::Id(wanted) => document.attribute(id, "id") == Some(wanted.as_str()),
        Simple::Class(class) => {
            document.attribute(id, "class").is_some_and(|value| has_word(value, class, false))
        }
        Simple::Attribute { key, test, ignores_case } => {
            passes(document.attribute(id, key), test, *ignores_case)
        }
        Simple::Not(selector) => !selector.matches(document, id),
        Simple::Has(selector) => document.descendants(id).any(|under| selector.matches(document, under)),
        Simple::HasChild(selector) => document.children(id).any(|child| selector.matches(document, child)),
        Simple::Contains { lower, own } => text(document, id, *own).to_lowercase().contains(lower),
        Simple::Matches { regex, own } => regex.is_match(&text(document, id, *own)),
        Simple::Nth(nth) => is_nth(document, id, *nth),
        Simple::Only { of_type } => alike(document, id, *of_type).nth(1).is_none(),
        Simple::Input => matches!(document.name(id), "input" | "select" | "textarea" | "button"),
        Simple::Empty => document.children(id).all(|child| match document.kind(child) {
            Kind::Element => false,
            Kind::Text => document.own_text(child).is_some_and(|text| text.trim().is_empty()),
            _ => true,
        }),
        Simple::Root => document.parent(id) == Some(NodeId::ROOT),
        Simple::Link => matches!(document.name(id), "a" | "area" | "link") && has("href"),
        Simple::Lang(lang) => std::iter::once(id).chain(document.ancestors(id)).any(|node| {
            document.attribute(node, "lang").is_some_and(|value| {
                value.strip_prefix(lang.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            })
        }),
        Simple::Enabled => match document.name(id) {
            "a" | "area" | "link" => has("href"),
            "optgroup" | "menuitem" | "fieldset" => !has("disabled"),
            name => is_control(name) && !has("disabled") && !is_in_disabled_fieldset(document, id),
        },
        Simple::Disabled => match document.name(id) {
            "optgroup" | "menuitem" | "fieldset" => has("disabled"),
            name => is_control(name) && (has("disabled") || is_in_disabled_fieldset(document, id)),
        },
        Simple::Checked => match document.name(id) {
            "input" | "menuitem" => {
                let kind = document.attribute(id, "type").unwrap_or_default();
                has("checked") && ["checkbox", "radio"].iter().any(|known| kind.eq_ignore_ascii_case(known))
            }
            "option" => has("selected"),
            _ => false,
        },
        Simple::Never => false,
    }
}

fn passes(value: Option<&str>, test: &Test, ignores_case: bool) -> bool {
    let Some(value) = value else { return matches!(test, Test::NotEqual(_)) };
    let same =
        |one: &str, other: &str| one == other || ignores_case && one.to_lowercase() == other.to_lowercase();
    let fold = |text: &str| if ignores_case { text.to_lowercase() } else { text.to_owned() };
    let is_blank = |wanted: &str| wanted.trim().is_empty();
    match test {
        Test::Present => true,
        Test::Equal(wanted) => same(value, wanted),
        Test::NotEqual(wanted) => !same(value, wanted),
        Test::Word(wanted) => has_word(value, wanted, ignores_case),
        Test::Dash(wanted) => {
            let (value, wanted) = (fold(value), fold(wanted));
            value.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        }
        Test::Prefix(wanted) => !is_blank(value) && fold(value).starts_with(&fold(wanted)),
        Test::Suffix(wanted) => !is_blank(value) && fold(value).ends_with(&fold(wanted)),
        Test::Part(wanted) => !is_blank(value) && fold(value).contains(&fold(wanted)),
        Test::Regex(regex) => regex.is_match(value),
    }
}

fn has_word(value: &str, word: &str, ignores_case: bool) -> bool {
    value.split([' ', '\t', '\r', '\n', '\x0c']).any(|known| {
        !known.is_empty() && (known == word || ignores_case && known.to_lowercase() == word.to_lowercase())
    })
}

fn text(document: &Document, id: NodeId, own: bool) -> String {
    if !own {
        return document.text(id);
    }
    let texts = document.children(id).filter(|child| document.kind(*child) == Kind::Text);
    texts.filter_map(|child| document.own_text(child)).collect()
}

/// The element and its siblings, or only those with its name.
fn alike(document: &Document, id: NodeId, of_type: bool) -> impl Iterator<Item = NodeId> {
    let siblings = document.parent(id).into_iter().flat_map(move |parent| document.child_elements(parent));
    siblings.filter(move |node| !of_type || document.name(*node) == document.name(id))
}

fn is_nth(document: &Document, id: NodeId, nth: Nth) -> bool {
    let before = alike(document, id, nth.of_type).take_while(|node| *node != id).count();
    let place = if nth.last { alike(document, id, nth.of_type).count() - before } else { before + 1 };
    let beyond = place as i64 - i64::from(nth.offset);
    if nth.step == 0 {
        return beyond == 0;
    }
    beyond % i64::from(nth.step) == 0 && beyond / i64::from(nth.step) >= 0
}

fn is_control(name: &str) -> bool {
    matches!(name, "button" | "input" | "select" | "textarea" | "option")
}

/// Controls in the legend of a fieldset can be used even where the fieldset cannot.
fn is_in_disabled_fieldset(document: &Document, id: NodeId) -> bool {
    let path = std::iter::once(id).chain(document.ancestors(id));
    path.zip(document.ancestors(id)).any(|(node, parent)| {
        document.name(parent) == "fieldset"
            && document.attribute(parent, "disabled").is_some()
            && (document.name(node) != "legend"
                || previous_elements(document, node).any(|before| document.name(before) == "legend"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#"<html lang="en-GB"><body class="main wide"><ul id="list"><li id="one" class="item first">One
        <li id="two" class="item">Two<li id="three" data-x="a b">Three <i>in</i></ul><p id="p1">x<p id="p2"> </p>
        <fieldset disabled><legend><input id="free"></legend><input id="shut"></fieldset>
        <input id="on" type="checkbox" checked><a id="link" href="/">l</a></body>"#;

    fn check(selector: &str, expect: &str) {
        let document = Document::parse(PAGE);
        let selector = Selector::parse(selector).expect("the test's selector is one");
        let found: Vec<&str> = document
            .descendants(NodeId::ROOT)
            .filter(|id| selector.matches(&document, *id))
            .map(|id| document.attribute(id, "id").unwrap_or(document.name(id)))
            .collect();
        assert_eq!(found.join(" "), expect);
    }

    #[test]
    fn selectors_find_what_they_describe() {
        check("li", "one two three");
        check("LI.item", "one two");
        check("ul > li + li", "two three");
        check("#one ~ li", "two three");
        check("body li i", "i");
        check("html > li", "");
        check("li:nth-child(2n+1)", "one three");
        check("li:nth-last-child(-n+2)", "two three");
        check("p:first-of-type, :root", "html p1");
        check("li:not(.item, #three)", "");
        check("li:has(i)", "three");
        check(":contains('THREE') > i", "i");
    }

    #[test]
    fn attributes_are_tested() {
        check("[class=item]", "two");
        check("li[class!=item]", "one three");
        check("[class~=first]", "one");
        check("[data-x~=b]", "three");
        check("[lang|=en]", "html");
        check("[id^=t]", "two three");
        check("[id$=o]", "two");
        check("[id*=re]", "three free");
        check("[id#=(^p[12]$)]", "p1 p2");
        check("[class='ITEM' i]", "two");
    }

    #[test]
    fn states_are_those_of_the_page() {
        check("p:empty", "p2");
        check(":disabled", "fieldset shut");
        check("input:enabled", "free on");
        check(":checked", "on");
        check(":link", "link");
        check("li:lang(en):contains(one)", "one");
        check("i:only-child", "i");
        check("p:hover", "");
    }

    #[test]
    fn deep_pages_take_no_exponential_time() {
        let document = Document::parse(&"<div>".repeat(500));
        let selector =
            Selector::parse("p div div div div div div div div").expect("the test's selector is one");
        assert!(document.descendants(NodeId::ROOT).all(|id| !selector.matches(&document, id)));
    }
}
