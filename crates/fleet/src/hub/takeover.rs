//! The load of agents that are lost, and the agents that continue it.
//!
//! A part of the test that no agent runs is a vacancy. With `rebalance` it is shared out at once among the agents that remain: each
//! opens a further session, which initialises the VUs of its share as any agent does. A newcomer takes a vacancy that no other agent has.
//! The agent that takes it joins at an instant ahead, at the schedule's position of then. That instant lies behind the lost agent's fence:
//! an agent starts no iteration once the hub has not answered its heartbeats for [`HUB_SILENCE_MAX`].

use std::time::Duration;

use model::Instant;

use super::member::{Member, Stage};
use super::phases::Phase;
use super::{Hub, HubEvent, OnLoss};
use crate::agent::HUB_SILENCE_MAX;
use crate::message::{Act, Body, Hello, Order, Segment, Start};

/// Time after which an agent's fence has passed by any clock, from the last time it was heard: 200 ppm of it are 2 ms, and a thread
/// may have looked at the clock just before.
const FENCE_PASSED_AFTER: Duration = HUB_SILENCE_MAX.saturating_add(Duration::from_secs(1));

/// Time for an agent to open the further session that it was asked for. Then another one is asked.
const ENLIST_PATIENCE: Duration = Duration::from_secs(15);

/// Shares of one part, at most: numbers of VUs and iterations in a share stay exact.
const SHARES_MAX: u32 = 1000;

/// An agent that loops VUs numbers fewer iterations than this after its last counters: 9 s at 100,000 per second.
const UNHEARD_ITERATIONS_MAX: u64 = 1 << 20;

/// A part of the test that no agent runs, or a share of one.
#[derive(Debug)]
pub(super) struct Vacancy {
    part: Segment,
    /// The agent that ran it.
    of: usize,
    /// From when on nothing of that agent starts any more.
    free_at: Instant,
    /// By scenario: iterations that it may have numbered.
    numbers: Vec<u64>,
    /// The agent that was asked to open a session for it, and until when.
    asked: Option<(usize, Instant)>,
    /// The agent that prepares or runs it.
    holder: Option<usize>,
}

impl Hub {
    /// Opens the part of an agent to others, and shares it out with `rebalance`.
    pub(super) fn vacate(&mut self, now: Instant, agent: usize) {
        let member = &self.members[agent];
        let Some(part) = member.part.filter(|_| !self.is_stopped) else { return };
        let has_ended = member.has_exited || member.stage == Stage::Ended;
        let free_at = if has_ended { now } else { member.heard + FENCE_PASSED_AFTER };
        let number = |scenario: usize| {
            let before = member.numbers.get(scenario).copied().unwrap_or(0);
            let started = member.counters.scenarios.get(scenario).map_or(0, |it| it.started);
            before.saturating_add(started).saturating_add(UNHEARD_ITERATIONS_MAX)
        };
        let numbers: Vec<u64> = (0..self.settings.shared.len()).map(number).collect();
        let shares = self.shares_of(part);
        for index in 0..shares {
            self.vacancies.push(Vacancy {
                part: Segment { is_continued: true, ..part.split(index, shares) },
                of: agent,
                free_at,
                // Of the numbers below this one in the part, the shares have as many each, rounded up.
                numbers: numbers.iter().map(|number| number.div_ceil(shares.into())).collect(),
                asked: None,
                holder: None,
            });
        }
        self.fill_vacancies(now);
    }

    /// An agent that was to take a vacancy is gone.
    pub(super) fn leave_vacancy(&mut self, agent: usize) {
        for vacancy in self.vacancies.iter_mut().filter(|it| it.holder == Some(agent)) {
            (vacancy.holder, vacancy.asked) = (None, None);
        }
    }

    /// Where an agent that says hello may take part: the vacancy that it takes, or `None` before the start.
    ///
    /// # Errors
    /// There is no place for it.
    pub(super) fn place_for(&self, hello: &Hello) -> Result<Option<usize>, String> {
        if matches!(self.phase, Phase::Gathering { .. }) {
            let live = self.members.iter().filter(|member| member.is_live()).count();
            let is_full = live >= self.parts as usize;
            let text = || format!("the test has its {} agents; start it with a larger --agents", self.parts);
            return if is_full { Err(text()) } else { Ok(None) };
        }
        let is_running = matches!(self.phase, Phase::Running { .. }) && !self.is_stopped;
        let is_free = |vacancy: &&usize| self.vacancies[**vacancy].holder.is_none();
        let all: Vec<usize> = (0..self.vacancies.len()).filter(|_| is_running).collect();
        let found = match (hello.ticket as usize).checked_sub(1) {
            Some(ticket) => all.get(ticket).filter(is_free),
            None => all.iter().find(is_free),
        };
        let refusal = "the test has begun, and no load is without an agent; agents can join only before the start, \
                       or in the place of one that was lost";
        found.copied().map(Some).ok_or_else(|| refusal.to_owned())
    }

