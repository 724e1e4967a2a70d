//! Two runs against servers of known speed, compared.

use serde_json::Value;

use crate::harness::{Ran, plimsoll};

/// Forty requests per second, long enough for a steady state, with a delay from `--env`. The delay is long and the equivalence
/// margin wide, because other load on the machine varies from run to run.
const SCRIPT: &str = "import http from 'k6/http';
    export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: 40, timeUnit: '1s',
        duration: '24s', preAllocatedVUs: 20 } } };
    export default () => http.get(`${__ENV.URL}/delay/${__ENV.MS || 40}`, { tags: { name: __ENV.NAME || '/delay' } });";

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.out))
}

#[test]
fn a_slower_target_has_regressed_and_an_equal_one_has_not() {
    let server = testkit::http::start();
    let first = plimsoll(SCRIPT).against(&server).flags("--target-version 1.4 --tag kind=old").run().exits(0);
    let url = server.url("");
    let again = |flags: &str| {
        let run = first.and("run script.js").env("URL", url.trim_end_matches('/'));
        run.flags(flags).run().exits(0);
    };
    again("--target-version 1.4 --tag kind=old");
    let equal = first
        .and("compare --fail-on regressed --quantiles p50 --margin 50% --despite-no-steady-part")
        .run()
        .exits(0);
    let equal = equal.prints("GET /delay").prints("Within-run only");
    assert!(!equal.out.contains("the scripts differ"), "{}", equal.out);

    again("--target-version 1.5 --tag kind=new -e MS=120");
    let slower =
        first.and("compare tag:kind=old @last --fail-on regressed --despite-no-steady-part").run().exits(121);
    slower.prints("regressed").prints("versions: 1.4 and 1.5");
    first.and("compare @prev @last --despite-no-steady-part").run().exits(0);
    let document =
        json(&first.and("compare @prev @last --format json --despite-no-steady-part").run().exits(0));
    assert_eq!(document["verdict"], "regressed", "{document}");
    let rows = document["rows"].as_array().expect("rows");
    // On a busy machine seconds are so correlated that a quantile may have too few independent samples.
    let mean =
        rows.iter().find(|row| row["series"] == "GET /delay" && row["figure"] == "mean").expect("a row");
    assert!(mean["ratio"].as_f64().is_some_and(|ratio| (2.0..4.0).contains(&ratio)), "{mean}");
    let kinds: Vec<&Value> =
        document["findings"].as_array().expect("findings").iter().map(|it| &it["kind"]).collect();
    assert!(!kinds.iter().any(|kind| *kind == "load_unknown" || *kind == "different_scripts"), "{kinds:?}");
    assert!(!kinds.iter().any(|kind| *kind == "unequal_rate"), "{kinds:?}");

    let korean =
        first.and("compare @prev @last --format md --lang ko --despite-no-steady-part").run().exits(0);
    korean.prints("악화");
    let history = first.and("history script.js").run().exits(0).prints("p95");
    assert_eq!(history.out.lines().filter(|line| line.contains("Z  1.")).count(), 3, "{}", history.out);
    let history = json(&first.and("history @last --format json").run().exits(0));
    assert_eq!(history["runs"].as_array().map(Vec::len), Some(3), "{history}");
}

#[test]
fn endpoints_of_different_ports_are_compared() {
    const PLAIN: &str = "import http from 'k6/http';
        export const options = { vus: 2, duration: '2s' };
        export default () => http.get(`${__ENV.URL}/delay/20`);";
    let (old, new) = (testkit::http::start(), testkit::http::start());
    let ran = plimsoll(PLAIN).against(&old).run().exits(0);
    ran.and("run script.js").env("URL", new.url("").trim_end_matches('/')).run().exits(0);
    let text = ran.and("compare").run().exits(0).prints("hosts differ").prints("GET /delay/20");
    assert!(!text.out.contains("is on side"), "{}", text.out);
}

