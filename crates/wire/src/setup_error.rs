//! Errors of options that are found before the first request.

/// An option that requests cannot be sent with. Reads after "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// An entry of `blacklistIPs` is not an address block.
    #[error("read `blacklistIPs`: {0:?} is not an address block; expected one such as 10.0.0.0/8")]
    Cidr(String),
    /// An entry of `hosts` does not map to an address.
    #[error(
        "read `hosts`: {name:?} maps to {place:?}; expected an address such as 10.0.0.1 or 10.0.0.1:8080"
    )]
    Host {
        /// The entry.
        name: String,
        /// Its value.
        place: String,
    },
    /// A cipher suite is not supported.
    #[error("use `tlsCipherSuites`: {name:?} is not supported; use one of {known}")]
    CipherSuite {
        /// The suite.
        name: String,
        /// The supported ones.
        known: String,
    },
    /// A TLS version is not supported.
    #[error("use `tlsVersion`: {0:?} is not supported; use tls1.2 or tls1.3")]
    TlsVersion(String),
    /// A client certificate cannot be used.
    #[error("use `tlsAuth[{index}]`: {why}")]
    ClientCertificate {
        /// Its number in the list.
        index: usize,
        /// The reason, with the value.
        why: String,
    },
    /// A proxy of the environment cannot be used.
    #[error("use the environment variable {name}: {why}")]
    Proxy {
        /// The variable.
        name: &'static str,
        /// The reason, with the value.
        why: String,
    },
    /// The TLS options contradict each other.
    #[error("set up TLS: {0}")]
    Tls(String),
}
