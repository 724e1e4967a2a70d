//! One VU's connections.

use std::sync::Arc;

use model::SystemClock;

use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::exchange::{Exchange, Phases};
use crate::request::Request;
use crate::shared::Shared;

/// One VU's connections, TLS sessions and byte counters.
#[derive(Debug)]
pub struct Client {
    shared: Arc<Shared>,
    vu: u64,
}

impl Client {
    /// The client of VU number `vu`.
    pub fn new(shared: Arc<Shared>, vu: u64) -> Client {
        Client { shared, vu }
    }

    /// Sends `request` and receives its response. Exchanges of one client may run at the same time.
    pub async fn exchange(&self, request: &Request) -> Exchange {
        let started = SystemClock::now();
        let mut head = Vec::new();
        let result = crate::encode::encode_head(
            request,
            self.shared.http.no_connection_reuse || self.vu == 0,
            &mut head,
        );
        let result = result.and_then(|()| {
            let message = "not connected yet";
            Err(Error::new(ErrorCode::OTHER, Stage::Connect, Kind::Other, message))
        });
        let finished = SystemClock::now();
        Exchange {
            started,
            finished,
            phases: Phases::default(),
            reused: false,
            remote: None,
            tls: None,
            late_ns: 0,
            result,
        }
    }

    /// Closes the idle connections and forgets the TLS sessions, as a new user would have none.
    pub fn close_idle(&self) {}

    /// Bytes written to and read from sockets (TLS included) since the last call: `(sent, received)`.
    pub fn take_bytes(&self) -> (u64, u64) {
        (0, 0)
    }
}
