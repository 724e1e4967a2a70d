//! Facts about each agent, for people who look at the fleet.

use std::sync::Arc;

use model::metric::builtin::ITERATION_LATENESS;
use model::{AgentFacts, Aggregate, Instant, Quantile, RunEvent, ScenarioId, SeriesKey, Trend, Vital};
use schedule::{Lane, Schedule};

use super::{AgentBook, AgentState, Book, part_of};
use crate::message::MachineReading;
use crate::window::reading;

/// The facts that an agent has shown, beside its windows.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) is_suspect: bool,
    /// The hub's clock minus its own, and the largest error, nanoseconds.
    pub(super) clock: Option<(i64, u64)>,
    pub(super) requests: u64,
    pub(super) doubts: String,
    lateness: Trend,
    /// Share of a core that its busiest worker thread had, in its last window and in its worst one.
    cpu: Option<(f64, f64)>,
    /// The schedules of its arrival rates, by scenario, and how many of their iterations were due so far.
    arrivals: Option<Vec<Option<Box<dyn Schedule>>>>,
    due: u64,
}

impl Seen {
    pub(super) fn add_lateness(&mut self, series: &[(SeriesKey, Aggregate)]) {
        for (key, aggregate) in series {
            if let (ITERATION_LATENESS, Aggregate::Trend(trend)) = (key.metric, aggregate) {
                self.lateness.merge(trend);
            }
        }
    }

    fn lateness_p99_ms(&self) -> Option<f64> {
        match self.lateness.quantile(0.99) {
            Quantile::Value(value) | Quantile::AtLeast { bound: value, .. } => Some(value),
            Quantile::None | Quantile::Failed => None,
        }
    }
}

impl Book {
    /// Takes a reading of the generator on an agent's machine.
    pub(super) fn read(&mut self, agent: usize, row: &MachineReading) {
        let state = reading(row);
        let it = &mut self.agents[agent];
        if let Some(cpu) = state.get(Vital::WorkerCpu) {
            let worst = it.seen.cpu.map_or(cpu, |(_, worst)| worst.max(cpu));
            it.seen.cpu = Some((cpu, worst));
        }
        let (agent, state) = (it.name.clone(), Arc::new(state));
        self.event(RunEvent::AgentReading { agent, state });
    }

    /// Shows all agents as they are at `at`.
    pub(super) fn show_agents(&mut self, at: Instant) {
        let facts = (0..self.agents.len()).map(|agent| self.facts_of(agent, at)).collect();
        self.event(RunEvent::Agents(Arc::new(facts)));
    }

    fn facts_of(&mut self, agent: usize, at: Instant) -> AgentFacts {
        self.count_due(agent, at);
        let it = &self.agents[agent];
        let continued = it.successors.iter().map(|next| self.agents[*next].from).max();
        let has_begun = it.from > Instant::ZERO;
        let is_missing = it.state == AgentState::Missing && has_begun;
        let until = if is_missing || it.state == AgentState::Ended { it.handed_over } else { at };
        let is_open = |scenario: usize| self.plan.scenarios[scenario].executor.is_open();
        let achieved = it.finished.iter().enumerate().filter(|(scenario, _)| is_open(*scenario));
        let segment = it.part.map(part_of);
        AgentFacts {
            name: it.name.to_string(),
            cores: it.cores,
            part: it.part.map(|part| (part.index, part.count)),
            share: segment.map(|segment| segment.share),
            state: shown(it),
            from: has_begun.then_some(it.from),
            lost_at: is_missing.then_some(it.handed_over),
            continued_at: continued.filter(|_| is_missing),
            late_ns: it.late_ns,
            offset_ns: it.seen.clock.map(|clock| clock.0),
            uncertainty_ns: it.seen.clock.map(|clock| clock.1),
            due: it.seen.due,
            achieved: achieved.map(|(_, count)| *count).sum(),
            finished: it.finished.iter().sum(),
            dropped: it.dropped.iter().sum(),
            requests: it.seen.requests,
            ran_ns: if has_begun { until.since(it.from).as_nanos() as u64 } else { 0 },
            lateness_p99_ms: it.seen.lateness_p99_ms(),
            cpu: it.seen.cpu,
            doubts: it.seen.doubts.clone(),
        }
    }

    /// Counts the iterations of arrival rates that were due on an agent until `at`, or until it was continued by others.
    fn count_due(&mut self, agent: usize, at: Instant) {
        let it = &self.agents[agent];
        let (Some(started), Some(part)) = (self.started, it.part) else { return };
        let end = it.successors.iter().map(|next| self.agents[*next].from).min();
        let until = end.map_or(at, |end| end.min(at));
        let from = it.from;
        let plan = self.plan.clone();
        let seen = &mut self.agents[agent].seen;
        let arrivals = seen.arrivals.get_or_insert_with(|| {
            let segment = part_of(part);
            let schedule = |(number, scenario): (usize, &model::Scenario)| {
                let start = started + scenario.start_time;
                let id = ScenarioId(number as u16);
                let mut schedule = schedule::schedule(id, scenario, &segment, Lane::ONLY, start);
                schedule.skip_overdue(Instant::from_ns(from.as_ns().saturating_sub(1)), 0);
                scenario.executor.is_open().then_some(schedule)
            };
            plan.scenarios.iter().enumerate().map(schedule).collect()
        });
        seen.due +=
            arrivals.iter_mut().flatten().map(|schedule| schedule.skip_overdue(until, 0)).sum::<u64>();
    }
}

fn shown(agent: &AgentBook) -> model::AgentState {
    match agent.state {
        AgentState::Joining => model::AgentState::Joining,
        AgentState::Present if agent.seen.is_suspect => model::AgentState::Suspect,
        AgentState::Present => model::AgentState::Running,
        AgentState::Ended => model::AgentState::Ended,
        AgentState::Missing | AgentState::Gone => model::AgentState::Lost,
    }
}
