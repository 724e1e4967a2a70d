//! Studies: levels of load, each a separate run, and their combined result.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use testkit::{Shop, ShopConfig};

use crate::harness::{Plimsoll, Ran, eventually, free_address, verb};
use crate::page;

const SCRIPT: &str = "import http from 'k6/http';
    export const options = { thresholds: { http_req_duration: ['max<0'] } };
    export default () => http.get(`${__ENV.URL}/products`, { tags: { name: 'products' } });";

/// Number of attempts: other tests may occupy all cores for seconds.
const TRIES: usize = 5;

/// Starts a shop with two slots that are held for 50 ms each: 40 products per second at most.
fn shop() -> Shop {
    let config = ShopConfig { slots: 2, hold: Duration::from_millis(50), ..ShopConfig::default() };
    Shop::start(config).expect("the shop opens")
}

fn against(shop: &Shop, words: &str, script: &str) -> Plimsoll {
    let url = shop.url("");
    verb(words).file("script.js", script).env("URL", url.trim_end_matches('/'))
}

#[track_caller]
fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}\n{}", ran.out, ran.err))
}

fn runs(ran: &Ran) -> Vec<Value> {
    let listed = ran.and("runs --json").run().exits(0);
    serde_json::from_str(&listed.out).expect("JSON")
}

/// Returns the loads of the levels, in the order of the report. A level whose measurement was disturbed is listed beside its repetition.
fn loads(study: &Value) -> Vec<f64> {
    let levels = study["parts"][0]["levels"].as_array().expect("levels");
    let mut loads: Vec<f64> = levels.iter().filter_map(|level| level["load"]["value"].as_f64()).collect();
    loads.dedup();
    loads
}

#[test]
fn a_sweep_measures_each_load_once_and_keeps_its_runs() {
    let shop = shop();
    let words = "sweep script.js --vus 4,1 --hold 3s --warm-up 1s --study s --json --slo";
    let ran = against(&shop, words, SCRIPT).word("http_req_duration{name:products}: p(95)<90").run();
    let study = json(&ran);
    assert_eq!(loads(&study), [1.0, 4.0], "{study}");
    let levels = &study["parts"][0]["levels"];
    let kept = |at: usize| levels[at]["objectives"][0]["isKept"].as_bool();
    assert_eq!((kept(0), kept(1)), (Some(true), Some(false)), "{study}");
    let throughput = levels[1]["throughput"]["value"].as_f64().expect("a rate");
    assert!((30.0..=41.0).contains(&throughput), "two slots of 50 ms make 40/s: {throughput}");
    // While other tests run, a level is sometimes disturbed and measured once more.
    let measured = runs(&ran).len();
    assert!((2..=4).contains(&measured), "a level is a run like any other: {measured}");
    // The same command again measures nothing, and one more load measures only that.
    let url = shop.url("");
    let again = |vus: &str| {
        let words = format!("sweep script.js --vus {vus} --hold 3s --warm-up 1s --study s --json --slo");
        let run = ran.and(&words).word("http_req_duration{name:products}: p(95)<90");
        json(&run.env("URL", url.trim_end_matches('/')).run())
    };
    assert_eq!(again("1,4")["parts"][0]["levels"][1]["run"], levels[1]["run"]);
    assert_eq!(runs(&ran).len(), measured);
    assert_eq!(loads(&again("1,2,4")), [1.0, 2.0, 4.0]);
    let more = runs(&ran).len() - measured;
    assert!((1..=2).contains(&more), "only the new load was measured: {more}");
    // The study is found from any of its runs.
    let of = json(&ran.and("capacity --of @last --json").run().exits(0));
    assert_eq!((of["name"].as_str(), loads(&of)), (Some("s"), vec![1.0, 2.0, 4.0]), "{of}");
    ran.and("history script.js").run().exits(255).says("steps of studies do not count");
    ran.and("report @last").run().exits(0).prints("judged by the SLOs of the study");
    // The list of runs judges each level by the study's objectives, as the study does.
    let address = free_address();
    let serving = page::serve(ran.and("serve"), &address);
    let list = page::get(&address, "/api/v1/runs").expect("it answers");
    serving.signal(Signal::INT);
    serving.wait().exits(0);
    let list: Value = serde_json::from_str(&list).expect("JSON");
    let rows = list["runs"].as_array().expect("runs");
    for level in of["parts"][0]["levels"].as_array().expect("levels") {
        let row = rows.iter().find(|row| row["id"] == level["run"]).expect("its run");
        let shown = &row["study"]["objective"]["ok"];
        assert_eq!(*shown, level["objectives"][0]["isKept"], "{row} {level}");
    }
}

