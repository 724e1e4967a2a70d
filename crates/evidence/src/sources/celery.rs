//! Celery, through the HTTP API of Flower 2.0: worker activity and capacity, queue lengths, and task durations.
//!
//! Celery sends its events only to members of its broker. Flower is one: it keeps recent tasks, and queries workers as
//! `celery inspect` does. Arguments and results of tasks are not read.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::{Evidence, RecordKind, SignalId};
use serde_json::{Map, Value};

use super::Kind;
use crate::answer::{Answer, Counters, FirstSeen, OptionalQuery, SignalQuery, clip, fields};
use crate::contract::{About, CALL_LIMIT, Check, ErrorKind, Moment, Period, Source, SourceError};
use crate::http::{self, Client, Door};
use crate::settings::{Settings, SettingsError, password_variable};

/// Timeout of a query. Flower itself waits a second for the answers of its workers.
const QUESTION_LIMIT: Duration = Duration::from_secs(4);
const _: () = assert!(2 * QUESTION_LIMIT.as_secs() < CALL_LIMIT.as_secs());

/// Maximum number of workers and queues with series of their own.
const WORKERS_MAX: usize = 100;
const QUEUES_MAX: usize = 100;

/// Maximum number of kinds of tasks.
const KINDS_MAX: usize = 100;

/// Maximum number of tasks requested, the newest.
const TASKS_MAX: usize = 10_000;

/// This kind of source.
pub(super) const KIND: Kind = Kind {
    name: "celery",
    provides: "Celery through Flower: workers, pools, concurrency, prefetch, queues, and wait and run times of tasks.",
    example: "http://localhost:5555",
    settings: &[("step", "interval between queries [default: 5s]")],
    open,
};

const WORKERS: SignalQuery = SignalQuery::new(SignalId::Workers, "GET /api/workers?refresh=true");
const QUEUE_READY: SignalQuery = SignalQuery::new(SignalId::QueueReady, "GET /api/queues/length: messages");
const TASKS_DONE: SignalQuery =
    SignalQuery::new(SignalId::TasksDone, "GET /api/workers?refresh=true: stats.total of all workers");

/// Signals of a worker by JSON pointer; a list counts by its length.
const WORKER_NOW: &[(SignalQuery, &str)] = &[
    (SignalQuery::new(SignalId::TasksActive, "GET /api/workers?refresh=true: active"), "/active"),
    (
        SignalQuery::new(
            SignalId::TasksActiveMax,
            "GET /api/workers?refresh=true: stats.pool.max-concurrency",
        ),
        "/stats/pool/max-concurrency",
    ),
    (SignalQuery::new(SignalId::TasksReserved, "GET /api/workers?refresh=true: reserved"), "/reserved"),
    (
        SignalQuery::new(SignalId::Prefetch, "GET /api/workers?refresh=true: stats.prefetch_count"),
        "/stats/prefetch_count",
    ),
    (
        SignalQuery::new(SignalId::Processes, "GET /api/workers?refresh=true: stats.pool.processes"),
        "/stats/pool/processes",
    ),
];

fn open(settings: &Settings) -> Result<Box<dyn Source>, SettingsError> {
    Ok(Box::new(Celery::new(settings)?))
}

struct Celery {
    name: String,
    client: Client,
    step: Duration,
    counters: Counters,
    workers: FirstSeen,
    queues: FirstSeen,
    queue_lengths: OptionalQuery,
    /// Workers whose configuration is recorded.
    known: BTreeSet<String>,
}

/// Durations of one kind of task.
#[derive(Debug, Default)]
struct Tasks {
    runtimes_ms: Vec<f64>,
    /// Time in the queue until a worker receives the task, if senders record the time of sending.
    queued_ms: Vec<f64>,
    /// Time in the worker until one of its processes starts the task.
    reserved_ms: Vec<f64>,
    failed: u32,
}

impl Source for Celery {
    fn about(&self) -> About {
        About { name: self.name.clone(), kind: KIND.name, address: self.client.base().to_owned() }
    }

