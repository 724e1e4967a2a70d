//! Calls that programs of this machine wait for. A program that has sent a request and received nothing since waits for its peer,
//! which the kernel knows ([`crate::sockets`]), so that the program needs no instrumentation.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use model::SystemClock;

use crate::listeners::open_sockets;
use crate::sockets::{Connection, connections};

/// Mean time between two readings.
const EVERY: Duration = Duration::from_millis(200);

/// Maximum time between two readings, unless a reading is costly.
const EVERY_MAX: Duration = Duration::from_secs(1);

/// After a reading at least this many times its length pass until the next one, so that readings take a hundredth of a core at most.
const REST_FACTOR: u32 = 100;

/// Maximum number of callees of one program.
const CALLEES_MAX: usize = 8;

/// The connections of one program to one address, mean numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calls {
    /// The address.
    pub callee: SocketAddr,
    /// Established connections.
    pub open: f64,
    /// Those of them that wait for an answer.
    pub unanswered: f64,
}

/// A program whose calls are counted.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// Identifies it from one reading to the next.
    pub(crate) port: u16,
    /// Ports on which it serves: connections to these are its clients'.
    pub(crate) serves: BTreeSet<u16>,
    pub(crate) processes: Vec<u32>,
}

/// A thread that counts the calls of programs, until this is dropped. The intervals between readings are exponentially distributed, so
/// that the mean is unbiased for periodic load, too (R. W. Wolff, "Poisson Arrivals See Time Averages", 1982).
#[derive(Debug)]
pub(crate) struct CallWatch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    is_over: AtomicBool,
    counts: Mutex<Counts>,
}

/// Sums of the readings since they were last taken.
#[derive(Debug, Default)]
struct Counts {
    callers: Vec<Caller>,
    readings: u64,
    /// By program and callee. A callee stays: between two calls it has no connections.
    sums: BTreeMap<u16, BTreeMap<SocketAddr, Sum>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    open: u64,
    unanswered: u64,
}

impl CallWatch {
    /// Starts it; `None` where the system has no thread for it.
    pub(crate) fn start() -> Option<CallWatch> {
        let shared = Arc::new(Shared::default());
        let own = shared.clone();
        let thread = std::thread::Builder::new().name("call-watch".into()).spawn(move || watch(&own)).ok()?;
        Some(CallWatch { shared, thread: Some(thread) })
    }

    /// Sets the programs.
    pub(crate) fn set(&self, callers: Vec<Caller>) {
        self.shared.counts().callers = callers;
    }

    /// Returns the mean calls since the last time, by the programs' ports. Empty if nothing was read.
    pub(crate) fn take(&self) -> BTreeMap<u16, Vec<Calls>> {
        self.shared.counts().take()
    }
}

impl Drop for CallWatch {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It cannot panic: it reads the kernel's tables and sleeps.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn watch(shared: &Shared) {
    let mut due = SystemClock::now() + pause();
    while !shared.is_over.load(Ordering::Relaxed) {
        let now = SystemClock::now();
        if now < due {
            // An unpark or a whim of the system wakes it early: then it goes on waiting.
            std::thread::park_timeout(due.since(now));
            continue;
        }
        let callers = shared.counts().callers.clone();
        if !callers.is_empty() {
            let own = callers.iter().map(|it| it.processes.iter().flat_map(|id| open_sockets(*id)).collect());
            let sockets: Vec<BTreeSet<u64>> = own.collect();
            if let Some(connections) = connections() {
                shared.counts().add(&connections, callers.iter().zip(&sockets));
            }
        }
        due = now + pause().max(SystemClock::now().since(now) * REST_FACTOR);
    }
}

/// A random time until the next reading.
fn pause() -> Duration {
    EVERY.mul_f64(-(1.0 - fastrand::f64()).ln()).min(EVERY_MAX)
}

