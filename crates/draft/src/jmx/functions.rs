//! `${…}`: variables of the plan, of CSV files and of extractors, and JMeter's functions.

use super::xml::Element;
use crate::js;
use crate::plan::{Plan, unused};
use crate::secrets::is_secret_field;
use crate::text::Text;

/// Levels of functions within functions.
const DEPTH_MAX: usize = 16;

/// The meanings of variables.
#[derive(Default)]
pub(super) struct Names {
    /// Of the plan: constants.
    constants: Vec<(String, Text)>,
    /// Of the scenario: columns of files and what extractors set.
    of_flow: Vec<(String, Text)>,
    /// The variables of extractors.
    extracted: Vec<String>,
    functions: Vec<String>,
}

/// Adds user-defined variables.
pub(super) fn define(arguments: Option<&Element>, names: &mut Names, plan: &mut Plan) {
    let Some(list) = arguments.and_then(|arguments| arguments.property_element("Arguments.arguments")) else {
        return;
    };
    for argument in &list.children {
        let name = argument.property("Argument.name");
        if name.is_empty() || names.constants.iter().any(|(known, _)| known == name) {
            continue;
        }
        let raw = argument.property("Argument.value");
        let code = match is_secret_field(name, raw) && !raw.contains("${") {
            true => plan.secret(&js::upper_case(name, "SECRET"), format!("variable {name}")),
            false => {
                let value = names.text(raw, plan);
                // What differs between iterations cannot be a constant.
                match value.is_variable() {
                    true => value,
                    false => {
                        plan.constant(&js::camel_case(name, "value"), &js::upper_case(name, "VALUE"), value)
                    }
                }
            }
        };
        names.constants.push((name.to_owned(), code));
    }
}

impl Names {
    pub(super) fn begin_flow(&mut self) {
        self.of_flow.clear();
        self.extracted.clear();
    }

    /// The variables that responses set.
    pub(super) fn end_flow(&mut self) -> Vec<(String, Text)> {
        std::mem::take(&mut self.extracted).into_iter().map(|name| (name, Text::default())).collect()
    }

    /// Declares what extractors below an element set, so that what is used before has a name, too.
    pub(super) fn declare_extracted(&mut self, tree: Option<&Element>, plan: &Plan) {
        let Some(tree) = tree else { return };
        for child in &tree.children {
            for name in super::extractors::names(child) {
                self.extracted(&name, plan);
            }
            if child.tag == "hashTree" {
                self.declare_extracted(Some(child), plan);
            }
        }
    }

    /// The variable of an extractor.
    pub(super) fn extracted(&mut self, name: &str, plan: &Plan) -> String {
        if let Some((_, code)) = self.of_flow.iter().find(|(known, _)| known == name) {
            return code.js();
        }
        let taken = &self.extracted;
        let variable = unused(&js::camel_case(name, "value"), |wish| {
            taken.iter().any(|known| known == wish) || plan.free_name(wish) != wish
        });
        self.extracted.push(variable.clone());
        self.of_flow.push((name.to_owned(), Text::code(variable.clone())));
        variable
    }

    /// A column of a file.
    pub(super) fn column(&mut self, name: &str, code: String) {
        self.of_flow.retain(|(known, _)| known != name);
        self.of_flow.push((name.to_owned(), Text::code(code)));
    }

    /// A text with its variables and functions as expressions.
    pub(super) fn text(&mut self, text: &str, plan: &mut Plan) -> Text {
        self.text_at(text, plan, 0)
    }

    fn text_at(&mut self, text: &str, plan: &mut Plan, depth: usize) -> Text {
        let mut out = Text::default();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let Some(end) = closing(after).filter(|_| depth < DEPTH_MAX) else { break };
            out.push_literal(before);
            let inside = &after[..end];
            out.push(match inside.starts_with("__") {
                true => self.function(inside, plan, depth),
                false => self.variable(inside, plan),
            });
            rest = &after[end + 1..];
        }
        out.push_literal(rest);
        out
    }

    fn variable(&mut self, name: &str, plan: &mut Plan) -> Text {
        let name = name.trim();
        let known = self.of_flow.iter().chain(&self.constants).find(|(known, _)| known == name);
        if let Some((_, code)) = known {
            return code.clone();
        }
        let code = plan.unset(name);
        self.constants.push((name.to_owned(), code.clone()));
        code
    }

    fn function(&mut self, call: &str, plan: &mut Plan, depth: usize) -> Text {
        let (name, arguments) = match call.split_once('(') {
            Some((name, rest)) => (name, rest.strip_suffix(')').unwrap_or(rest)),
            None => (call, ""),
        };
        let raw: Vec<&str> = arguments_of(arguments);
        let mut argument = |nth: usize| {
            raw.get(nth).map(|text| self.text_at(text.trim(), plan, depth + 1)).unwrap_or_default()
        };
        match name.trim() {
            "__P" | "__property" => {
                // `__property` has the name of a variable between them.
                let (property, default) = (argument(0), argument(raw.len().max(2) - 1));
                let property = property.outline();
                let default =
                    if raw.len() < 2 { Text::literal(if name == "__P" { "1" } else { "" }) } else { default };
                plan.constant(
                    &js::camel_case(&property, "value"),
                    &js::upper_case(&property, "VALUE"),
                    default,
                )
            }
            "__env" => {
                let (variable, default) = (argument(0).outline(), argument(2));
                plan.constant(
                    &js::camel_case(&variable, "value"),
                    &js::upper_case(&variable, "VALUE"),
                    default,
                )
            }
            "__UUID" => Text::code("crypto.randomUUID()"),
            "__threadNum" => Text::code("exec.vu.idInTest"),
            "__counter" => Text::code("(exec.vu.iterationInScenario + 1)"),
            "__time" if argument(0).is_empty() => Text::code("Date.now()"),
            "__time" if argument(0).as_literal() == Some("/1000") => {
                Text::code("Math.floor(Date.now() / 1000)")
            }
            "__Random" => {
                let (from, to) = (argument(0).js(), argument(1).js());
                Text::code(format!(
                    "(Number({from}) + Math.floor(Math.random() * (Number({to}) - Number({from}) + 1)))"
                ))
            }
            "__RandomString" => Text::code("Math.random().toString(36).slice(2)"),
            "__urlencode" => Text::code(format!("encodeURIComponent({})", argument(0).js_string())),
            "__urldecode" => Text::code(format!("decodeURIComponent({})", argument(0).js_string())),
            "__V" | "__evalVar" | "__eval" => argument(0),
            other => {
                let other = js::label(other);
                if !self.functions.contains(&other) {
                    self.functions.push(other);
                }
                Text::literal("text")
            }
        }
    }

    /// Notes what has no value.
    pub(super) fn note(&mut self, plan: &mut Plan) {
        for name in &self.functions {
            plan.notes.add(format!("function {name} is the word \"text\" in the script"));
        }
    }
}

/// The place of the brace that closes what begins here.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Arguments between commas that stand in no braces or parentheses.
fn arguments_of(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '{' | '(' => depth += 1,
            '}' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
