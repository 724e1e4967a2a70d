//! The modules of a crate depend on each other without a cycle.
//!
//! The graph has one node per top-level module, and an edge for each path that begins with `crate::`, or with `super::` in a module's
//! own file. Names that the crate root re-exports count for the module that defines them. Tests may look anywhere.

use std::collections::{BTreeMap, BTreeSet};

use super::files::TextFile;

/// Crates whose modules form no cycle.
const ACYCLIC: &[&str] = &["pages", "plimsoll", "runs", "script", "session", "wire"];

/// The beginning of a file's tests.
const TESTS: &str = "#[cfg(test)]\nmod ";

type Graph = BTreeMap<String, BTreeSet<String>>;

/// Reports modules that depend on each other in a circle.
pub(super) fn without_cycles(files: &[TextFile]) -> anyhow::Result<Vec<String>> {
    let complaint = |name: &&str| {
        let of_crate: Vec<(&str, &str)> = sources(files, name).collect();
        let cycle = cycle(&graph(&of_crate))?;
        Some(format!("crates/{name}: modules depend on each other in a circle: {}", cycle.join(" -> ")))
    };
    Ok(ACYCLIC.iter().filter_map(complaint).collect())
}

/// The source files of a crate: their paths below `src`, and their texts without tests.
fn sources<'a>(files: &'a [TextFile], name: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let prefix = format!("crates/{name}/src/");
    files.iter().filter_map(move |file| {
        let path = file.path.strip_prefix(&prefix).filter(|path| path.ends_with(".rs"))?;
        let is_test = path.ends_with("tests.rs") || path.contains("/tests/") || path.ends_with("testing.rs");
        (!is_test).then(|| (path, file.text.split(TESTS).next().unwrap_or_default()))
    })
}

/// Which module uses which others.
fn graph(sources: &[(&str, &str)]) -> Graph {
    let modules: BTreeSet<&str> = sources.iter().map(|(path, _)| module(path)).collect();
    let root = sources.iter().find(|(path, _)| *path == "lib.rs").map_or("", |(_, text)| *text);
    let exported = exported(root, &modules);
    let mut graph = Graph::new();
    for (path, text) in sources.iter().filter(|(path, _)| !["lib.rs", "main.rs"].contains(path)) {
        let from = module(path);
        let is_own_file = !path.contains('/') || path.ends_with("/mod.rs") && path.matches('/').count() == 1;
        let mut names = names_after("crate::", text);
        if is_own_file {
            names.extend(names_after("super::", text));
        }
        let to = names
            .into_iter()
            .filter_map(|name| modules.get(name).copied().or_else(|| exported.get(name).map(String::as_str)));
        let to = to.filter(|to| *to != from).map(str::to_owned);
        graph.entry(from.to_owned()).or_default().extend(to);
    }
    graph
}

/// The top-level module of a file.
fn module(path: &str) -> &str {
    path.split('/').next().unwrap_or_default().trim_end_matches(".rs")
}

/// Names that the root re-exports, with the module of each.
fn exported(root: &str, modules: &BTreeSet<&str>) -> BTreeMap<String, String> {
    let mut exported = BTreeMap::new();
    for item in root.split(';').filter_map(|item| item.split_once("use ").map(|(_, path)| path.trim())) {
        let Some((from, names)) = item.split_once("::").filter(|(from, _)| modules.contains(from)) else {
            continue;
        };
        for name in names.trim_matches(['{', '}', ' ', '\n']).split(',') {
            let name = name.trim().rsplit([' ', ':']).next().unwrap_or_default();
            exported.insert(name.to_owned(), from.to_owned());
        }
    }
    exported
}

/// The first names of all paths that begin with `prefix`, those in braces one by one.
fn names_after<'a>(prefix: &str, text: &'a str) -> Vec<&'a str> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(prefix).filter(|(at, _)| !is_comment(text, *at)) {
        let is_whole =
            !text[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':');
        let rest = &text[at + prefix.len()..];
        if !is_whole {
            continue;
        }
        match rest.strip_prefix('{') {
            Some(group) => found.extend(group_names(group)),
            None => found.push(first_name(rest)),
        }
    }
    found
}

/// Whether a comment stands before this place on its line.
fn is_comment(text: &str, at: usize) -> bool {
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    line.trim_start().starts_with("//")
}

/// The first names of the paths in a group, up to its closing brace.
fn group_names(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => {
                found.push(first_name(&group[start..at]));
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(first_name(&group[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

fn first_name(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    &text[..end]
}

/// A cycle of modules, its first repeated at its end.
fn cycle(graph: &Graph) -> Option<Vec<String>> {
    let mut done = BTreeSet::new();
    graph.keys().find_map(|from| walk(graph, from, &mut Vec::new(), &mut done))
}

fn walk<'a>(
    graph: &'a Graph,
    at: &'a str,
    path: &mut Vec<&'a str>,
    done: &mut BTreeSet<&'a str>,
) -> Option<Vec<String>> {
    if let Some(seen) = path.iter().position(|name| *name == at) {
        return Some(path[seen..].iter().chain([&at]).map(|name| (*name).to_owned()).collect());
    }
    if done.contains(at) {
        return None;
    }
    path.push(at);
    let found = graph.get(at).into_iter().flatten().find_map(|to| walk(graph, to, path, done));
    path.pop();
    done.insert(at);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sources: &[(&str, &str)], expect: Option<&str>) {
        let found = cycle(&graph(sources)).map(|cycle| cycle.join(" "));
        assert_eq!(found.as_deref(), expect);
    }

    #[test]
    fn circles_are_found() {
        check(&[("a.rs", "use crate::b::X;"), ("b.rs", "fn f() {}")], None);
        check(&[("a.rs", "use crate::b::X;"), ("b.rs", "fn f() { crate::a::g() }")], Some("a b a"));
        check(
            &[("a.rs", "use crate::{c, b::{X, Y}};"), ("b/mod.rs", "use super::a;"), ("c.rs", "")],
            Some("a b a"),
        );
        check(&[("a.rs", "/// See [`crate::b`].\nuse std::fmt;"), ("b.rs", "use crate::a;")], None);
        check(&[("a/x.rs", "use super::y;"), ("a/y.rs", "use super::x;")], None);
    }

    #[test]
    fn names_of_the_root_stand_for_their_modules() {
        let root = ("lib.rs", "mod a;\nmod b;\npub use b::{Thing, other};\n");
        check(&[root, ("a.rs", "use crate::Thing;"), ("b.rs", "use crate::a;")], Some("a b a"));
        check(&[root, ("a.rs", "use crate::Unknown;"), ("b.rs", "use crate::a;")], None);
    }
}
