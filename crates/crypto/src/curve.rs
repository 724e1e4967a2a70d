//! Elliptic curves of NIST: signatures (ECDSA, FIPS 186-5) and agreed keys (ECDH, SP 800-56A).

use ecdsa::hazmat::{sign_prehashed_rfc6979, verify_prehashed};
use p256::elliptic_curve::Generate;
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};

use crate::{Error, Hash, Result};

/// A curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// secp256r1
    P256,
    /// secp384r1
    P384,
    /// secp521r1
    P521,
}

impl Curve {
    /// By the name that the Web Cryptography API has for it.
    pub fn from_web_name(name: &str) -> Option<Curve> {
        Some(match name {
            "P-256" => Curve::P256,
            "P-384" => Curve::P384,
            "P-521" => Curve::P521,
            _ => return None,
        })
    }

    /// Bytes of a coordinate, of a private key and of half a signature.
    pub fn field_bytes(self) -> usize {
        match self {
            Curve::P256 => 32,
            Curve::P384 => 48,
            Curve::P521 => 66,
        }
    }
}

/// A private key.
#[derive(Clone)]
pub enum EcPrivate {
    /// Of P-256.
    P256(p256::SecretKey),
    /// Of P-384.
    P384(p384::SecretKey),
    /// Of P-521.
    P521(p521::SecretKey),
}

/// A public key.
#[derive(Clone, PartialEq, Eq)]
pub enum EcPublic {
    /// Of P-256.
    P256(p256::PublicKey),
    /// Of P-384.
    P384(p384::PublicKey),
    /// Of P-521.
    P521(p521::PublicKey),
}

/// A public key's coordinates, as many bytes as the curve's field has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The first.
    pub x: Vec<u8>,
    /// The second.
    pub y: Vec<u8>,
}

/// An expression for the curve's crate: `on_curve!(curve, p => EcPrivate: expression with p)` wraps its value.
macro_rules! make_on_curve {
    ($curve:expr, $Key:ident, $p:ident => $body:expr) => {
        match $curve {
            Curve::P256 => {
                use p256 as $p;
                $Key::P256($body)
            }
            Curve::P384 => {
                use p384 as $p;
                $Key::P384($body)
            }
            Curve::P521 => {
                use p521 as $p;
                $Key::P521($body)
            }
        }
    };
}

/// An expression for the key inside, whichever curve's it is.
macro_rules! with_key {
    ($Key:ident, $key:expr, $inner:ident, $p:ident => $body:expr) => {
        match $key {
            $Key::P256($inner) => {
                #[allow(unused_imports, reason = "not every expression names the curve")]
                use p256 as $p;
                $body
            }
            $Key::P384($inner) => {
                #[allow(unused_imports, reason = "not every expression names the curve")]
                use p384 as $p;
                $body
            }
            $Key::P521($inner) => {
                #[allow(unused_imports, reason = "not every expression names the curve")]
                use p521 as $p;
                $body
            }
        }
    };
}

const NO_PRIVATE: Error = Error::Key("it is no private key of this curve");
const NO_PUBLIC: Error = Error::Key("it is no public key of this curve");

impl EcPrivate {
    /// A new one.
    pub fn generate(curve: Curve) -> EcPrivate {
        make_on_curve!(curve, EcPrivate, p => p::SecretKey::generate_from_rng(&mut rand::rng()))
    }

    /// From its number, as many bytes as the curve's field has.
    ///
    /// # Errors
    /// Another length, or a number out of range.
    pub fn from_raw(curve: Curve, bytes: &[u8]) -> Result<EcPrivate> {
        if bytes.len() != curve.field_bytes() {
            return Err(NO_PRIVATE);
        }
        Ok(make_on_curve!(curve, EcPrivate, p => p::SecretKey::from_slice(bytes).map_err(|_| NO_PRIVATE)?))
    }

    /// From PKCS #8 (RFC 5208, RFC 5915).
    ///
    /// # Errors
    /// Anything else, and another curve's key.
    pub fn from_pkcs8(curve: Curve, der: &[u8]) -> Result<EcPrivate> {
        Ok(make_on_curve!(curve, EcPrivate, p => p::SecretKey::from_pkcs8_der(der).map_err(|_| NO_PRIVATE)?))
    }

    /// As PKCS #8.
    ///
    /// # Errors
    /// None that a sound key has.
    pub fn to_pkcs8(&self) -> Result<Vec<u8>> {
        with_key!(EcPrivate, self, key, p => {
            key.to_pkcs8_der().map(|der| der.as_bytes().to_vec()).map_err(|_| NO_PRIVATE)
        })
    }

    /// Its number.
    pub fn to_raw(&self) -> Vec<u8> {
        with_key!(EcPrivate, self, key, p => key.to_bytes().to_vec())
    }

