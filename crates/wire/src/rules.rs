//! Address rules: `hosts`, `blockHostnames`, `blacklistIPs`, and the hosts that a user allows.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use model::plan::NetworkOptions;

use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::setup_error::SetupError;

/// Where connections go instead, and where they must not go.
#[derive(Debug)]
pub(crate) struct Rules {
    hosts: NameTable<Place>,
    blocked: NameTable<()>,
    blacklist: Vec<Block>,
    allowed: Option<Allowed>,
}

/// The only hosts that may be connected to.
#[derive(Debug, Default)]
struct Allowed {
    names: NameTable<()>,
    blocks: Vec<Block>,
}

impl Allowed {
    fn new(hosts: &[String]) -> Result<Allowed, SetupError> {
        let mut allowed = Allowed::default();
        for host in hosts {
            if host.contains('/') {
                allowed.blocks.push(Block::parse(host)?);
            } else if let Ok(ip) = host.parse::<IpAddr>() {
                let width_bits = if ip.is_ipv4() { 32 } else { 128 };
                allowed.blocks.push(Block { text: host.clone(), network: ip, prefix_bits: width_bits });
            } else {
                allowed.names.insert(host, ());
            }
        }
        Ok(allowed)
    }
}

/// Where a name leads: an address and perhaps a port of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) ip: IpAddr,
    pub(crate) port: Option<u16>,
}

impl Rules {
    /// The rules in `options`.
    ///
    /// # Errors
    /// A block or an address cannot be read.
    pub(crate) fn new(options: &NetworkOptions) -> Result<Rules, SetupError> {
        let mut hosts = NameTable::default();
        for (name, place) in &options.hosts {
            let read = parse_place(place);
            let place = read.ok_or_else(|| SetupError::Host { name: name.clone(), place: place.clone() })?;
            hosts.insert(name, place);
        }
        let mut blocked = NameTable::default();
        for name in &options.block_hostnames {
            blocked.insert(name, ());
        }
        let blacklist =
            options.blacklist_ips.iter().map(|text| Block::parse(text)).collect::<Result<_, _>>()?;
        let allowed = options.allowed_hosts.as_deref().map(Allowed::new).transpose()?;
        Ok(Rules { hosts, blocked, blacklist, allowed })
    }

    /// Refuses a host that is not among those the user allows (code 1111). `known_ip` is its address where no name is looked up:
    /// where an option of the script leads, the name allows nothing.
    pub(crate) fn check_allowed(&self, host: &str, known_ip: Option<IpAddr>) -> Result<(), Error> {
        let Some(allowed) = &self.allowed else { return Ok(()) };
        let is_allowed = match known_ip {
            Some(ip) => allowed.blocks.iter().any(|block| block.contains(ip)),
            None => allowed.names.get(host).is_some(),
        };
        if is_allowed {
            return Ok(());
        }
        let message = "host is not allowed";
        let detail = format!("host ({host}) is not among the allowed ones (--allow-host)");
        Err(Error::new(ErrorCode::BLOCKED_HOSTNAME, Stage::Prepare, Kind::Blocked, message)
            .with_detail(detail))
    }

    /// Refuses a forbidden name (code 1111).
    pub(crate) fn check_name(&self, host: &str) -> Result<(), Error> {
        let Some((pattern, ())) = self.blocked.get(host) else { return Ok(()) };
        let message = "hostname is blocked";
        let detail = format!("hostname ({host}) is in a blocked pattern ({pattern})");
        Err(Error::new(ErrorCode::BLOCKED_HOSTNAME, Stage::Prepare, Kind::Blocked, message)
            .with_detail(detail))
    }

    /// Refuses a forbidden address (code 1110).
    pub(crate) fn check_address(&self, ip: IpAddr) -> Result<(), Error> {
        let Some(block) = self.blacklist.iter().find(|block| block.contains(ip)) else { return Ok(()) };
        let message = "ip is blacklisted";
        let detail = format!("IP ({ip}) is in a blacklisted range ({})", block.text);
        Err(Error::new(ErrorCode::BLACKLISTED_IP, Stage::Prepare, Kind::Blocked, message).with_detail(detail))
    }

