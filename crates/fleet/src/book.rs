//! The events of all agents become those of one run.
//!
//! Seconds are counted from the beginning of the run, and an agent's window belongs to the second in which it starts. A second is
//! closed when every agent that is heard has handed it over, or when [`PATIENCE`] is over; what comes later is in a later second,
//! like the samples of a worker thread that answers late.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use engine::{AbortReason, DropCounts, RunConfig, RunOutcome};
use model::metric::builtin::{DROPPED_ITERATIONS, ITERATION_RESPONSE_TIME, VUS, VUS_MAX};
use model::plan::{Compat, Executor, Plan, Segment, Share};
use model::{
    Aggregate, DropCause, Instant, LogLevel, LogLine, Mark, MetricKind, RunEvent, ScenarioId, SeriesKey,
    TagSet, TagSetId, Window, Work,
};
use schedule::{Lane, Quota};
use tally::{Merger, Totals};

use crate::convert::{self, ReasonKind};
use crate::message::{Counters, Ended, Preparing, Segment as Part, WindowPart};
use crate::window::{Inbound, lines};
use crate::{HubEnd, HubEvent};
use seen::Seen;

mod seen;

/// Length of a window.
const WINDOW: Duration = Duration::from_secs(1);

/// Time for which a second waits for agents that are heard but have not handed it over.
const PATIENCE: Duration = Duration::from_secs(3);

/// Interval between evaluations of the thresholds, as in k6.
const THRESHOLDS_EVERY: Duration = Duration::from_secs(2);

/// A start that differs by more between agents is a warning.
const SKEW_WARN: Duration = Duration::from_millis(100);

/// One thing for the driver to do.
pub(crate) enum Effect {
    /// Passes an event to the listener.
    Event(RunEvent),
    /// Stops the run.
    Stop(AbortReason),
    /// Marks the run as failed.
    MarkFailed,
}

/// Merges the events of a run on many agents.
pub(crate) struct Book {
    plan: Arc<Plan>,
    config: RunConfig,
    gauge_tags: TagSetId,
    agents: Vec<AgentBook>,
    seconds: BTreeMap<u32, Second>,
    /// The next second to close.
    next: u32,
    began: Option<Instant>,
    started: Option<Instant>,
    set_up: Option<Instant>,
    is_load_over: bool,
    next_thresholds: Instant,
    totals: Totals,
    drops: Vec<DropCounts>,
    samples_lost: u64,
    workers_lost: usize,
    agents_lost: usize,
    effects: Vec<Effect>,
}

/// One agent.
struct AgentBook {
    name: Arc<str>,
    cores: u32,
    inbound: Inbound,
    /// The part of the test that it runs.
    part: Option<Part>,
    /// From when on it runs it.
    from: Instant,
    /// Agents that continue its load.
    successors: Vec<usize>,
    preparing: Preparing,
    counters: Counters,
    /// The end of its last complete window.
    handed_over: Instant,
    /// Whether seconds wait for it.
    is_awaited: bool,
    state: AgentState,
    late_ns: Option<i64>,
    /// Iterations that its windows show as finished and as dropped, by scenario.
    finished: Vec<u64>,
    dropped: Vec<u64>,
    /// The rest for people who look at the agent.
    seen: Seen,
}

/// Whether an agent's load is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AgentState {
    /// It is about to continue a lost agent's load.
    Joining,
    /// It takes part.
    Present,
    /// It has handed over everything.
    Ended,
    /// It is lost, or ended by itself before the others.
    Missing,
    /// It left before it began.
    Gone,
}

/// A second that is being collected.
#[derive(Default)]
struct Second {
    merger: Merger,
    /// Active and initialised VUs by agent.
    vus: BTreeMap<usize, (u64, u64)>,
}

