//! Tasks that are submitted and polled: the guide's promises about `plimsoll/flow`, and their equivalents in k6's metrics.

use crate::harness::{Ran, plimsoll, verb};

const GUIDE: &str = include_str!("../../../../docs/guide/flow.md");
const ANYWHERE: &str = include_str!("../../../../examples/flow/anywhere.js");
const SCAN: &str = include_str!("../../../../examples/flow/scan.js");

/// Returns the first script in the guide.
fn guides_script() -> &'static str {
    let from = GUIDE.split_once("```js\n").expect("the guide has a script").1;
    from.split_once("```").expect("it ends").0
}

/// Checks that every submission is one task, every poll is counted, and no other requests are sent.
#[track_caller]
fn agree(ran: &Ran, server: &testkit::Server) {
    let seen = server.settled();
    let submits: u64 =
        seen.rows.iter().filter(|(row, _)| row.path.starts_with("/submit")).map(|(_, count)| count).sum();
    assert_eq!(ran.count("flow_tasks"), submits, "{}", ran.out);
    assert_eq!(ran.count("flow_polls"), seen.total - submits, "{}", ran.out);
    let finished = ran.value("flow_finished", "passes").expect("a rate") as u64;
    let unfinished = ran.value("flow_finished", "fails").expect("a rate") as u64;
    assert_eq!(finished + unfinished, submits);
    assert!(submits > 0);
}

#[test]
fn the_guides_script_runs() {
    let server = testkit::http::start();
    let ran = plimsoll(guides_script()).against(&server).run().exits(0);
    agree(&ran, &server);
    // A task of 700 ms, polled every 200 ms.
    let (lower, upper) = (ran.value("flow_duration_lower", "med"), ran.value("flow_duration", "med"));
    assert!(lower.is_some_and(|ms| (400.0..=720.0).contains(&ms)), "{lower:?}");
    assert!(upper.is_some_and(|ms| ms >= 700.0), "{upper:?}");
    let stored = ran.and("report @last").run().exits(0);
    assert!(stored.out.contains("flow_duration_lower"), "{}", stored.out);
    assert!(ran.out.contains("flow_outcomes"), "{}", ran.out);
}

#[test]
fn what_does_not_finish_in_time_is_no_short_task() {
    let server = testkit::http::start();
    let script = guides_script().replace("interval: '200ms'", "interval: '200ms', timeout: '500ms'");
    let ran = plimsoll(&script).against(&server).run().exits(99).prints("(timeout)");
    agree(&ran, &server);
    assert_eq!(ran.value("flow_finished", "value"), Some(0.0));

    // The end of the test interrupts tasks, whose durations are bounds.
    let script = guides_script().replace("gracefulStop: '10s'", "gracefulStop: '0s'");
    let script = script.replace("ms=700", "ms=60000");
    let ran = plimsoll(&script).against(&server).run().exits(99).prints("(cut)");
    assert_eq!((ran.count("flow_tasks"), ran.value("flow_finished", "value")), (5, Some(0.0)));
}

#[test]
fn inspect_and_deps_name_the_module() {
    let inspected = verb("inspect -").stdin(guides_script()).run().exits(0);
    inspected.says("k6, k6/http, plimsoll/flow");
    let deps = verb("deps -").stdin(guides_script()).run().exits(0);
    deps.prints("plimsoll/flow");
}

#[test]
fn one_script_for_both_programs() {
    let server = testkit::http::start();
    let target = server.url("");
    let run = |anywhere: &str| {
        let script = plimsoll(SCAN).file("anywhere.js", anywhere).env("TARGET", target.trim_end_matches('/'));
        script.flags("-u 2 -i 2").run().exits(0)
    };
    let native = run(ANYWHERE);
    // As if the module did not exist.
    let stand_in = run(&ANYWHERE.replace("'plimsoll/flow'", "'k6/none'"));
    for ran in [&native, &stand_in] {
        assert_eq!((ran.count("flow_tasks"), ran.value("flow_finished", "value")), (2, Some(1.0)));
        assert_eq!(
            ran.value("flow_polls_per_task", "avg").map(|polls| polls * 2.0),
            Some(ran.count("flow_polls") as f64)
        );
        let (lower, upper) = (ran.value("flow_duration_lower", "max"), ran.value("flow_duration", "max"));
        assert!(lower < upper && upper < Some(7_000.0), "{lower:?} {upper:?}");
        assert_eq!(ran.value("flow_outcomes", "value"), Some(1.0));
    }
}
