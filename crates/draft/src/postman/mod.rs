//! Postman collections 2.0 and 2.1. Folders become groups, variables constants; of scripts, what is common is converted.

mod auth;
mod body;
mod scripts;
mod variables;

use crate::plan::{Call, Flow, Plan, Step};
use crate::text::Text;
use crate::tree::Tree;
use crate::url::{self, Url};
use crate::{DraftError, Kind, js, request, secrets};
use variables::Variables;

/// Levels of folders.
const DEPTH_MAX: usize = 32;

/// Reads a collection.
pub(crate) fn read(text: &str) -> Result<Plan, DraftError> {
    let tree = Tree::json(text).map_err(|error| DraftError::Json { kind: Kind::Postman, error })?;
    // Postman's API wraps what its program exports.
    let tree = if tree.get("collection").get("item").is_null() { &tree } else { tree.get("collection") };
    let schema = tree.at(&["info", "schema"]).text().unwrap_or_default();
    let is_version_1 =
        !tree.get("requests").is_null() && tree.get("item").is_null() || schema.contains("/v1.");
    if is_version_1 {
        return Err(DraftError::Version {
            found: "collections of version 1 are not supported".to_owned(),
            next: "export it as Collection v2.1 in Postman",
        });
    }
    if tree.get("item").items().is_empty() {
        return Err(DraftError::Kind {
            kind: Kind::Postman,
            why: "`item`, the list of requests, is missing or empty",
        });
    }
    let mut plan = Plan::default();
    let mut variables = Variables::new(tree, &mut plan);
    scripts::named(tree, "the collection", &mut plan);
    let mut reader = Reader {
        plan: &mut plan,
        variables: &mut variables,
        unconverted: scripts::Unconverted::default(),
        keys: Vec::new(),
    };
    let steps = reader.items(tree.get("item"), tree.get("auth"), 0);
    let unconverted = std::mem::take(&mut reader.unconverted);
    unconverted.note(&mut plan.notes);
    let variables = variables.set_by_scripts();
    let name = tree.at(&["info", "name"]).text().unwrap_or("collection").to_owned();
    plan.flows.push(Flow { name, steps, variables, ..Flow::default() });
    secrets::redact(&mut plan);
    Ok(plan)
}

struct Reader<'a> {
    plan: &'a mut Plan,
    variables: &'a mut Variables,
    /// Requests whose scripts are not converted, or only in part.
    unconverted: scripts::Unconverted,
    /// Secrets of authorization: value, wish, and the text in their place.
    keys: Vec<(String, String, Text)>,
}

