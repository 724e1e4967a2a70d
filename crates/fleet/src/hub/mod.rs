//! The hub as a value: who takes part, what comes next, who is lost.
//!
//! [`Hub::step`] takes the time and one input, and gives outputs for the driver to carry out. It opens no socket, waits for
//! nothing and reads no clock, so the tests drive it through simulated networks.

mod admission;
mod leases;
mod member;
mod phases;
mod takeover;

use std::time::Duration;

use bytes::Bytes;
use model::Instant;

use crate::message::{Act, Body, Counters, Failure, Frame, Names, Order, Reason, Samples, Steer, WindowPart};
use crate::message::{Log, MachineReading, Preparing, Segment};
use leases::Pool;
use member::{Member, Stage};
use phases::Phase;
use takeover::Vacancy;

/// An agent that is silent for so long is suspect: windows do not wait for it.
pub const SUSPECT_AFTER: Duration = Duration::from_secs(5);

/// An agent that is silent for so long is lost.
pub const LOST_AFTER: Duration = Duration::from_secs(15);

/// Time from the order to start to the start, at least; longer where round trips are long.
pub const START_LEAD: Duration = Duration::from_secs(1);

/// Time after the planned end, or after an order to stop, in which agents hand over their results: that of blocked worker
/// threads (5 s), that of a loss (15 s), and a margin.
pub const END_PATIENCE: Duration = Duration::from_secs(25);

/// Time in which agents confirm that the run is over.
pub const FINISH_PATIENCE: Duration = Duration::from_secs(3);

/// Time by which an agent's clock may be ahead of the hub's beyond the uncertainty that it states.
pub const CLOCK_TOLERANCE: Duration = Duration::from_millis(500);

/// A connection, numbered by the driver.
pub type Connection = u64;

/// The reaction to the loss of an agent while the scenarios run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// The others continue; the missing load is counted until another agent takes its place.
    #[default]
    Continue,
    /// The others take its load over; what lies between is counted as missing.
    Rebalance,
    /// The run ends.
    Abort,
}

/// The facts about a run that do not change.
#[derive(Clone, Debug)]
pub struct HubSettings {
    /// The run's id.
    pub run: String,
    /// Version of the program.
    pub version: String,
    /// The run's token.
    pub token: Bytes,
    /// Agents that share the test.
    pub agents: u32,
    /// Agents that are enough once the time to arm is over.
    pub agents_min: u32,
    /// Time in which the agents join and initialise their VUs.
    pub arm_timeout: Duration,
    /// The reaction to the loss of an agent.
    pub on_loss: OnLoss,
    /// The archive with the script.
    pub archive: Bytes,
    /// Its SHA-256.
    pub archive_sha256: Bytes,
    /// Settings for the agents' sessions.
    pub settings: Bytes,
    /// Whether `setup()` runs.
    pub has_setup: bool,
    /// Whether `teardown()` runs.
    pub has_teardown: bool,
    /// Time limit of `setup()`.
    pub setup_timeout: Duration,
    /// Time limit of `teardown()`.
    pub teardown_timeout: Duration,
    /// Latest end of the scenarios, from their start.
    pub load_max: Duration,
    /// Whether the test waits for its resume.
    pub is_paused: bool,
    /// VUs of the scenario with the fewest: no part with VUs is shared out so far that a share has none.
    pub vus_min: u64,
    /// By scenario: its iterations, where all VUs share them.
    pub shared: Vec<Option<u64>>,
}

/// One thing that has happened. A step without an input is a timer.
#[derive(Clone, Debug)]
pub enum HubInput {
    /// A frame has arrived.
    Frame(Connection, Frame),
    /// A connection is closed.
    Closed(Connection),
    /// The process of the agent with this name has ended, and no other takes its place.
    Exited(String, String),
    /// The process of the agent with this name has ended. Another one may take its place.
    Vanished(String, String),
    /// The reasons that keep agents from starting; empty once there are none.
    Hindered(String),
    /// The iterations end; with `is_kill` without `teardown()`.
    Stop {
        /// Why.
        reason: Reason,
        /// Whether `teardown()` is left out.
        is_kill: bool,
    },
    /// The test is paused, resumed or scaled.
    Steer(Steer),
}

