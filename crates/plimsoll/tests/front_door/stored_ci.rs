//! Reports of a run for continuous integration, and names that would break their formats.

use serde_json::Value;

use crate::harness::plimsoll;

const CROSSED: &str = "export const options = { thresholds: { iterations: ['count>1', 'rate>1e9'],
    iteration_duration: ['max<0'], vus: ['value>5'] } };
    export default () => {};";

#[test]
fn a_github_step_has_a_summary_annotations_and_outputs() {
    let ran = plimsoll(CROSSED)
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", "step.md")
        .env("GITHUB_OUTPUT", "outputs")
        .run()
        .exits(99);
    let annotations = ran.out.lines().filter(|line| line.starts_with("::error")).count();
    assert!((1..=8).contains(&annotations), "{}", ran.out);
    let summary = ran.read("step.md");
    assert!(summary.contains("iterations") && summary.len() < 200_000, "{summary}");
    assert!(ran.read("outputs").contains("fail"), "{}", ran.read("outputs"));
    let elsewhere = plimsoll(CROSSED).env("GITHUB_STEP_SUMMARY", "step.md").run().exits(99);
    assert!(!elsewhere.out.contains("::error") && !elsewhere.folder().join("step.md").exists());
}

#[test]
fn annotations_are_placed_from_the_root_of_the_repository() {
    let ran = plimsoll(CROSSED).run().exits(99);
    std::fs::create_dir(ran.folder().join("steps")).expect("a folder");
    let script = ran.folder().join("script.js").to_str().expect("a path of letters").to_owned();
    for (script, workspace, expect) in [
        (script.as_str(), ran.folder().to_str().expect("a path of letters"), "file=script.js,"),
        ("steps/../script.js", ".", "file=script.js,"),
        ("script.js", "steps", "file=script.js,"),
    ] {
        let step = ran.and("run").env("GITHUB_ACTIONS", "true").env("GITHUB_WORKSPACE", workspace);
        step.word(script).run().exits(99).prints(&format!("::error {expect}"));
    }
}

#[test]
fn reports_are_written_at_the_end_even_where_nothing_is_stored() {
    let ran = plimsoll(CROSSED)
        .flags("--no-store --report junit=r.xml,md=r.md --report json=r.json")
        .run()
        .exits(99);
    assert!(ran.read("r.xml").contains("<testsuite"), "{}", ran.read("r.xml"));
    assert!(ran.read("r.md").contains("iteration_duration"));
    assert!(serde_json::from_str::<Value>(&ran.read("r.json")).is_ok());
    ran.and("runs").run().exits(0);
    assert!(!ran.folder().join("plimsoll").exists(), "nothing is stored");
    plimsoll(CROSSED).flags("--report pdf=r.pdf").run().exits(255).says("junit=FILE");
    plimsoll(CROSSED)
        .flags("--report md=no/such/r.md")
        .run()
        .exits(99)
        .says("failed to write the report to no/such/r.md");
}

#[test]
fn reports_are_in_two_languages() {
    let ran = plimsoll(CROSSED).run().exits(99);
    let korean = ran.and("report @last --lang ko").run().exits(0).out.clone();
    assert!(korean.chars().any(|letter| ('가'..='힣').contains(&letter)), "{korean}");
}

#[test]
fn hostile_names_are_harmless_everywhere() {
    let script = r#"import { check, group } from 'k6'; import { Counter } from 'k6/metrics';
        const count = new Counter('count');
        const names = ['</script><script>alert(1)</script>', '\u001b[2J\u001b]0;x\u0007', '=cmd()|calc', '| a | b |',
            '"quoted" \'and\' `more`', 'line\nbreak\r\n::error::x', ']]>', '%0A', 'x'.repeat(1 << 20), '\u202eoverride'];
        export const options = { thresholds: { 'count{n:=cmd()|calc}': ['count<0'] } };
        export default () => { for (const name of names) {
            count.add(1, { n: name }); check(0, { [name]: () => false }, { t: name });
            console.error(name); group(name.replaceAll('::', ';'), () => count.add(1)); } };"#;
    let ran = plimsoll(script).word("--name").word("\u{1b}[31m</script>|").run().exits(99);
    let verbs =
        ["show", "report --format md", "report --format md --lang ko", "report --format junit", "runs"];
    for verb in verbs {
        let out = ran.and(verb).run().exits(0).out.clone();
        let raw = out.chars().find(|letter| letter.is_control() && *letter != '\n');
        assert_eq!(raw, None, "{verb} prints a raw control character");
        assert!(verb == "show" || verb == "runs" || !out.contains("<script"), "{verb} prints a tag");
        assert!(out.lines().all(|line| !line.starts_with("::error")), "{verb} prints a workflow command");
    }
    for verb in ["report --format json", "export --format json", "runs --json"] {
        let out = ran.and(verb).run().exits(0).out.clone();
        assert!(serde_json::from_str::<Value>(&out).is_ok(), "{verb} prints JSON");
        assert!(!out.contains('\u{1b}'), "{verb} escapes");
    }
    let csv = ran.and("export --format csv").run().exits(0).out.clone();
    assert!(!csv.contains('\u{1b}'), "control characters are escapes");
    assert!(!csv.contains(",=") && !csv.contains("\"=") && !csv.contains("\n="), "no cell is a formula");
}
