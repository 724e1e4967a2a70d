//! Places of a request that hold a value which a response may have returned.

use crate::plan::{Body, Call, Node};
use crate::text::Text;
use crate::url;

/// Where a value stands in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotKind {
    /// A segment of the path.
    Path,
    /// A value of the query.
    Query,
    /// A header.
    Header,
    /// A field of the body.
    Body,
}

/// A place with its value.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) exchange: usize,
    pub(super) number: usize,
    pub(super) kind: SlotKind,
    /// The field's name; for a segment of the path, the segment before it.
    pub(super) name: String,
    /// Decoded.
    pub(super) value: String,
}

/// The function that fills places: it is handed the place's number, kind, name and value.
type Act<'a> = dyn FnMut(usize, SlotKind, &str, &str) -> Option<Text> + 'a;

/// Calls `act` for every place that holds a literal, always in the same order, and puts there what it returns.
pub(super) fn each_slot(call: &mut Call, act: &mut Act<'_>) {
    let mut number = 0;
    let mut at = |kind, name: &str, value: &str| {
        number += 1;
        act(number, kind, name, value)
    };
    let mut before = String::new();
    for segment in &mut call.url.path {
        let Some(literal) = segment.as_literal().map(str::to_owned) else { continue };
        let value = url::decode(&literal, false);
        if let Some(with) = at(SlotKind::Path, &before, &value) {
            *segment = encoded(with, &value);
        }
        before = value;
    }
    for (name, value) in &mut call.url.query {
        let (Some(name), Some(text)) = (name.as_literal(), value) else { continue };
        let Some(literal) = text.as_literal() else { continue };
        let decoded = url::decode(literal, true);
        if let Some(with) = at(SlotKind::Query, &url::decode(name, true), &decoded) {
            *text = encoded(with, &decoded);
        }
    }
    for (name, text) in &mut call.headers {
        let Some(literal) = text.as_literal().map(str::to_owned) else { continue };
        // `Bearer TOKEN`
        let (scheme, value) = match literal.split_once(' ') {
            Some((scheme, value)) if name.eq_ignore_ascii_case("authorization") => {
                (format!("{scheme} "), value)
            }
            _ => (String::new(), literal.as_str()),
        };
        if let Some(with) = at(SlotKind::Header, name, value) {
            *text = Text::literal(scheme).then(with);
        }
    }
    let mut field = |name: &str, text: &mut Text| {
        let Some(literal) = text.as_literal().map(str::to_owned) else { return };
        if let Some(with) = at(SlotKind::Body, name, &literal) {
            *text = with;
        }
    };
    match &mut call.body {
        Body::Form(fields) => {
            for (name, value) in fields {
                field(name.as_literal().unwrap_or_default(), value);
            }
        }
        Body::Multipart(parts) => {
            for part in parts.iter_mut().filter(|part| part.file.is_none()) {
                field(&part.name.clone(), &mut part.value);
            }
        }
        Body::Json(node) => node.each_leaf("", &mut |name, leaf| match leaf {
            Node::Text(text) => field(name, text),
            Node::Number(number) => {
                let mut text = Text::literal(number.clone());
                field(name, &mut text);
                if text.as_literal().is_none() {
                    *leaf = Node::Text(text);
                }
            }
            _ => {}
        }),
        Body::Text(_) | Body::None | Body::File(_) => {}
    }
}

/// The value as it stands in an address. Digits, letters and dashes need no encoding in any recording.
fn encoded(with: Text, value: &str) -> Text {
    let is_plain = value.bytes().all(|byte| byte.is_ascii_digit())
        || value.len() == 36 && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    match is_plain {
        true => with,
        false => Text::code(format!("encodeURIComponent({})", with.js())),
    }
}
