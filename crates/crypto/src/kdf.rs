//! Keys from passwords and from other keys.

use crate::hash::with_sha;
use crate::{Error, Hash, Result};

/// Bytes that are derived at once; no key is near it.
const DERIVED_BYTES_MAX: usize = 1 << 20;

/// PBKDF2 (RFC 8018) with HMAC: `count` bytes of a password.
///
/// # Errors
/// No iterations, too many bytes, or a digest it is not defined for.
pub fn pbkdf2(hash: Hash, password: &[u8], salt: &[u8], iterations: u32, count: usize) -> Result<Vec<u8>> {
    if iterations == 0 {
        return Err(Error::Derive("the number of iterations is zero"));
    }
    let mut derived = room(count)?;
    with_sha!(hash, D => pbkdf2::pbkdf2_hmac::<D>(password, salt, iterations, &mut derived));
    Ok(derived)
}

/// HKDF (RFC 5869), extract and expand: `count` bytes of a secret.
///
/// # Errors
/// More than 255 times the digest's length, or a digest it is not defined for.
pub fn hkdf(hash: Hash, secret: &[u8], salt: &[u8], info: &[u8], count: usize) -> Result<Vec<u8>> {
    let mut derived = room(count)?;
    let expanded = with_sha!(hash, D => hkdf::Hkdf::<D>::new(Some(salt), secret).expand(info, &mut derived));
    expanded.map_err(|_| Error::Derive("more bits than this digest can give"))?;
    Ok(derived)
}

fn room(count: usize) -> Result<Vec<u8>> {
    if count > DERIVED_BYTES_MAX {
        return Err(Error::Derive("too many bits"));
    }
    Ok(vec![0; count])
}