    /// Its public key.
    pub fn public(&self) -> EcPublic {
        match self {
            EcPrivate::P256(key) => EcPublic::P256(key.public_key()),
            EcPrivate::P384(key) => EcPublic::P384(key.public_key()),
            EcPrivate::P521(key) => EcPublic::P521(key.public_key()),
        }
    }

    /// Signs: two numbers one after the other (IEEE P1363). The nonce is that of RFC 6979.
    ///
    /// # Errors
    /// A digest it is not defined for.
    pub fn sign(&self, hash: Hash, data: &[u8]) -> Result<Vec<u8>> {
        crate::hash::with_sha!(hash, _D => ());
        let digest = hash.digest(data);
        Ok(match self {
            EcPrivate::P256(key) => {
                let nonce = sign_prehashed_rfc6979::<p256::NistP256, sha2::Sha256>;
                nonce(&key.to_nonzero_scalar(), &digest, &[]).0.to_bytes().to_vec()
            }
            EcPrivate::P384(key) => {
                let nonce = sign_prehashed_rfc6979::<p384::NistP384, sha2::Sha384>;
                nonce(&key.to_nonzero_scalar(), &digest, &[]).0.to_bytes().to_vec()
            }
            EcPrivate::P521(key) => {
                let nonce = sign_prehashed_rfc6979::<p521::NistP521, sha2::Sha512>;
                nonce(&key.to_nonzero_scalar(), &digest, &[]).0.to_bytes().to_vec()
            }
        })
    }

    /// The secret that both sides agree on: the first coordinate of the common point.
    ///
    /// # Errors
    /// Keys of two curves.
    pub fn agree(&self, other: &EcPublic) -> Result<Vec<u8>> {
        Ok(match (self, other) {
            (EcPrivate::P256(key), EcPublic::P256(other)) => {
                key.diffie_hellman(other).raw_secret_bytes().to_vec()
            }
            (EcPrivate::P384(key), EcPublic::P384(other)) => {
                key.diffie_hellman(other).raw_secret_bytes().to_vec()
            }
            (EcPrivate::P521(key), EcPublic::P521(other)) => {
                key.diffie_hellman(other).raw_secret_bytes().to_vec()
            }
            _ => return Err(Error::Derive("the keys are of two curves")),
        })
    }
}

impl EcPublic {
    /// From a point, compressed or not (SEC 1, 2.3.3).
    ///
    /// # Errors
    /// Anything that is no point of the curve.
    pub fn from_raw(curve: Curve, bytes: &[u8]) -> Result<EcPublic> {
        Ok(make_on_curve!(curve, EcPublic, p => p::PublicKey::from_sec1_bytes(bytes).map_err(|_| NO_PUBLIC)?))
    }

    /// From its coordinates.
    ///
    /// # Errors
    /// Anything that is no point of the curve, and other lengths than the field's.
    pub fn from_point(curve: Curve, point: &Point) -> Result<EcPublic> {
        if point.x.len() != curve.field_bytes() || point.y.len() != curve.field_bytes() {
            return Err(NO_PUBLIC);
        }
        EcPublic::from_raw(curve, &[&[4], &point.x[..], &point.y[..]].concat())
    }

    /// From a SubjectPublicKeyInfo (RFC 5480).
    ///
    /// # Errors
    /// Anything else, and another curve's key.
    pub fn from_spki(curve: Curve, der: &[u8]) -> Result<EcPublic> {
        Ok(
            make_on_curve!(curve, EcPublic, p => p::PublicKey::from_public_key_der(der).map_err(|_| NO_PUBLIC)?),
        )
    }

    /// As a SubjectPublicKeyInfo.
    ///
    /// # Errors
    /// None that a sound key has.
    pub fn to_spki(&self) -> Result<Vec<u8>> {
        with_key!(EcPublic, self, key, p => {
            key.to_public_key_der().map(|der| der.as_bytes().to_vec()).map_err(|_| NO_PUBLIC)
        })
    }

    /// As an uncompressed point.
    pub fn to_raw(&self) -> Vec<u8> {
        with_key!(EcPublic, self, key, p => key.to_sec1_point(false).as_bytes().to_vec())
    }

    /// Its coordinates.
    pub fn to_point(&self) -> Point {
        let raw = self.to_raw();
        let (x, y) = raw[1..].split_at(raw.len() / 2);
        Point { x: x.to_vec(), y: y.to_vec() }
    }

    /// Whether this key's owner signed.
    ///
    /// # Errors
    /// A digest it is not defined for.
    pub fn is_signature(&self, hash: Hash, data: &[u8], signature: &[u8]) -> Result<bool> {
        crate::hash::with_sha!(hash, _D => ());
        let digest = hash.digest(data);
        Ok(with_key!(EcPublic, self, key, p => {
            p::ecdsa::Signature::from_slice(signature)
                .is_ok_and(|signature| verify_prehashed(&key.to_projective(), &digest, &signature).is_ok())
        }))
    }
}