    /// Where `host` leads by option: an entry with the port wins over one without.
    pub(crate) fn place_of(&self, host: &str, port: u16) -> Option<Place> {
        if self.hosts.is_empty() {
            return None;
        }
        let is_v6 = host.contains(':');
        let with_port = if is_v6 { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        let found = self.hosts.get(&with_port).or_else(|| self.hosts.get(host));
        found.map(|(_, place)| *place)
    }
}

fn parse_place(text: &str) -> Option<Place> {
    if let Ok(ip) = text.trim_start_matches('[').trim_end_matches(']').parse() {
        return Some(Place { ip, port: None });
    }
    let address: SocketAddr = text.parse().ok()?;
    Some(Place { ip: address.ip(), port: Some(address.port()) })
}

/// Names, and patterns such as `*.example.com` for everything below a name.
#[derive(Debug)]
struct NameTable<T> {
    exact: HashMap<String, (String, T)>,
    /// By what follows the `*`.
    below: HashMap<String, (String, T)>,
}

impl<T> Default for NameTable<T> {
    fn default() -> Self {
        NameTable { exact: HashMap::new(), below: HashMap::new() }
    }
}

impl<T> NameTable<T> {
    fn insert(&mut self, pattern: &str, value: T) {
        let name = pattern.to_ascii_lowercase();
        match name.strip_prefix('*') {
            Some(suffix) => self.below.insert(suffix.to_owned(), (pattern.to_owned(), value)),
            None => self.exact.insert(name, (pattern.to_owned(), value)),
        };
    }

    fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.below.is_empty()
    }

    /// The entry for `name`: the name itself, otherwise its longest pattern.
    fn get(&self, name: &str) -> Option<(&str, &T)> {
        if self.is_empty() {
            return None;
        }
        let name = name.to_ascii_lowercase();
        let exact = self.exact.get(&name);
        let found = exact.or_else(|| {
            let mut dots = name.match_indices('.');
            dots.find_map(|(dot, _)| self.below.get(&name[dot..])).or_else(|| self.below.get(""))
        });
        found.map(|(pattern, value)| (pattern.as_str(), value))
    }
}

/// A block of addresses, as in `10.0.0.0/8`.
#[derive(Debug)]
pub(crate) struct Block {
    text: String,
    network: IpAddr,
    prefix_bits: u32,
}

impl Block {
    pub(crate) fn parse(text: &str) -> Result<Block, SetupError> {
        let bad = || SetupError::Cidr(text.to_owned());
        let (network, prefix) = text.split_once('/').ok_or_else(bad)?;
        let network: IpAddr = network.parse().map_err(|_| bad())?;
        let prefix_bits: u32 = prefix.parse().map_err(|_| bad())?;
        let width_bits = if network.is_ipv4() { 32 } else { 128 };
        if prefix_bits > width_bits {
            return Err(bad());
        }
        Ok(Block { text: text.to_owned(), network, prefix_bits })
    }

