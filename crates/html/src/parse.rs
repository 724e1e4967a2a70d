//! From bytes to a document, with html5ever.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::{Attribute, ParseOpts, QualName, parse_document};

use crate::document::{Content, Document, Node, NodeId};

/// Limits of a page. Content beyond them is left out, and [`Document::is_cut`] says so.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of the page.
    pub bytes_max: usize,
    /// Of the tree; a few more may come of the last piece that is read.
    pub nodes_max: usize,
    /// How deep elements may lie in each other. Parsers take quadratic time in it; browsers stop at 512 as well.
    pub depth_max: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes_max: 64 << 20, nodes_max: 1_000_000, depth_max: 512 }
    }
}

/// Limits are looked at after each piece of this size.
const PIECE_BYTES: usize = 4096;

impl Document {
    /// Parses a page as browsers do: there are no errors, only odd trees.
    pub fn parse(page: &str) -> Document {
        Document::parse_within(page, Limits::default())
    }

    /// Parses as much of a page as the limits allow.
    pub fn parse_within(page: &str, limits: Limits) -> Document {
        let parsed = Document::parse_in_pieces(page, limits, || Ok::<_, std::convert::Infallible>(()));
        parsed.unwrap_or_else(|never| match never {})
    }

    /// The same, with a call of `pause` after each few kilobytes, which may let others use the thread.
    ///
    /// # Errors
    /// Those of `pause`, which end the parsing.
    pub fn parse_in_pieces<E>(
        page: &str,
        limits: Limits,
        mut pause: impl FnMut() -> Result<(), E>,
    ) -> Result<Document, E> {
        let (mut rest, mut is_cut) = (page, false);
        if rest.len() > limits.bytes_max {
            (rest, is_cut) = (&rest[..rest.floor_char_boundary(limits.bytes_max)], true);
        }
        let mut parser = parse_document(Sink::new(limits), ParseOpts::default());
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES.min(rest.len())));
            parser.process(StrTendril::from_slice(piece));
            rest = after;
            if parser.tokenizer.sink.sink.is_full.get() {
                is_cut = true;
                break;
            }
            pause()?;
        }
        Ok(Document { nodes: parser.finish(), is_cut })
    }
}

/// The tree while it is being built.
struct Sink {
    nodes: RefCell<Vec<Node>>,
    limits: Limits,
    is_full: Cell<bool>,
}

impl Sink {
    fn new(limits: Limits) -> Sink {
        let sink = Sink { nodes: RefCell::default(), limits, is_full: Cell::new(false) };
        sink.add(Content::Document);
        sink
    }

    fn add(&self, content: Content) -> NodeId {
        let mut nodes = self.nodes.borrow_mut();
        if nodes.len() >= self.limits.nodes_max {
            self.is_full.set(true);
        }
        let id = NodeId(u32::try_from(nodes.len()).expect("the limits keep the nodes of a page below 2^32"));
        nodes.push(Node {
            content,
            parent: None,
            previous: None,
            next: None,
            first_child: None,
            last_child: None,
            depth: 0,
        });
        id
    }

    fn detach(&self, id: NodeId) {
        let mut nodes = self.nodes.borrow_mut();
        let node = &mut nodes[id.index()];
        let (parent, previous, next) = (node.parent.take(), node.previous.take(), node.next.take());
        let Some(parent) = parent else { return };
        match previous {
            Some(previous) => nodes[previous.index()].next = next,
            None => nodes[parent.index()].first_child = next,
        }
        match next {
            Some(next) => nodes[next.index()].previous = previous,
            None => nodes[parent.index()].last_child = previous,
        }
    }

    /// Puts a node under `parent`, before `next` or last.
    fn insert(&self, parent: NodeId, id: NodeId, next: Option<NodeId>) {
        self.detach(id);
        let mut nodes = self.nodes.borrow_mut();
        let depth = nodes[parent.index()].depth + 1;
        if depth > self.limits.depth_max {
            self.is_full.set(true);
        }
        let previous = match next {
            Some(next) => nodes[next.index()].previous.replace(id),
            None => nodes[parent.index()].last_child.replace(id),
        };
        match previous {
            Some(previous) => nodes[previous.index()].next = Some(id),
            None => nodes[parent.index()].first_child = Some(id),
        }
        let node = &mut nodes[id.index()];
        (node.parent, node.previous, node.next, node.depth) = (Some(parent), previous, next, depth);
    }

