//! Scripts of Postman: expected statuses and values of responses that they keep are converted, the rest is named.

use super::variables::Variables;
use crate::js;
use crate::plan::{Call, Capture, Notes, Plan};
use crate::tree::Tree;

/// Calls that keep a value for later requests.
const SETTERS: &[&str] = &[
    "pm.environment.set(",
    "pm.collectionVariables.set(",
    "pm.globals.set(",
    "pm.variables.set(",
    "postman.setEnvironmentVariable(",
    "postman.setGlobalVariable(",
];

/// Expressions of the response's JSON.
const JSON_BODIES: &[&str] =
    &["pm.response.json()", "JSON.parse(responseBody)", "JSON.parse(pm.response.text())"];

/// Variables of a script that are followed.
const BODIES_MAX: usize = 64;

/// Names of the scripts of an item.
const PRE_REQUEST: &str = "prerequest";
const TEST: &str = "test";

/// Notes the scripts of the collection or of a folder, which are not converted.
pub(super) fn named(holder: &Tree, place: &str, plan: &mut Plan) {
    for (listen, what) in [(PRE_REQUEST, "pre-request script"), (TEST, "test script")] {
        if has_code(&source(holder, listen)) {
            plan.notes.add(format!("the {what} of {place} was not converted"));
        }
    }
}

