//! Scripts that are not plain JavaScript files: TypeScript, mapped code, packages.

use std::path::{Path, PathBuf};

use super::*;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/fixtures/packages").canonicalize().unwrap()
}

/// Loads a script that stands beside the fixtures; what it logged, or why it was not loaded.
pub(super) fn init(name: &str, text: &str) -> Result<Vec<String>, ScriptError> {
    let heard = Arc::new(Heard::default());
    let settings = Settings {
        env: BTreeMap::new(),
        metrics: Arc::default(),
        log: heard.clone(),
        secrets: Default::default(),
        outside: Default::default(),
        memory: crate::MemoryLimits::resolve(None, None, None),
        allows_exec: false,
        compat: Default::default(),
    };
    let entry = Entry { path: fixtures().join(name), text: text.to_owned() };
    Bundle::load(entry, settings)?;
    Ok(std::mem::take(&mut heard.0.lock().unwrap().0))
}

fn check(name: &str, text: &str, expect: &str) {
    let text = format!("{text}\nexport default function () {{}}");
    let logs = init(name, &text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(logs.join("\n"), expect, "{text}");
}

pub(super) fn check_refused(name: &str, text: &str, expect: &[&str]) {
    let error = init(name, text).expect_err(text);
    let said = match &error {
        ScriptError::Exception { message, excerpt, .. } => {
            format!("{message}\n{}", excerpt.as_deref().unwrap_or_default())
        }
        ScriptError::Missing(text) => text.clone(),
        other => panic!("{other:?}"),
    };
    for part in expect {
        assert!(said.contains(part), "{text}\n→\n{said}\nlacks {part}");
    }
}

#[test]
fn types_are_stripped_from_ts_files_only() {
    check("a.ts", "enum A { B = 2 }\nconst x: A = A.B; console.log(x)", "2");
    check("-", "const x: number = 3; console.log(x)", "3");
    check_refused("a.js", "const x: number = 3;", &["SyntaxError", "must end in \".ts\"", "const x: number"]);
    check_refused("a.tsx", "const x: number = 3;", &["end in \".ts\" only"]);
    check_refused("a.mts", "const x: number = 3;", &["end in \".ts\" only"]);
}

#[test]
fn errors_in_typescript_show_the_typescript() {
    check_refused(
        "a.ts",
        "interface A {\n  b: string\n}\nconst x: number = ;",
        &["a.ts:4:19", "4 | const x: number = ;"],
    );
    check_refused(
        "a.ts",
        "type A = {\n  b: string;\n};\n\nfunction f(a: A): never {\n  throw new Error(a.b);\n}\nf({ b: 'no' });",
        &["Error: no", "a.ts:6:", "a.ts:8:", "6 |   throw new Error(a.b);"],
    );
    check(
        "a.ts",
        "type A =\n  | 1\n  | 2;\nconst e: Error = new Error('x'); console.log(e.stack!.length > 0)",
        "true",
    );
}

#[test]
fn a_printed_stack_leads_to_the_typescript() {
    let text = "interface A {\n  b: string\n}\nconst a: A = { b: 'x' };\nconsole.log(new Error(a.b).stack);\nexport default function () {}";
    let logs = init("a.ts", text).unwrap();
    assert!(logs[0].contains("a.ts:5:"), "{logs:?}");
}

#[test]
fn packages_are_found() {
    check(
        "a.js",
        "import plain, { deep } from 'plain'; console.log(plain.data, deep, plain.mode)",
        "7 deep production",
    );
    check(
        "a.js",
        "import sub, { kind, mode } from 'dual'; console.log(sub(), kind, mode)",
        "browser module production",
    );
    check(
        "a.js",
        "import * as it from '@scope/fields'; console.log(it.from, it.own, it.deep)",
        "module own deep",
    );
    check("a.ts", "import { deep as d } from 'plain'; const x: string = d; console.log(x)", "deep");
    let required =
        "const it = require('@scope/fields'); console.log(it.from, it.fs, it.side, require('dual').kind);
        exports.default = function () {}";
    assert_eq!(init("a.js", required).unwrap(), ["main 0 client commonjs"]);
}

#[test]
fn positions_in_a_package_are_its_own() {
    check_refused(
        "a.js",
        "import { boom } from 'plain'; boom()",
        &["node_modules/plain/index.js:6:", "6 | exports.boom"],
    );
}

#[test]
fn what_is_missing_is_named() {
    check_refused("a.js", "import './lib/util'", &["did you mean \"./lib/util.js\"?"]);
    check_refused("a.js", "import './lib'", &["is a directory", "did you mean \"./lib/index.js\"?"]);
    check_refused("a.js", "import 'absent'", &["npm install absent"]);
    check_refused("a.js", "import 'node:fs'", &["a module of Node.js", "use open()"]);
    check_refused(
        "a.js",
        "import './node_modules/plain/data.json.js'",
        &["did you mean \"./node_modules/plain/data.json\"?"],
    );
}

#[test]
fn the_first_line_of_common_js_has_its_own_columns() {
    check_refused("a.js", "    throw new Error('x')", &["a.js:1:"]);
    let error = init("a.js", "/* a */ nothing.here; exports.x = 1").unwrap_err();
    let ScriptError::Exception { excerpt: Some(excerpt), .. } = error else { panic!("{error:?}") };
    let lines: Vec<&str> = excerpt.lines().collect();
    let caret = lines.last().unwrap().find('^').unwrap();
    assert!(lines[2][..=caret].ends_with("/* a */ n") || lines[2][..caret].ends_with("nothing"), "{excerpt}");
}

#[test]
fn what_only_other_places_have_is_hinted_at() {
    for name in ["window", "document", "process", "Buffer"] {
        let error = init("a.js", &format!("{name}.x; export default function () {{}}")).unwrap_err();
        let ScriptError::Exception { hint, .. } = error else { panic!("{error:?}") };
        assert!(hint.is_some(), "{name}");
    }
}
