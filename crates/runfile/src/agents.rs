//! The agents of a run: one fact, which the writer replaces while the run is made.

use std::collections::BTreeMap;

use model::AgentFacts;
use serde::{Deserialize, Serialize};

use crate::store::Store;

/// One agent of a run, as far as the file knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentRow {
    /// Its name.
    pub name: String,
    /// Cores that it may use.
    pub cores: u32,
    /// The part of the test that it ran, from 0; 0 of 0 where it had none.
    pub part: u32,
    /// Parts of the test.
    pub parts: u32,
    /// The share of that part, from 0.
    pub share: u64,
    /// Shares of that part.
    pub shares: u64,
    /// [`model::AgentState::as_str`].
    pub state: String,
    /// From when on it started iterations, on the run's clock.
    pub from_ns: Option<u64>,
    /// From when on its load was missing.
    pub lost_ns: Option<u64>,
    /// Until when it was missing.
    pub continued_ns: Option<u64>,
    /// Delay of its start after the agreed instant.
    pub late_ns: Option<i64>,
    /// The hub's clock minus its own.
    pub offset_ns: Option<i64>,
    /// Largest error of the offset.
    pub uncertainty_ns: Option<u64>,
    /// Iterations of arrival-rate scenarios that were due on it.
    pub due: u64,
    /// Such iterations that it finished.
    pub achieved: u64,
    /// All iterations that it finished.
    pub finished: u64,
    /// Iterations that it dropped.
    pub dropped: u64,
    /// Requests that it finished.
    pub requests: u64,
    /// Time for which it ran its part.
    pub ran_ns: u64,
    /// 99th percentile of the lateness of its iterations, milliseconds.
    pub lateness_p99_ms: Option<f64>,
    /// Share of a core that its busiest worker thread had in its last window.
    pub cpu: Option<f64>,
    /// The same of its worst window.
    pub cpu_max: Option<f64>,
    /// Doubts about its measurement.
    pub doubts: String,
}

impl From<&AgentFacts> for AgentRow {
    fn from(facts: &AgentFacts) -> AgentRow {
        let (part, parts) = facts.part.unwrap_or_default();
        AgentRow {
            name: facts.name.clone(),
            cores: facts.cores,
            part,
            parts,
            share: facts.share.map_or(0, |share| share.index),
            shares: facts.share.map_or(1, |share| share.of),
            state: facts.state.as_str().to_owned(),
            from_ns: facts.from.map(|at| at.as_ns()),
            lost_ns: facts.lost_at.map(|at| at.as_ns()),
            continued_ns: facts.continued_at.map(|at| at.as_ns()),
            late_ns: facts.late_ns,
            offset_ns: facts.offset_ns,
            uncertainty_ns: facts.uncertainty_ns,
            due: facts.due,
            achieved: facts.achieved,
            finished: facts.finished,
            dropped: facts.dropped,
            requests: facts.requests,
            ran_ns: facts.ran_ns,
            lateness_p99_ms: facts.lateness_p99_ms,
            cpu: facts.cpu.map(|(last, _)| last),
            cpu_max: facts.cpu.map(|(_, worst)| worst),
            doubts: facts.doubts.clone(),
        }
    }
}

impl Store {
    /// Replaces what the file says about the agents.
    pub(crate) fn put_agents(&mut self, agents: &[AgentFacts]) -> rusqlite::Result<()> {
        let rows: Vec<AgentRow> = agents.iter().map(AgentRow::from).collect();
        self.put_facts("run", &BTreeMap::from([("agents", rows)]))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::{AgentState, Instant, RunEvent};

    use super::*;
    use crate::{Header, Reader, Writer};

    /// The last state is there, also in the file of a run that was killed; files of other runs have no agents.
    #[test]
    fn the_last_state_of_all_agents_is_in_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.plimsoll");
        let mut writer =
            Writer::create(&path, &Header::default(), Arc::default(), Arc::default()).expect("create");
        let facts = |state| AgentFacts {
            name: "a".into(),
            part: Some((1, 3)),
            state,
            lost_at: Some(Instant::from_ns(7)),
            cpu: Some((0.5, 0.75)),
            ..AgentFacts::default()
        };
        for state in [AgentState::Running, AgentState::Lost] {
            writer.on_event(&RunEvent::Agents(Arc::new(vec![facts(state)])));
        }
        drop(writer);
        let known = || {
            let agents = Reader::open(&path).ok()?.header().agents.clone();
            agents.first().is_some_and(|agent| agent.state == "lost").then_some(agents)
        };
        let agents = (0..500).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            known()
        });
        assert_eq!(agents, Some(vec![AgentRow::from(&facts(AgentState::Lost))]));
        let agent = &agents.unwrap_or_default()[0];
        assert_eq!((agent.part, agent.parts, agent.lost_ns, agent.cpu_max), (1, 3, Some(7), Some(0.75)));
        assert_eq!(serde_json::from_str::<Header>("{}").expect("a header").agents, []);
    }
}