#[test]
fn hostile_names_are_harmless_in_comparisons() {
    let server = testkit::http::start();
    let name = "\u{1b}[2J</script><script>|`x`\n::error::\u{202e}";
    let ran = plimsoll(SCRIPT).against(&server).env("NAME", name).flags("-u 2 -d 2s");
    let ran = ran.word("--name").word(name).word("--target-version").word(name).run().exits(0);
    ran.and("export @last --format plimsoll -o copy.plimsoll").run().exits(0);
    for format in ["text", "md", "json"] {
        let out = ran.and("compare copy.plimsoll @last --format").word(format).run().exits(0).out.clone();
        let raw = out.chars().find(|letter| letter.is_control() && *letter != '\n' || *letter == '\u{202e}');
        assert_eq!(raw, None, "{format} prints a raw control character: {out}");
        assert!(format == "text" || !out.contains("<script"), "{format} prints a tag");
        assert!(out.lines().all(|line| !line.starts_with("::error")), "{format} prints a workflow command");
    }
    let history = ran.and("history @last").run().exits(0).out.clone();
    assert!(!history.contains(['\u{1b}', '\u{202e}']), "{history}");
}

#[test]
fn what_cannot_be_compared_is_told() {
    let ran = plimsoll("export default () => {};").run().exits(0);
    ran.and("compare").run().exits(255).says("only one run");
    ran.and("compare @last").run().exits(255).says("a run is on both sides");
    ran.and("export @last --format plimsoll -o copy.plimsoll").run().exits(0);
    ran.and("compare copy.plimsoll @last").run().exits(0).prints("is too short; at least");
    ran.and("compare copy.plimsoll @last --fail-on regressed")
        .run()
        .exits(125)
        .prints("Nothing could be judged");
    ran.and("compare @last nowhere.plimsoll").run().exits(255).says("nowhere.plimsoll");
    ran.and("compare tag:a=b @last").run().exits(255).says("failed to find a run with the tag");
    ran.and("compare tag:a @last").run().exits(255).says("tag:NAME=VALUE");
    ran.and("compare @last @last --quantiles p50,p100").run().exits(255).says("failed to read --quantiles");
    ran.and("compare @last @last --margin x").run().exits(255).says("failed to read --margin");
    ran.and("compare @last @last --slo -1").run().exits(255);
    ran.and("history other.js").run().exits(255).says("failed to find a run of");
}

#[test]
fn several_runs_are_compared_with_the_first() {
    let server = testkit::http::start();
    let script = "import http from 'k6/http';
        export const options = { vus: 2, duration: '2s' };
        export default () => http.get(`${__ENV.URL}/delay/20`, { tags: { name: __ENV.NAME || '/delay' } });";
    let ran = plimsoll(script).against(&server).flags("--name one").run().exits(0);
    let url = server.url("");
    for (name, endpoint) in [("two", "/delay"), ("three", &*"n".repeat(500))] {
        let again = ran.and("run script.js").env("URL", url.trim_end_matches('/')).env("NAME", endpoint);
        again.flags("--name").word(name).run().exits(0);
    }
    let list = ran.and("runs").run().exits(0).out.clone();
    let ids: Vec<&str> = list.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    let [three, two, one] = ids[..] else { panic!("three runs: {list}") };
    let named = format!("compare {one} {two} {three}");
    let text = ran.and(&named).run().exits(0).prints("A baseline").out.clone();
    let first: Vec<&str> = text.lines().take(2).collect();
    assert!(first[0].starts_with(&format!("B ({two} two): ")), "{text}");
    assert!(first[1].starts_with(&format!("C ({three} three): Nothing to compare: ")), "{text}");
    let document = json(&ran.and(&format!("{named} --format json")).run().exits(0));
    assert_eq!(document["comparisons"].as_array().map(Vec::len), Some(2), "{document}");
    ran.and(&format!("{named} --lang ko")).run().exits(0).prints("기준");
    ran.and(&format!("{named} --fail-on regressed")).run().exits(125);
    ran.and(&format!("compare {one} {two} {one}")).run().exits(255).says("a run is on both sides");
    let many = "@last ".repeat(9);
    ran.and(&format!("compare {many}")).run().exits(255).says("failed to compare 9 sides: the limit is 8");
}
