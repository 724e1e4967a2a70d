//! An agent's socket: a thread that owns it, the clock and the [`Agent`], apart from the threads that send load.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use model::{Instant, SystemClock};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio_rustls::TlsConnector;

use crate::codec;
use crate::message::{Body, Counters, Frame};
use crate::stream::{FrameReader, WRITES_MAX, Wire, write};
use crate::tls;
use crate::{Agent, AgentInput, AgentOutput, AgentSettings, Farewell, Task};

/// Time for a connection to open and become encrypted.
const DIAL_MAX: Duration = Duration::from_secs(3);

/// Interval at which the test's log lines and requests are collected.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Raw samples are dropped while more bytes than this wait for the hub.
const SAMPLES_BACKLOG_BYTES_MAX: usize = 16 << 20;

/// The agent's test, which the program's session runs. No call may wait: heartbeats are sent between them.
pub trait Runner {
    /// Carries out an order of the hub. `offset_ns` is the hub's clock minus the agent's.
    fn act(&mut self, task: Task, offset_ns: i64);

    /// Counters of the run; `None` before it begins.
    fn counters(&self) -> Option<Counters>;

    /// Lets no iteration start at this instant or later, until the fence is moved.
    fn set_fence(&mut self, at: Instant);

    /// Log lines and requests since the last call.
    fn look(&mut self) -> Vec<Body>;
}

/// Passes reports of the test to the agent, from any thread.
#[derive(Clone, Debug)]
pub struct Reporter {
    reports: UnboundedSender<Body>,
    backlog_bytes: Arc<AtomicUsize>,
}

impl Reporter {
    /// Reports to the hub. Reports arrive in order; none is lost while hub and agent live.
    pub fn report(&self, body: Body) {
        // An agent that is over takes no reports.
        let _ = self.reports.send(body);
    }

    /// Whether raw samples can be sent now.
    pub fn has_capacity(&self) -> bool {
        self.backlog_bytes.load(Ordering::Relaxed) < SAMPLES_BACKLOG_BYTES_MAX
    }
}

/// The reports of a test, on their way to the agent.
#[derive(Debug)]
pub struct Reports(UnboundedReceiver<Body>);

/// A way for the reports of a test. What it holds is bounded by the link's backlog, which ends an agent whose hub does not take
/// its windows, and by [`Reporter::has_capacity`].
pub fn reports() -> (Reporter, Reports) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Reporter { reports: sender, backlog_bytes: Arc::default() }, Reports(receiver))
}

/// Joins the hub at `address` and serves it until the run is over.
///
/// # Errors
/// The system refuses a runtime.
pub fn join(
    settings: AgentSettings,
    address: &str,
    certificate: Option<[u8; 32]>,
    (reporter, reports): (Reporter, Reports),
    runner: &mut dyn Runner,
) -> std::io::Result<Farewell> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(serve(settings, address.to_owned(), certificate, reporter, reports.0, runner)))
}

/// From the task of a connection, with the connection's number.
enum Arrival {
    Opened(mpsc::Sender<Bytes>),
    Frame(Frame),
    Closed,
}

