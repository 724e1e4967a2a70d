//! A client's idle connections.

use model::Instant;

use crate::connection::Connection;
use crate::target::Target;

/// Connections that wait for their next exchange; the last one in is the first one out, so that the others can age.
#[derive(Default)]
pub(crate) struct Idle {
    /// Oldest first. A VU talks to a handful of origins, so that looking through them all is the fastest index.
    #[expect(
        clippy::vec_box,
        reason = "each exchange takes one out and puts it back, which would copy it several times"
    )]
    connections: Vec<Box<Connection>>,
    /// Connections found alive in a row. A server that closes silently after each response closes so fast that only
    /// a look at the socket itself shows it; a server that has kept its connections some times need not be doubted.
    alive_count: u32,
}

/// Connections found alive in a row before they are trusted to stay so for a moment.
const ALIVE_COUNT_TRUSTED: u32 = 8;

impl Idle {
    /// A living connection for `target`; dead ones on the way are closed.
    pub(crate) fn take(&mut self, target: &Target, now: Instant) -> Option<Box<Connection>> {
        loop {
            let index = self.connections.iter().rposition(|kept| kept.target.is_same_origin(target))?;
            let mut connection = self.connections.remove(index);
            if connection.is_alive(now, self.alive_count >= ALIVE_COUNT_TRUSTED) {
                self.alive_count = self.alive_count.saturating_add(1);
                return Some(connection);
            }
            self.doubt();
            connection.close();
        }
    }

    /// Keeps `connection`, unless its host has its share already; the oldest of all goes when there are too many.
    pub(crate) fn put(&mut self, connection: Box<Connection>, per_host_max: usize, max: usize) {
        let of_host =
            || self.connections.iter().filter(|kept| kept.target.is_same_origin(&connection.target));
        if self.connections.len() >= per_host_max && of_host().count() >= per_host_max {
            return connection.close();
        }
        if self.connections.len() >= max && !self.connections.is_empty() {
            self.connections.remove(0).close();
        }
        self.connections.push(connection);
    }

    /// A connection was closed without notice: the next ones are looked at more closely.
    pub(crate) fn doubt(&mut self) {
        self.alive_count = 0;
    }

    /// Closes them all.
    pub(crate) fn clear(&mut self) {
        self.connections.drain(..).for_each(|connection| connection.close());
    }
}