impl Book {
    pub(crate) fn new(plan: Arc<Plan>, config: RunConfig) -> Book {
        let tags = plan.tags.iter().map(|(name, value)| (name.as_str().into(), value.as_str().into()));
        let gauge_tags = config.tags.intern(TagSet::new(tags));
        engine::plan_progress(&plan, &config.progress);
        Book {
            gauge_tags,
            agents: Vec::new(),
            seconds: BTreeMap::new(),
            next: 0,
            began: None,
            started: None,
            set_up: None,
            is_load_over: false,
            next_thresholds: Instant::MAX,
            totals: Totals::new(config.registry.clone(), config.tags.clone(), config.thresholds.clone()),
            drops: vec![DropCounts::default(); plan.scenarios.len()],
            samples_lost: 0,
            workers_lost: 0,
            agents_lost: 0,
            effects: Vec::new(),
            plan,
            config,
        }
    }

    /// Takes an event of the hub, and gives what follows from it.
    pub(crate) fn on(&mut self, now: Instant, event: HubEvent) -> Vec<Effect> {
        match event {
            HubEvent::Joined { name, cores, .. } => self.join(now, name, cores),
            HubEvent::Preparing(agent, preparing) => self.prepare(agent, preparing),
            HubEvent::Armed { agent, part } => self.agents[agent].part = Some(part),
            HubEvent::TookOver { agent, of, part, from } => self.take_over(now, agent, of, part, from),
            HubEvent::SetupStarted(_) => {
                self.begin(now);
                self.event(RunEvent::SetupStarted);
            }
            HubEvent::SetupEnded(at) => self.set_up = Some(at),
            HubEvent::Agreed { began, at } => self.start(began, at),
            HubEvent::Started { agent, late_ns, uncertainty_ns } => {
                self.note_start(now, agent, late_ns, uncertainty_ns);
            }
            HubEvent::Names(agent, names) => {
                if let Err(flaw) = self.agents[agent].inbound.learn(names) {
                    self.distrust(agent, flaw);
                }
            }
            HubEvent::Window(agent, part) => self.window(agent, &part),
            HubEvent::Samples(agent, samples) => {
                self.samples_lost += samples.lost;
                match self.agents[agent].inbound.samples(&samples.samples) {
                    Ok(samples) => self.event(RunEvent::Samples(Arc::new(samples))),
                    Err(flaw) => self.distrust(agent, flaw),
                }
            }
            HubEvent::Log(agent, log) => {
                let name = self.agents[agent].name.clone();
                for mut line in lines(&log) {
                    line.fields.push(("agent", name.to_string()));
                    self.event(RunEvent::Log(line));
                }
                if log.lost > 0 {
                    let text =
                        format!("agent {name}: {} log lines came faster than they could be sent", log.lost);
                    self.log(now, LogLevel::Warn, text);
                }
            }
            HubEvent::Counters(agent, counters) => self.count(now, agent, counters),
            HubEvent::Clock { agent, offset_ns, uncertainty_ns } => {
                self.agents[agent].seen.clock = Some((offset_ns, uncertainty_ns));
            }
            HubEvent::Reading(agent, row) => self.read(agent, &row),
            HubEvent::Suspect(agent) => {
                self.agents[agent].is_awaited = false;
                self.agents[agent].seen.is_suspect = true;
                let text = format!(
                    "agent {} has not been heard for {} s; it is lost after {} s",
                    self.agents[agent].name,
                    crate::hub::SUSPECT_AFTER.as_secs(),
                    crate::hub::LOST_AFTER.as_secs()
                );
                self.log(now, LogLevel::Warn, text);
            }
            HubEvent::Back(agent) => {
                let it = &mut self.agents[agent];
                it.seen.is_suspect = false;
                it.is_awaited = it.state == AgentState::Present;
                let text = format!("agent {} is heard again", it.name);
                self.log(now, LogLevel::Info, text);
            }
            HubEvent::Lost { agent, why, is_rebalanced } => self.lose(now, agent, &why, is_rebalanced),
            HubEvent::Request(agent, reason) => self.request(now, agent, reason),
            HubEvent::Ended(agent, ended) => self.end_agent(now, agent, *ended),
            HubEvent::ScenariosEnded(at) => {
                self.is_load_over = true;
                self.next_thresholds = Instant::MAX;
                self.count_missing(at);
                self.event(RunEvent::ScenariosEnded { at });
            }
            HubEvent::TeardownStarted(_) => self.event(RunEvent::TeardownStarted),
            HubEvent::Secrets(_) | HubEvent::Over(_) => {}
        }
        self.tick(now)
    }

