//! Frames between a hub and its agents.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use fleet::codec::{decode, encode};
use fleet::message::{Body, Frame, Hello, PROTOCOL};
use fleet::window::{Inbound, lines};
use fleet::{Agent, AgentInput, AgentSettings, Hub, HubInput, HubSettings, OnLoss};
use model::Instant;
use tally::Merger;

/// Scenarios of the test that the frames belong to.
const SCENARIOS: usize = 2;

/// The token of the hub.
const TOKEN: Bytes = Bytes::from_static(b"token");

/// A frame that is read is written and read again as the same; a hub, an agent and a merger take any sequence of frames.
pub fn check(bytes: &[u8]) {
    let mut stream = BytesMut::from(bytes);
    let mut frames = Vec::new();
    while let Ok(Some(frame)) = decode(&mut stream) {
        let mut again = BytesMut::from(&encode(&frame).expect("it was as large before")[..]);
        let read = decode(&mut again).expect("it was written here").expect("it is whole");
        // Floats that are no number are not equal to themselves.
        assert_eq!(format!("{read:?}"), format!("{frame:?}"));
        frames.push(frame);
    }
    merge(&frames);
    ask_hub(&frames);
    ask_agent(&frames);
}

fn merge(frames: &[Frame]) {
    let mut inbound = Inbound::new(Default::default(), Default::default(), SCENARIOS);
    let mut merger = Merger::default();
    for body in frames.iter().filter_map(|frame| frame.body.clone()) {
        match body {
            Body::Names(names) => drop(inbound.learn(names)),
            Body::Window(part) => {
                let (Ok(series), Ok(notes)) = (inbound.series(&part.series), inbound.notes(&part)) else {
                    continue;
                };
                merger.add(series.clone());
                merger.add(series);
                merger.add_notes(notes);
            }
            Body::Samples(samples) => drop(inbound.samples(&samples.samples)),
            Body::Log(log) => drop(lines(&log)),
            _ => {}
        }
    }
    merger.take(0, Instant::ZERO, Instant::MAX);
}

/// The frames of an agent that knows the token, in the order that a link asks for.
fn ask_hub(frames: &[Frame]) {
    let now = Instant::from_ns(1 << 40);
    let mut hub = Hub::new(now, settings());
    let hello = Hello {
        protocol: PROTOCOL,
        version: "1".into(),
        token: TOKEN,
        session: 7,
        received: 0,
        name: "a".into(),
        cores: 1,
        ticket: 0,
    };
    let hello = Frame { number: 0, received: 0, body: Some(Body::Hello(hello)) };
    hub.step(now, Some(HubInput::Frame(1, hello)));
    let mut number = 0;
    for (place, frame) in frames.iter().enumerate() {
        number += u64::from(frame.number > 0);
        let frame = Frame { number: if frame.number > 0 { number } else { 0 }, ..frame.clone() };
        let at = now + Duration::from_millis(10 * place as u64);
        hub.step(at, Some(HubInput::Frame(1, frame)));
    }
    hub.step(now + Duration::from_secs(3600), None);
}

fn ask_agent(frames: &[Frame]) {
    let now = Instant::from_ns(1 << 40);
    let settings = AgentSettings {
        version: "1".into(),
        token: TOKEN,
        session: 7,
        name: "a".into(),
        cores: 1,
        ticket: 0,
    };
    let mut agent = Agent::new(now, settings);
    agent.step(now, Some(AgentInput::Connected));
    let welcome = Frame { number: 0, received: 0, body: Some(Body::Welcome(Default::default())) };
    agent.step(now, Some(AgentInput::Frame(welcome)));
    let mut number = 0;
    for (place, frame) in frames.iter().enumerate() {
        number += u64::from(frame.number > 0);
        let frame = Frame { number: if frame.number > 0 { number } else { 0 }, ..frame.clone() };
        let at = now + Duration::from_millis(10 * place as u64);
        agent.step(at, Some(AgentInput::Frame(frame)));
    }
    agent.step(now + Duration::from_secs(3600), None);
}

fn settings() -> HubSettings {
    HubSettings {
        run: "r".into(),
        version: "1".into(),
        token: TOKEN,
        agents: 1,
        agents_min: 1,
        arm_timeout: Duration::from_secs(5),
        on_loss: OnLoss::Rebalance,
        archive: Bytes::new(),
        archive_sha256: Bytes::new(),
        settings: Bytes::new(),
        has_setup: true,
        has_teardown: true,
        setup_timeout: Duration::from_secs(1),
        teardown_timeout: Duration::from_secs(1),
        load_max: Duration::from_secs(1),
        is_paused: false,
        vus_min: 4,
        shared: vec![Some(100), None],
    }
}
