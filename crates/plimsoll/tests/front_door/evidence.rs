//! Server-side evidence of a real run: the same number in every report.

use std::path::Path;
use std::time::Duration;

use model::{Datum, Evidence, Gap, Instant, Record, RecordKind, Signal};
use runfile::Reader;
use serde_json::Value;

use crate::harness::{Ran, plimsoll};

/// Returns a run of some seconds whose file contains evidence.
fn observed() -> Ran {
    let server = testkit::http::start();
    let script = "import http from 'k6/http'; import { sleep } from 'k6';
        export default () => { http.get(`${__ENV.URL}/json`); sleep(0.1); };";
    let ran = plimsoll(script).against(&server).flags("-u 2 -d 4s").run().exits(0);
    ran.and("export @last --format plimsoll -o seen.plimsoll").run().exits(0);
    let path = ran.folder().join("seen.plimsoll");
    let start = start(&path);
    runfile::add_evidence(&path, &evidence(start), &redact::Redactor::default()).expect("the run is over");
    ran
}

fn start(path: &Path) -> Instant {
    let reader = Reader::open(path).expect("it was written");
    let first = reader.range().expect("it has windows").start;
    reader.spans(first..first + 1).expect("it has windows")[0].1.start
}

/// Returns evidence of a queue that fills and drains, and of a source that was unreachable for a second.
fn evidence(start: Instant) -> Evidence {
    let at = |second: u64| start + Duration::from_secs(second);
    let depths = [0.0, 352.0, 120.0, 7.0];
    // Values after the run do not count for peaks. Windows start about a second apart, so a point at the border could belong to
    // either.
    let within = |second: u64| at(second) + Duration::from_millis(200);
    let points = depths.into_iter().zip(0..).map(|(depth, second)| (within(second), depth));
    let points = points.chain([(at(60), 9e9)]);
    Evidence {
        signals: vec![Signal {
            source: "rabbitmq".to_owned(),
            name: "queue_ready".into(),
            labels: [("queue".to_owned(), "</script><b>scan.vision".to_owned())].into(),
            unit: String::new(),
            query: "GET /api/queues: messages_ready".to_owned(),
            step: Duration::from_secs(1),
            points: points.collect(),
        }],
        records: vec![Record {
            source: "postgresql".to_owned(),
            kind: RecordKind::Statement,
            at: at(4),
            subject: "SELECT rating".to_owned(),
            fields: [("calls".to_owned(), Datum::from(40.0)), ("total_ms".to_owned(), Datum::from(500.0))]
                .into(),
        }],
        gaps: vec![Gap {
            source: "postgresql".to_owned(),
            from: at(1),
            to: at(2),
            reason: "connection refused".to_owned(),
        }],
        ..Evidence::default()
    }
}

#[test]
fn a_queue_has_the_same_peak_on_every_surface() {
    let ran = observed();
    let markdown = ran.and("report seen.plimsoll --format md").run().exits(0).out.clone();
    for part in ["| 0 | 352 | 0:01 | 7 |", "SELECT rating", "12.5ms", "connection refused", "messages_ready"]
    {
        assert!(markdown.contains(part), "{part} is not in: {markdown}");
    }
    let korean = ran.and("report seen.plimsoll --format md --lang ko").run().exits(0).out.clone();
    assert!(korean.contains("| 0 | 352 | 0:01 | 7 |") && korean.contains("#### 큐\n"), "{korean}");

    let html = ran.and("report seen.plimsoll --format html").run().exits(0).out.clone();
    let (_, data) = html.split_once("id=\"plimsoll-data\">").expect("the data");
    let (data, _) = data.split_once("</script>").expect("its end");
    let data: Value = serde_json::from_str(data).expect("JSON");
    let answers = data["answers"].as_object().expect("answers");
    let (_, evidence) = answers.iter().find(|(path, _)| path.ends_with("/evidence")).expect("its answer");
    let row = &evidence["queues"][0];
    assert_eq!(
        (row["peak"]["text"].as_str(), row["peakClock"].as_str()),
        (Some("352"), Some("0:01")),
        "{evidence}"
    );
    let lane = &evidence["lanes"][0];
    assert_eq!(lane["series"][0]["peak"]["value"]["text"], "352");
    assert_eq!(lane["queries"][0], "GET /api/queues: messages_ready");
    assert_eq!(evidence["statements"][0]["mean"]["text"], "12.5ms");
    let health = evidence["sources"].as_array().expect("sources").iter().map(|source| &source["health"]);
    assert_eq!(health.collect::<Vec<_>>(), ["gaps", "ok"]);
}

#[test]
fn a_part_has_the_peak_of_the_part() {
    let ran = observed();
    let markdown = ran.and("report seen.plimsoll --format md --window 2s..4s").run().exits(0).out.clone();
    assert!(markdown.contains("| 120 | 120 | 0:02 | 7 |"), "{markdown}");
}
