//! The hold server: the timing oracle. Every reply says how long the server held it.

use std::time::Duration;

use model::SystemClock;
use serde_json::json;

use crate::connection::Service;
use crate::reply::Reply;
use crate::request::Request;
use crate::server::{Listen, Server, StartError};
use crate::timer::Timer;

/// The longest hold a request can ask for.
const MAX_HOLD: Duration = Duration::from_secs(600);

/// The header that carries the measured hold, in nanoseconds.
pub const HOLD_HEADER: &str = "x-hold-ns";

/// The service behind [`start`]: any path, `?ms=` (fractions allowed, 0 by default).
#[derive(Debug)]
struct Hold {
    timer: Timer,
}

impl Service for Hold {
    async fn answer(&self, request: &Request) -> Reply {
        let ms = request.query_value("ms").and_then(|ms| ms.parse::<f64>().ok());
        // An invalid or negative time is no hold.
        let ms = ms.filter(|ms| ms.is_finite()).unwrap_or(0.0);
        let hold =
            Duration::try_from_secs_f64(ms.min(MAX_HOLD.as_secs_f64() * 1e3) / 1e3).unwrap_or_default();
        self.timer.sleep_until(request.read_at + hold).await;
        // Measured as late as possible: what follows is the formatting and the write itself.
        let hold_ns = SystemClock::now().since(request.read_at).as_nanos() as u64;
        let headers = [("content-type", "application/json"), (HOLD_HEADER, &hold_ns.to_string())];
        Reply::new(200, &headers, json!({"hold_ns": hold_ns}).to_string().as_bytes())
    }
}

/// Starts the hold server. It measures from the request's last byte read to right before the reply is written.
pub fn start(listen: Listen) -> Result<Server, StartError> {
    let timer = Timer::start().map_err(StartError::Thread)?;
    Server::start(Hold { timer }, listen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Client;

    #[test]
    fn the_reported_hold_is_what_was_asked_and_less_than_what_the_client_saw() {
        let server = start(Listen::default()).expect("start");
        let mut client = Client::new(&server);
        for (target, at_least_ns) in [
            ("/hold", 0),
            ("/hold?ms=20", 20_000_000),
            ("/hold?ms=1.5", 1_500_000),
            ("/hold?ms=-1", 0),
            ("/hold?ms=NaN", 0),
        ] {
            let before = SystemClock::now();
            let response = client.get(target);
            let seen_ns = SystemClock::now().since(before).as_nanos() as u64;
            let hold_ns: u64 = response.header(HOLD_HEADER).and_then(|ns| ns.parse().ok()).expect("a hold");
            assert!((at_least_ns..seen_ns).contains(&hold_ns), "{target}: held {hold_ns}, seen {seen_ns}");
            assert_eq!(response.json()["hold_ns"], hold_ns);
        }
    }
}