    /// Does what is due at `now`.
    pub(crate) fn tick(&mut self, now: Instant) -> Vec<Effect> {
        while self.may_close(now) {
            let end = self.end_of(self.next);
            self.close(end);
            self.show_agents(end);
        }
        if now >= self.next_thresholds {
            self.next_thresholds = now + THRESHOLDS_EVERY;
            self.evaluate(now);
        }
        std::mem::take(&mut self.effects)
    }

    /// The results of the run, and its last events.
    pub(crate) fn finish(mut self, now: Instant, end: HubEnd) -> (RunOutcome, Vec<Effect>) {
        let ended = end.ended.unwrap_or(now);
        self.begin(ended);
        let last = self.seconds.keys().next_back().copied().unwrap_or(self.next).max(self.second_of(ended));
        while self.next < last {
            let end = self.end_of(self.next);
            self.close(end);
        }
        let start = self.end_of(last).as_ns() - WINDOW.as_nanos() as u64;
        if ended.as_ns() > start || self.seconds.contains_key(&last) {
            let end_ns = ended.as_ns().clamp(start + 1, start + WINDOW.as_nanos() as u64);
            self.close(Instant::from_ns(end_ns));
        }
        // Between setup() and the agreed instant nothing runs, and no rate counts the time.
        let idle = self.set_up.zip(self.started).map(|(set_up, started)| started.since(set_up));
        let elapsed = ended.since(self.began.unwrap_or(ended)).saturating_sub(idle.unwrap_or_default());
        let thresholds = self.totals.evaluate_at_end(elapsed);
        if !thresholds.results.is_empty() {
            let results = Arc::new(thresholds.results.clone());
            self.event(RunEvent::Thresholds { at: ended, results });
        }
        self.show_agents(ended);
        self.event(RunEvent::Ended);
        let control = &self.config.control;
        let outcome = RunOutcome {
            aborted: control.reason(),
            marked_failed: control.is_marked_failed(),
            init_error: end.unfit.map(convert::to_program),
            setup_error: end.setup_failure.map(convert::to_lifecycle),
            teardown_error: end.teardown_failure.map(convert::to_lifecycle),
            setup_data: end.setup_data.map(Into::into),
            totals: self.totals,
            thresholds,
            drops: self.drops,
            samples_lost: self.samples_lost,
            workers_lost: self.workers_lost,
            agents_lost: self.agents_lost,
            elapsed,
        };
        (outcome, self.effects)
    }

    fn join(&mut self, now: Instant, name: String, cores: u32) {
        let text = format!("agent {name} joined ({cores} core{})", if cores == 1 { "" } else { "s" });
        self.log(now, LogLevel::Debug, text);
        let scenarios = self.plan.scenarios.len();
        self.agents.push(AgentBook {
            name: name.into(),
            cores,
            inbound: Inbound::new(self.config.registry.clone(), self.config.tags.clone(), scenarios),
            part: None,
            from: Instant::ZERO,
            successors: Vec::new(),
            preparing: Preparing::default(),
            counters: Counters::default(),
            handed_over: Instant::ZERO,
            // One that joins later is awaited from its beginning on.
            is_awaited: self.started.is_none(),
            state: if self.started.is_none() { AgentState::Present } else { AgentState::Joining },
            late_ns: None,
            finished: vec![0; scenarios],
            dropped: vec![0; scenarios],
            seen: Seen::default(),
        });
    }

    fn prepare(&mut self, agent: usize, preparing: Preparing) {
        self.agents[agent].preparing = preparing;
        let sum = |of: fn(&Preparing) -> u32| {
            self.agents.iter().map(|it| of(&it.preparing)).fold(0, u32::saturating_add)
        };
        let (ready, planned) = (sum(|it| it.ready), sum(|it| it.planned));
        if self.started.is_none() {
            self.event(RunEvent::Initializing { ready, planned });
        }
    }

    fn begin(&mut self, at: Instant) {
        if self.began.is_none() {
            self.began = Some(at);
            self.config.progress.began_ns.store(at.as_ns(), Relaxed);
        }
    }

