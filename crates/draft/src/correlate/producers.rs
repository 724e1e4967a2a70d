//! Responses that returned a value, and how a script extracts it.

use html::{Document, Limits, Selector};
use rustc_hash::{FxHashMap, FxHashSet};

use super::slots::{Slot, SlotKind};
use super::words::{is_distinctive, is_id_name, is_short_id, singular, thing};
use super::{Exchange, boundary};
use crate::js;
use crate::tree::Tree;
use crate::url;

/// Leaves of one JSON response that are looked at.
const LEAVES_MAX: usize = 100_000;

/// Values for which the texts of responses are searched; a value that is a field of JSON or of a form needs no search.
const SEARCHES_MAX: usize = 1_000;

/// A response that returned a value.
#[derive(Clone, Debug)]
pub(super) struct Producer {
    pub(super) exchange: usize,
    /// An expression of `response`.
    pub(super) code: String,
    /// The name of the variable to be.
    pub(super) name: String,
    /// The field's name; empty where it has none.
    key: String,
    /// The things that its place speaks of.
    things: Vec<String>,
}

/// All that returned a value of a slot.
pub(super) struct Producers {
    by_value: FxHashMap<String, Vec<Producer>>,
}

impl Producers {
    pub(super) fn search(exchanges: &[Exchange], slots: &[Slot]) -> Producers {
        let wanted: FxHashSet<&str> = slots
            .iter()
            .map(|slot| slot.value.as_str())
            .filter(|value| is_distinctive(value) || is_short_id(value))
            .collect();
        let mut found = Producers { by_value: FxHashMap::default() };
        for (nth, exchange) in exchanges.iter().enumerate() {
            let mut search = Search { exchange: nth, of: exchange, wanted: &wanted, found: &mut found };
            search.fields();
        }
        found.search_texts(exchanges, slots);
        found
    }

    /// The producer of a slot's value: the first one, if the client had not sent the value before.
    pub(super) fn of(&self, slot: &Slot, slots: &[Slot]) -> Option<&Producer> {
        let candidates = self.by_value.get(&slot.value)?;
        let is_long = is_distinctive(&slot.value);
        let fits = |producer: &&Producer, slot: &Slot| is_long || speaks_of_same(producer, slot);
        let producer =
            candidates.iter().find(|producer| producer.exchange < slot.exchange && fits(producer, slot))?;
        let sent_first = slots.iter().find(|other| other.value == slot.value && fits(&producer, other))?;
        (sent_first.exchange > producer.exchange).then_some(producer)
    }

    /// Looks for distinctive values that are no field anywhere in what came before their first use.
    fn search_texts(&mut self, exchanges: &[Exchange], slots: &[Slot]) {
        let mut searched: FxHashSet<&str> = FxHashSet::default();
        for slot in slots {
            let value = slot.value.as_str();
            let is_path_id = slot.kind == SlotKind::Path && is_short_id(value);
            if self.by_value.contains_key(value)
                || !(is_distinctive(value) || is_path_id)
                || searched.len() >= SEARCHES_MAX
                || !searched.insert(value)
            {
                continue;
            }
            let before = exchanges[..slot.exchange].iter().enumerate();
            let found = before.filter_map(|(nth, exchange)| match is_distinctive(value) {
                true => in_texts(nth, exchange, slot),
                false => in_links(nth, exchange, slot),
            });
            if let Some(producer) = found.into_iter().next() {
                self.by_value.insert(value.to_owned(), vec![producer]);
            }
        }
    }
}

/// Whether the field of a response and the place in a request name the same thing.
fn speaks_of_same(producer: &Producer, slot: &Slot) -> bool {
    if slot.kind != SlotKind::Path && !is_id_name(&producer.key) {
        return false;
    }
    let thing = thing(&slot.name);
    !thing.is_empty() && producer.things.contains(&thing)
}

struct Search<'a> {
    exchange: usize,
    of: &'a Exchange,
    wanted: &'a FxHashSet<&'a str>,
    found: &'a mut Producers,
}

