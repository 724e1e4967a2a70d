//! One operation as a request.

use super::document::Document;
use super::sample::{self, Purpose};
use super::security;
use crate::js;
use crate::plan::{Body, Call, Node, Part, Plan};
use crate::text::Text;
use crate::tree::Tree;
use crate::url::{self, Url};

/// An operation's place in the document.
pub(super) struct Place<'a> {
    pub(super) document: &'a Document<'a>,
    pub(super) base: &'a Text,
    pub(super) path: &'a str,
    pub(super) item: &'a Tree,
    pub(super) method: &'a str,
}

/// Types of content, the most preferred first.
const TYPES: &[&str] = &["json", "x-www-form-urlencoded", "form-data", "text/plain", "xml"];

pub(super) fn call(place: &Place<'_>, operation: &Tree, plan: &mut Plan) -> Call {
    let document = place.document;
    let mut call = Call {
        method: place.method.to_ascii_uppercase(),
        name: format!("{} {}", place.method.to_ascii_uppercase(), place.path),
        statuses: statuses(document, operation),
        ..Call::default()
    };
    let summary = operation.get("summary").text().or(operation.get("operationId").text());
    call.comments.extend(summary.map(str::to_owned).filter(|summary| !summary.trim().is_empty()));
    let parameters = parameters(place, operation);
    call.url = Url { base: place.base.clone(), ..Url::default() };
    call.url.path = path(place, &parameters, plan);
    let mut form: Vec<(Text, Text)> = Vec::new();
    for parameter in &parameters {
        let name = parameter.get("name").text().unwrap_or_default();
        let is_needed = parameter.get("required").is_true();
        let example = sample::has_example(document, parameter);
        match parameter.get("in").text().unwrap_or_default() {
            // Optional filters with no example would only narrow the answer.
            "query" if is_needed || example => query(&mut call.url, document, parameter, name),
            "header"
                if is_needed
                    && !["accept", "content-type", "authorization"]
                        .contains(&name.to_ascii_lowercase().as_str()) =>
            {
                call.headers.push((name.to_owned(), Text::literal(value(document, parameter))));
            }
            "cookie" if is_needed => {
                call.headers.push((
                    "Cookie".to_owned(),
                    Text::literal(format!("{name}={}", value(document, parameter))),
                ));
            }
            "formData" => form.push((Text::literal(name), Text::literal(value(document, parameter)))),
            "body" => {
                let node = sample::value(document, parameter.get("schema"), Purpose::Request);
                call.headers.push(("Content-Type".to_owned(), Text::literal("application/json")));
                call.body = Body::Json(node);
            }
            _ => {}
        }
    }
    if !form.is_empty() {
        call.body = swagger_form(document, operation, form);
    }
    if !document.is_swagger {
        body(document, operation, &mut call);
    }
    security::add(document, operation, &mut call, plan);
    call
}

/// The parameters of the operation and of its path, each once.
fn parameters<'a>(place: &Place<'a>, operation: &'a Tree) -> Vec<&'a Tree> {
    let mut found: Vec<&Tree> = Vec::new();
    let own = operation.get("parameters").items().iter().chain(place.item.get("parameters").items());
    for parameter in own.map(|parameter| place.document.resolve(parameter)) {
        let is_same = |known: &&Tree| {
            known.get("name") == parameter.get("name") && known.get("in") == parameter.get("in")
        };
        if !parameter.is_null() && !found.iter().any(is_same) {
            found.push(parameter);
        }
    }
    found
}

/// The path with a constant for each parameter: `/pets/{petId}`.
fn path(place: &Place<'_>, parameters: &[&Tree], plan: &mut Plan) -> Vec<Text> {
    let path = place.path.split(['?', '#']).next().unwrap_or_default();
    path.trim_start_matches('/')
        .split('/')
        .map(|segment| {
            let mut text = Text::default();
            let mut rest = segment;
            while let Some((before, after)) = rest.split_once('{') {
                text.push_literal(before);
                let Some((name, behind)) = after.split_once('}') else { break };
                let is_it = |parameter: &&&Tree| {
                    parameter.get("in").text() == Some("path") && parameter.get("name").text() == Some(name)
                };
                let value = parameters
                    .iter()
                    .find(is_it)
                    .map_or_else(|| "1".to_owned(), |parameter| value(place.document, parameter));
                let constant = js::camel_case(name, "id");
                text.push(plan.constant(&constant, &js::upper_case(name, "ID"), Text::literal(value)));
                rest = behind;
            }
            text.push_literal(rest);
            text
        })
        .collect()
}

