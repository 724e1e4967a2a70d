//! The outcome of a TLS handshake.

use crate::staple::Staple;

/// The parameters that a TLS handshake agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFacts {
    /// As k6 spells it: `tls1.2`, `tls1.3`.
    pub version: &'static str,
    /// By its IANA name.
    pub cipher_suite: String,
    /// The OCSP response that the server stapled to the handshake, if it was a full one.
    pub staple: Option<Staple>,
}
