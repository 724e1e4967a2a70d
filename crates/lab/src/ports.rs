//! Free ports of the loopback interface.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt};

use crate::error::LabError;

/// Ports below are those of well-known programs, as 9090 is of Prometheus.
const PORT_MIN: u16 = 10_000;

/// The kernel's first port for connections where it cannot be read (ip(7), `ip_local_port_range`).
const EPHEMERAL_MIN: u16 = 32_768;

/// Where the next search begins, counted from the first port that this process asked for.
static ASKED: AtomicU32 = AtomicU32::new(0);

/// Returns this many different ports without a listener.
///
/// They are below the ports that the kernel gives to connections and to listeners without a port of their own: one of those can be
/// taken by any connection of the machine between this call and the start of the server. This process gets no port twice until it
/// has asked for all of them, and two processes begin at different ones. Another program can still take one first; then the
/// server that was to listen there logs an error.
///
/// # Errors
/// All are in use.
pub fn free_ports(count: usize) -> Result<Vec<u16>, LabError> {
    let range =
        usable(&std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default());
    let size = u32::from(range.end - range.start);
    // A prime spreads the numbers of processes that follow each other.
    let first = std::process::id().wrapping_mul(7_919);
    let next = || first.wrapping_add(ASKED.fetch_add(1, Ordering::Relaxed)) % size;
    let candidates = (0..size).filter_map(|_| u16::try_from(next()).ok()).map(|offset| range.start + offset);
    let free: Vec<u16> = candidates.filter(|port| is_free(*port)).take(count).collect();
    if free.len() < count {
        return Err(LabError::Other(format!("find a free port: those of {range:?} are in use")));
    }
    Ok(free)
}

/// The ports to choose from, where the kernel gives connections those of this text; all above [`PORT_MIN`] where it gives them
/// nearly all.
fn usable(ephemeral: &str) -> Range<u16> {
    let first = ephemeral.split_whitespace().next().and_then(|text| text.parse().ok());
    match first.unwrap_or(EPHEMERAL_MIN) {
        first if first > PORT_MIN + 1_000 => PORT_MIN..first,
        _ => PORT_MIN..u16::MAX,
    }
}

/// Returns whether nothing listens on the port.
///
/// The socket never listens itself: a process that another thread starts meanwhile holds a copy of it until it has executed its
/// program, and a copy of a listening one would refuse the port to the server that was to get it.
fn is_free(port: u16) -> bool {
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
    socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)
        .and_then(|socket| {
            sockopt::set_socket_reuseaddr(&socket, true)?;
            bind(&socket, &address)
        })
        .is_ok()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::process::Command;
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn no_connection_can_take_a_port_that_was_given() {
        let range = usable("32768\t60999\n");
        assert_eq!(range, 10_000..32_768);
        assert_eq!((usable(""), usable("torn")), (range.clone(), range));
        assert_eq!((usable("50000 60999"), usable("1024 65535")), (10_000..50_000, 10_000..65_535));
    }

    #[test]
    fn ports_in_use_and_ports_given_before_are_passed_over() {
        let held: Vec<TcpListener> = free_ports(3)
            .expect("free ports")
            .into_iter()
            .map(|port| TcpListener::bind(("127.0.0.1", port)).expect("it is free"))
            .collect();
        let in_use: Vec<u16> = held.iter().map(|it| it.local_addr().expect("it is bound").port()).collect();
        assert!(in_use.iter().all(|port| !is_free(*port)));
        let mut more: Vec<u16> = (0..50).flat_map(|_| free_ports(2).expect("free ports")).collect();
        assert!(more.iter().all(|port| !in_use.contains(port)));
        more.sort_unstable();
        more.dedup();
        assert_eq!(more.len(), 100, "two tests side by side get different ports");
    }

    #[test]
    fn processes_that_start_meanwhile_hold_no_port_back() {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        Command::new("true").status().expect("a program without effect");
                    }
                });
            }
            let refused: Vec<u16> = (0..500)
                .flat_map(|_| free_ports(3).expect("free ports"))
                .filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_err())
                .collect();
            is_over.store(true, Ordering::Relaxed);
            assert!(refused.is_empty(), "{refused:?}");
        });
    }
}
