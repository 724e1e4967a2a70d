//! A Prometheus, or a server with its HTTP API, queried for the time of a run after it is over.
//!
//! The names of its metrics determine the queries ([`crate::packs`]). Each signal keeps its query with start, end and step, so that
//! users can repeat it.

mod answer;
mod window;

use std::collections::{BTreeSet, HashSet};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use model::signal::label;
use model::{Clock, Datum, Evidence, Instant, Record, RecordKind, Signal, SignalId, SignalName, SystemClock};
use serde_json::Value;

use super::Kind;
use crate::contract::{About, Check, Moment, Period, Source, SourceError};
use crate::http::{self, Client, Door};
use crate::packs::{PACKS, Pack};
use crate::settings::{Settings, SettingsError};
use answer::Answer;
use window::Window;

/// This kind of source.
pub(super) const KIND: Kind = Kind {
    name: "prometheus",
    provides: "Prometheus: nodes, containers, JVM, Go, Node.js, databases, queues and more, during the run.",
    example: "http://localhost:9090",
    settings: &[
        ("user", "user name for the credential"),
        ("selector", "label matcher added to every selector of the packs: namespace=\"shop\""),
        ("interval", "scrape interval, if Prometheus does not report it"),
        ("query.NAME", "your own PromQL query; $window is the range of rates"),
    ],
    open,
};

/// Maximum number of series kept from one response; the rest is counted.
const SERIES_MAX: usize = 200;
/// Maximum number of the user's own queries.
const QUERIES_MAX: usize = 100;
/// Default scrape interval, for servers that do not report it.
const INTERVAL: Duration = Duration::from_secs(15);
/// Minimum number of points of a run: fewer may miss its peaks.
const POINTS_WANTED: usize = 10;

/// Share of memory in use above which a node counts as nearly full.
const FULL_SHARE: f64 = 0.9;

/// Concurrent queries: fewer than the 20 that Prometheus runs at once.
const ASKED_AT_ONCE: usize = 4;
/// Timeouts of a short and a long query, and latest start of a further one within a call: their sum stays below
/// [`crate::contract::CALL_LIMIT`].
const QUICK_LIMIT: Duration = Duration::from_millis(1_500);
const QUESTION_LIMIT: Duration = Duration::from_secs(4);
const BEGIN_LIMIT: Duration = Duration::from_millis(5_500);

/// Remedy if no pack matches.
const NO_PACK: &str = "query other metrics with query.NAME = \"PromQL\"";

struct Prometheus {
    about: About,
    quick: Client,
    patient: Client,
    selector: String,
    interval: Option<Duration>,
    queries: Vec<(String, String)>,
}

/// A query to run.
struct Question {
    signal: SignalName,
    unit: &'static str,
    promql: String,
}

fn open(settings: &Settings) -> Result<Box<dyn Source>, SettingsError> {
    let Door { base, authorization, .. } = http::door(settings)?;
    let interval = settings.values.contains_key("interval").then(|| settings.duration("interval", INTERVAL));
    let queries = settings.values.iter().filter_map(|(setting, promql)| {
        setting.strip_prefix("query.").map(|name| (name.to_owned(), promql.clone()))
    });
    let queries: Vec<(String, String)> = queries.collect();
    if let Some((name, _)) = queries.get(QUERIES_MAX) {
        let why = format!("too many queries; the maximum is {QUERIES_MAX}");
        return Err(settings.wrong(&format!("query.{name}"), &why));
    }
    Ok(Box::new(Prometheus {
        about: About { name: settings.name.clone(), kind: KIND.name, address: base.clone() },
        quick: Client::patient(&base, authorization.clone(), QUICK_LIMIT),
        patient: Client::patient(&base, authorization, QUESTION_LIMIT),
        selector: settings.text("selector", "").trim().trim_matches(['{', '}']).to_owned(),
        interval: interval.transpose()?,
        queries,
    }))
}

impl Source for Prometheus {
    fn about(&self) -> About {
        self.about.clone()
    }

    fn probe(&mut self) -> Vec<Check> {
        let names = match self.metric_names(&[]) {
            Ok(names) => names,
            Err(trouble) => {
                let remedy = "set address to the Prometheus API, for example http://localhost:9090";
                return vec![Check::fails("metric names", trouble.message, remedy)];
            }
        };
        let mut checks = vec![Check::works("metric names", format!("{}", names.len()))];
        checks.push(match self.quick.json("/api/v1/status/buildinfo", &[]) {
            Ok(info) => Check::works("version", info["data"]["version"].as_str().unwrap_or("unknown")),
            Err(trouble) => Check::lacks("version", trouble.message, "allow /api/v1/status/buildinfo"),
        });
        checks.push(match self.interval.or_else(|| window::interval(&self.quick)) {
            Some(interval) => Check::works("scrape interval", window::text(interval)),
            None => {
                let why = format!("no target reports it; assuming {}", window::text(INTERVAL));
                Check::lacks("scrape interval", why, "interval = \"15s\"")
            }
        });
        checks.push(match revealed(&names)[..] {
            [] => Check::lacks("packs", "no metric of a known exporter", NO_PACK),
            ref packs => {
                let names: Vec<&str> = packs.iter().map(|pack| pack.name).collect();
                Check::works("packs", names.join(", "))
            }
        });
        checks.extend(self.probe_queries());
        checks
    }

