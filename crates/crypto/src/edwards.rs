//! Ed25519 (RFC 8032).

use ed25519_dalek::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

use crate::{Error, Result};

/// A private key.
#[derive(Clone)]
pub struct Ed25519Private(SigningKey);

/// A public key.
#[derive(Clone, PartialEq, Eq)]
pub struct Ed25519Public(VerifyingKey);

const NO_PRIVATE: Error = Error::Key("it is no private key of Ed25519");
const NO_PUBLIC: Error = Error::Key("it is no public key of Ed25519");

impl Ed25519Private {
    /// A new one.
    pub fn generate() -> Ed25519Private {
        let mut seed = [0; 32];
        crate::random::fill(&mut seed);
        Ed25519Private(SigningKey::from_bytes(&seed))
    }

    /// From its 32 bytes.
    ///
    /// # Errors
    /// Another length.
    pub fn from_raw(bytes: &[u8]) -> Result<Ed25519Private> {
        let seed = bytes.try_into().map_err(|_| NO_PRIVATE)?;
        Ok(Ed25519Private(SigningKey::from_bytes(seed)))
    }

    /// From PKCS #8 (RFC 8410).
    ///
    /// # Errors
    /// Anything else.
    pub fn from_pkcs8(der: &[u8]) -> Result<Ed25519Private> {
        SigningKey::from_pkcs8_der(der).map(Ed25519Private).map_err(|_| NO_PRIVATE)
    }

    /// As PKCS #8, without the public key, which older readers refuse.
    pub fn to_pkcs8(&self) -> Result<Vec<u8>> {
        let pair = ed25519_dalek::pkcs8::KeypairBytes { secret_key: self.0.to_bytes(), public_key: None };
        pair.to_pkcs8_der().map(|der| der.as_bytes().to_vec()).map_err(|_| NO_PRIVATE)
    }

    /// Its 32 bytes.
    pub fn to_raw(&self) -> Vec<u8> {
        self.0.to_bytes().to_vec()
    }

    /// Its public key.
    pub fn public(&self) -> Ed25519Public {
        Ed25519Public(self.0.verifying_key())
    }

    /// Signs: 64 bytes.
    pub fn sign(&self, data: &[u8]) -> Vec<u8> {
        self.0.sign(data).to_bytes().to_vec()
    }
}

impl Ed25519Public {
    /// From its 32 bytes.
    ///
    /// # Errors
    /// Another length, or no point of the curve.
    pub fn from_raw(bytes: &[u8]) -> Result<Ed25519Public> {
        let bytes = bytes.try_into().map_err(|_| NO_PUBLIC)?;
        VerifyingKey::from_bytes(bytes).map(Ed25519Public).map_err(|_| NO_PUBLIC)
    }

    /// From a SubjectPublicKeyInfo (RFC 8410).
    ///
    /// # Errors
    /// Anything else.
    pub fn from_spki(der: &[u8]) -> Result<Ed25519Public> {
        VerifyingKey::from_public_key_der(der).map(Ed25519Public).map_err(|_| NO_PUBLIC)
    }

    /// As a SubjectPublicKeyInfo.
    pub fn to_spki(&self) -> Result<Vec<u8>> {
        self.0.to_public_key_der().map(|der| der.as_bytes().to_vec()).map_err(|_| NO_PUBLIC)
    }

    /// Its 32 bytes.
    pub fn to_raw(&self) -> Vec<u8> {
        self.0.to_bytes().to_vec()
    }

    /// Whether this key's owner signed.
    pub fn is_signature(&self, data: &[u8], signature: &[u8]) -> bool {
        Signature::from_slice(signature).is_ok_and(|signature| self.0.verify_strict(data, &signature).is_ok())
    }
}
