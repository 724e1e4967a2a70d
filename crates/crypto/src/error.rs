//! Errors.

/// Why an operation failed. The texts read after "failed to".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Bytes that should be a key are none.
    #[error("read the key: {0}")]
    Key(&'static str),
    /// Encryption, for example of more than an RSA key can hold.
    #[error("encrypt: {0}")]
    Encrypt(&'static str),
    /// Decryption: the wrong key, or a changed text.
    #[error("decrypt: {0}")]
    Decrypt(&'static str),
    /// Signing, for example with a key that is too short for the digest.
    #[error("sign: {0}")]
    Sign(&'static str),
    /// Making a key.
    #[error("make a key: {0}")]
    Generate(&'static str),
    /// Deriving bits.
    #[error("derive bits: {0}")]
    Derive(&'static str),
    /// A digest that the operation is not defined for.
    #[error("use this digest here: SHA-1, SHA-256, SHA-384 and SHA-512 are defined")]
    Digest,
    /// A text without a certificate in PEM.
    #[error("decode certificate PEM file")]
    NoCertificate,
    /// PEM whose content is no certificate.
    #[error("parse certificate: x509: malformed certificate")]
    Certificate,
}
