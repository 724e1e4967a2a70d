//! Usual mistakes in scripts: the messages name the cause and the place.

use super::code::{check_refused, init};
use super::*;

/// The log of two iterations of a script against the test server.
fn logs(body: &str) -> Vec<String> {
    let server = testkit::http::start();
    let source = format!(
        "import http from 'k6/http';\nconst BASE = __ENV.BASE;\nexport default function () {{\n{body}\n}}"
    );
    run_against(server.url("").trim_end_matches('/'), 2, &source).logs
}

#[track_caller]
fn check(body: &str, expect: &[&str]) {
    let found = logs(body);
    let warnings: Vec<&String> = found.iter().filter(|line| !line.starts_with("Request Failed")).collect();
    assert_eq!(warnings, expect, "{body}");
}

const FILE: &str = "file:///scripts/test.js";

#[test]
fn a_missing_value_in_a_url_is_named() {
    let (host, id) = ("__ENV.NOWHERE", "user.id");
    check(
        "http.get(`${__ENV.NOWHERE}/items`);",
        &[&format!(
            "the URL \"undefined/items\" contains \"undefined\": `{host}` has no value; set it with -e \
             NOWHERE=VALUE ({FILE}:4)"
        )],
    );
    let found = logs("const user = {};\nhttp.get(BASE + '/anything/' + user.id);");
    assert_eq!(found.len(), 1, "once per place, whatever the number of iterations: {found:?}");
    assert!(
        found[0].contains(&format!(
            "/anything/undefined\" contains \"undefined\": `{id}` has no value ({FILE}:5)"
        )),
        "{found:?}"
    );
    check(
        "const where = undefined;\nhttp.get(where);",
        &[&format!("the URL is undefined: `where` has no value ({FILE}:5)")],
    );
    let made = "const url = [BASE, 'anything', 'undefined'].join('/');\nhttp.get(url);";
    let found = logs(made);
    assert!(found[0].ends_with(&format!("contains \"undefined\" ({FILE}:5)")), "{found:?}");
    check("http.get(`${BASE}/anything/defined`);", &[]);
}

#[test]
fn a_page_in_place_of_json_is_quoted() {
    let quoted = "the response has status 200 and begins with \"<!DOCTYPE html>\\n<html lang=\\\"en\\\"><head><title>testkit</title>\"…";
    check(
        "http.get(`${BASE}/html`).json('slideshow.title');\nhttp.get(`${BASE}/get`).json('nowhere');",
        &[&format!("res.json(\"slideshow.title\") finds nothing: {quoted} ({FILE}:4)")],
    );
    let found = logs("try { http.get(`${BASE}/html`).json() } catch (error) { console.log(error.message) }");
    assert_eq!(
        found[0],
        format!(
            "cannot parse json due to an error at line 1, character 1 , error: expected value at line 1 column 1; {quoted}"
        )
    );
    let found =
        logs("try { http.get(`${BASE}/bytes/0`).json() } catch (error) { console.log(error.message) }");
    assert!(found[0].ends_with("; the response has status 200 and an empty body"), "{found:?}");
}

#[test]
fn missing_modules_and_files_are_suggested() {
    check_refused(
        "a.js",
        "import http from 'k6/htttp'",
        &["unknown module: k6/htttp; did you mean \"k6/http\"?"],
    );
    check_refused(
        "a.js",
        "open('./lib/utl.js')",
        &["packages/lib/utl.js\" couldn't be found", "did you mean \"", "packages/lib/util.js\"?"],
    );
    check_refused("a.js", "open('util.js')", &["did you mean \"", "packages/lib/util.js\"?"]);
}

#[test]
fn a_function_declared_twice_is_accepted_with_a_warning() {
    let text = "function helper() { return 1 }\nfunction helper() { return 2 }\nconsole.log(helper());\nexport default function () {}";
    let found = init("a.js", text).expect("k6 accepts it");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("helper() is declared 2 times at the top level of file://"), "{found:?}");
    assert!(found[0].contains("in lines 1, 2: the last declaration counts"), "{found:?}");
    assert_eq!(found[1], "2");
    check_refused("a.js", "let a = 1; let a = 2;", &["invalid redefinition"]);
}
