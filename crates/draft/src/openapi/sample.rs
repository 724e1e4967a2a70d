//! Values from schemas: an example if there is one, otherwise a value that type, format and limits allow.

use super::document::Document;
use crate::plan::Node;
use crate::text::Text;
use crate::tree::Tree;

/// Levels of a value. A recursive schema ends there; optional members are left out from the half on.
const DEPTH_MAX: usize = 8;

/// Members and items of one value.
const NODES_MAX: usize = 300;

/// Items of a list.
const ITEMS_MAX: u64 = 5;

/// Characters that a minimum length can ask for.
const CHARS_MAX: usize = 256;

/// The use of a value: requests leave out members that only the server sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Request,
    Parameter,
}

/// A value that a schema allows.
pub(super) fn value(document: &Document<'_>, schema: &Tree, purpose: Purpose) -> Node {
    Sampler { document, purpose, left: NODES_MAX }.value(schema, 0, "")
}

/// The value of a parameter.
pub(super) fn of_parameter(document: &Document<'_>, parameter: &Tree) -> Node {
    example_of(document, parameter).unwrap_or_else(|| {
        let content = parameter.get("content").members().first();
        let schema = match (parameter.get("schema").is_null(), content) {
            (false, _) => parameter.get("schema"),
            (true, Some((_, media))) => media.get("schema"),
            // Swagger 2.0 has the schema's members in the parameter.
            (true, None) => parameter,
        };
        let name = parameter.get("name").text().unwrap_or_default();
        Sampler { document, purpose: Purpose::Parameter, left: NODES_MAX }.value(schema, 0, name)
    })
}

/// Whether the document has a value for a parameter.
pub(super) fn has_example(document: &Document<'_>, parameter: &Tree) -> bool {
    let schema = document.resolve(parameter.get("schema"));
    example_of(document, parameter).is_some()
        || ["example", "default"].iter().any(|name| !schema.get(name).is_null())
}

/// `example` or the first of `examples`.
pub(super) fn example_of(document: &Document<'_>, holder: &Tree) -> Option<Node> {
    let example = holder.get("example");
    if !example.is_null() {
        return Some(Node::of(example));
    }
    let (_, first) = holder.get("examples").members().first()?;
    let value = document.resolve(first).get("value");
    (!value.is_null()).then(|| Node::of(value))
}

struct Sampler<'a> {
    document: &'a Document<'a>,
    purpose: Purpose,
    left: usize,
}

impl Sampler<'_> {
    fn value(&mut self, schema: &Tree, depth: usize, name: &str) -> Node {
        self.left = self.left.saturating_sub(1);
        if depth > DEPTH_MAX || self.left == 0 {
            self.document.add_note("a value is too deep or too large; it ends with null");
            return Node::Null;
        }
        let schema = self.document.resolve(schema);
        if let Some(given) = given(schema) {
            return given;
        }
        let all = schema.get("allOf").items();
        if !all.is_empty() {
            return self.all_of(schema, all, depth, name);
        }
        let one = schema.get("oneOf").items().iter().chain(schema.get("anyOf").items());
        if let Some(first) = one.into_iter().find(|schema| schema.get("type").text() != Some("null"))
            && schema.get("properties").is_null()
        {
            return self.value(first, depth + 1, name);
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.list(schema, depth, name),
            "integer" | "number" => Node::Number(number(schema)),
            "boolean" => Node::Bool(true),
            "null" => Node::Null,
            _ => Node::Text(Text::literal(text(schema, name))),
        }
    }

    /// The members of all; a value that is no object is that of the last.
    fn all_of(&mut self, schema: &Tree, all: &[Tree], depth: usize, name: &str) -> Node {
        let mut members: Vec<(String, Node)> = Vec::new();
        let mut other = Node::Null;
        let own = (!schema.get("properties").is_null()).then(|| self.object(schema, depth));
        let parts: Vec<Node> = all.iter().map(|part| self.value(part, depth + 1, name)).collect();
        for part in parts.into_iter().chain(own) {
            match part {
                Node::Map(more) => {
                    for (name, value) in more {
                        members.retain(|(known, _)| *known != name);
                        members.push((name, value));
                    }
                }
                Node::Null => {}
                value => other = value,
            }
        }
        if members.is_empty() && other != Node::Null { other } else { Node::Map(members) }
    }

    fn object(&mut self, schema: &Tree, depth: usize) -> Node {
        let required: Vec<&str> = schema.get("required").items().iter().filter_map(Tree::text).collect();
        let mut members = Vec::new();
        for (name, property) in schema.get("properties").members() {
            let resolved = self.document.resolve(property);
            let is_required = required.contains(&name.as_str());
            let is_server_set = self.purpose == Purpose::Request && resolved.get("readOnly").is_true();
            if is_server_set
                || !is_required && (depth >= DEPTH_MAX / 2 || resolved.get("deprecated").is_true())
            {
                continue;
            }
            let value = self.value(property, depth + 1, name);
            // Null stands for what has no end; where it is optional it is better left out.
            if is_required || value != Node::Null {
                members.push((name.clone(), value));
            }
        }
        Node::Map(members)
    }

    fn list(&mut self, schema: &Tree, depth: usize, name: &str) -> Node {
        let least = schema.get("minItems").scalar().and_then(|text| text.parse::<u64>().ok()).unwrap_or(1);
        let mut items = Vec::new();
        for _ in 0..least.clamp(1, ITEMS_MAX) {
            match self.value(schema.get("items"), depth + 1, name) {
                Node::Null => break,
                item => items.push(item),
            }
        }
        Node::List(items)
    }
}

