//! Limits: memory that scripts hold, and files that they read.

use super::*;
use crate::{Fetch, MemoryLimits, Outside};

const MIB: u64 = 1 << 20;

fn limits(vu_bytes: u64, process_bytes: u64) -> MemoryLimits {
    MemoryLimits { vu_bytes, process_bytes }
}

/// Runs a body that wants more memory than there is, in the first of three iterations; the others must complete.
#[track_caller]
fn check_hog(body: &str) {
    let source = format!(
        "import http from 'k6/http'; import crypto from 'k6/crypto'; import encoding from 'k6/encoding';
        globalThis.kept = [];
        export default async function () {{ if (__ITER === 0) {{ {body} }}\n console.log(`kept ${{kept.length}}`); }}"
    );
    let left = run_within(limits(16 * MIB, 512 * MIB), "http://127.0.0.1:1", 3, None, &source);
    let expect = [IterationEnd::Failed, IterationEnd::Completed, IterationEnd::Completed];
    assert_eq!(left.ends, expect, "{body}: {:?}", left.logs);
    let (kept, errors): (Vec<_>, Vec<_>) = left.logs.iter().partition(|line| line.starts_with("kept"));
    assert_eq!(errors.len(), 1, "{body}: {:?}", left.logs);
    assert!(errors[0].contains("memory limit reached: VU 1 holds 16 MiB"), "{body}: {errors:?}");
    // A new VU has taken its place: nothing is left of what it kept.
    assert!(kept.iter().rev().take(2).all(|line| *line == "kept 0"), "{body}: {kept:?}");
    let noted = &left.noted;
    assert!(
        format!("{noted:?}").contains("memory limit reached"),
        "{body}: counted among the errors: {noted:?}"
    );
}

#[test]
fn memory_that_a_script_holds_has_a_limit() {
    for body in [
        "for (let i = 0;; i++) kept.push({ i });",
        "for (let i = 0;; i++) kept.push('x'.repeat(100000) + i);",
        "for (let i = 0;; i++) kept.push(new Promise(() => {}));",
        "for (let i = 0;; i++) kept.push(new Uint8Array(100000));",
        "for (;;) kept.push(new ArrayBuffer(1000000000));",
        "for (;;) kept.push(new Array(100000000).fill(0));",
        "const map = new Map(); for (let i = 0;; i++) map.set(i, [i]);",
        "const text = 'x,'.repeat(4000000); for (;;) kept.push(text.split(','));",
        "for (;;) kept.push(JSON.parse('[' + '[1],'.repeat(1000000) + '1]'));",
        "for (let n = 1n;; n++) kept.push(2n ** 100000n + n);",
        "for (;;) kept.push(crypto.randomBytes(1000000));",
        "for (;;) kept.push(encoding.b64decode(encoding.b64encode('x'.repeat(1000000))));",
        "for (let i = 0;; i++) globalThis['name' + i] = i;",
        "for (;;) await new Promise((resolve) => { kept.push(new Array(1000)); resolve(); });",
        "const grow = () => { kept.push(new Array(1000)); return Promise.resolve().then(grow); }; await grow();",
    ] {
        check_hog(body);
    }
}

#[test]
fn a_script_cannot_catch_the_limit() {
    check_hog("for (;;) { try { for (;;) kept.push(new Array(1000000).fill(1)); } catch { } }");
    check_hog("for (;;) { try { for (let i = 0;; i++) kept.push({ i }); } finally { continue; } }");
    check_hog("try { kept.push(new ArrayBuffer(1000000000)); } catch { }");
}

#[test]
fn a_vu_that_holds_less_is_not_cut() {
    let source = "export default function () {
        for (let round = 0; round < 50; round++) { const kept = []; for (let i = 0; i < 20; i++) kept.push('x'.repeat(100000) + i); }
        console.log('done');
    }";
    let left = run_within(limits(32 * MIB, 512 * MIB), "http://127.0.0.1:1", 3, None, source);
    assert_eq!((left.ends, left.logs), (vec![IterationEnd::Completed; 3], vec!["done".to_owned(); 3]));
}

#[test]
fn all_vus_together_have_a_limit() {
    let source = "const kept = []; export default function () { for (let i = 0;; i++) kept.push('x'.repeat(100000) + i); }";
    let left = run_within(limits(512 * MIB, 32 * MIB), "http://127.0.0.1:1", 1, None, source);
    assert_eq!(left.ends, [IterationEnd::Failed]);
    assert!(left.logs[0].contains("--memory"), "{:?}", left.logs);
}

#[test]
fn init_code_has_the_limit_of_the_process() {
    let load = |bytes: u64, init: &str| {
        let source = format!("{init}; export default function () {{}}");
        load_within(limits(16 * MIB, bytes), &source, &Arc::default(), &Arc::default(), "")
    };
    let hog = "const kept = []; for (let i = 0; i < 400; i++) kept.push('x'.repeat(100000) + i)";
    assert!(load(128 * MIB, hog).is_ok(), "no VU runs beside the first init");
    let error = load(24 * MIB, hog).err().expect("it holds 40 MB");
    assert!(
        matches!(&error, ScriptError::Memory(text) if text.contains("24 MiB") && text.contains("--memory")),
        "{error:?}"
    );
}

/// Remote modules, by URL.
struct Remote(&'static [(&'static str, &'static str)]);

impl Fetch for Remote {
    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        let found = self.0.iter().find(|(known, _)| *known == url);
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| format!("no {url}"))
    }
}

