//! The page: its data agree with the terminal and the files.

use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{Plimsoll, Running, eventually, free_address, plimsoll};

const VISITS: &str = "import http from 'k6/http'; import { check, group } from 'k6';
    export const options = { thresholds: {
        http_req_duration: ['p(95)<0.000001', 'max<60000'], http_req_failed: ['rate<0.01'] } };
    export default () => group('<img src=x>', () => {
        const response = http.get(`${__ENV.URL}/json`, { tags: { name: '</script><!--a,b:\"c\"' } });
        check(response, { ok: (r) => r.status === 200, never: () => false }); });";

const OPEN: &str = "
    import http from 'k6/http';
    export const options = {
        scenarios: { s: { executor: 'constant-arrival-rate', rate: 50, duration: '60s', preAllocatedVUs: 5 } },
        thresholds: { http_reqs: ['count>0'] },
    };
    export default () => { http.get(`${__ENV.URL}/json`); console.warn('here'); }";

/// Encodes a text for a query.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Returns an answer of the page.
pub(crate) fn get(address: &str, path: &str) -> Option<String> {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    agent.get(format!("http://{address}{path}")).call().ok()?.body_mut().read_to_string().ok()
}

#[track_caller]
fn json(address: &str, path: &str) -> Value {
    let text = get(address, path).expect("it answers");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}: {text}"))
}

/// Starts `plimsoll serve` beside the runs of another process, and waits until it responds.
pub(crate) fn serve(beside: Plimsoll, address: &str) -> Running {
    let serving = beside.flags(&format!("--address {address}")).start();
    eventually("the page is there", || get(address, "/api/v1/about").is_some());
    serving
}

fn visits(server: &testkit::Server) -> Plimsoll {
    plimsoll(VISITS).against(server)
}

/// Returns a report without parts that have paths of their own on the page.
fn own_part(report: &str) -> Value {
    let mut report: Value = serde_json::from_str(report).expect("JSON");
    for chapter in ["diagnosis", "capacity", "previous"] {
        report.as_object_mut().expect("an object").remove(chapter);
    }
    report
}

