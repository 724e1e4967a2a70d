//! Web Platform Tests that need no browser: each file as a script of its own, with the suite's own harness as in a shell.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use anyhow::Context;

use super::results::{FileResult, Results};
use super::tool::in_parallel;
use super::{Options, drawn, files_below};

const USAGE: &str = "\
cargo xtask wpt FOLDER: runs encoding, fetch/api, streams, url and WebCryptoAPI of a checkout of the Web Platform Tests
";

/// Of `fetch` what needs no server of the suite.
const FOLDERS: [&str; 6] =
    ["WebCryptoAPI", "encoding", "fetch/api/headers", "fetch/api/response", "streams", "url"];

/// Tests of interface definitions, which need a parser of them, and of garbage collection.
const LEFT_OUT: [&str; 3] = ["idlharness", "garbage-collection", "historical"];

/// Seconds for a file; its own harness ends what waits after a minute.
const FILE_S: u64 = 240;
const PATIENCE_MS: u32 = 60_000;

/// Globals that a worker has and a script lacks. k6 has streams in a module only. Tests see their own files only.
const BEFORE: &str = "
const streams = require('k6/experimental/streams');
for (const name of Object.keys(streams)) if (!(name in globalThis)) globalThis[name] = streams[name];
module.exports.default = function () {
const files = JSON.parse(FILES);
const evaluate = eval;
globalThis.self = globalThis;
self.GLOBAL = { isWindow: () => false, isWorker: () => true, isShadowRealm: () => false };
self.isSecureContext = true;
const resolve = (path) => {
  const parts = path.startsWith('/') ? [] : FOLDER.split('/');
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part && part !== '.') parts.push(part);
  }
  return parts.join('/');
};
const own = (path) => files[resolve(path)];
self.importScripts = (...paths) => paths.filter((path) => !path.endsWith('testharness.js')).forEach((path) => evaluate(own(path)));
const fetched = globalThis.fetch;
self.fetch = async (path, ...more) => {
  const text = typeof path === 'string' ? own(path) : undefined;
  return text === undefined ? fetched(path, ...more) : { ok: true, status: 200, text: async () => text, json: async () => JSON.parse(text) };
};
evaluate(files['resources/testharness.js']);
// The harness takes what has a location for a browser.
const href = 'https://web-platform.test/' + PATH;
self.location = { search: '', pathname: '/' + PATH, href, origin: 'https://web-platform.test', toString: () => href };
// One case that waits for ever must not hide the others.
const patience = setTimeout(timeout, PATIENCE);
const log = console.log.bind(console);
add_completion_callback((tests) => {
  clearTimeout(patience);
  for (const { name, status, message } of tests) log('WPT ' + JSON.stringify([name, status, String(message).slice(0, 300)]));
  log('WPT END');
});
";

pub(crate) fn main(parser: lexopt::Parser) -> anyhow::Result<()> {
    let Some(options) = Options::read(parser, USAGE)? else { return Ok(()) };
    if options.compares()? {
        return Ok(());
    }
    let root = options.folder()?;
    let mut results = Results { tool: options.tool.version()?, ..Results::default() };
    let is_test = |name: &str| {
        (name.ends_with(".any.js") || name.ends_with(".worker.js"))
            && !LEFT_OUT.iter().any(|word| name.contains(word))
    };
    let mut files = Vec::new();
    for folder in FOLDERS.iter().filter(|folder| root.join(folder).is_dir()) {
        files.extend(files_below(&root, folder, &is_test)?);
    }
    for (path, file) in in_parallel(options.jobs, drawn(files, &options), |path| run(&options, &root, path))?
    {
        results.files.insert(path, file);
    }
    options.finish(&results)
}

fn run(options: &Options, root: &Path, path: String) -> anyhow::Result<(String, FileResult)> {
    let folder = tempfile::tempdir().context("make a folder")?;
    std::fs::write(folder.path().join("main.js"), script(root, &path)?).context("write main.js")?;
    let output = options.tool.run(folder.path(), Duration::from_secs(FILE_S))?;
    let result = read(&output);
    println!("{path}: {} of {}", result.passed(), result.cases.len());
    Ok((path, result))
}

/// The cases that a file named. Names may repeat; such a case passes when all of its name do.
fn read(output: &str) -> FileResult {
    let mut result = FileResult::default();
    let mut has_ended = false;
    for line in output.lines().filter_map(|line| line.split_once("WPT ")).map(|(_, rest)| rest.trim_end()) {
        has_ended |= line == "END";
        let Ok((name, status, message)) = serde_json::from_str::<(String, u32, String)>(line) else {
            continue;
        };
        if status != 0 {
            result.why.insert(name.clone(), message);
        }
        let passed = result.cases.entry(name).or_insert(true);
        *passed &= status == 0;
    }
    if !has_ended {
        let mut from = output.len().saturating_sub(600);
        while !output.is_char_boundary(from) {
            from += 1;
        }
        result.why.insert("(file)".to_owned(), output[from..].to_owned());
    }
    result
}

