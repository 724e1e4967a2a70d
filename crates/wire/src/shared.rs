//! State that all clients of a process share.

use std::net::IpAddr;
use std::sync::Arc;

use model::plan::{HttpOptions, NetworkOptions, TlsOptions};

use crate::budget::BodyBudget;
use crate::dns::{self, Resolver};
use crate::proxy::Proxies;
use crate::rules::Rules;
use crate::setup_error::SetupError;
use crate::tls::{self, Roots, Tls};

/// State that all clients of a process share: options, address rules, the name cache and the TLS configurations.
#[derive(Debug)]
pub struct Shared {
    pub(crate) http: HttpOptions,
    pub(crate) proxies: Proxies,
    pub(crate) rules: Rules,
    pub(crate) resolver: Resolver,
    pub(crate) tls: Tls,
    pub(crate) bodies: Arc<BodyBudget>,
    local_ips: Vec<IpAddr>,
}

impl Shared {
    /// Checks the options.
    ///
    /// # Errors
    /// See [`SetupError`].
    pub fn new(http: &HttpOptions, network: &NetworkOptions, tls: &TlsOptions) -> Result<Shared, SetupError> {
        Shared::with_roots(http, network, tls, Box::new(tls::system_roots))
    }

    /// As [`Shared::new`], trusting other certificates.
    pub(crate) fn with_roots(
        http: &HttpOptions,
        network: &NetworkOptions,
        tls: &TlsOptions,
        roots: Box<Roots>,
    ) -> Result<Shared, SetupError> {
        Ok(Shared {
            http: http.clone(),
            proxies: Proxies::from_env(|name| std::env::var(name).ok())?,
            rules: Rules::new(network)?,
            resolver: Resolver::new(network.dns, Arc::new(dns::system)),
            tls: Tls::new(tls, roots)?,
            bodies: BodyBudget::of_memory(None),
            local_ips: network.local_ips.clone(),
        })
    }

    /// The same with another budget for bodies.
    #[must_use]
    pub fn with_bodies(self, bodies: Arc<BodyBudget>) -> Shared {
        Shared { bodies, ..self }
    }

    /// The local address that VU number `vu` binds, if any.
    pub(crate) fn local_ip(&self, vu: u64) -> Option<IpAddr> {
        let count = self.local_ips.len() as u64;
        let index = vu.saturating_sub(1).checked_rem(count)?;
        self.local_ips.get(index as usize).copied()
    }

    /// Idle connections kept per host. As in Go, zero means two.
    pub(crate) fn idle_per_host_max(&self) -> usize {
        if self.http.batch_per_host == 0 { 2 } else { self.http.batch_per_host as usize }
    }

    /// Idle connections kept in all. As in Go, zero means no limit of its own.
    pub(crate) fn idle_max(&self) -> usize {
        if self.http.batch == 0 { usize::MAX } else { self.http.batch as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vus_take_turns_with_local_addresses() {
        let local_ips = ["127.0.0.1", "127.0.0.2", "127.0.0.3"].map(|ip| ip.parse().unwrap()).to_vec();
        let network = NetworkOptions { local_ips, ..NetworkOptions::default() };
        let shared = Shared::new(&HttpOptions::default(), &network, &TlsOptions::default()).unwrap();
        let check = |vu, expect: &str| assert_eq!(shared.local_ip(vu), Some(expect.parse().unwrap()));
        check(0, "127.0.0.1");
        check(1, "127.0.0.1");
        check(3, "127.0.0.3");
        check(4, "127.0.0.1");
        let none =
            Shared::new(&HttpOptions::default(), &NetworkOptions::default(), &TlsOptions::default()).unwrap();
        assert_eq!(none.local_ip(1), None);
    }
}
