//! Postman's variables: those of the collection, those that scripts set, and dynamic ones.

use crate::js;
use crate::plan::Plan;
use crate::secrets::is_secret_field;
use crate::text::Text;
use crate::tree::Tree;

/// Dynamic variables that an expression of JavaScript stands for.
const DYNAMIC: &[(&str, &str)] = &[
    ("$guid", "crypto.randomUUID()"),
    ("$randomUUID", "crypto.randomUUID()"),
    ("$timestamp", "Math.floor(Date.now() / 1000)"),
    ("$isoTimestamp", "new Date().toISOString()"),
    ("$randomInt", "Math.floor(Math.random() * 1001)"),
    ("$randomBoolean", "(Math.random() < 0.5)"),
    ("$randomAlphaNumeric", "Math.random().toString(36).slice(2, 3)"),
    ("$randomPassword", "crypto.randomUUID().slice(0, 15)"),
    ("$randomUserName", "`user${Math.floor(Math.random() * 1e6)}`"),
    ("$randomEmail", "`user${Math.floor(Math.random() * 1e6)}@example.com`"),
    ("$randomExampleEmail", "`user${Math.floor(Math.random() * 1e6)}@example.com`"),
    ("$randomFirstName", "['Ana', 'Ben', 'Chidi', 'Dana'][Math.floor(Math.random() * 4)]"),
    ("$randomLastName", "['Kim', 'Garcia', 'Okafor', 'Novak'][Math.floor(Math.random() * 4)]"),
    ("$randomFullName", "['Ana Kim', 'Ben Garcia', 'Chidi Okafor'][Math.floor(Math.random() * 3)]"),
    ("$randomColor", "['red', 'green', 'blue'][Math.floor(Math.random() * 3)]"),
    ("$randomPhoneNumber", "`555-${Math.floor(1000 + Math.random() * 9000)}`"),
];

/// The variables of a collection.
pub(super) struct Variables {
    known: Vec<Known>,
}

struct Known {
    name: String,
    /// The expression of a text.
    code: Text,
    /// The value in the source, for a variable that a script sets later.
    first: Text,
    /// The variable of the script, once a response sets it.
    set_by_script: Option<String>,
}

impl Variables {
    /// Those of the collection that are used. A variable that a script of Postman sets is one of the iteration.
    pub(super) fn new(tree: &Tree, plan: &mut Plan) -> Variables {
        let mut variables = Variables { known: Vec::new() };
        let set = super::scripts::set_variables(tree);
        let values: Vec<(String, Tree)> = tree
            .get("variable")
            .items()
            .iter()
            .filter(|variable| !variable.get("disabled").is_true())
            .filter_map(|variable| {
                let name = variable.get("key").text().or(variable.get("id").text())?.to_owned();
                Some((name, variable.get("value").clone()))
            })
            .collect();
        let text = |value: &Tree| value.scalar().unwrap_or_default();
        // A value can name other variables, which come first.
        for (name, _) in values.iter().filter(|(name, _)| set.contains(name)) {
            let first = values
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, value)| text(value))
                .unwrap_or_default();
            variables.add_set(name, first, plan);
        }
        for name in set.iter().filter(|name| !values.iter().any(|(known, _)| known == *name)) {
            variables.add_set(name, String::new(), plan);
        }
        for (name, value) in &values {
            variables.resolve(name, &text(value), &values, plan, 0);
        }
        variables
    }

    fn add_set(&mut self, name: &str, first: String, plan: &Plan) {
        let is_secret = is_secret_field(name, &first);
        let taken: Vec<String> = self.known.iter().filter_map(|known| known.set_by_script.clone()).collect();
        let variable = crate::plan::unused(&js::camel_case(name, "value"), |name| {
            taken.iter().any(|known| known == name) || plan.free_name(name) != name
        });
        // A secret of a session that is over is of no use.
        let first = if is_secret || first.contains("{{") { Text::default() } else { Text::literal(first) };
        self.known.push(Known {
            name: name.to_owned(),
            code: Text::code(variable.clone()),
            first,
            set_by_script: Some(variable),
        });
    }

    fn resolve(&mut self, name: &str, value: &str, values: &[(String, Tree)], plan: &mut Plan, depth: usize) {
        const DEPTH_MAX: usize = 8;
        if depth > DEPTH_MAX || self.known.iter().any(|known| known.name == name) {
            return;
        }
        for other in names(value) {
            if let Some((_, below)) = values.iter().find(|(known, _)| *known == other && known != name) {
                self.resolve(&other, &below.scalar().unwrap_or_default(), values, plan, depth + 1);
            }
        }
        let code = match is_secret_field(name, value) && !value.contains("{{") {
            true => plan.secret(&js::upper_case(name, "SECRET"), format!("variable {name}")),
            false if value.is_empty() => plan.unset(name),
            false => {
                let value = self.text(value, plan);
                let value = if value.is_variable() { Text::default() } else { value };
                plan.constant(&js::camel_case(name, "value"), &js::upper_case(name, "VALUE"), value)
            }
        };
        self.known.push(Known { name: name.to_owned(), code, first: Text::default(), set_by_script: None });
    }

    /// A text with its variables as expressions.
    pub(super) fn text(&mut self, text: &str, plan: &mut Plan) -> Text {
        let mut out = Text::default();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, behind)) = after.split_once("}}") else { break };
            if name.contains(['{', '\n']) {
                // `{{` of another language.
                out.push_literal(before);
                out.push_literal("{{");
                rest = after;
                continue;
            }
            out.push_literal(before);
            out.push(self.code(name.trim(), plan));
            rest = behind;
        }
        out.push_literal(rest);
        out
    }

    fn code(&mut self, name: &str, plan: &mut Plan) -> Text {
        if let Some(known) = self.known.iter().find(|known| known.name == name) {
            return known.code.clone();
        }
        if name.starts_with('$') {
            return match DYNAMIC.iter().find(|(known, _)| *known == name) {
                Some((_, code)) => Text::code(*code),
                None => {
                    plan.notes.add(format!(
                        "dynamic variable {{{{{}}}}} is the word \"text\" in the script",
                        js::label(name)
                    ));
                    Text::literal("text")
                }
            };
        }
        let code = plan.unset(name);
        self.known.push(Known {
            name: name.to_owned(),
            code: code.clone(),
            first: Text::default(),
            set_by_script: None,
        });
        code
    }

    /// The variable that a response sets.
    pub(super) fn set(&self, name: &str) -> Option<&str> {
        self.known.iter().find(|known| known.name == name)?.set_by_script.as_deref()
    }

    /// The variables of an iteration with their first values.
    pub(super) fn set_by_scripts(self) -> Vec<(String, Text)> {
        self.known.into_iter().filter_map(|known| Some((known.set_by_script?, known.first))).collect()
    }
}

fn names(text: &str) -> Vec<String> {
    let parts = text.split("{{").skip(1);
    parts.filter_map(|part| part.split_once("}}").map(|(name, _)| name.trim().to_owned())).collect()
}
