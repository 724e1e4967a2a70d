//! Connections, and decisions about them: which one is overdue, and which one gives way.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use model::Instant;

/// Limits of the connections of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of simultaneous connections.
    pub connections_max: usize,
    /// Number of connections from which on a peer's give way before those of others.
    pub peer_share: usize,
    /// Maximum time before the first byte.
    pub first_byte: Duration,
    /// Maximum time from the first byte of a request to the end of its head.
    pub head: Duration,
    /// Maximum time between two requests.
    pub idle: Duration,
    /// Maximum time without progress of a response that the client does not read.
    pub write: Duration,
}

/// Connections that the server closed, by cause. Connections that were idle between two requests are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Closed {
    /// Connections without a first byte in time, or with an incomplete head.
    pub silent: u64,
    /// Connections whose client did not read a response.
    pub unread: u64,
    /// Connections that gave way to a new one before any limit was reached.
    pub gave_way: u64,
}

impl Closed {
    /// Returns the causes with their counts, for people; empty if the server closed none.
    pub fn causes(&self) -> Vec<String> {
        let causes = [
            (self.silent, "sent no whole request in time"),
            (self.unread, "did not read their response"),
            (self.gave_way, "gave way to new connections"),
        ];
        let causes = causes.into_iter().filter(|(count, _)| *count > 0);
        causes.map(|(count, cause)| format!("{count} {cause}")).collect()
    }
}

/// The cause of closing a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Silent,
    SlowHead,
    Idle,
    Unread,
}

/// Time after which an incomplete body or an unread response makes a connection slow: it gives way before idle ones of others.
const SLOW_AFTER: Duration = Duration::from_millis(500);

/// The activity of one connection.
#[derive(Debug)]
pub(crate) struct Pulse {
    accepted: Instant,
    /// Whether any byte came.
    has_spoken: bool,
    /// Whether the connection speaks HTTP/2, in which bytes between requests are normal.
    is_http2: bool,
    /// Time of the first byte of a request whose head is incomplete.
    head_since: Option<Instant>,
    /// The end of the last response.
    rested: Instant,
    /// Requests that are being answered.
    open: u32,
    /// Requests that came.
    served: u64,
    /// Request bodies that are incomplete, and since when the oldest is.
    bodies: u32,
    body_since: Option<Instant>,
    /// Time of the last progress of a write that waits for the client.
    unread_since: Option<Instant>,
    /// Time from which on the client has read more slowly than the server writes.
    slow_since: Option<Instant>,
}

/// The first bytes of HTTP/2 (RFC 9113, section 3.4).
const HTTP2: &[u8] = b"PRI";

impl Pulse {
    pub(crate) fn new(now: Instant) -> Pulse {
        Pulse {
            accepted: now,
            has_spoken: false,
            is_http2: false,
            head_since: None,
            rested: now,
            open: 0,
            served: 0,
            bodies: 0,
            body_since: None,
            unread_since: None,
            slow_since: None,
        }
    }

    /// Notes bytes that came.
    pub(crate) fn received(&mut self, bytes: &[u8], now: Instant) {
        if !self.has_spoken {
            self.has_spoken = true;
            self.is_http2 = bytes.starts_with(HTTP2);
        }
        if self.open == 0 && !self.is_http2 {
            self.head_since.get_or_insert(now);
        }
    }

    /// Notes a complete head.
    pub(crate) fn began(&mut self) {
        self.head_since = None;
        self.open += 1;
        self.served += 1;
    }

    /// Notes the end of a response, or of a request without one.
    pub(crate) fn ended(&mut self, now: Instant) {
        self.open = self.open.saturating_sub(1);
        self.rested = now;
    }

    /// Notes that a body is incomplete.
    pub(crate) fn body_began(&mut self, now: Instant) {
        self.bodies += 1;
        self.body_since.get_or_insert(now);
    }

    /// Notes the end of a body.
    pub(crate) fn body_ended(&mut self) {
        self.bodies = self.bodies.saturating_sub(1);
        if self.bodies == 0 {
            self.body_since = None;
        }
    }

    /// Notes that a write waits for the client.
    pub(crate) fn write_waits(&mut self, now: Instant) {
        self.unread_since.get_or_insert(now);
        self.slow_since.get_or_insert(now);
    }

    /// Notes that the client took bytes.
    pub(crate) fn wrote(&mut self) {
        self.unread_since = None;
    }

    /// Notes that the client took all bytes.
    pub(crate) fn flushed(&mut self) {
        self.unread_since = None;
        self.slow_since = None;
    }

