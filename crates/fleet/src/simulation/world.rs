//! Hub, agents and network in simulated time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use bytes::Bytes;
use model::Instant;
use sha2::{Digest, Sha256};

use super::Fault;
use super::case::{Case, Machine, Random};
use crate::clock::DRIFT_PPM_MAX;
use crate::convert::{self, FailureKind, ReasonKind};
use crate::hub::Connection;
use crate::message::{Body, Ended, Frame, FunctionEnd, Preparing, Segment, WindowPart};
use crate::{
    Agent, AgentInput, AgentOutput, AgentSettings, Farewell, Hub, HubEvent, HubInput, HubOutput, HubSettings,
    Task,
};

/// A run that takes longer than this in simulated time does not end.
const TIME_MAX_NS: u64 = 600 * SECOND_NS;

const SECOND_NS: u64 = 1_000_000_000;

/// The events of a run, in true time.
#[derive(Default)]
pub(super) struct Trace {
    pub(super) entries: Vec<(u64, String)>,
    /// Windows that agents handed over, by agent and number.
    pub(super) produced: Vec<(usize, u64)>,
    /// Windows that the hub passed on.
    pub(super) counted: Vec<(usize, u64)>,
    /// Windows that the hub has not acknowledged.
    pub(super) unacknowledged: Vec<(usize, u64)>,
    /// Agents that the hub said farewell to.
    pub(super) finished: Vec<usize>,
    /// Agents that handed over their end.
    pub(super) ended: Vec<usize>,
    /// The agreed start.
    pub(super) agreed: Option<u64>,
    /// Parts that were armed when the start was agreed, with their number.
    pub(super) parts: Vec<(u32, u32)>,
    /// Starts: agent, distance from the agreed instant, and its bound.
    pub(super) skews: Vec<(usize, u64, u64)>,
    /// Starts: agent, distance of its schedule's start from the agreed instant, and its bound.
    pub(super) shifts: Vec<(usize, u64, u64)>,
    pub(super) setups: Vec<u64>,
    pub(super) teardowns: Vec<u64>,
    /// Load: agent, start and end.
    pub(super) loads: Vec<(usize, u64, u64)>,
    pub(super) lost: Vec<(usize, u64)>,
    pub(super) suspects: usize,
    pub(super) was_recut: bool,
    pub(super) hub_died: Option<u64>,
    /// When the hub got the order to stop.
    pub(super) stopped: Option<u64>,
    /// Spans in which an agent's machine stood still.
    pub(super) frozen: Vec<Option<(u64, u64)>>,
    /// Which part each agent ran, and from when to when it may have started iterations.
    pub(super) spans: Vec<LoadSpan>,
    /// Parts that others were to continue, and when.
    pub(super) vacated: Vec<Vacated>,
    /// Parts that agents continued, and from when on.
    pub(super) taken: Vec<(Segment, u64)>,
    /// Agents that joined again after they were lost.
    pub(super) returned: usize,
    /// Loads that a new process continued.
    pub(super) reborn: usize,
    /// When the load ends, and the last fault.
    pub(super) load_ends: u64,
    pub(super) last_fault: u64,
    /// Whether the network is one on which no agent has to wait.
    pub(super) is_quick: bool,
}

/// A part that an agent lost.
#[derive(Clone, Debug)]
pub(super) struct Vacated {
    pub(super) agent: usize,
    pub(super) part: Segment,
    pub(super) at: u64,
}

/// The load of one agent.
#[derive(Clone, Debug)]
pub(super) struct LoadSpan {
    pub(super) agent: usize,
    pub(super) part: Segment,
    pub(super) from: u64,
    pub(super) to: u64,
}

/// Time in which agents without faults continue a lost one's load: its fence, sessions, archives, VUs, round trips, and the lead.
const CONTINUES_WITHIN_NS: u64 = 22 * SECOND_NS;

