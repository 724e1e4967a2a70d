//! The page of a run in progress: sends its state once a second to all clients.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use analysis::validity::Whole;
use api::Number;
use api::page::{Ended, Headline, LiveError, LivePace, LiveState, LiveThresholds, Series, Tick};
use engine::{RunConfig, RunControl};
use model::metric::builtin::{
    DROPPED_ITERATIONS, HTTP_REQ_DURATION, HTTP_REQ_RESPONSE_TIME, ITERATION_DURATION,
};
use model::plan::{Plan, TimeUnit};
use model::{
    Aggregate, Epoch, GeneratorState, Instant, LogLine, MetricId, MetricRegistry, RunEvent, RunProgress,
    SystemClock, ThresholdResult, Trend, Validity, ValueKind, Window, Work,
};
use redact::Redactor;
use report::document::RunState;
use report::summary::{MetricSummary, Statistic, ThresholdSummary, Values};
use report::{Lang, RunReport, number};
use runfile::{Header, ThresholdFacts};
use runs::{Failure, Offered};
use server::{Feed, Live, Server};

use super::headline::Facts;
use super::library::{Gate, Library, Own};
use super::points::{self, METRICS, Point, Row};
use super::widening::Recent;
use super::{add, logs, series, thresholds, total, values};

/// Address of the page: any free port of this machine.
const ADDRESS: &str = "127.0.0.1:0";

/// Minimum interval between two judgements of validity, seconds.
const JUDGED_EVERY_S: u32 = 5;

/// Number of judgements over a long run: a judgement reads all seconds, and days of them every few seconds would cost the
/// generator too much CPU.
const JUDGINGS: u32 = 360;

/// Maximum number of errors that are sent.
const ERRORS_TOLD: usize = 20;

/// Seconds of the pace: long enough that single seconds do not make it jump, and short enough that it follows a ramp.
const PACE_SECONDS: usize = 5;

/// Share of the iterations due that has to be dropped for a run to be saturated; the start of a ramp loses a few as well.
const SATURATED_SHARE: f64 = 0.01;

/// Maximum number of distinct errors that are counted separately.
const ERRORS_MAX: usize = 1_000;

/// A run that is about to begin, as its page needs it.
pub struct PagedRun<'a> {
    /// The run's id.
    pub id: &'a str,
    /// The run's file.
    pub path: &'a Path,
    /// The run's plan.
    pub plan: &'a Plan,
    /// The run's configuration: registry, progress and control.
    pub config: &'a RunConfig,
    /// The run's clocks.
    pub epoch: Epoch,
    /// The run's controls.
    pub live: Arc<dyn Live>,
    /// Hides secrets in what servers and scripts name.
    pub redactor: Redactor,
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

/// The live page of a run.
pub struct LivePage {
    feed: Arc<Feed>,
    gate: Arc<Gate>,
    reopen: String,
    run: RunSoFar,
    /// Whether thresholds were evaluated since they were last sent.
    has_new_thresholds: bool,
    // Dropped last, so that the page is served until the end.
    server: Server,
}

impl LivePage {
    /// Serves the page of a run at any free port of this machine. `library` opens the runs that the page lists, including this one.
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

    /// Returns the address of the page.
    pub fn address(&self) -> std::net::SocketAddr {
        self.server.address()
    }

    /// Processes an event of the run, after `recorded` has processed it.
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

    /// Returns the connections that the server closed, by cause with their counts; empty if it closed none.
    pub fn closed(&self) -> Vec<String> {
        let mut causes = self.server.closed().causes();
        let listeners = self.feed.gave_way();
        if listeners > 0 {
            causes.push(format!("{listeners} live listeners gave way to new ones"));
        }
        causes
    }

    /// Closes the run's file to readers before it is finished.
    pub fn before_finish(&self) {
        self.gate.close();
    }

    /// Opens the finished file to readers.
    pub fn after_finish(&self) {
        self.gate.open();
    }

    fn send(&self, event: &str, data: &impl serde::Serialize) {
        // Serialization cannot fail: all keys are strings.
        self.feed.push(event, &serde_json::to_string(data).unwrap_or_default());
    }

    fn send_lines(&self, recorded: &mut dyn Recorded) {
        for (id, line) in &recorded.take_fresh_lines() {
            let t = self.run.t(line.at);
            self.send("log", &logs::of_live(line, *id, t, &self.run.epoch));
        }
    }
}

/// Iterations of the last seconds.
#[derive(Clone, Debug, Default)]
struct Pace {
    is_open: bool,
    /// Length in seconds, iterations finished, and iterations due that were not started.
    windows: VecDeque<(f64, u64, u64)>,
}

impl Pace {
    fn add(&mut self, window: &Window) {
        let iterations =
            window.load.iter().filter(|load| load.work == Work::Iterations && load.scenario.is_some());
        let finished = total(iterations.map(|load| load.finished));
        let dropped = window.series.iter().map(|(key, aggregate)| match aggregate {
            Aggregate::Counter(counter) if key.metric == DROPPED_ITERATIONS => {
                counter.sum.value().max(0.0) as u64
            }
            _ => 0,
        });
        self.windows.push_back((window.end.since(window.start).as_secs_f64(), finished, total(dropped)));
        while self.windows.len() > PACE_SECONDS {
            self.windows.pop_front();
        }
    }

