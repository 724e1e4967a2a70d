//! An agent as a value: how it joins, what it runs, and when it stops by itself.
//!
//! [`Agent::step`] takes the time and one input, and gives outputs for the driver to carry out, as [`crate::Hub`] does. An
//! agent that does not hear from its hub stops its load: a load test never runs without someone who could end it.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use model::Instant;
use sha2::{Digest, Sha256};

use crate::clock::ClockOffset;
use crate::convert::{self, FailureKind, ReasonKind};
use crate::link::{Arrival, BACKLOG_BYTES_MAX, Link};
use crate::message::{
    Act, Body, Counters, Failure, Frame, FunctionEnd, Heartbeat, Hello, Lease, Order, PROTOCOL, Reason,
    Segment, Start, Steer, Test,
};

/// Interval between heartbeats.
pub const HEARTBEAT_EVERY: Duration = Duration::from_secs(1);

/// The same until the clock's offset is known.
const MEASURE_EVERY: Duration = Duration::from_millis(20);

/// Interval between attempts to connect.
const DIAL_EVERY: Duration = Duration::from_millis(500);

/// A hub that does not answer a hello for so long is dialled again: the frame, or its answer, may be lost on the way.
const WELCOME_PATIENCE: Duration = Duration::from_secs(5);

/// An agent stops its load when it has not heard from the hub for so long, so that load ends within 10 s of the hub's death.
pub const HUB_SILENCE_MAX: Duration = Duration::from_secs(8);

/// An agent whose load is over tries for so long to hand over its results.
pub const HAND_OVER_MAX: Duration = Duration::from_secs(20);

/// An agent that waits for its hub to begin gives up after this long.
pub const JOIN_PATIENCE: Duration = Duration::from_secs(120);

/// The largest archive that is sent to agents, bytes.
pub const ARCHIVE_BYTES_MAX: u64 = 256 << 20;

/// The largest data that `setup()` may return on an agent, bytes: it travels in one frame.
pub const SETUP_DATA_BYTES_MAX: usize = 4 << 20;

/// The facts about an agent that do not change.
#[derive(Clone, Debug)]
pub struct AgentSettings {
    /// Version of the program.
    pub version: String,
    /// The run's token.
    pub token: Bytes,
    /// The agent's own random number.
    pub session: u64,
    /// Name for people.
    pub name: String,
    /// Cores that it may use.
    pub cores: u32,
    /// The ticket of a further session; 0 for none.
    pub ticket: u32,
}

/// One thing that has happened. A step without an input is a timer.
#[derive(Clone, Debug)]
pub enum AgentInput {
    /// A connection stands.
    Connected,
    /// The connection is closed, or could not be opened.
    Disconnected,
    /// A frame has arrived.
    Frame(Frame),
    /// The test says something to the hub: it is prepared, a window is complete, it has ended.
    Report(Body),
    /// Counters for the next heartbeat.
    Counters(Counters),
}

/// One thing for the driver to do.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentOutput {
    /// Opens a connection.
    Dial,
    /// Sends a frame on the connection.
    Send(Frame),
    /// Closes the connection.
    Hangup,
    /// Carries out an order of the hub.
    Do(Task),
    /// Ends the agent.
    Exit(Farewell),
}

/// An order of the hub, in the agent's terms.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Load the script of this archive.
    Load {
        /// The test.
        test: Test,
        /// The archive.
        archive: Bytes,
    },
    /// Initialise the VUs of this part, and forget another.
    Prepare(Segment),
    /// Run `setup()`.
    SetUp,
    /// Start the scenarios.
    Start {
        /// Start of the schedule by the agent's clock; it may have passed.
        at: Instant,
        /// The first instant at which this agent starts iterations.
        from: Instant,
        /// The same instant by the hub's clock, nanoseconds.
        hub_ns: u64,
        /// By scenario: iterations of VUs that loop which an earlier agent may have numbered.
        numbers: Vec<u64>,
        /// The JSON that `setup()` returned.
        setup_data: Option<String>,
    },
    /// Join in a further session, with this ticket.
    Enlist(u32),
    /// Run these shared iterations.
    Lease(Lease),
    /// Pause, resume or scale.
    Steer(Steer),
    /// Stop the iterations.
    Stop(Reason),
    /// Stop everything.
    Kill(Reason),
    /// Run `teardown()` with the data of `setup()`.
    TearDown(Option<String>),
}

