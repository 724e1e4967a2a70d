//! The hub's sockets: a thread that owns them, the clock and the [`Hub`].

use std::collections::HashMap;
use std::net::TcpListener;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use model::SystemClock;
use tokio::net::TcpStream;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio_rustls::TlsAcceptor;

use crate::codec;
use crate::hub::Connection;
use crate::message::Body;
use crate::stream::{FrameReader, WRITES_MAX, Wire, write};
use crate::tls::HubCertificate;
use crate::{Hub, HubEvent, HubInput, HubOutput, HubSettings};

/// Time for a connection to become encrypted and to say hello.
const GREETING_MAX: Duration = Duration::from_secs(5);

/// Connections that have not said hello yet.
const STRANGERS_MAX: usize = 256;

/// Frames that wait for the hub.
const INPUTS_MAX: usize = 1024;

/// Time for the last frames of all connections to be written.
const FAREWELL_MAX: Duration = Duration::from_millis(300);

/// The thread of a hub.
pub(crate) struct Service {
    inputs: UnboundedSender<HubInput>,
    thread: JoinHandle<()>,
}

impl Service {
    /// Starts the hub; its events go to `events`.
    ///
    /// # Errors
    /// The system refuses a thread or a socket.
    pub(crate) fn start(
        settings: HubSettings,
        listener: TcpListener,
        certificate: Option<HubCertificate>,
        events: Sender<HubEvent>,
    ) -> std::io::Result<Service> {
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (inputs, orders) = mpsc::unbounded_channel();
        let body = move || {
            let hub = Hub::new(SystemClock::now(), settings);
            runtime.block_on(serve(hub, listener, certificate, orders, events));
        };
        let thread = std::thread::Builder::new().name("fleet".into()).spawn(body)?;
        Ok(Service { inputs, thread })
    }

    /// Passes an input to the hub.
    pub(crate) fn input(&self, input: HubInput) {
        // The hub is gone once the run is over: nothing is left to change.
        let _ = self.inputs.send(input);
    }

    /// A handle that passes inputs from other threads.
    pub(crate) fn handle(&self) -> UnboundedSender<HubInput> {
        self.inputs.clone()
    }

    /// Waits for the end of the thread.
    pub(crate) fn join(self) {
        drop(self.inputs);
        if let Err(panic) = self.thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

/// From a connection's tasks.
enum Arrival {
    /// It has said hello: its frames go here.
    Opened(Connection, mpsc::Sender<Bytes>),
    Input(HubInput),
}

async fn serve(
    mut hub: Hub,
    listener: TcpListener,
    certificate: Option<HubCertificate>,
    mut orders: mpsc::UnboundedReceiver<HubInput>,
    events: Sender<HubEvent>,
) {
    let (arrivals, mut inbox) = mpsc::channel(INPUTS_MAX);
    let accepting = tokio::spawn(accept(listener, certificate, arrivals));
    let mut writers: HashMap<Connection, mpsc::Sender<Bytes>> = HashMap::new();
    let mut has_orders = true;
    while !hub.is_over() {
        let wait = hub.deadline().since(SystemClock::now());
        let input = tokio::select! {
            arrival = inbox.recv() => match arrival {
                Some(Arrival::Opened(connection, writer)) => {
                    writers.insert(connection, writer);
                    continue;
                }
                Some(Arrival::Input(input)) => Some(input),
                None => None,
            },
            order = orders.recv(), if has_orders => {
                has_orders = order.is_some();
                order
            }
            () = tokio::time::sleep(wait) => None,
        };
        if let Some(HubInput::Closed(connection)) = &input {
            writers.remove(connection);
        }
        for output in hub.step(SystemClock::now(), input) {
            match output {
                HubOutput::Send(connection, frame) => {
                    let Some(writer) = writers.get(&connection) else { continue };
                    let sent = codec::encode(&frame).ok().map(|bytes| writer.try_send(bytes));
                    if !matches!(sent, Some(Ok(()))) {
                        // A peer that does not read is cut off; it may connect again.
                        writers.remove(&connection);
                    }
                }
                HubOutput::Close(connection) => drop(writers.remove(&connection)),
                // A run whose listener is gone is over.
                HubOutput::Event(event) => drop(events.send(event)),
            }
        }
    }
    accepting.abort();
    drop(writers);
    tokio::time::sleep(FAREWELL_MAX).await;
}

async fn accept(listener: TcpListener, certificate: Option<HubCertificate>, arrivals: mpsc::Sender<Arrival>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let acceptor = certificate.map(|certificate| certificate.acceptor());
    let strangers = std::sync::Arc::new(tokio::sync::Semaphore::new(STRANGERS_MAX));
    for connection in 0.. {
        let Ok(place) = strangers.clone().acquire_owned().await else { return };
        let stream = loop {
            match listener.accept().await {
                Ok((stream, _)) => break stream,
                // Out of descriptors, for example: connections end, and then there are some.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        };
        let (acceptor, arrivals) = (acceptor.clone(), arrivals.clone());
        tokio::spawn(async move {
            let greeted = tokio::time::timeout(GREETING_MAX, greet(stream, acceptor)).await;
            let Ok(Some((reader, to, hello))) = greeted else { return };
            drop(place);
            let (writer, frames) = mpsc::channel(WRITES_MAX);
            tokio::spawn(write(to, frames));
            read(connection, reader, hello, writer, arrivals).await;
        });
    }
}

type Greeted = (FrameReader, tokio::io::WriteHalf<Box<dyn Wire>>, crate::message::Frame);

/// Encrypts a connection and reads its first frame; `None` where it is no hello.
async fn greet(stream: TcpStream, acceptor: Option<TlsAcceptor>) -> Option<Greeted> {
    // Heartbeats measure the clock, and would wait for more to send.
    stream.set_nodelay(true).ok()?;
    let stream: Box<dyn Wire> = match acceptor {
        Some(acceptor) => Box::new(acceptor.accept(stream).await.ok()?),
        None => Box::new(stream),
    };
    let (from, to) = tokio::io::split(stream);
    let mut reader = FrameReader::new(from);
    let hello = reader.next().await.ok()??;
    matches!(hello.body, Some(Body::Hello(_))).then_some((reader, to, hello))
}

async fn read(
    connection: Connection,
    mut reader: FrameReader,
    hello: crate::message::Frame,
    writer: mpsc::Sender<Bytes>,
    arrivals: mpsc::Sender<Arrival>,
) {
    if arrivals.send(Arrival::Opened(connection, writer)).await.is_err() {
        return;
    }
    let mut frame = hello;
    while arrivals.send(Arrival::Input(HubInput::Frame(connection, frame))).await.is_ok() {
        match reader.next().await {
            Ok(Some(next)) => frame = next,
            Ok(None) | Err(_) => break,
        }
    }
    // The hub may be over.
    let _ = arrivals.send(Arrival::Input(HubInput::Closed(connection))).await;
}