impl Reader<'_> {
    /// Requests and folders; `auth` is that of what holds them.
    fn items(&mut self, items: &Tree, auth: &Tree, depth: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        for item in items.items() {
            let name = item.get("name").text().unwrap_or("request");
            let below = item.get("item");
            if below.is_null() {
                if let Some(call) = self.request(item, name, auth) {
                    steps.push(Step::Call(Box::new(call)));
                }
                continue;
            }
            if depth >= DEPTH_MAX {
                self.plan.notes.add(format!(
                    "folder {} lies deeper than {DEPTH_MAX} levels and was left out",
                    js::label(name)
                ));
                continue;
            }
            scripts::named(item, &format!("folder {}", js::label(name)), self.plan);
            let auth = if item.get("auth").is_null() { auth } else { item.get("auth") };
            let below = self.items(below, auth, depth + 1);
            if !below.is_empty() {
                steps.push(Step::Group(name.to_owned(), below));
            }
        }
        steps
    }

    fn request(&mut self, item: &Tree, name: &str, auth: &Tree) -> Option<Call> {
        let request = item.get("request");
        // A request can be its address alone.
        let (address, method) = match request {
            Tree::Text(address) => (Tree::Text(address.clone()), "GET"),
            request => (request.get("url").clone(), request.get("method").text().unwrap_or("GET")),
        };
        let Some(url) = self.url(&address) else {
            self.plan.notes.add(format!("request {} has no address and was left out", js::label(name)));
            return None;
        };
        let is_token = !method.is_empty()
            && method.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        let method = if is_token { method.to_ascii_uppercase() } else { "GET".to_owned() };
        let mut call = Call { method, url, name: name.to_owned(), ..Call::default() };
        for header in request.get("header").items().iter().filter(|header| !header.get("disabled").is_true())
        {
            let key = header.get("key").text().unwrap_or_default();
            if request::is_kept_header(key) {
                let value = self.text(header.get("value").scalar().unwrap_or_default().as_str());
                call.headers.push((key.to_owned(), value));
            }
        }
        self.body(request.get("body"), &mut call);
        let auth = if request.get("auth").is_null() { auth } else { request.get("auth") };
        self.auth(auth, &mut call);
        scripts::tests(item, &mut call, self.variables, &mut self.unconverted);
        if call.statuses.is_empty() {
            // A saved example.
            let codes = item
                .get("response")
                .items()
                .iter()
                .filter_map(|response| response.get("code").scalar()?.parse().ok());
            call.statuses = codes.into_iter().filter(|code| (200..300).contains(code)).take(1).collect();
        }
        Some(call)
    }

    fn url(&mut self, address: &Tree) -> Option<Url> {
        let raw = match address {
            Tree::Text(raw) => raw.clone(),
            address => address.get("raw").text().map_or_else(|| assembled(address), str::to_owned),
        };
        if raw.trim().is_empty() {
            return None;
        }
        let disabled: Vec<String> = address
            .get("query")
            .items()
            .iter()
            .filter(|pair| pair.get("disabled").is_true())
            .filter_map(|pair| pair.get("key").scalar())
            .collect();
        let text = self.text(raw.trim());
        let mut url = Url::parse(&text, self.plan);
        for segment in &mut url.path {
            let Some(variable) =
                segment.as_literal().and_then(|literal| literal.strip_prefix(':')).map(str::to_owned)
            else {
                continue;
            };
            let given = address
                .get("variable")
                .items()
                .iter()
                .find(|known| known.get("key").text() == Some(&variable));
            let value = given.and_then(|known| known.get("value").scalar()).unwrap_or_default();
            *segment = match value.contains("{{") {
                true => self.text(&value),
                false if value.is_empty() => {
                    let known = self.variables.text(&format!("{{{{{variable}}}}}"), self.plan);
                    if known.is_empty() { Text::literal(format!(":{variable}")) } else { known }
                }
                false => self.plan.constant(
                    &js::camel_case(&variable, "id"),
                    &js::upper_case(&variable, "ID"),
                    Text::literal(value),
                ),
            };
        }
        if !disabled.is_empty() {
            url.query.retain(|(name, _)| {
                name.as_literal().is_none_or(|name| !disabled.contains(&url::decode(name, true)))
            });
        }
        // Postman encodes what people typed.
        for (name, value) in &mut url.query {
            *name = encoded(name);
            if let Some(value) = value {
                *value = encoded(value);
            }
        }
        Some(url)
    }

    /// A text with Postman's variables.
    fn text(&mut self, text: &str) -> Text {
        self.variables.text(text, self.plan)
    }
}

/// The address from its parts, where there is no whole one.
fn assembled(address: &Tree) -> String {
    let joined = |tree: &Tree, by: &str| match tree {
        Tree::List(items) => items.iter().filter_map(Tree::scalar).collect::<Vec<_>>().join(by),
        tree => tree.scalar().unwrap_or_default(),
    };
    let host = joined(address.get("host"), ".");
    if host.is_empty() {
        return String::new();
    }
    let protocol = address.get("protocol").text().map_or(String::new(), |protocol| format!("{protocol}://"));
    let port = address.get("port").scalar().map_or(String::new(), |port| format!(":{port}"));
    let pairs = address.get("query").items().iter().filter_map(|pair| {
        Some(format!("{}={}", pair.get("key").scalar()?, pair.get("value").scalar().unwrap_or_default()))
    });
    let query = pairs.collect::<Vec<_>>().join("&");
    let query = if query.is_empty() { query } else { format!("?{query}") };
    format!("{protocol}{host}{port}/{}{query}", joined(address.get("path"), "/"))
}

/// A literal with spaces and other characters that an address cannot have, encoded; escapes stay.
fn encoded(text: &Text) -> Text {
    let Some(literal) = text.as_literal() else { return text.clone() };
    let letter = |letter: char| match letter.is_ascii_graphic() && !"\"<>\\^`{|}#".contains(letter) {
        true => letter.to_string(),
        false => url::encode(&letter.to_string()),
    };
    Text::literal(literal.chars().map(letter).collect::<String>())
}