    fn period(&self) -> Option<Duration> {
        None
    }

    fn sample(&mut self, _now: Moment) -> Result<Evidence, SourceError> {
        Ok(Evidence::default())
    }

    fn look_back(&mut self, period: &Period) -> Result<Evidence, SourceError> {
        let begun = SystemClock::now();
        let told_interval = self.interval.or_else(|| window::interval(&self.quick));
        let window = Window::around(period, told_interval.unwrap_or(INTERVAL), SystemClock.wall_unix_ns());
        let names = self.metric_names(&[("start", &window.start), ("end", &window.end)])?;
        let questions = self.questions(&names, &window);
        let answers = self.ask(&questions, &window, begun);
        if let Some(trouble) = only_failures(&answers) {
            return Err(trouble);
        }
        let mut evidence = Evidence::default();
        self.take_answers(&questions, answers, &window, &mut evidence);
        evidence.records.extend(self.too_few_points(period, &window));
        evidence.records.extend(self.full_nodes(&evidence.signals, &window));
        evidence.records.push(self.what_it_is(&names, &questions, &window, told_interval.is_some()));
        Ok(evidence)
    }
}

impl Prometheus {
    fn metric_names(&self, within: &[(&str, &str)]) -> Result<HashSet<String>, SourceError> {
        let answer = self.quick.json("/api/v1/label/__name__/values", within)?;
        let names = answer["data"].as_array();
        let names = names.ok_or_else(|| {
            SourceError::new(format!("{}: the server is not a Prometheus", self.about.address))
        })?;
        Ok(names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// Returns all queries: the user's own ones first, so that they run even if time is short.
    fn questions(&self, names: &HashSet<String>, window: &Window) -> Vec<Question> {
        let own = self.queries.iter().map(|(name, promql)| Question {
            signal: name.as_str().into(),
            unit: "",
            promql: promql.replace("$window", &window.rate),
        });
        let rows = revealed(names).into_iter().flat_map(|pack| pack.rows);
        let known = rows.filter(|row| row.metrics().all(|metric| names.contains(metric)));
        let known = known.map(|row| Question {
            signal: row.signal.into(),
            unit: row.signal.unit(),
            promql: row.promql(&window.rate, &self.selector),
        });
        own.chain(known).collect()
    }

    /// Returns the answers in the order of the queries; `None` for queries skipped for lack of time.
    fn ask(
        &self,
        questions: &[Question],
        window: &Window,
        begun: Instant,
    ) -> Vec<Option<Result<Answer, SourceError>>> {
        let next = AtomicUsize::new(0);
        let answers = Mutex::new(Vec::from_iter(questions.iter().map(|_| None)));
        let work = || {
            while SystemClock::now().since(begun) < BEGIN_LIMIT {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(question) = questions.get(place) else { return };
                let answer = self.ask_one(question, window);
                answers.lock().unwrap_or_else(PoisonError::into_inner)[place] = Some(answer);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..ASKED_AT_ONCE {
                scope.spawn(work);
            }
        });
        answers.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask_one(&self, question: &Question, window: &Window) -> Result<Answer, SourceError> {
        let (start, end, step) = (&*window.start, &*window.end, &*window.step_text);
        let parameters = [("query", &*question.promql), ("start", start), ("end", end), ("step", step)];
        let text = self.patient.text("/api/v1/query_range", &parameters)?;
        Answer::parse(&text, SERIES_MAX, window)
            .map_err(|why| SourceError::new(format!("GET {}/api/v1/query_range: {why}", self.patient.base())))
    }

    fn take_answers(
        &self,
        questions: &[Question],
        answers: Vec<Option<Result<Answer, SourceError>>>,
        window: &Window,
        evidence: &mut Evidence,
    ) {
        let mut reported = BTreeSet::new();
        let mut unasked = Vec::new();
        for (question, answer) in questions.iter().zip(answers) {
            let answer = match answer {
                None => {
                    unasked.push(question.signal.as_str());
                    continue;
                }
                Some(Err(SourceError { message: why, .. })) => {
                    let fields = [("query", question.promql.as_str().into()), ("why", why.into())];
                    evidence.records.push(self.warning(question.signal.as_str(), window, fields));
                    continue;
                }
                Some(Ok(answer)) => answer,
            };
            if answer.series_dropped > 0 {
                let kept = ("series_kept", (answer.series.len() as f64).into());
                let dropped = ("series_dropped", (answer.series_dropped as f64).into());
                evidence.records.push(self.warning(question.signal.as_str(), window, [kept, dropped]));
            }
            for (labels, points) in answer.series {
                // Alternatives with the same result are reported once.
                if reported.insert((question.signal.clone(), labels.clone())) {
                    evidence.signals.push(Signal {
                        source: self.about.name.clone(),
                        name: question.signal.clone(),
                        labels,
                        unit: question.unit.to_owned(),
                        query: window.asked(&question.promql),
                        step: window.step,
                        points,
                    });
                }
            }
        }
        if !unasked.is_empty() {
            let count = ("questions", (unasked.len() as f64).into());
            let which = ("which", unasked.join(", ").into());
            evidence.records.push(self.warning(
                "time limit reached: some signals were not queried",
                window,
                [count, which],
            ));
        }
    }

    /// Warns about too few points: a peak of a minute may lie between them.
    fn too_few_points(&self, period: &Period, window: &Window) -> Option<Record> {
        let run = period.to.at.since(period.from.at);
        let points = run.as_nanos() / window.interval.as_nanos().max(1);
        (points < POINTS_WANTED as u128).then(|| {
            let fields = [
                ("points", (points as f64).into()),
                ("points_wanted", (POINTS_WANTED as f64).into()),
                ("interval_s", window.interval.as_secs_f64().into()),
                ("rate_window_s", window.rate_window.as_secs_f64().into()),
            ];
            self.warning("too few scrapes for this run: peaks between them are not visible", window, fields)
        })
    }

    /// Returns warnings for nodes that were nearly out of memory, including other workloads.
    fn full_nodes(&self, signals: &[Signal], window: &Window) -> Vec<Record> {
        let peak = |signal: &Signal| signal.points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        let series = |id: SignalId| signals.iter().filter(move |signal| signal.name == id);
        let full = series(SignalId::NodeMemory).filter_map(|used| {
            let limit = series(SignalId::NodeMemoryLimit).find(|limit| limit.labels == used.labels)?;
            let share = peak(used) / peak(limit);
            let is_full = share.is_finite() && share >= FULL_SHARE;
            let node = used.labels.get(label::INSTANCE).map_or("a node", String::as_str);
            let fields = [("node", node.into()), ("memory_max_share", share.into())];
            is_full.then(|| self.warning("node memory nearly exhausted", window, fields))
        });
        full.collect()
    }

    fn what_it_is(
        &self,
        names: &HashSet<String>,
        questions: &[Question],
        window: &Window,
        is_told: bool,
    ) -> Record {
        let packs: Vec<&str> = revealed(names).iter().map(|pack| pack.name).collect();
        let fields = [
            ("packs", packs.join(", ").into()),
            ("questions", (questions.len() as f64).into()),
            ("metrics", (names.len() as f64).into()),
            ("interval_s", window.interval.as_secs_f64().into()),
            ("interval_is", if is_told { "reported" } else { "assumed" }.into()),
            ("rate_window_s", window.rate_window.as_secs_f64().into()),
            ("step_s", window.step.as_secs_f64().into()),
            ("start", window.start.as_str().into()),
            ("end", window.end.as_str().into()),
        ];
        self.record(RecordKind::Source, "queries", window, fields)
    }

    fn warning<const N: usize>(&self, subject: &str, window: &Window, fields: [(&str, Datum); N]) -> Record {
        self.record(RecordKind::Warning, subject, window, fields)
    }

    fn record<const N: usize>(
        &self,
        kind: RecordKind,
        subject: &str,
        window: &Window,
        fields: [(&str, Datum); N],
    ) -> Record {
        Record {
            source: self.about.name.clone(),
            kind,
            at: window.period.to.at,
            subject: subject.to_owned(),
            fields: fields.into_iter().map(|(name, datum)| (name.to_owned(), datum)).collect(),
        }
    }

    /// Tries the user's own queries at one instant each, until time is short.
    fn probe_queries(&self) -> Vec<Check> {
        let begun = SystemClock::now();
        let in_time = self.queries.iter().take_while(|_| SystemClock::now().since(begun) < QUICK_LIMIT * 2);
        let tried = in_time.map(|(name, promql)| {
            let promql = promql.replace("$window", &window::text(INTERVAL * 4));
            let what = format!("query.{name}");
            match self.quick.json("/api/v1/query", &[("query", promql.as_str())]) {
                Err(trouble) => Check::lacks(what, trouble.message, "correct the PromQL"),
                Ok(answer) => {
                    let series = answer["data"]["result"].as_array().map_or(0, Vec::len);
                    Check::works(what, format!("{series} series"))
                }
            }
        });
        tried.collect()
    }
}

fn revealed(names: &HashSet<String>) -> Vec<&'static Pack> {
    PACKS.iter().filter(|pack| pack.is_revealed_by(&|name| names.contains(name))).collect()
}

/// Returns the first error, if there were queries and none succeeded.
fn only_failures(answers: &[Option<Result<Answer, SourceError>>]) -> Option<SourceError> {
    if answers.iter().flatten().any(Result::is_ok) {
        return None;
    }
    answers.iter().flatten().find_map(|answer| answer.as_ref().err().cloned())
}

#[cfg(test)]
mod tests;
