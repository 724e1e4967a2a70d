//! Times: measurements are correct, also while the server stalls.

use std::time::Duration;

use testkit::{Listen, StallConfig};

use crate::harness::{Ran, plimsoll, verb};

/// Runs 100 iterations per second for 30 s against a server that stalls for one second.
fn stall(vus: u32, flags: &str) -> Ran {
    let config = StallConfig {
        service: Duration::from_millis(1),
        offset: Duration::from_secs(10),
        length: Duration::from_secs(1),
    };
    let server = testkit::stall::start(config, Listen::default()).expect("a server");
    let script = format!(
        "import http from 'k6/http';
         export const options = {{
           summaryTrendStats: ['p(95)', 'p(99)', 'max'],
           scenarios: {{ s: {{ executor: 'constant-arrival-rate', rate: 100, duration: '30s',
             preAllocatedVUs: {vus}, maxVUs: {vus} }} }},
         }};
         export default () => {{ http.get(__ENV.URL + '/'); }}"
    );
    plimsoll(&script).against(&server).flags(flags).run().exits(0)
}

#[test]
#[ignore = "30 s on an otherwise idle machine"]
fn a_stall_is_seen_by_those_who_waited() {
    let ran = stall(200, "");
    assert_eq!(ran.count("dropped_iterations"), 0);
    assert!(ran.value("http_req_response_time", "p(95)") < Some(5.0), "{}", ran.out);
    let p99 = ran.value("http_req_response_time", "p(99)").expect("a quantile");
    assert!((650.0..750.0).contains(&p99), "{p99}: {}", ran.out);
}

#[test]
#[ignore = "30 s on an otherwise idle machine"]
fn a_stall_that_starves_the_vus_is_not_hidden() {
    let ran = stall(10, "");
    let dropped = ran.count("dropped_iterations");
    assert!((80..=100).contains(&dropped), "{dropped}: {}", ran.out);
    // 3 % of the population never started: its 99th percentile is unknown.
    let row = ran.out.lines().find(|line| line.contains("http_req_response_time")).expect("a row");
    assert!(row.contains("p(99)=>"), "{row}");
    let strict = stall(10, "--compat strict");
    assert!(
        strict.value("http_req_duration", "p(99)") < Some(100.0),
        "k6 prints milliseconds: {}",
        strict.out
    );
}

#[test]
#[ignore = "an otherwise idle machine"]
fn the_client_adds_less_than_a_millisecond() {
    let server = testkit::hold::start(Listen::default()).expect("a server");
    let script = "import http from 'k6/http'; import { Trend } from 'k6/metrics';
        const added = new Trend('added', true);
        export const options = { summaryTrendStats: ['p(99)'], scenarios: { s: {
          executor: 'constant-arrival-rate', rate: 1000, duration: '10s', preAllocatedVUs: 100 } } };
        export default () => {
          const response = http.get(`${__ENV.URL}/?ms=20`);
          added.add(response.timings.duration - response.json('hold_ns') / 1e6);
        }";
    let ran = plimsoll(script).against(&server).run().exits(0);
    assert!(ran.value("added", "p(99)") <= Some(1.0), "{}", ran.out);
    assert_eq!(ran.count("dropped_iterations"), 0);
}

