//! The documentation names every subcommand and no other, with flags that exist; help is wrapped at the terminal's width.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::harness::verb;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The guides, by their paths in the repository.
fn guides() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("docs/guide")).expect("guides");
    let names = entries.map(|entry| entry.expect("a file").file_name().into_string().expect("UTF-8"));
    names.map(|name| format!("docs/guide/{name}")).collect()
}

/// The subcommands that a help text lists.
fn listed(help: &str) -> Vec<String> {
    let (_, commands) = help.split_once("Commands:\n").unwrap_or_default();
    let lines = commands.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

fn help(words: &str, columns: usize) -> String {
    verb(&format!("{words} --help")).env("COLUMNS", &columns.to_string()).run().exits(0).out.clone()
}

/// The help of each verb, with that of the subcommands below it.
fn verbs() -> BTreeMap<String, String> {
    let of = |verb: String| {
        let mut text = help(&verb, 100);
        for below in listed(&text) {
            text += &help(&format!("{verb} {below}"), 100);
        }
        (verb, text)
    };
    listed(&help("", 100)).into_iter().map(of).collect()
}

/// The code of a page: blocks and spans.
fn code(page: &str) -> Vec<&str> {
    let mut code = Vec::new();
    for (nth, part) in page.split("```").enumerate() {
        match nth % 2 {
            1 => code.extend(part.lines().skip(1)),
            _ => {
                code.extend(part.split('`').enumerate().filter(|(nth, _)| nth % 2 == 1).map(|(_, code)| code))
            }
        }
    }
    code
}

/// The words of the commands in a piece of code that call the program.
fn commands(code: &str) -> impl Iterator<Item = Vec<&str>> {
    // After a word such as SETUSER or cd it is a name.
    let is_call = |before: &str| {
        let word = before.trim_end().rsplit(' ').next().unwrap_or_default();
        word.is_empty()
            || ["$", "--", "&&", "sudo"].contains(&word)
            || word.contains('=')
            || word.ends_with('(')
    };
    let starts = code.match_indices("plimsoll ").filter(move |(at, _)| is_call(&code[..*at]));
    starts.map(|(at, name)| {
        let command = code[at + name.len()..].split(['\n', '|', '#', ';', '&']).next().unwrap_or_default();
        command.split_whitespace().collect()
    })
}

#[test]
fn the_readme_names_every_verb_and_every_guide() {
    let readme = read("README.md");
    for name in listed(&help("", 100)) {
        let row =
            readme.lines().find(|line| line.starts_with('|') && line.contains(&format!("`plimsoll {name}`")));
        assert!(row.is_some_and(|row| row.contains("](")), "`plimsoll {name}` is in no table with a link");
    }
    for guide in guides() {
        assert!(readme.contains(&format!("]({guide}")), "{guide} is not linked");
    }
}

#[test]
fn the_documentation_names_no_verb_or_flag_that_does_not_exist() {
    let verbs = verbs();
    let mut compared = 0;
    for page in guides().into_iter().chain(["README.md", "docs/lab.md", "docs/tasks.md"].map(str::to_owned)) {
        let text = read(&page);
        // The messages of mistakes name what does not exist.
        let text = text.split("## Messages").next().unwrap_or_default();
        for words in code(text).into_iter().flat_map(commands) {
            // A topic or a subcommand follows `help`, and no flag.
            let is_verb = |word: &&&str| {
                word.starts_with(|letter: char| letter.is_ascii_lowercase()) && **word != "help"
            };
            let Some(verb) = words.first().filter(is_verb) else { continue };
            let help = verbs.get(*verb).unwrap_or_else(|| panic!("{page}: there is no `plimsoll {verb}`"));
            let flags = words.iter().filter_map(|word| word.trim_start_matches('[').strip_prefix("--"));
            for flag in flags.map(|flag| {
                flag.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')
                    .next()
                    .unwrap_or_default()
            }) {
                let is_known = ["", "help"].contains(&flag)
                    || help.match_indices(&format!("--{flag}")).any(|(at, found)| {
                        !help[at + found.len()..]
                            .starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '-')
                    });
                assert!(is_known, "{page}: plimsoll {verb} has no --{flag}");
                compared += 1;
            }
        }
    }
    assert!(compared > 50, "{compared} flags were compared");
}

#[test]
fn help_is_wrapped_at_the_terminals_width() {
    let names = listed(&help("", 100));
    for columns in [60, 80] {
        for name in std::iter::once("").chain(names.iter().map(String::as_str)) {
            check_lines(name, &help(name, columns), columns);
        }
    }
}

fn check_lines(name: &str, help: &str, columns: usize) {
    let lines: Vec<&str> = help.lines().collect();
    for (line, next) in lines.iter().zip(lines.iter().skip(1).chain([&""])) {
        let width = line.chars().count();
        assert!(width <= columns || !line.trim().contains(' '), "{name}, {columns} columns: {line:?}");
        // Prose fills its lines: the next word did not fit.
        let is_prose = |line: &str| !line.starts_with(' ') && line.contains(' ') && !line.ends_with(':');
        let word = next.split(' ').next().unwrap_or_default().chars().count();
        let is_ragged = is_prose(line) && is_prose(next) && width + 1 + word <= columns;
        let is_usage = line.starts_with("Usage") || next.starts_with("Usage");
        assert!(!is_ragged || is_usage, "{name}, {columns} columns: {line:?} {next:?}");
    }
}