/// One thing for the driver to do.
#[derive(Clone, Debug, PartialEq)]
pub enum HubOutput {
    /// Sends a frame.
    Send(Connection, Frame),
    /// Closes a connection, after what was sent on it.
    Close(Connection),
    /// Passes an event on.
    Event(HubEvent),
}

/// An event of the run, for the part that merges.
#[derive(Clone, Debug, PartialEq)]
pub enum HubEvent {
    /// An agent takes part, under this number.
    Joined {
        /// Its number, from 0 in order of joining.
        agent: usize,
        /// Its name.
        name: String,
        /// Its cores.
        cores: u32,
    },
    /// An agent initialises VUs.
    Preparing(usize, Preparing),
    /// An agent runs this part of the test.
    Armed {
        /// Its number.
        agent: usize,
        /// The part.
        part: Segment,
    },
    /// An agent continues the load of another one, or a share of it.
    TookOver {
        /// Its number.
        agent: usize,
        /// The agent whose load it was.
        of: usize,
        /// The part.
        part: Segment,
        /// From when on; what was due before is missing.
        from: Instant,
    },
    /// `setup()` began on an agent.
    SetupStarted(usize),
    /// `setup()` has ended.
    SetupEnded(Instant),
    /// The start was agreed.
    Agreed {
        /// The beginning of the run: that of `setup()`, else of the scenarios.
        began: Instant,
        /// The start of the scenarios.
        at: Instant,
    },
    /// An agent has begun, so many nanoseconds after the agreed instant by its own clock, which differs from the hub's by no
    /// more than `uncertainty_ns`.
    Started {
        /// Its number.
        agent: usize,
        /// Nanoseconds after the agreed instant.
        late_ns: i64,
        /// Largest error of the agent's clock, nanoseconds.
        uncertainty_ns: u64,
    },
    /// The clock of an agent.
    Clock {
        /// Its number.
        agent: usize,
        /// The hub's clock minus its own, nanoseconds.
        offset_ns: i64,
        /// Largest error of the offset, nanoseconds.
        uncertainty_ns: u64,
    },
    /// A reading of the generator on an agent's machine.
    Reading(usize, MachineReading),
    /// Secrets that an agent's script has seen.
    Secrets(Vec<String>),
    /// Names of an agent's metrics and tags.
    Names(usize, Names),
    /// A part of an agent's window.
    Window(usize, WindowPart),
    /// Raw samples of an agent.
    Samples(usize, Samples),
    /// Log lines of an agent.
    Log(usize, Log),
    /// Counters of an agent.
    Counters(usize, Counters),
    /// An agent is silent.
    Suspect(usize),
    /// A silent agent is back.
    Back(usize),
    /// An agent is lost.
    Lost {
        /// Its number.
        agent: usize,
        /// Why.
        why: String,
        /// Whether the others take its load over.
        is_rebalanced: bool,
    },
    /// An agent asks for the end of the run, or marks it as failed.
    Request(usize, Reason),
    /// An agent's scenarios are over.
    Ended(usize, Box<crate::message::Ended>),
    /// The scenarios of all agents are over.
    ScenariosEnded(Instant),
    /// `teardown()` began on an agent.
    TeardownStarted(usize),
    /// The run is over.
    Over(HubEnd),
}

/// The end of a run as the hub knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HubEnd {
    /// Why it ended before its plan did.
    pub aborted: Option<Reason>,
    /// The test could not begin on an agent.
    pub unfit: Option<Failure>,
    /// `setup()` failed.
    pub setup_failure: Option<Failure>,
    /// `teardown()` failed.
    pub teardown_failure: Option<Failure>,
    /// The JSON that `setup()` returned.
    pub setup_data: Option<String>,
    /// When the last function or scenario ended.
    pub ended: Option<Instant>,
}