/// Loads a script in a folder with `data.txt` and `local.js`, beside remote modules; what it logged, or why it was not loaded.
fn load_beside(remote: &'static [(&'static str, &'static str)], text: &str) -> Result<Vec<String>, String> {
    let folder = std::env::temp_dir().join(format!("plimsoll-script-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("data.txt"), "the data").unwrap();
    std::fs::write(
        folder.join("local.js"),
        "exports.secret = 'a local module'; exports.read = (path) => open(path);",
    )
    .unwrap();
    let heard = Arc::new(Heard::default());
    let settings = Settings {
        env: BTreeMap::from([("DATA".to_owned(), folder.join("data.txt").display().to_string())]),
        metrics: Arc::default(),
        log: heard.clone(),
        secrets: Default::default(),
        outside: Outside { fetch: Some(Arc::new(Remote(remote))), ..Outside::default() },
        memory: MemoryLimits::resolve(None, None, None),
        allows_exec: false,
        compat: Default::default(),
    };
    let entry = Entry { path: folder.join("s.js"), text: format!("{text}\nexport default function () {{}}") };
    let loaded = Bundle::load(entry, settings);
    loaded.map_err(|error| error.to_string())?;
    Ok(std::mem::take(&mut heard.0.lock().unwrap().0))
}

/// Code of remote modules that tries to read local files, in every way that there is to be found.
const THIEVES: &[(&str, &str)] = &[
    ("https://x/open.js", "export const got = open('/etc/hostname');"),
    ("https://x/relative.js", "export const got = open('./data.txt');"),
    ("https://x/env.js", "export const got = open(__ENV.DATA, 'b').byteLength;"),
    ("https://x/function.js", "export const got = new Function('return open(__ENV.DATA)')();"),
    ("https://x/eval.js", "export const got = (0, eval)('open(__ENV.DATA)');"),
    ("https://x/map.js", "export const got = [__ENV.DATA].map((path) => open(path))[0];"),
    ("https://x/native.js", "export const got = [__ENV.DATA].map(open)[0];"),
    ("https://x/job.js", "export const got = await Promise.resolve(__ENV.DATA).then(open);"),
    ("https://x/require.js", "export const got = require('./local.js').secret;"),
    (
        "https://x/absolute.js",
        "export const got = require(__ENV.DATA.replace('data.txt', 'local.js')).secret;",
    ),
    (
        "https://x/url.js",
        "export const got = require('file://' + __ENV.DATA.replace('data.txt', 'local.js')).secret;",
    ),
    ("https://x/later.js", "export const got = await Promise.resolve('./local.js').then(require);"),
    (
        "https://x/import.js",
        "export const got = await import('file://' + __ENV.DATA.replace('data.txt', 'local.js'));",
    ),
    (
        "https://x/made.js",
        "export const got = await new Function('path', 'return import(path)')('file://' + __ENV.DATA.replace('data.txt', 'local.js'));",
    ),
    (
        "https://x/made-later.js",
        "const make = new Function('path', 'return import(path)'); export const got = await Promise.resolve('file://' + __ENV.DATA.replace('data.txt', 'local.js')).then(make);",
    ),
    ("https://x/common.js", "exports.got = open(__ENV.DATA);"),
    ("https://x/global.js", "exports.got = globalThis.require('./local.js').secret;"),
    (
        "https://x/fs.js",
        "import { open } from 'k6/experimental/fs'; export const got = await open(__ENV.DATA);",
    ),
    ("https://x/helper.js", "export const read = (path) => open(path);"),
    ("https://x/through.js", "export const through = (read) => read(__ENV.DATA);"),
    ("https://x/fine.js", "export const fine = 'fine';"),
];

#[test]
fn remote_modules_read_no_local_files() {
    for (url, code) in THIEVES.iter().filter(|(_, code)| code.contains("got")) {
        let got = load_beside(THIEVES, &format!("import {{ got }} from '{url}'; console.log(got);"));
        let error = got.expect_err(code);
        let is_refused = ["may not read", "neither a k6 module nor a URL", "no https://x/"];
        assert!(is_refused.iter().any(|text| error.contains(text)), "{code}: {error}");
    }
    let error = load_beside(THIEVES, "import { read } from 'https://x/helper.js'; read(__ENV.DATA);");
    assert!(error.expect_err("a helper").contains("may not read"));
    let through =
        "import { through } from 'https://x/through.js'; import { read } from './local.js'; through(read);";
    assert!(load_beside(THIEVES, through).expect_err("a local function").contains("may not read"));
}

#[test]
fn local_modules_read_files_beside_remote_ones() {
    for text in [
        "console.log(open('./data.txt'));",
        "console.log(open(__ENV.DATA));",
        "await 1; console.log(open('./data.txt'));",
        "console.log(['./data.txt'].map((path) => open(path))[0]);",
        "import { read } from './local.js'; console.log(read(__ENV.DATA));",
        "const { read } = require('./local.js'); console.log(read(__ENV.DATA));",
        "import { SharedArray } from 'k6/data'; const a = new SharedArray('a', () => [open('./data.txt')]); console.log(a[0]);",
    ] {
        let text = format!("import {{ fine }} from 'https://x/fine.js'; {text}");
        assert_eq!(load_beside(THIEVES, &text).as_deref(), Ok(&["the data".to_owned()][..]), "{text}");
    }
}

#[test]
fn files_that_never_end_are_refused() {
    for text in [
        "open('/dev/zero');",
        "open('/dev/zero', 'b');",
        "import data from '/dev/zero';",
        "require('/dev/zero');",
        "import { open } from 'k6/experimental/fs'; await open('/dev/zero');",
    ] {
        let error = load_beside(&[], text).expect_err(text);
        assert!(error.contains("it is a device, and only regular files are read"), "{text}: {error}");
    }
}
