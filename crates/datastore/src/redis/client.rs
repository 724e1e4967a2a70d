//! A client: its connections, and which node answers for a key.

use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::timeout;

use super::resp::Reply;
use super::settings::{Node, Route, Settings};
use super::wire::Wire;
use crate::Dial;

/// Nodes that a client remembers connections to; a cluster has at most a thousand, and tests have a few.
const NODES_MAX: usize = 64;

/// Slots of a cluster.
const SLOTS: u16 = 16_384;

/// A failed command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedisError {
    /// The server's own words.
    #[error("{0}")]
    Server(String),
    /// No connection.
    #[error("{0}")]
    Dial(String),
    /// The connection broke, and whether the command took effect is unknown.
    #[error("{verb} {node}: {why}")]
    Broken {
        /// `write` or `read`.
        verb: &'static str,
        /// Host and port.
        node: String,
        /// The cause.
        why: String,
    },
}

/// A client of one server, of a master behind sentinels or of a cluster. Commands are answered one after the other.
pub struct Client {
    settings: Settings,
    dial: Rc<dyn Dial>,
    links: Mutex<Links>,
    is_connected: Cell<bool>,
}

#[derive(Default)]
struct Links {
    open: HashMap<Node, Wire>,
    /// Nodes by slot, as far as the cluster has named them.
    slots: HashMap<u16, Node>,
    /// The master that the sentinels named.
    master: Option<Node>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("is_connected", &self.is_connected).finish_non_exhaustive()
    }
}

impl Client {
    /// A client that connects when it is first used.
    pub fn new(settings: Settings, dial: Rc<dyn Dial>) -> Client {
        Client { settings, dial, links: Mutex::default(), is_connected: Cell::new(false) }
    }

    /// Whether the last command reached its server.
    pub fn is_connected(&self) -> bool {
        self.is_connected.get()
    }

    /// Sends a command and waits for its reply, which may be an error in an array.
    ///
    /// A future that is dropped closes its connection: the reply would be taken for that of the next command.
    ///
    /// # Errors
    /// See [`RedisError`].
    pub async fn call(&self, command: &[Vec<u8>]) -> Result<Reply, RedisError> {
        let mut links = self.links.lock().await;
        let result = self.route(&mut links, command).await;
        self.is_connected.set(matches!(result, Ok(_) | Err(RedisError::Server(_))));
        if !self.is_connected.get() {
            links.master = None;
        }
        match result? {
            Reply::Error(words) => Err(RedisError::Server(words)),
            reply => Ok(reply),
        }
    }

    async fn route(&self, links: &mut Links, command: &[Vec<u8>]) -> Result<Reply, RedisError> {
        let redirects_max = match &self.settings.route {
            Route::Single => return self.ask(links, &self.settings.nodes[0], command, false).await,
            Route::Sentinel { .. } => {
                let master = self.master(links).await?;
                return self.ask(links, &master, command, false).await;
            }
            Route::Cluster { redirects_max } => *redirects_max,
        };
        let slot = command.get(1).map_or(0, |key| slot_of(key));
        let known = links.slots.get(&slot).cloned();
        let mut node = known.unwrap_or_else(|| self.settings.nodes[0].clone());
        let mut seeds = self.settings.nodes.iter().filter(|seed| **seed != node).cloned().collect::<Vec<_>>();
        let mut is_asking = false;
        let mut redirects = 0;
        loop {
            let reply = match self.ask(links, &node, command, is_asking).await {
                Err(RedisError::Dial(_)) if !seeds.is_empty() => {
                    links.slots.remove(&slot);
                    node = seeds.remove(0);
                    continue;
                }
                other => other?,
            };
            let Some(redirect) = redirect_of(&reply, &node) else { return Ok(reply) };
            if redirects == redirects_max {
                return Ok(reply);
            }
            redirects += 1;
            is_asking = redirect.is_once;
            if !is_asking && redirect.slot < SLOTS {
                links.slots.insert(redirect.slot, redirect.node.clone());
            }
            node = redirect.node;
        }
    }

