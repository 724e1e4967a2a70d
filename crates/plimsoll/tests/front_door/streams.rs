//! Streams and shared data: the guides' scripts, the example for language models, HTTP/2, several agents.

use crate::harness::{plimsoll, verb};

const STREAMS: &str = include_str!("../../../../docs/guide/streams.md");
const DATA: &str = include_str!("../../../../docs/guide/data.md");
const CHAT: &str = include_str!("../../../../examples/llm/chat.js");

/// Returns the script with this number in a guide; every one that imports a module of the host is a whole script.
fn script(guide: &'static str, number: usize) -> &'static str {
    let blocks = guide.split("```js\n").skip(1).filter_map(|block| block.split("```").next());
    blocks.filter(|block| block.contains("import ")).nth(number).expect("the guide has it")
}

#[test]
fn the_guides_chat_is_measured_over_both_versions_of_http() {
    for server in [testkit::http::start(), testkit::http::start_http2()] {
        let path = "/v1/chat/completions";
        let source = script(STREAMS, 0).replace(path, &format!("{path}?count=21&ms=10&wait=30"));
        let ran = plimsoll(&source).against(&server).flags("--insecure-skip-tls-verify").run().exits(0);
        let asked = server.settled().for_path(path);
        assert_eq!((ran.count("llm_tokens"), ran.count("http_reqs")), (21 * asked, asked), "{}", ran.err);
        assert_eq!(ran.value("llm_complete", "value"), Some(1.0));
        let value = |metric, stat| ran.value(metric, stat).expect("it was measured");
        assert!(value("llm_first_token", "min") >= 29.0);
        // Twenty gaps in 200 ms: none can be missed, and the mean is the pace unless the machine held the server back.
        let (gap_ms, duration_ms) = (value("llm_token_gap", "avg"), value("http_req_duration", "avg"));
        assert!(gap_ms > 9.0 && gap_ms <= (duration_ms - 29.0) / 20.0 + 0.1, "{gap_ms} of {duration_ms}");
        assert!(ran.out.contains("llm_tokens_per_second"), "{}", ran.out);
    }
}

#[test]
fn the_other_scripts_of_the_guides_run() {
    let server = testkit::http::start();
    let events = script(STREAMS, 1).replace("/events", "/events?count=5&ms=1");
    let ran = plimsoll(&events).against(&server).run().exits(0);
    assert_eq!((ran.count("stream_events"), ran.count("http_reqs")), (5, 1));
    let sse = script(STREAMS, 2).replace("/events", "/events?count=100&ms=1");
    let ran = plimsoll(&sse).against(&server).run().exits(0);
    assert_eq!((ran.count("sse_event"), ran.value("checks", "value")), (5, Some(1.0)));

    let users = "name,password\nann,1\nbob,2\n";
    let ran = plimsoll(script(DATA, 0)).file("users.csv", users).against(&server).flags("-i 5 -u 1").run();
    let ran = ran.exits(108).says("all 2 rows of ./users.csv are used");
    assert_eq!(ran.count("http_reqs"), 2, "one for each row");
    plimsoll(script(DATA, 1)).run().exits(0).says("10 orders, 0 left, 10 owners");
}

#[test]
fn the_example_for_language_models_meets_its_thresholds() {
    let server = testkit::http::start();
    let api = server.url("/v1/chat/completions?count=10&ms=5");
    let ran = plimsoll(CHAT).env("API", &api).env("DURATION", "1s").run().exits(0);
    assert!(ran.count("llm_tokens") >= 40, "{}", ran.out);
    let ran = plimsoll(CHAT).env("API", &format!("{api}&end=cut")).env("DURATION", "1s").run().exits(99);
    assert_eq!(ran.value("llm_complete", "value"), Some(0.0));
}

#[test]
fn inspect_misses_none_of_the_modules() {
    let script = "import sse from 'k6/x/sse'; import 'plimsoll/stream'; import 'plimsoll/data'; import 'plimsoll/shared';
        export default () => {}";
    let inspected = verb("inspect -").stdin(script).run().exits(0);
    let inspected = inspected.says("k6/x/sse, plimsoll/data, plimsoll/shared, plimsoll/stream");
    assert!(!inspected.err.contains("missing"), "{}", inspected.err);
}

#[test]
fn agents_share_the_rows_and_no_values() {
    let server = testkit::http::start();
    let rows: String = std::iter::once("n\n".to_owned()).chain((0..40).map(|n| format!("{n}\n"))).collect();
    let script = "import http from 'k6/http'; import { rows } from 'plimsoll/data';
        const numbers = rows('./numbers.csv', { order: 'unique', end: 'error' });
        export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 4, iterations: 10 } } };
        export default () => http.get(`${__ENV.URL}/status/2${String(numbers.next().n).padStart(2, '0')}`);";
    let ran = plimsoll(script).file("numbers.csv", &rows).against(&server).flags("--agents 2").run().exits(0);
    let seen = server.settled();
    assert_eq!((seen.total, ran.count("http_reqs")), (40, 40));
    let each: Vec<u64> = (0..40).map(|n| seen.for_path(&format!("/status/2{n:02}"))).collect();
    assert_eq!(each, [1; 40], "every row once");

    let script = "import { counter } from 'plimsoll/shared'; const hits = counter('hits'); export default () => hits.add()";
    let refused = plimsoll(script).flags("--agents 2 -u 2 -i 2").run();
    assert_ne!(refused.code, Some(0));
    assert!(refused.err.contains("plimsoll/shared holds values of one process"), "{}", refused.err);
    let refused = plimsoll(script).flags("--execution-segment 0:1/2 -u 2 -i 2").run();
    assert!(refused.err.contains("plimsoll/shared holds values of one process"), "{}", refused.err);
}

#[test]
fn archives_have_the_rows() {
    let script = "import { rows } from 'plimsoll/data'; const users = rows('./users.csv');
        export default () => console.log(users.next().name)";
    let made = verb("archive s.js").file("s.js", script).file("users.csv", "name\nann\n").run().exits(0);
    std::fs::remove_file(made.folder().join("users.csv")).expect("it was there");
    made.and("run archive.tar").run().exits(0).says("ann");
}

/// The same number of rows out of a small file and of one of 200 MB, in the order of the file and in any.
#[test]
fn memory_does_not_grow_with_the_file() {
    const ROW_BYTES: usize = 8 << 10;
    const ROWS: usize = 25_000;
    let row = format!("{{\"name\":\"{}\"}}\n", "x".repeat(ROW_BYTES - 12));
    let script = "import { rows } from 'plimsoll/data';
        const all = rows('./rows.ndjson'), any = rows('./rows.ndjson', { order: 'random' });
        export default () => {
          for (let i = 0; i < 25000; i++) all.next();
          for (let i = 0; i < 100; i++) any.next();
        }";
    let resident_kib = |rows: usize| {
        let run = plimsoll(script);
        let file = std::fs::File::create(run.folder().join("rows.ndjson")).expect("a file");
        let mut file = std::io::BufWriter::new(file);
        (0..rows).for_each(|_| std::io::Write::write_all(&mut file, row.as_bytes()).expect("capacity"));
        drop(file);
        run.run().exits(0).resident_max_kib.expect("it ran for a while")
    };
    let (small, large) = (resident_kib(250), resident_kib(ROWS));
    assert!(large < small + (24 << 10), "{large} KiB, and {small} KiB of a file of 2 MB");
}