    fn probe(&mut self) -> Vec<Check> {
        let workers = match self.workers() {
            Ok(workers) => workers,
            Err(SourceError { kind, message: why }) => {
                let remedy = self.remedy(kind);
                return vec![Check::fails("workers", why, remedy)];
            }
        };
        let tasks = match self.client.json("/api/tasks", &[("limit", "1")]) {
            Ok(_) => Check::works("tasks", "available"),
            Err(SourceError { message: why, .. }) => Check::lacks("tasks", why, "celery -A APP worker -E"),
        };
        let workers = match workers.len() {
            0 => Check::lacks("workers", "no worker answers Flower", "celery -A APP worker -E"),
            count => Check::works("workers", count.to_string()),
        };
        vec![workers, tasks]
    }

    fn period(&self) -> Option<Duration> {
        Some(self.step)
    }

    fn sample(&mut self, now: Moment) -> Result<Evidence, SourceError> {
        let mut answer = Answer::new(&self.name, now.at, self.step);
        let workers = self.workers()?;
        self.counters.turn(now.at);
        self.add_workers(&mut answer, &workers);
        let client = &self.client;
        let lengths = self.queue_lengths.ask(&mut answer, || client.json("/api/queues/length", &[]))?;
        for queue in lengths.iter().filter_map(|lengths| lengths["active_queues"].as_array()).flatten() {
            let (Some(name), Some(length)) = (queue["name"].as_str(), queue["messages"].as_f64()) else {
                continue;
            };
            if self.queues.has(name) {
                answer.number(&QUEUE_READY, &[("queue", name)], length);
            }
        }
        Ok(answer.evidence())
    }

    fn look_back(&mut self, period: &Period) -> Result<Evidence, SourceError> {
        let mut answer = Answer::new(&self.name, period.to.at, self.step);
        let limit = TASKS_MAX.to_string();
        let evidence = self.client.json("/api/tasks", &[("limit", &limit), ("sort_by", "-received")])?;
        let Value::Object(tasks) = evidence else {
            return Err(SourceError::new("GET /api/tasks: expected a JSON object"));
        };
        if tasks.len() >= TASKS_MAX {
            answer.warning(&format!("only the newest {TASKS_MAX} tasks were read"));
        }
        add_tasks(&mut answer, tasks.values(), period);
        Ok(answer.evidence())
    }
}

impl Celery {
    fn new(settings: &Settings) -> Result<Celery, SettingsError> {
        let Door { base, authorization, .. } = http::door(settings)?;
        Ok(Celery {
            name: settings.name.clone(),
            client: Client::patient(&base, authorization, QUESTION_LIMIT),
            step: settings.duration("step", Duration::from_secs(5))?,
            counters: Counters::default(),
            workers: FirstSeen::new(WORKERS_MAX),
            queues: FirstSeen::new(QUEUES_MAX),
            queue_lengths: OptionalQuery::new("queue lengths"),
            known: BTreeSet::new(),
        })
    }

    fn workers(&self) -> Result<Map<String, Value>, SourceError> {
        match self.client.json("/api/workers", &[("refresh", "true")])? {
            Value::Object(workers) => Ok(workers),
            _ => Err(SourceError::new(format!(
                "GET {}/api/workers: expected a JSON object",
                self.client.base()
            ))),
        }
    }

    fn add_workers(&mut self, answer: &mut Answer, workers: &Map<String, Value>) {
        answer.number(&WORKERS, &[], workers.len() as f64);
        let mut done: BTreeMap<&str, f64> = BTreeMap::new();
        for (name, worker) in workers {
            for (task, count) in
                worker.pointer("/stats/total").and_then(Value::as_object).into_iter().flatten()
            {
                *done.entry(task).or_default() += count.as_f64().unwrap_or_default();
            }
            if !self.workers.has(name) {
                continue;
            }
            for (what, place) in WORKER_NOW {
                let value = worker.pointer(place).and_then(number_or_length);
                value.into_iter().for_each(|value| answer.number(what, &[("worker", name)], value));
            }
            if self.known.insert(name.clone()) {
                add_configuration(answer, name, worker);
            }
        }
        for (task, count) in done.into_iter().take(KINDS_MAX) {
            let rate = self.counters.rate(task, count);
            rate.into_iter().for_each(|rate| answer.number(&TASKS_DONE, &[("task", task)], rate));
        }
    }

    /// Returns the remedy for a failure of the API.
    fn remedy(&self, kind: ErrorKind) -> String {
        if kind == ErrorKind::Unauthenticated {
            return format!(
                "start Flower with FLOWER_UNAUTHENTICATED_API=true; or with --basic-auth, the user in the address, and the \
                 password in {}",
                password_variable(&self.name)
            );
        }
        "celery -A APP flower --port=5555".to_owned()
    }
}

