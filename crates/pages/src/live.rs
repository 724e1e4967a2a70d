//! The page of a run while it runs: what it told so far, once a second, for all who look.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use analysis::validity::Whole;
use api::Number;
use api::page::{Ended, Headline, LiveError, LiveState, LiveThresholds, Series, Tick};
use engine::{RunConfig, RunControl};
use model::metric::builtin::{HTTP_REQ_DURATION, HTTP_REQ_RESPONSE_TIME, ITERATION_DURATION};
use model::plan::{Plan, TimeUnit};
use model::{
    Aggregate, Epoch, GeneratorState, Instant, LogLine, MetricId, MetricRegistry, RunEvent, RunProgress,
    SystemClock, ThresholdResult, Validity, ValueKind, Window,
};
use report::document::RunState;
use report::summary::{MetricSummary, Statistic, ThresholdSummary, Values};
use report::{Lang, RunReport, number};
use runfile::{Header, ThresholdFacts};
use runs::{Failure, Offered};
use server::{Feed, Live, Server};

use super::headline::Facts;
use super::library::{Gate, Library, Own};
use super::points::{self, METRICS, Point, Row};
use super::{add, logs, thresholds};

/// Where the page is: any free port of this machine.
const ADDRESS: &str = "127.0.0.1:0";

/// How often it is judged what the measurement is worth so far, seconds.
const JUDGED_EVERY_S: u32 = 10;

/// Into how many parts a long run is cut by that: a judgement looks at all seconds, and days of them every ten would cost the
/// generator more than a page may.
const JUDGINGS: u32 = 360;

/// Errors that are told.
const ERRORS_TOLD: usize = 20;

/// Distinct errors that are counted one by one.
const ERRORS_MAX: usize = 1_000;

/// A run that is about to begin, for its page.
pub struct PagedRun<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its file.
    pub path: &'a Path,
    /// Its plan.
    pub plan: &'a Plan,
    /// Its configuration: registry, progress and control.
    pub config: &'a RunConfig,
    /// Its clocks.
    pub epoch: Epoch,
    /// Its controls.
    pub live: Arc<dyn Live>,
}

/// The data of a running run that its page needs beside the events.
pub trait Recorded {
    /// Returns the readings of the generator with the last window.
    fn last_state(&self) -> Option<&GeneratorState>;

    /// Judges the run's validity so far; `whole` holds its metrics so far.
    fn judge_so_far(&mut self, whole: Whole) -> Validity;

    /// Returns the log lines that were stored since the last call, with their numbers from 1.
    fn take_fresh_lines(&mut self) -> VecDeque<(u64, LogLine)>;
}

/// The page of a run.
pub struct LivePage {
    feed: Arc<Feed>,
    gate: Arc<Gate>,
    reopen: String,
    run: RunSoFar,
    /// The thresholds were judged since they were told.
    has_new_thresholds: bool,
    // Dropped last: it is served until the end.
    server: Server,
}

impl LivePage {
    /// Serves the page of a run at any free port of this machine. `library` opens the runs that the page lists, this one among them.
    ///
    /// # Errors
    /// The runs cannot be found, or no port is free: a sentence that continues "failed to".
    pub fn start(
        run: &PagedRun<'_>,
        reopen: String,
        library: impl FnOnce(Own) -> Result<Library, Failure>,
    ) -> Result<LivePage, String> {
        let (feed, gate) = (Arc::new(Feed::default()), Arc::new(Gate::default()));
        let own = Own {
            id: run.id.to_owned(),
            path: run.path.to_owned(),
            feed: feed.clone(),
            live: run.live.clone(),
            gate: gate.clone(),
        };
        let library = library(own).map_err(|failure| failure.text)?;
        let server = Server::start_page(ADDRESS, None, Arc::new(library))
            .map_err(|error| format!("failed to {error}"))?;
        let run = RunSoFar::new(run);
        Ok(LivePage { feed, gate, reopen, run, has_new_thresholds: false, server })
    }

    /// Returns the address that it is served at.
    pub fn address(&self) -> std::net::SocketAddr {
        self.server.address()
    }

