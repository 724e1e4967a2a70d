//! `plimsoll/flow` against a server that knows when each task was done.

use std::time::Duration;

use model::Mark;

use super::{Left, cut, load_error, logged, run, run_against, run_late};
use model::IterationEnd;

/// A script that submits tasks of `ms` milliseconds and polls them; `options` are further options, `query` goes with polls.
fn script(function: &str, ms: &str, query: &str, options: &str) -> String {
    format!(
        "import http from 'k6/http'; import flow from 'plimsoll/flow';
        export default async function () {{
            const task = await flow.{function}({{
                submit: () => http.post(`${{__ENV.BASE}}/submit?ms={ms}`).json('id'),
                poll: (id) => http.get(`${{__ENV.BASE}}/poll/${{id}}{query}`, {{ tags: {{ name: 'poll' }} }}),
                done: (answer) => answer.json('state') === 'done',
                {options}
            }});
            console.log(JSON.stringify([task.submitted, task.end, task.polls, task.duration, task.durationLower]));
        }}"
    )
}

/// The script's own log line about a task.
struct TaskReport {
    /// How long the server says it took, in milliseconds from when the server had read the submission.
    took_ms: f64,
    end: String,
    polls: u64,
    upper_ms: Option<f64>,
    lower_ms: f64,
}

fn task_report(line: &str) -> TaskReport {
    let fields: Vec<serde_json::Value> = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
    let id = fields[0].as_str().expect("the server's name of the task");
    let (submitted, done) = id.split_once('-').expect("two times");
    let ns = |text: &str| text.parse::<u64>().expect("a time");
    TaskReport {
        took_ms: (ns(done) - ns(submitted)) as f64 / 1e6,
        end: fields[1].as_str().expect("a word").to_owned(),
        polls: fields[2].as_u64().expect("a count"),
        upper_ms: fields[3].as_f64(),
        lower_ms: fields[4].as_f64().expect("there always is one"),
    }
}

fn values(left: &Left, metric: &str) -> Vec<(f64, Mark)> {
    left.samples.iter().filter(|sample| sample.0 == metric).map(|sample| (sample.2, sample.3)).collect()
}

fn sum(left: &Left, metric: &str) -> u64 {
    values(left, metric).iter().map(|(value, _)| *value).sum::<f64>() as u64
}

/// Runs tasks of many lengths, and holds the bounds of each against when the server had it done.
#[track_caller]
fn check_bounds(function: &str, query: &str) {
    let server = testkit::http::start();
    // Lengths that fall everywhere between polls.
    let source = script(function, "${(__ITER * 37) % 53}", query, "interval: '11ms', delay: 0.002");
    let left = run_against(&server.url(""), 7, &source);
    assert_eq!(left.ends, [IterationEnd::Completed; 7], "{:?}", left.logs);
    let (submits, tasks) = (values(&left, "flow_submit_duration"), values(&left, "flow_duration"));
    for (line, (submit_ms, _)) in left.logs.iter().zip(&submits) {
        let report = task_report(line);
        let upper_ms = report.upper_ms.expect("it finished");
        // The server's time begins while the submission is under way.
        assert!(report.took_ms <= upper_ms, "done after {} ms, upper bound {upper_ms} ms", report.took_ms);
        let latest_ms = report.took_ms + submit_ms;
        assert!(
            report.lower_ms <= latest_ms,
            "done after at most {latest_ms} ms, lower bound {}",
            report.lower_ms
        );
        assert!(upper_ms - report.lower_ms >= 11.0 || report.polls == 1, "two polls lie apart");
        assert!(report.lower_ms == 0.0 || report.polls > 1);
    }
    let polls: u64 = left.logs.iter().map(|line| task_report(line).polls).sum();
    let seen = server.settled();
    assert_eq!(seen.total, 7 + polls);
    assert_eq!((sum(&left, "flow_polls"), sum(&left, "flow_polls_per_task")), (polls, polls));
    assert_eq!((sum(&left, "flow_tasks"), sum(&left, "flow_finished")), (7, 7));
    assert_eq!((submits.len(), tasks.len(), left.count("flow_poll_duration")), (7, 7, polls as usize));
    assert!(tasks.iter().all(|(_, mark)| *mark == Mark::Measured));
}

#[test]
fn a_task_completed_within_its_bounds() {
    check_bounds("task", "");
    check_bounds("asyncTask", "");
}

#[test]
fn the_bounds_hold_whenever_the_server_looks() {
    // At the end of the poll: the lower bound must be no later than its begin, but may be.
    check_bounds("task", "?before=15");
    // At its begin: the upper bound must be its end.
    check_bounds("asyncTask", "?after=15");
}

