//! `--out statsd`: counters, gauges and timings as datagrams of StatsD.
//!
//! StatsD has no timestamps and UDP no answers, so what arrives is unknown and said to be. To lose little, counters travel
//! as their sum per push interval, gauges as their last value, and timings one by one (a server makes percentiles of them
//! by itself), thinned out above a limit with the share that is left (`|@0.05`); and datagrams leave at a measured pace,
//! since a burst overflows the receiver's buffer.
//!
//! Sources: <https://github.com/statsd/statsd/blob/master/docs/metric_types.md> and
//! <https://docs.datadoghq.com/developers/dogstatsd/datagram_shell/>.

mod lines;

use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::time::Duration;

use model::Instant;

use crate::net::{self, Entry, Exporter, Feed, Payload, SendError};
use crate::setting::{duration, parsed, switch, text};
use crate::{Context, Kind, Output, OutputError};
use lines::{Lines, Style};

/// Where StatsD listens by default.
const ADDRESS_DEFAULT: &str = "localhost:8125";

/// k6's prefix for names.
const NAMESPACE_DEFAULT: &str = "k6.";

/// How often is sent.
const PUSH_INTERVAL_DEFAULT: Duration = Duration::from_secs(1);

/// Lines per datagram, k6's default.
const BUFFER_SIZE_DEFAULT: usize = 20;

/// Tags that have too many values.
const BLOCKLIST_DEFAULT: &str = "vu,iter,url";

/// Maximum bytes per datagram: fits into an Ethernet frame with tunnel headers, as StatsD's documentation advises.
const DATAGRAM_BYTES_MAX: usize = 1432;

/// Datagrams sent at once before a breath.
const BURST_DATAGRAMS: u64 = 16;

/// The breath after a burst, so that a receiver with the usual buffer of 208 KiB keeps up.
const BREATH: Duration = Duration::from_millis(1);

pub(crate) const KIND: Kind = Kind {
    name: "statsd",
    help: "statsd[=HOST:PORT]: counters, gauges and timings over UDP; K6_STATSD_ADDR, _NAMESPACE, _PUSH_INTERVAL, \
           _BUFFER_SIZE, _ENABLE_TAGS, _TAG_BLOCKLIST",
    open,
};

fn open(argument: &str, context: &Context) -> Result<Box<dyn Output>, OutputError> {
    let argument = (!argument.is_empty()).then(|| argument.to_owned());
    let address = argument.or(text(context, "K6_STATSD_ADDR")).unwrap_or_else(|| ADDRESS_DEFAULT.to_owned());
    let socket = socket(&address)?;
    let lines_max = parsed(context, "K6_STATSD_BUFFER_SIZE", "a number above zero", |lines| {
        lines.parse::<usize>().ok().filter(|lines| *lines > 0)
    })?;
    let blocklist = text(context, "K6_STATSD_TAG_BLOCKLIST").unwrap_or_else(|| BLOCKLIST_DEFAULT.to_owned());
    let style = Style {
        namespace: text(context, "K6_STATSD_NAMESPACE").unwrap_or_else(|| NAMESPACE_DEFAULT.to_owned()),
        has_tags: switch(context, "K6_STATSD_ENABLE_TAGS")?,
        blocklist: blocklist.split(',').map(|name| name.trim().to_owned()).collect(),
    };
    let exporter = StatsD {
        lines: Lines::new(context.clone(), style),
        socket,
        lines_max: lines_max.unwrap_or(BUFFER_SIZE_DEFAULT),
        datagrams: 0,
    };
    let push_interval = duration(context, "K6_STATSD_PUSH_INTERVAL", PUSH_INTERVAL_DEFAULT)?;
    net::start(format!("statsd ({address})"), push_interval, Box::new(exporter))
}

/// A socket that sends to `address`, IPv4 first where a name has both, since most servers listen there alone.
fn socket(address: &str) -> Result<UdpSocket, OutputError> {
    let refuse = |expected| OutputError::Setting {
        setting: "the address".into(),
        value: address.to_owned(),
        expected,
    };
    let named = if address.starts_with(':') { format!("localhost{address}") } else { address.to_owned() };
    let resolved = named.to_socket_addrs().map_err(|_| refuse("an address such as localhost:8125"))?;
    let target = resolved.min_by_key(SocketAddr::is_ipv6);
    let target = target.ok_or_else(|| refuse("a host that has an address"))?;
    let local = if target.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" };
    let connected = UdpSocket::bind(local).and_then(|socket| socket.connect(target).map(|()| socket));
    connected.map_err(|_| refuse("an address that can be reached"))
}

struct StatsD {
    lines: Lines,
    socket: UdpSocket,
    lines_max: usize,
    datagrams: u64,
}

impl Exporter for StatsD {
    fn feed(&self) -> Feed {
        Feed::Samples
    }

    fn take(&mut self, entry: &Entry) -> u64 {
        let Entry::Samples(batch) = entry else { return 0 };
        batch.iter().filter(|(sample, _)| !self.lines.take(sample)).count() as u64
    }

    fn is_full(&self) -> bool {
        self.lines.is_full()
    }

    fn payloads(&mut self, _: Instant, _: bool) -> Vec<Payload> {
        datagrams(self.lines.drain(), self.lines_max)
    }

    fn send(&mut self, payload: &Payload, _: Duration) -> Result<(), SendError> {
        if payload.body.len() > DATAGRAM_BYTES_MAX {
            let why = format!("a line is longer than a datagram of {DATAGRAM_BYTES_MAX} bytes");
            return Err(SendError::Refused { why, lost: None });
        }
        self.datagrams += 1;
        if self.datagrams.is_multiple_of(BURST_DATAGRAMS) {
            std::thread::sleep(BREATH);
        }
        // A refusal is the answer to an earlier datagram, and this one was not sent in its place.
        let refused = |error: std::io::Error| SendError::Refused { why: error.to_string(), lost: None };
        self.socket.send(&payload.body).map(|_| ()).map_err(refused)
    }

    fn note(&self, sent: u64, _: u64) -> String {
        let thinned = match self.lines.thinned() {
            0 => String::new(),
            thinned => format!("; {thinned} timings stand for themselves by the rate of others"),
        };
        let datagrams = self.datagrams;
        format!("{sent} samples sent in {datagrams} datagrams; UDP does not say how many arrived{thinned}")
    }
}

/// Packs lines into datagrams of at most `lines_max` lines. A line that is too long stands alone.
fn datagrams(lines: Vec<Payload>, lines_max: usize) -> Vec<Payload> {
    let mut packed: Vec<Payload> = Vec::new();
    let mut in_last = 0;
    for line in lines {
        match packed.last_mut() {
            Some(last)
                if in_last < lines_max && last.body.len() + 1 + line.body.len() <= DATAGRAM_BYTES_MAX =>
            {
                last.body.push(b'\n');
                last.body.extend_from_slice(&line.body);
                last.count += line.count;
                in_last += 1;
            }
            _ => {
                packed.push(line);
                in_last = 1;
            }
        }
    }
    packed
}

#[cfg(test)]
mod tests;