    pub(crate) fn contains(&self, ip: IpAddr) -> bool {
        // An IPv4 address in IPv6 clothes is still that IPv4 address.
        match (self.network, ip.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(ip)) => {
                let differing = network.to_bits() ^ ip.to_bits();
                differing.checked_shr(32 - self.prefix_bits).unwrap_or_default() == 0
            }
            (IpAddr::V6(network), IpAddr::V6(ip)) => {
                let differing = network.to_bits() ^ ip.to_bits();
                differing.checked_shr(128 - self.prefix_bits).unwrap_or_default() == 0
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(hosts: &[(&str, &str)], blocked: &[&str], blacklist: &[&str]) -> Result<Rules, SetupError> {
        let strings = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        Rules::new(&NetworkOptions {
            hosts: hosts.iter().map(|(name, place)| ((*name).to_owned(), (*place).to_owned())).collect(),
            block_hostnames: strings(blocked),
            blacklist_ips: strings(blacklist),
            ..NetworkOptions::default()
        })
    }

    #[test]
    fn hosts_lead_elsewhere() {
        let hosts = [
            ("a.test", "127.0.0.1"),
            ("A.test:81", "127.0.0.2:8081"),
            ("*.b.test", "[::1]:8080"),
            ("*.c.b.test", "::1"),
            ("10.0.0.1", "127.0.0.3"),
        ];
        let rules = rules(&hosts, &[], &[]).unwrap();
        let check = |host, port, expect: Option<(&str, Option<u16>)>| {
            let expect = expect.map(|(ip, port)| Place { ip: ip.parse().unwrap(), port });
            assert_eq!(rules.place_of(host, port), expect, "{host}:{port}");
        };
        check("a.test", 80, Some(("127.0.0.1", None)));
        check("a.TEST", 81, Some(("127.0.0.2", Some(8081))));
        check("x.b.test", 80, Some(("::1", Some(8080))));
        check("y.x.b.test", 80, Some(("::1", Some(8080))));
        check("x.c.b.test", 80, Some(("::1", None)));
        check("10.0.0.1", 80, Some(("127.0.0.3", None)));
        check("b.test", 80, None);
        check("xb.test", 80, None);
    }

    #[test]
    fn names_and_addresses_are_refused() {
        let rules = rules(&[], &["no.test", "*.n2.test"], &["10.0.0.0/8", "::1/128", "1.2.3.4/32"]).unwrap();
        let name = |host| rules.check_name(host).err().map(|error| error.code.0);
        assert_eq!(name("no.test"), Some(1111));
        assert_eq!(name("a.n2.test"), Some(1111));
        assert_eq!(name("n2.test"), None);
        assert_eq!(name("a.no.test"), None);
        let address = |ip: &str| rules.check_address(ip.parse().unwrap()).err().map(|error| error.code.0);
        assert_eq!(address("10.255.0.1"), Some(1110));
        assert_eq!(address("11.0.0.1"), None);
        assert_eq!(address("::ffff:10.0.0.1"), Some(1110));
        assert_eq!(address("::1"), Some(1110));
        assert_eq!(address("::2"), None);
        assert_eq!(address("1.2.3.4"), Some(1110));
        assert_eq!(address("1.2.3.5"), None);
        let error = rules.check_name("a.n2.test").unwrap_err();
        assert_eq!(error.story(), "hostname (a.n2.test) is in a blocked pattern (*.n2.test)");
    }

    #[test]
    fn only_allowed_hosts_are_connected_to() {
        let rules = |allowed: &[&str]| {
            Rules::new(&NetworkOptions {
                allowed_hosts: Some(allowed.iter().map(|host| (*host).to_owned()).collect()),
                ..NetworkOptions::default()
            })
        };
        let some = rules(&["a.test", "*.b.test", "127.0.0.0/8", "::1", "10.0.0.7"]).unwrap();
        let check = |host: &str, ip: Option<&str>, expect: bool| {
            let ip = ip.map(|ip| ip.parse().unwrap());
            assert_eq!(some.check_allowed(host, ip).is_ok(), expect, "{host} {ip:?}");
        };
        check("a.test", None, true);
        check("A.TEST", None, true);
        check("x.b.test", None, true);
        check("b.test", None, false);
        check("c.test", None, false);
        check("127.9.9.9", Some("127.9.9.9"), true);
        check("::1", Some("::1"), true);
        check("10.0.0.7", Some("10.0.0.7"), true);
        check("10.0.0.8", Some("10.0.0.8"), false);
        // The option `hosts` leads an allowed name elsewhere.
        check("a.test", Some("8.8.8.8"), false);
        check("c.test", Some("127.0.0.1"), true);
        let error = some.check_allowed("c.test", None).unwrap_err();
        assert_eq!(error.story(), "host (c.test) is not among the allowed ones (--allow-host)");
        assert!(rules(&[]).unwrap().check_allowed("a.test", None).is_err());
        assert!(rules(&["10.0.0.0/99"]).is_err());
        let free = Rules::new(&NetworkOptions::default()).unwrap();
        assert!(free.check_allowed("c.test", None).is_ok());
    }

    #[test]
    fn everything_can_be_refused() {
        let rules = rules(&[], &["*"], &["0.0.0.0/0"]).unwrap();
        assert!(rules.check_name("any.test").is_err());
        assert!(rules.check_address("8.8.8.8".parse().unwrap()).is_err());
        assert!(rules.check_address("::2".parse().unwrap()).is_ok());
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for bad in ["10.0.0.0", "10.0.0.0/33", "x/8", "10.0.0.0/-1", "::/129", ""] {
            assert!(rules(&[], &[], &[bad]).unwrap_err().to_string().contains(&format!("{bad:?}")), "{bad}");
        }
        for bad in ["", "x", "1.2.3.4:99999", "other.test:80"] {
            assert!(rules(&[("h", bad)], &[], &[]).unwrap_err().to_string().contains(&format!("{bad:?}")));
        }
    }
}
