//! Blocks of progress against what k6 draws for the same state.

use std::sync::Arc;

use model::plan::{Executor, Scenario, Stage};

use super::*;

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn scenario(name: &str, executor: Executor, start_time: Duration) -> Scenario {
    Scenario {
        name: Arc::from(name),
        exec: Arc::from("default"),
        executor,
        start_time,
        graceful_stop: seconds(30),
        env: Default::default(),
        tags: Default::default(),
    }
}

/// The scenarios of the script whose progress k6 drew.
fn plan() -> Plan {
    let stages = vec![Stage { duration: seconds(3), target: 3 }, Stage { duration: seconds(8), target: 0 }];
    let shared = Executor::SharedIterations { vus: 2, iterations: 12, max_duration: seconds(60) };
    let rate = Executor::RampingArrivalRate {
        start_rate: 1,
        time_unit: seconds(1),
        stages: stages.clone(),
        pre_allocated_vus: 1,
        max_vus: 3,
    };
    let late = Executor::ConstantArrivalRate {
        rate: 5,
        time_unit: seconds(2),
        duration: seconds(2),
        pre_allocated_vus: 1,
        max_vus: 1,
    };
    let ramp = Executor::RampingVus { start_vus: 1, stages, graceful_ramp_down: seconds(30) };
    let per_vu = Executor::PerVuIterations { vus: 2, iterations: 3, max_duration: seconds(600) };
    let zero = Duration::ZERO;
    Plan {
        scenarios: vec![
            scenario("a_shared", shared, zero),
            scenario("bb", Executor::ConstantVus { vus: 1, duration: seconds(11) }, zero),
            scenario("c_ramp", ramp, zero),
            scenario("d_rate", rate, zero),
            scenario("e_late", late, seconds(10)),
            scenario("f_per", per_vu, zero),
        ],
        ..Plan::default()
    }
}

const START: Instant = Instant::from_ns(1_000_000_000);

fn at(ms: u64) -> Instant {
    START + Duration::from_millis(ms)
}

/// The counters 4.7 s after the scenarios began.
fn counters() -> RunProgress {
    let progress = RunProgress::new(6);
    progress.began_ns.store(START.as_ns() - 300_000_000, Relaxed);
    progress.started_ns.store(START.as_ns(), Relaxed);
    progress.vus_active.store(8, Relaxed);
    progress.vus_initialized.store(12, Relaxed);
    progress.iterations_completed.store(23, Relaxed);
    let set = |index: usize, completed: u64, vus: u32, fraction: f64| {
        let one = &progress.scenarios[index];
        one.started_ns.store(START.as_ns(), Relaxed);
        one.iterations_completed.store(completed, Relaxed);
        one.vus_active.store(vus, Relaxed);
        one.set_fraction(fraction);
    };
    set(0, 4, 2, 4.0 / 12.0);
    set(1, 3, 1, 4.7 / 11.0);
    set(2, 5, 3, 4.7 / 11.0);
    set(3, 5, 2, 4.7 / 11.0);
    set(5, 6, 0, 1.0);
    progress
}

fn running() -> Progress {
    let mut progress = Progress::new(&plan());
    progress.on_event(&RunEvent::ScenariosStarted { at: START });
    progress
}

#[test]
fn percentages_stand_where_there_is_no_terminal() {
    let expect = "\
running (00m05.0s), 08/12 VUs, 23 complete and 0 interrupted iterations
a_shared   [  33% ] 2 VUs    0m04.7s/1m0s    04/12 shared iters
bb         [  42% ] 1 VUs    04.7s/11s
c_ramp     [  42% ] 3/3 VUs  04.7s/11s
d_rate     [  42% ] 2/3 VUs  04.7s/11s       2.36 iters/s
e_late   • [   0% ] waiting  05.3s
f_per    ✓ [ 100% ] 2 VUs    00m04.7s/10m0s  6/6 iters, 3 per VU
";
    assert_eq!(running().render(&counters(), at(4700), None, Style::PLAIN), expect);
}