    /// Returns the reached limit, if any.
    pub(crate) fn overdue(&self, now: Instant, limits: &Limits) -> Option<Cause> {
        let is_over = |since: Instant, limit: Duration| now.since(since) >= limit;
        if self.unread_since.is_some_and(|since| is_over(since, limits.write)) {
            return Some(Cause::Unread);
        }
        if self.open > 0 {
            return None;
        }
        if !self.has_spoken {
            return is_over(self.accepted, limits.first_byte).then_some(Cause::Silent);
        }
        if self.head_since.is_some_and(|since| is_over(since, limits.head)) {
            return Some(Cause::SlowHead);
        }
        is_over(self.rested, limits.idle).then_some(Cause::Idle)
    }

    /// Returns how readily the connection gives way; `None` if it must not.
    fn readiness(&self, now: Instant) -> Option<Readiness> {
        let slow = [self.slow_since, self.body_since].into_iter().flatten().min();
        if let Some(since) = slow.filter(|since| now.since(*since) >= SLOW_AFTER) {
            return Some(Readiness { has_served: false, waited: now.since(since) });
        }
        let since = self.rested;
        (self.open == 0).then(|| Readiness { has_served: self.served > 0, waited: now.since(since) })
    }
}

/// How readily a connection gives way: those that had no use before others, and the longest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Readiness {
    has_served: bool,
    waited: Duration,
}

/// The connections of a server.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) limits: Limits,
    seats: HashMap<u64, (IpAddr, Pulse)>,
    next: u64,
    closed: Closed,
}

impl Table {
    pub(crate) fn new(limits: Limits) -> Table {
        Table { limits, seats: HashMap::new(), next: 0, closed: Closed::default() }
    }

    /// Adds a connection and returns its number; another one that gives way to it is removed. `None` if all are in use.
    pub(crate) fn enter(&mut self, peer: IpAddr, now: Instant) -> Option<u64> {
        if self.seats.len() >= self.limits.connections_max && !self.give_way(now) {
            return None;
        }
        let number = self.next;
        self.next += 1;
        self.seats.insert(number, (peer, Pulse::new(now)));
        Some(number)
    }

    /// Removes the connection that gives way most readily. Returns false if none may.
    pub(crate) fn give_way(&mut self, now: Instant) -> bool {
        let mut per_peer: HashMap<IpAddr, usize> = HashMap::new();
        for (peer, _) in self.seats.values() {
            *per_peer.entry(*peer).or_default() += 1;
        }
        let is_beyond =
            |peer: &IpAddr| per_peer.get(peer).is_some_and(|count| *count > self.limits.peer_share);
        let ready = self.seats.iter().filter_map(|(number, (peer, pulse))| {
            let readiness = pulse.readiness(now)?;
            Some(((is_beyond(peer), !readiness.has_served, readiness.waited), *number))
        });
        let Some((_, number)) = ready.max() else { return false };
        self.seats.remove(&number);
        self.closed.gave_way += 1;
        true
    }

    /// Returns true and removes the connection if it reached a limit; also if it gave way before.
    pub(crate) fn is_over(&mut self, number: u64, now: Instant) -> bool {
        let Some((_, pulse)) = self.seats.get(&number) else { return true };
        let Some(cause) = pulse.overdue(now, &self.limits) else { return false };
        match cause {
            Cause::Silent | Cause::SlowHead => self.closed.silent += 1,
            Cause::Unread => self.closed.unread += 1,
            Cause::Idle => {}
        }
        self.seats.remove(&number);
        true
    }

    /// Removes a connection that its client closed.
    pub(crate) fn leave(&mut self, number: u64) {
        self.seats.remove(&number);
    }

    /// Returns a connection's activity, unless it was removed.
    pub(crate) fn pulse(&mut self, number: u64) -> Option<&mut Pulse> {
        self.seats.get_mut(&number).map(|(_, pulse)| pulse)
    }

    pub(crate) fn closed(&self) -> Closed {
        self.closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        connections_max: 3,
        peer_share: 1,
        first_byte: Duration::from_secs(5),
        head: Duration::from_secs(10),
        idle: Duration::from_secs(60),
        write: Duration::from_secs(20),
    };

    fn at(seconds: u64) -> Instant {
        Instant::from_ns(seconds * 1_000_000_000)
    }