    /// Gives a vacancy to an agent that has joined.
    pub(super) fn take_vacancy(&mut self, vacancy: usize, agent: usize, ticket: u32) {
        let vacancy = &mut self.vacancies[vacancy];
        vacancy.holder = Some(agent);
        self.members[agent].host = vacancy.asked.filter(|_| ticket > 0).map(|(host, _)| host);
    }

    /// Asks agents to take vacancies, and has those that are ready join the schedule.
    pub(super) fn fill_vacancies(&mut self, now: Instant) {
        if self.is_stopped || !matches!(self.phase, Phase::Running { .. }) {
            return;
        }
        for vacancy in 0..self.vacancies.len() {
            match self.vacancies[vacancy].holder {
                None => self.ask_for(now, vacancy),
                Some(agent) if self.members[agent].stage == Stage::Fetched => {
                    self.prepare(now, agent, self.vacancies[vacancy].part);
                }
                Some(agent) if self.members[agent].is_ready() => self.join_schedule(now, vacancy, agent),
                Some(_) => {}
            }
        }
    }

    /// Asks the agent with the fewest sessions for one more; an agent that was asked in vain only where there is no other.
    fn ask_for(&mut self, now: Instant, vacancy: usize) {
        let can_host = |agent: usize| self.can_host(agent);
        let is_asked =
            self.vacancies[vacancy].asked.is_some_and(|(host, until)| now < until && can_host(host));
        if is_asked || self.settings.on_loss != OnLoss::Rebalance {
            return;
        }
        let sessions =
            |host: usize| self.vacancies.iter().filter(|it| it.is_with(host, &self.members)).count();
        let hosts = (0..self.members.len()).filter(|agent| can_host(*agent));
        let before = self.vacancies[vacancy].asked.map(|(host, _)| host);
        let Some(host) = hosts.min_by_key(|host| (before == Some(*host), sessions(*host))) else { return };
        self.vacancies[vacancy].asked = Some((host, now + ENLIST_PATIENCE));
        let act = Act::Enlist(vacancy as u32 + 1);
        self.send(now, host, Body::Order(Order { act: Some(act) }));
    }

    /// Whether an agent can open a further session. Sessions that were opened so do not open others.
    fn can_host(&self, agent: usize) -> bool {
        let member = &self.members[agent];
        let takes_part = matches!(member.stage, Stage::Running | Stage::Ended);
        takes_part && member.host.is_none() && !member.is_suspect && !member.is_leaving
    }

    /// Shares that a part is cut into: one for each agent that can take one, and none without VUs.
    fn shares_of(&self, part: Segment) -> u32 {
        if self.settings.on_loss != OnLoss::Rebalance {
            return 1;
        }
        let hosts = (0..self.members.len()).filter(|agent| self.can_host(*agent)).count() as u64;
        let shares = u64::from(part.shares.max(1));
        let vus = self.settings.vus_min / (u64::from(part.count.max(1)) * shares);
        let most = u64::from(SHARES_MAX) / shares;
        hosts.min(vus).min(most).max(1) as u32
    }

    /// Names the instant from which on an agent continues a lost one's load.
    fn join_schedule(&mut self, now: Instant, vacancy: usize, agent: usize) {
        let Some(started) = self.started else { return };
        let Vacancy { part, of, free_at, ref numbers, .. } = self.vacancies[vacancy];
        let numbers = numbers.clone();
        let from = self.instant_ahead(now.max(free_at), self.members[agent].uncertainty_ns).max(started);
        if from >= started + self.settings.load_max {
            // Nothing is left of the schedule.
            return;
        }
        let member = &mut self.members[agent];
        (member.stage, member.numbers) = (Stage::Running, numbers.clone());
        self.event(HubEvent::TookOver { agent, of, part, from });
        self.send_start(now, agent, started, from, numbers);
        if let Some(steer) = self.steer {
            self.send(now, agent, Body::Order(Order { act: Some(Act::Steer(steer)) }));
        }
    }

    pub(super) fn send_start(
        &mut self,
        now: Instant,
        agent: usize,
        at: Instant,
        from: Instant,
        numbers: Vec<u64>,
    ) {
        let setup_data = self.end.setup_data.clone();
        let start = Start { at_ns: at.as_ns(), setup_data, from_ns: from.as_ns(), numbers };
        self.send(now, agent, Body::Start(start));
    }
}

impl Vacancy {
    /// Whether an agent's process has it, or was asked to take it.
    fn is_with(&self, host: usize, members: &[Member]) -> bool {
        let has = |holder: usize| members[holder].is_live() && members[holder].host == Some(host);
        match self.holder {
            Some(holder) => has(holder),
            None => self.asked.is_some_and(|(asked, _)| asked == host),
        }
    }
}