    /// Puts a node or a text under `parent`; texts that meet become one.
    fn place(&self, parent: NodeId, child: NodeOrText<NodeId>, next: Option<NodeId>) {
        let text = match child {
            NodeOrText::AppendNode(id) => return self.insert(parent, id, next),
            NodeOrText::AppendText(text) => text,
        };
        let before = {
            let nodes = self.nodes.borrow();
            next.map_or(nodes[parent.index()].last_child, |next| nodes[next.index()].previous)
        };
        if let Some(before) = before
            && let Content::Text(known) = &mut self.nodes.borrow_mut()[before.index()].content
        {
            known.push_tendril(&text);
            return;
        }
        let id = self.add(Content::Text(text));
        self.insert(parent, id, next);
    }
}

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = Vec<Node>;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> Vec<Node> {
        self.nodes.into_inner()
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        NodeId::ROOT
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Ref<'a, QualName> {
        Ref::map(self.nodes.borrow(), |nodes| match &nodes[target.index()].content {
            Content::Element { name, .. } => name,
            _ => unreachable!("the parser asks only elements for their names"),
        })
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> NodeId {
        let is_integration_point = flags.mathml_annotation_xml_integration_point;
        self.add(Content::Element { name, attributes, is_integration_point })
    }

    fn create_comment(&self, text: StrTendril) -> NodeId {
        self.add(Content::Comment(text))
    }

    fn create_pi(&self, _target: StrTendril, data: StrTendril) -> NodeId {
        self.add(Content::Comment(data))
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.place(*parent, child, None);
    }

    fn append_based_on_parent_node(&self, element: &NodeId, above: &NodeId, child: NodeOrText<NodeId>) {
        let parent = self.nodes.borrow()[element.index()].parent;
        match parent {
            Some(parent) => self.place(parent, child, Some(*element)),
            None => self.place(*above, child, None),
        }
    }

    fn append_doctype_to_document(&self, name: StrTendril, public_id: StrTendril, system_id: StrTendril) {
        let id = self.add(Content::Doctype { name, public_id, system_id });
        self.insert(NodeId::ROOT, id, None);
    }

    /// Selectors find the content of a template, as in k6.
    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        *target
    }

    fn same_node(&self, one: &NodeId, other: &NodeId) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        let parent = self.nodes.borrow()[sibling.index()].parent;
        if let Some(parent) = parent {
            self.place(parent, child, Some(*sibling));
        }
    }

    fn add_attrs_if_missing(&self, target: &NodeId, more: Vec<Attribute>) {
        let mut nodes = self.nodes.borrow_mut();
        let Content::Element { attributes, .. } = &mut nodes[target.index()].content else { return };
        for attribute in more {
            if attributes.iter().all(|known| known.name != attribute.name) {
                attributes.push(attribute);
            }
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.detach(*target);
    }

    fn reparent_children(&self, from: &NodeId, to: &NodeId) {
        loop {
            let child = self.nodes.borrow()[from.index()].first_child;
            let Some(child) = child else { return };
            self.insert(*to, child, None);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, target: &NodeId) -> bool {
        matches!(
            self.nodes.borrow()[target.index()].content,
            Content::Element { is_integration_point: true, .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str, expect: &str) {
        let document = Document::parse(page);
        assert_eq!(document.inner_html(NodeId::ROOT), expect, "{page}");
        assert!(!document.is_cut());
    }

    #[test]
    fn pages_become_the_trees_of_browsers() {
        check("", "<html><head></head><body></body></html>");
        check("<p>a<p>b", "<html><head></head><body><p>a</p><p>b</p></body></html>");
        check("<b><p>x</b>y</p>", "<html><head></head><body><b></b><p><b>x</b>y</p></body></html>");
        check(
            "<p><table>foo<tr><td>x</table>",
            "<html><head></head><body><p>foo<table><tbody><tr><td>x</td></tr></tbody></table></p></body></html>",
        );
        check(
            "<template><p>x</template>",
            "<html><head><template><p>x</p></template></head><body></body></html>",
        );
        check(
            "<!doctype html><p a=1 A=2>",
            "<!DOCTYPE html><html><head></head><body><p a=\"1\"></p></body></html>",
        );
    }

    fn check_cut(page: &str, limits: Limits) {
        let document = Document::parse_within(page, limits);
        assert!(document.is_cut());
        assert!(document.nodes.len() < 10_000, "{} nodes", document.nodes.len());
    }

    #[test]
    fn what_is_too_much_is_left_out() {
        let small = Limits { bytes_max: 1 << 20, nodes_max: 5000, depth_max: 512 };
        check_cut(&"<div>".repeat(100_000), small);
        check_cut(&"<b>x</b>".repeat(100_000), small);
        check_cut(&"<b><i><a><p>".repeat(100_000), small);
        check_cut("0123456789", Limits { bytes_max: 5, ..small });
    }

    proptest::proptest! {
        #[test]
        fn no_page_is_a_reason_to_panic(pieces in proptest::collection::vec(
            proptest::sample::select(&[
                "<p>", "</p>", "<b>", "</b>", "<table>", "<tr>", "<td>", "</table>", "<select>", "<option selected>",
                "<svg>", "<math>", "<annotation-xml encoding=text/html>", "<template>", "</template>", "<form>",
                "text", "&amp", "<!--", "-->", "<script>", "</script>", "<frameset>", "<body a=b>", "<selectedcontent>",
                "<button>", "</select>", "<", "\0", "<?x", "<![CDATA[", "<html c=d>", "</svg>", "<li>", "<a>", "</a>",
            ][..]), 0..40)) {
            let document = Document::parse(&pieces.concat());
            let all = document.descendants(NodeId::ROOT).count();
            proptest::prop_assert!(all < document.nodes.len());
            for id in document.descendants(NodeId::ROOT) {
                proptest::prop_assert!(document.parent(id).is_some());
            }
        }
    }
}