#[test]
fn bars_take_the_room_there_is() {
    let mut progress = running();
    let mut first = |width| {
        let text = progress.render(&counters(), at(4700), Some(width), Style::PLAIN);
        text.lines().nth(1).expect("a line for each scenario").to_owned()
    };
    let rest = "2 VUs    0m04.7s/1m0s    04/12 shared iters";
    assert_eq!(first(200), format!("a_shared   [===========>--------------------------] {rest}"));
    assert_eq!(first(80), format!("a_shared   [=====>---------------] {rest}"));
    assert_eq!(first(60), format!("a_shared   [  33% ] {rest}"));
    assert_eq!(first(0), format!("a_shared   [  33% ] {rest}"));
}

#[test]
fn ends_are_told_apart() {
    let (mut progress, counters) = (running(), counters());
    progress.render(&counters, at(4700), None, Style::PLAIN);
    counters.scenarios[1].set_fraction(1.0);
    let stopping = progress.render(&counters, at(11_500), None, Style::PLAIN);
    assert!(stopping.contains("bb       ↓ [ 100% ] 1 VUs    11s\n"), "{stopping}");
    assert!(stopping.contains("f_per    ✓ [ 100% ] 2 VUs    00m04.7s/10m0s"), "{stopping}");
    progress.on_event(&RunEvent::Ended);
    let ended = progress.render(&counters, at(11_600), None, Style::PLAIN);
    assert!(ended.contains("a_shared ✗ [  33% ] 2 VUs    0m11.6s/1m0s"), "{ended}");
}

#[test]
fn what_comes_before_the_scenarios_is_named() {
    let mut progress = Progress::new(&plan());
    let counters = RunProgress::new(6);
    progress.on_event(&RunEvent::Initializing { ready: 3, planned: 12 });
    assert_eq!(progress.render(&counters, START, None, Style::PLAIN), "Init   3/12 VUs initialized\n");
    progress.on_event(&RunEvent::SetupStarted);
    assert_eq!(progress.render(&counters, START, None, Style::PLAIN), "Run    setup()\n");
}

#[test]
fn clocks_have_the_places_of_the_longest() {
    for (ms, longest, expect) in [
        (700, 2, "0.7s"),
        (700, 11, "00.7s"),
        (4700, 60, "0m04.7s"),
        (65_000, 630, "01m05.0s"),
        (3_665_000, 7200, "1h01m05.0s"),
        (90_000, 10, "1m30.0s"),
    ] {
        assert_eq!(clock(Duration::from_millis(ms), seconds(longest)), expect);
    }
}

/// The progress output on a terminal or in a file.
fn shown(is_terminal: bool, width: usize) -> String {
    let mut out = Vec::new();
    let counters = counters();
    let mut live = Live::new(&mut out, &plan(), Style::PLAIN, is_terminal);
    live.on_event(&RunEvent::ScenariosStarted { at: START });
    live.tick(&counters, at(0), width).expect("memory");
    live.print("a log line\n", width).expect("memory");
    live.tick(&counters, at(5000), width).expect("memory");
    live.tick(&counters, at(10_000), width).expect("memory");
    live.finish(&counters, at(11_000), width).expect("memory");
    String::from_utf8(out).expect("text")
}

#[test]
fn terminals_are_redrawn_in_place() {
    let text = shown(true, 100);
    assert_eq!(text.matches("\r\x1b[7A\x1b[J").count(), 4, "{text}");
    assert!(text.contains("\r\x1b[7A\x1b[Ja log line\nrunning (00m00.3s)"), "{text}");
    // Lines that the terminal wraps take more rows to erase.
    assert!(shown(true, 50).contains("\r\x1b[11A\x1b[J"), "{}", shown(true, 50));
}

#[test]
fn files_get_a_block_now_and_then() {
    let text = shown(false, 100);
    assert!(!text.contains('\x1b'));
    assert!(text.starts_with("a log line\n\nrunning (00m10.3s)"), "{text}");
    assert_eq!(text.matches("running").count(), 2, "{text}");
}
