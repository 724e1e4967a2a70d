//! Sources in, scripts out.

use draft::{Draft, DraftError, Kind, Settings, convert};

fn try_convert(kind: Kind, text: &str) -> Result<Draft, DraftError> {
    convert(kind, &mut text.as_bytes(), &Settings::default())
}

fn script(kind: Kind, text: &str) -> String {
    try_convert(kind, text).expect("a script").script
}

/// A request of a recording with its response.
fn entry(second: u32, request: &str, response: &str) -> String {
    format!(
        "{{\"startedDateTime\": \"2026-11-26T06:00:{second:02}.000Z\", \"time\": 10, \"request\": {request}, \"response\": {response}}}"
    )
}

fn get(path: &str) -> String {
    format!("{{\"method\": \"GET\", \"url\": \"https://shop.example{path}\", \"headers\": []}}")
}

fn post(path: &str, body: &str) -> String {
    format!(
        "{{\"method\": \"POST\", \"url\": \"https://shop.example{path}\", \"headers\": [], \
         \"postData\": {{\"mimeType\": \"application/json\", \"text\": {}}}}}",
        serde_json::Value::from(body)
    )
}

fn json(status: u16, body: &str) -> String {
    format!(
        "{{\"status\": {status}, \"headers\": [], \"content\": {{\"mimeType\": \"application/json\", \"text\": {}}}}}",
        serde_json::Value::from(body)
    )
}

fn har(entries: &[String]) -> String {
    format!("{{\"log\": {{\"entries\": [{}]}}}}", entries.join(", "))
}

#[track_caller]
fn has(text: &str, part: &str) {
    assert!(text.contains(part), "{part:?} is not in:\n{text}");
}

#[track_caller]
fn has_not(text: &str, part: &str) {
    assert!(!text.contains(part), "{part:?} is in:\n{text}");
}

#[test]
fn short_ids_are_taken_from_responses_that_speak_of_the_same_thing() {
    let text = script(
        Kind::Har,
        &har(&[
            entry(1, &post("/orders", "{\"quantity\": 17}"), &json(201, "{\"id\": 17, \"quantity\": 17}")),
            entry(2, &get("/orders/17"), &json(200, "{}")),
            entry(3, &get("/users/17"), &json(200, "{}")),
        ]),
    );
    has(&text, "orderId = response.json('id');");
    has(&text, "`${BASE_URL}/orders/${orderId}`,");
    has(&text, "{ tags: { name: 'GET /orders/{orderId}' } }");
    has(&text, "headers: { 'Content-Type': 'application/json' }");
    // Another thing has the same number.
    has(&text, "http.get(`${BASE_URL}/users/17`)");
}

#[test]
fn a_value_that_the_client_sent_first_is_its_own() {
    let id = "3f2b8c1d-0000-4000-8000-1234567890ab";
    let text = script(
        Kind::Har,
        &har(&[
            entry(
                1,
                &post("/drafts", &format!("{{\"draft\": \"{id}\"}}")),
                &json(200, &format!("{{\"draft\": \"{id}\"}}")),
            ),
            entry(2, &get(&format!("/drafts/{id}")), &json(200, "{}")),
        ]),
    );
    has_not(&text, "response.json(");
    has(&text, &format!("/drafts/{id}`"));
}

#[test]
fn values_are_found_by_the_text_around_them_and_in_headers() {
    let page = "{\"status\": 200, \"headers\": [{\"name\": \"etag\", \"value\": \"v-0123456789ab\"}], \"content\": \
         {\"mimeType\": \"text/html\", \"text\": \"<script>var nonce = 'n0nce-4711-abcdef';</script>\"}}";
    let request = "{\"method\": \"GET\", \"url\": \"https://shop.example/next?nonce=n0nce-4711-abcdef\", \
         \"headers\": [{\"name\": \"If-Match\", \"value\": \"v-0123456789ab\"}]}";
    let text = script(Kind::Har, &har(&[entry(1, &get("/"), page), entry(2, request, &json(200, "{}"))]));
    has(&text, "nonce = between(response.body, 'nonce = \\'', '\\'');");
    has(&text, "?nonce=${encodeURIComponent(nonce)}");
    has(&text, "= response.headers['Etag'];");
}

