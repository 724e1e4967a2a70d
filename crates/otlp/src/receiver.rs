//! The receiver: its doors and what is behind them, on a thread of its own.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use listen::Intake;
use model::{Epoch, Instant, OperationLoad, Span, SystemClock, Trace};
use tokio::sync::oneshot;

use crate::counts::Counts;
use crate::decode::{Decoded, Decoder, Malformed};
use crate::keep::{Keeper, Pace};
use crate::listeners;
use crate::red::Red;

/// Default addresses of exporters: gRPC and HTTP (OTLP specification 1.x, default ports).
pub const ADDRESSES_DEFAULT: [SocketAddr; 2] = [
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 4317),
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 4318),
];

/// How often traces that became quiet are looked for.
const SWEPT_EACH: Duration = Duration::from_millis(250);

/// Settings of a receiver.
#[derive(Clone)]
pub struct Settings {
    /// Where it listens; each address understands gRPC and HTTP. Port 0 takes a free one.
    pub addresses: Vec<SocketAddr>,
    /// Token that senders must present, as `authorization: Bearer …`. Required on addresses that other machines can reach.
    pub token: Option<String>,
    /// How traces are gathered and kept.
    pub pace: Pace,
}

/// Why a receiver cannot start. Messages read after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Others than this machine could send whatever they like.
    #[error("receive traces at {0}: an address beyond this machine needs a token")]
    Open(SocketAddr),
    /// The address is in use, or listening is not permitted.
    #[error("receive traces at {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
    /// The system has no thread left.
    #[error("receive traces: {0}")]
    Thread(std::io::Error),
}

/// Received data to store.
#[derive(Debug, Default)]
pub struct Taken {
    /// Traces that were kept, and late spans of those that were kept before.
    pub traces: Vec<Trace>,
    /// How often operations ran, of all spans.
    pub operations: Vec<OperationLoad>,
}

/// A receiver that listens.
pub struct Receiver {
    addresses: Vec<SocketAddr>,
    state: Arc<ReceiverState>,
    /// Closes the listeners when it is dropped.
    over: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// The state behind the listeners.
pub(crate) struct ReceiverState {
    pub(crate) token: Option<String>,
    pub(crate) intake: Arc<Intake>,
    decoder: Mutex<Decoder>,
    shelves: Mutex<Shelves>,
}

struct Shelves {
    keeper: Keeper,
    red: Red,
    counts: Counts,
    last_received: Option<Instant>,
}

impl Receiver {
    /// Starts to listen.
    ///
    /// # Errors
    /// An address is taken, is open to others without a token, or the system has no thread left.
    pub fn start(settings: &Settings, epoch: Epoch) -> Result<Receiver, StartError> {
        let is_open = |address: &&SocketAddr| !address.ip().is_loopback() && settings.token.is_none();
        if let Some(address) = settings.addresses.iter().find(is_open) {
            return Err(StartError::Open(*address));
        }
        let listeners = settings.addresses.iter().map(|address| listen(*address));
        let listeners = listeners.collect::<Result<Vec<_>, _>>()?;
        let addresses = listeners.iter().map(|(address, _)| *address).collect();
        let listeners = listeners.into_iter().map(|(_, listener)| listener).collect();
        let state = Arc::new(ReceiverState::new(settings, epoch));
        let (over, is_over) = oneshot::channel();
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().map_err(StartError::Thread)?;
        let behind = state.clone();
        let serve = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = listeners::serve(listeners, behind.clone()) => {}
                    () = sweep(&behind) => {}
                    _ = is_over => {}
                }
            });
        };
        let thread =
            std::thread::Builder::new().name("otlp".into()).spawn(serve).map_err(StartError::Thread)?;
        Ok(Receiver { addresses, state, over, thread })
    }

    /// Where it listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Takes spans that the run itself makes, as if they had come through a door.
    pub fn add(&self, spans: Vec<(u128, Span)>) {
        if !spans.is_empty() {
            let mut shelves = self.state.shelves();
            shelves.counts.spans_own += spans.len() as u64;
            shelves.add(SystemClock::now(), spans);
        }
    }

    /// Takes the data kept since the last call.
    pub fn take(&self) -> Taken {
        self.state.take(SystemClock::now())
    }

    /// Counters since the receiver began.
    pub fn counts(&self) -> Counts {
        self.state.counts()
    }

    /// When spans came last.
    pub fn last_received(&self) -> Option<Instant> {
        self.state.shelves().last_received
    }

    /// Closes the listeners, decides upon what is still open, and gives what is left.
    pub fn finish(self) -> (Taken, Counts) {
        drop(self.over);
        // A panic there is a bug whose message was printed; what was received before it is not lost.
        let _ = self.thread.join();
        self.state.finish(SystemClock::now())
    }
}