impl Counts {
    fn add<'a>(
        &mut self,
        connections: &[Connection],
        callers: impl Iterator<Item = (&'a Caller, &'a BTreeSet<u64>)>,
    ) {
        self.readings += 1;
        for (caller, sockets) in callers {
            let sums = self.sums.entry(caller.port).or_default();
            let is_call = |it: &&Connection| sockets.contains(&it.inode) && !caller.serves.contains(&it.port);
            for call in connections.iter().filter(is_call) {
                if sums.len() < CALLEES_MAX || sums.contains_key(&call.remote) {
                    let sum = sums.entry(call.remote).or_default();
                    sum.open += 1;
                    sum.unanswered += u64::from(call.is_unanswered);
                }
            }
        }
    }

    fn take(&mut self) -> BTreeMap<u16, Vec<Calls>> {
        let readings = std::mem::take(&mut self.readings) as f64;
        if readings == 0.0 {
            return BTreeMap::new();
        }
        let taken = |(callee, sum): (&SocketAddr, &mut Sum)| {
            let Sum { open, unanswered } = std::mem::take(sum);
            Calls { callee: *callee, open: open as f64 / readings, unanswered: unanswered as f64 / readings }
        };
        self.sums.iter_mut().map(|(port, sums)| (*port, sums.iter_mut().map(taken).collect())).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn calls_are_counted_by_program_and_callee() {
        let address = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        let connection =
            |inode, port, to, is_unanswered| Connection { inode, port, remote: address(to), is_unanswered };
        let caller = |port| Caller { port, serves: BTreeSet::from([port]), processes: Vec::new() };
        let callers = [caller(8000), caller(5432)];
        let sockets = [BTreeSet::from([1, 2, 3, 4]), BTreeSet::from([5])];
        let calls = |to, open, unanswered| Calls { callee: address(to), open, unanswered };
        let connections = [
            connection(1, 8000, 50_000, true),
            connection(2, 50_001, 5432, true),
            connection(3, 50_002, 5432, false),
            connection(4, 50_003, 9000, true),
            connection(5, 5432, 50_001, false),
            connection(6, 50_004, 9000, true),
        ];
        let mut counts = Counts::default();
        assert!(counts.take().is_empty());
        counts.add(&connections, callers.iter().zip(&sockets));
        counts.add(&connections[..3], callers.iter().zip(&sockets));
        let found = counts.take();
        assert_eq!(found[&8000], [calls(5432, 2.0, 1.0), calls(9000, 0.5, 0.5)]);
        assert_eq!(found[&5432], [], "its connections are its clients'");
        counts.add(&[], callers.iter().zip(&sockets));
        assert_eq!(counts.take()[&8000], [calls(5432, 0.0, 0.0), calls(9000, 0.0, 0.0)]);
        let many: Vec<Connection> = (0..50).map(|to| connection(1, 50_000, to, true)).collect();
        counts.add(&many, callers.iter().zip(&sockets));
        assert_eq!(counts.take()[&8000].len(), CALLEES_MAX);
    }

    /// This process calls itself and waits for a second.
    #[test]
    fn a_call_without_an_answer_is_seen() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let callee = listener.local_addr().expect("it is bound");
        let mut client = TcpStream::connect(callee).expect("connected");
        let (mut server, _) = listener.accept().expect("a connection");
        let watch = CallWatch::start().expect("there are threads");
        watch.set(vec![Caller {
            port: 1,
            serves: BTreeSet::from([callee.port()]),
            processes: vec![std::process::id()],
        }]);
        client.write_all(b"question").expect("it is sent");
        server.read_exact(&mut [0; 8]).expect("it arrives");
        let unanswered = || {
            std::thread::sleep(Duration::from_secs(1));
            let taken = watch.take();
            taken.get(&1)?.iter().find(|calls| calls.callee == callee).map(|calls| calls.unanswered)
        };
        assert!((0..10).filter_map(|_| unanswered()).any(|waiting| waiting == 1.0));
        server.write_all(b"answered").expect("it is sent");
        assert!((0..10).filter_map(|_| unanswered()).any(|waiting| waiting == 0.0));
    }
}