impl Trace {
    /// Whether another agent goes on for so long after a loss, without faults, that it continues what was lost.
    pub(super) fn is_calm_after(&self, lost: &Vacated) -> bool {
        let at = lost.at;
        let until = at + CONTINUES_WITHIN_NS;
        let is_other = |span: &LoadSpan| span.agent != lost.agent && span.from < at && span.to >= until;
        if !self.spans.iter().any(is_other) {
            return false;
        }
        let ends = [self.hub_died, self.stopped, Some(self.load_ends)];
        self.is_quick && self.last_fault < at && ends.into_iter().flatten().all(|end| end > until)
    }

    pub(super) fn print(&self) {
        self.entries.iter().for_each(|(at, text)| println!("{:.6} s {text}", *at as f64 / 1e9));
    }
}

/// A connection between an agent and the hub.
struct Wire {
    agent: usize,
    is_open: bool,
    /// When the last frame to the agent and to the hub arrives.
    last: [u64; 2],
}

enum Event {
    ToHub(Connection, Frame),
    ToAgent(Connection, Frame),
    HubClosed(Connection),
    AgentClosed(Connection),
    Opened(usize),
    Start(usize),
    Die(usize),
    /// Someone who watches processes has seen the end of one that is replaced.
    Vanish(usize),
    HubDies,
    CutBegins(usize),
    Stop(bool),
    Stub(usize, Act),
    Tick,
}

/// The next act of an agent's test.
#[derive(Clone, Debug)]
enum Act {
    Armed(u32, u64),
    Unfit,
    SetUp,
    Window(u64),
    End(u64),
    TornDown,
}

struct SimAgent {
    machine: Machine,
    /// The first session of its machine.
    of: usize,
    ticket: u32,
    /// From when on it starts no iteration, in true time.
    fence: u64,
    agent: Option<Agent>,
    connection: Option<Connection>,
    part: Option<Segment>,
    /// Preparations so far: an old one says nothing any more.
    preparation: u64,
    /// True start of its load.
    load: Option<u64>,
    load_ends: u64,
}

impl SimAgent {
    fn new(machine: Machine, of: usize, ticket: u32) -> SimAgent {
        SimAgent {
            machine,
            of,
            ticket,
            fence: u64::MAX,
            agent: None,
            connection: None,
            part: None,
            preparation: 0,
            load: None,
            load_ends: 0,
        }
    }

    fn own(&self, now: u64) -> Instant {
        let drift = i128::from(now) * i128::from(self.machine.drift_ppm) / 1_000_000;
        Instant::from_ns((i128::from(self.machine.clock_offset_ns) + i128::from(now) + drift) as u64)
    }

    /// The first true time at which the agent's clock shows this instant.
    fn true_time(&self, own: Instant) -> u64 {
        let passed = i128::from(own.as_ns()) - i128::from(self.machine.clock_offset_ns);
        let mut at = (passed * 1_000_000 / (1_000_000 + i128::from(self.machine.drift_ppm))).max(0) as u64;
        while self.own(at) < own {
            at += 1;
        }
        at
    }
}

struct World {
    now: u64,
    case: Case,
    random: Random,
    fault: Option<Fault>,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    events: BTreeMap<u64, Event>,
    next_event: u64,
    hub: Option<Hub>,
    hub_names: BTreeMap<usize, usize>,
    armed: BTreeMap<usize, (u32, u32)>,
    agents: Vec<SimAgent>,
    wires: Vec<Wire>,
    trace: Trace,
    has_doubled: bool,
}

/// The hub's clock is the true one, from this instant.
const HUB_ORIGIN_NS: u64 = 5 * SECOND_NS;

fn hub_time(now: u64) -> Instant {
    Instant::from_ns(now + HUB_ORIGIN_NS)
}

/// Runs the case of a seed to its end.
pub(super) fn simulate(seed: u64, fault: Option<Fault>) -> Result<Trace, String> {
    let mut random = Random::new(seed);
    let case = Case::new(&mut random);
    let mut world = World::new(case, random, fault);
    world.run()?;
    Ok(world.trace)
}

