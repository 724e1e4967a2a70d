//! Cryptography for scripts: digests, ciphers, signatures, agreed and derived keys, certificates.
//!
//! The owner of the libraries that do it: what they disagree about (lengths, encodings, which curve is which type) ends
//! here, and callers see names, bytes and one error. It is pure but for the random numbers of [`random`]. Keys are a
//! test's own, and the machine that makes load trusts its scripts: nothing here is protected against timing
//! attacks.

pub mod aes;
mod agreement;
mod curve;
mod edwards;
mod error;
mod hash;
mod kdf;
pub mod random;
pub mod rsa;
pub mod x509;

pub use agreement::{X25519Private, X25519Public};
pub use curve::{Curve, EcPrivate, EcPublic, Point};
pub use edwards::{Ed25519Private, Ed25519Public};
pub use error::Error;
pub use hash::{Hash, Hasher, Mac};
pub use kdf::{hkdf, pbkdf2};

/// The result of everything here.
pub type Result<T> = std::result::Result<T, Error>;
