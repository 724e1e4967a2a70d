//! X25519 (RFC 7748).

use x25519_dalek::{PublicKey, StaticSecret};

use crate::{Error, Result};

/// A private key.
#[derive(Clone)]
pub struct X25519Private(StaticSecret);

/// A public key.
#[derive(Clone, PartialEq, Eq)]
pub struct X25519Public(PublicKey);

/// The prefix of the 32 bytes in PKCS #8 and in a SubjectPublicKeyInfo: RFC 8410 leaves nothing to choose.
const PKCS8_START: &[u8] = &[0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x6e, 4, 0x22, 4, 0x20];
const SPKI_START: &[u8] = &[0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x6e, 3, 0x21, 0];

impl X25519Private {
    /// A new one.
    pub fn generate() -> X25519Private {
        let mut bytes = [0; 32];
        crate::random::fill(&mut bytes);
        X25519Private(bytes.into())
    }

    /// From its 32 bytes.
    ///
    /// # Errors
    /// Another length.
    pub fn from_raw(bytes: &[u8]) -> Result<X25519Private> {
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| Error::Key("it is no private key of X25519"))?;
        Ok(X25519Private(bytes.into()))
    }

    /// From PKCS #8 (RFC 8410).
    ///
    /// # Errors
    /// Anything else.
    pub fn from_pkcs8(der: &[u8]) -> Result<X25519Private> {
        Self::from_raw(der.strip_prefix(PKCS8_START).unwrap_or_default())
    }

    /// As PKCS #8.
    pub fn to_pkcs8(&self) -> Vec<u8> {
        [PKCS8_START, self.0.as_bytes()].concat()
    }

    /// Its 32 bytes.
    pub fn to_raw(&self) -> Vec<u8> {
        self.0.to_bytes().to_vec()
    }

    /// Its public key.
    pub fn public(&self) -> X25519Public {
        X25519Public(PublicKey::from(&self.0))
    }

    /// The secret that both sides agree on: 32 bytes.
    ///
    /// # Errors
    /// The other side's key gives no secret.
    pub fn agree(&self, other: &X25519Public) -> Result<Vec<u8>> {
        let secret = self.0.diffie_hellman(&other.0);
        if !secret.was_contributory() {
            return Err(Error::Derive("the other side's key gives no secret"));
        }
        Ok(secret.as_bytes().to_vec())
    }
}

impl X25519Public {
    /// From its 32 bytes.
    ///
    /// # Errors
    /// Another length.
    pub fn from_raw(bytes: &[u8]) -> Result<X25519Public> {
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| Error::Key("it is no public key of X25519"))?;
        Ok(X25519Public(bytes.into()))
    }

    /// From a SubjectPublicKeyInfo (RFC 8410).
    ///
    /// # Errors
    /// Anything else.
    pub fn from_spki(der: &[u8]) -> Result<X25519Public> {
        Self::from_raw(der.strip_prefix(SPKI_START).unwrap_or_default())
    }

    /// As a SubjectPublicKeyInfo.
    pub fn to_spki(&self) -> Vec<u8> {
        [SPKI_START, self.0.as_bytes()].concat()
    }

    /// Its 32 bytes.
    pub fn to_raw(&self) -> Vec<u8> {
        self.0.to_bytes().to_vec()
    }
}
