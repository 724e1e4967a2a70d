//! A parsed page: nodes in one vector, linked by their places.

use html5ever::QualName;
use html5ever::tendril::StrTendril;

/// The place of a node in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// The document itself, which has no parent.
    pub const ROOT: NodeId = NodeId(0);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The whole page.
    Document,
    /// `<!DOCTYPE …>`
    Doctype,
    /// A tag and what is in it.
    Element,
    /// Characters.
    Text,
    /// `<!-- … -->`
    Comment,
}

/// A node's content.
#[derive(Debug)]
pub(crate) enum Content {
    Document,
    Doctype { name: StrTendril, public_id: StrTendril, system_id: StrTendril },
    Element { name: QualName, attributes: Vec<html5ever::Attribute>, is_integration_point: bool },
    Text(StrTendril),
    Comment(StrTendril),
}

/// A node and its neighbours.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) content: Content,
    pub(crate) parent: Option<NodeId>,
    pub(crate) previous: Option<NodeId>,
    pub(crate) next: Option<NodeId>,
    pub(crate) first_child: Option<NodeId>,
    pub(crate) last_child: Option<NodeId>,
    /// Distance from the document when it was put there.
    pub(crate) depth: u32,
}

/// A parsed page. It does not change.
#[derive(Debug)]
pub struct Document {
    pub(crate) nodes: Vec<Node>,
    pub(crate) is_cut: bool,
}

impl Document {
    /// Whether something of the page was left out because of a limit.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The kind of the node.
    pub fn kind(&self, id: NodeId) -> Kind {
        match self.node(id).content {
            Content::Document => Kind::Document,
            Content::Doctype { .. } => Kind::Doctype,
            Content::Element { .. } => Kind::Element,
            Content::Text(_) => Kind::Text,
            Content::Comment(_) => Kind::Comment,
        }
    }

    /// Whether it is an element.
    pub fn is_element(&self, id: NodeId) -> bool {
        matches!(self.node(id).content, Content::Element { .. })
    }

    /// The element's name in lower case (that of SVG as SVG writes it); empty for other nodes.
    pub fn name(&self, id: NodeId) -> &str {
        match &self.node(id).content {
            Content::Element { name, .. } => &name.local,
            Content::Doctype { name, .. } => name,
            _ => "",
        }
    }

    /// The namespace's URL; empty for other nodes than elements.
    pub fn namespace(&self, id: NodeId) -> &str {
        match &self.node(id).content {
            Content::Element { name, .. } => &name.ns,
            _ => "",
        }
    }

    /// The element's attributes, in the page's order: names in lower case, and values.
    pub fn attributes(&self, id: NodeId) -> impl Iterator<Item = (&str, &str)> {
        let attributes = match &self.node(id).content {
            Content::Element { attributes, .. } => attributes.as_slice(),
            _ => &[],
        };
        attributes.iter().map(|attribute| (&*attribute.name.local, &*attribute.value))
    }

    /// An attribute's value.
    pub fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        self.attributes(id).find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// The text of a text node or a comment.
    pub fn own_text(&self, id: NodeId) -> Option<&str> {
        match &self.node(id).content {
            Content::Text(text) | Content::Comment(text) => Some(text),
            _ => None,
        }
    }

    /// The parent; the document has none.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).parent
    }

    /// The node before it under the same parent.
    pub fn previous(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).previous
    }

    /// The node after it under the same parent.
    pub fn next(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).next
    }

    /// All nodes right under it.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.node(id).first_child, move |child| self.node(*child).next)
    }

    /// The elements right under it.
    pub fn child_elements(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        self.children(id).filter(move |child| self.is_element(*child))
    }

    /// Its parent, that one's parent and so on to the document.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.parent(id), move |ancestor| self.parent(*ancestor))
    }

    /// Everything under it, in the page's order.
    pub fn descendants(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let mut at = id;
        std::iter::from_fn(move || {
            at = self.following(at, id)?;
            Some(at)
        })
    }

    /// The node after `at` in the page's order within `top`.
    fn following(&self, at: NodeId, top: NodeId) -> Option<NodeId> {
        if let Some(child) = self.node(at).first_child {
            return Some(child);
        }
        let mut at = at;
        while at != top {
            if let Some(next) = self.node(at).next {
                return Some(next);
            }
            at = self.node(at).parent?;
        }
        None
    }

    /// The text of all text nodes under it, joined; its own where it is one.
    pub fn text(&self, id: NodeId) -> String {
        let mut text = String::new();
        self.push_text(id, &mut text);
        text
    }

    /// Adds [`Document::text`] to a string.
    pub fn push_text(&self, id: NodeId, text: &mut String) {
        for node in std::iter::once(id).chain(self.descendants(id)) {
            if let Content::Text(own) = &self.node(node).content {
                text.push_str(own);
            }
        }
    }

    /// Whether `id` is under `ancestor`.
    pub fn is_under(&self, id: NodeId, ancestor: NodeId) -> bool {
        self.ancestors(id).any(|node| node == ancestor)
    }
}