fn add_configuration(answer: &mut Answer, name: &str, worker: &Value) {
    let queues = worker["active_queues"].as_array().into_iter().flatten();
    let queues: Vec<&str> = queues.filter_map(|queue| queue["name"].as_str()).collect();
    let mut known = fields([("queues", clip(&queues.join(", ")).into())]);
    for (field, place) in [
        ("concurrency", "/stats/pool/max-concurrency"),
        ("prefetch", "/stats/prefetch_count"),
        ("tasks_per_child_max", "/stats/pool/max-tasks-per-child"),
    ] {
        let value = worker.pointer(place).and_then(Value::as_f64);
        known.extend(value.map(|value| (field.to_owned(), value.into())));
    }
    let pool = worker.pointer("/stats/pool/implementation").and_then(Value::as_str);
    known.extend(pool.map(|pool| ("pool".to_owned(), clip(pool).into())));
    answer.record(RecordKind::Configuration, &clip(name), known);
}

fn add_tasks<'a>(answer: &mut Answer, tasks: impl Iterator<Item = &'a Value>, period: &Period) {
    let mut kinds: BTreeMap<&str, Tasks> = BTreeMap::new();
    let mut untold: usize = 0;
    for task in tasks {
        let Some(name) = task["name"].as_str().filter(|_| is_within(task, period)) else { continue };
        if kinds.len() == KINDS_MAX && !kinds.contains_key(name) {
            untold += 1;
            continue;
        }
        kinds.entry(name).or_default().add(task);
    }
    for (name, tasks) in kinds {
        tasks.add_to(answer, &clip(name));
    }
    if untold > 0 {
        answer.warning(&format!("{untold} tasks were left out: more than {KINDS_MAX} kinds of tasks"));
    }
}

/// Returns true if a worker received the task during the run.
fn is_within(task: &Value, period: &Period) -> bool {
    let received_ns = task["received"].as_f64().map(|seconds| (seconds * 1e9) as i64);
    received_ns.is_some_and(|ns| period.from.wall_ns <= ns && ns <= period.to.wall_ns)
}

impl Tasks {
    fn add(&mut self, task: &Value) {
        let time = |name: &str| task[name].as_f64();
        let between =
            |from: Option<f64>, to: Option<f64>| from.zip(to).map(|(from, to)| ((to - from) * 1e3).max(0.0));
        self.runtimes_ms.extend(time("runtime").map(|seconds| seconds * 1e3));
        self.queued_ms.extend(between(time("sent"), time("received")));
        self.reserved_ms.extend(between(time("received"), time("started")));
        self.failed += u32::from(task["state"] == "FAILURE");
    }

    fn add_to(mut self, answer: &mut Answer, name: &str) {
        self.runtimes_ms.sort_by(f64::total_cmp);
        let runtimes_ms = &self.runtimes_ms;
        let mut known = fields([("failed", f64::from(self.failed).into())]);
        known.insert("count".to_owned(), (runtimes_ms.len() as f64).into());
        let mut add = |name: &str, value: Option<f64>| {
            known.extend(value.map(|value| (name.to_owned(), value.into())));
        };
        add("min_ms", runtimes_ms.first().copied());
        add("avg_ms", average(runtimes_ms));
        // The smallest value that 95 % do not exceed.
        add("p95_ms", runtimes_ms.get((runtimes_ms.len() * 95).div_ceil(100).saturating_sub(1)).copied());
        add("max_ms", runtimes_ms.last().copied());
        add("queued_avg_ms", average(&self.queued_ms));
        add("reserved_avg_ms", average(&self.reserved_ms));
        answer.record(RecordKind::Task, name, known);
    }
}

