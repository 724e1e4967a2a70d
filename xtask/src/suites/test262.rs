//! Tests of the language itself (test262), each in a VU of its own: a fresh engine, in which the test is evaluated as global
//! code. Module tests are imported, each in a process of its own.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use serde_json::json;

use super::results::{FileResult, Results};
use super::tool::in_parallel;
use super::{Options, drawn, files_below};

const USAGE: &str = "\
cargo xtask test262 FOLDER: runs test/language and test/built-ins of a checkout of test262
";

const FOLDERS: [&str; 2] = ["test/language", "test/built-ins"];

/// VUs of a process, and so tests.
const BATCH: usize = 100;

/// Seconds until what is left of a batch is interrupted, and until the process is ended.
const BATCH_S: u64 = 120;
const PROCESS_S: u64 = 150;

/// Seconds for one test in a process of its own.
const ALONE_S: u64 = 30;

/// Flags of tests that need another host than a script has.
const OTHER_HOST: [&str; 4] = ["raw", "CanBlockIsTrue", "CanBlockIsFalse", "non-deterministic"];

/// Harness files that need `$262`.
const OTHER_HARNESS: [&str; 2] = ["detachArrayBuffer.js", "atomicsHelper.js"];

const WHY_HOST: &str = "needs a host object or another host";

/// Runs one test by the number of its VU. The words are read before a test can change anything.
const RUNNER: &str = "\
import { SharedArray } from 'k6/data';
import exec from 'k6/execution';
const files = new SharedArray('harness', () => JSON.parse(open('./harness.json')));
const tests = new SharedArray('tests', () => JSON.parse(open('./tests.json')));
export const options = { scenarios: { tests: {
  executor: 'per-vu-iterations', vus: VUS, iterations: 1, maxDuration: 'SECONDSs', gracefulStop: '0s' } } };
export default function () {
  const { id, harness, source } = tests[exec.vu.idInTest - 1];
  const log = console.log.bind(console), replace = String.prototype.replace, call = Function.prototype.call.bind(replace);
  const say = (word, text) => log(`T262 ${id} ${word} ${call(`${text}`, /[^\\x20-\\x7e]+/g, ' ')}`);
  const evaluate = eval;
  globalThis.print = (text) => say('PRINT', text);
  try {
    for (const name of harness) evaluate(files[name]);
    evaluate(source);
  } catch (error) {
    say('THREW', `${error && error.name}`);
    return;
  }
  say('PASS', '');
}
";

/// A test, read.
struct Test {
    path: String,
    source: String,
    facts: Facts,
}

/// The comment at the top of a test.
#[derive(Default, Debug, PartialEq, Eq)]
struct Facts {
    flags: Vec<String>,
    includes: Vec<String>,
    features: Vec<String>,
    /// The name of the error that it must throw.
    negative: Option<String>,
}

impl Facts {
    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own == flag)
    }
}

pub(crate) fn main(parser: lexopt::Parser) -> anyhow::Result<()> {
    let Some(options) = Options::read(parser, USAGE)? else { return Ok(()) };
    if options.compares()? {
        return Ok(());
    }
    let root = options.folder()?;
    let mut results = Results { tool: options.tool.version()?, ..Results::default() };
    let (scripts, modules) = read_all(&root, &options, &mut results)?;
    let harness = Harness::read(&root)?;
    let batches: Vec<&[Test]> = scripts.chunks(BATCH).collect();
    for done in in_parallel(options.jobs, batches, |batch| run_batch(&options, &harness, batch))? {
        results.files.extend(done);
    }
    let modules: Vec<&Test> = modules.iter().collect();
    for done in in_parallel(options.jobs, modules, |test| run_module(&options, &root, &harness, test))? {
        results.files.insert(done.0, done.1);
    }
    options.finish(&results)
}

/// The tests: scripts and modules.
fn read_all(root: &Path, options: &Options, results: &mut Results) -> anyhow::Result<(Vec<Test>, Vec<Test>)> {
    let is_test = |name: &str| name.ends_with(".js") && !name.contains("_FIXTURE");
    let mut files = Vec::new();
    for folder in FOLDERS {
        files.extend(files_below(root, folder, &is_test)?);
    }
    let (mut scripts, mut modules) = (Vec::new(), Vec::new());
    for path in drawn(files, options) {
        let source = std::fs::read(root.join(&path)).with_context(|| format!("read {path}"))?;
        let source = String::from_utf8_lossy(&source).into_owned();
        let facts = facts_of(&source);
        if source.contains("$262")
            || OTHER_HOST.iter().any(|flag| facts.has(flag))
            || facts.includes.iter().any(|name| OTHER_HARNESS.contains(&name.as_str()))
        {
            *results.left_out.entry(WHY_HOST.to_owned()).or_default() += 1;
            continue;
        }
        let kind = if facts.has("module") { &mut modules } else { &mut scripts };
        kind.push(Test { path, source, facts });
    }
    Ok((scripts, modules))
}

