//! Groups of async functions: who is in which, and for how long.

use super::{Left, run};
use model::IterationEnd;

/// Runs the lines of an async default function with a counter `c`; the groups of its samples, in order.
fn grouped(body: &str) -> (Left, Vec<String>) {
    let left = run(&format!(
        "import {{ group }} from 'k6'; import {{ Counter }} from 'k6/metrics'; const c = new Counter('hits');
         const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
         export default async function () {{ {body} }}"
    ));
    let of = |tags: &str| {
        let group = tags.split(' ').find_map(|tag| tag.strip_prefix("group="));
        group.unwrap_or_default().to_owned()
    };
    let groups =
        left.samples.iter().filter(|sample| sample.0 == "hits").map(|sample| of(&sample.1)).collect();
    (left, groups)
}

#[track_caller]
fn check(body: &str, expect: &[&str]) {
    let (left, groups) = grouped(body);
    assert_eq!(left.ends, [IterationEnd::Completed], "{body}: {:?}", left.logs);
    assert_eq!(groups, expect, "{body}");
}

#[test]
fn what_is_awaited_does_not_lead_out_of_the_group() {
    check(
        "await group('a', async () => { await pause(1); c.add(1); await 5; c.add(1); }); c.add(1)",
        &["::a", "::a", ""],
    );
    check(
        "const p = group('a', async () => { await null; c.add(1); }); c.add(1); await p; c.add(1)",
        &["", "::a", ""],
    );
    check(
        "await group('a', async () => { try { await Promise.reject(1) } catch { c.add(1) } finally { await 0; c.add(1) } })",
        &["::a", "::a"],
    );
    check("await group('a', async () => pause(1).then(() => c.add(1))); await 1; c.add(1)", &["::a", ""]);
    check("await group('a', async () => { for await (const x of [pause(1), 2]) c.add(1) })", &["::a", "::a"]);
    check("await group('a', async () => { setTimeout(() => c.add(1), 1) }); c.add(1)", &["", "::a"]);
    check(
        "await group('a', async () => { await Promise.all([pause(1), pause(2)]); c.add(1); await group('b', async () => { await 1; c.add(1) }); c.add(1) })",
        &["::a", "::a::b", "::a"],
    );
}

#[test]
fn groups_that_overlap_stay_apart() {
    check(
        "const two = [group('a', async () => { await pause(2); c.add(1); }), group('b', async () => { await pause(1); c.add(1); await pause(3); c.add(1) })]; await 0; c.add(1); await Promise.all(two); c.add(1)",
        &["", "::b", "::a", "::b", ""],
    );
    check(
        "const shared = pause(1); const wait = async () => { await shared; c.add(1) }; await Promise.all([group('a', wait), wait(), group('b', wait)])",
        &["::a", "", "::b"],
    );
}

#[test]
fn a_group_lasts_until_its_promise_is_settled() {
    let (left, _) = grouped("await group('a', async () => { await pause(20) }).then(() => c.add(1))");
    let durations: Vec<_> = left.samples.iter().filter(|sample| sample.0 == "group_duration").collect();
    assert_eq!(durations.len(), 1);
    assert!(durations[0].1.contains("group=::a") && durations[0].2 >= 19.0, "{durations:?}");
    let (left, _) = grouped(
        "try { await group('a', async () => { await 1; throw new Error('no') }) } catch (e) { if (e.message !== 'no') throw e }",
    );
    assert_eq!(
        (left.ends.as_slice(), left.count("group_duration")),
        ([IterationEnd::Completed].as_slice(), 1)
    );
}

#[test]
fn a_failure_in_a_group_that_nobody_awaits_is_told() {
    let (left, _) = grouped("group('a', async () => { throw new Error('unheard') })");
    assert_eq!(left.ends, [IterationEnd::Failed]);
    assert!(left.logs[0].contains("unheard"), "{:?}", left.logs);
}

#[test]
fn promises_are_still_what_they_were() {
    check(
        "await group('a', async () => 1);
         const p = Promise.resolve(1);
         if (!(p instanceof Promise) || p.constructor.name !== 'Promise' || !(p.then(() => 1) instanceof Promise)) throw 1;
         if (await Promise.race([p, pause(9)]) !== 1 || await p.finally(() => 2) !== 1) throw 2;
         class Own extends Promise {} if (!(Own.resolve(1).then(() => 1) instanceof Own) || await Own.resolve(7) !== 7) throw 3;
         if (await { then(resolve) { resolve(8) } } !== 8) throw 4;
         c.add(1)",
        &[""],
    );
}