    fn start(&mut self, began: Instant, at: Instant) {
        self.begin(began);
        self.started = Some(at);
        self.next_thresholds = at + THRESHOLDS_EVERY;
        self.config.progress.started_ns.store(at.as_ns(), Relaxed);
        for (scenario, progress) in self.plan.scenarios.iter().zip(&self.config.progress.scenarios) {
            progress.started_ns.store((at + scenario.start_time).as_ns(), Relaxed);
        }
        for agent in self.agents.iter_mut().filter(|it| it.state != AgentState::Gone) {
            (agent.handed_over, agent.from) = (agent.handed_over.max(at), at);
        }
        self.event(RunEvent::ScenariosStarted { at });
    }

    /// An agent continues the load of another one.
    fn take_over(&mut self, now: Instant, agent: usize, of: usize, part: Part, from: Instant) {
        self.agents[of].successors.push(agent);
        let lost = self.agents[of].name.clone();
        let it = &mut self.agents[agent];
        (it.part, it.from, it.handed_over) = (Some(part), from, from);
        (it.state, it.is_awaited) = (AgentState::Present, true);
        let share =
            if part.shares > 1 { format!("1/{} of the test's part", part.shares) } else { "the load".into() };
        let offset = from.since(self.started.unwrap_or(from)).as_secs_f64();
        let text = format!("agent {} continues {share} of agent {lost} from {offset:.1} s on", it.name);
        self.log(now, LogLevel::Info, text);
    }

    /// Shows the measured skew once all agents have started.
    fn note_start(&mut self, now: Instant, agent: usize, late_ns: i64, uncertainty_ns: u64) {
        self.agents[agent].late_ns = Some(late_ns);
        let name = &self.agents[agent].name;
        let text = format!(
            "agent {name} started {:.3} ms after the agreed instant, its clock is known to ±{:.3} ms",
            late_ns as f64 / 1e6,
            uncertainty_ns as f64 / 1e6
        );
        self.log(now, LogLevel::Debug, text);
        let start = self.started.unwrap_or(Instant::ZERO);
        if self.agents[agent].from > start {
            return;
        }
        let is_there = |it: &AgentBook| matches!(it.state, AgentState::Present | AgentState::Ended);
        let has_begun = |it: &&AgentBook| it.from == start && is_there(it);
        let present = || self.agents.iter().filter(has_begun);
        let late: Vec<i64> = present().filter_map(|it| it.late_ns).collect();
        if late.len() < present().count() {
            return;
        }
        let skew_ns =
            late.iter().max().zip(late.iter().min()).map_or(0, |(last, first)| last.abs_diff(*first));
        let text = format!("{} agents started within {:.2} ms", late.len(), skew_ns as f64 / 1e6);
        let is_large = u128::from(skew_ns) > SKEW_WARN.as_nanos();
        self.log(now, if is_large { LogLevel::Warn } else { LogLevel::Info }, text);
    }

    fn window(&mut self, agent: usize, part: &WindowPart) {
        let it = &mut self.agents[agent];
        let read = it.inbound.series(&part.series).and_then(|series| Ok((series, it.inbound.notes(part)?)));
        let (series, notes) = match read {
            Ok(read) => read,
            Err(flaw) => return self.distrust(agent, flaw),
        };
        for (key, aggregate) in series.iter().filter(|(key, _)| key.metric == DROPPED_ITERATIONS) {
            let of = |plan| engine::scenario_tags(&self.plan, plan, &self.config.tags).1;
            let scenario = self.plan.scenarios.iter().position(|plan| of(plan) == key.tags);
            if let (Some(scenario), Aggregate::Counter(counter)) = (scenario, aggregate) {
                it.dropped[scenario] += counter.sum.value() as u64;
            }
        }
        for load in &notes.load {
            match (load.scenario, load.work) {
                (Some(scenario), Work::Iterations) => it.finished[usize::from(scenario.0)] += load.finished,
                (_, Work::Requests) => it.seen.requests += load.finished,
                (None, Work::Iterations) => {}
            }
        }
        it.seen.add_lateness(&series);
        if part.is_last {
            it.handed_over = it.handed_over.max(Instant::from_ns(part.end_ns));
        }
        let index = self.second_of(Instant::from_ns(part.start_ns)).max(self.next);
        let second = self.seconds.entry(index).or_default();
        second.merger.add(series);
        second.merger.add_notes(notes);
        if part.is_last {
            second.vus.insert(agent, (part.vus, part.vus_max));
        }
    }

