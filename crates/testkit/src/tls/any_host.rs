//! A certificate for whatever host the client asks for, made when it asks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{CertifiedIssuer, KeyPair};
use rustls::crypto::CryptoProvider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::{LOCAL_NAMES, TlsError, certified_key, leaf_params};

/// Hosts whose certificates are kept; one more starts the collection anew.
const MAX_HOSTS: usize = 1000;

/// Signs a certificate for each server name it meets.
#[derive(Debug)]
pub(super) struct AnyHost {
    ca: CertifiedIssuer<'static, KeyPair>,
    key: KeyPair,
    provider: Arc<CryptoProvider>,
    local: Arc<CertifiedKey>,
    hosts: Mutex<HashMap<String, Arc<CertifiedKey>>>,
}

impl AnyHost {
    pub(super) fn new(
        ca: CertifiedIssuer<'static, KeyPair>,
        key: KeyPair,
        provider: Arc<CryptoProvider>,
    ) -> Result<AnyHost, TlsError> {
        let leaf = leaf_params(&LOCAL_NAMES, false)?.signed_by(&key, &ca)?;
        let local = Arc::new(certified_key(&leaf, &key, &provider)?);
        Ok(AnyHost { ca, key, provider, local, hosts: Mutex::default() })
    }

    fn certificate(&self, host: &str) -> Result<Arc<CertifiedKey>, TlsError> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = hosts.get(host) {
            return Ok(Arc::clone(known));
        }
        if hosts.len() >= MAX_HOSTS {
            hosts.clear();
        }
        let leaf = leaf_params(&[host], false)?.signed_by(&self.key, &self.ca)?;
        let made = Arc::new(certified_key(&leaf, &self.key, &self.provider)?);
        hosts.insert(host.to_owned(), Arc::clone(&made));
        Ok(made)
    }
}

impl ResolvesServerCert for AnyHost {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        match hello.server_name() {
            // A name no certificate can carry ends the handshake.
            Some(host) => self.certificate(host).ok(),
            // Addresses are not sent (RFC 6066, section 3), so a client without a name means this machine.
            None => Some(Arc::clone(&self.local)),
        }
    }
}
