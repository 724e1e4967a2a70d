//! The stall server: quick, but for one interval in which no reply leaves.
//!
//! Timing only the requests that were sent misses almost all of such a stall; timing from the
//! due time shows all of it. (Coordinated omission: Tene, "How NOT to Measure Latency".)

use std::sync::OnceLock;
use std::time::Duration;

use model::Instant;

use crate::connection::Service;
use crate::reply::Reply;
use crate::request::Request;
use crate::server::{Listen, Server, StartError};
use crate::timer::Timer;

/// When and how long the server stalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallConfig {
    /// The duration of every reply.
    pub service: Duration,
    /// From the first request to the stall.
    pub offset: Duration,
    /// How long no reply leaves.
    pub length: Duration,
}

impl Default for StallConfig {
    /// 1 ms of service, one stall of 1 s after 10 s.
    fn default() -> StallConfig {
        StallConfig {
            service: Duration::from_millis(1),
            offset: Duration::from_secs(10),
            length: Duration::from_secs(1),
        }
    }
}

impl StallConfig {
    /// When the reply to a request read at `read_at` leaves, if the first request of all was read at `first`.
    pub fn leaves_at(&self, first: Instant, read_at: Instant) -> Instant {
        let ready = read_at + self.service;
        let stall = first + self.offset;
        let end = stall + self.length;
        if ready >= stall && ready < end { end } else { ready }
    }
}

#[derive(Debug)]
struct Stall {
    config: StallConfig,
    first: OnceLock<Instant>,
    timer: Timer,
}

impl Service for Stall {
    async fn answer(&self, request: &Request) -> Reply {
        let first = *self.first.get_or_init(|| request.read_at);
        self.timer.sleep_until(self.config.leaves_at(first, request.read_at)).await;
        Reply::text(200, "served\n")
    }
}

/// Starts the stall server; it serves any number of requests at a time.
pub fn start(config: StallConfig, listen: Listen) -> Result<Server, StartError> {
    let timer = Timer::start().map_err(StartError::Thread)?;
    Server::start(Stall { config, first: OnceLock::new(), timer }, listen)
}

#[cfg(test)]
mod tests {
    use model::SystemClock;

    use super::*;
    use crate::client::Client;

    #[test]
    fn replies_in_the_stall_leave_at_its_end() {
        let config = StallConfig::default();
        for (read_ms, leaves_ms) in
            [(0, 1), (9_998, 9_999), (9_999, 11_000), (10_500, 11_000), (10_999, 11_000)]
        {
            let at = |ms: u64| Instant::from_ns((7_000 + ms) * 1_000_000);
            assert_eq!(config.leaves_at(at(0), at(read_ms)), at(leaves_ms), "{read_ms}");
        }
    }

    #[test]
    fn all_connections_stall_together() {
        let ms = Duration::from_millis;
        let config = StallConfig { service: ms(1), offset: ms(50), length: ms(150) };
        let server = start(config, Listen::default()).expect("start");
        let mut clients: Vec<Client> = (0..4).map(|_| Client::new(&server)).collect();
        let first = SystemClock::now();
        clients[0].get("/");
        std::thread::sleep(ms(100));
        for client in &mut clients {
            client.write("GET / HTTP/1.1\r\n\r\n");
        }
        for client in &mut clients {
            assert_eq!(client.response().status, 200);
            assert!(SystemClock::now().since(first) >= ms(200));
        }
    }
}