impl World {
    fn new(case: Case, random: Random, fault: Option<Fault>) -> World {
        let archive = Bytes::from(vec![7; case.archive_bytes]);
        let settings = HubSettings {
            run: "r".into(),
            version: "1".into(),
            token: Bytes::from_static(b"token"),
            agents: case.agents.len() as u32,
            agents_min: case.agents_min,
            arm_timeout: case.arm_timeout,
            on_loss: case.on_loss,
            archive_sha256: Bytes::copy_from_slice(&Sha256::digest(&archive)),
            archive,
            settings: Bytes::new(),
            has_setup: case.has_setup,
            has_teardown: case.has_teardown,
            setup_timeout: Duration::from_secs(5),
            teardown_timeout: Duration::from_secs(5),
            load_max: Duration::from_nanos(case.load_ns),
            is_paused: false,
            vus_min: 100,
            shared: vec![None],
        };
        let agents = case.agents.iter().enumerate();
        let mut world = World {
            now: 0,
            random,
            fault,
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            next_event: 0,
            hub: Some(Hub::new(hub_time(0), settings)),
            hub_names: BTreeMap::new(),
            armed: BTreeMap::new(),
            agents: agents.map(|(of, machine)| SimAgent::new(machine.clone(), of, 0)).collect(),
            wires: Vec::new(),
            trace: Trace { frozen: case.agents.iter().map(|it| it.frozen).collect(), ..Trace::default() },
            has_doubled: false,
            case,
        };
        world.plan_faults();
        world
    }

    /// Starts a further session on the machine of an agent.
    fn further_session(&mut self, of: usize, ticket: u32) {
        let index = self.agents.len();
        let machine = self.agents[of].machine.clone();
        self.trace.frozen.push(machine.frozen);
        let first = self.agents[of].of;
        self.agents.push(SimAgent::new(machine, first, ticket));
        let at = self.now + self.random.ms(1, 20);
        self.at(at, Event::Start(index));
    }

    /// All sessions of a machine.
    fn sessions(&self, of: usize) -> Vec<usize> {
        (0..self.agents.len()).filter(|index| self.agents[*index].of == of).collect()
    }

    fn plan_faults(&mut self) {
        for index in 0..self.case.agents.len() {
            let machine = self.agents[index].machine.clone();
            self.at(machine.starts_ns, Event::Start(index));
            machine.dies_ns.into_iter().for_each(|at| self.at(at, Event::Die(index)));
            machine.reborn().into_iter().for_each(|new| self.plan_rebirth(index, new));
            machine.cut.into_iter().for_each(|cut| self.at(cut.0, Event::CutBegins(index)));
            machine.frozen.into_iter().for_each(|frozen| self.at(frozen.1, Event::Tick));
        }
        let of = |it: &Machine| {
            let spans = [it.frozen, it.black_hole, it.cut].into_iter().flatten().map(|span| span.1);
            spans.chain(it.dies_ns).chain(it.reborn_ns).chain([it.starts_ns]).max()
        };
        self.trace.last_fault = self.case.agents.iter().filter_map(of).max().unwrap_or(0);
        self.trace.is_quick = self.case.overtaken == 0;
        self.case.hub_dies_ns.into_iter().for_each(|at| self.at(at, Event::HubDies));
        self.case.stop.into_iter().for_each(|(at, kills)| self.at(at, Event::Stop(kills)));
    }

    /// Starts a new process for one that dies.
    fn plan_rebirth(&mut self, died: usize, machine: Machine) {
        let index = self.agents.len();
        let seen = machine.starts_ns - self.random.ms(0, 50);
        self.at(seen, Event::Vanish(died));
        self.at(machine.starts_ns, Event::Start(index));
        self.trace.frozen.push(None);
        self.agents.push(SimAgent::new(machine, index, 0));
    }

    fn at(&mut self, at: u64, event: Event) {
        self.queue.push(Reverse((at.max(self.now), self.next_event)));
        self.events.insert(self.next_event, event);
        self.next_event += 1;
    }

