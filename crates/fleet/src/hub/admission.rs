//! Who may take part, and what its frames mean.

use std::time::Duration;

use model::Instant;
use subtle::ConstantTimeEq;

use super::member::{Member, Stage};
use super::{CLOCK_TOLERANCE, Connection, Hub, HubEvent, HubOutput, OnLoss};
use crate::convert::ReasonKind;
use crate::link::Arrival;
use crate::message::{Body, Echo, Frame, Heartbeat, Hello, PROTOCOL, Reason, Test, Welcome, WindowPart};

impl Hub {
    pub(super) fn on_frame(&mut self, now: Instant, connection: Connection, frame: Frame) {
        if let Some(Body::Hello(hello)) = frame.body {
            return self.on_hello(now, connection, hello);
        }
        let Some(agent) = self.members.iter().position(|it| it.connection == Some(connection)) else {
            return;
        };
        self.hear(now, agent);
        let member = &mut self.members[agent];
        let is_numbered = frame.number > 0;
        let arrival = member.link.receive(now, frame);
        if is_numbered {
            // Duplicates are acknowledged again: the first acknowledgement may be lost.
            let acknowledgement = member.link.acknowledgement();
            self.outputs.push(HubOutput::Send(connection, acknowledgement));
        }
        match arrival {
            Arrival::Unnumbered(Body::Heartbeat(heartbeat)) => {
                self.on_heartbeat(now, agent, connection, heartbeat);
            }
            Arrival::Next(body) => self.on_body(now, agent, body),
            Arrival::Unnumbered(_) | Arrival::Ignored | Arrival::Nothing => {}
        }
    }

    fn on_hello(&mut self, now: Instant, connection: Connection, hello: Hello) {
        match self.admit(now, connection, &hello) {
            Ok(agent) => {
                self.hear(now, agent);
                let member = &mut self.members[agent];
                if let Some(old) = member.connection.replace(connection).filter(|old| *old != connection) {
                    self.outputs.push(HubOutput::Close(old));
                }
                let welcome = Welcome { received: member.link.received() };
                let welcome = member.link.unnumbered(Body::Welcome(welcome));
                let frames = member.link.resume(now, hello.received);
                let frames = std::iter::once(welcome).chain(frames);
                self.outputs.extend(frames.map(|frame| HubOutput::Send(connection, frame)));
            }
            Err(why) => self.refuse(connection, *why),
        }
    }

    fn refuse(&mut self, connection: Connection, why: Body) {
        let frame = Frame { number: 0, received: 0, body: Some(why) };
        self.outputs.push(HubOutput::Send(connection, frame));
        self.outputs.push(HubOutput::Close(connection));
    }

    /// Finds or makes the member that says hello.
    fn admit(&mut self, now: Instant, connection: Connection, hello: &Hello) -> Result<usize, Box<Body>> {
        if !bool::from(hello.token.ct_eq(&self.settings.token)) {
            let text = "the token is not this run's; use the token file that the hub wrote";
            return Err(Box::new(Body::Refused(text.to_owned())));
        }
        if hello.protocol != PROTOCOL || hello.version != self.settings.version {
            return Err(Box::new(Body::Refused(format!(
                "the agent's version is {} (protocol {}), the hub's is {} (protocol {PROTOCOL}); install the same \
                 version on both",
                hello.version, hello.protocol, self.settings.version
            ))));
        }
        if let Some(agent) = self.members.iter().position(|member| member.session == hello.session) {
            let member = &self.members[agent];
            return if member.is_live() {
                Ok(agent)
            } else {
                Err(Box::new(member.given_up("it was silent for too long")))
            };
        }
        let vacancy = self.place_for(hello).map_err(|why| Box::new(Body::Refused(why)))?;
        let agent = self.members.len();
        self.members.push(Member::new(now, hello.session, hello.name.clone()));
        self.members[agent].connection = Some(connection);
        if let Some(vacancy) = vacancy {
            self.take_vacancy(vacancy, agent, hello.ticket);
        }
        let (name, cores) = (hello.name.clone(), hello.cores);
        self.event(HubEvent::Joined { agent, name, cores });
        let test = Test {
            run: self.settings.run.clone(),
            archive_bytes: self.settings.archive.len() as u64,
            archive_sha256: self.settings.archive_sha256.clone(),
            settings: self.settings.settings.clone(),
        };
        // It is sent with the welcome.
        self.members[agent].link.send(now, Body::Test(test));
        Ok(agent)
    }

    fn hear(&mut self, now: Instant, agent: usize) {
        let member = &mut self.members[agent];
        member.heard = now;
        if std::mem::take(&mut member.is_suspect) {
            self.event(HubEvent::Back(agent));
        }
    }