#[test]
fn the_load_line_of_a_shop_is_found() {
    let shop = shop();
    let words = "capacity script.js --rate --from 10 --to 100 --warm-up 1s --step-min 2s --step-max 4s --hold 0s --budget 40s --json";
    let search = || {
        let run = against(&shop, words, SCRIPT).word("--slo").word("http_req_duration: p(95)<150");
        json(&run.word("--slo").word("http_req_failed: rate==0").run())
    };
    // While other tests run, levels are sometimes invalid and prove nothing about the shop.
    let is_found = |study: &Value| study["parts"][0]["line"]["place"] == "inside";
    let study = std::iter::repeat_with(search).take(TRIES).find(is_found).expect("a line");
    let part = &study["parts"][0];
    let line = part["line"]["load"]["value"].as_f64().expect("a line");
    assert!((34.0..=46.0).contains(&line), "two slots of 50 ms bear 40/s: {part}");
    assert_eq!((part["verdict"].as_str(), part["binding"].as_u64()), (Some("found"), Some(0)), "{part}");
    let planned = part["recommended"]["load"]["value"].as_f64().expect("a load");
    let lower = part["line"]["interval"]["lower"].as_f64().expect("a bound");
    assert!((planned / lower - 0.8).abs() < 1e-9, "{part}");
    let highest = loads(&study).into_iter().fold(0.0, f64::max);
    assert!(highest <= 80.0, "nothing is asked far beyond the line: {highest}");
}

/// The shop answers 40 products a second, so that N users wait N / 40 s: six of them for 150 ms.
#[test]
fn one_command_finds_the_safe_load_and_the_bottleneck() {
    let shop = shop();
    let script = SCRIPT.replace("max<0", "p(95)<150");
    let url = shop.url("/metrics");
    let words = format!("find script.js --from 2 --to 64 --budget 60s --json --evidence shop:scrape={url}");
    let search = || json(&against(&shop, &words, &script).run());
    let is_found = |found: &Value| found["capacity"]["parts"][0]["line"]["place"] == "inside";
    let found = std::iter::repeat_with(search).take(TRIES).find(is_found).expect("a line");
    let part = &found["capacity"]["parts"][0];
    let line = part["line"]["load"]["value"].as_f64().expect("a line");
    assert!((4.0..=7.0).contains(&line), "six users wait for 150 ms: {part}");
    let objectives = part["objectives"].as_array().expect("objectives");
    assert_eq!(objectives.len(), 2, "the script's threshold, and the usual one on failures: {part}");
    let finding = &found["diagnosis"]["findings"][0];
    assert_eq!(found["diagnosis"]["outcome"], "limited", "{}", found["diagnosis"]);
    assert_eq!(finding["label"], "connection pool too small", "{finding}");
}

/// The commands at the end of the demo are for a script of one's own.
#[test]
fn the_commands_that_the_demo_prints_work_as_printed() {
    let shop = shop();
    let script = SCRIPT.replace("thresholds: { http_req_duration: ['max<0'] }", "vus: 2, duration: '2s'");
    let [run, diagnose] = report::demo::OWN_COMMANDS
        .map(|command| command.strip_prefix("plimsoll ").expect("a command of the program"));
    let ran = against(&shop, run, &script).run().exits(0).prints("http_reqs");
    ran.and(diagnose).run().exits(0).prints("Missing evidence");
}

/// Half of the requests hang: they end with the level, and no second of it has them.
#[test]
fn requests_that_hang_fail_their_level() {
    let server = testkit::http::start();
    let script = "import http from 'k6/http'; import { sleep } from 'k6';
        export default () => { sleep(0.05); http.get(`${__ENV.URL}/${__VU % 2 ? 'hang' : ''}`); };";
    let words = "sweep script.js --vus 4 --hold 2s --warm-up 1s --json --slo";
    let (url, server_url) = ("URL", server.url(""));
    let sweep = || {
        let run =
            verb(words).word("http_req_failed: rate==0").word("--slo").word("http_req_duration: p(95)<800");
        json(&run.file("script.js", script).env(url, server_url.trim_end_matches('/')).run())
    };
    let decides = |study: &Value| study["parts"][0]["levels"][0]["decides"] == true;
    let study = std::iter::repeat_with(sweep).take(TRIES).find(decides).expect("a valid level");
    let level = &study["parts"][0]["levels"][0];
    assert_eq!(level["objectives"][0]["isKept"], false, "{level}");
    assert!(level["failed"]["value"].as_f64() > Some(0.0), "{level}");
    assert_eq!(study["parts"][0]["verdict"], "below_all", "{study}");
}

#[test]
fn variants_are_told_apart() {
    let shop = shop();
    let script = SCRIPT.replace("/products`", "/products?${__ENV.PAGE}`");
    let words = "sweep script.js --rate 5 --hold 2s --warm-up 1s --over PAGE=1,2 --json";
    let study = json(&against(&shop, words, &script).run());
    let variants: Vec<&str> = study["parts"]
        .as_array()
        .expect("parts")
        .iter()
        .filter_map(|part| part["variant"].as_str())
        .collect();
    assert_eq!(variants, ["PAGE=1", "PAGE=2"], "{study}");
}