#[test]
fn the_page_says_what_the_files_say() {
    let server = testkit::http::start();
    for flags in ["-i 7", "-u 20 -i 6000"] {
        let ran = visits(&server).flags(flags).run().exits(99);
        let address = free_address();
        let serving = serve(ran.and("serve"), &address);
        let page = json(&address, "/api/v1/runs/@last");
        let report = own_part(&ran.and("report --format json").run().exits(0).out);
        assert_eq!(page["report"], report);
        assert_eq!(page["status"], "failed");
        let id = report["run"]["id"].as_str().expect("an id").to_owned();
        let markdown = get(&address, "/api/v1/runs/@last/report.md").expect("it answers");
        assert_eq!(markdown, ran.and("report --format md").run().exits(0).out);
        let html = get(&address, "/api/v1/runs/@last/report.html?lang=ko").expect("it answers");
        assert!(html.contains("plimsoll-data") && html.contains(&id), "{}", html.len());
        let list = json(&address, "/api/v1/runs");
        let row = &list["runs"][0];
        assert_eq!((row["id"].as_str(), row["verdict"].as_str()), (Some(id.as_str()), Some("fail")));
        // The same numbers everywhere.
        let metric = |name: &str| {
            let metrics = report["metrics"].as_array().expect("metrics");
            metrics.iter().find(|metric| metric["name"] == name).expect("it is there")["values"].clone()
        };
        let figures = &page["headline"]["figures"];
        assert_eq!(*figures, row["figures"]);
        assert_eq!(figures["requests"], metric("http_reqs")["count"]);
        // The headline rounds it for people.
        assert_eq!(figures["rate"]["value"], metric("http_reqs")["rate"]["value"]);
        let requests = json(&address, &format!("/api/v1/runs/{id}/requests"));
        assert_eq!(requests["total"]["count"], metric("http_reqs")["count"]);
        assert_eq!(requests["total"]["stats"]["avg"], metric("http_req_duration")["avg"]);
        if flags.contains("6000") {
            assert_eq!(figures["p95"], metric("http_req_duration")["p(95)"]);
            assert_eq!(requests["total"]["stats"]["p95"], metric("http_req_duration")["p(95)"]);
        } else {
            assert_eq!(figures["p95"]["value"], Value::Null);
        }
        let node = &requests["nodes"][0]["children"][0]["children"][0];
        assert_eq!(
            (node["kind"].as_str(), node["name"].as_str()),
            (Some("request"), Some("</script><!--a,b:\"c\""))
        );
        let tags = encoded(node["tags"].as_str().expect("a filter"));
        let own = json(&address, &format!("/api/v1/runs/{id}/distribution?tags={tags}"));
        assert_eq!(own["population"], requests["total"]["count"]["value"]);
        let counts = own["histogram"]["counts"].as_array().expect("columns");
        assert_eq!(
            counts.iter().filter_map(Value::as_u64).sum::<u64>(),
            own["timed"].as_u64().expect("a count")
        );
        let heat = own["heat"]["counts"].as_array().expect("points");
        let all = heat.iter().flat_map(|column| column.as_array().expect("rows")).filter_map(Value::as_u64);
        assert_eq!(all.sum::<u64>(), own["timed"].as_u64().expect("a count"));
        let series = json(&address, &format!("/api/v1/runs/{id}/series"));
        let column = |path: &str| series.pointer(path).and_then(Value::as_array).expect("a column").clone();
        let counts = column("/latency/count");
        assert_eq!(counts.iter().filter_map(Value::as_u64).sum::<u64>(), requests["total"]["count"]["value"]);
        for ((rate, width), count) in column("/requests/values").iter().zip(column("/width")).zip(&counts) {
            let width = width.as_f64().expect("a width");
            match rate.as_f64() {
                Some(rate) => assert!((rate * width - count.as_f64().expect("a count")).abs() < 1e-6),
                // A rate over the rest of a second would be no rate.
                None => assert!(width < 0.5, "{width}"),
            }
        }
        for path in ["errors", "logs", "generator", "validity", "audit", "thresholds", "traces", "services"] {
            let answer = json(&address, &format!("/api/v1/runs/{id}/{path}"));
            assert!(answer.is_object() && answer.get("error").is_none(), "{path}: {answer}");
        }
        let thresholds = json(&address, "/api/v1/runs/@last/thresholds");
        assert_eq!(thresholds["thresholds"][0]["condition"], report["thresholds"][0]["condition"]);
        let part = json(&address, "/api/v1/runs/@last?from=0&to=1");
        assert_eq!(part["window"]["isWhole"], page["seconds"] == 1, "{}", part["window"]);
        assert_eq!(json(&address, "/api/v1/runs/@last?from=9999")["error"]["status"], 400);
        assert_eq!(json(&address, "/api/v1/runs/@last/series?metric=nope")["error"]["status"], 404);
        assert_eq!(json(&address, "/api/v1/runs/ffffffffffffffff")["error"]["status"], 404);
        serving.signal(Signal::INT);
        serving.wait().exits(0);
    }
}

#[test]
fn a_part_says_what_its_report_says_whatever_was_asked_before() {
    let server = testkit::http::start();
    let ran = plimsoll(&OPEN.replace("'60s'", "'3s'")).against(&server).run().exits(0);
    let report = |flags: &str| -> Value {
        own_part(&ran.and(&format!("report --format json {flags}")).run().exits(0).out)
    };
    let (whole, part) = (report(""), report("--window 1s..2s"));
    for first in ["/api/v1/runs/@last", "/api/v1/runs/@last?from=0&to=2", "/api/v1/runs/@last/series"] {
        let address = free_address();
        let serving = serve(ran.and("serve"), &address);
        json(&address, first);
        for _ in 0..2 {
            assert_eq!(json(&address, "/api/v1/runs/@last?from=1&to=2")["report"], part, "after {first}");
            assert_eq!(json(&address, "/api/v1/runs/@last")["report"], whole, "after {first}");
        }
        let series = json(&address, "/api/v1/runs/@last/series");
        let of_part = json(&address, "/api/v1/runs/@last/series?from=1&to=2");
        assert_eq!(of_part["t"], serde_json::json!([1]));
        for path in ["/requests/values", "/offered/values", "/latency/p50/values", "/latency/count", "/width"]
        {
            let (all, one) =
                (series.pointer(path).expect("a column"), of_part.pointer(path).expect("a column"));
            assert_eq!(all[1], one[0], "{path}");
        }
        serving.signal(Signal::INT);
        serving.wait().exits(0);
    }
}