/// Variables that test scripts set from responses.
pub(super) fn set_variables(tree: &Tree) -> Vec<String> {
    let mut names = Vec::new();
    visit(tree, &mut |item| {
        for (name, _) in captures(&source(item, TEST)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    });
    names
}

fn visit(tree: &Tree, act: &mut dyn FnMut(&Tree)) {
    for item in tree.get("item").items() {
        act(item);
        visit(item, act);
    }
}

/// Names of requests whose scripts are not converted.
#[derive(Default)]
pub(super) struct Unconverted {
    pre_request: Vec<String>,
    test: Vec<String>,
}

impl Unconverted {
    pub(super) fn note(&self, notes: &mut Notes) {
        for (names, what) in [
            (&self.pre_request, "pre-request scripts were not converted"),
            (&self.test, "test scripts were converted in part (expected statuses and values kept from JSON)"),
        ] {
            const SHOWN_MAX: usize = 5;
            let more = names.len().saturating_sub(SHOWN_MAX);
            let shown = names.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join(", ");
            match (names.is_empty(), more) {
                (true, _) => {}
                (false, 0) => notes.add(format!("{what}: {shown}")),
                (false, more) => notes.add(format!("{what}: {shown} and {more} more")),
            }
        }
    }
}

/// Converts the scripts of a request.
pub(super) fn tests(item: &Tree, call: &mut Call, variables: &Variables, unconverted: &mut Unconverted) {
    if has_code(&source(item, PRE_REQUEST)) {
        unconverted.pre_request.push(js::label(&call.name));
    }
    let text = source(item, TEST);
    if !has_code(&text) {
        return;
    }
    call.statuses.extend(status(&text));
    let mut converted = call.statuses.len();
    for (variable, code) in captures(&text) {
        if let Some(name) = variables.set(&variable) {
            call.captures.push(Capture { variable: name.to_owned(), code });
            converted += 1;
        }
    }
    let calls = text.matches("pm.test(").count().max(text.matches("tests[").count())
        + SETTERS.iter().map(|setter| text.matches(setter).count()).sum::<usize>();
    if calls > converted || calls == 0 {
        unconverted.test.push(js::label(&call.name));
    }
}

fn source(item: &Tree, listen: &str) -> String {
    let events = item.get("event").items().iter().filter(|event| event.get("listen").text() == Some(listen));
    let lines = events.flat_map(|event| match event.at(&["script", "exec"]) {
        Tree::List(lines) => lines.iter().filter_map(Tree::text).collect(),
        exec => exec.text().into_iter().collect::<Vec<_>>(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn has_code(text: &str) -> bool {
    text.lines()
        .map(str::trim)
        .any(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with("/*"))
}

/// `pm.response.to.have.status(201)`, `responseCode.code === 201`
fn status(text: &str) -> Option<u16> {
    let after = [
        "to.have.status(",
        "responseCode.code === ",
        "responseCode.code == ",
        "pm.response.code).to.eql(",
        "pm.response.code).to.equal(",
    ];
    let number = |start: &str| {
        let (_, rest) = text.split_once(start)?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok().filter(|status| (100..600).contains(status))
    };
    after.iter().find_map(|start| number(start))
}

/// Variables with the expressions of the response that they are set to.
fn captures(text: &str) -> Vec<(String, String)> {
    let bodies = bodies(text);
    let mut found: Vec<(String, String)> = Vec::new();
    for setter in SETTERS {
        for (at, _) in text.match_indices(setter) {
            let rest = text[at + setter.len()..].trim_start();
            let Some(quote) = rest.chars().next().filter(|quote| ['"', '\''].contains(quote)) else {
                continue;
            };
            let Some((name, rest)) = rest[1..].split_once(quote) else { continue };
            let Some(value) = rest.trim_start().strip_prefix(',') else { continue };
            if let Some(path) = path(value.trim_start(), &bodies)
                && !found.iter().any(|(known, _)| known == name)
            {
                found.push((name.to_owned(), format!("response.json({})", js::quoted(&path))));
            }
        }
    }
    found
}

/// Expressions and variables that hold the response's JSON or a part of it, with the part's path.
fn bodies(text: &str) -> Vec<(String, String)> {
    let mut known: Vec<(String, String)> =
        JSON_BODIES.iter().map(|body| ((*body).to_owned(), String::new())).collect();
    for line in text.split(['\n', ';']) {
        let Some((left, right)) = line.split_once('=') else { continue };
        let name = left.trim().rsplit(char::is_whitespace).next().unwrap_or_default();
        let is_name = !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '$');
        // `json.user || {}`
        let right = right.split("||").next().unwrap_or(right).trim();
        if let Some(path) = whole_path(right, &known).filter(|_| is_name && known.len() < BODIES_MAX) {
            known.push((name.to_owned(), path));
        }
    }
    known
}

/// `json.a.b[0].c)` → `a.b.0.c`
fn path(text: &str, bodies: &[(String, String)]) -> Option<String> {
    let (path, rest) = path_and_rest(text, bodies)?;
    (!path.is_empty() && rest.trim_start().starts_with(')')).then_some(path)
}

/// The same for an expression that is nothing else.
fn whole_path(text: &str, bodies: &[(String, String)]) -> Option<String> {
    let (path, rest) = path_and_rest(text, bodies)?;
    rest.trim().is_empty().then_some(path)
}

fn path_and_rest<'a>(text: &'a str, bodies: &[(String, String)]) -> Option<(String, &'a str)> {
    let (prefix, rest) = bodies.iter().rev().find_map(|(body, prefix)| {
        let rest = text.strip_prefix(body.as_str())?;
        let is_longer =
            rest.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '$');
        (!is_longer).then_some((prefix, rest))
    })?;
    let mut parts: Vec<String> = if prefix.is_empty() { Vec::new() } else { vec![prefix.clone()] };
    let mut rest = rest;
    loop {
        if let Some(after) = rest.strip_prefix("?.").or(rest.strip_prefix('.')) {
            let end = after
                .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != '$')
                .unwrap_or(after.len());
            if end == 0 {
                return None;
            }
            parts.push(after[..end].to_owned());
            rest = &after[end..];
        } else if let Some(after) = rest.strip_prefix('[') {
            let (inside, after) = after.split_once(']')?;
            parts.push(inside.trim_matches(['"', '\'']).replace('.', "\\."));
            rest = after;
        } else {
            return Some((parts.join("."), rest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_scripts_keep_are_found() {
        let script = "const res = pm.response.json();\npm.environment.set(\"token\", res.data.tokens[0].value);\n\
                      pm.collectionVariables.set('id', pm.response.json().id);\npm.globals.set('x', compute(res));\n\
                      var user = res.user || {};\npm.globals.set('name', user.name);";
        assert_eq!(
            captures(script),
            [
                ("token".to_owned(), "response.json('data.tokens.0.value')".to_owned()),
                ("id".to_owned(), "response.json('id')".to_owned()),
                ("name".to_owned(), "response.json('user.name')".to_owned()),
            ]
        );
        assert_eq!(status("pm.test(\"x\", () => pm.response.to.have.status(201));"), Some(201));
        assert_eq!(status("nothing"), None);
    }
}
