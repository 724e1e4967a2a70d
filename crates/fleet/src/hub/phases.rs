//! The phases of a run on many agents.

use std::time::Duration;

use model::Instant;

use super::member::{Member, Stage};
use super::{
    END_PATIENCE, FINISH_PATIENCE, Hub, HubEvent, HubOutput, LOST_AFTER, OnLoss, START_LEAD, SUSPECT_AFTER,
};
use crate::convert::{self, FailureKind, ReasonKind};
use crate::link::BACKLOG_BYTES_MAX;
use crate::message::{Act, Body, Empty, Frame, FunctionEnd, Order, Segment};

/// Bytes of the archive per frame.
const ARCHIVE_PART_BYTES: usize = 256 << 10;

/// Frames of the archive that are on their way to one agent.
const ARCHIVE_PARTS_IN_FLIGHT: usize = 16;

/// Length of a window. The scenarios start at a whole number of windows after the beginning of `setup()`.
const WINDOW_NS: u64 = 1_000_000_000;

/// Where a run is. Each phase ends on frames or when its time is up.
#[derive(Debug)]
pub(super) enum Phase {
    /// Agents join and initialise VUs.
    Gathering { until: Instant },
    /// `setup()` or `teardown()` runs on an agent.
    Function { agent: usize, is_setup: bool, until: Instant, end: Option<FunctionEnd> },
    /// The scenarios run. At `until` the run goes on without the agents that have not ended.
    Running { until: Instant },
    /// Agents confirm that the run is over.
    Finishing { until: Instant },
    /// Nothing is left to do.
    Over,
}

impl Phase {
    pub(super) fn deadline(&self) -> Instant {
        match self {
            Phase::Gathering { until }
            | Phase::Function { until, .. }
            | Phase::Running { until }
            | Phase::Finishing { until } => *until,
            Phase::Over => Instant::MAX,
        }
    }

    /// Ends the phase at `at` at the latest.
    pub(super) fn shorten(&mut self, at: Instant) {
        match self {
            Phase::Function { until, .. } | Phase::Running { until } => *until = (*until).min(at),
            Phase::Gathering { .. } | Phase::Finishing { .. } | Phase::Over => {}
        }
    }

    /// Takes the result of the function, if it runs on this agent.
    pub(super) fn take_function(&mut self, from: usize, result: FunctionEnd) {
        if let Phase::Function { agent, end, .. } = self
            && *agent == from
        {
            *end = Some(result);
        }
    }
}

impl Hub {
    /// Notes silence, sends again what was not acknowledged, and feeds archives.
    pub(super) fn look_at_members(&mut self, now: Instant) {
        for agent in 0..self.members.len() {
            let member = &mut self.members[agent];
            if !member.is_live() {
                continue;
            }
            let silence = now.since(member.heard);
            if silence >= LOST_AFTER {
                let why = format!("nothing was heard from it for {} s", silence.as_secs());
                member.may_return = true;
                self.lose(now, agent, why);
                continue;
            }
            if member.link.backlog_bytes() > BACKLOG_BYTES_MAX {
                self.lose(now, agent, "it does not acknowledge what it is sent".to_owned());
                continue;
            }
            let is_news = silence >= SUSPECT_AFTER && !std::mem::replace(&mut member.is_suspect, true);
            if silence < SUSPECT_AFTER {
                member.is_suspect = false;
            }
            if let Some(connection) = member.connection {
                let again = member.link.resend(now);
                self.outputs.extend(again.into_iter().map(|frame| HubOutput::Send(connection, frame)));
            }
            if is_news {
                self.event(HubEvent::Suspect(agent));
            }
            self.feed_archive(now, agent);
        }
    }

    fn feed_archive(&mut self, now: Instant, agent: usize) {
        loop {
            let member = &mut self.members[agent];
            let rest = self.settings.archive.len() - member.archive_sent;
            if rest == 0 || member.link.backlog() >= ARCHIVE_PARTS_IN_FLIGHT {
                return;
            }
            let end = member.archive_sent + rest.min(ARCHIVE_PART_BYTES);
            let part = self.settings.archive.slice(member.archive_sent..end);
            member.archive_sent = end;
            self.send(now, agent, Body::Archive(part));
        }
    }

    /// Gives an agent up.
    pub(super) fn lose(&mut self, now: Instant, agent: usize, why: String) {
        let member = &mut self.members[agent];
        if !member.is_live() {
            return;
        }
        let stage = std::mem::replace(&mut member.stage, Stage::Lost);
        let name = member.name.clone();
        if let Some(connection) = member.connection.take() {
            let farewell = member.given_up(&why);
            let frame = Frame { number: 0, received: 0, body: Some(farewell) };
            self.outputs.push(HubOutput::Send(connection, frame));
            self.outputs.push(HubOutput::Close(connection));
        }
        self.leave_pools(now, agent);
        let is_running = matches!(self.phase, Phase::Running { .. }) && stage == Stage::Running;
        let is_rebalanced = is_running && !self.is_stopped && self.settings.on_loss == OnLoss::Rebalance;
        self.event(HubEvent::Lost { agent, why: why.clone(), is_rebalanced });
        match self.settings.on_loss {
            OnLoss::Abort if is_running => {
                let text = format!("agent {name} was lost: {why} (--on-agent-loss abort)");
                self.stop(now, convert::reason(ReasonKind::Listener, Some(text)), false);
            }
            _ if is_running => self.vacate(now, agent),
            _ => self.leave_vacancy(agent),
        }
    }