#[test]
fn the_lower_bound_is_the_begin_of_a_poll() {
    let server = testkit::http::start();
    let left = run_against(&server.url(""), 1, &script("task", "100", "?before=60", "interval: '30ms'"));
    // Polls begin at 30 and 120, look at 90 and 180, and end with that: it is done at 100, long after the first began.
    let report = task_report(&left.logs[0]);
    assert_eq!(report.polls, 2);
    assert!((30.0..60.0).contains(&report.lower_ms), "{}", report.lower_ms);
    assert!(report.upper_ms.is_some_and(|upper_ms| upper_ms >= 180.0), "{:?}", report.upper_ms);
}

#[test]
fn unfinished_tasks_are_censored() {
    let check = |options: &str, end: &str, polls: u64, at_least_ms: f64| {
        let server = testkit::http::start();
        let left = run_against(&server.url(""), 1, &script("task", "60000", "", options));
        assert_eq!(left.ends, [IterationEnd::Completed], "{:?}", left.logs);
        let report = task_report(&left.logs[0]);
        assert_eq!((report.end.as_str(), report.polls, report.upper_ms), (end, polls, None), "{options}");
        let [(waited_ms, Mark::TimedOut)] = values(&left, "flow_duration")[..] else {
            panic!("{:?}", left.samples)
        };
        let [(lower_ms, Mark::TimedOut)] = values(&left, "flow_duration_lower")[..] else { panic!("one") };
        assert!(at_least_ms <= lower_ms && lower_ms <= waited_ms, "{options}: {lower_ms} {waited_ms}");
        assert_eq!(values(&left, "flow_finished"), [(0.0, Mark::Measured)]);
        assert_eq!(left.tags("flow_tasks"), [format!("end={end} group= scenario=default")]);
        assert_eq!(server.settled().total, 1 + polls);
    };
    // The last poll is made when time is up.
    check("interval: 0.1, timeout: '250ms'", "timed_out", 3, 250.0);
    check("interval: 0.1, timeout: '50ms'", "timed_out", 1, 50.0);
    check("interval: 0.05, maxPolls: 2", "too_many_polls", 2, 100.0);
    // 10, 20, 40, 40 ms.
    check("interval: '10ms', backoff: 2, maxInterval: '40ms', maxPolls: 4", "too_many_polls", 4, 110.0);
    check("delay: 0, interval: 0.1, maxPolls: 2", "too_many_polls", 2, 100.0);
}

#[test]
fn what_is_under_way_at_the_end_is_cut() {
    let server = testkit::http::start();
    let left = cut(|| run_against(&server.url(""), 1, &script("task", "60000", "", "interval: 0.9")));
    assert_eq!(left.ends, [IterationEnd::Interrupted]);
    assert_eq!(left.tags("flow_tasks"), ["end=cut group= scenario=default"]);
    let [(waited_ms, Mark::Cut)] = values(&left, "flow_duration")[..] else { panic!("{:?}", left.samples) };
    let [(lower_ms, Mark::Cut)] = values(&left, "flow_duration_lower")[..] else { panic!("one") };
    assert!(waited_ms >= 1000.0 && (900.0..waited_ms).contains(&lower_ms), "{lower_ms} {waited_ms}");

    // In the midst of a poll, and of a submission; several at a time; by test.abort().
    let left = run_against(&server.url(""), 1, &script("task", "9", "?after=60000", "delay: 0"));
    assert_eq!(values(&left, "flow_poll_duration").last().map(|it| it.1), Some(Mark::Cut));
    let abort = "import flow from 'plimsoll/flow'; import exec from 'k6/execution';
        export default function () {
            for (let i = 0; i < 3; i += 1) flow.asyncTask({ submit: () => i, poll: () => 1, done: () => false });
            setTimeout(() => exec.test.abort('enough'), 20);
        }";
    let left = run(abort);
    assert_eq!(left.ends, [IterationEnd::Aborted]);
    assert_eq!(values(&left, "flow_duration").iter().filter(|(_, mark)| *mark == Mark::Cut).count(), 3);
    assert_eq!(left.count("flow_polls"), 0);
}