    fn count(&mut self, now: Instant, agent: usize, counters: Counters) {
        self.agents[agent].counters = counters;
        let all = self.agents.iter().map(|it| &it.counters);
        convert::add_up(all, &self.config.progress);
        if let Some(started) = self.started {
            engine::update_progress(&self.plan, &self.config.progress, started, now);
        }
    }

    fn request(&mut self, now: Instant, agent: usize, reason: crate::message::Reason) {
        if reason.kind == ReasonKind::MarkedFailed as u32 {
            self.effects.push(Effect::MarkFailed);
        } else if reason.kind == ReasonKind::Script as u32 {
            self.effects.push(Effect::Stop(convert::to_abort(reason)));
        } else {
            let name = self.agents[agent].name.clone();
            let why = reason.text.unwrap_or_else(|| "without a reason".to_owned());
            self.log(now, LogLevel::Warn, format!("agent {name} stops: {why}"));
        }
    }

    fn end_agent(&mut self, now: Instant, agent: usize, ended: Ended) {
        let Ended { aborted, marked_failed, drops, samples_lost, workers_lost, counters, doubts } = ended;
        for (sum, row) in self.drops.iter_mut().zip(drops) {
            sum.vus_exhausted = sum.vus_exhausted.saturating_add(row.vus_exhausted);
            sum.vu_starting = sum.vu_starting.saturating_add(row.vu_starting);
            sum.time_up = sum.time_up.saturating_add(row.time_up);
        }
        self.samples_lost = self.samples_lost.saturating_add(samples_lost);
        self.workers_lost = self.workers_lost.saturating_add(workers_lost as usize);
        if marked_failed {
            self.effects.push(Effect::MarkFailed);
        }
        if let Some(counters) = counters {
            self.count(now, agent, counters);
        }
        let it = &mut self.agents[agent];
        it.is_awaited = false;
        let is_told = self.config.control.is_stopped();
        let early = aborted.filter(|_| !is_told && it.state == AgentState::Present);
        it.state = if early.is_some() { AgentState::Missing } else { AgentState::Ended };
        let name = it.name.clone();
        if let Some(reason) = early {
            let why = reason.text.unwrap_or_else(|| "it was stopped by a signal".to_owned());
            let text = format!(
                "agent {name} ended its load before the plan did: {why}; its load is missing from now on"
            );
            self.log(now, LogLevel::Warn, text);
        }
        self.agents[agent].seen.doubts.clone_from(&doubts);
        if !doubts.is_empty() {
            self.log(now, LogLevel::Warn, format!("validity of agent {name}: {doubts}"));
        }
    }

    fn lose(&mut self, now: Instant, agent: usize, why: &str, is_rebalanced: bool) {
        let is_running = self.started.is_some() && !self.is_load_over;
        let it = &mut self.agents[agent];
        it.is_awaited = false;
        it.preparing = Preparing::default();
        (it.counters.vus_active, it.counters.vus_initialized) = (0, 0);
        it.counters.scenarios.iter_mut().for_each(|scenario| scenario.vus_active = 0);
        let was_present = it.state == AgentState::Present;
        match it.state {
            AgentState::Present if is_running => it.state = AgentState::Missing,
            AgentState::Present | AgentState::Joining if !self.is_load_over => it.state = AgentState::Gone,
            _ => {}
        }
        let name = &it.name;
        let text = match is_running && was_present {
            true if is_rebalanced => {
                format!("agent {name} was lost: {why}; the others continue its load in a moment")
            }
            true => format!("agent {name} was lost: {why}; its load is missing from now on"),
            false => format!("agent {name} left: {why}"),
        };
        self.log(now, LogLevel::Warn, text);
        convert::add_up(self.agents.iter().map(|it| &it.counters), &self.config.progress);
    }

