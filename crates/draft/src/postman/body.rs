//! Bodies as Postman has them.

use super::Reader;
use crate::js;
use crate::plan::{Body, Call, Node, Part};
use crate::request;
use crate::text::Text;
use crate::tree::Tree;

/// Types of texts by the language that people chose.
const LANGUAGES: &[(&str, &str)] = &[
    ("json", "application/json"),
    ("xml", "application/xml"),
    ("html", "text/html"),
    ("javascript", "application/javascript"),
    ("text", "text/plain"),
];

impl Reader<'_> {
    pub(super) fn body(&mut self, body: &Tree, call: &mut Call) {
        if body.get("disabled").is_true() {
            return;
        }
        match body.get("mode").text().unwrap_or_default() {
            "raw" => self.raw(body, call),
            "urlencoded" => {
                let pairs = enabled(body.get("urlencoded")).filter_map(|pair| {
                    Some((pair.get("key").scalar()?, pair.get("value").scalar().unwrap_or_default()))
                });
                let pairs: Vec<(String, String)> = pairs.collect();
                call.body = Body::Form(
                    pairs.into_iter().map(|(name, value)| (self.text(&name), self.text(&value))).collect(),
                );
            }
            "formdata" => self.form_data(body, call),
            "graphql" => self.graphql(body.get("graphql"), call),
            "file" => match body.at(&["file", "src"]).text() {
                Some(path) => {
                    let path = beside(path);
                    self.plan.notes.add(format!(
                        "the body of {} is a file: put it beside the script as {}",
                        js::label(&call.name),
                        js::label(&path)
                    ));
                    call.body = Body::File(path);
                }
                None => self.plan.notes.add(format!(
                    "the body of {} is a file that is not named; write it in the script",
                    js::label(&call.name)
                )),
            },
            _ => {}
        }
    }

    fn raw(&mut self, body: &Tree, call: &mut Call) {
        let raw = body.get("raw").text().unwrap_or_default();
        let language = body.at(&["options", "raw", "language"]).text().unwrap_or_default();
        let text = self.text(raw);
        let set = call.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let kind = match set.map(|(_, value)| value.as_literal().unwrap_or_default().to_owned()) {
            Some(kind) => kind,
            None if raw.trim().is_empty() => return,
            None => {
                let looks_json = raw.trim_start().starts_with(['{', '[']);
                let language = if language.is_empty() && looks_json { "json" } else { language };
                let kind = LANGUAGES
                    .iter()
                    .find(|(known, _)| *known == language)
                    .map_or("text/plain", |(_, kind)| kind);
                call.headers.push(("Content-Type".to_owned(), Text::literal(kind)));
                kind.to_owned()
            }
        };
        call.body = request::body(&kind, &text);
    }

    fn form_data(&mut self, body: &Tree, call: &mut Call) {
        let mut parts = Vec::new();
        for field in enabled(body.get("formdata")) {
            let Some(name) = field.get("key").scalar() else { continue };
            if field.get("type").text() == Some("file") {
                let source = match field.get("src") {
                    Tree::List(items) => items.first().and_then(Tree::text),
                    source => source.text(),
                };
                let file = beside(source.unwrap_or("upload.bin")).trim_start_matches("./").to_owned();
                self.plan.notes.add(format!(
                    "field {} of {} is a file; its content in the script is the word \"content\"",
                    js::label(&name),
                    js::label(&call.name)
                ));
                parts.push(Part {
                    name,
                    value: Text::literal("content"),
                    file: Some((file, "application/octet-stream".to_owned())),
                });
            } else {
                let value = self.text(&field.get("value").scalar().unwrap_or_default());
                parts.push(Part { name, value, file: None });
            }
        }
        call.body = Body::Multipart(parts);
    }

    fn graphql(&mut self, graphql: &Tree, call: &mut Call) {
        let query = self.text(graphql.get("query").text().unwrap_or_default());
        let mut members = vec![("query".to_owned(), Node::Text(query))];
        let variables = graphql.get("variables").text().unwrap_or_default();
        if !variables.trim().is_empty() {
            let text = self.text(variables);
            match request::body("application/json", &text) {
                Body::Json(node) => members.push(("variables".to_owned(), node)),
                _ => self
                    .plan
                    .notes
                    .add(format!("the variables of {} are no JSON and were left out", js::label(&call.name))),
            }
        }
        if !call.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            call.headers.push(("Content-Type".to_owned(), Text::literal("application/json")));
        }
        call.body = Body::Json(Node::Map(members));
    }
}

fn enabled(list: &Tree) -> impl Iterator<Item = &Tree> {
    list.items().iter().filter(|item| !item.get("disabled").is_true())
}

/// The file's name beside the script: paths of other machines lead nowhere.
fn beside(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    format!("./{name}")
}
