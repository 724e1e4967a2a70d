//! `NO_PROXY`: what goes without a proxy.

use std::net::IpAddr;

use crate::rules::Block;
use crate::target::Target;

/// One entry.
#[derive(Debug)]
pub(super) enum Bypass {
    Everything,
    Network(Block),
    Address(IpAddr, Option<u16>),
    /// A name with all names below it, or only those below it.
    Name {
        suffix: String,
        is_itself: bool,
        port: Option<u16>,
    },
}

impl Bypass {
    /// The entry `text`; `None` for an empty one.
    pub(super) fn parse(text: &str) -> Option<Bypass> {
        let text = text.trim().to_ascii_lowercase();
        if text.is_empty() {
            return None;
        }
        if text == "*" {
            return Some(Bypass::Everything);
        }
        if let Ok(network) = Block::parse(&text) {
            return Some(Bypass::Network(network));
        }
        if let Ok(ip) = text.trim_start_matches('[').trim_end_matches(']').parse() {
            return Some(Bypass::Address(ip, None));
        }
        let (host, port) =
            match text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?))) {
                Some((host, port)) => (host.to_owned(), Some(port)),
                None => (text, None),
            };
        if let Ok(ip) = host.trim_start_matches('[').trim_end_matches(']').parse() {
            return Some(Bypass::Address(ip, port));
        }
        let host = host.trim_start_matches('*');
        let is_itself = !host.starts_with('.');
        let suffix = if is_itself { format!(".{host}") } else { host.to_owned() };
        Some(Bypass::Name { suffix, is_itself, port })
    }

    /// Whether `target` is meant.
    pub(super) fn covers(&self, target: &Target) -> bool {
        let is_port = |port: &Option<u16>| port.is_none_or(|port| port == target.port());
        match self {
            Bypass::Everything => true,
            Bypass::Network(network) => target.ip().is_some_and(|ip| network.contains(ip)),
            Bypass::Address(ip, port) => target.ip() == Some(*ip) && is_port(port),
            Bypass::Name { suffix, is_itself, port } => {
                let host = target.host().to_ascii_lowercase();
                let is_named = host.ends_with(suffix) || (*is_itself && host == suffix[1..]);
                is_named && is_port(port)
            }
        }
    }
}
