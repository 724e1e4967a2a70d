//! RSA (RFC 8017).

use ::rsa::pkcs1::der::{Decode, Encode, asn1::UintRef};
use ::rsa::pkcs1::{DecodeRsaPrivateKey, DecodeRsaPublicKey, EncodeRsaPrivateKey, EncodeRsaPublicKey};
use ::rsa::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use ::rsa::traits::PublicKeyParts;
use ::rsa::{BoxedUint, Oaep, Pkcs1v15Sign, Pss, RsaPrivateKey, RsaPublicKey};

use crate::hash::with_sha;
use crate::{Error, Hash, Result};

/// The longest modulus that is made. Twice as long takes ten times as long.
pub const MODULUS_BITS_MAX: usize = 8192;

/// The shortest one; shorter ones can be broken at a desk.
pub const MODULUS_BITS_MIN: usize = 1024;

/// A private key.
#[derive(Clone)]
pub struct RsaPrivate(RsaPrivateKey);

/// A public key.
#[derive(Clone, PartialEq, Eq)]
pub struct RsaPublic(RsaPublicKey);

/// A public key's numbers, high bytes first, without leading zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublicNumbers {
    /// The modulus.
    pub n: Vec<u8>,
    /// The public exponent.
    pub e: Vec<u8>,
}

/// A private key's numbers, named as in RFC 7518.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrivateNumbers {
    /// The parameters that its public key has too.
    pub public: PublicNumbers,
    /// The private exponent.
    pub d: Vec<u8>,
    /// The first prime.
    pub p: Vec<u8>,
    /// The second prime.
    pub q: Vec<u8>,
    /// d mod (p-1)
    pub dp: Vec<u8>,
    /// d mod (q-1)
    pub dq: Vec<u8>,
    /// The inverse of q mod p.
    pub qi: Vec<u8>,
}

/// How a signature is padded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// RSASSA-PKCS1-v1_5
    Pkcs1,
    /// RSASSA-PSS with a salt of so many bytes.
    Pss {
        /// Length of the salt.
        salt_bytes: usize,
    },
}

const NO_PRIVATE: Error = Error::Key("it is no private key of RSA");
const NO_PUBLIC: Error = Error::Key("it is no public key of RSA");

impl RsaPrivate {
    /// A new one. It takes from a fraction of a second to minutes.
    ///
    /// # Errors
    /// A modulus or an exponent that no sound key has.
    pub fn generate(modulus_bits: usize, exponent: &[u8]) -> Result<RsaPrivate> {
        if !(MODULUS_BITS_MIN..=MODULUS_BITS_MAX).contains(&modulus_bits) {
            return Err(Error::Generate("the modulus must have 1024 to 8192 bits"));
        }
        let exponent = small(exponent).ok_or(Error::Generate("the public exponent is too large"))?;
        if exponent < 3 || exponent % 2 == 0 {
            return Err(Error::Generate("the public exponent must be odd and at least 3"));
        }
        let key = RsaPrivateKey::new_with_exp(&mut rand::rng(), modulus_bits, BoxedUint::from(exponent));
        key.map(RsaPrivate).map_err(|_| Error::Generate("no key has these parameters"))
    }

    /// From PKCS #8.
    ///
    /// # Errors
    /// Anything else, and numbers that contradict each other.
    pub fn from_pkcs8(der: &[u8]) -> Result<RsaPrivate> {
        RsaPrivateKey::from_pkcs8_der(der).map(RsaPrivate).map_err(|_| NO_PRIVATE)
    }

    /// As PKCS #8.
    ///
    /// # Errors
    /// None that a sound key has.
    pub fn to_pkcs8(&self) -> Result<Vec<u8>> {
        self.0.to_pkcs8_der().map(|der| der.as_bytes().to_vec()).map_err(|_| NO_PRIVATE)
    }

    /// From its numbers.
    ///
    /// # Errors
    /// Numbers that contradict each other.
    pub fn from_numbers(numbers: &PrivateNumbers) -> Result<RsaPrivate> {
        let uint = |bytes| UintRef::new(bytes).map_err(|_| NO_PRIVATE);
        let key = ::rsa::pkcs1::RsaPrivateKey {
            modulus: uint(&numbers.public.n)?,
            public_exponent: uint(&numbers.public.e)?,
            private_exponent: uint(&numbers.d)?,
            prime1: uint(&numbers.p)?,
            prime2: uint(&numbers.q)?,
            exponent1: uint(&numbers.dp)?,
            exponent2: uint(&numbers.dq)?,
            coefficient: uint(&numbers.qi)?,
            other_prime_infos: None,
        };
        let der = key.to_der().map_err(|_| NO_PRIVATE)?;
        RsaPrivateKey::from_pkcs1_der(&der).map(RsaPrivate).map_err(|_| NO_PRIVATE)
    }

    /// Its numbers.
    ///
    /// # Errors
    /// None that a sound key has.
    pub fn to_numbers(&self) -> Result<PrivateNumbers> {
        let der = self.0.to_pkcs1_der().map_err(|_| NO_PRIVATE)?;
        let key = ::rsa::pkcs1::RsaPrivateKeyRef::from_der(der.as_bytes()).map_err(|_| NO_PRIVATE)?;
        let bytes = |number: UintRef<'_>| number.as_bytes().to_vec();
        Ok(PrivateNumbers {
            public: PublicNumbers { n: bytes(key.modulus), e: bytes(key.public_exponent) },
            d: bytes(key.private_exponent),
            p: bytes(key.prime1),
            q: bytes(key.prime2),
            dp: bytes(key.exponent1),
            dq: bytes(key.exponent2),
            qi: bytes(key.coefficient),
        })
    }

