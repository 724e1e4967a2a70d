//! The cost of a hub beside a thousand agents: it hears, merges and sums up their windows.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use engine::RunConfig;
use model::metric::builtin::ITERATIONS;
use model::plan::{Executor, Plan, Scenario};
use model::{
    Instant, Mark, MetricKind, MetricRegistry, ScenarioId, SystemClock, TagInterner, TagSet, ValueKind,
    Window, Work,
};
use tally::{Merger, Notes, Recorder};

use crate::book::Book;
use crate::message::{Body, Counters, Frame, Heartbeat, Hello, PROTOCOL};
use crate::window::Outbound;
use crate::{Hub, HubInput, HubOutput, HubSettings, OnLoss, codec};

/// Agents, VUs of each, series of each, and seconds of load.
const AGENTS: u64 = 1_000;
const VUS: u32 = 10_000;
const SERIES: u32 = 500;
const SECONDS: u64 = 20;

const SECOND: Duration = Duration::from_secs(1);

/// The hub's clock at the start.
const START: Instant = Instant::from_ns(1_000_000_000_000);

/// A window of an agent: a quarter of the series are trends with 20 values each, the others counters.
fn window(registry: &Arc<MetricRegistry>, tags: &Arc<TagInterner>, second: u64) -> Window {
    let trend = registry.register("duration", MetricKind::Trend, ValueKind::Time).expect("a metric");
    let mut recorder = Recorder::new(registry.clone());
    let start = START + SECOND * second as u32;
    for number in 0..SERIES {
        let name = format!("/endpoint/{number}");
        let set = tags.intern(TagSet::new([("name".into(), name.as_str().into())]));
        if number % 4 == 0 {
            for value in 0..20 {
                recorder.record(trend, set, 1.5 + f64::from(value * number), Mark::Measured, start);
            }
        } else {
            recorder.record(ITERATIONS, set, 1.0, Mark::Measured, start);
        }
    }
    let mut notes = Notes::new(1);
    for _ in 0..VUS / 10 {
        notes.load.start(Some(ScenarioId(0)), Work::Iterations, start);
        notes.load.finish(Some(ScenarioId(0)), Work::Iterations, start);
    }
    let mut merger = Merger::default();
    merger.add(recorder.take_window());
    merger.add_notes(notes.take(start + SECOND));
    merger.take(second as u32, start, start + SECOND)
}

fn plan() -> Plan {
    let executor = Executor::ConstantArrivalRate {
        rate: AGENTS * u64::from(VUS) / 10,
        time_unit: SECOND,
        duration: SECOND * SECONDS as u32,
        pre_allocated_vus: AGENTS * u64::from(VUS),
        max_vus: AGENTS * u64::from(VUS),
    };
    let scenario = Scenario {
        name: "s".into(),
        exec: "default".into(),
        executor,
        start_time: Duration::ZERO,
        graceful_stop: Duration::ZERO,
        env: Default::default(),
        tags: Default::default(),
    };
    Plan { scenarios: vec![scenario], ..Plan::default() }
}

/// A frame as it comes from the socket.
fn arrive(hub: &mut Hub, book: &mut Book, now: Instant, connection: u64, bytes: &Bytes) {
    let frame = codec::decode(&mut BytesMut::from(&bytes[..])).expect("intact").expect("complete");
    for output in hub.step(now, Some(HubInput::Frame(connection, frame))) {
        match output {
            HubOutput::Send(_, frame) => drop(codec::encode(&frame)),
            HubOutput::Event(event) => drop(book.on(now, event)),
            HubOutput::Close(_) => panic!("an agent is refused"),
        }
    }
}

fn encoded(number: u64, body: Body) -> Bytes {
    codec::encode(&Frame { number, received: 1_000, body: Some(body) }).expect("small")
}

fn memory_mib(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) >> 10
}

#[test]
#[ignore = "prints figures: cargo test -p fleet --lib a_thousand_agents -- --ignored --nocapture"]
fn a_thousand_agents() {
    let settings = HubSettings {
        run: "r".into(),
        version: "1".into(),
        token: Bytes::new(),
        agents: AGENTS as u32,
        agents_min: AGENTS as u32,
        arm_timeout: SECOND * 120,
        on_loss: OnLoss::Rebalance,
        archive: Bytes::new(),
        archive_sha256: Bytes::new(),
        settings: Bytes::new(),
        has_setup: false,
        has_teardown: false,
        setup_timeout: SECOND,
        teardown_timeout: SECOND,
        load_max: SECOND * SECONDS as u32,
        is_paused: false,
        vus_min: AGENTS * u64::from(VUS),
        shared: vec![None],
    };
    let before_mib = memory_mib("VmRSS:");
    let joining = START;
    let mut hub = Hub::new(joining, settings);
    let mut book = Book::new(Arc::new(plan()), RunConfig::new(1));
    for agent in 0..AGENTS {
        let hello = Hello {
            protocol: PROTOCOL,
            version: "1".into(),
            session: agent,
            name: format!("agent-{agent}"),
            cores: 8,
            ..Hello::default()
        };
        arrive(&mut hub, &mut book, joining, agent, &encoded(0, Body::Hello(hello)));
        arrive(&mut hub, &mut book, joining, agent, &encoded(1, Body::Fetched(Bytes::new())));
        let heartbeat =
            Heartbeat { sent_ns: joining.as_ns(), rounds: 8, uncertainty_ns: 9, ..Heartbeat::default() };
        arrive(&mut hub, &mut book, joining, agent, &encoded(0, Body::Heartbeat(heartbeat)));
        arrive(&mut hub, &mut book, joining, agent, &encoded(2, Body::Armed(AGENTS as u32)));
    }
    let (registry, tags) = (Arc::<MetricRegistry>::default(), Arc::<TagInterner>::default());
    let mut outbound = Outbound::new(registry.clone(), tags.clone());
    outbound.set_offset(SECOND.as_nanos() as i64);
    let mut bytes = 0;
    let mut number = 3;
    let mut busy = Duration::ZERO;
    for second in 0..SECONDS {
        let bodies = outbound.window(&window(&registry, &tags, second));
        let frames: Vec<Bytes> =
            bodies.into_iter().enumerate().map(|(at, body)| encoded(number + at as u64, body)).collect();
        number += frames.len() as u64;
        let counters = Counters { vus_active: VUS, vus_initialized: VUS, ..Counters::default() };
        let now = START + SECOND * (second as u32 + 2) + Duration::from_millis(50);
        let heartbeat = Heartbeat {
            sent_ns: now.as_ns(),
            rounds: 9,
            uncertainty_ns: 9,
            counters: Some(counters),
            ..Heartbeat::default()
        };
        let heartbeat = encoded(0, Body::Heartbeat(heartbeat));
        let began = SystemClock::now();
        for agent in 0..AGENTS {
            arrive(&mut hub, &mut book, now, agent, &heartbeat);
            frames.iter().for_each(|frame| arrive(&mut hub, &mut book, now, agent, frame));
        }
        drop(book.tick(now));
        busy += SystemClock::now().since(began);
        bytes += frames.iter().map(Bytes::len).sum::<usize>() + heartbeat.len();
    }
    println!(
        "{AGENTS} agents of {VUS} VUs with {SERIES} series: {:.2} s of CPU and {:.1} MB received per second; \
         memory {} MiB, at most {} MiB, {before_mib} MiB before",
        busy.as_secs_f64() / SECONDS as f64,
        (bytes as u64 * AGENTS / SECONDS) as f64 / 1e6,
        memory_mib("VmRSS:"),
        memory_mib("VmHWM:"),
    );
}
