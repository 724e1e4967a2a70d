//! Names to addresses.
//!
//! The operating system's resolver is asked, on a thread of its own. It hides the records' times to live, but k6's
//! `dns` option ignores those too: its `ttl` says how long *any* answer is used. What remains of the option (which
//! address, which family) works on the answer. A resolver of our own would bring about 150 crates for nothing that a
//! script can ask for, and would not see what `nsswitch.conf` and the container's resolver see.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use model::plan::{DnsOptions, DnsPolicy, DnsSelect};
use model::{Instant, SystemClock};

use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::limits::NAMES_MAX;

/// The resolver of names that are not in the cache; called on a thread that may block.
pub(crate) type Source = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

/// Looks names up and remembers the answers, for all VUs of the process.
pub(crate) struct Resolver {
    options: DnsOptions,
    source: Arc<Source>,
    names: Mutex<HashMap<String, Arc<Name>>>,
}

/// The cache entry of one name. The holder of the answer's lock resolves it; the others wait and take the result.
#[derive(Default)]
struct Name {
    answer: tokio::sync::Mutex<Option<Answer>>,
    taken: AtomicUsize,
}

struct Answer {
    at: Instant,
    result: Result<Vec<IpAddr>, Error>,
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolver").field("options", &self.options).finish_non_exhaustive()
    }
}

