//! Bodies of requests as expressions.

use std::fmt::Write;

use super::{Writer, enclosed, object};
use crate::js;
use crate::plan::{Body, Node, Part};
use crate::text::Text;
use crate::{DataFile, plan};

/// Bytes of a body that stands in the script; a longer one becomes a file beside it.
const INLINE_BYTES_MAX: usize = 4 << 10;

impl Writer<'_> {
    /// The expression of a body; `None` if there is none.
    pub(super) fn body(&mut self, depth: usize, body: &Body) -> Option<String> {
        Some(match body {
            Body::None => return None,
            Body::Text(text) => match text.as_literal().filter(|text| text.len() > INLINE_BYTES_MAX) {
                Some(long) => self.file(long, "txt"),
                None => text.js_string(),
            },
            Body::Form(fields) => form(depth, fields),
            Body::Json(node) => match long_json(node) {
                Some(long) => self.file(&long, "json"),
                None => format!("JSON.stringify({})", json(depth, node)),
            },
            Body::Multipart(parts) => multipart(depth, parts),
            Body::File(path) => self.opened(path, true),
        })
    }

    fn file(&mut self, text: &str, extension: &str) -> String {
        let name = format!("{}.body-{}.{extension}", self.settings.stem, self.files.len() + 1);
        let constant = self.opened(&format!("./{name}"), false);
        self.files.push(DataFile { name, text: text.to_owned() });
        constant
    }

    fn opened(&mut self, path: &str, is_binary: bool) -> String {
        if let Some((name, ..)) =
            self.opened.iter().find(|(_, opened, binary)| opened == path && *binary == is_binary)
        {
            return name.clone();
        }
        let name = plan::unused("requestBody", |name| self.opened.iter().any(|(taken, ..)| taken == name));
        self.opened.push((name.clone(), path.to_owned(), is_binary));
        name
    }
}

/// Fields as an object, which k6 encodes, or as a text where an object cannot hold them.
fn form(depth: usize, fields: &[(Text, Text)]) -> String {
    let names: Vec<Option<&str>> = fields.iter().map(|(name, _)| name.as_literal()).collect();
    let are_distinct =
        names.iter().enumerate().all(|(nth, name)| name.is_some() && !names[..nth].contains(name));
    if are_distinct {
        let member =
            |(name, value): &(Text, Text)| (js::property(name.as_literal().unwrap_or_default()), value.js());
        return object(depth, &fields.iter().map(member).collect::<Vec<_>>());
    }
    let pair = |(name, value): &(Text, Text)| format!("[{}, {}]", name.js(), value.js());
    let list = enclosed(depth, ("[", "]"), ("[", "]"), fields.iter().map(pair).collect());
    format!("{list}.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')")
}

fn json(depth: usize, node: &Node) -> String {
    match node {
        Node::Null => "null".to_owned(),
        Node::Bool(value) => value.to_string(),
        Node::Number(text) => text.clone(),
        Node::Text(text) => text.js(),
        Node::List(items) => {
            enclosed(depth, ("[", "]"), ("[", "]"), items.iter().map(|item| json(depth + 1, item)).collect())
        }
        Node::Map(members) => {
            let member = |(name, value): &(String, Node)| (js::property(name), json(depth + 1, value));
            object(depth, &members.iter().map(member).collect::<Vec<_>>())
        }
    }
}

/// The text of a long value without computed parts.
fn long_json(node: &Node) -> Option<String> {
    let mut text = String::new();
    plain_json(node, &mut text)?;
    (text.len() > INLINE_BYTES_MAX).then_some(text)
}

fn plain_json(node: &Node, out: &mut String) -> Option<()> {
    match node {
        Node::Null => out.push_str("null"),
        Node::Bool(value) => out.push_str(&value.to_string()),
        Node::Number(text) => out.push_str(text),
        Node::Text(text) => out.push_str(&serde_json::to_string(text.as_literal()?).ok()?),
        Node::List(items) => {
            out.push('[');
            for (nth, item) in items.iter().enumerate() {
                out.push_str(if nth > 0 { "," } else { "" });
                plain_json(item, out)?;
            }
            out.push(']');
        }
        Node::Map(members) => {
            out.push('{');
            for (nth, (name, value)) in members.iter().enumerate() {
                let _ =
                    write!(out, "{}{}:", if nth > 0 { "," } else { "" }, serde_json::to_string(name).ok()?);
                plain_json(value, out)?;
            }
            out.push('}');
        }
    }
    Some(())
}

/// The boundary of multipart bodies that the script writes itself.
pub(super) const BOUNDARY: &str = "plimsoll-boundary";

/// Whether k6 encodes the parts: it does if one is a file.
pub(super) fn has_file(parts: &[Part]) -> bool {
    parts.iter().any(|part| part.file.is_some())
}

fn multipart(depth: usize, parts: &[Part]) -> String {
    if has_file(parts) {
        let member = |part: &Part| {
            let value = match &part.file {
                None => part.value.js_string(),
                Some((name, kind)) => format!(
                    "http.file({}, {}, {})",
                    part.value.js_string(),
                    js::quoted(name),
                    js::quoted(kind)
                ),
            };
            (js::property(&part.name), value)
        };
        return object(depth, &parts.iter().map(member).collect::<Vec<_>>());
    }
    let mut lines = Vec::new();
    for part in parts {
        let name = part.name.replace('"', "%22");
        lines.push(js::quoted(&format!("--{BOUNDARY}")));
        lines.push(js::quoted(&format!("Content-Disposition: form-data; name=\"{name}\"")));
        lines.push("''".to_owned());
        lines.push(part.value.js());
    }
    lines.push(js::quoted(&format!("--{BOUNDARY}--")));
    lines.push("''".to_owned());
    format!("{}.join('\\r\\n')", enclosed(depth, ("[", "]"), ("[", "]"), lines))
}
