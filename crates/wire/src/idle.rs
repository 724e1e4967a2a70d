//! A client's idle connections.

use model::Instant;

use crate::connection::Connection;
use crate::target::Target;

/// Connections that wait for their next exchange; the last one in is the first one out, so that the others can age.
#[derive(Default)]
pub(crate) struct Idle {
    /// Oldest first. A VU talks to a handful of origins, so that looking through them all is the fastest index.
    connections: Vec<Connection>,
}

impl Idle {
    /// A living connection for `target`; dead ones on the way are closed.
    pub(crate) fn take(&mut self, target: &Target, now: Instant) -> Option<Connection> {
        loop {
            let is_fit = |connection: &Connection| connection.target.is_same_origin(target);
            let index = self.connections.iter().rposition(is_fit)?;
            let mut connection = self.connections.remove(index);
            if connection.is_alive(now) {
                return Some(connection);
            }
            connection.close();
        }
    }

    /// Keeps `connection`, unless its host has its share already; the oldest of all goes when there are too many.
    pub(crate) fn put(&mut self, connection: Connection, per_host_max: usize, max: usize) {
        let is_fit = |kept: &&Connection| kept.target.is_same_origin(&connection.target);
        if self.connections.len() >= per_host_max
            && self.connections.iter().filter(is_fit).count() >= per_host_max
        {
            return connection.close();
        }
        if self.connections.len() >= max && !self.connections.is_empty() {
            self.connections.remove(0).close();
        }
        self.connections.push(connection);
    }

    /// Closes them all.
    pub(crate) fn clear(&mut self) {
        self.connections.drain(..).for_each(Connection::close);
    }
}