    /// The master that a sentinel names.
    async fn master(&self, links: &mut Links) -> Result<Node, RedisError> {
        if let Some(master) = &links.master {
            return Ok(master.clone());
        }
        let Route::Sentinel { name, username, password } = &self.settings.route else {
            return Ok(self.settings.nodes[0].clone());
        };
        let sentinel = &self.settings.nodes[0];
        let mut wire = self.connect(sentinel).await?;
        let session = Session { username, password, client_name: "", database: 0 };
        self.greet(&mut wire, sentinel, session).await?;
        let command = ["SENTINEL", "get-master-addr-by-name", name].map(|part| part.as_bytes().to_vec());
        let reply = self.exchange(&mut wire, sentinel, &command).await?;
        let unknown =
            || RedisError::Server(format!("the sentinel at {sentinel} knows no master named {name:?}"));
        let place = match reply {
            Reply::Array(place) => place,
            Reply::Error(words) => return Err(RedisError::Server(words)),
            _ => return Err(unknown()),
        };
        let [Reply::Text(host), Reply::Text(port)] = place.as_slice() else { return Err(unknown()) };
        let port = std::str::from_utf8(port).ok().and_then(|port| port.parse().ok()).ok_or_else(unknown)?;
        let host = String::from_utf8_lossy(host).into_owned();
        let master = Node { host, port, tls: sentinel.tls.clone() };
        links.master = Some(master.clone());
        Ok(master)
    }

    /// One command to one node.
    async fn ask(
        &self,
        links: &mut Links,
        node: &Node,
        command: &[Vec<u8>],
        is_asking: bool,
    ) -> Result<Reply, RedisError> {
        // Taken out while it is used: a future that is dropped drops the connection, too.
        let known = match links.open.remove(node) {
            Some(mut wire) => wire.is_idle().await.then_some(wire),
            None => None,
        };
        let mut wire = match known {
            Some(wire) => wire,
            None => {
                let mut wire = self.connect(node).await?;
                let settings = &self.settings;
                let session = Session {
                    username: &settings.username,
                    password: &settings.password,
                    client_name: &settings.client_name,
                    database: settings.database,
                };
                self.greet(&mut wire, node, session).await?;
                wire
            }
        };
        if is_asking {
            self.exchange(&mut wire, node, &[b"ASKING".to_vec()]).await?;
        }
        let reply = self.exchange(&mut wire, node, command).await?;
        if links.open.len() < NODES_MAX {
            links.open.insert(node.clone(), wire);
        }
        Ok(reply)
    }

    async fn connect(&self, node: &Node) -> Result<Wire, RedisError> {
        let opening = async {
            let stream = self.dial.open(&node.host, node.port).await?;
            match &node.tls {
                Some(tls) => self.dial.encrypt(stream, &node.host, tls).await,
                None => Ok(stream),
            }
        };
        let limit = self.settings.dial_timeout;
        match timeout(limit, opening).await {
            Ok(opened) => opened.map(Wire::new).map_err(RedisError::Dial),
            Err(_) => Err(RedisError::Dial(format!(
                "dial tcp {node}: no connection within {limit:?} (i/o timeout)"
            ))),
        }
    }

    /// Says who we are and what we work with.
    async fn greet(&self, wire: &mut Wire, node: &Node, session: Session<'_>) -> Result<(), RedisError> {
        let mut commands: Vec<Vec<&str>> = Vec::new();
        let database = session.database.to_string();
        match (session.username, session.password) {
            ("", "") => {}
            ("", password) => commands.push(vec!["AUTH", password]),
            (username, password) => commands.push(vec!["AUTH", username, password]),
        }
        if !session.client_name.is_empty() {
            commands.push(vec!["CLIENT", "SETNAME", session.client_name]);
        }
        if session.database != 0 {
            commands.push(vec!["SELECT", &database]);
        }
        for command in commands {
            let bytes: Vec<Vec<u8>> = command.iter().map(|part| part.as_bytes().to_vec()).collect();
            match self.exchange(wire, node, &bytes).await? {
                // A server without a password takes any, as in k6.
                Reply::Error(words) if words.contains("without any password configured") => {}
                Reply::Error(words) => return Err(RedisError::Server(words)),
                _ => {}
            }
        }
        Ok(())
    }