/// The operating system's resolver.
pub(crate) fn system(host: &str) -> io::Result<Vec<IpAddr>> {
    Ok((host, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
}

impl Resolver {
    /// A resolver that asks `source`.
    pub(crate) fn new(options: DnsOptions, source: Arc<Source>) -> Resolver {
        Resolver { options, source, names: Mutex::default() }
    }

    /// An address of `host`.
    ///
    /// # Errors
    /// There is no such name (1101), or it cannot be asked for (1100).
    pub(crate) async fn lookup(&self, host: &str) -> Result<IpAddr, Error> {
        let asked_at = SystemClock::now();
        let name = self.name(host);
        let mut answer = name.answer.lock().await;
        if !answer.as_ref().is_some_and(|answer| self.is_fresh(answer, asked_at)) {
            let result = self.ask(host).await;
            *answer = Some(Answer { at: SystemClock::now(), result });
        }
        match answer.as_ref().map(|answer| &answer.result) {
            Some(Ok(addresses)) => self.pick(addresses, &name).ok_or_else(|| no_such_host(host)),
            Some(Err(error)) => Err(error.clone()),
            None => Err(no_such_host(host)),
        }
    }

    /// All addresses of `host`, asked for anew.
    ///
    /// # Errors
    /// As those of [`Resolver::lookup`].
    pub(crate) async fn all(&self, host: &str) -> Result<Vec<IpAddr>, Error> {
        let addresses = self.ask(host).await?;
        if addresses.is_empty() { Err(no_such_host(host)) } else { Ok(addresses) }
    }

    fn name(&self, host: &str) -> Arc<Name> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = names.get(host) {
            return name.clone();
        }
        if names.len() >= NAMES_MAX {
            names.clear();
        }
        names.entry(host.to_owned()).or_default().clone()
    }

    /// A waiting request takes the answer, however short its life; failures live no longer than that.
    fn is_fresh(&self, answer: &Answer, asked_at: Instant) -> bool {
        if answer.at >= asked_at {
            return true;
        }
        answer.result.is_ok() && self.options.ttl.is_none_or(|ttl| asked_at.since(answer.at) < ttl)
    }

    async fn ask(&self, host: &str) -> Result<Vec<IpAddr>, Error> {
        let (source, name) = (self.source.clone(), host.to_owned());
        let asked = tokio::task::spawn_blocking(move || source(&name)).await;
        let addresses = asked.map_err(io::Error::other).and_then(|answer| answer);
        let mut addresses = addresses.map_err(|error| failed(host, &error))?;
        // A name with several socket types comes several times.
        addresses.dedup();
        retain_family(&mut addresses, self.options.policy);
        Ok(addresses)
    }

    fn pick(&self, addresses: &[IpAddr], name: &Name) -> Option<IpAddr> {
        let count = addresses.len();
        if count == 0 {
            return None;
        }
        let index = match self.options.select {
            DnsSelect::First => 0,
            DnsSelect::RoundRobin => name.taken.fetch_add(1, Ordering::Relaxed) % count,
            // A counter run through a mixer (splitmix64) is as random as picking an address needs to be.
            DnsSelect::Random => {
                (mixed(name.taken.fetch_add(1, Ordering::Relaxed) as u64) % count as u64) as usize
            }
        };
        addresses.get(index).copied()
    }
}

fn mixed(counter: u64) -> u64 {
    let mut bits = counter.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

fn retain_family(addresses: &mut Vec<IpAddr>, policy: DnsPolicy) {
    let (wants_v4, is_strict) = match policy {
        DnsPolicy::PreferIpv4 => (true, false),
        DnsPolicy::PreferIpv6 => (false, false),
        DnsPolicy::OnlyIpv4 => (true, true),
        DnsPolicy::OnlyIpv6 => (false, true),
        DnsPolicy::Any => return,
    };
    if is_strict || addresses.iter().any(|ip| ip.is_ipv4() == wants_v4) {
        addresses.retain(|ip| ip.is_ipv4() == wants_v4);
    }
}

fn no_such_host(host: &str) -> Error {
    let error = Error::new(ErrorCode::NO_SUCH_HOST, Stage::Lookup, Kind::Lookup, "lookup: no such host");
    error.with_detail(format!("lookup {host}: no such host"))
}

/// The errors of the C libraries for a name that does not exist: they give a number, but the standard library keeps only the
/// text (glibc, musl, macOS).
const NO_SUCH_HOST_TEXTS: [&str; 5] = [
    "Name or service not known",
    "No address associated with hostname",
    "Name does not resolve",
    "Name has no usable address",
    "nodename nor servname provided",
];

fn failed(host: &str, error: &io::Error) -> Error {
    let text = error.to_string();
    if NO_SUCH_HOST_TEXTS.iter().any(|known| text.contains(known)) {
        return no_such_host(host);
    }
    let why = text.rsplit("failed to lookup address information: ").next().unwrap_or(&text);
    let error = Error::new(ErrorCode::DNS, Stage::Lookup, Kind::Lookup, format!("lookup: {why}"));
    error.with_detail(format!("lookup {host}: {why}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    struct Asked {
        resolver: Resolver,
        count: Arc<AtomicUsize>,
    }

    fn resolver(
        ttl: Option<Duration>,
        select: DnsSelect,
        policy: DnsPolicy,
        answer: &'static [&'static str],
    ) -> Asked {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let source = move |host: &str| {
            counted.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(20));
            match host {
                "gone.test" => {
                    Err(io::Error::other("failed to lookup address information: Name or service not known"))
                }
                "sick.test" => Err(io::Error::other(
                    "failed to lookup address information: Temporary failure in name resolution",
                )),
                _ => Ok(answer.iter().map(|ip| ip.parse().unwrap()).collect()),
            }
        };
        Asked { resolver: Resolver::new(DnsOptions { ttl, select, policy }, Arc::new(source)), count }
    }

    async fn lookups(asked: &Asked, count: usize) -> Vec<String> {
        let mut seen = Vec::new();
        for _ in 0..count {
            seen.push(asked.resolver.lookup("h.test").await.unwrap().to_string());
        }
        seen
    }

    #[tokio::test]
    async fn addresses_are_selected() {
        let addresses = &["10.0.0.1", "10.0.0.2", "10.0.0.3"];
        let first = resolver(None, DnsSelect::First, DnsPolicy::Any, addresses);
        assert_eq!(lookups(&first, 3).await, ["10.0.0.1"; 3]);
        let round = resolver(None, DnsSelect::RoundRobin, DnsPolicy::Any, addresses);
        assert_eq!(lookups(&round, 4).await, ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.1"]);
        let random = resolver(None, DnsSelect::Random, DnsPolicy::Any, addresses);
        let seen = lookups(&random, 300).await;
        for address in addresses {
            let share = seen.iter().filter(|seen| seen == address).count();
            assert!((60..140).contains(&share), "{address}: {share} of 300");
        }
        assert_eq!(random.count.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn families_follow_the_policy() {
        let check = async |policy, answer, expect: Option<&str>| {
            let asked = resolver(None, DnsSelect::First, policy, answer);
            let seen = asked.resolver.lookup("h.test").await;
            match expect {
                Some(expect) => assert_eq!(seen.unwrap().to_string(), expect, "{policy:?}"),
                None => assert_eq!(seen.unwrap_err().code, ErrorCode::NO_SUCH_HOST, "{policy:?}"),
            }
        };
        check(DnsPolicy::PreferIpv4, &["::1", "10.0.0.1"], Some("10.0.0.1")).await;
        check(DnsPolicy::PreferIpv4, &["::1"], Some("::1")).await;
        check(DnsPolicy::PreferIpv6, &["10.0.0.1", "::1"], Some("::1")).await;
        check(DnsPolicy::OnlyIpv4, &["::1"], None).await;
        check(DnsPolicy::OnlyIpv6, &["10.0.0.1", "::2"], Some("::2")).await;
        check(DnsPolicy::Any, &["::1", "10.0.0.1"], Some("::1")).await;
        check(DnsPolicy::Any, &[], None).await;
    }

    #[tokio::test]
    async fn answers_live_as_long_as_asked_for() {
        let check = async |ttl, expect| {
            let asked = resolver(ttl, DnsSelect::First, DnsPolicy::Any, &["10.0.0.1"]);
            lookups(&asked, 3).await;
            assert_eq!(asked.count.load(Ordering::SeqCst), expect, "{ttl:?}");
        };
        check(None, 1).await;
        check(Some(Duration::from_secs(60)), 1).await;
        check(Some(Duration::ZERO), 3).await;
        check(Some(Duration::from_nanos(1)), 3).await;
    }

    #[tokio::test]
    async fn simultaneous_lookups_of_a_name_ask_once() {
        let asked = resolver(Some(Duration::ZERO), DnsSelect::First, DnsPolicy::Any, &["10.0.0.1"]);
        let (a, b, c) = tokio::join!(
            asked.resolver.lookup("h.test"),
            asked.resolver.lookup("h.test"),
            asked.resolver.lookup("gone.test"),
        );
        assert!(a.is_ok() && b.is_ok() && c.is_err());
        assert_eq!(asked.count.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn failures_are_told_apart() {
        let asked = resolver(None, DnsSelect::First, DnsPolicy::Any, &[]);
        let gone = asked.resolver.lookup("gone.test").await.unwrap_err();
        assert_eq!((gone.code, gone.story()), (ErrorCode::NO_SUCH_HOST, "lookup gone.test: no such host"));
        let sick = asked.resolver.lookup("sick.test").await.unwrap_err();
        assert_eq!(sick.code, ErrorCode::DNS);
        assert_eq!(sick.story(), "lookup sick.test: Temporary failure in name resolution");
        let _ = asked.resolver.lookup("sick.test").await;
        assert_eq!(asked.count.load(Ordering::SeqCst), 3, "failures are not remembered");
    }
}
