//! Headers and bodies, as all kinds of sources have them.

use crate::plan::{Body, Node, Part};
use crate::text::{Piece, Text};
use crate::tree::Tree;
use crate::url;

/// Headers that the client or the browser sets by itself, and those that would ask for another answer than a first visit gets.
const OWN_HEADERS: &[&str] = &[
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-length",
    "dnt",
    "expect",
    "host",
    "if-modified-since",
    "if-none-match",
    "keep-alive",
    "pragma",
    "priority",
    "proxy-connection",
    "range",
    "referer",
    "save-data",
    "te",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
    "user-agent",
    "via",
    "sec-gpc",
    "purpose",
    "x-client-data",
    "access-control-request-method",
    "access-control-request-headers",
    "traceparent",
    "tracestate",
    "baggage",
    "sentry-trace",
    "postman-token",
];

/// Whether a script sets a header. Pseudo-headers of HTTP/2 begin with a colon.
pub(crate) fn is_kept_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_token = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(&byte));
    is_token && !OWN_HEADERS.contains(&name.as_str()) && !name.starts_with("sec-")
}

/// Whether a value of `Accept` is one that a browser sends for pages, or says nothing.
pub(crate) fn is_plain_accept(value: &str) -> bool {
    value == "*/*" || value.starts_with("text/html")
}

/// The value of a header among several, whatever the case of its name.
pub(crate) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// A body as a script writes it, by its type.
pub(crate) fn body(content_type: &str, text: &Text) -> Body {
    if text.is_empty() {
        return Body::None;
    }
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence.ends_with("/json") || essence.ends_with("+json") {
        return json(text).unwrap_or_else(|| Body::Text(text.clone()));
    }
    if essence == "application/x-www-form-urlencoded" {
        return form(text).unwrap_or_else(|| Body::Text(text.clone()));
    }
    if essence == "multipart/form-data" {
        let parts = text.as_literal().and_then(|text| multipart(content_type, text));
        return parts.unwrap_or_else(|| Body::Text(text.clone()));
    }
    Body::Text(text.clone())
}

/// Stand for computed parts while a text is parsed; private use, so that no text has them.
const MARK: (char, char) = ('\u{e000}', '\u{e001}');

/// The text with a mark for each computed part. Where `quotes` is set, marks outside of JSON's strings become strings.
fn marked(text: &Text, quotes: bool) -> (String, Vec<Text>) {
    let mut out = String::new();
    let mut codes = Vec::new();
    let mut is_inside = false;
    for piece in text.pieces() {
        match piece {
            Piece::Literal(literal) => {
                let mut is_escaped = false;
                for letter in literal.chars() {
                    match letter {
                        '"' if !is_escaped => is_inside = !is_inside,
                        _ => {}
                    }
                    is_escaped = letter == '\\' && !is_escaped;
                }
                out.push_str(literal);
            }
            Piece::Code { .. } => {
                let mark = format!("{}{}{}", MARK.0, codes.len(), MARK.1);
                out.push_str(&if quotes && !is_inside { format!("\"{mark}\"") } else { mark });
                codes.push(code_of(piece));
            }
        }
    }
    (out, codes)
}

fn code_of(piece: &Piece) -> Text {
    match piece {
        Piece::Code { code, is_constant: true } => Text::constant(code.clone()),
        Piece::Code { code, is_constant: false } => Text::code(code.clone()),
        Piece::Literal(text) => Text::literal(text.clone()),
    }
}

/// The text with the computed parts in place of their marks.
fn unmarked(text: &str, codes: &[Text]) -> Text {
    let mut out = Text::default();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(MARK.0) {
        out.push_literal(before);
        let Some((number, behind)) = after.split_once(MARK.1) else { break };
        match number.parse::<usize>().ok().and_then(|number| codes.get(number)) {
            Some(code) => out.push(code.clone()),
            None => out.push_literal(number),
        }
        rest = behind;
    }
    out.push_literal(rest);
    out
}

fn json(text: &Text) -> Option<Body> {
    let (marked, codes) = marked(text, true);
    let tree = Tree::json(&marked).ok()?;
    if tree.has_inexact_numbers() {
        return None;
    }
    Some(Body::Json(fill(&tree, &codes)))
}

