//! `plimsoll new --from`: converted scripts run, against servers that refuse recorded values.

use std::process::{Command, Stdio};

use testkit::{Listen, Server, Shop, ShopConfig, portal};

use crate::harness::{Ran, verb};

/// A recording of the test kit's portal by a browser: sign in, order, receipt.
const RECORDING: &str = include_str!("../../../draft/fixtures/portal.har");

/// Converts a file.
fn converted(flags: &str, name: &str, text: &str) -> Ran {
    verb(&format!("new {flags} {name} -o script.js")).file(name, text).run().exits(0)
}

/// Runs the converted script; every check of it must pass.
#[track_caller]
fn runs_green(made: &Ran, flags: &str) {
    made.and("inspect script.js").run().exits(0);
    let flags = format!("run --no-store --summary-export summary.json {flags} script.js");
    let run = made.and(&flags).run().exits(0);
    assert_eq!(run.value("checks", "fails"), Some(0.0), "{}", run.out);
    assert!(run.value("checks", "passes").is_some_and(|passes| passes > 0.0), "{}", run.out);
}

fn portal_at(server: &Server) -> String {
    format!("-e BASE_URL={} -e PASSWORD={}", server.url("").trim_end_matches('/'), portal::PASSWORD)
}

#[test]
fn a_recording_runs_against_a_site_that_issues_fresh_tokens() {
    let server = portal::start(Listen::default()).expect("a portal");
    let made = converted("--from har --think-time-max 0", "portal.har", RECORDING);
    runs_green(&made, &format!("--vus 2 --iterations 4 {}", portal_at(&server)));
    let script = made.read("script.js");
    for name in ["'The portal'", "'Sign in'", "'Account'", "'Receipt'"] {
        assert!(script.contains(&format!("group({name}")), "{name}: {script}");
    }
    assert_eq!(made.read("script.users.json"), "[\n  { \"username\": \"anna\" }\n]\n");
}

#[test]
fn the_recorded_token_in_place_of_a_fresh_one_fails() {
    let server = portal::start(Listen::default()).expect("a portal");
    let made = converted("--think-time-max 0", "portal.har", RECORDING);
    let script = made.read("script.js");
    for (variable, recorded) in [
        ("formToken", "name=form_token&value="),
        ("csrfToken", "csrf"),
        ("accessToken", "access"),
        ("reference", "receipt"),
    ] {
        let line =
            script.lines().find(|line| line.trim().starts_with(&format!("{variable} = "))).expect(variable);
        let stale = script.replace(line, &format!("{variable} = '{recorded}0123456789abcdef';"));
        std::fs::write(made.folder().join("script.js"), stale).expect("written");
        made.and(&format!("run --no-store --iterations 1 {} script.js", portal_at(&server))).run().exits(99);
    }
}

#[test]
fn secrets_are_in_no_file_and_are_asked_for() {
    let made = converted("--from har", "portal.har", RECORDING);
    let text = made.read("script.js") + &made.read("script.users.json") + &made.out + &made.err;
    assert!(!text.contains(portal::PASSWORD), "{text}");
    made.and("run --no-store --iterations 1 script.js")
        .run()
        .exits(107)
        .says("set these variables with -e NAME=VALUE: PASSWORD");
}

#[test]
fn assets_and_other_sites_are_left_out_and_counted() {
    let made = converted("--from har", "portal.har", RECORDING);
    let said = made.out.clone() + &made.err;
    assert!(
        said.contains("static asset") && said.contains("to other sites") && said.contains("localhost"),
        "{said}"
    );
    let script = made.read("script.js");
    assert!(
        !script.contains("style.css") && !script.contains("/count") && script.contains("pause("),
        "{script}"
    );
    let all = converted("--keep-static --keep-third-parties", "portal.har", RECORDING).read("script.js");
    assert!(all.contains("/style.css") && all.contains("/count"), "{all}");
}

const OPENAPI: &str = "
openapi: 3.0.3
info: {title: Shop, version: '1'}
servers: [{url: 'https://shop.example'}]
tags: [{name: browse}, {name: buy}]
paths:
  /products:
    get:
      tags: [browse]
      summary: Products of a category
      parameters: [{name: category, in: query, schema: {type: string, default: rope}}]
      responses: {200: {description: ok}}
  /product/{productId}:
    parameters: [{$ref: '#/components/parameters/ProductId'}]
    get:
      tags: [browse]
      responses: {'200': {description: ok}}
  /cart:
    post:
      tags: [buy]
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Line'}}}}
      responses: {'201': {description: created}}
