//! Digests, and authentication codes made of them.

use hmac::{Hmac, KeyInit};
use sha2::digest::Digest;
use sha2::digest::common::BlockSizeUser;

/// A digest algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// RFC 1320; broken.
    Md4,
    /// RFC 1321; broken.
    Md5,
    /// RIPEMD-160.
    Ripemd160,
    /// FIPS 180-4; broken where collisions matter.
    Sha1,
    /// FIPS 180-4.
    Sha256,
    /// FIPS 180-4.
    Sha384,
    /// FIPS 180-4.
    Sha512,
    /// FIPS 180-4, SHA-512 with its own start and 28 bytes.
    Sha512_224,
    /// FIPS 180-4, SHA-512 with its own start and 32 bytes.
    Sha512_256,
}

/// Names the digest's type for an expression.
macro_rules! with_hash {
    ($hash:expr, $D:ident => $body:expr) => {
        match $hash {
            $crate::Hash::Md4 => {
                type $D = md4::Md4;
                $body
            }
            $crate::Hash::Md5 => {
                type $D = md5::Md5;
                $body
            }
            $crate::Hash::Ripemd160 => {
                type $D = ripemd::Ripemd160;
                $body
            }
            $crate::Hash::Sha1 => {
                type $D = sha1::Sha1;
                $body
            }
            $crate::Hash::Sha256 => {
                type $D = sha2::Sha256;
                $body
            }
            $crate::Hash::Sha384 => {
                type $D = sha2::Sha384;
                $body
            }
            $crate::Hash::Sha512 => {
                type $D = sha2::Sha512;
                $body
            }
            $crate::Hash::Sha512_224 => {
                type $D = sha2::Sha512_224;
                $body
            }
            $crate::Hash::Sha512_256 => {
                type $D = sha2::Sha512_256;
                $body
            }
        }
    };
}

/// The same for the digests that signatures and key derivation are defined for; the others return an error.
macro_rules! with_sha {
    ($hash:expr, $D:ident => $body:expr) => {
        match $hash {
            $crate::Hash::Sha1 => {
                type $D = sha1::Sha1;
                $body
            }
            $crate::Hash::Sha256 => {
                type $D = sha2::Sha256;
                $body
            }
            $crate::Hash::Sha384 => {
                type $D = sha2::Sha384;
                $body
            }
            $crate::Hash::Sha512 => {
                type $D = sha2::Sha512;
                $body
            }
            _ => return Err($crate::Error::Digest),
        }
    };
}
pub(crate) use with_sha;

impl Hash {
    /// By the name that k6 has for it, in its spelling only.
    pub fn from_k6_name(name: &str) -> Option<Hash> {
        Some(match name {
            "md4" => Hash::Md4,
            "md5" => Hash::Md5,
            "ripemd160" => Hash::Ripemd160,
            "sha1" => Hash::Sha1,
            "sha256" => Hash::Sha256,
            "sha384" => Hash::Sha384,
            "sha512" => Hash::Sha512,
            "sha512_224" => Hash::Sha512_224,
            "sha512_256" => Hash::Sha512_256,
            _ => return None,
        })
    }

    /// By the name that the Web Cryptography API has for it, in its spelling only.
    pub fn from_web_name(name: &str) -> Option<Hash> {
        Some(match name {
            "SHA-1" => Hash::Sha1,
            "SHA-256" => Hash::Sha256,
            "SHA-384" => Hash::Sha384,
            "SHA-512" => Hash::Sha512,
            _ => return None,
        })
    }

    /// The digest of some bytes.
    pub fn digest(self, bytes: &[u8]) -> Vec<u8> {
        with_hash!(self, D => D::digest(bytes).to_vec())
    }

    /// A digest to be fed.
    pub fn hasher(self) -> Hasher {
        with_hash!(self, D => Hasher(Box::new(D::new())))
    }

    /// An authentication code to be fed (RFC 2104). Any key will do.
    pub fn mac(self, key: &[u8]) -> Mac {
        with_hash!(self, D => Mac(Box::new(keyed::<Hmac<D>>(key, <D as BlockSizeUser>::block_size(), self))))
    }

    /// The authentication code of some bytes.
    pub fn hmac(self, key: &[u8], bytes: &[u8]) -> Vec<u8> {
        let mut mac = self.mac(key);
        mac.update(bytes);
        mac.value()
    }

    /// Whether `code` is the authentication code of some bytes, without telling by the time it takes.
    pub fn is_hmac(self, key: &[u8], bytes: &[u8], code: &[u8]) -> bool {
        is_equal(&self.hmac(key, bytes), code)
    }

    /// Bytes that it digests at a time; the length of a generated key for [`Hash::hmac`].
    pub fn block_bytes(self) -> usize {
        with_hash!(self, D => <D as BlockSizeUser>::block_size())
    }
}

/// RFC 2104 hashes a key that is longer than a block, and pads a shorter one.
fn keyed<M: KeyInit>(key: &[u8], block_bytes: usize, hash: Hash) -> M {
    let mut block = if key.len() > block_bytes { hash.digest(key) } else { key.to_vec() };
    block.resize(block_bytes, 0);
    M::new_from_slice(&block).expect("a block is as long as the block")
}

/// Compares in a time that depends on the lengths only.
pub(crate) fn is_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// A digest under way.
pub struct Hasher(Box<dyn Running>);

/// An authentication code under way.
pub struct Mac(Box<dyn Running>);

trait Running {
    fn update(&mut self, bytes: &[u8]);
    /// Does not end it: k6's hashers go on.
    fn value(&self) -> Vec<u8>;
}

impl<D: sha2::digest::Update + sha2::digest::FixedOutput + Clone> Running for D {
    fn update(&mut self, bytes: &[u8]) {
        sha2::digest::Update::update(self, bytes);
    }

    fn value(&self) -> Vec<u8> {
        self.clone().finalize_fixed().to_vec()
    }
}

impl Hasher {
    /// Feeds it.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of what it was fed so far.
    pub fn value(&self) -> Vec<u8> {
        self.0.value()
    }
}

impl Mac {
    /// Feeds it.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The code of what it was fed so far.
    pub fn value(&self) -> Vec<u8> {
        self.0.value()
    }
}