    /// An agent whose frames make no sense is not counted any further.
    fn distrust(&mut self, agent: usize, flaw: &str) {
        let text = format!("agent {} sent a frame that cannot be used: {flaw}", self.agents[agent].name);
        self.effects.push(Effect::Stop(AbortReason::Listener(text.into())));
    }

    /// Counts the iterations that agents which are missing would have started. A run that was ended early dropped nothing: its
    /// plan was cancelled.
    fn count_missing(&mut self, at: Instant) {
        let Some(started) = self.started.filter(|_| !self.config.control.is_stopped()) else { return };
        let missing = (0..self.agents.len()).filter(|agent| self.agents[*agent].state == AgentState::Missing);
        let missing: Vec<usize> = missing.collect();
        self.agents_lost = missing.len();
        for agent in missing {
            for scenario in 0..self.plan.scenarios.len() {
                let count = self.missing(agent, scenario, started);
                self.drop_missing(scenario, count, DropCause::AgentLost, at);
            }
        }
        for scenario in 0..self.plan.scenarios.len() {
            self.count_unshared(scenario, at);
        }
    }

    /// Counts the shared iterations of a scenario that no agent has started: their time was up, or those who were to run them are lost.
    fn count_unshared(&mut self, scenario: usize, at: Instant) {
        let Executor::SharedIterations { iterations, .. } = self.plan.scenarios[scenario].executor else {
            return;
        };
        let ran = self.agents.iter().map(|it| it.finished[scenario].saturating_add(it.dropped[scenario]));
        let ran = ran.fold(0, u64::saturating_add);
        let cause = if self.agents_lost > 0 { DropCause::AgentLost } else { DropCause::TimeUp };
        self.drop_missing(scenario, iterations.saturating_sub(ran), cause, at);
    }

    /// Iterations of a scenario that an agent was to run, that its windows show neither as finished nor as dropped, and that no other
    /// agent was to continue.
    fn missing(&self, agent: usize, scenario: usize, started: Instant) -> u64 {
        let it = &self.agents[agent];
        // Of those that are due before the end of its last window one may start after it: all that it has not handed over is missing.
        let own = it.finished[scenario] + it.dropped[scenario];
        let continued = it.successors.iter().map(|agent| self.planned(*agent, scenario, started));
        let continued = continued.fold(own, u64::saturating_add);
        self.planned(agent, scenario, started).saturating_sub(continued)
    }

    /// Iterations of a scenario that an agent was to run; 0 where that is not known.
    fn planned(&self, agent: usize, scenario: usize, started: Instant) -> u64 {
        let AgentBook { part: Some(part), from, .. } = self.agents[agent] else { return 0 };
        let (plan, segment) = (&self.plan.scenarios[scenario], part_of(part));
        // Which of a number of iterations were begun is not known: no agent continues them.
        match schedule::quota(&plan.executor, &segment) {
            Quota::PerVu(_) if part.is_continued => 0,
            Quota::PerVu(each) => {
                let (vus, _) = schedule::vus(&plan.executor, &segment);
                each.saturating_mul(vus.into())
            }
            // They belong to no agent: [`Book::count_unshared`].
            Quota::Shared(_) => 0,
            Quota::Unlimited if plan.executor.is_open() => {
                let start = started + plan.start_time;
                let id = ScenarioId(scenario as u16);
                let mut rest = schedule::schedule(id, plan, &segment, Lane::ONLY, start);
                rest.skip_overdue(Instant::from_ns(from.as_ns().saturating_sub(1)), 0);
                rest.skip_overdue(Instant::MAX, 0)
            }
            Quota::Unlimited => 0,
        }
    }

    fn drop_missing(&mut self, scenario: usize, count: u64, cause: DropCause, at: Instant) {
        if count == 0 {
            return;
        }
        let drops = &mut self.drops[scenario];
        *(if cause == DropCause::TimeUp { &mut drops.time_up } else { &mut drops.agent_lost }) += count;
        self.config.progress.iterations_dropped.fetch_add(count, Relaxed);
        let plan = &self.plan.scenarios[scenario];
        let (tags, drop_tags) = engine::scenario_tags(&self.plan, plan, &self.config.tags);
        let mut dropped = Aggregate::empty(MetricKind::Counter);
        dropped.record(count as f64, Mark::Measured, at);
        let mut series = vec![(SeriesKey { metric: DROPPED_ITERATIONS, tags: drop_tags }, dropped)];
        if self.plan.compat == Compat::Honest && plan.executor.is_open() {
            let mut trend = model::Trend::default();
            trend.failures.get_or_insert_default().dropped = count;
            let key = SeriesKey { metric: ITERATION_RESPONSE_TIME, tags };
            series.push((key, Aggregate::Trend(trend)));
        }
        let index = self.second_of(at).max(self.next);
        self.seconds.entry(index).or_default().merger.add(series);
    }