/// The schema's own value: an example, a default, a constant, the first of an enumeration.
fn given(schema: &Tree) -> Option<Node> {
    let single = [schema.get("example"), schema.get("const"), schema.get("default"), schema.get("x-example")];
    let lists = [schema.get("examples"), schema.get("enum")];
    let first = lists.iter().filter_map(|list| list.items().first());
    single.into_iter().chain(first).find(|value| !value.is_null()).map(Node::of)
}

fn kind(schema: &Tree) -> &str {
    let named = match schema.get("type") {
        // 3.1: the first that is not null.
        Tree::List(kinds) => kinds.iter().filter_map(Tree::text).find(|kind| *kind != "null"),
        kind => kind.text(),
    };
    named.unwrap_or_else(|| match schema {
        _ if !schema.get("properties").is_null() || !schema.get("additionalProperties").is_null() => "object",
        _ if !schema.get("items").is_null() => "array",
        _ => "string",
    })
}

fn number(schema: &Tree) -> String {
    let bound = |name: &str| schema.get(name).scalar().and_then(|text| text.parse::<f64>().ok());
    let is_exclusive = schema.get("exclusiveMinimum").is_true();
    let least = bound("minimum")
        .map(|least| if is_exclusive { least + 1.0 } else { least })
        .or(bound("exclusiveMinimum").map(|least| least + 1.0));
    let most = bound("maximum").or(bound("exclusiveMaximum").map(|most| most - 1.0));
    let value = match (least, most) {
        (Some(least), _) if least > 1.0 => least,
        (_, Some(most)) if most < 1.0 => most,
        _ => 1.0,
    };
    let multiple = bound("multipleOf").filter(|multiple| *multiple > 0.0);
    multiple.map_or(value, |multiple| (value / multiple).ceil() * multiple).to_string()
}

fn text(schema: &Tree, name: &str) -> String {
    let format = schema.get("format").text().unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    let sample = match format {
        "date" => "2026-01-01",
        "date-time" | "datetime" => "2026-01-01T00:00:00Z",
        "time" => "00:00:00Z",
        "duration" => "PT1M",
        "uuid" => "00000000-0000-4000-8000-000000000000",
        "email" => "user@example.com",
        "uri" | "url" | "uri-reference" | "iri" => "https://example.com/",
        "hostname" => "example.com",
        "ipv4" | "ip" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "byte" => "dGV4dA==",
        "binary" => "content",
        "int32" | "int64" => "1",
        _ if lower.contains("email") => "user@example.com",
        _ if lower == "id" || lower.ends_with("_id") || name.ends_with("Id") => "1",
        _ => "text",
    };
    let bound = |name: &str| schema.get(name).scalar().and_then(|text| text.parse::<usize>().ok());
    let mut sample = sample.to_owned();
    if let Some(least) = bound("minLength").map(|least| least.min(CHARS_MAX)) {
        while sample.chars().count() < least {
            sample.push('x');
        }
    }
    match bound("maxLength") {
        Some(most) => sample.chars().take(most).collect(),
        None => sample,
    }
}