fn fill(tree: &Tree, codes: &[Text]) -> Node {
    match tree {
        Tree::Text(text) => Node::Text(unmarked(text, codes)),
        Tree::List(items) => Node::List(items.iter().map(|item| fill(item, codes)).collect()),
        Tree::Map(members) => {
            Node::Map(members.iter().map(|(name, value)| (name.clone(), fill(value, codes))).collect())
        }
        other => Node::of(other),
    }
}

fn form(text: &Text) -> Option<Body> {
    let (marked, codes) = marked(text, false);
    // What has no pair is no form.
    if !marked.contains('=') || marked.contains(['\n', '{']) {
        return None;
    }
    let pairs = marked.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let decoded = |text: &str| unmarked(&url::decode(text, true), &codes);
        (decoded(name), decoded(value))
    });
    Some(Body::Form(pairs.collect()))
}

/// Splits a multipart body (RFC 7578). `None` if it has not the shape of one.
fn multipart(content_type: &str, text: &str) -> Option<Body> {
    let (_, boundary) = content_type.split_once("boundary=")?;
    let boundary = boundary.split(';').next()?.trim().trim_matches('"');
    if boundary.is_empty() {
        return None;
    }
    let text = text.replace("\r\n", "\n");
    let delimiter = format!("--{boundary}");
    let mut parts = Vec::new();
    for part in text.split(delimiter.as_str()).skip(1) {
        if part.starts_with("--") {
            return Some(Body::Multipart(parts));
        }
        let (head, value) = part.trim_start_matches('\n').split_once("\n\n")?;
        let value = value.strip_suffix('\n').unwrap_or(value);
        let disposition =
            head.lines().find(|line| line.to_ascii_lowercase().starts_with("content-disposition"))?;
        let parameter = |name: &str| {
            let (_, rest) = disposition.split_once(&format!("; {name}=\""))?;
            rest.split('"').next().map(str::to_owned)
        };
        let kind = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-type").then(|| value.trim().to_owned())
        });
        let file = parameter("filename")
            .map(|file| (file, kind.unwrap_or_else(|| "application/octet-stream".to_owned())));
        parts.push(Part { name: parameter("name")?, value: Text::literal(value), file });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_with_computed_parts_stays_json() {
        let text = Text::literal("{\"id\": ")
            .then(Text::code("id"))
            .then(Text::literal(", \"name\": \"a "))
            .then(Text::constant("name"))
            .then(Text::literal("\"}"));
        let Body::Json(Node::Map(members)) = body("application/json; charset=utf-8", &text) else {
            panic!("no JSON")
        };
        assert_eq!(members[0].1, Node::Text(Text::code("id")));
        assert_eq!(members[1].1, Node::Text(Text::literal("a ").then(Text::constant("name"))));
        assert!(matches!(
            body("application/json", &Text::literal("{\"id\": 9007199254740993}")),
            Body::Text(_)
        ));
        assert!(matches!(body("application/json", &Text::literal("{broken")), Body::Text(_)));
    }

    #[test]
    fn forms_are_decoded() {
        let Body::Form(fields) =
            body("application/x-www-form-urlencoded", &Text::literal("a=1+2&b%5B%5D=%C3%A9&c"))
        else {
            panic!("no form")
        };
        assert_eq!(fields[0], (Text::literal("a"), Text::literal("1 2")));
        assert_eq!(fields[1], (Text::literal("b[]"), Text::literal("é")));
        assert_eq!(fields[2], (Text::literal("c"), Text::default()));
    }

    #[test]
    fn multipart_bodies_are_split() {
        let text = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B\r\nContent-Disposition: form-data; name=\"f\"; \
                    filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\nline\r\n--B--\r\n";
        let Body::Multipart(parts) = body("multipart/form-data; boundary=B", &Text::literal(text)) else {
            panic!("no parts")
        };
        assert_eq!((parts[0].name.as_str(), parts[0].value.as_literal()), ("a", Some("1")));
        assert_eq!(parts[1].file, Some(("x.txt".to_owned(), "text/plain".to_owned())));
        assert!(matches!(body("multipart/form-data; boundary=B", &Text::literal("cut off")), Body::Text(_)));
    }
}
