//! One agent as the hub knows it.

use model::Instant;

use super::{Connection, LOST_AFTER, SUSPECT_AFTER};
use crate::link::Link;

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
    pub(super) index: Option<u32>,
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
            index: None,
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