components:
  parameters:
    ProductId: {name: productId, in: path, required: true, schema: {type: integer}, example: 12}
  schemas:
    Line:
      type: object
      required: [product]
      properties:
        product: {type: integer, example: 12}
        quantity: {type: integer, minimum: 1}
        parts: {type: array, items: {$ref: '#/components/schemas/Line'}}
";

#[test]
fn an_openapi_document_runs_and_writes_only_when_asked() {
    let shop = Shop::start(ShopConfig::default()).expect("a shop");
    let made = converted("--from openapi", "api.yaml", OPENAPI);
    let base = format!("--iterations 1 -e BASE_URL={}", shop.url("").trim_end_matches('/'));
    runs_green(&made, &base);
    assert_eq!(shop.server().seen().total, 2);
    runs_green(&made, &format!("{base} -e WRITES=true"));
    assert_eq!(shop.server().seen().total, 5);
}

#[test]
fn a_postman_collection_runs_with_the_values_that_its_scripts_keep() {
    let server = testkit::http::start();
    let base = server.url("");
    let collection = serde_json::json!({
        "info": {"name": "Tasks", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
        "variable": [{"key": "base", "value": base.trim_end_matches('/')}, {"key": "task", "value": ""}],
        "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "a-token-of-somebody"}]},
        "item": [{"name": "Tasks", "item": [
            {"name": "Submit", "request": {"method": "POST", "url": {"raw": "{{base}}/submit?ms=1"}},
             "event": [{"listen": "test", "script": {"exec": [
                "pm.test('accepted', () => pm.response.to.have.status(202));",
                "const body = pm.response.json();",
                "pm.collectionVariables.set('task', body.id);"]}}]},
            {"name": "Poll", "request": {"method": "GET", "url": {"raw": "{{base}}/poll/{{task}}"}},
             "response": [{"code": 200}]},
        ]}],
    });
    let made = converted("--from postman", "tasks.json", &collection.to_string());
    assert!(!made.read("script.js").contains("a-token-of-somebody"));
    runs_green(&made, "--iterations 2 -e TOKEN=t -e ACCESS_TOKEN=t");
}

#[test]
fn curl_commands_run() {
    let shop = Shop::start(ShopConfig::default()).expect("a shop");
    let commands = format!(
        "curl '{0}/products?category=rope' \\\n  -H 'Accept: application/json' --compressed\n\
         curl -sS -X POST {0}/cart -H $'Content-Type: application/json' --data-raw $'{{\"product\": 12, \"note\": \"it\\'s\"}}' | jq .\n",
        shop.url("").trim_end_matches('/')
    );
    let made = converted("--from curl", "commands.sh", &commands);
    runs_green(&made, "--iterations 1");
    assert_eq!(shop.server().seen().total, 2);
    let shown = verb("new --from curl - -o x.js").stdin("curl 'http://h/").run().exits(255);
    shown.says("a quote in line 1 is never closed");
}

/// As in containers that mount little.
#[test]
fn standard_input_needs_no_proc() {
    let without_proc = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c"]);
        command.arg(format!("mount -t tmpfs none /proc && {script}"));
        command
    };
    if !without_proc("true").stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        return eprintln!("skipped: this system gives no process mounts of its own");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let made = without_proc("echo 'curl http://shop.test/a' | \"$0\" new --from curl - -o x.js")
        .arg(env!("CARGO_BIN_EXE_plimsoll"))
        .current_dir(folder.path())
        .output()
        .expect("it starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let script = std::fs::read_to_string(folder.path().join("x.js")).expect("a script");
    assert!(script.contains("shop.test"), "{script}");
}

#[test]
fn a_jmeter_plan_runs_with_its_extractors_and_rows() {
    let server = testkit::http::start();
    let address = server.address();
    let sampler = |name: &str, method: &str, path: &str, below: &str| {
        format!(
            "<HTTPSamplerProxy testname=\"{name}\" enabled=\"true\"><stringProp name=\"HTTPSampler.path\">{path}</stringProp>\
             <stringProp name=\"HTTPSampler.method\">{method}</stringProp></HTTPSamplerProxy><hashTree>{below}</hashTree>"
        )
    };
    let extractor = "<JSONPostProcessor testname=\"id\"><stringProp name=\"JSONPostProcessor.referenceNames\">task</stringProp>\
        <stringProp name=\"JSONPostProcessor.jsonPathExprs\">$.id</stringProp></JSONPostProcessor><hashTree/>";
    let assertion = "<ResponseAssertion testname=\"state\"><collectionProp name=\"Asserion.test_strings\">\
        <stringProp name=\"1\">elapsed_ms</stringProp></collectionProp><stringProp name=\"Assertion.test_field\">Assertion.response_data</stringProp>\
        <intProp name=\"Assertion.test_type\">16</intProp></ResponseAssertion><hashTree/>";
    let plan = format!(
        "<?xml version=\"1.0\"?><jmeterTestPlan version=\"1.2\"><hashTree><TestPlan testname=\"p\"/><hashTree>\
         <ConfigTestElement><stringProp name=\"HTTPSampler.domain\">{}</stringProp><stringProp name=\"HTTPSampler.port\">{}</stringProp>\
         </ConfigTestElement><hashTree/><ThreadGroup testname=\"Visitors\"><stringProp name=\"ThreadGroup.num_threads\">2</stringProp>\
         <stringProp name=\"ThreadGroup.ramp_time\">0</stringProp><elementProp name=\"ThreadGroup.main_controller\">\
         <stringProp name=\"LoopController.loops\">2</stringProp></elementProp></ThreadGroup><hashTree>\
         <CSVDataSet testname=\"times\"><stringProp name=\"filename\">C:\\data\\times.csv</stringProp>\
         <stringProp name=\"variableNames\">ms,name</stringProp></CSVDataSet><hashTree/>\
         <TransactionController testname=\"Task\"/><hashTree>{}{}</hashTree></hashTree></hashTree></hashTree></jmeterTestPlan>",
        address.ip(),
        address.port(),
        sampler("Submit", "POST", "/submit?ms=${ms}", extractor),
        sampler("Poll", "GET", "/poll/${task}?who=${name}", assertion),
    );
    let made = converted("--from jmx", "plan.jmx", &plan);
    std::fs::write(made.folder().join("times.csv"), "1,anna\n2,ben\n").expect("rows");
    runs_green(&made, "");
    // Two VUs with two iterations of two requests, as the thread group says.
    assert_eq!(server.seen().total, 8);
}

#[test]
fn bad_sources_are_refused_with_the_next_step() {
    let check = |from: &str, name: &str, text: &str, expect: &str| {
        verb(&format!("new --from {from} {name} -o out.js")).file(name, text).run().exits(255).says(expect);
    };
    check("har", "x.har", "", "not valid JSON: EOF");
    check("har", "x.har", "{\"log\": {\"entr", "Save all as HAR with content");
    check(
        "har",
        "x.har",
        "{\"log\": {\"entries\": [{\"request\": 1}]}}",
        "not a HAR file: invalid type: integer",
    );
    check("har", "x.har", "{}", "`log.entries` is missing; in the browser's network panel");
    check("har", "x.har", "{\"log\": {\"entries\": []}}", "no request to convert");
    check("openapi", "x.yaml", "openapi: 4.0\npaths: {}", "version 4");
    check("openapi", "x.yaml", "a: [", "not valid YAML");
    check("postman", "x.json", "{\"requests\": []}", "export it as Collection v2.1");
    check("postman", "x.json", "{", "not valid JSON: EOF");
    check("jmx", "x.jmx", "<a><b></a>", "save the test plan in JMeter again");
    check("curl", "x.sh", "wget http://h/", "Copy as cURL");
    check("auto", "x.txt", "hello", "--from har, openapi, postman, curl, jmx");
    check("swagger", "x.yaml", "hello", "expected one of har, openapi");
    let made = converted("--from curl", "c.sh", "curl http://localhost/");
    made.and("new --from curl c.sh -o script.js").run().exits(255).says("--force");
}