    /// The second in which an instant is.
    fn second_of(&self, at: Instant) -> u32 {
        let Some(began) = self.began else { return 0 };
        u32::try_from(at.since(began).as_nanos() / WINDOW.as_nanos()).unwrap_or(u32::MAX)
    }

    fn end_of(&self, index: u32) -> Instant {
        self.began.unwrap_or(Instant::ZERO) + WINDOW * index.saturating_add(1)
    }

    fn may_close(&self, now: Instant) -> bool {
        if self.began.is_none() {
            return false;
        }
        let end = self.end_of(self.next);
        if now < end {
            return false;
        }
        let is_complete = self.started.is_some_and(|started| end > started)
            && self.agents.iter().all(|it| !it.is_awaited || it.handed_over >= end);
        is_complete || now >= end + PATIENCE
    }

    /// When [`Book::tick`] has something to do.
    pub(crate) fn deadline(&self, now: Instant) -> Instant {
        let end = if self.began.is_some() { self.end_of(self.next) } else { Instant::MAX };
        // A second that is over waits for frames, or for its patience.
        let close = if now < end { end } else { end + PATIENCE };
        close.min(self.next_thresholds)
    }

    fn close(&mut self, end: Instant) {
        let index = self.next;
        let start = Instant::from_ns(self.end_of(index).as_ns().saturating_sub(WINDOW.as_nanos() as u64));
        let mut second = self.seconds.remove(&index).unwrap_or_default();
        let (vus, vus_max) = second
            .vus
            .values()
            .fold((0_u64, 0_u64), |sum, it| (sum.0.saturating_add(it.0), sum.1.saturating_add(it.1)));
        let gauges = [(VUS, vus), (VUS_MAX, vus_max)].map(|(metric, value)| {
            let mut gauge = Aggregate::empty(MetricKind::Gauge);
            gauge.record(value as f64, Mark::Measured, end);
            (SeriesKey { metric, tags: self.gauge_tags }, gauge)
        });
        second.merger.add(gauges.to_vec());
        let window: Window = second.merger.take(index, start, end);
        self.next = index.saturating_add(1);
        self.totals.absorb(&window);
        self.event(RunEvent::Window(Arc::new(window)));
    }

    /// Evaluates the thresholds on the windows so far; one with `abortOnFail` may stop the run.
    fn evaluate(&mut self, now: Instant) {
        let Some(started) = self.started else { return };
        let evaluation = self.totals.evaluate(now.since(started));
        if evaluation.abort.is_some() {
            self.effects.push(Effect::Stop(AbortReason::Threshold));
        }
        if !evaluation.results.is_empty() {
            self.event(RunEvent::Thresholds { at: now, results: Arc::new(evaluation.results) });
        }
    }

    fn event(&mut self, event: RunEvent) {
        self.effects.push(Effect::Event(event));
    }

    fn log(&mut self, now: Instant, level: LogLevel, text: String) {
        self.event(RunEvent::Log(LogLine::new(now, level, text)));
    }
}

/// A part of a test, or a share of one, as the engine takes it.
pub fn part_of(part: Part) -> Segment {
    let parts = u64::from(part.count.max(1));
    let bound = |index: u64| match index {
        0 => (0, 1),
        index if index == parts => (1, 1),
        index => (index, parts),
    };
    let index = u64::from(part.index).min(parts - 1);
    let of = u64::from(part.shares.max(1));
    let share = Share { index: u64::from(part.share).min(of - 1), of };
    Segment { from: bound(index), to: bound(index + 1), sequence: (0..=parts).map(bound).collect(), share }
}

#[cfg(test)]
mod tests;