impl ReceiverState {
    pub(crate) fn new(settings: &Settings, epoch: Epoch) -> ReceiverState {
        let shelves = Shelves {
            keeper: Keeper::new(settings.pace),
            red: Red::default(),
            counts: Counts::default(),
            last_received: None,
        };
        ReceiverState {
            token: settings.token.clone(),
            intake: Intake::new(listeners::LIMITS),
            decoder: Mutex::new(Decoder::new(epoch)),
            shelves: Mutex::new(shelves),
        }
    }

    /// Takes what can be read of a request, and gives back how many spans were refused.
    pub(crate) fn receive(
        &self,
        read: impl FnOnce(&mut Decoder) -> Result<Decoded, Malformed>,
    ) -> Result<u64, Malformed> {
        let decoded = read(&mut self.decoder.lock().unwrap_or_else(PoisonError::into_inner))?;
        Ok(self.shelves().put(SystemClock::now(), decoded))
    }

    /// Notes a request that was refused.
    pub(crate) fn refused(&self) {
        self.shelves().counts.requests_refused += 1;
    }

    /// Notes a request that was slow, or that gave its memory to others.
    pub(crate) fn slow(&self) {
        self.shelves().counts.requests_slow += 1;
    }

    /// Notes a request with what is not kept.
    pub(crate) fn ignored(&self) {
        self.shelves().counts.requests_ignored += 1;
    }

    fn take(&self, now: Instant) -> Taken {
        let mut shelves = self.shelves();
        Taken { traces: shelves.keeper.take(), operations: shelves.red.take(now) }
    }

    pub(crate) fn counts(&self) -> Counts {
        self.with_connections(self.shelves().counts())
    }

    fn with_connections(&self, counts: Counts) -> Counts {
        let closed = self.intake.closed();
        Counts {
            connections_silent: closed.silent,
            connections_unread: closed.unread,
            connections_gave_way: closed.gave_way,
            ..counts
        }
    }

    fn finish(&self, now: Instant) -> (Taken, Counts) {
        let mut shelves = self.shelves();
        shelves.keeper.finish(now);
        let taken = Taken { traces: shelves.keeper.take(), operations: shelves.red.finish() };
        (taken, self.with_connections(shelves.counts()))
    }

    fn shelves(&self) -> MutexGuard<'_, Shelves> {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelves {
    fn put(&mut self, now: Instant, decoded: Decoded) -> u64 {
        let counts = &mut self.counts;
        counts.requests += 1;
        counts.spans_without_id += decoded.without_id;
        counts.spans_too_large += decoded.too_large;
        counts.texts_cut += decoded.cut;
        if !decoded.spans.is_empty() {
            self.last_received = Some(now);
        }
        self.counts.spans_received += decoded.spans.len() as u64;
        self.add(now, decoded.spans);
        decoded.without_id + decoded.too_large
    }

    fn add(&mut self, now: Instant, spans: Vec<(u128, Span)>) {
        for (id, span) in spans {
            self.red.add(now, &span);
            self.keeper.add(now, id, span);
        }
    }

    fn counts(&self) -> Counts {
        let of_traces = self.keeper.counts();
        Counts {
            traces_kept: of_traces.traces_kept,
            spans_kept: of_traces.spans_kept,
            traces_passed_over: of_traces.traces_passed_over,
            traces_without_room: of_traces.traces_without_room,
            traces_hurried: of_traces.traces_hurried,
            spans_beyond_trace: of_traces.spans_beyond_trace,
            spans_late_without_room: of_traces.spans_late_without_room,
            spans_out_of_time: self.red.out_of_time,
            spans_of_other_operations: self.red.of_others,
            ..self.counts
        }
    }
}

fn listen(address: SocketAddr) -> Result<(SocketAddr, std::net::TcpListener), StartError> {
    let listen = || {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok((listener.local_addr()?, listener))
    };
    listen().map_err(|source| StartError::Listen { address, source })
}

async fn sweep(state: &ReceiverState) {
    let mut ticks = tokio::time::interval(SWEPT_EACH);
    loop {
        ticks.tick().await;
        state.shelves().keeper.sweep(SystemClock::now());
    }
}
