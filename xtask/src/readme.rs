//! The README's commands, run as they stand there. Their outputs are compared by shape, since figures differ from run to
//! run and rows do not.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use testkit::{Shop, ShopConfig};

use crate::workspace;

/// How the README calls the program.
const PROGRAM: &[&str] = &["cargo run --release --quiet --", "cargo run --release --", "plimsoll"];

/// Where the README's shop listens; the test's listens elsewhere.
const SHOP: &str = "http://127.0.0.1:8080";

/// Commands that are not run, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("make check", "it runs this test"),
    ("make test", "it runs this test"),
    ("cargo install --path crates/plimsoll", "it would build everything again"),
    ("cargo run --release -p testkit", "the test has a shop of its own"),
    ("K6_BIN=", "a bench needs a quiet machine"),
];

/// A line after `$ `, and the lines after that.
#[derive(Debug, PartialEq)]
struct Step {
    command: String,
    output: Vec<String>,
}

/// The steps of all `console` blocks.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            steps.push(Step { command: command.to_owned(), output: Vec::new() });
        } else if let Some(step) = steps.last_mut().filter(|_| inside) {
            step.output.push(line.to_owned());
        }
    }
    steps
}

/// The first block of this language.
fn block<'a>(text: &'a str, language: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("```{language}\n"))?;
    rest.split_once("\n```").map(|(block, _)| block)
}

/// A line without its figures: numbers become `#`, also with a unit of time or size that depends on them, and runs of
/// spaces, dots and bars become one.
fn shape(line: &str) -> String {
    const UNITS: &[&str] = &["ns", "µs", "ms", "s", "m", "h", "B", "kB", "MB", "GB"];
    let words = line.split(|character: char| character.is_whitespace());
    let words = words.filter(|word| !word.is_empty()).map(|word| {
        let mut shaped = String::new();
        let mut rest = word;
        while let Some(at) = rest.find(|character: char| character.is_ascii_digit()) {
            shaped.push_str(&rest[..at]);
            let figures = |character: char| character.is_ascii_digit() || matches!(character, '.' | ',');
            rest = rest[at..].trim_start_matches(figures);
            let unit: String = rest.chars().take_while(|character| character.is_alphabetic()).collect();
            if UNITS.contains(&unit.as_str()) {
                rest = &rest[unit.len()..];
            }
            if !shaped.ends_with('#') {
                shaped.push('#');
            }
        }
        shaped.push_str(rest);
        squeezed(&shaped)
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The word with leader dots as one.
fn squeezed(word: &str) -> String {
    let mut text = String::new();
    for character in word.chars() {
        if !(character == '.' && text.ends_with('.')) {
            text.push(character);
        }
    }
    text
}

/// The first expected line that does not come in its place; lines that are not expected may come between.
fn missing<'a>(expected: &'a [String], actual: &str) -> Option<&'a String> {
    let mut actual = actual.lines().map(shape);
    expected.iter().filter(|line| !line.trim().is_empty()).find(|line| {
        let wanted = shape(line);
        !actual.any(|line| line == wanted)
    })
}

/// The program that cargo built beside this test.
fn program() -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    let program = test.parent()?.parent()?.join("plimsoll");
    program.is_file().then_some(program)
}

/// The arguments of a command that calls the program; `None` for other commands.
fn arguments(command: &str) -> Option<&str> {
    PROGRAM.iter().find_map(|program| command.strip_prefix(program)).map(str::trim)
}

/// Runs a step in `folder` and fails the test where it does not do what the README shows.
fn check(step: &Step, program: &Path, folder: &Path, shop: &str) {
    if NOT_RUN.iter().any(|(command, _)| step.command.starts_with(command)) {
        return;
    }
    let arguments = arguments(&step.command).unwrap_or_else(|| panic!("{:?} cannot be run", step.command));
    let arguments = arguments.replace(SHOP, shop);
    let output = Command::new(program)
        .args(arguments.split_whitespace())
        .current_dir(folder)
        // Its runs are stored beside the script, apart from the user's own.
        .env("XDG_DATA_HOME", folder)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {}\n{text}{complaints}", step.command, output.status);
    if let Some(line) = missing(&step.output, &text) {
        panic!("{}: the README shows {line:?}, but it printed\n{text}{complaints}", step.command);
    }
}

#[test]
fn the_readme_does_what_it_says() {
    let Some(program) = program() else {
        assert!(
            std::env::var_os("PLIMSOLL_TESTS").is_none(),
            "the program is not built: test the whole workspace"
        );
        eprintln!("skipped: the program is not built, so the README's commands are not run");
        return;
    };
    let text = std::fs::read_to_string(workspace::root().join("README.md")).expect("a README");
    let shop = Shop::start(ShopConfig::default()).expect("a shop");
    let folder = std::env::temp_dir().join(format!("plimsoll-readme-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("script.js"), block(&text, "js").expect("a script"))
        .expect("the script is written");
    let steps = steps(&text);
    assert!(steps.len() >= 4, "{steps:?}");
    for step in &steps {
        check(step, &program, &folder, shop.url("").trim_end_matches('/'));
    }
    std::fs::remove_dir_all(&folder).expect("the folder is removed");
}

#[test]
fn steps_are_commands_and_what_they_print() {
    let text = "```console\n$ a b\nc\n$ d\n```\n```js\n$ no\n```\n";
    let step = |command: &str, output: &[&str]| Step {
        command: command.to_owned(),
        output: output.iter().map(|line| (*line).to_owned()).collect(),
    };
    assert_eq!(steps(text), [step("a b", &["c"]), step("d", &[])]);
    assert_eq!(block(text, "js"), Some("$ no"));
}

#[test]
fn shapes_hide_figures_only() {
    let check = |a: &str, b: &str, expect: bool| assert_eq!(shape(a) == shape(b), expect, "{a:?} {b:?}");
    check("http_reqs......: 10   1.5/s", "http_reqs..: 9312 207.31/s", true);
    check("p(95)=1.5ms", "p(95)=12µs", true);
    check("p(95)=1m2.5s", "p(95)=12µs", true);
    check("p(95)=1.5ms", "p(99)=1.5ms", true);
    check("avg=1.5ms", "med=1.5ms", false);
    check("✓ status is 200", "✗ status is 200", false);
}

#[test]
fn lines_must_come_in_order() {
    let expected = ["a 1".to_owned(), "b 2".to_owned()];
    assert_eq!(missing(&expected, "x\na 7\ny\nb 9\n"), None);
    assert_eq!(missing(&expected, "b 9\na 7\n"), Some(&expected[1]));
}