    fn peer(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn limits_are_reached_in_each_state() {
        let check = |act: fn(&mut Pulse), just_before: u64, expect: Cause| {
            let mut pulse = Pulse::new(at(0));
            act(&mut pulse);
            assert_eq!(pulse.overdue(at(just_before), &LIMITS), None, "{expect:?}");
            assert_eq!(pulse.overdue(at(just_before + 1), &LIMITS), Some(expect));
        };
        check(|_| {}, 4, Cause::Silent);
        check(|pulse| pulse.received(b"G", at(1)), 10, Cause::SlowHead);
        check(
            |pulse| {
                // A drop of bytes does not extend the time.
                pulse.received(b"G", at(1));
                pulse.received(b"ET / HT", at(9));
            },
            10,
            Cause::SlowHead,
        );
        check(|pulse| pulse.received(b"PRI * HTTP/2.0", at(1)), 59, Cause::Idle);
        check(
            |pulse| {
                pulse.received(b"GET / HTTP/1.1", at(1));
                pulse.began();
                pulse.ended(at(30));
            },
            89,
            Cause::Idle,
        );
        check(
            |pulse| {
                pulse.received(b"GET / HTTP/1.1", at(1));
                pulse.began();
                pulse.write_waits(at(2));
                pulse.wrote();
                pulse.write_waits(at(7));
                pulse.write_waits(at(9));
            },
            26,
            Cause::Unread,
        );
    }

    #[test]
    fn requests_in_progress_have_no_limit_here() {
        let mut pulse = Pulse::new(at(0));
        pulse.received(b"GET / HTTP/1.1", at(1));
        pulse.began();
        pulse.received(b"body", at(2));
        assert_eq!(pulse.overdue(at(10_000), &LIMITS), None);
        assert_eq!(pulse.readiness(at(10_000)), None);
        pulse.body_began(at(3));
        assert!(pulse.readiness(at(3)).is_none() && pulse.readiness(at(4)).is_some());
        pulse.body_ended();
        assert!(pulse.readiness(at(4)).is_none());
    }

    /// Fills a table, adds one more, and returns which of the first ones gave way.
    fn gave_way(peers: [u8; 3], act: fn(usize, &mut Pulse)) -> Vec<usize> {
        let mut table = Table::new(LIMITS);
        let numbers: Vec<u64> =
            peers.iter().map(|last| table.enter(peer(*last), at(0)).expect("a seat")).collect();
        for (place, number) in numbers.iter().enumerate() {
            act(place, table.pulse(*number).expect("it is there"));
        }
        let entered = table.enter(peer(9), at(10));
        let gone: Vec<usize> = (0..3).filter(|place| table.pulse(numbers[*place]).is_none()).collect();
        assert_eq!(entered.is_some(), !gone.is_empty());
        assert_eq!(table.closed().gave_way, gone.len() as u64);
        gone
    }

    fn serve(pulse: &mut Pulse, end: u64) {
        pulse.received(b"GET", at(1));
        pulse.began();
        pulse.ended(at(end));
    }

    #[test]
    fn connections_without_use_give_way_first() {
        // A silent one, though another one has been idle for longer.
        assert_eq!(
            gave_way([1, 2, 3], |place, pulse| if place != 1 {
                serve(pulse, 1)
            }),
            [1]
        );
        // The longest idle one.
        assert_eq!(gave_way([1, 2, 3], |place, pulse| serve(pulse, 9 - place as u64)), [2]);
        // One that does not read, before all idle ones.
        let unread = |place, pulse: &mut Pulse| {
            serve(pulse, 1);
            if place == 0 {
                pulse.began();
                pulse.write_waits(at(9));
            }
        };
        assert_eq!(gave_way([1, 2, 3], unread), [0]);
        // A slow body, before all idle ones.
        let slow = |place, pulse: &mut Pulse| {
            serve(pulse, 1);
            if place == 2 {
                pulse.began();
                pulse.body_began(at(9));
            }
        };
        assert_eq!(gave_way([1, 2, 3], slow), [2]);
        // All are in use.
        assert!(gave_way([1, 2, 3], |_, pulse| pulse.began()).is_empty());
    }

    #[test]
    fn a_peer_beyond_its_share_gives_way_before_others() {
        let served = |place, pulse: &mut Pulse| {
            if place > 0 {
                serve(pulse, place as u64)
            }
        };
        assert_eq!(gave_way([1, 2, 2], served), [1]);
        assert_eq!(gave_way([1, 2, 3], served), [0]);
    }

    #[test]
    fn closed_connections_are_counted_by_cause() {
        let mut table = Table::new(LIMITS);
        let (silent, unread) =
            (table.enter(peer(1), at(0)).expect("a seat"), table.enter(peer(2), at(0)).expect("a seat"));
        let pulse = table.pulse(unread).expect("it is there");
        pulse.received(b"GET", at(0));
        pulse.began();
        pulse.write_waits(at(0));
        assert!(
            !table.is_over(silent, at(4)) && table.is_over(silent, at(5)) && table.is_over(silent, at(5))
        );
        assert!(!table.is_over(unread, at(5)) && table.is_over(unread, at(20)));
        assert_eq!(table.closed(), Closed { silent: 1, unread: 1, gave_way: 0 });
        assert_eq!(
            table.closed().causes(),
            ["1 sent no whole request in time", "1 did not read their response"]
        );
    }
}
