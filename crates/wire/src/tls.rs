//! TLS.

/// What TLS agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFacts {
    /// As k6 spells it: `tls1.2`, `tls1.3`.
    pub version: &'static str,
    /// By its IANA name.
    pub cipher_suite: String,
}