    /// Goes on to the next phase if the current one is over.
    pub(super) fn advance(&mut self, now: Instant) -> bool {
        match &mut self.phase {
            Phase::Gathering { until } => {
                let until = *until;
                self.gather(now, until)
            }
            Phase::Function { agent, is_setup, until, end } => {
                let (agent, is_setup, until, end) = (*agent, *is_setup, *until, end.take());
                self.end_function(now, agent, is_setup, until, end)
            }
            Phase::Running { until } => {
                let until = *until;
                self.fill_vacancies(now);
                self.end_scenarios(now, until)
            }
            Phase::Finishing { until } => {
                let until = *until;
                self.end_run(now, until)
            }
            Phase::Over => false,
        }
    }

    fn gather(&mut self, now: Instant, until: Instant) -> bool {
        if self.end.unfit.is_some() || self.is_stopped {
            self.finish(now);
            return true;
        }
        // A process of this machine is not replaced: there is nothing to wait for.
        let left = self.settings.agents.saturating_sub(self.gone.len() as u32);
        if let Some(last) = self.gone.last().filter(|_| left < self.settings.agents_min) {
            let text = format!("{} agents ended before the start; the last: {last}", self.gone.len());
            self.stop(now, convert::reason(ReasonKind::Listener, Some(text)), true);
            return true;
        }
        self.deal_parts(now);
        let ready = self.members.iter().filter(|it| it.is_ready()).count();
        if ready == self.parts as usize {
            if self.is_paused {
                // Only the user decides how long it waits.
                self.phase = Phase::Gathering { until: Instant::MAX };
                return false;
            }
            self.begin(now);
            return true;
        }
        if now < until {
            return false;
        }
        if ready as u32 >= self.settings.agents_min.max(1) {
            self.continue_with_fewer(now, ready as u32);
            return true;
        }
        let why = match self.hindrance.as_str() {
            "" => "; start more agents, or lower --agents-min".to_owned(),
            hindrance => format!(": {hindrance}"),
        };
        let (parts, seconds) = (self.parts, self.settings.arm_timeout.as_secs());
        let text = format!("{ready} of {parts} agents were ready after {seconds} s (--arm-timeout){why}");
        self.stop(now, convert::reason(ReasonKind::Listener, Some(text)), true);
        true
    }

    /// Gives agents that have the archive a part of the test.
    fn deal_parts(&mut self, now: Instant) {
        for agent in 0..self.members.len() {
            if self.members[agent].stage != Stage::Fetched {
                continue;
            }
            let has = |it: &Member, index| it.is_live() && it.part.is_some_and(|part| part.index == index);
            let is_taken = |index: u32| self.members.iter().any(|it| has(it, index));
            let Some(index) = (0..self.parts).find(|index| !is_taken(*index)) else { return };
            self.prepare(now, agent, Segment::part(index, self.parts));
        }
    }

    pub(super) fn prepare(&mut self, now: Instant, agent: usize, part: Segment) {
        let member = &mut self.members[agent];
        (member.part, member.stage) = (Some(part), Stage::Preparing);
        self.send(now, agent, Body::Prepare(part));
    }

    /// Cuts the test anew for the agents that are ready, and sends the others away.
    fn continue_with_fewer(&mut self, now: Instant, ready: u32) {
        self.parts = ready;
        let mut index = 0;
        for agent in 0..self.members.len() {
            let member = &self.members[agent];
            if !member.is_live() {
                continue;
            }
            if member.is_ready() {
                self.prepare(now, agent, Segment::part(index, ready));
                index += 1;
            } else {
                self.lose(now, agent, "it was not ready in time (--arm-timeout)".to_owned());
            }
        }
        self.phase = Phase::Gathering { until: now + self.settings.arm_timeout };
    }

    /// Runs `setup()` on the first agent, or starts.
    fn begin(&mut self, now: Instant) {
        if !self.settings.has_setup || self.is_set_up {
            return self.start(now);
        }
        let agent = self.members.iter().position(|it| it.stage == Stage::Armed);
        let Some(agent) = agent else { return self.finish(now) };
        self.began = Some(now);
        self.event(HubEvent::SetupStarted(agent));
        self.send(now, agent, Body::RunSetup(Empty {}));
        let until = now + self.settings.setup_timeout + END_PATIENCE;
        self.phase = Phase::Function { agent, is_setup: true, until, end: None };
    }