#[test]
fn points_join_until_a_percentile_exists_and_any_metric_is_drawn() {
    let server = testkit::http::start();
    let script = OPEN.replace("rate: 50", "rate: 150").replace("'60s'", "'2s'");
    let ran = plimsoll(&script).against(&server).run().exits(0);
    let address = free_address();
    let serving = serve(ran.and("serve"), &address);
    let series = json(&address, "/api/v1/runs/@last/series");
    // No second has the 200 samples that a p95 needs, but two have.
    let column = |path: &str| series.pointer(path).and_then(Value::as_array).expect("a column").clone();
    let p95 = column("/latency/p95/values");
    assert!(p95[..2].iter().all(Value::is_number), "{}", series["latency"]);
    assert!(column("/latency/p95/notes").iter().any(|note| note["why"] == "widened"));
    let ok = &series["statuses"][0];
    let total = column("/latency/count").iter().filter_map(Value::as_u64).sum::<u64>();
    assert_eq!((&ok["status"], ok["total"].as_u64()), (&Value::from("200"), Some(total)));
    let chosen = |query: &str| -> (Value, Option<f64>) {
        let answer = json(&address, &format!("/api/v1/runs/@last/series?{query}"));
        assert_eq!(answer["latency"]["metric"], "http_req_response_time");
        (answer["chosen"]["type"].clone(), answer["chosen"]["values"]["values"][0].as_f64())
    };
    assert_eq!(chosen("metric=http_req_failed"), ("rate".into(), Some(0.0)));
    assert!(chosen("metric=http_reqs").1.is_some_and(|rate| rate > 100.0));
    let tags = encoded(r#"{"status":"404"}"#);
    assert_eq!(chosen(&format!("metric=http_reqs&tags={tags}")), ("counter".into(), Some(0.0)));
    serving.signal(Signal::INT);
    serving.wait().exits(0);
}

/// Collects the texts of an answer that are sentences of the program, each with its key.
fn sentences<'a>(value: &'a Value, found: &mut Vec<(&'a str, &'a str)>) {
    const KEYS: [&str; 8] =
        ["sentence", "line", "claim", "implies", "remedy", "says", "noResponseTime", "closing"];
    match value {
        Value::Array(values) => values.iter().for_each(|value| sentences(value, found)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str() {
                    Some(text) if KEYS.contains(&key.as_str()) && !text.is_empty() => found.push((key, text)),
                    _ => sentences(value, found),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn sentences_are_in_the_language_that_is_asked_for() {
    let server = testkit::http::start();
    let ran = visits(&server).flags("-i 30").run().exits(99);
    let address = free_address();
    let serving = serve(ran.and("serve"), &address);
    let mut sentences_found = 0;
    for view in ["", "/errors", "/validity", "/generator", "/audit", "/thresholds", "/requests"] {
        let answer = json(&address, &format!("/api/v1/runs/@last{view}?lang=ko"));
        let mut found = Vec::new();
        sentences(&answer, &mut found);
        for (key, text) in &found {
            assert!(text.contains(|glyph: char| ('가'..='힣').contains(&glyph)), "{view}: {key}: {text}");
        }
        sentences_found += found.len();
    }
    assert!(sentences_found >= 5, "{sentences_found} sentences");
    serving.signal(Signal::INT);
    serving.wait().exits(0);
}

#[test]
fn comparisons_and_histories_are_those_of_their_verbs() {
    let server = testkit::http::start();
    let ran = visits(&server).flags("-i 30").run().exits(99);
    ran.and("run script.js -i 30").env("URL", server.url("").trim_end_matches('/')).run().exits(99);
    let address = free_address();
    let serving = serve(ran.and("serve"), &address);
    let compared: Value =
        serde_json::from_str(&ran.and("compare --format json").run().exits(0).out).expect("JSON");
    let page = json(&address, "/api/v1/compare?a=@prev&b=@last");
    assert_eq!(page["comparison"], compared);
    assert_eq!(page["texts"].as_array().map(Vec::len), compared["rows"].as_array().map(Vec::len));
    let korean = json(&address, "/api/v1/compare?a=@prev&b=@last&lang=ko");
    assert!(korean["sentence"] != page["sentence"] && korean["comparison"] == page["comparison"]);
    let history: Value =
        serde_json::from_str(&ran.and("history --format json").run().exits(0).out).expect("JSON");
    assert_eq!(json(&address, "/api/v1/history?script=@last"), history);
    for path in ["/api/v1/compare?a=../x.plimsoll&b=@last", "/api/v1/history?script=/x.plimsoll"] {
        assert_eq!(json(&address, path)["error"]["status"], 400, "{path}");
    }
    let agent: ureq::Agent = ureq::Agent::config_builder().build().into();
    let put = |run: &str, what: &str, body: &str| {
        let request =
            agent.put(format!("http://{address}/api/v1/runs/{run}/{what}")).header("x-plimsoll", "1");
        request.send(body).expect("it is written").body_mut().read_to_string().expect("an answer")
    };
    assert_eq!(put("@prev", "note", "{\"note\":\"before\"}"), "{\"note\":\"before\",\"isBaseline\":false}");
    put("@prev", "baseline", "{\"isBaseline\":true}");
    assert_eq!(put("@last", "baseline", "{\"isBaseline\":true}"), "{\"note\":\"\",\"isBaseline\":true}");
    let rows = json(&address, "/api/v1/runs");
    let seen = |place: usize, key: &str| rows["runs"][place][key].clone();
    assert_eq!(
        [seen(0, "isBaseline"), seen(1, "isBaseline"), seen(1, "note")],
        [Value::from(true), Value::from(false), Value::from("before")]
    );
    assert_eq!(json(&address, "/api/v1/runs/@prev")["note"], "before");
    let first = json(&address, "/api/v1/runs?limit=1");
    let before = first["before"].as_str().expect("there is an older one");
    assert_eq!(
        json(&address, &format!("/api/v1/runs?before={before}"))["runs"][0]["id"],
        rows["runs"][1]["id"]
    );
    serving.signal(Signal::INT);
    serving.wait().exits(0);
}

#[test]
fn a_run_is_watched_and_stopped_on_its_page() {
    let server = testkit::http::start();
    let running = plimsoll(OPEN).against(&server).flags("--no-page=false --log-output=file=log.txt").start();
    let log = || std::fs::read_to_string(running.folder().join("log.txt")).unwrap_or_default();
    eventually("the address is printed", || log().contains("page: http://127.0.0.1:"));
    let printed = log();
    let link =
        printed.lines().find_map(|line| line.split_once("page: http://")).expect("an address").1.trim();
    let (address, path) = link.split_once('/').expect("a path");
    let id = path.strip_prefix("runs/").expect("the run").to_owned();
    let about = json(address, "/api/v1/about");
    assert_eq!((about["mode"].as_str(), about["run"].as_str()), (Some("run"), Some(id.as_str())));
    let agent: ureq::Agent = ureq::Agent::config_builder().build().into();
    let mut events = agent.get(format!("http://{address}/api/v1/runs/{id}/events")).call().expect("events");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(events.body_mut().as_reader()));
    let mut next = |event: &str| -> Value {
        let mut is_it = false;
        for line in lines.by_ref() {
            let line = line.expect("events come");
            match line.strip_prefix("data: ") {
                Some(data) if is_it => return serde_json::from_str(data).expect("JSON"),
                _ => is_it = line == format!("event: {event}") || (is_it && line.starts_with("id: ")),
            }
        }
        panic!("{event} never came");
    };
    let tick = next("tick");
    assert_eq!((tick["state"]["phase"].as_str(), tick["point"]["step"].as_u64()), (Some("running"), Some(1)));
    assert_eq!(tick["state"]["plannedMs"], 60_000);
    let offered = tick["point"]["offered"]["values"][0].as_f64().expect("a planned rate");
    assert!((offered - 50.0).abs() < 1.0, "{offered}");
    assert_eq!(tick["headline"]["verdict"], "inconclusive");
    assert_eq!(next("log")["message"], "here");
    assert_eq!(next("thresholds")["thresholds"][0]["condition"], "count>0");
    let page = json(address, &format!("/api/v1/runs/{id}"));
    assert_eq!(
        (page["status"].as_str(), page["report"]["run"]["state"].as_str()),
        (Some("live"), Some("live"))
    );
    let pace = next("tick")["state"]["pace"].clone();
    assert!(matches!(pace["kind"].as_str(), Some("keeping" | "saturated")), "{pace}");
    // A page that is opened later draws the seconds before it, too.
    let series = json(address, &format!("/api/v1/runs/{id}/series"));
    assert!(series["latency"]["p50"]["values"][0].is_number(), "{}", series["latency"]);
    let stop = agent.post(format!("http://{address}/api/v1/runs/{id}/stop")).header("x-plimsoll", "1");
    assert_eq!(stop.send_empty().expect("it is stopped").status().as_u16(), 202);
    assert!(next("ended")["reopen"].as_str().expect("a text").contains(&id));
    running.wait().exits(103);
}

#[test]
fn nobody_is_shown_a_page_who_does_not_look() {
    let server = testkit::http::start();
    let ran = visits(&server).flags("-i 1").run().exits(99);
    assert!(!ran.err.contains("page: "), "{}", ran.err);
    let ran = visits(&server).flags("-i 1 --no-page=false --no-store").run().exits(99);
    assert!(!ran.err.contains("page: "), "{}", ran.err);
}

#[test]
fn a_report_is_one_file_that_no_name_breaks() {
    let server = testkit::http::start();
    let ran = visits(&server).flags("-i 20 --report html=own.html").run().exits(99);
    for (lang, text) in [
        ("en", ran.read("own.html")),
        ("ko", ran.and("report --format html --lang ko").run().exits(0).out.clone()),
    ] {
        let (_, rest) = text.split_once("id=\"plimsoll-data\">").expect("the data");
        let (data, _) = rest.split_once("</script>").expect("its end");
        assert!(!data.contains('<'), "a name ends the data");
        let data: Value = serde_json::from_str(data).expect("JSON");
        assert_eq!(data["lang"], lang);
        let answers = data["answers"].as_object().expect("answers");
        let id = answers["/api/v1/about"]["run"].as_str().expect("an id");
        let report: Value =
            serde_json::from_str(&ran.and("report --format json").run().exits(0).out).expect("JSON");
        let own = &answers[&format!("/api/v1/runs/{id}")]["report"];
        assert_eq!((&own["metrics"], &own["thresholds"]), (&report["metrics"], &report["thresholds"]));
        for view in [
            "series",
            "requests",
            "distribution",
            "errors",
            "logs",
            "generator",
            "validity",
            "audit",
            "thresholds",
        ] {
            assert!(answers.contains_key(&format!("/api/v1/runs/{id}/{view}")), "{view}");
        }
        assert!(answers.keys().any(|path| path.contains("distribution?tags=")));
        assert!(text.len() < 2 << 20, "{} bytes", text.len());
    }
}
