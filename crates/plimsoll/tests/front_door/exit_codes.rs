//! Every exit code that a script can cause.

use crate::harness::{plimsoll, verb};

#[track_caller]
fn check(script: &str, flags: &str, code: i32, says: &str) {
    let imports =
        "import exec from 'k6/execution'; import { Counter } from 'k6/metrics'; import { sleep } from 'k6';";
    plimsoll(&format!("{imports}\n{script}")).flags(flags).run().exits(code).says(says);
}

#[test]
fn nothing_wrong() {
    check("export default () => {}", "", 0, "");
    check("export default () => { throw new Error('x') }", "--compat strict", 0, "Error: x");
}

#[test]
fn thresholds() {
    let counted = "const c = new Counter('cnt'); export default () => c.add(2);";
    let script = format!("{counted} export const options = {{ thresholds: {{ cnt: ['count<1'] }} }};");
    check(&script, "", 99, "thresholds on metrics 'cnt' have been crossed");
    check(&script, "--no-thresholds", 0, "");
    let script = format!("{counted} export const options = {{ thresholds: {{ cnt: ['count>1'] }} }};");
    check(&script, "", 0, "");
}

#[test]
fn a_threshold_that_ends_the_test() {
    let script = "const c = new Counter('cnt');
        export const options = { vus: 1, duration: '60s',
          thresholds: { cnt: [{ threshold: 'count<1', abortOnFail: true }] } };
        export default () => { c.add(1); sleep(0.1); }";
    check(script, "", 99, "stopped the test early");
}

#[test]
fn lifecycle() {
    let slow = |name: &str| {
        format!(
            "export const options = {{ {name}Timeout: '300ms' }};
             export function {name}() {{ sleep(30); }}
             export default () => {{}}"
        )
    };
    check(&slow("setup"), "", 100, "setup() execution timed out after 0.3 seconds");
    check(&slow("teardown"), "", 101, "teardown() execution timed out after 0.3 seconds");
    let throws = |name: &str| {
        format!("export function {name}() {{ throw new Error('no') }} export default () => {{}}")
    };
    check(&throws("setup"), "", 107, "Error: no");
    check(&throws("teardown"), "", 107, "Error: no");
    check(&throws("setup"), "--no-setup", 0, "");
    check(
        "export function setup() { for (;;) {} } export const options = { setupTimeout: '300ms' };
           export default () => {}",
        "",
        100,
        "timed out",
    );
}

#[test]
fn configuration() {
    check(
        "export default () => {}; export const options = { vus: 'many' };",
        "",
        104,
        "\\\"vus\\\" must be a number",
    );
    check("export function other() {}", "", 104, "function 'default' not found in exports");
    plimsoll("export default () => {}").flags("--config nowhere.json").run().exits(104).says("nowhere.json");
    plimsoll("export default () => {}").env("K6_VUS", "many").run().exits(104).says("K6_VUS");
    plimsoll("export default () => {}")
        .env("K6_NO_THRESHOLDS", "perhaps")
        .run()
        .exits(104)
        .says("NO_THRESHOLDS");
}

#[test]
fn exceptions() {
    check("throw new Error('early'); export default () => {}", "", 107, "Error: early");
    check("if (__VU > 1) throw new Error('late'); export default () => {}", "-u 3 -i 3", 107, "Error: late");
    check(
        "export default () => { nothing.there() }",
        "-u 2 -i 4",
        107,
        "all 4 iterations ended in an exception",
    );
    check("export default () => { if (__ITER === 0) throw new Error('once') }", "-i 3", 0, "Error: once");
}

#[test]
fn aborts_and_failures() {
    check("export default () => exec.test.abort('enough')", "", 108, "test aborted: enough");
    check("export function setup() { exec.test.abort('closed') } export default () => {}", "", 108, "closed");
    check("exec.test.abort('never'); export default () => {}", "", 108, "test aborted: never");
    check("export default () => exec.test.fail('bad')", "-i 3", 110, "test marked as failed: bad");
    let both = "const c = new Counter('cnt'); export const options = { thresholds: { cnt: ['count<1'] } };";
    check(&format!("{both} export default () => {{ c.add(1); exec.test.fail('x') }}"), "", 110, "");
    check(&format!("{both} export default () => {{ c.add(1); exec.test.abort('x') }}"), "", 108, "");
}

/// k6 crashes there, which no script can catch.
#[test]
fn a_crash_of_k6_is_an_exception_unless_its_own_result_is_wanted() {
    let script = "import { Client } from 'k6/x/mqtt';
        try { new Client().connect(); } catch (error) { console.log(error.message); }
        export default () => {}";
    check(script, "", 0, "an MQTT broker in the init context");
    check(script, "--compat strict", 109, "k6 crashes here");
}

#[test]
fn anything_else() {
    verb("run nowhere.js").run().exits(255).says("failed to read the script nowhere.js");
    verb("run --vu 1 x.js").run().exits(255).says("'--vus'");
    verb("rum x.js").run().exits(255).says("'run'");
    check("export const x = 1;", "", 255, "exports no function");
    verb("run .").run().exits(255).says("directory");
    plimsoll("export default () => {}").flags("--out jsn").run().exits(255).says("did you mean");
    plimsoll("export default () => {}").flags("--vus many").run().exits(255).says("--vus");
    plimsoll("export default () => {}")
        .flags("--summary-mode huge")
        .run()
        .exits(255)
        .says("compact, full, legacy");
}