/// The files that tests include.
struct Harness {
    texts: Vec<String>,
    numbers: BTreeMap<String, usize>,
}

impl Harness {
    fn read(root: &Path) -> anyhow::Result<Harness> {
        let mut harness = Harness { texts: Vec::new(), numbers: BTreeMap::new() };
        for path in files_below(root, "harness", &|name| name.ends_with(".js"))? {
            let text = std::fs::read(root.join(&path)).with_context(|| format!("read {path}"))?;
            let name = path.trim_start_matches("harness/").to_owned();
            harness.numbers.insert(name, harness.texts.len());
            harness.texts.push(String::from_utf8_lossy(&text).into_owned());
        }
        Ok(harness)
    }

    /// The files of a test, in order.
    fn of(&self, facts: &Facts) -> Vec<usize> {
        let handle = facts.has("async").then_some("doneprintHandle.js");
        let own = facts.includes.iter().map(String::as_str);
        let names = ["assert.js", "sta.js"].into_iter().chain(handle).chain(own);
        names.filter_map(|name| self.numbers.get(name).copied()).collect()
    }
}

/// The results of many tests in one process; what a crash left undone is run again, each alone.
fn run_batch(
    options: &Options,
    harness: &Harness,
    batch: &[Test],
) -> anyhow::Result<Vec<(String, FileResult)>> {
    let said = run_together(options, harness, batch, (BATCH_S, PROCESS_S))?;
    let mut results = Vec::with_capacity(batch.len());
    for (index, test) in batch.iter().enumerate() {
        let mut own = said.get(&index).cloned().unwrap_or_default();
        if own.is_empty() {
            let alone = run_together(options, harness, std::slice::from_ref(test), (ALONE_S, ALONE_S + 5))?;
            own = alone.into_values().next().unwrap_or_default();
        }
        results.push((test.path.trim_start_matches("test/").to_owned(), judged(test, &own)));
    }
    Ok(results)
}

/// The output of each test of a process, by its number.
fn run_together(
    options: &Options,
    harness: &Harness,
    tests: &[Test],
    (batch_s, process_s): (u64, u64),
) -> anyhow::Result<BTreeMap<usize, Vec<String>>> {
    let folder = tempfile::tempdir().context("make a folder")?;
    let described: Vec<_> = tests
        .iter()
        .enumerate()
        .map(|(id, test)| {
            let strict = if test.facts.has("onlyStrict") { "\"use strict\";\n" } else { "" };
            let source = format!("{strict}{}", test.source);
            json!({ "id": id, "harness": harness.of(&test.facts), "source": source })
        })
        .collect();
    let runner = RUNNER.replace("VUS", &tests.len().to_string()).replace("SECONDS", &batch_s.to_string());
    let files = [
        ("main.js", runner),
        ("harness.json", serde_json::to_string(&harness.texts)?),
        ("tests.json", serde_json::to_string(&described)?),
    ];
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).with_context(|| format!("write {name}"))?;
    }
    let output = options.tool.run(folder.path(), Duration::from_secs(process_s))?;
    let mut said: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for line in output.lines() {
        let Some(rest) = line.split_once("T262 ").map(|(_, rest)| rest) else { continue };
        let Some((id, words)) = rest.split_once(' ') else { continue };
        if let Ok(id) = id.parse() {
            said.entry(id).or_default().push(words.trim_end().to_owned());
        }
    }
    Ok(said)
}