#[test]
fn tasks_that_fail_rank_above_all_others() {
    let check = |options: &str, end: &str, completes: bool| {
        let left = run(&format!(
            "import http from 'k6/http'; import flow from 'plimsoll/flow';
            export default function () {{
                const it = {{ submit: () => 1, poll: () => 1, done: () => true, delay: 0, {options} }};
                console.log(flow.task(it).end);
            }}"
        ));
        let expect = if completes { IterationEnd::Completed } else { IterationEnd::Failed };
        assert_eq!(left.ends, [expect], "{options}: {:?}", left.logs);
        assert_eq!(values(&left, "flow_duration")[0].1, Mark::Failed, "{options}");
        assert_eq!(left.tags("flow_tasks"), [format!("end={end} group= scenario=default")], "{options}");
        assert_eq!(values(&left, "flow_finished"), [(0.0, Mark::Measured)]);
    };
    check("submit: () => {}", "not_submitted", true);
    check("submit: () => false", "not_submitted", true);
    check("submit: () => http.post('http://127.0.0.1:1/')", "not_submitted", true);
    check("submit: () => { throw new Error('no') }", "failed", false);
    check("poll: () => { throw new Error('no') }", "failed", false);
    check("done: () => { throw new Error('no') }", "failed", false);
    check("done: () => 5", "failed", false);
    check("done: () => 'x'.repeat(200)", "failed", false);
    check("poll: async () => 1", "failed", false);
}

#[test]
fn a_poll_that_fails_says_nothing() {
    let server = testkit::http::start();
    let source = "import http from 'k6/http'; import { task } from 'plimsoll/flow';
        export default function () {
            let polls = 0;
            const paths = ['status/404', 'status/503', 'json', 'json'];
            const it = task({
                submit: () => 'id',
                poll: () => http.get(`${__ENV.BASE}/${paths[polls++]}`),
                done: (answer) => answer.status === 404 ? 'missing' : polls === 4 && 'here',
                delay: 0,
                interval: '5ms',
            });
            console.log(it.outcome, it.polls, it.submitted, it.answer.status);
            polls = 0;
            const isAnswer = (answer) => answer.status < 500;
            console.log(task({ submit: () => 'id', poll: () => http.get(`${__ENV.BASE}/status/404`), isAnswer, done: () => 'missing', delay: 0 }).outcome);
        }";
    let left = run_against(&server.url(""), 1, source);
    let console: Vec<_> = left.logs.iter().filter(|line| !line.starts_with("Request Failed")).collect();
    assert_eq!(console, ["here 4 id 200", "missing"], "{:?}", left.logs);
    let marks: Vec<Mark> = values(&left, "flow_poll_duration").iter().map(|it| it.1).collect();
    assert_eq!(marks, [Mark::Failed, Mark::Failed, Mark::Measured, Mark::Measured, Mark::Measured]);
}

#[test]
fn outcomes_are_tags_and_shares() {
    let left = run_against(
        "",
        4,
        "import flow from 'plimsoll/flow';
        export default function () {
            const done = () => ['rewarded', 'refused', 'rewarded', 'odd'][__ITER];
            flow.task({ submit: () => 1, poll: () => 1, done, delay: 0, outcomes: ['rewarded', 'refused'], name: 'scan', tags: { kind: 7 } });
        }",
    );
    assert_eq!(left.ends, [IterationEnd::Completed; 4], "{:?}", left.logs);
    let rest =
        |outcome: &str| format!("end=finished flow=scan group= kind=7 outcome={outcome} scenario=default");
    assert_eq!(left.tags("flow_tasks"), ["rewarded", "refused", "rewarded", "other"].map(rest));
    let share = |outcome: &str| {
        let of = format!("outcome={outcome} ");
        let ours = left.samples.iter().filter(|sample| sample.0 == "flow_outcomes" && sample.1.contains(&of));
        ours.map(|sample| sample.2 as u8).collect::<Vec<_>>()
    };
    assert_eq!((share("rewarded"), share("refused")), (vec![1, 0, 1, 0], vec![0, 1, 0, 0]));
    assert!(left.tags("flow_duration")[0].contains("outcome=rewarded"));
}