    /// Its public key.
    pub fn public(&self) -> RsaPublic {
        RsaPublic(self.0.to_public_key())
    }

    /// Signs.
    ///
    /// # Errors
    /// A key too short for the digest and the salt, or a digest it is not defined for.
    pub fn sign(&self, padding: Padding, hash: Hash, data: &[u8]) -> Result<Vec<u8>> {
        let digest = hash.digest(data);
        let mut random = rand::rng();
        let signed = with_sha!(hash, D => match padding {
            Padding::Pkcs1 => self.0.sign(Pkcs1v15Sign::new::<D>(), &digest),
            Padding::Pss { salt_bytes } => {
                self.0.sign_with_rng(&mut random, Pss::<D>::new_with_salt(checked(salt_bytes)?), &digest)
            }
        });
        signed.map_err(|_| Error::Sign("the key is too short for the digest and the salt"))
    }

    /// Decrypts OAEP.
    ///
    /// # Errors
    /// Another key's text, another label's, or a changed one.
    pub fn decrypt(&self, hash: Hash, label: &[u8], data: &[u8]) -> Result<Vec<u8>> {
        let decrypted = with_sha!(hash, D => self.0.decrypt(Oaep::<D>::new_with_label(label), data));
        decrypted.map_err(|_| Error::Decrypt("it was not encrypted for this key and label"))
    }
}

impl RsaPublic {
    /// From a SubjectPublicKeyInfo.
    ///
    /// # Errors
    /// Anything else.
    pub fn from_spki(der: &[u8]) -> Result<RsaPublic> {
        RsaPublicKey::from_public_key_der(der).map(RsaPublic).map_err(|_| NO_PUBLIC)
    }

    /// From a SubjectPublicKeyInfo in PEM.
    ///
    /// # Errors
    /// Anything else.
    pub fn from_pem(pem: &[u8]) -> Result<RsaPublic> {
        let first = x509_parser::pem::Pem::iter_from_buffer(pem).next();
        RsaPublic::from_spki(&first.and_then(std::result::Result::ok).ok_or(NO_PUBLIC)?.contents)
    }

    /// As a SubjectPublicKeyInfo.
    ///
    /// # Errors
    /// None that a sound key has.
    pub fn to_spki(&self) -> Result<Vec<u8>> {
        self.0.to_public_key_der().map(|der| der.as_bytes().to_vec()).map_err(|_| NO_PUBLIC)
    }

    /// From its numbers.
    ///
    /// # Errors
    /// Numbers that no sound key has.
    pub fn from_numbers(numbers: &PublicNumbers) -> Result<RsaPublic> {
        let uint = |bytes| UintRef::new(bytes).map_err(|_| NO_PUBLIC);
        let key =
            ::rsa::pkcs1::RsaPublicKey { modulus: uint(&numbers.n)?, public_exponent: uint(&numbers.e)? };
        let der = key.to_der().map_err(|_| NO_PUBLIC)?;
        RsaPublicKey::from_pkcs1_der(&der).map(RsaPublic).map_err(|_| NO_PUBLIC)
    }

    /// Its numbers.
    ///
    /// # Errors
    /// None that a sound key has.
    pub fn to_numbers(&self) -> Result<PublicNumbers> {
        let der = self.0.to_pkcs1_der().map_err(|_| NO_PUBLIC)?;
        let key = ::rsa::pkcs1::RsaPublicKeyRef::from_der(der.as_bytes()).map_err(|_| NO_PUBLIC)?;
        Ok(PublicNumbers { n: key.modulus.as_bytes().to_vec(), e: key.public_exponent.as_bytes().to_vec() })
    }

    /// Bits of its modulus.
    pub fn modulus_bits(&self) -> usize {
        self.0.n().bits_vartime() as usize
    }

    /// Whether this key's owner signed.
    ///
    /// # Errors
    /// A digest it is not defined for.
    pub fn is_signature(&self, padding: Padding, hash: Hash, data: &[u8], signature: &[u8]) -> Result<bool> {
        let digest = hash.digest(data);
        let verified = with_sha!(hash, D => match padding {
            Padding::Pkcs1 => self.0.verify(Pkcs1v15Sign::new::<D>(), &digest, signature),
            Padding::Pss { salt_bytes } => {
                self.0.verify(Pss::<D>::new_with_salt(checked(salt_bytes)?), &digest, signature)
            }
        });
        Ok(verified.is_ok())
    }

    /// Encrypts with OAEP.
    ///
    /// # Errors
    /// More than the key can hold, or a digest it is not defined for.
    pub fn encrypt(&self, hash: Hash, label: &[u8], data: &[u8]) -> Result<Vec<u8>> {
        let mut random = rand::rng();
        let encrypted =
            with_sha!(hash, D => self.0.encrypt(&mut random, Oaep::<D>::new_with_label(label), data));
        encrypted.map_err(|_| Error::Encrypt("it is longer than the key can hold"))
    }
}

/// A salt that no key is long enough for would only overflow.
fn checked(salt_bytes: usize) -> Result<usize> {
    if salt_bytes > MODULUS_BITS_MAX / 8 {
        return Err(Error::Sign("the key is too short for the digest and the salt"));
    }
    Ok(salt_bytes)
}

fn small(bytes: &[u8]) -> Option<u64> {
    let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    let significant = &bytes[start..];
    (significant.len() <= 4)
        .then(|| significant.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}