/// How an agent ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Farewell {
    /// The hub has everything.
    Finished,
    /// The hub refuses the agent: why.
    Refused(String),
    /// The hub had given the agent up: why. It may join again in another session.
    Lost(String),
    /// The hub could not be reached, or was lost: for how long, and whether load had begun.
    HubLost {
        /// The silence.
        after: Duration,
        /// Whether the agent had joined.
        had_joined: bool,
    },
}

/// Where an agent is.
#[derive(Clone, Debug, PartialEq)]
enum Stage {
    /// It has not heard from a hub.
    Joining,
    /// It receives the archive.
    Fetching { test: Test, archive: BytesMut },
    /// It waits for orders, or prepares.
    Waiting,
    /// The scenarios run, or wait for their instant.
    Running,
    /// The scenarios are over.
    Ended,
    /// The hub has said that the run is over.
    Over,
}

/// The state of an agent.
#[derive(Debug)]
pub struct Agent {
    settings: AgentSettings,
    stage: Stage,
    link: Link,
    clock: ClockOffset,
    is_connected: bool,
    /// Whether the hub has welcomed the agent on this connection.
    is_welcome: bool,
    /// The last time a frame came; before the first one, the start.
    heard: Instant,
    /// When the last heartbeat was sent that the hub has answered: it heard the agent then, or later.
    answered: Instant,
    has_stopped: bool,
    counters: Option<Counters>,
    /// VUs that are armed wait to be reported until the clock's offset is known.
    armed: Option<u32>,
    next_heartbeat: Instant,
    next_dial: Instant,
    /// When the hub has to have answered the hello of this connection.
    welcome_by: Instant,
    outputs: Vec<AgentOutput>,
}

impl Agent {
    /// An agent that is about to join.
    pub fn new(now: Instant, settings: AgentSettings) -> Agent {
        Agent {
            settings,
            stage: Stage::Joining,
            link: Link::new(now),
            clock: ClockOffset::default(),
            is_connected: false,
            is_welcome: false,
            heard: now,
            answered: now,
            has_stopped: false,
            counters: None,
            armed: None,
            next_heartbeat: Instant::MAX,
            next_dial: now,
            welcome_by: Instant::MAX,
            outputs: Vec::new(),
        }
    }

    /// Takes an input, does what is due at `now`, and gives the outputs in order.
    pub fn step(&mut self, now: Instant, input: Option<AgentInput>) -> Vec<AgentOutput> {
        if self.stage == Stage::Over {
            return Vec::new();
        }
        // A machine that stood still finds frames waiting, and its fence has passed all the same.
        self.mind_silence(now);
        if self.stage == Stage::Over {
            return std::mem::take(&mut self.outputs);
        }
        match input {
            Some(AgentInput::Connected) => self.greet(now),
            Some(AgentInput::Disconnected) => self.disconnected(now),
            Some(AgentInput::Frame(frame)) => self.on_frame(now, frame),
            Some(AgentInput::Report(body)) => self.report(now, body),
            Some(AgentInput::Counters(counters)) => self.counters = Some(counters),
            None => {}
        }
        self.do_due(now);
        std::mem::take(&mut self.outputs)
    }

    /// When to step at the latest, whether or not there is an input.
    pub fn deadline(&self) -> Instant {
        let resend = if self.is_welcome { self.link.deadline() } else { Instant::MAX };
        let dial = if self.is_connected { Instant::MAX } else { self.next_dial };
        self.silence_ends().min(self.next_heartbeat).min(resend).min(dial).min(self.welcome_by)
    }