fn run_module(
    options: &Options,
    root: &Path,
    harness: &Harness,
    test: &Test,
) -> anyhow::Result<(String, FileResult)> {
    let folder = tempfile::tempdir().context("make a folder")?;
    let texts: Vec<&str> =
        harness.of(&test.facts).iter().map(|index| harness.texts[*index].as_str()).collect();
    let before = format!(
        "globalThis.print = (text) => console.log(`T262 0 PRINT ${{text}}`);\n(0, eval)({});\n",
        serde_json::to_string(&texts.join("\n"))?
    );
    let address = format!("file://{}", root.join(&test.path).display());
    let main = format!(
        "import './harness.js';\nimport {};\nconsole.log('T262 0 PASS');\nexport default function () {{}}\n",
        serde_json::to_string(&address)?
    );
    std::fs::write(folder.path().join("harness.js"), before).context("write harness.js")?;
    std::fs::write(folder.path().join("main.js"), main).context("write main.js")?;
    let output = options.tool.run(folder.path(), Duration::from_secs(ALONE_S))?;
    let mut said: Vec<String> = output
        .lines()
        .filter_map(|line| line.split_once("T262 0 "))
        .map(|(_, words)| words.trim_end().to_owned())
        .collect();
    if let Some(name) = test.facts.negative.as_ref().filter(|name| output.contains(name.as_str())) {
        said.push(format!("THREW {name}"));
    }
    Ok((test.path.trim_start_matches("test/").to_owned(), judged(test, &said)))
}

fn judged(test: &Test, said: &[String]) -> FileResult {
    let passed = has_passed(&test.facts, said);
    let mut result = FileResult { features: test.facts.features.clone(), ..FileResult::default() };
    result.cases.insert("test".to_owned(), passed);
    if !passed {
        result.why.insert("test".to_owned(), said.join("; "));
    }
    result
}

fn has_passed(facts: &Facts, said: &[String]) -> bool {
    let says = |words: &str| said.iter().any(|line| line == words);
    if let Some(name) = &facts.negative {
        return says(&format!("THREW {name}"));
    }
    if facts.has("async") {
        return says("PRINT Test262:AsyncTestComplete");
    }
    says("PASS")
}

/// Reads the comment `/*--- … ---*/`, of which the lists are in one line or in several.
fn facts_of(source: &str) -> Facts {
    let text = source
        .split_once("/*---")
        .and_then(|(_, rest)| rest.split_once("---*/"))
        .map_or("", |(head, _)| head);
    let mut facts = Facts::default();
    let mut key = "";
    for line in text.split(['\n', '\r']) {
        let is_key = line.starts_with(|first: char| first.is_ascii_alphabetic());
        let (name, value) = line.split_once(':').filter(|_| is_key).unwrap_or((key, line));
        if is_key {
            key = name;
        }
        match name {
            "flags" => facts.flags.extend(listed(value)),
            "includes" => facts.includes.extend(listed(value)),
            "features" => facts.features.extend(listed(value)),
            "negative" => {
                if let Some(name) = value.trim().strip_prefix("type:") {
                    facts.negative = Some(name.trim().to_owned());
                }
            }
            _ => {}
        }
    }
    facts
}

fn listed(value: &str) -> Vec<String> {
    let words = value.split(['[', ']', ',']).map(|word| word.trim().trim_start_matches("- ").trim());
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_in_both_shapes() {
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let text = "// c\n/*---\ndescription: a: b\nflags: [module, async]\nincludes:\n  - one.js\n  - two.js\n\
                    features: [A,\n  B]\nnegative:\n  phase: parse\n  type: SyntaxError\n---*/\nx: y";
        let expect = Facts {
            flags: list(&["module", "async"]),
            includes: list(&["one.js", "two.js"]),
            features: list(&["A", "B"]),
            negative: Some("SyntaxError".to_owned()),
        };
        assert_eq!(facts_of(text), expect);
        assert_eq!(facts_of("no comment"), Facts::default());
    }

    #[test]
    fn a_test_passes_as_it_says() {
        let check = |flags: &[&str], negative: Option<&str>, said: &[&str]| {
            let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
            let facts = Facts { flags, negative: negative.map(str::to_owned), ..Facts::default() };
            has_passed(&facts, &said.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>())
        };
        assert!(check(&[], None, &["PASS"]));
        assert!(!check(&[], None, &["THREW Test262Error"]));
        assert!(!check(&[], None, &[]), "a crash is no pass");
        assert!(check(&[], Some("SyntaxError"), &["THREW SyntaxError"]));
        assert!(!check(&[], Some("SyntaxError"), &["PASS"]));
        assert!(!check(&[], Some("SyntaxError"), &["THREW ReferenceError"]));
        assert!(check(&["async"], None, &["PASS", "PRINT Test262:AsyncTestComplete"]));
        assert!(!check(&["async"], None, &["PASS"]));
    }
}
