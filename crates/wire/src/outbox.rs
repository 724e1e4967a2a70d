//! Short requests of a thread, which are sent together.
//!
//! A send on the machine of its receiver wakes it, and waking costs the sender as much as the send. Requests that are ready at about the
//! same time are therefore kept for a short while and sent one after the other: a receiver that is awake is not woken
//! again, and the kernel's code is still in the cache. None is kept beyond the round in which the thread runs the tasks that are
//! ready, so that a thread that has nothing else to do sends at once.

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::RawFd;
use std::rc::Rc;
use std::task::Waker;
use std::time::Duration;

use model::{Instant, SystemClock};
use nix::sys::socket::{MsgFlags, send};

use crate::buffers::put_buffer;

/// Requests that are sent together. A server that handles one at a time has so many before it at most: with more, the response
/// times of a generator that uses its core whole would show bursts of its own making.
const TOGETHER_MAX: usize = 8;

/// A request that was kept for so long is sent with the next that is posted, or at the end of the round if that comes first.
const HELD_MAX: Duration = Duration::from_micros(100);

thread_local! {
    static OUTBOX: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

/// The bytes of one connection that wait.
struct Kept {
    connection: Rc<Outgoing>,
    bytes: Vec<u8>,
    since: Instant,
}

/// A connection's place in the outbox of its thread.
pub(crate) struct Outgoing {
    socket: RawFd,
    /// Woken where not everything could be sent.
    waker: Waker,
    is_waiting: Cell<bool>,
    sent: Cell<Option<Sent>>,
}

/// The result of a send from the outbox.
pub(crate) struct Sent {
    /// When it began and when it ended.
    pub(crate) times: Times,
    /// The bytes that were sent.
    pub(crate) count: io::Result<usize>,
    /// All bytes, unless they were sent.
    pub(crate) rest: Vec<u8>,
}

/// When a send began and when it ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) from: Instant,
    pub(crate) until: Instant,
}

impl Outgoing {
    /// The place of a socket.
    pub(crate) fn new(socket: RawFd, waker: Waker) -> Rc<Outgoing> {
        Rc::new(Outgoing { socket, waker, is_waiting: Cell::new(false), sent: Cell::default() })
    }

    /// Keeps `bytes` until others are ready too, on a thread where the outbox [is open](is_open).
    pub(crate) fn post(self: &Rc<Outgoing>, bytes: Vec<u8>, now: Instant) {
        vu::turns::at_end_of_round(send_all);
        self.is_waiting.set(true);
        let is_due = OUTBOX.with_borrow_mut(|outbox| {
            outbox.push(Kept { connection: self.clone(), bytes, since: now });
            outbox.len() >= TOGETHER_MAX || now.since(outbox[0].since) >= HELD_MAX
        });
        if is_due {
            send_all();
        }
    }

    /// Whether bytes are kept.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_waiting.get()
    }

    /// Takes the result of the last send.
    pub(crate) fn take_sent(&self) -> Option<Sent> {
        self.sent.take()
    }

    /// Drops what is kept.
    pub(crate) fn withdraw(&self) {
        if self.is_waiting.replace(false) {
            OUTBOX.with_borrow_mut(|outbox| outbox.retain(|kept| !std::ptr::eq(&*kept.connection, self)));
        }
    }

    /// Sends `bytes` and returns when that ended.
    fn send(&self, bytes: Vec<u8>, from: Instant) -> Instant {
        let count = send(self.socket, &bytes, MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT);
        let until = SystemClock::now();
        let times = Times { from, until };
        let rest = if count == Ok(bytes.len()) {
            put_buffer(bytes);
            Vec::new()
        } else {
            self.waker.wake_by_ref();
            bytes
        };
        self.is_waiting.set(false);
        self.sent.set(Some(Sent { times, count: count.map_err(io::Error::from), rest }));
        until
    }
}

/// Whether this thread sends requests together.
pub(crate) fn is_open() -> bool {
    vu::turns::has_rounds()
}