    /// The hub's clock minus the agent's, nanoseconds; `None` before the first round trip.
    pub fn offset_ns(&self, now: Instant) -> Option<i64> {
        self.clock.estimate(now).map(|estimate| estimate.offset_ns)
    }

    /// From when on the agent starts no iteration: others may run them then.
    pub fn fence(&self) -> Instant {
        match self.stage {
            Stage::Joining | Stage::Fetching { .. } | Stage::Waiting => Instant::MAX,
            Stage::Running | Stage::Ended | Stage::Over => self.answered + HUB_SILENCE_MAX,
        }
    }

    /// Bytes that wait for an acknowledgement.
    pub fn backlog_bytes(&self) -> usize {
        self.link.backlog_bytes()
    }

    /// Largest error of the offset, nanoseconds.
    #[cfg(test)]
    pub(crate) fn uncertainty_ns(&self, now: Instant) -> Option<u64> {
        self.clock.estimate(now).map(|estimate| estimate.uncertainty_ns)
    }

    /// Reports that the hub has not acknowledged.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> Vec<Body> {
        self.link.waiting()
    }

    fn greet(&mut self, now: Instant) {
        self.is_connected = true;
        self.welcome_by = now + WELCOME_PATIENCE;
        let hello = Hello {
            protocol: PROTOCOL,
            version: self.settings.version.clone(),
            token: self.settings.token.clone(),
            session: self.settings.session,
            received: self.link.received(),
            name: self.settings.name.clone(),
            cores: self.settings.cores,
            ticket: self.settings.ticket,
        };
        let hello = self.link.unnumbered(Body::Hello(hello));
        self.outputs.push(AgentOutput::Send(hello));
    }

    fn disconnected(&mut self, now: Instant) {
        (self.is_connected, self.is_welcome) = (false, false);
        self.welcome_by = Instant::MAX;
        self.next_heartbeat = Instant::MAX;
        self.next_dial = now + DIAL_EVERY;
    }

    fn report(&mut self, now: Instant, body: Body) {
        match &body {
            Body::Armed(parts) => {
                self.armed = Some(*parts);
                return;
            }
            Body::Ended(_) => self.stage = Stage::Ended,
            _ => {}
        }
        self.send(now, body);
    }

    fn send(&mut self, now: Instant, body: Body) {
        let frame = self.link.send(now, body);
        if self.is_welcome {
            self.outputs.push(AgentOutput::Send(frame));
        }
    }

    fn on_frame(&mut self, now: Instant, frame: Frame) {
        if !self.is_connected {
            return;
        }
        self.heard = now;
        let is_numbered = frame.number > 0;
        if is_numbered && !self.is_welcome {
            // The hub sends it again.
            return;
        }
        let arrival = self.link.receive(now, frame);
        if is_numbered {
            let acknowledgement = self.link.acknowledgement();
            self.outputs.push(AgentOutput::Send(acknowledgement));
        }
        match arrival {
            Arrival::Unnumbered(Body::Welcome(welcome)) => {
                (self.is_welcome, self.welcome_by) = (true, Instant::MAX);
                self.next_heartbeat = now;
                let frames = self.link.resume(now, welcome.received);
                self.outputs.extend(frames.into_iter().map(AgentOutput::Send));
            }
            Arrival::Unnumbered(Body::Refused(why)) => self.exit(Farewell::Refused(why)),
            Arrival::Unnumbered(Body::Lost(why)) => self.exit(Farewell::Lost(why)),
            Arrival::Unnumbered(Body::Echo(echo)) => {
                let (sent, hub) = (Instant::from_ns(echo.sent_ns), Instant::from_ns(echo.hub_ns));
                self.clock.add(sent, hub, now);
                // The fence of a load that was stopped stays where it is.
                if !self.has_stopped {
                    self.answered = self.answered.max(sent).min(now);
                }
            }
            Arrival::Next(body) => self.on_body(now, body),
            Arrival::Unnumbered(_) | Arrival::Ignored | Arrival::Nothing => {}
        }
    }

    fn on_body(&mut self, now: Instant, body: Body) {
        match body {
            Body::Test(test) if test.archive_bytes > ARCHIVE_BYTES_MAX => {
                let text = format!(
                    "the archive has {} bytes, the limit is {ARCHIVE_BYTES_MAX}; pack fewer files",
                    test.archive_bytes
                );
                self.unfit(now, convert::failure(FailureKind::System, text));
            }
            Body::Test(test) => self.stage = Stage::Fetching { test, archive: BytesMut::new() },
            Body::Archive(part) => self.take_archive(now, &part),
            Body::Prepare(segment) => self.act(Task::Prepare(segment)),
            Body::RunSetup(_) => self.act(Task::SetUp),
            Body::Start(start) => self.start(now, start),
            Body::Order(Order { act: Some(act) }) => self.obey(act),
            // Frames of an agent, frames without a number, and orders of another version.
            _ => {}
        }
    }

    fn start(&mut self, now: Instant, start: Start) {
        let Start { at_ns, from_ns, numbers, setup_data } = start;
        let from = self.clock.own(now, Instant::from_ns(from_ns)).unwrap_or(now);
        let passed_ns = from_ns.saturating_sub(at_ns);
        // The same offset for both, so that the seconds of all agents are the same.
        let Some(at_ns) = from.as_ns().checked_sub(passed_ns) else {
            let days = passed_ns / 86_400_000_000_000;
            let text = format!("the test began {days} days ago, and a new agent can join for 52 days");
            return self.exit(Farewell::Refused(text));
        };
        self.stage = Stage::Running;
        let at = Instant::from_ns(at_ns);
        self.act(Task::Start { at, from, hub_ns: from_ns, numbers, setup_data });
    }

    fn obey(&mut self, act: Act) {
        match act {
            Act::Stop(reason) => {
                self.has_stopped = true;
                self.act(Task::Stop(reason));
            }
            Act::Kill(reason) => {
                self.has_stopped = true;
                self.act(Task::Kill(reason));
            }
            Act::Steer(steer) => self.act(Task::Steer(steer)),
            Act::RunTeardown(FunctionEnd { data, .. }) => self.act(Task::TearDown(data)),
            Act::Finish(_) => self.exit(Farewell::Finished),
            Act::Enlist(ticket) => self.act(Task::Enlist(ticket)),
            Act::Lease(lease) => self.act(Task::Lease(lease)),
        }
    }

    fn take_archive(&mut self, now: Instant, part: &[u8]) {
        let Stage::Fetching { test, archive } = &mut self.stage else { return };
        archive.extend_from_slice(part);
        if (archive.len() as u64) < test.archive_bytes {
            return;
        }
        let sha256 = Bytes::copy_from_slice(&Sha256::digest(&archive[..]));
        let (test, archive) = (test.clone(), std::mem::take(archive).freeze());
        self.stage = Stage::Waiting;
        // The hub compares it with its own, and names both.
        self.send(now, Body::Fetched(sha256));
        self.act(Task::Load { test, archive });
    }

    fn unfit(&mut self, now: Instant, failure: Failure) {
        self.send(now, Body::Unfit(failure));
    }

    fn act(&mut self, task: Task) {
        self.outputs.push(AgentOutput::Do(task));
    }

    fn exit(&mut self, farewell: Farewell) {
        self.stage = Stage::Over;
        if farewell != Farewell::Finished {
            let text = "the hub gave this agent up".to_owned();
            self.act(Task::Kill(convert::reason(ReasonKind::Listener, Some(text))));
        }
        self.outputs.push(AgentOutput::Hangup);
        self.outputs.push(AgentOutput::Exit(farewell));
    }

    fn do_due(&mut self, now: Instant) {
        if self.stage == Stage::Over {
            return;
        }
        if now >= self.welcome_by {
            self.outputs.push(AgentOutput::Hangup);
            self.disconnected(now);
        }
        if !self.is_connected && now >= self.next_dial {
            self.next_dial = now + DIAL_EVERY;
            self.outputs.push(AgentOutput::Dial);
        }
        if self.is_welcome {
            if now >= self.next_heartbeat {
                self.beat(now);
            }
            if let Some(parts) = self.armed.take_if(|_| self.clock.is_ready()) {
                self.send(now, Body::Armed(parts));
            }
            let again = self.link.resend(now);
            self.outputs.extend(again.into_iter().map(AgentOutput::Send));
        }
        self.mind_silence(now);
    }

    fn beat(&mut self, now: Instant) {
        let every = if self.clock.is_ready() { HEARTBEAT_EVERY } else { MEASURE_EVERY };
        self.next_heartbeat = now + every;
        let estimate = self.clock.estimate(now);
        let heartbeat = Heartbeat {
            sent_ns: now.as_ns(),
            rounds: self.clock.count(),
            offset_ns: estimate.map_or(0, |it| it.offset_ns),
            uncertainty_ns: estimate.map_or(u64::MAX, |it| it.uncertainty_ns),
            counters: self.counters.take(),
        };
        let frame = self.link.unnumbered(Body::Heartbeat(heartbeat));
        self.outputs.push(AgentOutput::Send(frame));
    }

    /// When the present silence has its next consequence.
    fn silence_ends(&self) -> Instant {
        match self.stage {
            Stage::Joining => self.heard + JOIN_PATIENCE,
            Stage::Running if !self.has_stopped => self.fence(),
            Stage::Fetching { .. } | Stage::Waiting | Stage::Running | Stage::Ended => {
                self.heard + HAND_OVER_MAX
            }
            Stage::Over => Instant::MAX,
        }
    }

    fn mind_silence(&mut self, now: Instant) {
        let is_stuck = self.link.backlog_bytes() > BACKLOG_BYTES_MAX;
        if now < self.silence_ends() && !is_stuck {
            return;
        }
        if self.stage == Stage::Running && !self.has_stopped {
            self.has_stopped = true;
            let text = format!("the hub did not answer for {} s", now.since(self.answered).as_secs());
            self.act(Task::Kill(convert::reason(ReasonKind::Listener, Some(text))));
            return;
        }
        if now >= self.silence_ends() {
            let (after, had_joined) = (now.since(self.heard), self.stage != Stage::Joining);
            self.exit(Farewell::HubLost { after, had_joined });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Echo, Welcome};

    fn at(seconds: u64) -> Instant {
        Instant::from_ns(1_000_000_000 * (100 + seconds))
    }

    /// An agent with a connection to a hub.
    fn connected() -> Agent {
        let settings = AgentSettings {
            version: "1".into(),
            token: Bytes::new(),
            session: 1,
            name: "a".into(),
            cores: 1,
            ticket: 0,
        };
        let mut agent = Agent::new(at(0), settings);
        agent.step(at(0), Some(AgentInput::Connected));
        agent
    }

    /// An agent that a hub has welcomed.
    fn welcome() -> Agent {
        let mut agent = connected();
        frame(&mut agent, at(0), 0, Body::Welcome(Welcome { received: 0 }));
        agent
    }

    fn frame(agent: &mut Agent, now: Instant, number: u64, body: Body) -> Vec<AgentOutput> {
        agent.step(now, Some(AgentInput::Frame(Frame { number, received: 0, body: Some(body) })))
    }

    fn sent(outputs: Vec<AgentOutput>) -> impl Iterator<Item = Body> {
        outputs.into_iter().filter_map(|output| match output {
            AgentOutput::Send(frame) => frame.body,
            _ => None,
        })
    }

    #[test]
    fn an_archive_above_the_limit_is_not_fetched() {
        let test = Test { archive_bytes: ARCHIVE_BYTES_MAX + 1, ..Test::default() };
        let outputs = frame(&mut welcome(), at(0), 1, Body::Test(test));
        let unfit = sent(outputs).find_map(|body| match body {
            Body::Unfit(failure) => Some(failure.text),
            _ => None,
        });
        assert!(unfit.is_some_and(|text| text.contains("pack fewer files")));
    }

    /// Its clock cannot name the start of such a test, and a schedule that begins later is not the test's.
    #[test]
    fn an_agent_joins_no_test_that_began_before_its_clock() {
        let mut agent = welcome();
        let echo = Echo { sent_ns: at(0).as_ns(), hub_ns: at(1000).as_ns() };
        frame(&mut agent, at(0), 0, Body::Echo(echo));
        let start =
            |began: u64| Start { at_ns: at(began).as_ns(), from_ns: at(1001).as_ns(), ..Start::default() };
        let outputs = frame(&mut agent, at(0), 1, Body::Start(start(900)));
        let refused = |it: &AgentOutput| matches!(it, AgentOutput::Exit(Farewell::Refused(_)));
        assert!(!outputs.iter().any(refused), "its clock is 100 s old: {outputs:?}");
        let mut agent = welcome();
        frame(&mut agent, at(0), 0, Body::Echo(echo));
        let outputs = frame(&mut agent, at(0), 1, Body::Start(start(899)));
        assert!(outputs.iter().any(refused), "{outputs:?}");
    }

    #[test]
    fn a_hello_without_an_answer_is_said_again() {
        let mut agent = connected();
        assert_eq!(agent.deadline(), at(0) + WELCOME_PATIENCE);
        assert_eq!(agent.step(at(5), None), [AgentOutput::Hangup]);
        assert_eq!(agent.step(at(6), None), [AgentOutput::Dial]);
    }

    /// Orders that still arrive do not show that the hub hears the agent: only answers to heartbeats move its fence.
    #[test]
    fn the_fence_stands_behind_the_last_heartbeat_that_was_answered() {
        let mut agent = welcome();
        assert_eq!(agent.fence(), Instant::MAX, "there is no load yet");
        let start = Start { at_ns: at(1).as_ns(), from_ns: at(1).as_ns(), ..Start::default() };
        frame(&mut agent, at(0), 1, Body::Start(start));
        let echo = Echo { sent_ns: at(2).as_ns(), hub_ns: at(2).as_ns() };
        frame(&mut agent, at(3), 0, Body::Echo(echo));
        assert_eq!(agent.fence(), at(2) + HUB_SILENCE_MAX);
        let steer = Order { act: Some(Act::Steer(Steer::default())) };
        frame(&mut agent, at(8), 2, Body::Order(steer));
        let killed = |outputs: Vec<AgentOutput>| {
            outputs.into_iter().find_map(|output| match output {
                AgentOutput::Do(Task::Kill(reason)) => reason.text,
                _ => None,
            })
        };
        assert_eq!(killed(agent.step(at(9), None)), None);
        // A frame that was waiting while the machine stood still comes too late.
        let late = Echo { sent_ns: at(9).as_ns(), hub_ns: at(9).as_ns() };
        let text = killed(frame(&mut agent, at(20), 0, Body::Echo(late)));
        assert_eq!(text.as_deref(), Some("the hub did not answer for 18 s"), "an order at 8 s was no answer");
        assert_eq!(agent.fence(), at(2) + HUB_SILENCE_MAX, "it stays there");
    }

    #[test]
    fn an_agent_that_has_given_up_obeys_no_order_that_was_waiting() {
        let mut agent = welcome();
        let start = Start { at_ns: at(1).as_ns(), from_ns: at(1).as_ns(), ..Start::default() };
        let outputs = frame(&mut agent, at(1) + JOIN_PATIENCE, 1, Body::Start(start));
        assert!(matches!(outputs.last(), Some(AgentOutput::Exit(Farewell::HubLost { .. }))), "{outputs:?}");
        assert!(agent.step(at(2) + JOIN_PATIENCE, None).is_empty());
    }
}
