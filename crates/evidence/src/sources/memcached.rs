//! Memcached 1.4 and later, through the `stats` command of its text protocol (memcached, `doc/protocol.txt`).
//!
//! The source's own connection is subtracted.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use model::{Evidence, SignalId};

use super::Kind;
use crate::answer::{Answer, Counters, SignalQuery, source_error};
use crate::contract::{About, Check, Moment, Period, Source, SourceError};
use crate::settings::{Settings, SettingsError};

/// Timeout of connecting, and of each read and write.
const LIMIT: Duration = Duration::from_secs(2);

/// Maximum length of the response, bytes: a server lists some 80 short lines.
const RESPONSE_BYTES_MAX: u64 = 64 * 1024;

/// This kind of source.
pub(super) const KIND: Kind = Kind {
    name: "memcached",
    provides: "Memcached: memory, hits, misses, evictions and connections.",
    example: "localhost:11211",
    settings: &[("step", "interval between queries [default: 1s]")],
    open,
};

const CONNECTIONS: SignalQuery = SignalQuery::new(SignalId::Clients, "stats: curr_connections");

/// Levels by name.
const NOW: &[(SignalQuery, &str)] = &[
    (SignalQuery::new(SignalId::MemoryUsed, "stats: bytes"), "bytes"),
    (SignalQuery::new(SignalId::MemoryMax, "stats: limit_maxbytes"), "limit_maxbytes"),
    (SignalQuery::new(SignalId::ClientsMax, "stats: max_connections"), "max_connections"),
];

/// Counters by name.
const COUNTS: &[(SignalQuery, &str)] = &[
    (SignalQuery::new(SignalId::Hits, "stats: get_hits"), "get_hits"),
    (SignalQuery::new(SignalId::Misses, "stats: get_misses"), "get_misses"),
    (SignalQuery::new(SignalId::Evicted, "stats: evictions"), "evictions"),
];

const REMEDY: &str = "start memcached with its text protocol (-B auto or -B ascii) and give HOST:PORT";

fn open(settings: &Settings) -> Result<Box<dyn Source>, SettingsError> {
    Ok(Box::new(Memcached::new(settings)?))
}

struct Memcached {
    name: String,
    address: String,
    step: Duration,
    counters: Counters,
}

impl Source for Memcached {
    fn about(&self) -> About {
        About { name: self.name.clone(), kind: KIND.name, address: self.address.clone() }
    }

    fn probe(&mut self) -> Vec<Check> {
        match self.ask() {
            Ok(stats) => {
                let version = stats.get("version").map_or("(unknown version)", String::as_str);
                vec![Check::works("stats", format!("memcached {version}"))]
            }
            Err(SourceError { message, .. }) => vec![Check::fails("stats", message, REMEDY)],
        }
    }

    fn period(&self) -> Option<Duration> {
        Some(self.step)
    }

    fn sample(&mut self, now: Moment) -> Result<Evidence, SourceError> {
        let stats = self.ask()?;
        let number = |name: &str| stats.get(name)?.parse::<f64>().ok();
        let mut answer = Answer::new(&self.name, now.at, self.step);
        // One connection is the query itself.
        if let Some(connections) = number("curr_connections") {
            answer.number(&CONNECTIONS, &[], (connections - 1.0).max(0.0));
        }
        for (query, name) in NOW {
            number(name).into_iter().for_each(|value| answer.number(query, &[], value));
        }
        self.counters.turn(now.at);
        for (query, name) in COUNTS {
            let rate = number(name).and_then(|count| self.counters.rate(name, count));
            rate.into_iter().for_each(|rate| answer.number(query, &[], rate));
        }
        Ok(answer.evidence())
    }

    fn look_back(&mut self, _: &Period) -> Result<Evidence, SourceError> {
        Ok(Evidence::default())
    }
}

impl Memcached {
    fn new(settings: &Settings) -> Result<Memcached, SettingsError> {
        Ok(Memcached {
            name: settings.name.clone(),
            address: settings.address.clone(),
            step: settings.duration("step", Duration::from_secs(1))?,
            counters: Counters::default(),
        })
    }

    fn ask(&self) -> Result<HashMap<String, String>, SourceError> {
        let response = self.response().map_err(|error| source_error(&error))?;
        parse(&response).ok_or_else(|| {
            SourceError::new(format!("{}: the response is not that of memcached's `stats`", self.address))
        })
    }

    fn response(&self) -> std::io::Result<String> {
        let mut addresses = self.address.to_socket_addrs()?;
        let address = addresses.next().ok_or(std::io::ErrorKind::AddrNotAvailable)?;
        let mut connection = TcpStream::connect_timeout(&address, LIMIT)?;
        connection.set_read_timeout(Some(LIMIT))?;
        connection.set_write_timeout(Some(LIMIT))?;
        connection.write_all(b"stats\r\n")?;
        let mut response = String::new();
        for line in BufReader::new(connection.take(RESPONSE_BYTES_MAX)).lines() {
            let line = line?;
            let is_last = !line.starts_with("STAT ");
            response.push_str(&line);
            response.push('\n');
            if is_last {
                break;
            }
        }
        Ok(response)
    }
}

/// Returns the values by name; `None` if the response does not end as the protocol says.
fn parse(response: &str) -> Option<HashMap<String, String>> {
    let lines = response.strip_suffix("END\n")?.lines();
    let pair = |line: &str| {
        let (name, value) = line.strip_prefix("STAT ")?.split_once(' ')?;
        Some((name.to_owned(), value.to_owned()))
    };
    lines.map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::promises;
    use crate::trial;

    fn made(address: &str) -> Memcached {
        Memcached::new(&trial::settings("memcached", address, None)).expect("settings that are right")
    }

    #[test]
    fn a_response_is_read_to_its_end_and_nothing_else_is() {
        let stats = parse("STAT version 1.6.18\nSTAT get_hits 12\nEND\n").expect("a response");
        assert_eq!(stats["version"], "1.6.18");
        assert_eq!(stats["get_hits"], "12");
        assert_eq!(parse("STAT version 1.6.18\n"), None, "cut off");
        assert_eq!(parse("ERROR\n"), None);
        assert_eq!(parse("HTTP/1.1 400 Bad Request\nEND\n"), None);
    }

    #[test]
    fn an_absent_server_is_reported() {
        promises::of_an_absent_server(&mut made("127.0.0.1:1"));
    }
}
