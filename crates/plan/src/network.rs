//! Options about names and addresses: `dns`, `hosts`, `blacklistIPs`, `blockHostnames`, `localIPs`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use model::plan::{DnsOptions, DnsPolicy, DnsSelect};
use serde_json::Value;

use crate::error::{Problem, hint, nearest};
use crate::value::{OptionValue, echo_or_null, field, gather, invalid, read_list, wrong_type};
use crate::{GoDuration, json};

/// The most local addresses that ranges may spell out.
pub const LOCAL_IPS_MAX: u128 = 65_536;

const SELECTS: [(&str, DnsSelect); 3] =
    [("first", DnsSelect::First), ("random", DnsSelect::Random), ("roundRobin", DnsSelect::RoundRobin)];

const POLICIES: [(&str, DnsPolicy); 5] = [
    ("preferIPv4", DnsPolicy::PreferIpv4),
    ("preferIPv6", DnsPolicy::PreferIpv6),
    ("onlyIPv4", DnsPolicy::OnlyIpv4),
    ("onlyIPv6", DnsPolicy::OnlyIpv6),
    ("any", DnsPolicy::Any),
];

/// The option `dns`; each part may come from another source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DnsConfig {
    /// A duration, `inf` or `0`, as written.
    pub ttl: Option<String>,
    /// `first`, `random`, `roundRobin`.
    pub select: Option<String>,
    /// `preferIPv4` and so on.
    pub policy: Option<String>,
}

impl DnsConfig {
    /// The settings, with k6's defaults for what is unset.
    pub fn resolve(&self) -> DnsOptions {
        let mut options = DnsOptions::default();
        if let Some(ttl) = self.ttl.as_deref().and_then(parse_ttl) {
            options.ttl = ttl;
        }
        options.select = self.select.as_deref().and_then(|it| lookup(&SELECTS, it)).unwrap_or(options.select);
        options.policy =
            self.policy.as_deref().and_then(|it| lookup(&POLICIES, it)).unwrap_or(options.policy);
        options
    }

    fn set(&mut self, name: &str, text: &str, at: &str) -> Result<(), Vec<Problem>> {
        let at = format!("{at}.{name}");
        match name {
            "ttl" if parse_ttl(text).is_some() => self.ttl = Some(text.to_owned()),
            "ttl" => return Err(invalid(&at, format!("{text:?} is not a duration, \"inf\" or \"0\""))),
            "select" => self.select = Some(one_of(&SELECTS, text, &at)?),
            "policy" => self.policy = Some(one_of(&POLICIES, text, &at)?),
            _ => return Err(invalid(&at, "unknown; dns has ttl, select and policy")),
        }
        Ok(())
    }
}

impl OptionValue for DnsConfig {
    fn read(value: &Value, at: &str) -> Result<DnsConfig, Vec<Problem>> {
        match value {
            Value::String(text) => DnsConfig::parse(text, at),
            Value::Object(object) => {
                let mut config = DnsConfig::default();
                gather(["ttl", "select", "policy"].into_iter().filter_map(|name| {
                    let value = field(object, name)?;
                    // k6 takes text only; a bare number means milliseconds here as everywhere else.
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    Some(config.set(name, &text, at))
                }))?;
                Ok(config)
            }
            _ => Err(wrong_type(at, "an object or a string such as \"ttl=5m,select=random\"", value)),
        }
    }

    fn parse(text: &str, at: &str) -> Result<DnsConfig, Vec<Problem>> {
        let mut config = DnsConfig::default();
        gather(text.split(',').map(str::trim).filter(|pair| !pair.is_empty()).map(|pair| {
            let Some((name, value)) = pair.split_once('=') else {
                return Err(invalid(
                    at,
                    format!("no value in {pair:?}: write ttl=5m,select=random,policy=any"),
                ));
            };
            config.set(name.trim(), value.trim(), at)
        }))?;
        Ok(config)
    }

    fn echo(&self) -> String {
        json::object([
            ("ttl", echo_or_null(&self.ttl)),
            ("select", echo_or_null(&self.select)),
            ("policy", echo_or_null(&self.policy)),
        ])
    }

