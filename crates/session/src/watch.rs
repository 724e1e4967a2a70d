//! The generator's readings and the validity of a run in progress.

use analysis::validity::{DropTotals, Facts, Losses, ScenarioKind, Whole, judge};
use engine::RunOutcome;
use model::metric::builtin::{HTTP_REQ_DURATION, ITERATION_DURATION, ITERATION_LATENESS};
use model::plan::{Compat, Plan};
use model::{Clock, GeneratorState, RunEvent, SystemClock, Validity};
use runfile::Anchor;
use runs::calibration;
use runs::validity::{clock_anchor, kind};

use crate::recording::Recording;

/// Reads the generator's state and judges validity while a run is in progress.
pub(crate) struct Watch {
    sampler: host::Sampler,
    facts: Facts,
    /// Whether each scenario has an arrival-rate executor.
    is_open: Vec<bool>,
    /// Requests per second in the busiest second.
    busiest_per_s: f64,
    /// The latest reading.
    last_state: Option<GeneratorState>,
}

impl Watch {
    /// Starts reading; judgement begins with the scenarios.
    pub(crate) fn begin(plan: &Plan) -> Watch {
        let kind = |scenario: &model::Scenario| kind(scenario.executor.as_str(), scenario.executor.is_open());
        let scenarios: Vec<ScenarioKind> = plan.scenarios.iter().map(kind).collect();
        let is_open = scenarios.iter().map(|scenario| scenario.is_open).collect();
        let forgets_cut = plan.compat == Compat::Strict;
        let facts = Facts::new(scenarios, forgets_cut, true);
        Watch { sampler: host::Sampler::start(), facts, is_open, busiest_per_s: 0.0, last_state: None }
    }

    /// Processes an event after `recording` has. Readings of the generator go to both.
    pub(crate) fn on_event(&mut self, event: &RunEvent, recording: Option<&mut Recording>) {
        match event {
            RunEvent::ScenariosStarted { at } => {
                self.facts.scenarios_started = Some(*at);
                // CPU time of VU initialisation does not belong to the run.
                self.sampler.reset();
            }
            RunEvent::ScenariosEnded { at } => self.facts.scenarios_ended = Some(*at),
            RunEvent::Window(window) => {
                self.facts.add_window(window);
                let rate_per_s = calibration::requests_per_s(window).unwrap_or(0.0);
                self.busiest_per_s = self.busiest_per_s.max(rate_per_s);
                let anchor = recording.as_deref().and_then(Recording::last_anchor);
                self.facts.add_anchor(clock_anchor(anchor.unwrap_or_else(look_at_clocks)));
                let state = self.sampler.take();
                self.facts.add_state(&state);
                if let Some(recording) = recording {
                    recording.state(state.clone());
                }
                self.last_state = Some(state);
            }
            // The run is as good as the worst of its machines.
            RunEvent::AgentReading { agent, state } => {
                self.facts.add_state_of_agent(state);
                if let Some(recording) = recording {
                    recording.state_of(agent, GeneratorState::clone(state));
                }
            }
            _ => {}
        }
    }

    /// Returns the requests per second in the busiest second so far.
    pub(crate) fn busiest_per_s(&self) -> f64 {
        self.busiest_per_s
    }

    /// Returns the reading of the generator with the last window.
    pub(crate) fn last_state(&self) -> Option<&GeneratorState> {
        self.last_state.as_ref()
    }

    /// Judges validity so far; `whole` is the sum of the run so far.
    pub(crate) fn judge_so_far(&mut self, whole: Whole) -> Validity {
        self.facts.whole = whole;
        judge(&self.facts)
    }

    /// Judges the validity of the run.
    pub(crate) fn validity(&self, outcome: &RunOutcome) -> Validity {
        let mut facts = self.facts.clone();
        let of = |metric| outcome.totals.aggregate(metric);
        facts.whole = Whole::new(of(ITERATION_LATENESS), of(HTTP_REQ_DURATION), of(ITERATION_DURATION));
        let mut drops = DropTotals::default();
        for (counts, is_open) in outcome.drops.iter().zip(&self.is_open) {
            if *is_open {
                drops.vus_exhausted += counts.vus_exhausted;
                drops.vu_starting += counts.vu_starting;
                drops.agent_lost += counts.agent_lost;
            }
        }
        facts.drops = Some(drops);
        facts.losses =
            Losses { workers: outcome.workers_lost as u64, windows: 0, agents: outcome.agents_lost as u64 };
        judge(&facts)
    }
}

fn look_at_clocks() -> Anchor {
    Anchor { at: SystemClock::now(), wall_unix_ns: SystemClock.wall_unix_ns() }
}
