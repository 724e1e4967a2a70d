//! A tree as text again, as Go's `html.Render` writes it, which is what k6's `html()` gives.

use html5ever::ns;

use crate::document::{Content, Document, NodeId};

const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "keygen", "link", "meta", "param", "source",
    "track", "wbr",
];

/// Elements whose text is written as it is.
const RAW: &[&str] = &["iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "xmp"];

impl Document {
    /// The content of a node, as HTML.
    pub fn inner_html(&self, id: NodeId) -> String {
        let mut out = String::new();
        for child in self.children(id) {
            self.render(child, &mut out);
        }
        out
    }

    fn render(&self, top: NodeId, out: &mut String) {
        let mut at = top;
        loop {
            self.open(at, top, out);
            if let Some(child) = self.node(at).first_child {
                at = child;
                continue;
            }
            loop {
                self.close(at, out);
                if at == top {
                    return;
                }
                if let Some(next) = self.node(at).next {
                    at = next;
                    break;
                }
                match self.node(at).parent {
                    Some(parent) => at = parent,
                    None => return,
                }
            }
        }
    }

    fn open(&self, id: NodeId, top: NodeId, out: &mut String) {
        match &self.node(id).content {
            Content::Document => {}
            Content::Doctype { name, public_id, system_id } => doctype(out, [name, public_id, system_id]),
            Content::Comment(text) => out.extend(["<!--", text, "-->"]),
            Content::Text(text) => {
                let is_raw = id != top && self.parent(id).is_some_and(|parent| self.is_raw(parent));
                if is_raw { out.push_str(text) } else { escape(text, out) }
            }
            Content::Element { name, attributes, .. } => {
                out.extend(["<", &*name.local]);
                for attribute in attributes {
                    out.push(' ');
                    if let Some(prefix) = &attribute.name.prefix {
                        out.extend([&**prefix, ":"]);
                    }
                    out.extend([&*attribute.name.local, "=\""]);
                    escape(&attribute.value, out);
                    out.push('"');
                }
                let is_void = name.ns == ns!(html) && VOID.contains(&&*name.local);
                out.push_str(if is_void { "/>" } else { ">" });
                self.keep_first_line(id, out);
            }
        }
    }

    /// Parsers swallow the first line break of these elements, so that one that is there is written twice.
    fn keep_first_line(&self, id: NodeId, out: &mut String) {
        let first = self.node(id).first_child.and_then(|child| match &self.node(child).content {
            Content::Text(text) => Some(text),
            _ => None,
        });
        if matches!(self.name(id), "pre" | "listing" | "textarea")
            && first.is_some_and(|text| text.starts_with('\n'))
        {
            out.push('\n');
        }
    }

    fn close(&self, id: NodeId, out: &mut String) {
        if let Content::Element { name, .. } = &self.node(id).content
            && !(name.ns == ns!(html) && VOID.contains(&&*name.local))
            && &*name.local != "plaintext"
        {
            out.extend(["</", &*name.local, ">"]);
        }
    }

    fn is_raw(&self, id: NodeId) -> bool {
        RAW.contains(&self.name(id))
    }
}

fn doctype(out: &mut String, [name, public_id, system_id]: [&str; 3]) {
    out.extend(["<!DOCTYPE ", name]);
    if !public_id.is_empty() {
        out.extend([" PUBLIC \"", public_id, "\""]);
    }
    if !system_id.is_empty() {
        out.extend([if public_id.is_empty() { " SYSTEM \"" } else { " \"" }, system_id, "\""]);
    }
    out.push('>');
}

fn escape(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '\'', '<', '>', '"', '\r']) {
        out.push_str(&rest[..at]);
        out.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'\'' => "&#39;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&#34;",
            _ => "&#13;",
        });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expect: &str) {
        let document = Document::parse(&format!("<body>{body}"));
        let body = document.descendants(NodeId::ROOT).find(|id| document.name(*id) == "body");
        assert_eq!(document.inner_html(body.expect("a page has a body")), expect);
    }

    #[test]
    fn text_is_escaped_and_code_is_not() {
        check("<p>a &lt; \"b\" 'c' &amp;", "<p>a &lt; &#34;b&#34; &#39;c&#39; &amp;</p>");
        check("<script>a<b</script>", "<script>a<b</script>");
        check("a<br>b<img alt='\"'>", "a<br/>b<img alt=\"&#34;\"/>");
        check("<pre>\n\nx</pre>", "<pre>\n\nx</pre>");
        check("<!-- c -->", "<!-- c -->");
    }
}