#[test]
fn a_vu_that_computes_is_not_the_targets_latency() {
    let server = testkit::hold::start(Listen::default()).expect("a server");
    let script = "import http from 'k6/http'; import { sleep } from 'k6'; import { Trend } from 'k6/metrics';
        const added = new Trend('added', true);
        const scenario = (exec, vus) => ({ executor: 'constant-vus', duration: '2s', exec, vus });
        export const options = { summaryTrendStats: ['med', 'p(95)', 'count'],
          scenarios: { asking: scenario('ask', 5), burning: scenario('burn', 1) } };
        export function ask() {
          const response = http.get(`${__ENV.URL}/?ms=5.5`);
          added.add(response.timings.duration - response.headers['X-Hold-Ns'] / 1e6);
        }
        export function burn() {
          const end = Date.now() + 50;
          while (Date.now() < end) {}
          sleep(0.005);
        }";
    let ran = plimsoll(script).against(&server).flags("--workers 1").run().exits(0);
    // A thread that is kept adds 50 ms to nearly every request. The bounds are for a machine on which others compute.
    assert!(ran.value("added", "med") < Some(5.0), "{}", ran.out);
    assert!(ran.value("added", "p(95)") < Some(20.0), "{}", ran.out);
    // It also lets each of five VUs send once in 55 ms only, 180 requests in two seconds.
    assert!(ran.count("http_reqs") > 360, "{}", ran.out);
}

/// The program is linked so that a search tries only places where a match can begin, which the second expression has everywhere.
#[test]
fn a_search_for_a_literal_is_quick() {
    let script = "
        const TEXT = 'the quick brown fox jumps over the lazy dog, and '.repeat(20000) + 'order-12345';
        const ms = (expression) => Math.min(...Array.from({ length: 5 }, () => {
          const start = Date.now();
          if (!expression.test(TEXT)) throw new Error('the order was missed');
          return Date.now() - start;
        }));
        export function setup() {
          const [quick, slow] = [ms(/order-[0-9]+/), ms(/[^]rder-[0-9]+/)];
          if (quick * 4 > slow) throw new Error(`${quick} ms and ${slow} ms`);
        }
        export default () => {}";
    plimsoll(script).run().exits(0);
}

#[test]
#[ignore = "a minute on an otherwise idle machine"]
fn the_demo_finds_the_capacity_of_its_shop() {
    let ran =
        verb("demo -q --full").run().exits(0).prints("TOTAL RESULTS").prints("can complete 400 queries/s");
    let before = ran.out.split("% of its capacity").next().and_then(|text| text.rsplit('(').next());
    let percent: u32 = before.and_then(|text| text.parse().ok()).expect("a share of the capacity");
    assert!((95..=100).contains(&percent), "{}", ran.out);
    assert!(ran.elapsed < Duration::from_secs(90), "{:?}", ran.elapsed);
}

#[test]
#[ignore = "a minute on an otherwise idle machine"]
fn the_demo_ends_with_the_answer_and_commands_that_work() {
    let ran = verb("demo -q").run().exits(0).prints("Predicted").prints("as predicted").prints("Safe load");
    let headline =
        ran.out.lines().find_map(|line| line.trim().strip_prefix("Limited by")).expect("an answer");
    assert!(headline.contains("Connection pool exhausted"), "{}", ran.out);
    // All views of one run show one number for it.
    let percent = |text: &str| {
        text.split(" % of their time").next().and_then(|text| text.rsplit(' ').next()).map(str::to_owned)
    };
    let commands =
        ran.out.lines().filter_map(|line| line.rsplit_once("  plimsoll ").map(|(_, words)| words.trim()));
    let own =
        |words: &str| ["run script.js", "diagnose @last", "demo"].iter().any(|own| words.starts_with(own));
    for words in commands.filter(|words| !own(words)) {
        let again = ran.and(words).run().exits(0);
        if words.starts_with("diagnose") {
            assert_eq!(
                percent(&again.out),
                percent(&ran.out.replace("\n               ", "")),
                "{}",
                again.out
            );
        }
    }
}

#[test]
#[ignore = "three minutes on an otherwise idle machine"]
fn the_demo_s_command_measures_the_safe_load() {
    let words = report::demo::SAFE_LOAD_COMMAND.strip_prefix("plimsoll ").expect("a command of the program");
    let ran = verb(&format!("{words} -q")).start().wait_for(Duration::from_mins(6));
    let ran = ran.exits(0).prints("Safe load").prints("confidence interval");
    assert!(!ran.out.contains("not found"), "{}", ran.out);
}
