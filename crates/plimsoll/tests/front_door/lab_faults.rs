//! Each fault of the lab changes its own indicator and no other: the labels are correct.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::SystemClock;

use crate::lab::Labs;

/// Number of users without think time: one fewer than connections, so that none waits for one, and all do if only one connection is
/// left.
const PEOPLE: usize = 7;

/// Observation time per fault.
const WATCHED: Duration = Duration::from_millis(1500);

/// The database reports its reads once per second.
const SETTLING: Duration = Duration::from_millis(1300);

/// The sums of a service's counters over all labels.
pub(crate) type Counters = BTreeMap<String, f64>;

#[test]
fn each_fault_moves_its_own_indicator_and_no_other() {
    let Some(labs) = Labs::open() else { return };
    // Views and cache are not refreshed during the test.
    labs.lab("up appstore --variant matview --refresh 3600").exits(0);
    let status = labs.status();
    let (url, control) = (text(&status["url"]), text(&status["control_url"]));
    let mut faults: Vec<&lab::Fault> = lab::faults_of("appstore").collect();
    // Its database reads are reported late, and must not be attributed to the next fault.
    faults.sort_by_key(|fault| fault.name == "missing-index");
    let mut wrong = Vec::new();
    wrong.extend(judge("appstore", "nothing", &watch(&control, &|lasts| load(&url, lasts)), None));
    for fault in faults {
        labs.lab(&format!("fault appstore {} on", fault.name)).exits(0);
        let readings = watch(&control, &|lasts| load(&url, lasts));
        labs.lab(&format!("fault appstore {} off", fault.name)).exits(0);
        wrong.extend(judge("appstore", &fault.name, &readings, Some(&fault.indicator)));
    }
    load(&url, SETTLING);
    wrong.extend(judge("appstore", "nothing any more", &watch(&control, &|lasts| load(&url, lasts)), None));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

pub(crate) fn text(value: &serde_json::Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Returns the indicators that did not behave as expected.
pub(crate) fn judge(
    system: &str,
    planted: &str,
    (before, after, seconds): &(Counters, Counters, f64),
    own: Option<&str>,
) -> Vec<String> {
    let grown = |name: &str| after.get(name).unwrap_or(&0.0) - before.get(name).unwrap_or(&0.0);
    let judged = lab::indicators_of(system).filter_map(|indicator| {
        assert!(after.contains_key(&indicator.counter), "the service has no {}", indicator.counter);
        let per = indicator.per.as_deref().map_or(*seconds, grown);
        let value = grown(&indicator.counter) / per;
        let (is_moved, is_own) = (value > indicator.moved_above, own == Some(&indicator.name));
        let what = if is_own { "does not move" } else { "moves" };
        let (name, unit, limit) = (&indicator.name, &indicator.unit, indicator.moved_above);
        eprintln!("{planted:<22} {name:<14} {value:>12.4} {unit:<14} limit {limit}");
        (is_moved != is_own)
            .then(|| format!("{planted} {what} {name}: {value:.4} {unit}, the limit is {limit}"))
    });
    judged.collect()
}

/// Loads the service, and returns its counters before and after, with the elapsed time.
pub(crate) fn watch(control: &str, load: &dyn Fn(Duration)) -> (Counters, Counters, f64) {
    // The fault is active, and its first effects are complete.
    load(Duration::from_millis(100));
    let (began, before) = (SystemClock::now(), counters(control));
    load(WATCHED);
    std::thread::sleep(Duration::from_millis(150));
    (before, counters(control), SystemClock::now().since(began).as_secs_f64())
}

/// Users request a page, one app, and a download of another, each in a thread of their own so that they do not wait for each other;
/// the first requests the app whose row a fault locks.
fn load(url: &str, lasts: Duration) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for person in 0..PEOPLE {
            let is_over = &is_over;
            scope.spawn(move || {
                let agent = ureq::Agent::config_builder().timeout_global(Some(Duration::from_secs(10)));
                let agent = agent.build().new_agent();
                let look = |path: String| {
                    let mut answer = agent.get(format!("{url}{path}")).call().expect("an answer");
                    answer.body_mut().with_config().limit(16 << 20).read_to_vec().expect("a body");
                };
                // Without apps 13, 26, 29 and the like, which are not released.
                for round in (0..10_000).take_while(|_| !is_over.load(Ordering::Relaxed)) {
                    look("/apps/first-page".to_owned());
                    look(format!("/apps/{}", 1 + (round + person) % 12));
                    agent
                        .post(format!("{url}/apps/{}/downloads", 1 + person))
                        .send_empty()
                        .expect("an answer");
                }
            });
        }
        std::thread::sleep(lasts);
        is_over.store(true, Ordering::Relaxed);
    });
}

pub(crate) fn counters(control: &str) -> Counters {
    let mut answer = ureq::get(format!("{control}/metrics")).call().expect("an answer");
    let text = answer.body_mut().read_to_string().expect("a text");
    let mut counters = Counters::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((series, value)) = line.rsplit_once(' ') else { continue };
        let name = series.split('{').next().unwrap_or(series);
        *counters.entry(name.to_owned()).or_default() += value.parse::<f64>().expect("a number");
    }
    counters
}