/// The state of a run on many agents.
#[derive(Debug)]
pub struct Hub {
    settings: HubSettings,
    members: Vec<Member>,
    phase: Phase,
    /// Parts that the test is cut into.
    parts: u32,
    is_paused: bool,
    /// The last request to pause, resume or scale.
    steer: Option<Steer>,
    is_killed: bool,
    /// Whether `setup()` has run.
    is_set_up: bool,
    /// Whether agents have the order to stop.
    is_stopped: bool,
    /// Processes of agents that have ended, with the reasons.
    gone: Vec<String>,
    /// The reasons that keep agents from starting.
    hindrance: String,
    /// Load of agents that are lost. A ticket is an index into it, plus one.
    vacancies: Vec<Vacancy>,
    /// By scenario: the iterations that its agents share.
    pools: Vec<Option<Pool>>,
    began: Option<Instant>,
    started: Option<Instant>,
    end: HubEnd,
    outputs: Vec<HubOutput>,
}

impl Hub {
    /// A run that begins to gather its agents.
    pub fn new(now: Instant, settings: HubSettings) -> Hub {
        Hub {
            phase: Phase::Gathering { until: now + settings.arm_timeout },
            parts: settings.agents,
            is_paused: settings.is_paused,
            steer: None,
            members: Vec::new(),
            is_killed: false,
            is_set_up: false,
            is_stopped: false,
            gone: Vec::new(),
            hindrance: String::new(),
            vacancies: Vec::new(),
            pools: settings.shared.iter().map(|total| total.map(Pool::new)).collect(),
            began: None,
            started: None,
            end: HubEnd::default(),
            outputs: Vec::new(),
            settings,
        }
    }

    /// Takes an input, does what is due at `now`, and gives the outputs in order.
    pub fn step(&mut self, now: Instant, input: Option<HubInput>) -> Vec<HubOutput> {
        match input {
            Some(HubInput::Frame(connection, frame)) => self.on_frame(now, connection, frame),
            Some(HubInput::Closed(connection)) => {
                let member = self.members.iter_mut().find(|it| it.connection == Some(connection));
                if let Some(member) = member {
                    member.connection = None;
                }
            }
            Some(HubInput::Exited(name, why)) => {
                self.gone.push(format!("agent {name}: {why}"));
                self.lose_process(now, &name, &why);
            }
            Some(HubInput::Vanished(name, why)) => self.lose_process(now, &name, &why),
            Some(HubInput::Hindered(why)) => self.hindrance = why,
            Some(HubInput::Stop { reason, is_kill }) => self.stop(now, reason, is_kill),
            Some(HubInput::Steer(steer)) => {
                self.is_paused = steer.is_paused;
                self.steer = Some(steer);
                if self.started.is_some() {
                    self.order_all(now, Act::Steer(steer));
                }
            }
            None => {}
        }
        self.look_at_members(now);
        while self.advance(now) {}
        std::mem::take(&mut self.outputs)
    }

    /// When to step at the latest, whether or not there is an input.
    pub fn deadline(&self) -> Instant {
        if self.is_over() {
            return Instant::MAX;
        }
        self.members.iter().map(Member::deadline).fold(self.phase.deadline(), Instant::min)
    }

    /// Whether the run is over.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// Whether a connection belongs to an agent that takes part.
    pub fn knows(&self, connection: Connection) -> bool {
        self.members.iter().any(|member| member.connection == Some(connection))
    }

    /// Agents that are armed, those that take part, and parts of the test.
    pub fn gathered(&self) -> (usize, usize, u32) {
        let armed = self.members.iter().filter(|it| it.stage == Stage::Armed).count();
        (armed, self.members.iter().filter(|it| it.is_live()).count(), self.parts)
    }