    fn run(&mut self) -> Result<(), String> {
        while !self.is_over() {
            let next = self.next_time();
            let Some(next) = next.filter(|next| *next <= TIME_MAX_NS) else {
                return Err(format!("nothing happens any more at {} s", self.now as f64 / 1e9));
            };
            self.now = self.now.max(next);
            match self.queue.peek() {
                Some(Reverse((at, number))) if *at <= self.now => {
                    let number = *number;
                    self.queue.pop();
                    if let Some(event) = self.events.remove(&number) {
                        self.happen(event);
                    }
                }
                _ => self.timers(),
            }
        }
        for index in 0..self.agents.len() {
            self.end_load(index);
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        let is_hub_over = self.hub.as_ref().is_none_or(Hub::is_over);
        // An agent that starts after the end finds no hub, and need not be waited for.
        is_hub_over && self.agents.iter().all(|it| it.agent.is_none())
    }

    fn next_time(&self) -> Option<u64> {
        let queued = self.queue.peek().map(|Reverse((at, _))| *at);
        let of_hub = self.hub.as_ref().map(Hub::deadline).filter(|at| *at != Instant::MAX);
        let of_hub = of_hub.map(|at| at.as_ns().saturating_sub(HUB_ORIGIN_NS));
        let of_agent = |it: &SimAgent| {
            let deadline = it.agent.as_ref()?.deadline();
            let at = (deadline != Instant::MAX).then(|| it.true_time(deadline))?;
            Some(it.machine.frozen.filter(|frozen| frozen.0 <= at && at < frozen.1).map_or(at, |it| it.1))
        };
        let of_agents = self.agents.iter().filter_map(of_agent).min();
        [queued, of_hub, of_agents].into_iter().flatten().min()
    }

    fn timers(&mut self) {
        self.step_hub(None);
        for index in 0..self.agents.len() {
            let it = &self.agents[index];
            let is_due = it.agent.as_ref().is_some_and(|agent| agent.deadline() <= it.own(self.now));
            if is_due && !self.is_frozen(index) {
                self.step_agent(index, None);
            }
        }
    }

    fn is_frozen(&self, agent: usize) -> bool {
        self.agents[agent].machine.frozen.is_some_and(|it| it.0 <= self.now && self.now < it.1)
    }

    fn is_in(&self, span: Option<(u64, u64)>) -> bool {
        span.is_some_and(|it| it.0 <= self.now && self.now < it.1)
    }

    fn note(&mut self, text: String) {
        self.trace.entries.push((self.now, text));
    }

    fn happen(&mut self, event: Event) {
        // What would reach a machine that stands still reaches it afterwards.
        let target = match &event {
            Event::ToAgent(wire, _) | Event::AgentClosed(wire) => Some(self.wires[*wire as usize].agent),
            Event::Opened(agent) | Event::Stub(agent, _) => Some(*agent),
            _ => None,
        };
        if let Some(thaw) =
            target.filter(|it| self.is_frozen(*it)).and_then(|it| self.agents[it].machine.frozen)
        {
            return self.at(thaw.1, event);
        }
        match event {
            Event::ToHub(wire, frame) => {
                if self.wires[wire as usize].is_open {
                    self.step_hub(Some(HubInput::Frame(wire, frame)));
                }
            }
            Event::ToAgent(wire, frame) => {
                let agent = self.wires[wire as usize].agent;
                if self.agents[agent].connection == Some(wire) {
                    self.step_agent(agent, Some(AgentInput::Frame(frame)));
                }
            }
            Event::HubClosed(wire) => self.step_hub(Some(HubInput::Closed(wire))),
            Event::AgentClosed(wire) => {
                let agent = self.wires[wire as usize].agent;
                if self.agents[agent].connection == Some(wire) {
                    self.agents[agent].connection = None;
                    self.step_agent(agent, Some(AgentInput::Disconnected));
                }
            }
            Event::Opened(agent) => self.open(agent),
            Event::Start(agent) => self.start_agent(agent),
            Event::Die(agent) => self.sessions(agent).into_iter().for_each(|it| self.kill_agent(it)),
            Event::Vanish(agent) => {
                self.step_hub(Some(HubInput::Vanished(agent.to_string(), "its process ended".into())));
            }
            Event::HubDies => self.kill_hub(),
            Event::CutBegins(agent) => self.sessions(agent).into_iter().for_each(|it| self.cut(it)),
            Event::Stop(is_kill) => {
                if self.hub.as_ref().is_some_and(|hub| !hub.is_over()) {
                    self.trace.stopped = Some(self.now);
                    let reason = convert::reason(ReasonKind::Signal, None);
                    self.step_hub(Some(HubInput::Stop { reason, is_kill }));
                }
            }
            Event::Stub(agent, act) => self.act(agent, act),
            Event::Tick => {}
        }
    }

    fn start_agent(&mut self, index: usize) {
        if self.hub.as_ref().is_none_or(Hub::is_over) {
            return;
        }
        let settings = AgentSettings {
            version: "1".into(),
            token: Bytes::from_static(b"token"),
            session: index as u64 + 1,
            name: index.to_string(),
            cores: 1,
            ticket: self.agents[index].ticket,
        };
        let is_gone = self.agents[index].machine.dies_ns.is_some_and(|at| at <= self.now);
        if is_gone && self.agents[index].of != index {
            return;
        }
        self.agents[index].agent = Some(Agent::new(self.agents[index].own(self.now), settings));
        self.step_agent(index, None);
    }

    fn kill_agent(&mut self, index: usize) {
        if self.agents[index].agent.is_some() {
            self.note(format!("agent {index} dies"));
            self.leave(index);
        }
    }

    /// Takes the agent's process away, and notes what it had not handed over.
    fn leave(&mut self, index: usize) {
        self.end_load(index);
        if let Some(agent) = self.agents[index].agent.take() {
            let waiting = agent.waiting().into_iter().filter_map(|body| match body {
                Body::Window(part) => Some((index, part.start_ns)),
                _ => None,
            });
            self.trace.unacknowledged.extend(waiting);
        }
        if let Some(wire) = self.agents[index].connection.take() {
            self.close(wire, true);
        }
    }

    fn kill_hub(&mut self) {
        if self.hub.as_ref().is_some_and(|hub| !hub.is_over()) {
            self.note("the hub dies".into());
            self.trace.hub_died = Some(self.now);
            self.hub = None;
            for wire in 0..self.wires.len() {
                if self.wires[wire].is_open {
                    self.close(wire as Connection, false);
                }
            }
        }
    }

    fn cut(&mut self, agent: usize) {
        self.note(format!("agent {agent} is cut off"));
        if let Some(wire) = self.agents[agent].connection {
            self.close(wire, true);
            let at = self.now + self.random.ms(0, 20);
            self.at(at, Event::AgentClosed(wire));
        }
    }

    /// Ends a connection; the other side learns of it.
    fn close(&mut self, wire: Connection, by_agent: bool) {
        if !std::mem::replace(&mut self.wires[wire as usize].is_open, false) {
            return;
        }
        let at = self.now + self.random.ms(0, 20);
        self.at(at, if by_agent { Event::HubClosed(wire) } else { Event::AgentClosed(wire) });
    }

    fn open(&mut self, agent: usize) {
        let can = self.agents[agent].agent.is_some();
        if !can || self.hub.is_none() || self.is_in(self.agents[agent].machine.cut) {
            return self.step_agent(agent, Some(AgentInput::Disconnected));
        }
        let wire = self.wires.len() as Connection;
        self.wires.push(Wire { agent, is_open: true, last: [0; 2] });
        self.agents[agent].connection = Some(wire);
        self.step_agent(agent, Some(AgentInput::Connected));
    }

    /// Puts a frame on its way; it may be late, come twice, or vanish in a black hole.
    fn send(&mut self, wire: Connection, frame: Frame, to_hub: bool) {
        let agent = self.wires[wire as usize].agent;
        if !self.wires[wire as usize].is_open || self.is_in(self.agents[agent].machine.black_hole) {
            return;
        }
        let copies = 1 + u64::from(self.random.chance(self.case.duplicates));
        for _ in 0..copies {
            let mut at = self.now + self.random.between(20_000, self.case.delay_ns);
            if !self.random.chance(self.case.overtaken) {
                let last = &mut self.wires[wire as usize].last[usize::from(to_hub)];
                at = at.max(*last + 1);
                *last = at;
            }
            let frame = frame.clone();
            self.at(at, if to_hub { Event::ToHub(wire, frame) } else { Event::ToAgent(wire, frame) });
        }
    }

    fn step_hub(&mut self, input: Option<HubInput>) {
        let Some(hub) = &mut self.hub else { return };
        let outputs = hub.step(hub_time(self.now), input);
        for output in outputs {
            match output {
                HubOutput::Send(wire, frame) => self.send(wire, frame, false),
                HubOutput::Close(wire) => {
                    // What was sent before arrives before.
                    if std::mem::replace(&mut self.wires[wire as usize].is_open, false) {
                        let at = self.now + self.case.delay_ns + 1;
                        self.at(at, Event::AgentClosed(wire));
                    }
                }
                HubOutput::Event(event) => self.on_event(event),
            }
        }
    }

    fn on_event(&mut self, event: HubEvent) {
        match event {
            HubEvent::Joined { agent, name, .. } => {
                self.note(format!("{name} joins as {agent}"));
                self.hub_names.insert(agent, name.parse().unwrap_or(usize::MAX));
            }
            HubEvent::Armed { agent, part } => {
                self.trace.was_recut |= part.count < self.case.agents.len() as u32;
                self.armed.insert(agent, (part.index, part.count));
            }
            HubEvent::TookOver { agent, part, from, .. } => {
                self.note(format!("{} continues {part:?}", self.hub_names[&agent]));
                self.trace.taken.push((part, from.as_ns() - HUB_ORIGIN_NS));
            }
            HubEvent::Agreed { at, .. } => {
                self.note("the start is agreed".into());
                self.trace.agreed = Some(at.as_ns() - HUB_ORIGIN_NS);
                self.trace.load_ends = at.as_ns() - HUB_ORIGIN_NS + self.case.load_ns;
                self.trace.parts = self.armed.values().copied().collect();
            }
            HubEvent::Window(_, part)
                if self.fault == Some(Fault::LoseWindow) && part.start_ns.is_multiple_of(3) => {}
            HubEvent::Window(agent, part) => {
                self.trace.counted.push((self.hub_names[&agent], part.start_ns));
            }
            HubEvent::Suspect(_) => self.trace.suspects += 1,
            HubEvent::Lost { agent, why, is_rebalanced } => {
                let part = self.agents[self.hub_names[&agent]].part;
                let (agent_of, at) = (self.hub_names[&agent], self.now);
                let vacated = part.map(|part| Vacated { agent: agent_of, part, at });
                self.trace.vacated.extend(vacated.filter(|_| is_rebalanced));
                self.armed.remove(&agent);
                self.note(format!("{} is lost: {why}", self.hub_names[&agent]));
                self.trace.lost.push((self.hub_names[&agent], self.now));
            }
            HubEvent::Ended(agent, _) => self.trace.ended.push(self.hub_names[&agent]),
            other @ (HubEvent::ScenariosEnded(_) | HubEvent::Over(_) | HubEvent::Started { .. }) => {
                self.note(format!("{other:?}"));
            }
            _ => {}
        }
    }

    fn step_agent(&mut self, index: usize, input: Option<AgentInput>) {
        let own = self.agents[index].own(self.now);
        let Some(agent) = &mut self.agents[index].agent else { return };
        let outputs = agent.step(own, input);
        let fence = agent.fence();
        self.agents[index].fence = match fence {
            Instant::MAX => u64::MAX,
            fence => self.agents[index].true_time(fence),
        };
        for output in outputs {
            match output {
                AgentOutput::Dial => {
                    let at = self.now + self.random.ms(1, 20);
                    self.at(at, Event::Opened(index));
                }
                AgentOutput::Send(frame) => {
                    if let Some(wire) = self.agents[index].connection {
                        self.send(wire, frame, true);
                    }
                }
                AgentOutput::Hangup => {
                    if let Some(wire) = self.agents[index].connection.take() {
                        // What was sent before arrives before.
                        let at = self.now + self.case.delay_ns + 1;
                        self.at(at, Event::HubClosed(wire));
                    }
                }
                AgentOutput::Do(task) => self.do_task(index, task),
                AgentOutput::Exit(farewell) => {
                    self.note(format!("agent {index} exits: {farewell:?}"));
                    if farewell == Farewell::Finished {
                        self.trace.finished.push(index);
                    }
                    self.leave(index);
                    if matches!(farewell, Farewell::Lost(_)) && self.agents[index].ticket == 0 {
                        self.trace.returned += 1;
                        self.further_session(index, 0);
                    }
                }
            }
        }
    }

    fn report(&mut self, index: usize, body: Body) {
        self.step_agent(index, Some(AgentInput::Report(body)));
    }

    fn do_task(&mut self, index: usize, task: Task) {
        match task {
            Task::Load { .. } => {}
            Task::Prepare(part) => {
                let it = &mut self.agents[index];
                it.part = Some(part);
                it.preparation += 1;
                let act =
                    if it.machine.is_unfit { Act::Unfit } else { Act::Armed(part.count, it.preparation) };
                let at = self.now + it.machine.prepares_ns;
                self.at(at, Event::Stub(index, act));
            }
            Task::SetUp => {
                let times = 1 + usize::from(self.fault == Some(Fault::RepeatSetup));
                (0..times).for_each(|_| self.trace.setups.push(self.now));
                let at = self.now + self.random.ms(1, 2_500);
                self.at(at, Event::Stub(index, Act::SetUp));
            }
            Task::Start { at, from, hub_ns, .. } => self.start_load(index, (at, from), hub_ns),
            Task::Enlist(ticket) => {
                if self.fault != Some(Fault::IgnoreEnlist) {
                    self.further_session(index, ticket);
                }
            }
            Task::Steer(_) | Task::Lease(_) => {}
            Task::Stop(_) | Task::Kill(_) => self.stop_load(index),
            Task::TearDown(_) => {
                self.trace.teardowns.push(self.now);
                let at = self.now + self.random.ms(1, 500);
                self.at(at, Event::Stub(index, Act::TornDown));
            }
        }
    }

    fn start_load(&mut self, index: usize, (schedule, at): (Instant, Instant), hub_ns: u64) {
        let it = &self.agents[index];
        let early = if self.fault == Some(Fault::StartEarly) { 500_000_000 } else { 0 };
        let begins = it.true_time(at).saturating_sub(early);
        let due = hub_ns - HUB_ORIGIN_NS;
        if begins >= self.now
            && let Some(agent) = &it.agent
        {
            let drift = (begins - self.now) / 1_000_000 * DRIFT_PPM_MAX;
            let bound = agent.uncertainty_ns(it.own(self.now)).unwrap_or(u64::MAX) + drift + 1_000;
            self.trace.skews.push((index, begins.abs_diff(due), bound));
        }
        if let (Some(agreed), Some(agent)) = (self.trace.agreed, &it.agent) {
            let late = if self.fault == Some(Fault::ShiftSchedule) { 2 } else { 0 };
            let begins = it.true_time(schedule + Duration::from_secs(late));
            // The clocks of hub and agent drift apart from the start of the schedule to that of the load.
            let own = it.own(self.now);
            let drift = (at.since(schedule) + at.since(own) + own.since(at)).as_nanos() as u64 / 1_000_000
                * DRIFT_PPM_MAX;
            let bound = agent.uncertainty_ns(own).unwrap_or(u64::MAX).saturating_add(drift + 1_000);
            self.trace.shifts.push((index, begins.abs_diff(agreed), bound));
        }
        self.trace.reborn += usize::from(it.machine.is_new);
        let begins = begins.max(self.now);
        self.note(format!("agent {index} starts at {:.6} s", begins as f64 / 1e9));
        let load_ns = self.case.load_ns.saturating_sub(at.since(schedule).as_nanos() as u64);
        let it = &mut self.agents[index];
        (it.load, it.load_ends) = (Some(begins), begins + load_ns);
        let part = it.part.unwrap_or_default();
        if self.fault == Some(Fault::WrongPart) {
            self.trace.parts.push((part.index, part.count));
        }
        if self.fault == Some(Fault::EarlyTeardown) {
            self.trace.teardowns.push(begins);
        }
        for second in 1..=load_ns / SECOND_NS {
            self.at(begins + second * SECOND_NS, Event::Stub(index, Act::Window(begins)));
        }
        self.at(begins + load_ns, Event::Stub(index, Act::End(begins)));
    }

    /// An order to stop ends the load a moment later.
    fn stop_load(&mut self, index: usize) {
        let Some(begins) = self.agents[index].load else { return };
        if matches!(self.fault, Some(Fault::IgnoreStop | Fault::IgnoreFence)) {
            return;
        }
        let at = self.now.max(begins.min(self.now)) + self.random.ms(1, 200);
        self.agents[index].load_ends = self.agents[index].load_ends.min(at);
        self.at(at, Event::Stub(index, Act::End(begins)));
    }

    fn end_load(&mut self, index: usize) {
        if let Some(begins) = self.agents[index].load.take() {
            let end = self.now.max(begins);
            self.trace.loads.push((index, begins, end));
            let part = self.agents[index].part.unwrap_or_default();
            let is_continued = self.trace.agreed.is_some_and(|at| begins > at + SECOND_NS / 2);
            let from = match self.fault {
                Some(Fault::Replay) if is_continued => self.trace.agreed.unwrap_or(begins),
                _ => begins,
            };
            let to =
                if self.fault == Some(Fault::IgnoreFence) { end } else { end.min(self.agents[index].fence) };
            let part = match self.fault {
                Some(Fault::WholeShare) => Segment { share: 0, shares: 1, ..part },
                _ => part,
            };
            self.trace.spans.push(LoadSpan { agent: index, part, from, to: to.max(from) });
        }
    }

    fn hand_over(&mut self, index: usize) {
        // In the place of a start: a number of its own.
        let start_ns = self.trace.produced.len() as u64 + 1;
        self.trace.produced.push((index, start_ns));
        let end_ns = hub_time(self.now).as_ns();
        let part = WindowPart { start_ns, end_ns, is_last: true, ..WindowPart::default() };
        if self.fault == Some(Fault::RepeatWindow) && !std::mem::replace(&mut self.has_doubled, true) {
            self.report(index, Body::Window(part.clone()));
        }
        self.report(index, Body::Window(part));
        if self.agents[index].agent.is_none() {
            // It gave its hub up at this moment, and the window was never sent.
            self.trace.unacknowledged.push((index, start_ns));
        }
    }

    fn act(&mut self, index: usize, act: Act) {
        if self.agents[index].agent.is_none() {
            return;
        }
        match act {
            Act::Armed(parts, preparation) if self.agents[index].preparation == preparation => {
                self.report(index, Body::Preparing(Preparing { ready: 1, planned: 1 }));
                self.report(index, Body::Armed(parts));
            }
            Act::Armed(..) => {}
            Act::Unfit => {
                let failure = convert::failure(FailureKind::Exception, "threw".into());
                self.report(index, Body::Unfit(failure));
            }
            Act::SetUp => {
                self.hand_over(index);
                let failure = convert::failure(FailureKind::Exception, "threw".into());
                let failure = self.case.setup_fails.then_some(failure);
                self.report(index, Body::SetUp(FunctionEnd { data: Some("1".into()), failure }));
            }
            Act::Window(begins) => {
                if self.agents[index].load == Some(begins) {
                    self.hand_over(index);
                }
            }
            Act::End(begins) => {
                // An order to stop may bring the end forward.
                if self.agents[index].load == Some(begins) && self.now >= self.agents[index].load_ends {
                    self.end_load(index);
                    self.hand_over(index);
                    if self.fault == Some(Fault::LoseEnd) {
                        self.trace.produced.push((index, 0));
                    }
                    self.report(index, Body::Ended(Ended::default()));
                }
            }
            Act::TornDown => self.report(index, Body::TornDown(FunctionEnd::default())),
        }
    }
}
