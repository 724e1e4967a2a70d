//! Numbered frames over connections that break: each arrives once, in order, and is sent again until it is acknowledged.

use std::collections::VecDeque;
use std::time::Duration;

use model::Instant;
use prost::Message;

use crate::message::{Body, Frame};

/// Frames without an acknowledgement are sent again after this long on one connection.
const RESEND_AFTER: Duration = Duration::from_secs(3);

/// Frames sent again at once; those after them follow when these are acknowledged.
const RESENT_AT_ONCE: usize = 64;

/// The largest backlog of frames without an acknowledgement, bytes. A peer that lets it grow is cut off: at 30 KB per second and
/// agent it is half an hour.
pub const BACKLOG_BYTES_MAX: usize = 64 << 20;

/// One direction's frames and the other's acknowledgements, across all connections of a session.
#[derive(Debug)]
pub struct Link {
    /// Number of the last frame sent.
    sent: u64,
    /// Frames that the peer has not acknowledged.
    backlog: VecDeque<Frame>,
    backlog_bytes: usize,
    /// Number of the last frame received.
    received: u64,
    /// Last time the backlog was sent or became shorter.
    moved: Instant,
}

/// A frame that has arrived.
#[derive(Debug, PartialEq)]
pub enum Arrival {
    /// It is new, and the next one.
    Next(Body),
    /// It carries no number.
    Unnumbered(Body),
    /// It has arrived before, or an earlier one is missing: the peer sends it again.
    Ignored,
    /// It only acknowledges.
    Nothing,
}

impl Link {
    /// A session that begins.
    pub fn new(now: Instant) -> Link {
        Link { sent: 0, backlog: VecDeque::new(), backlog_bytes: 0, received: 0, moved: now }
    }

    /// Number of the last frame received.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Frames without an acknowledgement.
    pub fn backlog(&self) -> usize {
        self.backlog.len()
    }

    /// Their bytes.
    pub fn backlog_bytes(&self) -> usize {
        self.backlog_bytes
    }

    /// Frames that the peer has not acknowledged.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> Vec<Body> {
        self.backlog.iter().filter_map(|frame| frame.body.clone()).collect()
    }

    /// Numbers a frame and keeps it until it is acknowledged.
    pub fn send(&mut self, now: Instant, body: Body) -> Frame {
        if self.backlog.is_empty() {
            self.moved = now;
        }
        self.sent += 1;
        let frame = Frame { number: self.sent, received: self.received, body: Some(body) };
        self.backlog_bytes += frame.encoded_len();
        self.backlog.push_back(frame.clone());
        frame
    }

    /// A frame without a number.
    pub fn unnumbered(&self, body: Body) -> Frame {
        Frame { number: 0, received: self.received, body: Some(body) }
    }

    /// A frame that only acknowledges.
    pub fn acknowledgement(&self) -> Frame {
        Frame { number: 0, received: self.received, body: None }
    }

    /// Takes a frame of the peer.
    pub fn receive(&mut self, now: Instant, frame: Frame) -> Arrival {
        self.acknowledge(now, frame.received);
        let Some(body) = frame.body else { return Arrival::Nothing };
        if frame.number == 0 {
            return Arrival::Unnumbered(body);
        }
        if frame.number != self.received + 1 {
            return Arrival::Ignored;
        }
        self.received = frame.number;
        Arrival::Next(body)
    }

    /// The frames to send on a new connection whose peer has received all up to this number.
    pub fn resume(&mut self, now: Instant, received: u64) -> Vec<Frame> {
        self.acknowledge(now, received);
        self.moved = now;
        self.first_frames()
    }

    /// The frames to send again on a connection where no acknowledgement has come for long.
    pub fn resend(&mut self, now: Instant) -> Vec<Frame> {
        if self.backlog.is_empty() || now < self.moved + RESEND_AFTER {
            return Vec::new();
        }
        self.moved = now;
        self.first_frames()
    }

    /// When [`Link::resend`] has frames.
    pub fn deadline(&self) -> Instant {
        if self.backlog.is_empty() { Instant::MAX } else { self.moved + RESEND_AFTER }
    }

    fn first_frames(&self) -> Vec<Frame> {
        let again = |frame: &Frame| Frame { received: self.received, ..frame.clone() };
        self.backlog.iter().take(RESENT_AT_ONCE).map(again).collect()
    }

    fn acknowledge(&mut self, now: Instant, received: u64) {
        while let Some(first) = self.backlog.pop_front_if(|frame| frame.number <= received) {
            self.backlog_bytes -= first.encoded_len();
            self.moved = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Preparing;

    const NOW: Instant = Instant::from_ns(1);

    fn body(ready: u32) -> Body {
        Body::Preparing(Preparing { ready, planned: 9 })
    }

    #[test]
    fn frames_arrive_once_and_in_order() {
        let (mut a, mut b) = (Link::new(NOW), Link::new(NOW));
        let frames: Vec<Frame> = (1..4).map(|ready| a.send(NOW, body(ready))).collect();
        assert_eq!(b.receive(NOW, frames[1].clone()), Arrival::Ignored, "the first is missing");
        assert_eq!(b.receive(NOW, frames[0].clone()), Arrival::Next(body(1)));
        assert_eq!(b.receive(NOW, frames[0].clone()), Arrival::Ignored, "a duplicate");
        assert_eq!(a.receive(NOW, b.acknowledgement()), Arrival::Nothing);
        assert_eq!(a.backlog(), 2);
        let again = a.resend(NOW + RESEND_AFTER);
        let arrived: Vec<Arrival> = again.into_iter().map(|frame| b.receive(NOW, frame)).collect();
        assert_eq!(arrived, [Arrival::Next(body(2)), Arrival::Next(body(3))]);
        a.receive(NOW, b.acknowledgement());
        assert_eq!((a.backlog(), a.backlog_bytes(), a.deadline()), (0, 0, Instant::MAX));
    }

    #[test]
    fn a_new_connection_begins_with_what_is_missing() {
        let mut a = Link::new(NOW);
        (1..4).for_each(|ready| drop(a.send(NOW, body(ready))));
        let numbers: Vec<u64> = a.resume(NOW, 1).iter().map(|frame| frame.number).collect();
        assert_eq!(numbers, [2, 3]);
    }

    /// A peer that acknowledges more than was sent, or nothing, changes nothing that was not sent.
    #[test]
    fn acknowledgements_of_the_future_are_harmless() {
        let mut a = Link::new(NOW);
        a.send(NOW, body(1));
        a.receive(NOW, Frame { number: 0, received: u64::MAX, body: None });
        assert_eq!((a.backlog(), a.send(NOW, body(2)).number), (0, 2));
    }
}