    fn on_heartbeat(&mut self, now: Instant, agent: usize, connection: Connection, heartbeat: Heartbeat) {
        let Heartbeat { sent_ns, rounds, offset_ns, uncertainty_ns, counters } = heartbeat;
        let claimed_ns = sent_ns.saturating_add_signed(offset_ns);
        let bound_ns = uncertainty_ns.saturating_add(CLOCK_TOLERANCE.as_nanos() as u64);
        if rounds > 0 && claimed_ns > now.as_ns().saturating_add(bound_ns) {
            let ahead_ms = (claimed_ns - now.as_ns()) / 1_000_000;
            return self.lose(now, agent, format!("its clock is {ahead_ms} ms ahead of what it states"));
        }
        let member = &mut self.members[agent];
        (member.rounds, member.uncertainty_ns) = (rounds, uncertainty_ns);
        if rounds > 0 {
            self.event(HubEvent::Clock { agent, offset_ns, uncertainty_ns });
        }
        let member = &mut self.members[agent];
        let echo = member.link.unnumbered(Body::Echo(Echo { sent_ns, hub_ns: now.as_ns() }));
        self.outputs.push(HubOutput::Send(connection, echo));
        if let Some(counters) = counters {
            self.members[agent].counters.clone_from(&counters);
            self.event(HubEvent::Counters(agent, counters));
        }
    }

    fn on_body(&mut self, now: Instant, agent: usize, body: Body) {
        match body {
            Body::Fetched(sha256) => self.on_fetched(now, agent, &sha256),
            Body::Preparing(progress) => self.event(HubEvent::Preparing(agent, progress)),
            Body::Armed(parts) => {
                let member = &mut self.members[agent];
                if let Some(part) = member.part.filter(|_| parts == self.parts) {
                    member.stage = Stage::Armed;
                    self.event(HubEvent::Armed { agent, part });
                }
            }
            Body::Unfit(failure) => {
                self.end.unfit.get_or_insert(failure);
            }
            Body::SetUp(end) => self.phase.take_function(agent, end),
            Body::TornDown(end) => self.phase.take_function(agent, end),
            Body::Started(late_ns) => {
                let uncertainty_ns = self.members[agent].uncertainty_ns;
                self.event(HubEvent::Started { agent, late_ns, uncertainty_ns });
            }
            Body::Want(want) => self.want(now, agent, want),
            Body::Reading(reading) => self.event(HubEvent::Reading(agent, reading)),
            Body::Secrets(secrets) => self.event(HubEvent::Secrets(secrets.values)),
            Body::Names(names) => self.event(HubEvent::Names(agent, names)),
            Body::Window(part) => self.on_window(now, agent, part),
            Body::Samples(samples) => self.event(HubEvent::Samples(agent, samples)),
            Body::Log(log) => self.event(HubEvent::Log(agent, log)),
            Body::Request(reason) => self.event(HubEvent::Request(agent, reason)),
            Body::Ended(ended) => {
                let stage = std::mem::replace(&mut self.members[agent].stage, Stage::Ended);
                self.leave_pools(now, agent);
                let is_early = ended.aborted.as_ref().is_some_and(is_own_end);
                let is_of = |reason: &Reason| reason.kind == ReasonKind::Signal as u32;
                self.members[agent].is_leaving = ended.aborted.as_ref().is_some_and(is_of);
                self.members[agent].is_early = is_early;
                self.event(HubEvent::Ended(agent, Box::new(ended)));
                if is_early && stage == Stage::Running && self.settings.on_loss != OnLoss::Abort {
                    self.vacate(now, agent);
                }
            }
            // Frames of a hub, or frames that carry no number.
            Body::Hello(_)
            | Body::Heartbeat(_)
            | Body::Welcome(_)
            | Body::Refused(_)
            | Body::Echo(_)
            | Body::Test(_)
            | Body::Archive(_)
            | Body::Prepare(_)
            | Body::RunSetup(_)
            | Body::Start(_)
            | Body::Order(_)
            | Body::Lost(_) => self.lose(now, agent, "it sent a frame that only hubs send".to_owned()),
        }
    }

    fn on_fetched(&mut self, now: Instant, agent: usize, sha256: &[u8]) {
        if sha256 != &*self.settings.archive_sha256 {
            let why = format!(
                "its archive has the SHA-256 {}, the hub's has {}",
                hex(sha256),
                hex(&self.settings.archive_sha256)
            );
            return self.lose(now, agent, why);
        }
        self.members[agent].stage = Stage::Fetched;
    }

    fn on_window(&mut self, now: Instant, agent: usize, part: WindowPart) {
        let uncertainty = Duration::from_nanos(self.members[agent].uncertainty_ns);
        let latest = now + CLOCK_TOLERANCE + uncertainty;
        if part.end_ns > latest.as_ns() {
            let ahead_ms = (part.end_ns - now.as_ns()) / 1_000_000;
            return self.lose(now, agent, format!("its clock is wrong: a window ends in {ahead_ms} ms"));
        }
        self.end_leased(now, agent, &part.leased);
        self.event(HubEvent::Window(agent, part));
    }
}

/// Whether an agent ended its load by itself, and the test goes on without it.
fn is_own_end(reason: &Reason) -> bool {
    ![ReasonKind::Script, ReasonKind::Threshold].iter().any(|kind| *kind as u32 == reason.kind)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
