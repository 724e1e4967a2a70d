//! Archives: created, inspected, run elsewhere; and other subcommands that read a script.

use crate::harness::{Ran, plimsoll, verb};

const SCRIPT: &str = "import { word } from './lib/word.js';
export const options = { vus: 1, iterations: 2, tags: { a: 'b' } };
const text = open('./data.txt');
export default () => { console.log(`${word} ${text} ${__ENV.PLACE}`); }";

/// Creates an archive of [`SCRIPT`] and deletes the files.
fn archived(flags: &str) -> Ran {
    let run = verb("archive -e PLACE=here").file("s.js", SCRIPT).file("data.txt", "spoken");
    let run = run.before("mkdir -p lib && echo 'export const word = \"word\"' > lib/word.js");
    let ran = run.flags(flags).flags("s.js").run().exits(0).says("archive.tar");
    for name in ["s.js", "data.txt", "lib/word.js"] {
        std::fs::remove_file(ran.folder().join(name)).expect("it was there");
    }
    ran
}

#[test]
fn an_archive_runs_without_the_files_it_was_made_of() {
    let ran = archived("");
    let run = ran.and("run archive.tar").run().exits(0).says("word spoken here");
    assert_eq!(run.err.matches("word spoken").count(), 2, "{}", run.err);
    ran.and("run -i 1 -e PLACE=there archive.tar").run().exits(0).says("word spoken there");
    ran.and("run -t js archive.tar").run().exits(107);
    std::fs::copy(ran.folder().join("archive.tar"), ran.folder().join("x")).expect("copied");
    ran.and("run x").run().exits(0).says("word spoken here");
    ran.and("run --type archive x").run().exits(0).says("word spoken here");
}

#[test]
fn an_archive_carries_the_options_it_was_made_with() {
    let ran = archived("-i 3 --exclude-env-vars");
    let run = ran.and("run archive.tar").run().exits(0).says("word spoken undefined");
    assert_eq!(run.err.matches("word spoken").count(), 3, "{}", run.err);
    let inspected = ran.and("inspect archive.tar").run().exits(0);
    let options: serde_json::Value = serde_json::from_str(&inspected.out).expect("JSON");
    assert_eq!((&options["iterations"], &options["tags"]["a"]), (&3.into(), &"b".into()));
    ran.and("deps archive.tar").run().exits(0).prints("lib/word.js");
}

/// Packages that import each other by symlink, `exports`, `main`, without an extension, and for browsers.
const INSTALL: &str = "mkdir -p store/tool/node_modules/dep node_modules/@s/linked/lib
    ln -s ../store/tool node_modules/tool
    echo '{\"name\":\"tool\",\"exports\":{\".\":{\"import\":\"./esm.mjs\",\"require\":\"./cjs.js\"}}}' > store/tool/package.json
    echo 'import dep from \"dep\"; export const tool = `tool+${dep.name}`;' > store/tool/esm.mjs
    echo 'exports.tool = `required+${require(\"dep\").name}`;' > store/tool/cjs.js
    echo 'exports.name = `dep${require(\"./part\").part}`;' > store/tool/node_modules/dep/index.js
    echo 'exports.part = \"-part\";' > store/tool/node_modules/dep/part.js
    echo '{\"main\":\"lib\",\"browser\":{\"fs\":false}}' > node_modules/@s/linked/package.json
    echo 'exports.n = Object.keys(require(\"fs\")).length + require(\"../data.json\").n;' > node_modules/@s/linked/lib/index.js
    echo '{\"n\":41}' > node_modules/@s/linked/data.json";

#[test]
fn packages_are_in_the_archive() {
    let script = "import { tool } from 'tool'; import { n } from '@s/linked'; const required = require('./r.js').tool;
        export default () => { console.log(`got ${tool} ${n} ${required} ${import.meta.resolve('tool').split('/').pop()}`); }";
    let made = verb("archive s.js").file("s.js", script).file("r.js", "module.exports = require('tool');");
    let ran = made.before(INSTALL).run().exits(0);
    let expect = "got tool+dep-part 41 required+dep-part esm.mjs";
    ran.and("run s.js").run().exits(0).says(expect);
    for name in ["s.js", "r.js"] {
        std::fs::remove_file(ran.folder().join(name)).expect("it was there");
    }
    for name in ["store", "node_modules"] {
        std::fs::remove_dir_all(ran.folder().join(name)).expect("it was there");
    }
    ran.and("run archive.tar").run().exits(0).says(expect);
    ran.and("archive -O again.tar archive.tar").run().exits(0);
    ran.and("run again.tar").run().exits(0).says(expect);
}