/// The script of a file.
fn script(root: &Path, path: &str) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(root.join(path)).with_context(|| format!("read {path}"))?;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let helpers: Vec<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("// META: script="))
        .map(|name| place(folder, name.trim()))
        .collect();
    let mut files = BTreeMap::from([(
        "resources/testharness.js".to_owned(),
        read_file(root, "resources/testharness.js")?,
    )]);
    for name in helpers.iter().cloned().chain(quoted(&text).map(|name| place(folder, name))) {
        if let Ok(helper) = std::fs::read_to_string(root.join(&name)) {
            files.entry(name).or_insert(helper);
        }
    }
    // Helpers are evaluated one by one, and what they declare is for those that follow.
    for name in helpers.iter().filter(|name| !name.contains("testharness")) {
        if let Some(helper) = files.get_mut(name) {
            *helper = helper.split_inclusive('\n').map(declared_for_all).collect();
        }
    }
    let quote = |text: &str| serde_json::to_string(text);
    // The files come last: they may have these words, too.
    let mut script = BEFORE
        .replace("FOLDER", &quote(folder)?)
        .replace("PATH", &quote(path)?)
        .replace("PATIENCE", &PATIENCE_MS.to_string())
        .replacen("FILES", &quote(&serde_json::to_string(&files)?)?, 1);
    for name in helpers.iter().filter(|name| !name.contains("testharness")) {
        script.push_str(&format!("evaluate(files[{}]);\n", quote(name)?));
    }
    script.push_str(&format!("evaluate({});\n}};\n", quote(&text)?));
    Ok(script)
}

fn read_file(root: &Path, path: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(root.join(path)).with_context(|| format!("read {path}"))
}

/// A line of a helper with what it declares at the top level declared for other scripts, too.
fn declared_for_all(line: &str) -> String {
    if line.starts_with("\"use strict\"") || line.starts_with("'use strict'") {
        return "\n".to_owned();
    }
    if let Some(rest) = line.strip_prefix("const ").or_else(|| line.strip_prefix("let ")) {
        return format!("var {rest}");
    }
    let named = line
        .strip_prefix("class ")
        .and_then(|rest| rest.split(|at: char| !at.is_alphanumeric() && at != '_').next());
    match named {
        Some(name) => format!("var {name} = {line}"),
        None => line.to_owned(),
    }
}

/// Texts in quotes that may be a file's name.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split(['"', '\'', '`'])
        .filter(|part| part.len() < 200 && (part.ends_with(".js") || part.ends_with(".json")))
}

/// A path from the root for a name in a file of a folder.
fn place(folder: &str, name: &str) -> String {
    let whole = if name.starts_with('/') { PathBuf::from(name) } else { Path::new(folder).join(name) };
    let mut parts: Vec<String> = Vec::new();
    for part in whole.components() {
        match part {
            Component::ParentDir => {
                parts.pop();
            }
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            _ => {}
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_from_a_folder_or_from_the_root() {
        assert_eq!(place("url/sub", "../resources/a.js"), "url/resources/a.js");
        assert_eq!(place("url", "/common/b.js"), "common/b.js");
        assert_eq!(place("url", "./c.js"), "url/c.js");
    }

    #[test]
    fn what_helpers_declare_is_for_all() {
        let check = |line: &str, expect: &str| assert_eq!(declared_for_all(line), expect, "{line}");
        check("'use strict';\n", "\n");
        check("const a = 1;\n", "var a = 1;\n");
        check("class One extends Two {\n", "var One = class One extends Two {\n");
        check("  const inner = 1;\n", "  const inner = 1;\n");
    }

    #[test]
    fn cases_of_one_name_pass_together() {
        let line = |name: &str, status: u32| format!("WPT [\"{name}\",{status},\"m\"]\n");
        let result = read(&(line("a", 0) + &line("a", 1) + &line("b", 0) + "WPT END\n"));
        assert_eq!(result.cases, BTreeMap::from([("a".to_owned(), false), ("b".to_owned(), true)]));
        assert_eq!(result.why.keys().collect::<Vec<_>>(), ["a"]);
        assert!(read("boom").why.contains_key("(file)"), "a file that ends early says why");
    }
}
