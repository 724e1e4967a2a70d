//! When bytes arrived, by the kernel's clock.
//!
//! A thread that computes looks at its sockets late. The kernel notes the arrival of each segment for sockets that ask for
//! it (`SO_TIMESTAMPNS`; see socket(7)), and gives the time of the last segment of a read. A socket asks from the first
//! request on that is sent by a thread that was busy, and reads that way only while that lasts, so that others pay nothing.

use std::io::{self, IoSliceMut};
use std::os::fd::AsRawFd;
use std::time::Duration;

use model::{Instant, SystemClock};
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt::ReceiveTimestampns,
};
use nix::time::{ClockId, clock_gettime};
use tokio::net::TcpStream;

/// So long after a long round a socket that is new to it asks for times: a VU that computes often does so again.
const ASKED_AFTER: Duration = Duration::from_secs(1);

/// So long after a long round what is read may have arrived in it: other tasks may have had their turn first.
const READ_AFTER: Duration = Duration::from_millis(10);

/// Whether a socket that sends a request now should ask for times.
pub(crate) fn is_worth_asking(now: Instant) -> bool {
    let busy_until = vu::busy::busy_until();
    busy_until > Instant::ZERO && now.since(busy_until) < ASKED_AFTER
}

/// Whether what is read in this round may have arrived while the thread was away.
pub(crate) fn is_worth_reading() -> bool {
    let busy_until = vu::busy::busy_until();
    busy_until > Instant::ZERO && vu::busy::round_began().since(busy_until) < READ_AFTER
}

/// Has the kernel note when bytes arrive.
pub(crate) fn ask(tcp: &TcpStream) {
    // Without it the time of the read serves, as on a system that cannot do this.
    let _ = setsockopt(tcp, ReceiveTimestampns, &true);
}

/// Reads as `recv` does; with the time of arrival of the last byte, where the kernel gave one.
pub(crate) fn receive(tcp: &TcpStream, buffer: &mut [u8]) -> io::Result<(usize, Option<Instant>)> {
    let mut control = nix::cmsg_space!(nix::sys::time::TimeSpec);
    let mut parts = [IoSliceMut::new(buffer)];
    let message =
        recvmsg::<SockaddrStorage>(tcp.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::empty())?;
    let arrived_ns = message.cmsgs().ok().into_iter().flatten().find_map(|part| match part {
        ControlMessageOwned::ScmTimestampns(time) => nanoseconds(time.tv_sec(), time.tv_nsec()),
        _ => None,
    });
    Ok((message.bytes, arrived_ns.and_then(monotonic)))
}

/// The kernel's times are those of the wall clock: its distance from ours is that of this moment. A step of the wall clock
/// since the arrival makes the time wrong, and the reader's bounds (not before the request, not after now) limit by how much.
fn monotonic(arrived_ns: u64) -> Option<Instant> {
    let wall = clock_gettime(ClockId::CLOCK_REALTIME).ok()?;
    let now = SystemClock::now();
    let age_ns = nanoseconds(wall.tv_sec(), wall.tv_nsec())?.checked_sub(arrived_ns)?;
    now.as_ns().checked_sub(age_ns).map(Instant::from_ns)
}

fn nanoseconds(seconds: i64, ns: i64) -> Option<u64> {
    u64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?.checked_add(u64::try_from(ns).ok()?)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use tokio::io::Interest;

    use super::*;

    #[tokio::test]
    async fn the_kernel_notes_arrivals() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut server, _) = listener.accept().unwrap();
        ask(&tcp);
        // The kernel begins soon after the first socket of the machine has asked.
        for _ in 0..100 {
            let before = SystemClock::now();
            server.write_all(b"hello").unwrap();
            tcp.readable().await.unwrap();
            let seen = SystemClock::now();
            // As if the thread had computed.
            std::thread::sleep(Duration::from_millis(15));
            let mut buffer = [0; 16];
            let read = tcp.try_io(Interest::READABLE, || receive(&tcp, &mut buffer));
            let Ok((5, arrived)) = read else { continue };
            assert_eq!(&buffer[..5], b"hello");
            let Some(arrived) = arrived else { continue };
            assert!(before <= arrived && arrived <= seen, "{before:?} {arrived:?} {seen:?}");
            return;
        }
        panic!("the kernel gave no time");
    }

    #[tokio::test]
    async fn a_socket_that_did_not_ask_has_no_times() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut server, _) = listener.accept().unwrap();
        server.write_all(b"hello").unwrap();
        tcp.readable().await.unwrap();
        let mut buffer = [0; 3];
        let read = tcp.try_io(Interest::READABLE, || receive(&tcp, &mut buffer)).unwrap();
        assert_eq!((read, &buffer), ((3, None), b"hel"));
    }
}