    fn overlay(&mut self, higher: &DnsConfig) {
        let higher = higher.clone();
        self.ttl = higher.ttl.or(self.ttl.take());
        self.select = higher.select.or(self.select.take());
        self.policy = higher.policy.or(self.policy.take());
    }
}

/// `None` for what is no time to live; `Some(None)` for one without end.
fn parse_ttl(text: &str) -> Option<Option<Duration>> {
    if text == "inf" {
        return Some(None);
    }
    GoDuration::parse(text).filter(|ttl| ttl.ns >= 0).map(|ttl| Some(ttl.to_std()))
}

fn lookup<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
}

fn one_of<T>(table: &[(&'static str, T)], name: &str, at: &str) -> Result<String, Vec<Problem>> {
    if let Some((known, _)) = table.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        return Ok((*known).to_owned());
    }
    let names: Vec<&str> = table.iter().map(|(known, _)| *known).collect();
    let near = nearest(name, names.iter().copied());
    Err(invalid(at, format!("{name:?} is none of {}{}", names.join(", "), hint(near))))
}

/// The option `hosts`: patterns and addresses, in order of the patterns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hosts(pub Vec<(String, String)>);

impl OptionValue for Hosts {
    fn read(value: &Value, at: &str) -> Result<Hosts, Vec<Problem>> {
        let object =
            value.as_object().ok_or_else(|| wrong_type(at, "an object of host to IP address", value))?;
        let entries = object.iter().map(|(pattern, address)| {
            let at = format!("{at}.{pattern}");
            let address = String::read(address, &at)?;
            check_host(pattern, &address, &at)?;
            Ok((pattern.clone(), address))
        });
        Ok(Hosts(gather(entries)?))
    }

    fn echo(&self) -> String {
        json::object(self.0.iter().map(|(pattern, address)| (pattern.as_str(), json::string(address))))
    }
}

fn check_host(pattern: &str, address: &str, at: &str) -> Result<(), Vec<Problem>> {
    let (host, port) = match pattern.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') => (host, Some(port)),
        _ => (pattern, None),
    };
    let port_is_fine = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    if !is_host_pattern(host) || !port_is_fine {
        return Err(invalid(
            at,
            "not a host pattern: a name, with \"*.\" before it for sub-domains, and a port",
        ));
    }
    if address.parse::<IpAddr>().is_err() && address.parse::<SocketAddr>().is_err() {
        return Err(invalid(at, format!("{address:?} is not an IP address, with or without a port")));
    }
    Ok(())
}

/// The option `blockHostnames`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostPatterns(pub Vec<String>);

impl OptionValue for HostPatterns {
    fn read(value: &Value, at: &str) -> Result<HostPatterns, Vec<Problem>> {
        let items = value.as_array().ok_or_else(|| wrong_type(at, "a list of host names", value))?;
        let patterns = read_list(items, at, |item, at| {
            let pattern = String::read(item, at)?;
            if is_host_pattern(&pattern) {
                return Ok(pattern);
            }
            Err(invalid(
                at,
                format!("invalid hostname pattern '{pattern}'; \"*\" may stand only at the start"),
            ))
        })?;
        Ok(HostPatterns(patterns))
    }

    fn parse(text: &str, at: &str) -> Result<HostPatterns, Vec<Problem>> {
        let items: Vec<Value> = Vec::<String>::parse(text, at)?.into_iter().map(Value::from).collect();
        HostPatterns::read(&items.into(), at)
    }

    fn echo(&self) -> String {
        self.0.echo()
    }
}

/// A name whose only `*` is in front: `*`, `*.example.com`.
fn is_host_pattern(pattern: &str) -> bool {
    let rest = pattern.strip_prefix('*').unwrap_or(pattern);
    let label_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) || !byte.is_ascii();
    !pattern.is_empty() && rest.bytes().all(label_byte)
}

/// The option `blacklistIPs`: networks in CIDR form, the bits beyond the prefix cleared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Networks(pub Vec<String>);

