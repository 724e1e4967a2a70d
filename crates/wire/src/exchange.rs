//! The result of one exchange: facts and times.

use std::net::SocketAddr;
use std::sync::Arc;

use model::Instant;

use crate::error::Error;
use crate::response::Response;
use crate::tls_facts::TlsFacts;

/// One request with its response or the reason why there is none.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// When it began.
    pub started: Instant,
    /// When its last byte could be read, or when it failed. The client's own queueing (see `late_ns`) is not in it.
    pub finished: Instant,
    /// How long each part took.
    pub phases: Phases,
    /// Whether an idle connection carried it.
    pub reused: bool,
    /// How often the request was sent again, because a kept connection turned out to be closed: 0 or 1. The times are
    /// those of the last try, and what was before it is blocked time.
    pub repeats: u32,
    /// The remote address; `None` where no connection was tried.
    pub remote: Option<SocketAddr>,
    /// The parameters that TLS negotiated.
    pub tls: Option<Arc<TlsFacts>>,
    /// Between the moment the runtime saw the response's last bytes and the moment this exchange was run to read
    /// them: the load generator's own delay, in nanoseconds.
    pub late_ns: u64,
    /// The response.
    pub result: Result<Response, Error>,
}

/// How long each part of an exchange took, in nanoseconds. An exchange that fails has the parts up to its failure.
///
/// As in k6, `blocked` contains `looking_up`, `connecting` and `tls` (k6 does not say how long the lookup took), and
/// an exchange's *duration* is `sending + waiting + receiving`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Until a connection was ready.
    pub blocked_ns: u64,
    /// Looking up the name.
    pub looking_up_ns: u64,
    /// Connecting.
    pub connecting_ns: u64,
    /// The TLS handshake.
    pub tls_ns: u64,
    /// Writing the request.
    pub sending_ns: u64,
    /// Until the first byte of the response.
    pub waiting_ns: u64,
    /// Until the last byte of the response.
    pub receiving_ns: u64,
}

impl Phases {
    /// `sending + waiting + receiving`: k6's `http_req_duration`, in nanoseconds.
    pub fn duration_ns(&self) -> u64 {
        self.sending_ns + self.waiting_ns + self.receiving_ns
    }
}
