//! Counters of a server: exact, and readable at any time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::websocket::Counts;

/// Different (method, path, status) rows that are kept; more are counted under [`OTHER_PATH`].
const MAX_ROWS: usize = 10_000;

/// Rows a connection remembers, so that the usual request takes no lock.
const MAX_REMEMBERED: usize = 16;

/// The path that stands for all paths beyond the limit.
pub const OTHER_PATH: &str = "(other)";

/// Requests and responses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row {
    /// The method as it was sent.
    pub method: String,
    /// The path without its query.
    pub path: String,
    /// The status that went out; 0 when the connection ended before any did.
    pub status: u16,
}

/// A server's counts at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Requests read to their last byte, answered or not.
    pub total: u64,
    /// Connections accepted.
    pub connections: u64,
    /// TLS handshakes that did not end well.
    pub handshakes_failed: u64,
    /// Bytes that began no HTTP/1 request; their connections were closed.
    pub malformed: u64,
    /// Bytes received by the sockets, TLS records included.
    pub bytes_in: u64,
    /// Bytes given to the sockets, TLS records included.
    pub bytes_out: u64,
    /// Requests being answered now.
    pub in_flight: u64,
    /// The most requests that were being answered at one time.
    pub in_flight_max: u64,
    /// WebSocket connections.
    pub websocket: WebSocketSeen,
    /// Requests by what was asked and answered. They add up to `total` once nothing is in flight.
    pub rows: BTreeMap<Row, u64>,
}

/// WebSocket messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebSocketSeen {
    /// Connections that were upgraded.
    pub sessions: u64,
    /// Messages received, text and binary.
    pub messages_in: u64,
    /// Messages sent.
    pub messages_out: u64,
    /// Bytes of the messages received, decompressed.
    pub message_bytes_in: u64,
    /// Pings received.
    pub pings_in: u64,
    /// Pongs received.
    pub pongs_in: u64,
    /// Close frames received.
    pub closes_in: u64,
    /// Connections whose client broke the protocol.
    pub malformed: u64,
}

impl Seen {
    /// Requests with this method, path and status.
    pub fn count(&self, method: &str, path: &str, status: u16) -> u64 {
        let row = Row { method: method.into(), path: path.into(), status };
        self.rows.get(&row).copied().unwrap_or(0)
    }

    /// Requests to this path, whatever the method and status.
    pub fn for_path(&self, path: &str) -> u64 {
        self.rows.iter().filter(|(row, _)| row.path == path).map(|(_, count)| count).sum()
    }

    /// Requests answered with this status; 0 for those that got none.
    pub fn with_status(&self, status: u16) -> u64 {
        self.rows.iter().filter(|(row, _)| row.status == status).map(|(_, count)| count).sum()
    }

    /// The counts as JSON, for readers in other processes; `rows` is a list of
    /// `{method, path, status, count}`.
    pub fn to_json(&self) -> Value {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|(row, count)| {
                json!({"method": row.method, "path": row.path, "status": row.status, "count": count})
            })
            .collect();
        json!({
            "total": self.total,
            "connections": self.connections,
            "handshakes_failed": self.handshakes_failed,
            "malformed": self.malformed,
            "bytes_in": self.bytes_in,
            "bytes_out": self.bytes_out,
            "in_flight": self.in_flight,
            "in_flight_max": self.in_flight_max,
            "websocket": {
                "sessions": self.websocket.sessions,
                "messages_in": self.websocket.messages_in,
                "messages_out": self.websocket.messages_out,
                "message_bytes_in": self.websocket.message_bytes_in,
                "pings_in": self.websocket.pings_in,
                "pongs_in": self.websocket.pongs_in,
                "closes_in": self.websocket.closes_in,
                "malformed": self.websocket.malformed,
            },
            "rows": rows,
        })
    }
}