impl OptionValue for Networks {
    fn read(value: &Value, at: &str) -> Result<Networks, Vec<Problem>> {
        let items = value.as_array().ok_or_else(|| wrong_type(at, "a list of networks", value))?;
        let networks = read_list(items, at, |item, at| {
            let text = String::read(item, at)?;
            let Some((address, prefix)) = parse_network(&text) else {
                return Err(invalid(
                    at,
                    format!("failed to parse CIDR '{text}': write 10.0.0.0/8 or one IP address"),
                ));
            };
            Ok(format!("{}/{prefix}", mask(address, prefix)))
        })?;
        Ok(Networks(networks))
    }

    fn parse(text: &str, at: &str) -> Result<Networks, Vec<Problem>> {
        let items: Vec<Value> = Vec::<String>::parse(text, at)?.into_iter().map(Value::from).collect();
        Networks::read(&items.into(), at)
    }

    fn echo(&self) -> String {
        self.0.echo()
    }
}

/// An address and its prefix length; one address alone is a network of one.
fn parse_network(text: &str) -> Option<(IpAddr, u32)> {
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let bits = if address.is_ipv4() { 32 } else { 128 };
    let prefix = prefix.map_or(Some(bits), |prefix| prefix.parse().ok())?;
    (prefix <= bits).then_some((address, prefix))
}

fn mask(address: IpAddr, prefix: u32) -> IpAddr {
    match address {
        IpAddr::V4(it) => {
            IpAddr::V4(Ipv4Addr::from_bits(it.to_bits() & u32::MAX.checked_shl(32 - prefix).unwrap_or(0)))
        }
        IpAddr::V6(it) => {
            IpAddr::V6(Ipv6Addr::from_bits(it.to_bits() & u128::MAX.checked_shl(128 - prefix).unwrap_or(0)))
        }
    }
}

/// The option `localIPs`, from the environment and flags alone: addresses, ranges `a-b`, networks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LocalIps {
    /// As written.
    pub text: String,
    /// Every address, in order.
    pub addresses: Vec<IpAddr>,
}

impl OptionValue for LocalIps {
    fn read(value: &Value, at: &str) -> Result<LocalIps, Vec<Problem>> {
        LocalIps::parse(&String::read(value, at)?, at)
    }

    fn parse(text: &str, at: &str) -> Result<LocalIps, Vec<Problem>> {
        let mut addresses = Vec::new();
        for item in text.split(',').map(str::trim) {
            let (first, last) = ip_range(item).map_err(|reason| invalid(at, reason))?;
            let count = (to_bits(last) - to_bits(first)).saturating_add(1);
            if count + addresses.len() as u128 > LOCAL_IPS_MAX {
                return Err(invalid(at, format!("more than {LOCAL_IPS_MAX} addresses")));
            }
            addresses.extend((0..count).map(|offset| offset_ip(first, offset)));
        }
        Ok(LocalIps { text: text.to_owned(), addresses })
    }

    fn echo(&self) -> String {
        self.text.echo()
    }
}

/// First and last address of one item.
fn ip_range(item: &str) -> Result<(IpAddr, IpAddr), String> {
    let unreadable = || format!("{item} is not a valid IP, IP range or CIDR");
    if let Some((first, last)) = item.split_once('-') {
        let first: IpAddr = first.trim().parse().map_err(|_| unreadable())?;
        let last: IpAddr = last.trim().parse().map_err(|_| unreadable())?;
        if first.is_ipv4() != last.is_ipv4() {
            return Err(format!("mixed IP range: {item}"));
        }
        return if first <= last { Ok((first, last)) } else { Err(format!("negative IP range: {item}")) };
    }
    let (address, prefix) = parse_network(item).ok_or_else(unreadable)?;
    let first = mask(address, prefix);
    let host_bits = if first.is_ipv4() { 32 - prefix } else { 128 - prefix };
    let last = offset_ip(first, 1_u128.checked_shl(host_bits).map_or(u128::MAX, |size| size - 1));
    Ok((first, last))
}

fn to_bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(it) => it.to_bits().into(),
        IpAddr::V6(it) => it.to_bits(),
    }
}

