//! `/fleet`: the agents that made the load.

use api::Number;
use api::page::{FleetAgent, FleetPage, Value};
use model::{AgentState, Instant};
use report::number;
use runfile::AgentRow;
use server::PageError;

use super::scope::Scope;
use super::{json, values};

/// The reason why a figure is not shown.
const UNKNOWN: &str = "not measured";

pub(super) fn answer(scope: &Scope) -> Result<String, PageError> {
    let agents = &scope.reader.header().agents;
    let begun = agents.iter().filter(|agent| agent.shares <= 1);
    let late: Vec<i64> = begun.filter_map(|agent| agent.late_ns).collect();
    let skew = late.iter().max().zip(late.iter().min()).map(|(last, first)| last.abs_diff(*first) as i64);
    let uncertainty = agents.iter().filter_map(|agent| agent.uncertainty_ns).max();
    json(&FleetPage {
        agents: agents.iter().map(|agent| row(scope, agent)).collect(),
        skew: ns(scope, skew),
        uncertainty: ns(scope, uncertainty.map(|ns| ns as i64)),
    })
}

fn row(scope: &Scope, agent: &AgentRow) -> FleetAgent {
    let at = |ns: Option<u64>| ns.map(|ns| Number((scope.t(Instant::from_ns(ns)) * 1e3).round() / 1e3));
    let ran_s = agent.ran_ns as f64 / 1e9;
    let rate = |count: u64| {
        if ran_s > 0.0 { values::per_second(count as f64 / ran_s) } else { values::none(UNKNOWN) }
    };
    let is_open = agent.due > 0;
    let open_rate = |count: u64| if is_open { rate(count) } else { values::none("no arrival rate") };
    let known = |value: Option<f64>, text: &dyn Fn(f64) -> Value| {
        value.filter(|value| value.is_finite()).map_or_else(|| values::none(UNKNOWN), text)
    };
    FleetAgent {
        name: agent.name.clone(),
        cores: agent.cores,
        share: share(agent),
        state: AgentState::named(&agent.state).unwrap_or_default().as_str(),
        from: at(agent.from_ns),
        lost_from: at(agent.lost_ns),
        lost_to: at(agent.continued_ns),
        due: open_rate(agent.due),
        achieved: open_rate(agent.achieved),
        requests: rate(agent.requests),
        dropped: values::count(agent.dropped),
        cpu: known(agent.cpu_max, &values::share),
        lateness: known(agent.lateness_p99_ms, &|ms| values::ms(ms, scope.time_unit())),
        late: ns(scope, agent.late_ns),
        offset: ns(scope, agent.offset_ns),
        uncertainty: ns(scope, agent.uncertainty_ns.map(|ns| ns as i64)),
        doubts: agent.doubts.clone(),
    }
}

/// The share of the whole test.
fn share(agent: &AgentRow) -> Value {
    if agent.parts == 0 {
        return values::none("it had no part");
    }
    let share = 1.0 / (f64::from(agent.parts) * agent.shares.max(1) as f64);
    values::value(share, number::percent(share))
}

fn ns(scope: &Scope, ns: Option<i64>) -> Value {
    ns.map_or_else(|| values::none(UNKNOWN), |ns| values::ms(ns as f64 / 1e6, scope.time_unit()))
}