#[test]
fn secrets_become_variables_wherever_they_stand() {
    let request = "{\"method\": \"GET\", \"url\": \"https://shop.example/a?api_key=k3y-k3y-k3y&next=k3y-k3y-k3y\", \"headers\": [\
         {\"name\": \"Authorization\", \"value\": \"Basic YW5uYTpodW50ZXIy\"}, {\"name\": \"Cookie\", \"value\": \"sid=c00kie-c00kie; _ga=1\"}, \
         {\"name\": \"X-Session-Token\", \"value\": \"s3ss10n-t0ken\"}]}";
    let draft = try_convert(Kind::Har, &har(&[entry(1, request, &json(200, "{}"))])).expect("a script");
    for secret in ["k3y-k3y", "YW5uYTpodW50ZXIy", "hunter2", "c00kie", "s3ss10n"] {
        has_not(&draft.script, secret);
        has_not(&draft.summary("s.js"), secret);
    }
    let variables: Vec<&str> = draft.secrets.iter().map(|secret| secret.variable.as_str()).collect();
    assert_eq!(variables, ["COOKIE_SID", "PASSWORD", "X_SESSION_TOKEN", "API_KEY"]);
    has(&draft.script, "encoding.b64encode(`anna:${__ENV.PASSWORD}`)");
    has(&draft.script, "?api_key=${__ENV.API_KEY}&next=${__ENV.API_KEY}");
}

#[test]
fn redirects_are_one_request_with_the_last_status() {
    let moved = "{\"status\": 302, \"headers\": [{\"name\": \"Location\", \"value\": \"/done/8f14e45fceea167a\"}], \"content\": {}}";
    let draft = try_convert(
        Kind::Har,
        &har(&[
            entry(1, &post("/pay", "{\"a\": 1}"), moved),
            entry(2, &get("/done/8f14e45fceea167a"), &json(200, "{}")),
            entry(3, &get("/receipt/8f14e45fceea167a"), &json(200, "{}")),
        ]),
    )
    .expect("a script");
    assert_eq!((draft.counts.requests, draft.left_out.redirected), (2, 1));
    has(&draft.script, "receiptId = between(response.url, 'done/', '');");
}

#[test]
fn a_cut_recording_keeps_its_complete_entries() {
    let whole = har(&[entry(1, &get("/a"), &json(200, "{}")), entry(2, &get("/b"), &json(200, "{}"))]);
    let draft = try_convert(Kind::Har, &whole[..whole.len() - 40]).expect("a script");
    assert_eq!(draft.counts.requests, 1);
    assert!(draft.notes[0].contains("ends in the middle"), "{:?}", draft.notes);
}

#[test]
fn recursive_schemas_and_references_end() {
    let draft = try_convert(
        Kind::OpenApi,
        "openapi: 3.0.0\npaths:\n  /nodes:\n    post:\n      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Node'}}}}\n\
         \x20     responses: {default: {}}\ncomponents:\n  schemas:\n    Node: {type: object, required: [left, right], properties: {name: {type: string}, \
         left: {$ref: '#/components/schemas/Node'}, right: {$ref: '#/components/schemas/Node'}, loop: {$ref: '#/components/schemas/Loop'}}}\n\
         \x20   Loop: {$ref: '#/components/schemas/Loop'}\n",
    )
    .expect("a script");
    assert!(draft.script.len() < 60_000, "{} bytes", draft.script.len());
    has(&draft.script, "if (WRITES)");
    has(&draft.notes.join("\n"), "a value is too deep or too large; it ends with null");
}

#[test]
fn long_and_odd_names_are_labels() {
    let long = "x".repeat(500);
    let odd = "a'b`${c}\\n*/ \u{2028}";
    let collection = serde_json::json!({
        "info": {"name": odd, "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
        "item": [{"name": long, "item": [{"name": odd, "request": {"method": "GET", "url": "http://h/"}}]}],
    });
    let text = script(Kind::Postman, &collection.to_string());
    has(&text, &format!("group('{}…'", "x".repeat(99)));
    has_not(&text, &"x".repeat(101));
    has(&text, "'a\\'b`${c}\\\\n*/: status below 400'");
}

#[test]
fn too_many_requests_are_refused_with_the_limit() {
    let entries: Vec<String> =
        (0..2_001).map(|n| entry(1, &get(&format!("/{n}x")), &json(200, "{}"))).collect();
    let error = try_convert(Kind::Har, &har(&entries)).expect_err("too many");
    has(
        &error.to_string(),
        "2001 requests, and a script has at most 2000; record less, or keep a part: jq '.log.entries |= .[:2000]'",
    );
}

#[test]
fn variables_without_a_value_are_required() {
    let collection = serde_json::json!({
        "info": {"name": "c"},
        "item": [{"name": "r", "request": {"method": "GET", "url": "{{host}}/a/{{pass word}}", "header": [{"key": "X-Token", "value": "{{token}}"}]}}],
    });
    let draft = try_convert(Kind::Postman, &collection.to_string()).expect("a script");
    let unset: Vec<&str> = draft.unset.iter().map(|(variable, _)| variable.as_str()).collect();
    assert_eq!(unset, ["HOST"]);
    let secrets: Vec<&str> = draft.secrets.iter().map(|secret| secret.variable.as_str()).collect();
    assert_eq!(secrets, ["PASS_WORD", "TOKEN"]);
    has(&draft.script, "const required = ['PASS_WORD', 'TOKEN', 'HOST'];");
}
