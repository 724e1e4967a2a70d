//! The server under test of the long run: it counts complete requests exactly and misbehaves on command.
//!
//! It is a process of its own. Commands come on stdin, one per line: `ok`, `reset`, `errors`,
//! `stall MS`, `refuse`, `listen`. At the end of stdin the server is dropped first, and then its counts are printed as one line of
//! JSON, so that no request is missing.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, bail};
use model::{Instant, SystemClock};
use serde::{Deserialize, Serialize};
use testkit::reply::{Reply, ReplyEnd};
use testkit::request::Request;
use testkit::{Listen, Server, Service};

/// Of this many requests one is answered as usual while the server resets connections or answers with errors.
const SPARED: u64 = 2;

/// The behaviour of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Ok = 0,
    Reset = 1,
    Errors = 2,
}

/// Counts of a server's process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counts {
    /// Complete requests.
    pub(super) seen: u64,
    /// Complete requests whose iteration of their VU came before.
    pub(super) repeated: u64,
    /// Requests for which an answer was written.
    pub(super) answered: u64,
    /// Requests whose connection was reset on purpose.
    pub(super) reset: u64,
}

impl Counts {
    /// Adds the counts of another process.
    pub(super) fn add(&mut self, other: Counts) {
        self.seen += other.seen;
        self.repeated += other.repeated;
        self.answered += other.answered;
        self.reset += other.reset;
    }
}

#[derive(Default)]
struct State {
    manner: AtomicU8,
    /// The end of the last stall, nanoseconds of the clock.
    stalled_until_ns: AtomicU64,
    seen: AtomicU64,
    repeated: AtomicU64,
    answered: AtomicU64,
    reset: AtomicU64,
    /// The next iteration of each VU.
    next: Mutex<HashMap<u32, u64>>,
}

impl State {
    fn is(&self, manner: Manner) -> bool {
        self.manner.load(Ordering::SeqCst) == manner as u8
    }

    /// Returns the time until the end of a stall.
    fn stall_left(&self) -> Duration {
        let end = Instant::from_ns(self.stalled_until_ns.load(Ordering::SeqCst));
        end.since(SystemClock::now())
    }

    fn count(&self, path: &str) -> u64 {
        let seen = self.seen.fetch_add(1, Ordering::SeqCst);
        let mut parts = path.trim_start_matches("/r/").split('/');
        let vu = parts.next().and_then(|vu| vu.parse().ok()).unwrap_or(0);
        let iteration: u64 = parts.next().and_then(|iteration| iteration.parse().ok()).unwrap_or(0);
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let next = next.entry(vu).or_default();
        if iteration < *next {
            self.repeated.fetch_add(1, Ordering::SeqCst);
        }
        *next = (*next).max(iteration + 1);
        seen
    }

    fn counts(&self) -> Counts {
        let read = |count: &AtomicU64| count.load(Ordering::SeqCst);
        Counts {
            seen: read(&self.seen),
            repeated: read(&self.repeated),
            answered: read(&self.answered),
            reset: read(&self.reset),
        }
    }
}

struct Faulty(Arc<State>);

impl Service for Faulty {
    async fn answer(&self, request: &Request) -> Reply {
        let number = self.0.count(request.path());
        let is_spared = number.is_multiple_of(SPARED);
        if self.0.is(Manner::Reset) && !is_spared {
            self.0.reset.fetch_add(1, Ordering::SeqCst);
            return Reply::silence(Vec::new(), ReplyEnd::Reset);
        }
        self.0.answered.fetch_add(1, Ordering::SeqCst);
        let reply = match self.0.is(Manner::Errors) && !is_spared {
            true => Reply::text(500, "an error on purpose\n"),
            false => Reply::text(200, "served\n"),
        };
        reply.after(self.0.stall_left())
    }
}

/// Serves on a port of 127.0.0.1 (0: a free one) until stdin ends. The first line on stdout is the port.
pub(super) fn serve(port: u16) -> anyhow::Result<()> {
    let state = Arc::new(State::default());
    let start = |port: u16| {
        let server = Server::start(Faulty(state.clone()), Listen { port, ..Listen::default() });
        server.map_err(|error| anyhow::anyhow!("{error}")).context("start the server under test")
    };
    let first = start(port)?;
    let port = first.address().port();
    let mut server = Some(first);
    print(&port.to_string())?;
    for line in std::io::stdin().lock().lines() {
        let line = line.context("read a command")?;
        let (command, argument) = line.split_once(' ').unwrap_or((&line, ""));
        match command {
            "ok" => state.manner.store(Manner::Ok as u8, Ordering::SeqCst),
            "reset" => state.manner.store(Manner::Reset as u8, Ordering::SeqCst),
            "errors" => state.manner.store(Manner::Errors as u8, Ordering::SeqCst),
            "stall" => {
                let end =
                    SystemClock::now() + Duration::from_millis(argument.parse().context("read a stall")?);
                state.stalled_until_ns.store(end.as_ns(), Ordering::SeqCst);
            }
            "refuse" => server = None,
            "listen" if server.is_none() => server = Some(start(port)?),
            other => bail!("understand the command {other:?}"),
        }
    }
    drop(server);
    print(&serde_json::to_string(&state.counts()).context("write the counts")?)
}

fn print(line: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).context("print a line")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_once_each() {
        let state = State::default();
        for path in ["/r/1/0", "/r/2/0", "/r/1/1", "/r/1/0", "/r/2/5", "/r/2/5"] {
            state.count(path);
        }
        let counts = state.counts();
        assert_eq!((counts.seen, counts.repeated), (6, 2));
    }
}
