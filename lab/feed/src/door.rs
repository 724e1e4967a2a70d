//! Where connections come in: a queue that the kernel keeps, and how fast it is emptied.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::serve::Listener;
use tokio::net::TcpStream;

use crate::metrics;
use crate::state::Feed;

/// Connections that wait until they are taken; the kernel drops the requests for further ones, and who sent them tries again
/// after a second, and after three (RFC 6298, 2).
const QUEUE_MAX: u32 = 4096;

/// The same while the queue overflows (one more than its length fits into it, and with a length of zero some kernels take
/// none), and how long the backend then takes until it takes the next.
const SHORT_QUEUE_MAX: u32 = 1;
const SLOW_ACCEPT: Duration = Duration::from_millis(250);

/// The worker's time for a new connection of a known client, and of a new one.
const HANDSHAKE: Duration = Duration::from_micros(100);
const FULL_HANDSHAKE: Duration = Duration::from_millis(3);

/// A listener that cannot listen is asked again after so long.
const ACCEPT_RETRY: Duration = Duration::from_millis(20);

/// Of the kernel's table of sockets no more is read: those that listen come first.
const TABLE_BYTES_MAX: u64 = 64 << 10;

/// The listening socket, and what is known of its queue.
#[derive(Debug)]
pub(crate) struct Door {
    socket: TcpListener,
    port: u16,
    is_slow: AtomicBool,
}

impl Door {
    /// Opens it on a loopback port.
    ///
    /// # Errors
    /// The port cannot be listened on.
    pub(crate) fn open(port: u16) -> io::Result<Door> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        socket.set_nonblocking(true)?;
        let port = socket.local_addr()?.port();
        rustix::net::listen(&socket, i32::try_from(QUEUE_MAX).unwrap_or(i32::MAX))?;
        Ok(Door { socket, port, is_slow: AtomicBool::new(false) })
    }

    /// From now on the queue is short, and emptied slowly. Listening again changes its length (listen(2), Linux).
    ///
    /// # Errors
    /// The kernel refuses.
    pub(crate) fn set_slow(&self, is_slow: bool) -> io::Result<()> {
        self.is_slow.store(is_slow, Ordering::Relaxed);
        let most = if is_slow { SHORT_QUEUE_MAX } else { QUEUE_MAX };
        Ok(rustix::net::listen(&self.socket, i32::try_from(most).unwrap_or(i32::MAX))?)
    }

    /// Whether the kernel drops requests for connections now: one more waits than the queue's length.
    pub(crate) fn is_full(&self) -> bool {
        let most = if self.is_slow.load(Ordering::Relaxed) { SHORT_QUEUE_MAX } else { QUEUE_MAX };
        waiting(&table(), self.port).is_some_and(|waiting| waiting > most)
    }

    /// As axum takes connections from it.
    ///
    /// # Errors
    /// The socket cannot be shared.
    pub(crate) fn listener(feed: Arc<Feed>) -> io::Result<DoorListener> {
        let listener = tokio::net::TcpListener::from_std(feed.door.socket.try_clone()?)?;
        Ok(DoorListener { listener, feed })
    }
}

/// Takes connections and counts them.
pub(crate) struct DoorListener {
    listener: tokio::net::TcpListener,
    feed: Arc<Feed>,
}

impl Listener for DoorListener {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            if self.feed.door.is_slow.load(Ordering::Relaxed) {
                tokio::time::sleep(SLOW_ACCEPT).await;
            }
            let Ok((stream, address)) = self.listener.accept().await else {
                tokio::time::sleep(ACCEPT_RETRY).await;
                continue;
            };
            // An answer must not wait for the acknowledgement of the one before.
            let _ = stream.set_nodelay(true);
            self.feed.metrics.add(metrics::CONNECTIONS, "", 1.0);
            let is_new = self.feed.is_churning.load(Ordering::Relaxed);
            self.feed.worker.owe(if is_new { FULL_HANDSHAKE } else { HANDSHAKE });
            return (stream, address);
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// The beginning of the kernel's table of sockets; empty where it shows none.
fn table() -> String {
    let mut text = Vec::new();
    if let Ok(file) = std::fs::File::open("/proc/net/tcp") {
        let _ = io::Read::read_to_end(&mut io::Read::take(file, TABLE_BYTES_MAX), &mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Connections that wait at a listening port (proc(5): of a socket that listens, `rx_queue` is the length of its queue).
fn waiting(table: &str, port: u16) -> Option<u32> {
    const LISTENS: &str = "0A";
    let local = format!("0100007F:{port:04X}");
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut own = rows.filter(|row| row.get(1) == Some(&local.as_str()) && row.get(3) == Some(&LISTENS));
    let (_, received) = own.next()?.get(4)?.split_once(':')?;
    u32::from_str_radix(received, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_of_a_port_is_read_from_the_table() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt\n\
                     \x20  0: 0100007F:1F90 00000000:0000 01 00000000:00000007 00:00000000 00000000\n\
                     \x20  1: 0100007F:1F90 00000000:0000 0A 00000000:00000012 00:00000000 00000000\n\
                     \x20  2: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000\n   3: 010";
        let check = |port: u16, expect: Option<u32>| assert_eq!(waiting(table, port), expect, "{port}");
        check(8080, Some(18));
        check(8081, Some(0));
        check(8082, None);
    }

    #[test]
    fn a_short_queue_is_full_with_two_that_wait() {
        let door = Door::open(0).expect("a door");
        let knock = || std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, door.port)).expect("it is queued");
        let _first = knock();
        assert!(!door.is_full(), "the queue is long");
        door.set_slow(true).expect("the kernel does it");
        assert!(!door.is_full(), "the queue takes one");
        let _second = knock();
        assert!(door.is_full(), "none of them is accepted");
        door.set_slow(false).expect("the kernel does it");
        let _third = knock();
        assert!(!door.is_full(), "the queue is long again");
    }
}
