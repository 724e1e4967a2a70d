//! One agent as the hub knows it.

use model::Instant;

use super::{Connection, LOST_AFTER, SUSPECT_AFTER};
use crate::clock::ROUNDS;
use crate::link::Link;
use crate::message::{Body, Counters, Segment};

/// An agent.
#[derive(Debug)]
pub(super) struct Member {
    /// Its own random number.
    pub(super) session: u64,
    pub(super) name: String,
    pub(super) connection: Option<Connection>,
    pub(super) link: Link,
    /// The last time a frame came.
    pub(super) heard: Instant,
    pub(super) stage: Stage,
    /// The part of the test that it prepares or runs.
    pub(super) part: Option<Segment>,
    /// The agent of whose process it is a further session.
    pub(super) host: Option<usize>,
    /// Whether its process has ended.
    pub(super) has_exited: bool,
    /// Whether it was lost by its silence, and may join again.
    pub(super) may_return: bool,
    /// Whether its user ended it.
    pub(super) is_leaving: bool,
    /// Whether its load ended before the plan's, by itself.
    pub(super) is_early: bool,
    /// By scenario: iterations of its part that others may have numbered before.
    pub(super) numbers: Vec<u64>,
    /// Its last counters.
    pub(super) counters: Counters,
    /// Bytes of the archive that were sent.
    pub(super) archive_sent: usize,
    /// Round trips that it has measured, and the largest error of its clock.
    pub(super) rounds: u32,
    pub(super) uncertainty_ns: u64,
    pub(super) is_suspect: bool,
    /// Whether it has the order to finish.
    pub(super) is_dismissed: bool,
}

/// Where an agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It receives the archive.
    Fetching,
    /// It has the archive, and no part yet.
    Fetched,
    /// It initialises VUs.
    Preparing,
    /// All its VUs are initialised.
    Armed,
    /// It runs the scenarios.
    Running,
    /// Its scenarios are over.
    Ended,
    /// It is lost, or was sent away.
    Lost,
}

impl Member {
    pub(super) fn new(now: Instant, session: u64, name: String) -> Member {
        Member {
            session,
            name,
            connection: None,
            link: Link::new(now),
            heard: now,
            stage: Stage::Fetching,
            part: None,
            host: None,
            has_exited: false,
            may_return: false,
            is_leaving: false,
            is_early: false,
            numbers: Vec::new(),
            counters: Counters::default(),
            archive_sent: 0,
            rounds: 0,
            uncertainty_ns: u64::MAX,
            is_suspect: false,
            is_dismissed: false,
        }
    }

    /// Whether it takes part.
    pub(super) fn is_live(&self) -> bool {
        self.stage != Stage::Lost
    }

    /// Whether its VUs are initialised and its clock is known.
    pub(super) fn is_ready(&self) -> bool {
        self.stage == Stage::Armed && self.rounds >= ROUNDS as u32
    }

    /// The last words to an agent that is lost.
    pub(super) fn given_up(&self, why: &str) -> Body {
        let text = format!("agent {} was given up as lost: {why}", self.name);
        if self.may_return { Body::Lost(text) } else { Body::Refused(text) }
    }

    /// When its silence counts, or frames must be sent again.
    pub(super) fn deadline(&self) -> Instant {
        if !self.is_live() {
            return Instant::MAX;
        }
        let silence = if self.is_suspect { self.heard + LOST_AFTER } else { self.heard + SUSPECT_AFTER };
        let resend = if self.connection.is_some() { self.link.deadline() } else { Instant::MAX };
        silence.min(resend)
    }
}