#[test]
fn made_up_outcomes_are_bounded() {
    let left = run("import flow from 'plimsoll/flow';
        export default function () {
            for (let i = 0; i < 70; i += 1) flow.task({ submit: () => 1, poll: () => 1, done: () => `outcome ${i}`, delay: 0 });
        }");
    assert_eq!(left.ends, [IterationEnd::Completed], "{:?}", left.logs);
    let others = left.tags("flow_tasks").iter().filter(|tags| tags.contains("outcome=other ")).count();
    assert_eq!((others, left.logs.len()), (6, 1), "{:?}", left.logs);
    assert!(left.logs[0].contains("more than 64 different outcomes"), "{:?}", left.logs);
}

#[test]
fn wrong_options_are_named() {
    let check = |options: &str, expect: &str| {
        let source = format!(
            "import flow from 'plimsoll/flow';
            export default function () {{
                const it = {{ submit: () => 1, poll: () => 1, done: () => true }};
                try {{ flow.task({options}) }} catch (e) {{ console.log(String(e)) }}
            }}"
        );
        let logs = logged(&source);
        assert!(
            logs.len() == 1 && logs[0].contains(expect),
            "{options}: {logs:?}\n  should contain {expect}"
        );
    };
    check("", "takes one object");
    check("{ ...it, intervall: 1 }", "no option \"intervall\"; it has submit, poll");
    check("{ submit: () => 1 }", "the option \"poll\" of task() must be a function");
    check("{ ...it, interval: '2' }", "\"interval\" of task() must be a time");
    check("{ ...it, interval: 0 }", "it is 0");
    check("{ ...it, timeout: 'soon' }", "it is \"soon\"");
    check("{ ...it, timeout: 1e9 }", "\"timeout\"");
    check("{ ...it, delay: -1 }", "\"delay\"");
    check("{ ...it, maxInterval: 0.5 }", "\"maxInterval\"");
    check("{ ...it, backoff: 0.5 }", "\"backoff\" of task() must be a number from 1 up");
    check("{ ...it, maxPolls: 1.5 }", "\"maxPolls\" of task() must be a whole number");
    check("{ ...it, outcomes: ['a', 3] }", "\"outcomes\"");
    check("{ ...it, name: 5 }", "\"name\"");
    check("{ ...it, tags: 'a' }", "\"tags\"");
    check("{ ...it, poll: async () => 1, delay: 0 }", "poll() returned a promise");
}

#[test]
fn it_is_a_module_like_the_others() {
    let source = "const flow = require('plimsoll/flow');
        flow.task({ submit: () => 1, poll: () => 1, done: () => true }); exports.default = () => {};";
    assert!(load_error(source).contains("tasks are for setup(), iterations and teardown()"));
    let text = load_error("import x from 'plimsoll/flwo'; export default () => {}");
    assert!(text.contains("unknown module: plimsoll/flwo") && text.contains("plimsoll/flow"), "{text}");
    let taken =
        "import flow from 'plimsoll/flow'; import { Gauge } from 'k6/metrics'; new Gauge('flow_tasks');
        export default () => {};";
    assert!(load_error(taken).contains("'flow_tasks' already exists"));
    // Without the import the names are the script's.
    assert!(
        logged(
            "import { Gauge } from 'k6/metrics'; const g = new Gauge('flow_tasks');
        export default () => { g.add(1); console.log('fine') }"
        )
        .contains(&"fine".to_owned())
    );
}

#[test]
fn async_tasks_run_side_by_side() {
    let server = testkit::http::start();
    let left = run_against(
        &server.url(""),
        1,
        "import http from 'k6/http'; import { asyncTask } from 'plimsoll/flow';
        export default async function () {
            const one = (ms) => asyncTask({
                submit: async () => (await http.asyncRequest('POST', `${__ENV.BASE}/submit?ms=${ms}`)).json('id'),
                poll: (id) => http.asyncRequest('GET', `${__ENV.BASE}/poll/${id}`),
                done: async (answer) => answer.json('state') === 'done' && 'fine',
                interval: '100ms',
            });
            const began = Date.now();
            const all = await Promise.all([one(250), one(250), one(250)]);
            console.log(all.map((task) => task.outcome + task.polls).join(), Date.now() - began < 600);
            await one(1).then(() => { throw new Error('after it') }).catch((error) => console.log(error.message));
        }",
    );
    assert_eq!(left.logs, ["fine3,fine3,fine3 true", "after it"]);
    assert_eq!((sum(&left, "flow_tasks"), sum(&left, "flow_finished")), (4, 4));
}

#[test]
fn a_task_that_comes_first_counts_from_when_it_was_due() {
    let source = "import { sleep } from 'k6'; import flow from 'plimsoll/flow';
        export default function () {
            const it = { submit: () => 1, poll: () => 1, done: () => true, delay: 0.02 };
            flow.task(it); flow.task(it);
        }";
    let left = run_late("", 1, Some(Duration::from_millis(200)), source);
    let ms: Vec<f64> = values(&left, "flow_duration").iter().map(|it| it.0).collect();
    assert!(ms[0] >= 220.0 && (20.0..200.0).contains(&ms[1]), "{ms:?}");
    assert!(values(&left, "flow_submit_duration").iter().all(|it| it.0 < 200.0));
    // After a pause it is no longer the first step.
    let left = run_late(
        "",
        1,
        Some(Duration::from_millis(200)),
        &source.replace("flow.task(it); flow", "sleep(0.01); flow"),
    );
    assert!(values(&left, "flow_duration")[0].0 < 200.0, "{:?}", left.samples);
}