fn average(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn number_or_length(value: &Value) -> Option<f64> {
    match value {
        Value::Array(items) => Some(items.len() as f64),
        value => value.as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    use model::{Datum, Instant};

    use super::*;
    use crate::contract::promises;
    use crate::trial;

    /// Response of Flower 2.0.1 for a worker of Celery 5.7.0 with two processes, after nine tasks.
    const WORKERS: &str = include_str!("../../fixtures/flower-2.0.1/workers.json");
    const QUEUES: &str = include_str!("../../fixtures/flower-2.0.1/queues-length.json");
    const TASKS: &str = include_str!("../../fixtures/flower-2.0.1/tasks.json");

    fn made(address: &str) -> Celery {
        Celery::new(&trial::settings("celery", address, None)).expect("settings that are right")
    }

    /// Serves recorded responses of Flower until the test ends.
    fn flower() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
                let first = lines.next().unwrap_or_default();
                let _head = lines.take_while(|line| !line.is_empty()).count();
                let (status, body) = match first.split(['?', ' ']).nth(1) {
                    Some("/api/workers") => ("200 OK", WORKERS),
                    Some("/api/queues/length") => ("200 OK", QUEUES),
                    Some("/api/tasks") => ("200 OK", TASKS),
                    _ => ("404 Not Found", ""),
                };
                let length = body.len();
                let head =
                    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
                // The client may have disconnected when the test is over.
                let _ = stream.write_all(format!("{head}{body}").as_bytes());
            }
        });
        address
    }

    /// Returns the minute in which the tasks ran.
    fn period() -> Period {
        let at = |seconds: u64| Instant::from_ns(seconds * 1_000_000_000);
        let wall_ns = |seconds: i64| (1_795_356_460 + seconds) * 1_000_000_000;
        Period {
            from: Moment { at: at(1), wall_ns: wall_ns(0) },
            to: Moment { at: at(61), wall_ns: wall_ns(60) },
        }
    }

    #[test]
    fn workers_queues_and_tasks_are_told() {
        let mut source = made(&flower());
        source.step = Duration::from_millis(50);
        let evidence = promises::of_a_source(&mut source, Some("secret"));
        let value = |name: &str| {
            let signal = evidence.signals.iter().find(|signal| signal.name == name);
            signal.unwrap_or_else(|| panic!("no {name}")).points[0].1
        };
        let names = [
            "workers",
            "tasks_active",
            "tasks_active_max",
            "prefetch",
            "processes",
            "queue_ready",
            "tasks_done",
        ];
        assert_eq!(names.map(value), [1.0, 0.0, 2.0, 8.0, 2.0, 0.0, 0.0]);
        let worker = evidence
            .records
            .iter()
            .find(|record| record.kind == RecordKind::Configuration)
            .expect("its set-up");
        assert_eq!(worker.fields["pool"], "celery.concurrency.prefork:TaskPool".into());
        assert_eq!(worker.fields["queues"], "celery".into());
        assert!(!evidence.records.iter().any(|record| record.kind == RecordKind::Task), "they ran before");

        let evidence = source.look_back(&period()).expect("a look back");
        assert!(!format!("{evidence:?}").contains("secret"), "arguments are left out");
        let [broken, vision] = &evidence.records[..] else { panic!("two kinds of tasks: {evidence:?}") };
        assert_eq!((broken.subject.as_str(), vision.subject.as_str()), ("app.broken", "app.vision"));
        assert_eq!((&broken.fields["failed"], &broken.fields["count"]), (&1.0.into(), &0.0.into()));
        assert_eq!((&vision.fields["failed"], &vision.fields["count"]), (&0.0.into(), &8.0.into()));
        let number = |name: &str| match vision.fields[name] {
            Datum::Number(number) => number.round(),
            Datum::Text(_) => panic!("{name} is a number"),
        };
        let times = ["min_ms", "avg_ms", "p95_ms", "max_ms", "queued_avg_ms"].map(number);
        assert_eq!(times, [139.0, 155.0, 171.0, 171.0, 2.0]);
        assert!(number("reserved_avg_ms") > 100.0, "two at a time");
    }

    #[test]
    fn kinds_of_tasks_beyond_the_limit_are_counted() {
        let task =
            |number: usize| serde_json::json!({"name": format!("t{number}"), "received": 1_795_356_470.0});
        let tasks: Vec<Value> = (0..KINDS_MAX + 7).map(task).collect();
        let mut answer = Answer::new("celery", Instant::ZERO, Duration::from_secs(5));
        add_tasks(&mut answer, tasks.iter(), &period());
        let evidence = answer.evidence().records;
        assert_eq!(evidence.len(), KINDS_MAX + 1);
        assert_eq!(evidence[KINDS_MAX].subject, "7 tasks were left out: more than 100 kinds of tasks");
    }

    #[test]
    fn an_absent_server_is_told() {
        promises::of_an_absent_server(&mut made("http://127.0.0.1:1"));
    }
}
