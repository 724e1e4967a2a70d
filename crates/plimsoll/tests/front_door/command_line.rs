//! Flags, variables and files that define the test, and the smaller subcommands.

use crate::harness::{plimsoll, verb};

const LOGS_ENV: &str = "export default () => console.log(JSON.stringify([__ENV.A, __ENV.B, __ENV.C]))";

#[test]
fn scripts_see_their_environment() {
    let check = |flags: &str, expect: &str| {
        plimsoll(LOGS_ENV).env("A", "process").env("B", "process").flags(flags).run().exits(0).says(expect);
    };
    check("-e B=flag", r#"[\"process\",\"flag\",null]"#);
    check("--include-system-env-vars=false --env C=flag", r#"[null,null,\"flag\"]"#);
    plimsoll(LOGS_ENV).flags("-e 1=x").run().exits(255).says("--env");
}

#[test]
fn scripts_come_from_standard_input() {
    let run =
        verb("run -q -").stdin("import { x } from './x.js'; export default () => console.log(`x=${x}`)");
    run.file("x.js", "export const x = 5").run().exits(0).says("x=5");
}

#[test]
fn the_stronger_source_wins() {
    let script = "export const options = { iterations: 3 }; export default () => {}";
    let check = |run: crate::harness::Plimsoll, expect: u64| {
        assert_eq!(run.run().exits(0).count("iterations"), expect)
    };
    check(plimsoll(script).file("c.json", r#"{ "iterations": 2 }"#).flags("--config c.json"), 3);
    check(plimsoll(script).env("K6_ITERATIONS", "4"), 4);
    check(plimsoll(script).env("K6_ITERATIONS", "4").env("PLIMSOLL_ITERATIONS", "5"), 5);
    check(plimsoll(script).env("K6_ITERATIONS", "4").flags("-i 6"), 6);
    check(plimsoll("export default () => {}").file("c.json", r#"{ "iterations": 2 }"#).flags("-c c.json"), 2);
}

#[test]
fn vus_work_on_as_many_threads_as_told() {
    for workers in [1, 3] {
        let ran =
            plimsoll("export default () => {}").flags(&format!("-u 8 -i 400 --workers {workers}")).run();
        assert_eq!(ran.exits(0).count("iterations"), 400);
    }
}

#[test]
fn the_log_goes_where_it_is_sent() {
    let script = "export default () => { console.log('spoken'); console.debug('whispered'); }";
    let ran = plimsoll(script).run().exits(0).says("level=info msg=spoken source=console");
    assert!(!ran.err.contains("whispered"), "{}", ran.err);
    plimsoll(script).flags("-v").run().exits(0).says("whispered");
    plimsoll(script).flags("--log-format raw").run().exits(0).says("spoken\n");
    plimsoll(script).flags("--log-format json").run().exits(0).says(r#""msg":"spoken""#);
    plimsoll(script).flags("--log-output stdout").run().exits(0).prints("spoken");
    let ran = plimsoll(script).flags("--log-output none").run().exits(0);
    assert_eq!(ran.err, "");
    let ran = plimsoll(script).flags("--log-output file=a.log").run().exits(0);
    assert!(ran.err.is_empty() && ran.read("a.log").contains("spoken"));
    let ran = plimsoll(script).flags("--console-output b.log").run().exits(0);
    assert!(!ran.err.contains("spoken") && ran.read("b.log").contains("spoken"), "{}", ran.err);
}

#[test]
fn inspect_prints_options() {
    let script = "export const options = { vus: 3, duration: '5s' }; export default () => {}";
    let run = |flags: &str| verb("inspect").file("s.js", script).flags(flags).flags("s.js").run().exits(0);
    let options: serde_json::Value = serde_json::from_str(&run("").out).expect("JSON");
    assert_eq!((&options["vus"], &options["duration"]), (&3.into(), &"5s".into()));
    let options: serde_json::Value =
        serde_json::from_str(&run("--execution-requirements").out).expect("JSON");
    assert_eq!((&options["maxVUs"], &options["totalDuration"]), (&3.into(), &"35s".into()));
}

#[test]
fn the_smaller_verbs() {
    verb("version").run().exits(0).prints("plimsoll v");
    verb("version --json").run().exits(0).prints("\"version\":\"v");
    for shell in ["bash", "zsh", "fish", "powershell"] {
        verb(&format!("completions {shell}")).run().exits(0).prints("plimsoll");
    }
    verb("--help").run().exits(0).prints("Examples:");
    verb("run --help").run().exits(0).prints("Exit codes:");
}