/// Sends everything that is kept.
pub(crate) fn send_all() {
    let mut outbox = OUTBOX.take();
    if outbox.is_empty() {
        return;
    }
    let mut now = SystemClock::now();
    for kept in outbox.drain(..) {
        now = kept.connection.send(kept.bytes, now);
    }
    // Nothing can have been posted meanwhile: a waker only marks its task as ready.
    OUTBOX.set(outbox);
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};
    use std::task::{Context, Poll};

    use tokio::task::yield_now;

    use super::*;
    use crate::connection::{Connection, Counted, Stream};
    use crate::target::Target;
    use crate::testing::{client, get, local, local_without_rounds, ok, outcome, pause_ms, serve};
    use crate::{Kind, Stage};

    /// A connection, and the server's end of it, which does not wait for bytes.
    async fn pair() -> (Connection, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let tcp = tokio::net::TcpStream::connect(address).await.unwrap();
        let (server, _) = listener.accept().unwrap();
        server.set_nonblocking(true).unwrap();
        let target = Target::parse(&format!("http://{address}/")).unwrap();
        let stream = Stream::Plain(Counted::new(tcp, Rc::default()));
        (Connection::new(stream, target, address, None), server)
    }

    /// The bytes that have come.
    fn arrived(mut server: &TcpStream) -> usize {
        let (mut buffer, mut count) = ([0; 1 << 16], 0);
        while let Ok(read @ 1..) = server.read(&mut buffer) {
            count += read;
        }
        count
    }

    fn post(connection: &mut Connection, bytes: usize) {
        assert!(connection.post(&mut vec![b'x'; bytes], SystemClock::now()));
    }

    #[test]
    fn requests_of_a_round_are_sent_at_its_end() {
        local(async {
            let mut pairs = [pair().await, pair().await];
            let before = SystemClock::now();
            pairs.iter_mut().for_each(|(connection, _)| post(connection, 10));
            let in_time = SystemClock::now().since(before) < HELD_MAX;
            let counts = pairs.each_ref().map(|(_, server)| arrived(server));
            assert!(counts == [0, 0] || !in_time, "{counts:?}");
            yield_now().await;
            let context = Context::from_waker(Waker::noop());
            let mut last = before;
            for (connection, server) in &mut pairs {
                let Poll::Ready(Ok(Some(times))) = connection.poll_posted(&context) else {
                    panic!("it is not sent")
                };
                assert!(last <= times.from && times.from <= times.until);
                last = times.until;
                assert_eq!(
                    (connection.is_waiting(), if in_time { arrived(server) } else { 10 }),
                    (false, 10)
                );
            }
        });
    }

    #[test]
    fn a_full_outbox_is_sent_at_once() {
        local(async {
            let mut pairs = Vec::new();
            for _ in 0..TOGETHER_MAX {
                pairs.push(pair().await);
            }
            pairs.iter_mut().for_each(|(connection, _)| post(connection, 10));
            assert!(pairs.iter().all(|(connection, _)| !connection.is_waiting()));
            assert!(pairs.iter().all(|(_, server)| arrived(server) == 10));
        });
    }

    #[test]
    fn a_connection_that_is_dropped_sends_nothing() {
        local(async {
            let (mut connection, server) = pair().await;
            post(&mut connection, 10);
            drop(connection);
            yield_now().await;
            assert_eq!(arrived(&server), 0);
        });
    }

    #[test]
    fn a_socket_that_takes_only_a_part_gets_the_rest_later() {
        local(async {
            let (mut connection, server) = pair().await;
            let bytes = 64 << 20;
            post(&mut connection, bytes);
            let mut count = 0;
            let times = std::future::poll_fn(|cx| {
                count += arrived(&server);
                connection.poll_posted(cx)
            });
            let times = times.await.unwrap().expect("the times of the send");
            while count < bytes {
                count += arrived(&server);
                yield_now().await;
            }
            assert_eq!(count, bytes);
            assert!(times.from < times.until);
        });
    }

    #[test]
    fn a_failed_send_is_the_connections() {
        local(async {
            let (mut connection, server) = pair().await;
            socket2::SockRef::from(&server).set_linger(Some(Duration::ZERO)).unwrap();
            drop(server);
            // Until the end of the connection is there.
            std::thread::sleep(Duration::from_millis(20));
            post(&mut connection, 10);
            let sent = std::future::poll_fn(|cx| connection.poll_posted(cx)).await;
            assert_eq!(sent.map(|_| ()).unwrap_err().kind(), io::ErrorKind::ConnectionReset);
        });
    }

    #[test]
    fn a_silent_server_is_waited_for_and_not_blocked() {
        local(async {
            let (address, _) =
                serve(|number| if number == 0 { vec![ok()] } else { vec![pause_ms(900)] }).await;
            let client = client(|_, _| {});
            assert_eq!(outcome(&get(&client, &format!("http://{address}/")).await), "200 ok");
            let mut late = crate::testing::request("GET", &format!("http://{address}/"));
            late.deadline = SystemClock::now() + Duration::from_millis(200);
            let exchange = client.exchange(&late).await;
            let error = exchange.result.unwrap_err();
            assert_eq!((error.kind, error.stage), (Kind::TimedOut, Stage::Wait));
            let phases = exchange.phases;
            assert!(phases.waiting_ns > 150_000_000 && phases.blocked_ns < 50_000_000, "{phases:?}");
        });
    }

    #[test]
    fn threads_without_rounds_have_no_outbox() {
        local_without_rounds(async {
            let (mut connection, _server) = pair().await;
            assert!(!connection.post(&mut vec![b'x'], SystemClock::now()));
            let (address, _) = serve(|_| vec![ok()]).await;
            let exchange = get(&client(|_, _| {}), &format!("http://{address}/")).await;
            assert_eq!(outcome(&exchange), "200 ok");
        });
    }
}
