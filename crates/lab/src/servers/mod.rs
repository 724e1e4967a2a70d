//! The servers that a system can ask for, one file each: Debian's own, in a private directory, on free loopback ports.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::LabError;
use crate::process::{self, Launch};

mod front;
mod mariadb;
mod mosquitto;
mod nginx;
mod postgres;
mod prometheus;
mod rabbitmq;
mod redis;
mod replica;

pub use front::{Front, Site};
pub use replica::Replica;

/// How long a server may take over one answer while it is asked whether it is ready.
const PROBE_LIMIT: Duration = Duration::from_millis(500);

/// PostgreSQL with `pg_stat_statements`.
pub static POSTGRES: &dyn Server = &postgres::Postgres;
/// Redis.
pub static REDIS: &dyn Server = &redis::Redis;
/// RabbitMQ with its management plugin.
pub static RABBITMQ: &dyn Server = &rabbitmq::RabbitMq;
/// MariaDB.
pub static MARIADB: &dyn Server = &mariadb::MariaDb;
/// Mosquitto.
pub static MOSQUITTO: &dyn Server = &mosquitto::Mosquitto;
/// NGINX.
pub static NGINX: &dyn Server = &nginx::Nginx;
/// Prometheus, which scrapes the system's service.
pub static PROMETHEUS: &dyn Server = &prometheus::Prometheus;

/// A kind of server.
pub trait Server: std::fmt::Debug + Sync {
    /// Its name: `postgres`.
    fn name(&self) -> &'static str;
    /// Debian's package that holds it.
    fn package(&self) -> &'static str;
    /// The program that it is.
    fn program(&self) -> &'static str;
    /// Whether all it needs is installed.
    fn is_installed(&self) -> bool {
        process::find_program(self.program()).is_some()
    }
    /// Whether this variant of the system needs it.
    fn is_needed(&self, _variant: &str) -> bool {
        true
    }
    /// Whether users go to it instead of to the system's service.
    fn is_front(&self) -> bool {
        false
    }
    /// How many ports it listens on.
    fn port_count(&self) -> usize {
        1
    }
    /// Makes what it needs in its directory, and says which processes to start, in order.
    ///
    /// # Errors
    /// It cannot be prepared.
    fn prepare(&self, place: &Place) -> Result<Vec<Launch>, LabError>;
    /// Whether it answers as it does when it works. It is asked again until it does.
    fn is_ready(&self, place: &Place) -> bool;
    /// How its users reach it, password included.
    fn url(&self, place: &Place) -> String;
    /// Its metrics endpoint, where it has one.
    fn offer(&self, _place: &Place) -> Option<Offer> {
        None
    }
    /// Removes what it left outside its directory when it was ended without a chance to.
    fn sweep(&self, _directory: &Path) {}
}

/// Where a server's program is.
fn path_of(server: &dyn Server) -> Result<PathBuf, LabError> {
    process::find_program(server.program())
        .ok_or_else(|| LabError::start(server.name(), "it is not installed"))
}

/// The metrics endpoint of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Which kind of source of evidence it is: `postgresql`.
    pub kind: String,
    /// Where, without the password.
    pub address: String,
    /// The password, where it asks for one.
    pub password: Option<String>,
}

/// Where a server is started.
#[derive(Clone, Debug)]
pub struct Place {
    /// A directory of its own.
    pub directory: PathBuf,
    /// Its ports on 127.0.0.1.
    pub ports: Vec<u16>,
    /// The password that it asks its users for.
    pub password: String,
    /// The port on which the system's service shows its metrics.
    pub service_control_port: u16,
    /// The system that it is started for.
    pub around: Around,
}

/// The lab around a server; empty where it is started alone.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// The system's name.
    pub system: String,
    /// The variant's name.
    pub variant: String,
    /// The port that the system's service answers on.
    pub service_port: u16,
    /// The base URL that spans go to.
    pub otlp: Option<String>,
    /// Seconds between two runs of what the system does periodically.
    pub refresh_s: u64,
    /// The ports of every server of the lab, by its name.
    pub ports: BTreeMap<&'static str, Vec<u16>>,
}

impl Place {
    fn address(&self, port: usize) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.ports[port]))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, LabError> {
        let path = self.file(name);
        crate::state::write_privately(&path, text.as_bytes())?;
        Ok(path)
    }
}

/// Returns a server's answer to these bytes, as far as it comes at once.
fn exchange(address: SocketAddr, request: &[u8]) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect_timeout(&address, PROBE_LIMIT).ok()?;
    stream.set_read_timeout(Some(PROBE_LIMIT)).ok()?;
    stream.write_all(request).ok()?;
    let mut answer = vec![0; 512];
    let length = stream.read(&mut answer).ok()?;
    answer.truncate(length);
    Some(answer)
}

/// The URLs of several servers, by name.
pub(crate) fn urls<'a>(
    servers: impl IntoIterator<Item = (&'a dyn Server, &'a Place)>,
) -> BTreeMap<String, String> {
    servers.into_iter().map(|(server, place)| (server.name().to_owned(), server.url(place))).collect()
}

/// Metrics of several servers, by name.
pub(crate) fn offers<'a>(
    servers: impl IntoIterator<Item = (&'a dyn Server, &'a Place)>,
) -> BTreeMap<String, Offer> {
    let offer =
        |(server, place): (&dyn Server, &Place)| Some((server.name().to_owned(), server.offer(place)?));
    servers.into_iter().filter_map(offer).collect()
}

/// A password of 128 random bits.
pub(crate) fn password() -> Result<String, LabError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| LabError::Other(format!("make a password: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