#[test]
fn what_is_no_archive_is_said() {
    verb("run -q -t archive x.tar").file("x.tar", "export default () => {}").run().exits(255).says("archive");
    verb("archive gone.js").run().exits(255).says("gone.js");
    verb("archive s.js")
        .file("s.js", "import 'k6/x/kafka'; export default () => {}")
        .run()
        .exits(107)
        .says("Kafka");
    verb("archive -O no/such/folder.tar s.js").file("s.js", "export default () => {}").run().exits(255);
    verb("archive -u 1 -s 1s:1 -d 1s s.js").file("s.js", "export default () => {}").run().exits(104);
    let ran = archived("");
    let whole = std::fs::read(ran.folder().join("archive.tar")).expect("it is there");
    std::fs::write(ran.folder().join("cut.tar"), &whole[..700]).expect("written");
    ran.and("run cut.tar").run().exits(255).says("archive");
}

#[test]
fn inspect_says_first_whether_everything_exists() {
    let script =
        "import http, { get, nope } from 'k6/http'; import { check } from 'k6'; export default () => {}";
    let ran = verb("inspect s.js").file("s.js", script).run().exits(0).says("1 export does not").says("nope");
    let options: serde_json::Value = serde_json::from_str(&ran.out).expect("nothing but JSON");
    assert!(options.is_object());
    let script = "import http from 'k6/http'; export default () => {}";
    verb("inspect s.js")
        .file("s.js", script)
        .run()
        .exits(0)
        .says("every module and export that s.js imports exists");
    let script =
        "import 'k6/x/kafka'; import 'k6/browser'; import 'k6/experimental/timers'; export default 1";
    let ran = verb("inspect s.js").file("s.js", script).run().exits(107);
    ran.says("k6/x/kafka").says("k6/browser").says("remove the import");
}

#[test]
fn names_that_a_module_of_k6_lacks_are_undefined() {
    let script = "import { get, nope } from 'k6/http'; import { a, b } from './c.js';
        export default () => { console.log(`${typeof get} ${typeof nope} ${a} ${typeof b}`); }";
    let ran =
        plimsoll(script).file("c.js", "exports.a = 1;").run().exits(0).says("function undefined 1 undefined");
    ran.says("k6/http has no export nope");
    let script = "import { nope } from './c.js'; export default () => {}";
    plimsoll(script).file("c.js", "export const a = 1;").run().exits(107).says("nope");
}

#[test]
fn deps_lists_imports_and_runs_nothing() {
    let script =
        "import http from 'k6/http'; import 'k6/x/kafka'; import './a.js'; throw new Error('it ran')";
    let ran = verb("deps --json s.js").file("s.js", script).file("a.js", "export default 1").run().exits(0);
    let deps: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(deps["buildDependencies"], serde_json::json!({ "k6": "*", "k6/x/kafka": "*" }));
    assert_eq!(
        (&deps["customBuildRequired"], deps["imports"].as_array().map(Vec::len)),
        (&true.into(), Some(4))
    );
    verb("deps s.js")
        .file("s.js", "import 'k6'; export default 1")
        .run()
        .exits(0)
        .prints("Custom Build Required: no");
    verb("deps s.js").file("s.js", "import './gone.js'").run().exits(107).says("gone.js");
    verb("deps s.js").file("s.js", "export default (").run().exits(107);
}

#[test]
fn new_writes_a_script_that_loads() {
    for template in ["minimal", "protocol"] {
        let ran = verb(&format!("new --template {template}")).run().exits(0).says("script.js");
        ran.and("inspect script.js").run().exits(0).prints("vus");
        ran.and("new").run().exits(255).says("--force");
        ran.and("new -f").run().exits(0);
    }
    verb("new --template browser").run().exits(255).says("browser");
    verb("new --template nope").run().exits(255).says("minimal, protocol or");
    let ran = verb("new --template ./own.js x.js").file("own.js", "export default () => {}").run().exits(0);
    assert_eq!(ran.read("x.js"), "export default () => {}");
}