    async fn exchange(&self, wire: &mut Wire, node: &Node, command: &[Vec<u8>]) -> Result<Reply, RedisError> {
        within(self.settings.write_timeout, wire.send(command))
            .await
            .map_err(|why| broken("write", node, &why))?;
        within(self.settings.read_timeout, wire.reply()).await.map_err(|why| broken("read", node, &why))
    }
}

/// User, name and database of a new connection.
struct Session<'a> {
    username: &'a str,
    password: &'a str,
    client_name: &'a str,
    database: u32,
}

async fn within<T>(limit: Option<Duration>, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let Some(limit) = limit else { return work.await };
    timeout(limit, work).await.unwrap_or_else(|_| {
        Err(io::Error::new(io::ErrorKind::TimedOut, format!("nothing within {limit:?} (i/o timeout)")))
    })
}

fn broken(verb: &'static str, node: &Node, why: &io::Error) -> RedisError {
    RedisError::Broken { verb, node: node.to_string(), why: why.to_string() }
}

/// Another node that is to be asked.
#[derive(Debug, PartialEq, Eq)]
struct Redirect {
    slot: u16,
    node: Node,
    /// Whether it is asked this time only (`ASK`).
    is_once: bool,
}

/// `MOVED 3999 127.0.0.1:6381`, `ASK 3999 127.0.0.1:6381`; without a host it is that of the node that says so.
fn redirect_of(reply: &Reply, from: &Node) -> Option<Redirect> {
    let Reply::Error(words) = reply else { return None };
    let mut words = words.split(' ');
    let is_once = match words.next()? {
        "MOVED" => false,
        "ASK" => true,
        _ => return None,
    };
    let slot = words.next()?.parse().ok()?;
    let (host, port) = words.next()?.rsplit_once(':')?;
    let host = if host.is_empty() { from.host.clone() } else { host.to_owned() };
    Some(Redirect { slot, node: Node { host, port: port.parse().ok()?, tls: from.tls.clone() }, is_once })
}

/// The slot of a key: CRC-16 (XMODEM) of its part in braces, if it has one.
fn slot_of(key: &[u8]) -> u16 {
    let tag = key.iter().position(|byte| *byte == b'{').and_then(|open| {
        let length = key[open + 1..].iter().position(|byte| *byte == b'}')?;
        (length > 0).then(|| &key[open + 1..open + 1 + length])
    });
    let crc = tag.unwrap_or(key).iter().fold(0_u16, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
        })
    });
    crc % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_keys() {
        // The example of the cluster specification, and `CLUSTER KEYSLOT` of a server.
        for (key, expect) in
            [("123456789", 12739), ("foo", 12182), ("{foo}bar", 12182), ("a{}b", 13694), ("", 0)]
        {
            assert_eq!(slot_of(key.as_bytes()), expect, "{key}");
        }
    }

    #[test]
    fn redirects() {
        let from = Node { host: "here".into(), port: 1, tls: None };
        let check = |words: &str, expect: Option<(u16, &str, bool)>| {
            let redirect = redirect_of(&Reply::Error(words.to_owned()), &from);
            let redirect =
                redirect.map(|redirect| (redirect.slot, redirect.node.to_string(), redirect.is_once));
            assert_eq!(redirect, expect.map(|(slot, node, once)| (slot, node.to_owned(), once)), "{words}");
        };
        check("MOVED 3999 127.0.0.1:6381", Some((3999, "127.0.0.1:6381", false)));
        check("ASK 1 ::1:6381", Some((1, "[::1]:6381", true)));
        check("MOVED 1 :6381", Some((1, "here:6381", false)));
        check("MOVED", None);
        check("ERR no", None);
    }
}