fn query(address: &mut Url, document: &Document<'_>, parameter: &Tree, name: &str) {
    let encoded = Text::literal(url::encode(name));
    let node = sample::of_parameter(document, parameter);
    match node {
        Node::List(items) => {
            let texts: Vec<String> = items.iter().filter_map(scalar).map(|item| url::encode(&item)).collect();
            let is_joined = parameter.get("explode") == &Tree::Bool(false)
                || document.is_swagger && parameter.get("collectionFormat").text() != Some("multi");
            match is_joined {
                true => address.query.push((encoded, Some(Text::literal(texts.join(","))))),
                false => address
                    .query
                    .extend(texts.into_iter().map(|text| (encoded.clone(), Some(Text::literal(text))))),
            }
        }
        Node::Map(members) => {
            let is_deep = parameter.get("style").text() == Some("deepObject");
            for (member, value) in members {
                let key = if is_deep { format!("{name}[{member}]") } else { member };
                address.query.push((
                    Text::literal(url::encode(&key)),
                    scalar(&value).map(|value| Text::literal(url::encode(&value))),
                ));
            }
        }
        leaf => address
            .query
            .push((encoded, Some(Text::literal(url::encode(&scalar(&leaf).unwrap_or_default()))))),
    }
}

fn value(document: &Document<'_>, parameter: &Tree) -> String {
    let node = sample::of_parameter(document, parameter);
    let text = match &node {
        Node::List(items) => items.iter().filter_map(scalar).collect::<Vec<_>>().join(","),
        leaf => scalar(leaf).unwrap_or_default(),
    };
    // An empty segment would be another path.
    if text.is_empty() { "1".to_owned() } else { text }
}

fn scalar(node: &Node) -> Option<String> {
    match node {
        Node::Text(text) => text.as_literal().map(str::to_owned),
        Node::Number(text) => Some(text.clone()),
        Node::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

fn swagger_form(document: &Document<'_>, operation: &Tree, fields: Vec<(Text, Text)>) -> Body {
    let consumes = if operation.get("consumes").is_null() {
        document.tree.get("consumes")
    } else {
        operation.get("consumes")
    };
    let is_multipart = consumes.items().first().and_then(Tree::text) == Some("multipart/form-data");
    if !is_multipart {
        return Body::Form(fields);
    }
    let part = |(name, value): (Text, Text)| Part {
        name: name.as_literal().unwrap_or_default().to_owned(),
        value,
        file: None,
    };
    Body::Multipart(fields.into_iter().map(part).collect())
}

/// The body of OpenAPI 3.
fn body(document: &Document<'_>, operation: &Tree, call: &mut Call) {
    let content = document.resolve(operation.get("requestBody")).get("content").members();
    let preferred = TYPES.iter().find_map(|kind| content.iter().find(|(name, _)| name.contains(kind)));
    let Some((name, media)) = preferred.or(content.first()) else { return };
    let example = sample::example_of(document, media);
    let node = example.unwrap_or_else(|| sample::value(document, media.get("schema"), Purpose::Request));
    let header = ("Content-Type".to_owned(), Text::literal(name.split(',').next().unwrap_or(name).trim()));
    if name.contains("x-www-form-urlencoded") {
        call.body = Body::Form(fields(&node));
    } else if name.contains("form-data") {
        let part = |(name, value): (Text, Text)| Part {
            name: name.as_literal().unwrap_or_default().to_owned(),
            value,
            file: None,
        };
        call.body = Body::Multipart(fields(&node).into_iter().map(part).collect());
    } else if name.contains("json") || name == "*/*" {
        call.body = Body::Json(node);
        call.headers.push(if name == "*/*" { (header.0, Text::literal("application/json")) } else { header });
    } else {
        if let Node::Text(text) = &node {
            call.body = Body::Text(text.clone());
        } else {
            document.add_note(format!(
                "the body of {} is {}: write it in the script",
                call.name,
                js::label(name)
            ));
        }
        call.headers.push(header);
    }
}

fn fields(node: &Node) -> Vec<(Text, Text)> {
    let Node::Map(members) = node else { return Vec::new() };
    members
        .iter()
        .filter_map(|(name, value)| Some((Text::literal(name.clone()), Text::literal(scalar(value)?))))
        .collect()
}

/// Documented statuses below 400; none if only `default` is documented.
fn statuses(document: &Document<'_>, operation: &Tree) -> Vec<u16> {
    let responses = document.resolve(operation.get("responses")).members();
    let mut statuses: Vec<u16> = responses
        .iter()
        .filter_map(|(name, _)| name.parse().ok())
        .filter(|status| (200..400).contains(status))
        .collect();
    let has_range = responses.iter().any(|(name, _)| name.eq_ignore_ascii_case("2xx") || name == "default");
    if has_range && statuses.iter().all(|status| *status >= 300) {
        return Vec::new();
    }
    statuses.sort_unstable();
    statuses.dedup();
    // A script follows redirects.
    if statuses.iter().any(|status| *status < 300) {
        statuses.retain(|status| *status < 300)
    } else {
        statuses.clear()
    }
    statuses
}