    fn answer(&self) -> Option<LivePace> {
        let seconds: f64 = self.windows.iter().map(|window| window.0).sum();
        if seconds <= 0.0 {
            return None;
        }
        let per_second = |count: u64| values::per_second(count as f64 / seconds);
        let dropped = total(self.windows.iter().map(|window| window.2));
        let finished = total(self.windows.iter().map(|window| window.1));
        let kind = match (self.is_open, dropped) {
            (false, _) => "closed",
            (true, 0) => "keeping",
            (true, _) if (dropped as f64) < SATURATED_SHARE * (finished.saturating_add(dropped)) as f64 => {
                "losing"
            }
            (true, _) => "saturated",
        };
        Some(LivePace {
            kind,
            finished: per_second(finished),
            dropped: per_second(dropped),
            seconds: self.windows.len() as u32,
        })
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
    /// The start of the first window, and the window's index.
    zero: Option<(Instant, u32)>,
    end: Instant,
    scenarios_started: Option<Instant>,
    offered: Offered,
    latency: MetricId,
    recent: Recent,
    pace: Pace,
    redactor: Redactor,
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
        let usual = if is_open { HTTP_REQ_RESPONSE_TIME } else { HTTP_REQ_DURATION };
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
            latency: series::objective(&header.thresholds, &config.registry).unwrap_or(usual),
            recent: Recent::default(),
            pace: Pace { is_open, ..Pace::default() },
            redactor: run.redactor.clone(),
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
        let mut latency = Trend::default();
        for (key, aggregate) in &window.series {
            if key.metric == ITERATION_DURATION {
                self.iterations.merge(aggregate);
            }
            if let Aggregate::Trend(trend) = aggregate
                && key.metric == self.latency
            {
                latency.merge(trend);
            }
        }
        self.recent.push(latency);
        if self.scenarios_started.is_some() {
            self.pace.add(window);
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
                message: self.redactor.scrub(&error.message).into_owned(),
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

    /// Returns the length of all windows so far.
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
            pace: self.pace.answer(),
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
        let mut series = points::series(1, [(self.second(window), &Row::from_point(&point))]);
        series.errors = points::errors(&series.width, errors);
        self.recent.widen(&mut series);
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

    /// Returns the thresholds as the report shows them.
    fn thresholds(&self) -> LiveThresholds {
        let mut report =
            RunReport { state: RunState::Live, time_unit: self.time_unit, ..RunReport::default() };
        let metric = |result: &ThresholdResult| {
            let metric = self.registry.get(result.metric);
            let statistic = result.source.split(['<', '>', '=', '!']).next().unwrap_or_default().trim();
            MetricSummary {
                name: self.redactor.scrub(&result.selector).into_owned(),
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

#[cfg(test)]
mod tests {
    use model::{CounterTotal, Load, SeriesKey, TagSetId};

    use super::*;

    fn window(index: u32, finished: u64, dropped: u64) -> Window {
        let mut counter = CounterTotal { count: dropped, ..CounterTotal::default() };
        counter.sum.add(dropped as f64);
        let load = Load {
            scenario: Some(model::ScenarioId(0)),
            work: Work::Iterations,
            started: finished,
            finished,
            in_flight_ns: 0,
        };
        Window {
            index,
            start: Instant::from_ns(u64::from(index) * 1_000_000_000),
            end: Instant::from_ns(u64::from(index + 1) * 1_000_000_000),
            series: vec![(
                SeriesKey { metric: DROPPED_ITERATIONS, tags: TagSetId(0) },
                Aggregate::Counter(counter),
            )],
            load: vec![load],
            ..Window::default()
        }
    }

    #[test]
    fn a_live_run_says_how_it_stands() {
        let mut pace = Pace { is_open: true, ..Pace::default() };
        assert_eq!(pace.answer(), None);
        let stands = |pace: &Pace| {
            let pace = pace.answer().expect("a pace");
            (pace.kind, pace.finished.text, pace.dropped.text, pace.seconds)
        };
        pace.add(&window(0, 160, 0));
        assert_eq!(stands(&pace), ("keeping", "160/s".to_owned(), "0/s".to_owned(), 1));
        (1..30).for_each(|index| pace.add(&window(index, 127, 33)));
        assert_eq!(stands(&pace), ("saturated", "127/s".to_owned(), "33/s".to_owned(), 5));
        // A ramp that a VU or two was late for is not at the target's limit.
        (30..35).for_each(|index| pace.add(&window(index, 227, u64::from(index == 34))));
        assert_eq!(stands(&pace), ("losing", "227/s".to_owned(), "0.2/s".to_owned(), 5));
        pace.is_open = false;
        assert_eq!(stands(&pace).0, "closed");
    }
}