    /// Follows the run, after `recorded` has taken the event.
    pub fn on_event(&mut self, event: &RunEvent, recorded: &mut dyn Recorded) {
        match event {
            RunEvent::Window(window) => {
                if let Some(state) = recorded.last_state() {
                    self.run.facts.peaks.add(state);
                }
                self.run.add(window);
                if self.feed.is_wanted() {
                    self.run.judge(window.index, recorded);
                    self.send("tick", &self.run.tick(Some(window.as_ref())));
                    if std::mem::take(&mut self.has_new_thresholds) {
                        self.send("thresholds", &self.run.thresholds());
                    }
                    self.send_lines(recorded);
                }
            }
            RunEvent::Thresholds { results, .. } => {
                self.run.thresholds.clone_from(results);
                self.has_new_thresholds = true;
            }
            RunEvent::Ended => {
                self.run.phase = "ended";
                self.send("tick", &self.run.tick(None));
                self.send("ended", &Ended { reopen: self.reopen.clone() });
                self.feed.close();
            }
            other => self.run.on_event(other),
        }
    }

    /// The run's file is about to be finished.
    pub fn before_finish(&self) {
        self.gate.close();
    }

    /// It is done.
    pub fn after_finish(&self) {
        self.gate.open();
    }

    fn send(&self, event: &str, data: &impl serde::Serialize) {
        // Types whose keys are texts have a form in JSON, always.
        self.feed.push(event, &serde_json::to_string(data).unwrap_or_default());
    }

    fn send_lines(&self, recorded: &mut dyn Recorded) {
        for (id, line) in &recorded.take_fresh_lines() {
            let t = self.run.t(line.at);
            self.send("log", &logs::of_live(line, *id, t, &self.run.epoch));
        }
    }
}

/// The state of a run so far, as its page shows it.
struct RunSoFar {
    facts: Facts,
    iterations: Aggregate,
    errors: HashMap<(u16, String), LiveError>,
    errors_total: u64,
    thresholds: Arc<Vec<ThresholdResult>>,
    validity: Option<Validity>,
    judged_at: Option<u32>,
    phase: &'static str,
    /// The start of the first window, and its index.
    zero: Option<(Instant, u32)>,
    end: Instant,
    scenarios_started: Option<Instant>,
    offered: Offered,
    latency: MetricId,
    registry: Arc<MetricRegistry>,
    progress: Arc<RunProgress>,
    control: RunControl,
    header: Header,
    epoch: Epoch,
    time_unit: Option<TimeUnit>,
    sentence: String,
}

impl RunSoFar {
    fn new(run: &PagedRun<'_>) -> RunSoFar {
        let (plan, config) = (run.plan, run.config);
        let is_open = plan.scenarios.iter().any(|scenario| scenario.executor.is_open());
        let header = Header {
            thresholds: plan.thresholds.iter().map(ThresholdFacts::from).collect(),
            ..Header::default()
        };
        let live = RunReport { state: RunState::Live, ..RunReport::default() };
        RunSoFar {
            facts: Facts::default(),
            iterations: Aggregate::empty(model::MetricKind::Trend),
            errors: HashMap::new(),
            errors_total: 0,
            thresholds: Arc::default(),
            validity: None,
            judged_at: None,
            phase: "initializing",
            zero: None,
            end: Instant::ZERO,
            scenarios_started: None,
            offered: Offered::of_plan(plan),
            latency: if is_open { HTTP_REQ_RESPONSE_TIME } else { HTTP_REQ_DURATION },
            registry: config.registry.clone(),
            progress: config.progress.clone(),
            control: config.control.clone(),
            header,
            epoch: run.epoch,
            time_unit: plan.summary.time_unit,
            sentence: report::json::document_in(&live, Lang::En).verdict.sentence,
        }
    }