    fn start(&mut self, now: Instant) {
        let uncertainty_ns = self.members.iter().filter(|it| it.is_live()).map(|it| it.uncertainty_ns).max();
        let at = self.instant_ahead(now, uncertainty_ns.unwrap_or(0));
        let began = *self.began.get_or_insert(at);
        self.started = Some(at);
        self.event(HubEvent::Agreed { began, at });
        for agent in 0..self.members.len() {
            if self.members[agent].is_live() {
                self.members[agent].stage = Stage::Running;
                self.send_start(now, agent, at, at, Vec::new());
            }
        }
        // Requests before the start hold as well.
        if let Some(steer) = self.steer {
            self.order_all(now, Act::Steer(steer));
        }
        self.phase = Phase::Running { until: at + self.settings.load_max + END_PATIENCE };
    }

    /// An instant that every agent whose clock is known so well learns of in time: the beginning of a window.
    pub(super) fn instant_ahead(&self, now: Instant, uncertainty_ns: u64) -> Instant {
        // The uncertainty is half of the shortest round trip.
        let earliest = now + START_LEAD.max(Duration::from_nanos(uncertainty_ns.saturating_mul(8)));
        let Some(began) = self.began else { return earliest };
        let windows = earliest.since(began).as_nanos().div_ceil(u128::from(WINDOW_NS)) as u64;
        began + Duration::from_nanos(windows.saturating_mul(WINDOW_NS))
    }

    fn end_function(
        &mut self,
        now: Instant,
        agent: usize,
        is_setup: bool,
        until: Instant,
        end: Option<FunctionEnd>,
    ) -> bool {
        let name = if is_setup { "setup()" } else { "teardown()" };
        let failed = |kind, text| FunctionEnd { data: None, failure: Some(convert::failure(kind, text)) };
        let end = end.or_else(|| {
            if !self.members[agent].is_live() {
                let text = format!("the agent that ran {name} was lost");
                return Some(failed(FailureKind::System, text));
            }
            (now >= until).then(|| failed(FailureKind::Interrupted, String::new()))
        });
        let Some(FunctionEnd { data, failure }) = end else { return false };
        if !is_setup {
            self.end.teardown_failure = failure;
            self.finish(now);
        } else if failure.is_some() || self.is_stopped {
            self.end.setup_failure = failure;
            self.finish(now);
        } else {
            self.end.setup_data = data;
            self.event(HubEvent::SetupEnded(now));
            self.is_set_up = true;
            // An agent that was lost meanwhile is replaced first: the test starts whole or not at all.
            self.phase = Phase::Gathering { until: now + self.settings.arm_timeout };
        }
        true
    }

    fn end_scenarios(&mut self, now: Instant, until: Instant) -> bool {
        if now >= until {
            for agent in 0..self.members.len() {
                if self.members[agent].stage == Stage::Running {
                    self.lose(now, agent, "its scenarios did not end in time".to_owned());
                }
            }
        }
        if self.members.iter().any(|it| it.stage == Stage::Running) {
            return false;
        }
        self.event(HubEvent::ScenariosEnded(now));
        self.refuse_partial_end(now);
        let agent = self.members.iter().position(|it| it.stage == Stage::Ended);
        let Some(agent) = agent else {
            let text = "every agent was lost; see the log for the reasons".to_owned();
            self.stop(now, convert::reason(ReasonKind::Listener, Some(text)), true);
            self.finish(now);
            return true;
        };
        if !self.settings.has_teardown || self.is_killed {
            self.finish(now);
            return true;
        }
        self.event(HubEvent::TeardownStarted(agent));
        let data = FunctionEnd { data: self.end.setup_data.clone(), failure: None };
        self.send(now, agent, Body::Order(Order { act: Some(Act::RunTeardown(data)) }));
        let until = now + self.settings.teardown_timeout + END_PATIENCE;
        self.phase = Phase::Function { agent, is_setup: false, until, end: None };
        true
    }

    /// Stops a test that every agent left early: its partial results would look complete.
    fn refuse_partial_end(&mut self, now: Instant) {
        let mut ended = self.members.iter().filter(|it| it.stage == Stage::Ended).peekable();
        if self.is_stopped || ended.peek().is_none() || ended.any(|it| !it.is_early) {
            return;
        }
        let text = "every agent left before the end of the test; see the log for the reasons".to_owned();
        self.stop(now, convert::reason(ReasonKind::Listener, Some(text)), false);
    }

    fn finish(&mut self, now: Instant) {
        self.end.ended = Some(now);
        for member in &mut self.members {
            member.is_dismissed = true;
        }
        self.order_all(now, Act::Finish(Empty {}));
        self.phase = Phase::Finishing { until: now + FINISH_PATIENCE };
    }

    fn end_run(&mut self, now: Instant, until: Instant) -> bool {
        let waits = |it: &Member| it.is_live() && it.link.backlog() > 0;
        if now < until && self.members.iter().any(waits) {
            return false;
        }
        let connections: Vec<_> = self.members.iter().filter_map(|it| it.connection).collect();
        self.outputs.extend(connections.into_iter().map(HubOutput::Close));
        let end = std::mem::take(&mut self.end);
        self.event(HubEvent::Over(end));
        self.phase = Phase::Over;
        true
    }
}