async fn serve(
    settings: AgentSettings,
    address: String,
    certificate: Option<[u8; 32]>,
    reporter: Reporter,
    mut reports: UnboundedReceiver<Body>,
    runner: &mut dyn Runner,
) -> Farewell {
    let mut agent = Agent::new(SystemClock::now(), settings);
    let (arrivals, mut inbox) = mpsc::channel::<(u64, Arrival)>(256);
    let mut writer: Option<mpsc::Sender<Bytes>> = None;
    let mut connection = 0;
    let mut next_look = SystemClock::now();
    loop {
        let now = SystemClock::now();
        let wait = agent.deadline().min(next_look).since(now);
        let input = tokio::select! {
            // Frames of earlier connections say nothing any more.
            arrival = inbox.recv() => match arrival {
                Some((number, arrival)) if number == connection => match arrival {
                    Arrival::Opened(frames) => {
                        writer = Some(frames);
                        Some(AgentInput::Connected)
                    }
                    Arrival::Frame(frame) => Some(AgentInput::Frame(frame)),
                    Arrival::Closed => {
                        writer = None;
                        Some(AgentInput::Disconnected)
                    }
                },
                _ => None,
            },
            report = reports.recv() => report.map(AgentInput::Report),
            () = tokio::time::sleep(wait) => None,
        };
        let mut inputs = vec![input];
        if SystemClock::now() >= next_look {
            next_look = SystemClock::now() + LOOK_EVERY;
            inputs.extend(runner.look().into_iter().map(|body| Some(AgentInput::Report(body))));
            inputs.extend(runner.counters().map(|counters| Some(AgentInput::Counters(counters))));
        }
        for input in inputs {
            let now = SystemClock::now();
            let outputs = agent.step(now, input);
            // Before the outputs: a start that comes too late starts nothing.
            runner.set_fence(agent.fence());
            for output in outputs {
                match output {
                    AgentOutput::Dial => {
                        connection += 1;
                        let (address, arrivals) = (address.clone(), arrivals.clone());
                        tokio::spawn(converse(connection, address, certificate, arrivals));
                    }
                    AgentOutput::Send(frame) => send(&mut writer, &frame),
                    AgentOutput::Hangup => writer = None,
                    AgentOutput::Do(task) => runner.act(task, agent.offset_ns(now).unwrap_or(0)),
                    AgentOutput::Exit(farewell) => {
                        drop(writer);
                        // The last acknowledgement is on its way.
                        tokio::time::sleep(LOOK_EVERY).await;
                        return farewell;
                    }
                }
            }
        }
        reporter.backlog_bytes.store(agent.backlog_bytes(), Ordering::Relaxed);
    }
}

fn send(writer: &mut Option<mpsc::Sender<Bytes>>, frame: &Frame) {
    let Some(frames) = writer else { return };
    let sent = codec::encode(frame).ok().map(|bytes| frames.try_send(bytes));
    if !matches!(sent, Some(Ok(()))) {
        // The hub does not read: the connection is closed, and another one opened.
        *writer = None;
    }
}

/// Opens a connection and reads its frames.
async fn converse(
    connection: u64,
    address: String,
    certificate: Option<[u8; 32]>,
    arrivals: mpsc::Sender<(u64, Arrival)>,
) {
    let opened = tokio::time::timeout(DIAL_MAX, open(&address, certificate)).await;
    if let Ok(Some(stream)) = opened {
        let (from, to) = tokio::io::split(stream);
        let (writer, frames) = mpsc::channel(WRITES_MAX);
        let writing = tokio::spawn(write(to, frames));
        let mut reader = FrameReader::new(from);
        let mut arrival = Arrival::Opened(writer);
        while arrivals.send((connection, arrival)).await.is_ok() {
            let next = tokio::select! {
                next = reader.next() => next,
                // The agent hung up, or its peer does not read.
                () = finished(&writing) => Ok(None),
            };
            match next {
                Ok(Some(frame)) => arrival = Arrival::Frame(frame),
                Ok(None) | Err(_) => break,
            }
        }
    }
    // The agent may be over.
    let _ = arrivals.send((connection, Arrival::Closed)).await;
}

async fn finished(task: &tokio::task::JoinHandle<()>) {
    while !task.is_finished() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn open(address: &str, certificate: Option<[u8; 32]>) -> Option<Box<dyn Wire>> {
    let stream = TcpStream::connect(address).await.ok()?;
    // Heartbeats measure the clock, and would wait for more to send.
    stream.set_nodelay(true).ok()?;
    let Some(sha256) = certificate else { return Some(Box::new(stream)) };
    let connector = TlsConnector::from(tls::client(sha256).ok()?);
    let name = ServerName::try_from(tls::NAME).ok()?;
    Some(Box::new(connector.connect(name, stream).await.ok()?))
}
