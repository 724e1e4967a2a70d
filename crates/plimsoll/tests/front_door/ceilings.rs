//! Scripts without end or measure: the run ends in time, is stored, and says what happened.

use crate::harness::{plimsoll, verb};

/// A call in which the engine never asks whether it may go on: it looks for four billion elements.
const STUCK: &str = "const a = []; a[4294967294] = 1; a.reverse();";

#[track_caller]
fn check_stuck(script: &str, code: i32, says: &str) {
    let script = format!("{script}\nexport default function () {{}}");
    let ran = verb("run -q --runs runs s.js").file("s.js", &script).run().exits(code).says(says);
    ran.and("show --runs runs @last").run().exits(0);
}

#[test]
fn a_teardown_that_never_ends_is_left_behind() {
    let teardown = format!(
        "export const options = {{ teardownTimeout: '200ms' }}; export function teardown() {{ {STUCK} }}"
    );
    check_stuck(&teardown, 101, "teardown() execution timed out after 0.2 seconds");
}

#[test]
fn a_setup_that_never_ends_is_left_behind() {
    let setup =
        format!("export const options = {{ setupTimeout: '200ms' }}; export function setup() {{ {STUCK} }}");
    check_stuck(&setup, 100, "setup() execution timed out after 0.2 seconds");
}

#[test]
fn a_summary_that_never_ends_is_left_behind() {
    let summary = format!(
        "export const options = {{ handleSummaryTimeout: '200ms' }};
         export function handleSummary() {{ {STUCK} return {{}}; }}"
    );
    check_stuck(&summary, 0, "handleSummary() execution timed out after 0.2 seconds");
}

#[test]
fn an_iteration_that_never_ends_keeps_no_other_and_ends_with_its_scenario() {
    // The second scenario shares the thread with it, and the third begins after it, with the VU that is stuck.
    let script = format!(
        "export const options = {{ scenarios: {{
            stuck: {{ executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s', exec: 'stuck' }},
            beside: {{ executor: 'constant-arrival-rate', rate: 50, duration: '1s', preAllocatedVUs: 2, exec: 'quick' }},
            after: {{ executor: 'per-vu-iterations', vus: 2, iterations: 3, startTime: '4s', maxDuration: '1s',
                gracefulStop: '0s', exec: 'quick' }},
        }} }};
        export function stuck() {{ {STUCK} }}
        export function quick() {{}}"
    );
    let ran = plimsoll(&script).flags("--workers 1").run();
    let ran = ran.says("scenario stuck: the iteration of VU");
    let quick = ran.count("iterations");
    // Of 51 beside it nearly all are in time, and of the six after it at least those of the VU that is free.
    assert!((45 + 3..=51 + 6).contains(&quick), "{}", ran.err);
}

#[test]
fn memory_that_scripts_hold_is_limited() {
    let script = "const kept = [];
        export default function () { for (let i = 0;; i++) kept.push('x'.repeat(100000) + i); }";
    let ran = plimsoll(script).flags("-i 2 --vu-memory 16MiB").run().exits(107);
    ran.says("memory limit reached: VU 1 holds 16 MiB").says("--vu-memory");
    plimsoll(script).flags("--vu-memory 1KiB").run().exits(255).says("too small");
    plimsoll(script).flags("--vu-memory 1").run().exits(255).says("is not a size");
    plimsoll(script).flags("--memory lots").run().exits(255).says("is not a size");
}

#[test]
fn too_few_threads_are_an_error_of_their_own() {
    // No stack of this size can be mapped, and so no thread starts.
    let run = plimsoll("export default function () {}").env("RUST_MIN_STACK", "100000000000000");
    run.run().exits(255).says("worker threads").says("ulimit -u");
}

#[test]
fn files_without_end_are_refused() {
    let script = "export default function () {}";
    verb("run -q /dev/zero").run().exits(255).says("larger than 64 MiB");
    plimsoll(script).flags("--config /dev/zero").run().exits(104).says("larger than 16 MiB");
    plimsoll("open('/dev/zero'); export default function () {}").run().exits(107).says("it is a device");
    verb("run -q s.js")
        .file("s.js", script)
        .before("ln -s /dev/zero plimsoll.lock")
        .run()
        .exits(107)
        .says("it is a device");
}

#[test]
fn a_rate_that_no_thread_reaches_ends_on_time() {
    let script = "export const options = { scenarios: { s: { executor: 'constant-arrival-rate',
        rate: 1000000000, duration: '1s', preAllocatedVUs: 2 } } };
        export default function () {}";
    let ran = plimsoll(script).run();
    let all = ran.count("iterations") + ran.count("dropped_iterations");
    assert_eq!(all, 1_000_000_001, "{}", ran.err);
}