/// The counters behind [`Seen`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    total: AtomicU64,
    in_flight: AtomicU64,
    in_flight_max: AtomicU64,
    pub(crate) connections: AtomicU64,
    pub(crate) handshakes_failed: AtomicU64,
    pub(crate) malformed: AtomicU64,
    pub(crate) bytes_in: AtomicU64,
    pub(crate) bytes_out: AtomicU64,
    pub(crate) websocket: Counts,
    rows: Mutex<BTreeMap<Row, Arc<AtomicU64>>>,
}

impl Counters {
    /// A request was read.
    pub(crate) fn begin(&self) {
        self.total.fetch_add(1, Ordering::SeqCst);
        let in_flight = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        // Reading first saves the write that almost no request needs.
        if in_flight > self.in_flight_max.load(Ordering::Relaxed) {
            self.in_flight_max.fetch_max(in_flight, Ordering::SeqCst);
        }
    }

    /// A request's reply is over.
    pub(crate) fn end(&self) {
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
    }

    /// Requests being answered now.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::SeqCst)
    }

    /// A copy of all counts.
    pub(crate) fn snapshot(&self) -> Seen {
        let read = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        Seen {
            total: read(&self.total),
            connections: read(&self.connections),
            handshakes_failed: read(&self.handshakes_failed),
            malformed: read(&self.malformed),
            bytes_in: read(&self.bytes_in),
            bytes_out: read(&self.bytes_out),
            in_flight: read(&self.in_flight),
            in_flight_max: read(&self.in_flight_max),
            websocket: WebSocketSeen {
                sessions: read(&self.websocket.sessions),
                messages_in: read(&self.websocket.messages_in),
                messages_out: read(&self.websocket.messages_out),
                message_bytes_in: read(&self.websocket.message_bytes_in),
                pings_in: read(&self.websocket.pings_in),
                pongs_in: read(&self.websocket.pongs_in),
                closes_in: read(&self.websocket.closes_in),
                malformed: read(&self.websocket.malformed),
            },
            rows: rows.iter().map(|(row, count)| (row.clone(), read(count))).collect(),
        }
    }

    fn row(&self, row: &Row) -> Arc<AtomicU64> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counter) = rows.get(row) {
            return Arc::clone(counter);
        }
        let mut key = row.clone();
        if rows.len() >= MAX_ROWS {
            key.method = String::new();
            key.path = OTHER_PATH.into();
        }
        Arc::clone(rows.entry(key).or_default())
    }
}

/// The rows one connection counted lately.
#[derive(Debug, Default)]
pub(crate) struct Remembered(Vec<(Row, Arc<AtomicU64>)>);

impl Remembered {
    /// Counts a request under what was asked and answered.
    pub(crate) fn count(&mut self, counters: &Counters, method: &str, path: &str, status: u16) {
        let known =
            self.0.iter().find(|(row, _)| row.status == status && row.path == path && row.method == method);
        if let Some((_, counter)) = known {
            counter.fetch_add(1, Ordering::SeqCst);
            return;
        }
        let row = Row { method: method.into(), path: path.into(), status };
        let counter = counters.row(&row);
        counter.fetch_add(1, Ordering::SeqCst);
        if self.0.len() == MAX_REMEMBERED {
            self.0.clear();
        }
        self.0.push((row, counter));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_add_up_and_are_bounded() {
        let counters = Counters::default();
        let mut remembered = Remembered::default();
        for number in 0..MAX_ROWS as u64 + 5 {
            counters.begin();
            remembered.count(&counters, "GET", &format!("/{number}"), 200);
            counters.end();
        }
        remembered.count(&counters, "GET", "/0", 200);
        let seen = counters.snapshot();
        assert_eq!(seen.total, MAX_ROWS as u64 + 5);
        assert_eq!(seen.rows.values().sum::<u64>(), MAX_ROWS as u64 + 6);
        assert_eq!(seen.rows.len(), MAX_ROWS + 1);
        assert_eq!(seen.count("GET", "/0", 200), 2);
        assert_eq!(seen.for_path(OTHER_PATH), 5);
        assert_eq!((seen.in_flight, seen.in_flight_max), (0, 1));
    }
}