fn offset_ip(first: IpAddr, offset: u128) -> IpAddr {
    match first {
        IpAddr::V4(it) => IpAddr::V4(Ipv4Addr::from_bits(it.to_bits().wrapping_add(offset as u32))),
        IpAddr::V6(it) => IpAddr::V6(Ipv6Addr::from_bits(it.to_bits().wrapping_add(offset))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(problems: Vec<Problem>) -> String {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }

    fn check<T: OptionValue>(value: &str, expect: &str) {
        let read = T::read(&serde_json::from_str(value).unwrap(), "it");
        assert_eq!(read.map_or_else(shown, |it| it.echo()), expect, "{value}");
    }

    #[test]
    fn networks() {
        check::<Networks>(r#"["10.0.0.1/8","::1/0","1.2.3.4"]"#, r#"["10.0.0.0/8","::/0","1.2.3.4/32"]"#);
        check::<Networks>(
            r#"["abc","1.1.1.1/33"]"#,
            "option \"it[0]\": failed to parse CIDR 'abc': write 10.0.0.0/8 or one IP address; \
             option \"it[1]\": failed to parse CIDR '1.1.1.1/33': write 10.0.0.0/8 or one IP address",
        );
        check::<Networks>("5", "option \"it\" must be a list of networks, got 5");
    }

    #[test]
    fn host_patterns() {
        check::<HostPatterns>(r#"["*.x.com","*","a-b.c"]"#, r#"["*.x.com","*","a-b.c"]"#);
        check::<HostPatterns>(
            r#"["a.*.com"]"#,
            "option \"it[0]\": invalid hostname pattern 'a.*.com'; \"*\" may stand only at the start",
        );
    }

    #[test]
    fn hosts() {
        let fine = r#"{"*.b.com":"::1","a.com:80":"1.2.3.4:8080","c":"[::1]:80"}"#;
        check::<Hosts>(fine, fine);
        check::<Hosts>(r#"{"a":"b"}"#, "option \"it.a\": \"b\" is not an IP address, with or without a port");
        let pattern = "not a host pattern: a name, with \"*.\" before it for sub-domains, and a port";
        check::<Hosts>(r#"{"a*b":"1.2.3.4"}"#, &format!("option \"it.a*b\": {pattern}"));
        check::<Hosts>(r#"{"a:99999":"1.2.3.4"}"#, &format!("option \"it.a:99999\": {pattern}"));
    }

    #[test]
    fn dns() {
        let nulls = r#"{"ttl":"1m","select":null,"policy":null}"#;
        check::<DnsConfig>(r#"{"ttl":"1m"}"#, nulls);
        check::<DnsConfig>(r#""ttl=1m""#, nulls);
        check::<DnsConfig>(r#"{"ttl":5}"#, r#"{"ttl":"5","select":null,"policy":null}"#);
        check::<DnsConfig>(
            r#""ttl=inf,select=roundrobin,policy=any""#,
            r#"{"ttl":"inf","select":"roundRobin","policy":"any"}"#,
        );
        check::<DnsConfig>(
            r#""foo""#,
            "option \"it\": no value in \"foo\": write ttl=5m,select=random,policy=any",
        );
        check::<DnsConfig>(
            r#"{"ttl":"x","select":"frist"}"#,
            "option \"it.ttl\": \"x\" is not a duration, \"inf\" or \"0\"; option \"it.select\": \"frist\" is none of \
             first, random, roundRobin; did you mean \"first\"?",
        );
    }

    #[test]
    fn local_ips() {
        let parse = |text| LocalIps::parse(text, "it").map_err(shown).map(|it| it.addresses.len());
        assert_eq!(parse("127.0.0.1,127.0.0.5-127.0.0.7,10.0.0.0/30"), Ok(8));
        assert_eq!(parse("::1-::ff"), Ok(255));
        let check = |text, reason: &str| assert_eq!(parse(text), Err(format!("option \"it\": {reason}")));
        check("foo", "foo is not a valid IP, IP range or CIDR");
        check("127.0.0.9-127.0.0.1", "negative IP range: 127.0.0.9-127.0.0.1");
        check("127.0.0.9-::1", "mixed IP range: 127.0.0.9-::1");
        check("::/0", "more than 65536 addresses");
    }
}