    fn on_event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::SetupStarted => self.phase = "setup",
            RunEvent::ScenariosStarted { at } => {
                (self.phase, self.scenarios_started) = ("running", Some(*at))
            }
            RunEvent::TeardownStarted => self.phase = "teardown",
            _ => {}
        }
    }

    fn add(&mut self, window: &Window) {
        self.zero.get_or_insert((window.start, window.index));
        self.end = window.end;
        self.facts.add(window);
        for (key, aggregate) in &window.series {
            if key.metric == ITERATION_DURATION {
                self.iterations.merge(aggregate);
            }
        }
        let t = self.second(window);
        for error in &window.errors {
            add(&mut self.errors_total, error.count);
            let key = (error.code, error.message.to_string());
            if self.errors.len() >= ERRORS_MAX && !self.errors.contains_key(&key) {
                continue;
            }
            let known = self.errors.entry(key).or_insert_with(|| LiveError {
                code: error.code,
                message: error.message.to_string(),
                count: 0,
                last_t: t,
            });
            add(&mut known.count, error.count);
            known.last_t = t;
        }
    }

    fn judge(&mut self, index: u32, recorded: &mut dyn Recorded) {
        let seconds = self.zero.map_or(0, |(_, first)| index.saturating_sub(first));
        let every_s = (seconds / JUDGINGS).max(JUDGED_EVERY_S);
        if self.judged_at.is_some_and(|at| index.saturating_sub(at) < every_s) {
            return;
        }
        let lateness = Aggregate::Trend(self.facts.lateness.clone());
        let durations = Aggregate::Trend(self.facts.figures.duration().clone());
        let whole = Whole::new(Some(&lateness), Some(&durations), Some(&self.iterations));
        self.validity = Some(recorded.judge_so_far(whole));
        self.judged_at = Some(index);
    }

    fn tick(&self, window: Option<&Window>) -> Tick {
        let mut errors: Vec<&LiveError> = self.errors.values().collect();
        errors.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.message.cmp(&b.message)));
        Tick {
            state: self.state(),
            point: window.map(|window| self.point(window)),
            headline: self.headline(),
            errors: errors.into_iter().take(ERRORS_TOLD).cloned().collect(),
            errors_total: self.errors_total,
        }
    }

    fn headline(&self) -> Headline {
        let verdict = ("inconclusive", self.sentence.clone());
        self.facts.headline(verdict, self.validity.as_ref(), self.length(), self.time_unit)
    }

    /// How long the windows so far are.
    fn length(&self) -> Duration {
        self.zero.map_or(Duration::ZERO, |(zero, _)| self.end.since(zero))
    }

    fn state(&self) -> LiveState {
        let since = |at: Instant| SystemClock::now().since(at).as_secs_f64() * 1e3;
        let elapsed_ms = self.scenarios_started.map_or(0.0, since).round();
        LiveState {
            phase: self.phase,
            is_paused: self.control.is_paused(),
            is_stopping: self.control.is_stopped(),
            elapsed_ms: Number(elapsed_ms),
            planned_ms: self.offered.planned_s().map(|seconds| Number(seconds * 1e3)),
            vus: self.progress.vus_active.load(Relaxed),
            vus_max: self.progress.vus_initialized.load(Relaxed),
            text: number::value((elapsed_ms / 1e3).floor() * 1e3, ValueKind::Time, None),
        }
    }

    fn point(&self, window: &Window) -> Series {
        let since = |at: Instant, zero: Instant| (at.as_ns() as f64 - zero.as_ns() as f64) / 1e9;
        let due = |zero| self.offered.due_between(since(window.start, zero), since(window.end, zero));
        let width_s = window.end.since(window.start).as_secs_f64();
        let mut point = Point::new(width_s, self.scenarios_started.and_then(due));
        for (key, aggregate) in &window.series {
            if key.metric == self.latency || METRICS.contains(&key.metric) {
                point.add(key.metric, self.latency, true, aggregate);
            }
        }
        window.load.iter().for_each(|load| point.add_load(load));
        let errors =
            window.errors.iter().map(|error| (0, error.code, error.message.to_string(), error.count));
        let mut series = points::series(1, [(self.second(window), &Row::of(&point))]);
        series.errors = points::errors(&series.width, errors);
        let metric = self.registry.get(self.latency);
        series.latency.metric = metric.name.to_string();
        series.latency.contains = metric.contains.as_str();
        series
    }

    fn second(&self, window: &Window) -> u32 {
        self.zero.map_or(0, |(_, first)| window.index.saturating_sub(first))
    }

    fn t(&self, at: Instant) -> f64 {
        self.zero.map_or(0.0, |(zero, _)| (at.as_ns() as f64 - zero.as_ns() as f64) / 1e9)
    }

    /// The thresholds as the report shows them.
    fn thresholds(&self) -> LiveThresholds {
        let mut report =
            RunReport { state: RunState::Live, time_unit: self.time_unit, ..RunReport::default() };
        let metric = |result: &ThresholdResult| {
            let metric = self.registry.get(result.metric);
            let statistic = result.source.split(['<', '>', '=', '!']).next().unwrap_or_default().trim();
            MetricSummary {
                name: result.selector.clone(),
                contains: metric.contains,
                values: Values::empty(metric.kind),
                thresholds: vec![ThresholdSummary {
                    source: result.source.clone(),
                    ok: result.ok,
                    observed: (statistic.to_owned(), Statistic::of_quantile(result.observed)),
                }],
            }
        };
        report.summary.metrics = self.thresholds.iter().map(metric).collect();
        LiveThresholds { thresholds: thresholds::of_report(&report, &self.header) }
    }
}