impl Search<'_> {
    fn fields(&mut self) {
        let response = &self.of.response;
        let body = response.body.trim_start();
        if response.content_type.contains("json") || body.starts_with(['{', '[']) {
            if let Ok(tree) = Tree::json(&response.body) {
                let resource = self.resource();
                let mut leaves = 0;
                self.json(&tree, "", "", &resource, &mut leaves);
            }
        } else if response.content_type.contains("html") {
            self.html();
        }
        for (name, value) in &response.headers {
            let is_known = ["set-cookie", "date", "content-type", "content-length", "location"]
                .contains(&name.to_ascii_lowercase().as_str());
            if !is_known {
                self.add(
                    value,
                    format!("response.headers[{}]", js::quoted(&canonical(name))),
                    name,
                    name,
                    Vec::new(),
                );
            }
        }
        for (name, value) in &response.cookies {
            let jar = format!(
                "http.cookieJar().cookiesForURL({})[{}][0]",
                self.of.call.url.base.js_string(),
                js::quoted(name)
            );
            self.add(value, jar.clone(), name, name, Vec::new());
            let decoded = url::decode(value, false);
            if decoded != *value {
                self.add(&decoded, format!("decodeURIComponent({jar})"), name, name, Vec::new());
            }
        }
    }

    /// The thing that the request's address speaks of: `/orders/17` → `order`.
    fn resource(&self) -> String {
        let segments = self.of.call.url.path.iter().rev().filter_map(|segment| segment.as_literal());
        let mut names = segments
            .filter(|segment| !segment.is_empty() && !is_short_id(segment) && !is_distinctive(segment));
        names.next().map(thing).unwrap_or_default()
    }

    /// Visits the leaves; `parent` is the name of the nearest member above, and the depth is that of the parser.
    fn json(&mut self, tree: &Tree, path: &str, key: &str, parent: &str, leaves: &mut usize) {
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        match tree {
            Tree::List(items) => {
                for (nth, item) in items.iter().enumerate() {
                    let parent = if key.is_empty() { parent } else { key };
                    self.json(item, &below(&nth.to_string()), "", parent, leaves);
                }
            }
            Tree::Map(members) => {
                for (name, value) in members {
                    let parent = if key.is_empty() { parent } else { key };
                    self.json(value, &below(&escaped(name)), name, parent, leaves);
                }
            }
            Tree::Text(text) | Tree::Number(text) => {
                *leaves += 1;
                if *leaves > LEAVES_MAX || path.is_empty() {
                    return;
                }
                let code = format!("response.json({})", js::quoted(path));
                let own = thing(key);
                let name = if own.is_empty() && !parent.is_empty() {
                    format!("{} {key}", singular(parent))
                } else {
                    key.to_owned()
                };
                let name = if name.trim().is_empty() { singular(parent) } else { name };
                self.add(text, code, &name, key, vec![own, thing(parent), self.resource()]);
            }
            Tree::Null | Tree::Bool(_) => {}
        }
    }

    fn html(&mut self) {
        let document = Document::parse_within(&self.of.response.body, Limits::default());
        for (element, name, value) in
            [("input", "name", "value"), ("meta", "name", "content"), ("button", "name", "value")]
        {
            let Ok(selector) = Selector::parse(&format!("{element}[{name}]")) else { continue };
            let root = [html::NodeId::ROOT];
            let mut seen: FxHashSet<&str> = FxHashSet::default();
            for id in document.find(&root, &selector) {
                let (Some(field), Some(content)) =
                    (document.attribute(id, name), document.attribute(id, value))
                else {
                    continue;
                };
                // A script gets the first element of a name.
                if !seen.insert(field) || field.contains(['"', '\\', '\n']) {
                    continue;
                }
                let selector = js::quoted(&format!("{element}[{name}=\"{field}\"]"));
                let code = format!("response.html({selector}).attr('{value}')");
                self.add(content, code, field, field, vec![thing(field)]);
            }
        }
    }

    fn add(&mut self, value: &str, code: String, name: &str, key: &str, things: Vec<String>) {
        if !self.wanted.contains(value) {
            return;
        }
        let things = things.into_iter().filter(|thing| !thing.is_empty()).collect();
        let producer =
            Producer { exchange: self.exchange, code, name: name.to_owned(), key: key.to_owned(), things };
        self.found.by_value.entry(value.to_owned()).or_default().push(producer);
    }
}

/// The value in the last address, in `Location` or in the body, by the text around it.
fn in_texts(nth: usize, exchange: &Exchange, slot: &Slot) -> Option<Producer> {
    let response = &exchange.response;
    let location = crate::request::header(&response.headers, "location").unwrap_or_default();
    let spellings = [slot.value.clone(), url::encode(&slot.value)];
    let places = [
        ("response.url", response.final_url.as_str()),
        ("response.headers['Location']", location),
        ("response.body", response.body.as_str()),
    ];
    let code = places
        .iter()
        .find_map(|(expression, text)| boundary::between(expression, text, &spellings[0]))
        .or_else(|| {
            let encoded = (spellings[0] != spellings[1]).then_some(&spellings[1])?;
            let code =
                places.iter().find_map(|(expression, text)| boundary::between(expression, text, encoded))?;
            Some(format!("decodeURIComponent({code})"))
        })?;
    Some(producer(nth, code, slot))
}

/// A short identifier in an address of the response: `/orders/17`, if it is the first such address.
fn in_links(nth: usize, exchange: &Exchange, slot: &Slot) -> Option<Producer> {
    if slot.name.is_empty() {
        return None;
    }
    let response = &exchange.response;
    let location = crate::request::header(&response.headers, "location").unwrap_or_default();
    let left = format!("/{}/", slot.name);
    let places = [
        ("response.url", response.final_url.as_str()),
        ("response.headers['Location']", location),
        ("response.body", response.body.as_str()),
    ];
    places.iter().find_map(|(expression, text)| {
        let (_, rest) = text.split_once(left.as_str())?;
        let rest = rest.strip_prefix(slot.value.as_str())?;
        let right = match rest.chars().next() {
            None => String::new(),
            Some(next) if next.is_alphanumeric() || next == '-' || next == '_' => return None,
            Some(next) => next.to_string(),
        };
        let code = format!("between({expression}, {}, {})", js::quoted(&left), js::quoted(&right));
        Some(producer(nth, code, slot))
    })
}

fn producer(nth: usize, code: String, slot: &Slot) -> Producer {
    let thing = thing(&slot.name);
    let name = match slot.kind {
        SlotKind::Path if !thing.is_empty() => format!("{thing} id"),
        SlotKind::Header if slot.name.eq_ignore_ascii_case("authorization") => "access token".to_owned(),
        _ => slot.name.clone(),
    };
    Producer { exchange: nth, code, name, key: "id".to_owned(), things: vec![thing] }
}

/// A member's name in a path of GJSON, which gives some characters a meaning.
fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for letter in name.chars() {
        if matches!(
            letter,
            '.' | '*'
                | '?'
                | '|'
                | '#'
                | '@'
                | '!'
                | '{'
                | '}'
                | '['
                | ']'
                | '('
                | ')'
                | '='
                | '<'
                | '>'
                | '%'
                | '"'
                | '\\'
                | ':'
                | ','
        ) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// A header's name as k6 shows it: `X-Csrf-Token`.
pub(crate) fn canonical(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters.map(|letter| letter.to_ascii_lowercase())).collect::<String>()
    };
    name.split('-').map(word).collect::<Vec<_>>().join("-")
}
