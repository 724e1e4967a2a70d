//! Assertions as checks.

use super::extractors::json_path;
use super::functions::Names;
use super::xml::Element;
use crate::js;
use crate::plan::{Call, Plan};

/// Bits of a response assertion's type.
const MATCH: u32 = 1;
const CONTAINS: u32 = 2;
const NOT: u32 = 4;
const EQUALS: u32 = 8;
const SUBSTRING: u32 = 16;
const OR: u32 = 32;

pub(super) fn is_assertion(tag: &str) -> bool {
    tag.ends_with("Assertion")
}

/// Adds an assertion to a request.
pub(super) fn add(element: &Element, call: &mut Call, names: &mut Names, plan: &mut Plan) {
    match element.tag.as_str() {
        "ResponseAssertion" => response(element, call, names, plan),
        "DurationAssertion" => {
            let limit = names.text(element.property("DurationAssertion.duration"), plan);
            call.checks.push((
                format!("{}: in time", element.name()),
                format!("r.timings.duration <= {}", super::timers::number(&limit)),
            ));
        }
        "JSONPathAssertion" => {
            let Some(path) = json_path(element.property("JSON_PATH")) else {
                return super::note(element, plan);
            };
            let value = format!("r.json({})", js::quoted(&path));
            let code = match element.is_set("JSONVALIDATION") {
                true => {
                    let expected = names.text(element.property("EXPECTED_VALUE"), plan);
                    format!("String({value}) === {}", expected.js_string())
                }
                false => format!("{value} !== undefined"),
            };
            call.checks.push((element.name().to_owned(), code));
        }
        _ => super::note(element, plan),
    }
}

fn response(element: &Element, call: &mut Call, names: &mut Names, plan: &mut Plan) {
    // JMeter's own spelling.
    let strings = element
        .property_element("Asserion.test_strings")
        .or(element.property_element("Assertion.test_strings"));
    let texts: Vec<&str> = strings
        .map(|list| list.children.iter().map(|child| child.text.as_str()).collect())
        .unwrap_or_default();
    let kind: u32 = element.property("Assertion.test_type").parse().unwrap_or(CONTAINS);
    let field = element.property("Assertion.test_field");
    let is_not = kind & NOT != 0;
    if field == "Assertion.response_code" && !is_not {
        let statuses: Vec<u16> = texts.iter().filter_map(|text| text.trim().parse().ok()).collect();
        if statuses.len() == texts.len() && !statuses.is_empty() {
            call.statuses.extend(statuses);
            return;
        }
    }
    let subject = match field {
        "Assertion.response_code" => "String(r.status)",
        "Assertion.response_data" | "Assertion.response_data_as_document" | "" => "String(r.body)",
        "Assertion.response_headers" => "JSON.stringify(r.headers)",
        "Assertion.response_message" => "String(r.status_text)",
        _ => return super::note(element, plan),
    };
    let tests = texts.iter().map(|text| {
        let text = names.text(text, plan).js_string();
        let test = match kind & (MATCH | CONTAINS | EQUALS | SUBSTRING) {
            EQUALS => format!("{subject} === {text}"),
            SUBSTRING => format!("{subject}.includes({text})"),
            MATCH => format!("new RegExp(`^(?:${{{text}}})$`).test({subject})"),
            _ => format!("new RegExp({text}).test({subject})"),
        };
        if is_not { format!("!({test})") } else { test }
    });
    let tests: Vec<String> = tests.collect();
    if !tests.is_empty() {
        let joined = tests.join(if kind & OR != 0 { " || " } else { " && " });
        call.checks.push((element.name().to_owned(), joined));
    }
}