#[test]
fn a_signal_ends_the_study_and_not_what_it_measured() {
    let shop = shop();
    let words = "sweep script.js --vus 1,2,3,4,5,6 --hold 2s --warm-up 1s --study s";
    let ran = interrupted_in_its_second_run(against(&shop, words, SCRIPT)).prints("1 VU").says("study: s");
    let left = json(&ran.and("capacity --of @prev --json").run().exits(0));
    assert_eq!(loads(&left), [1.0], "the level that was cut off does not count");
}

/// The generator is at its own limit, so that the level is repeated, and the signal ends its repetition.
#[test]
fn no_level_follows_a_repetition_that_a_signal_ended() {
    let busy = "export default () => { for (const end = Date.now() + 20; Date.now() < end; ) {} }";
    let sweep = verb("sweep script.js --vus 8,9,10 --hold 2s --warm-up 1s --workers 1");
    let ran = interrupted_in_its_second_run(sweep.file("script.js", busy)).says("the step is repeated");
    assert_eq!(runs(&ran).len(), 2, "{}", ran.err);
}

fn interrupted_in_its_second_run(sweep: Plimsoll) -> Ran {
    let running = sweep.start();
    let is_second = || {
        let listed = running.and("runs --json").run();
        let runs: Vec<Value> = serde_json::from_str(&listed.out).unwrap_or_default();
        runs.len() == 2
    };
    eventually("the second run", is_second);
    running.signal(Signal::INT);
    running.wait().exits(105)
}

/// The table of the fourth post, whose figures are known.
#[test]
fn a_table_is_a_study_too() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/seeds/004");
    let words = format!("capacity --json --of {folder}/runs.csv {folder}/criteria.csv {folder}/stages.csv");
    let study = json(&verb(&words).run().exits(0));
    let part = &study["parts"][0];
    let near = |value: &Value, expect: f64| {
        let found = value.as_f64().expect("a number");
        assert!((found - expect).abs() <= 0.5, "{found} is not {expect}: {part}");
    };
    near(&part["line"]["load"]["value"], 169.0);
    near(&part["knees"][0]["interval"]["lower"], 79.0);
    near(&part["knees"][0]["interval"]["upper"], 106.0);
    let ceiling = part["ceiling"]["throughput"]["value"].as_f64().expect("a ceiling") * 60.0;
    assert!((437.5..=438.5).contains(&ceiling), "no less than the highest row did: {ceiling}");
    let text = verb(&words.replace("--json ", "")).run().exits(0);
    text.prints("Maximum load: 169 VUs").prints("SLO exceeded").prints("Safe load: 135 VUs");
}

#[test]
fn what_cannot_be_measured_is_told() {
    let shop = shop();
    for (words, expect) in [
        ("sweep script.js", "name loads"),
        ("sweep script.js --vus 1,x", "write numbers"),
        ("sweep script.js --vus 1 --rate 2", "at once"),
        ("sweep script.js --vus 1 --duration 5s", "--duration"),
        ("sweep --vus 1", "SCRIPT"),
        ("capacity --slo http_req_failed:rate==0", "use a file"),
        ("sweep script.js --vus 1 --over X", "--over"),
        ("capacity script.js --rate", "without an SLO"),
        ("capacity script.js --slo p(95)<1", "no colon"),
        (
            "capacity script.js --slo http_req_failed:p(95)<1",
            "not valid for rate metric http_req_failed; use rate",
        ),
        ("capacity script.js --slo http_req_failed:rate==0 --from 5 --to 1", "search from 5 to 1"),
        ("capacity script.js --slo http_req_failed:rate==0 --vus 5", "--vus"),
        ("find script.js --budget 5s", "--budget to 30s"),
        ("find script.js --vus 5", "--vus"),
        ("find script.js --duration 5s", "--duration"),
        ("find -", "use a file"),
        ("find script.js --from 5 --to 1", "search from 5 to 1"),
        ("find script.js --slo p(95)<1", "no colon"),
        ("capacity --of nowhere.csv", "nowhere.csv"),
        ("capacity --of @last", "failed to"),
    ] {
        let ran = against(&shop, words, SCRIPT).run();
        assert!(ran.code.is_some_and(|code| code != 0), "{words}");
        ran.says(expect);
    }
    let nothing = against(&shop, "capacity --of t.csv", SCRIPT).file("t.csv", "a,b\n1,2\n").run();
    nothing.exits(255).says("no row of a table has VUs");
    assert_eq!(shop.pool().completed, 0, "nothing was run");
}

#[test]
fn a_script_that_throws_ends_the_study() {
    let shop = shop();
    let ran = against(&shop, "sweep script.js --vus 1,2 --hold 2s", "throw new Error('boom');").run();
    ran.exits(107).says("boom");
    let ran = against(&shop, "sweep script.js --vus 1 --hold 2s --scenario nowhere", SCRIPT).run();
    ran.exits(104).says("nowhere");
}