    /// Gives up the agent of a process that has ended, with its further sessions.
    fn lose_process(&mut self, now: Instant, name: &str, why: &str) {
        let is_host = |it: &Member| it.name == name && it.host.is_none();
        // Of several in turn with one name, the last is the one that ended.
        let host = self.members.iter().rposition(is_host);
        for agent in 0..self.members.len() {
            let member = &mut self.members[agent];
            if (Some(agent) == host || host.is_some() && member.host == host) && !member.is_dismissed {
                member.has_exited = true;
                self.lose(now, agent, why.to_owned());
            }
        }
    }

    /// Stops the iterations of all agents, once; a kill may follow.
    fn stop(&mut self, now: Instant, reason: Reason, is_kill: bool) {
        self.end.aborted.get_or_insert_with(|| reason.clone());
        let is_news = !self.is_stopped || is_kill && !self.is_killed;
        self.is_killed |= is_kill;
        self.is_stopped = true;
        if is_news {
            self.order_all(now, if is_kill { Act::Kill(reason) } else { Act::Stop(reason) });
            self.phase.shorten(now + END_PATIENCE);
        }
    }

    fn order_all(&mut self, now: Instant, act: Act) {
        for agent in 0..self.members.len() {
            if self.members[agent].is_live() {
                self.send(now, agent, Body::Order(Order { act: Some(act.clone()) }));
            }
        }
    }

    /// Sends a numbered frame; without a connection it waits for the next one.
    fn send(&mut self, now: Instant, agent: usize, body: Body) {
        let member = &mut self.members[agent];
        let frame = member.link.send(now, body);
        if let Some(connection) = member.connection {
            self.outputs.push(HubOutput::Send(connection, frame));
        }
    }

    fn event(&mut self, event: HubEvent) {
        self.outputs.push(HubOutput::Event(event));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hub(agents: u32) -> Hub {
        let settings = HubSettings {
            run: "r".to_owned(),
            version: "1".to_owned(),
            token: Bytes::from_static(b"t"),
            agents,
            agents_min: agents,
            arm_timeout: Duration::from_secs(10),
            on_loss: OnLoss::Continue,
            archive: Bytes::new(),
            archive_sha256: Bytes::new(),
            settings: Bytes::new(),
            has_setup: false,
            has_teardown: false,
            setup_timeout: Duration::from_secs(60),
            teardown_timeout: Duration::from_secs(60),
            load_max: Duration::from_secs(1),
            is_paused: false,
            vus_min: 1,
            shared: Vec::new(),
        };
        Hub::new(Instant::from_ns(0), settings)
    }

    /// The reason for the end of a run, if it has ended.
    fn end(outputs: Vec<HubOutput>) -> Option<String> {
        let of = |output| match output {
            HubOutput::Event(HubEvent::Over(end)) => end.aborted.and_then(|reason| reason.text),
            _ => None,
        };
        outputs.into_iter().find_map(of)
    }

    fn at(seconds: u64) -> Instant {
        Instant::from_ns(seconds * 1_000_000_000)
    }

    #[test]
    fn a_hub_that_waits_in_vain_names_the_obstacle() {
        let mut waiting = hub(2);
        assert_eq!(end(waiting.step(at(1), Some(HubInput::Hindered("no node fits".to_owned())))), None);
        let text = end(waiting.step(at(10), None)).expect("an end");
        assert_eq!(text, "0 of 2 agents were ready after 10 s (--arm-timeout): no node fits");
        let mut other = hub(2);
        other.step(at(1), Some(HubInput::Hindered("no node fits".to_owned())));
        other.step(at(2), Some(HubInput::Hindered(String::new())));
        assert!(end(other.step(at(10), None)).is_some_and(|text| text.contains("start more agents")));
    }

    #[test]
    fn a_process_that_is_replaced_is_waited_for() {
        let mut hub = hub(1);
        let (name, why) = ("pod-0".to_owned(), "it was evicted".to_owned());
        assert_eq!(end(hub.step(at(1), Some(HubInput::Vanished(name.clone(), why.clone())))), None);
        let text = end(hub.step(at(2), Some(HubInput::Exited(name, why)))).expect("an end");
        assert!(text.contains("agent pod-0: it was evicted"), "{text}");
    }
}
