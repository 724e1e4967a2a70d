//! A client's private key from its PEM text, opened with its password where it has one.
//!
//! k6 opens the older form, which encrypts the PEM block itself (RFC 1423); here PKCS #8 (RFC 5958) is opened, too, which
//! today's tools write.

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockCipherDecrypt, BlockModeDecrypt, KeyInit, KeyIvInit};
use aes::{Aes128, Aes192, Aes256};
use des::{Des, TdesEde3};
use md5::{Digest, Md5};
use pem::Pem;
use pkcs8::EncryptedPrivateKeyInfoRef;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer};

/// The header that says how a block is encrypted.
const ENCRYPTION: &str = "DEK-Info";

/// The length of the salt: the first bytes of the initialization vector.
const SALT_BYTES: usize = 8;

const WRONG: &str = "the password does not open it";

/// The first key in a PEM text.
///
/// # Errors
/// A text for the user: there is none, or it does not open.
pub(crate) fn read(text: &str, password: Option<&str>) -> Result<PrivateKeyDer<'static>, String> {
    let blocks = pem::parse_many(text).unwrap_or_default();
    let encrypted = blocks.iter().find(|block| is_encrypted(block));
    let Some(block) = encrypted else {
        return PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|error| error.to_string());
    };
    let password = password.filter(|password| !password.is_empty());
    let password = password.ok_or("it is encrypted, and `password` is not given")?;
    match block.headers().get(ENCRYPTION) {
        Some(how) => open_block(block, how, password.as_bytes()),
        None => open_pkcs8(block.contents(), password.as_bytes()),
    }
}

fn is_encrypted(block: &Pem) -> bool {
    block.tag() == "ENCRYPTED PRIVATE KEY" || block.headers().get(ENCRYPTION).is_some()
}

fn open_pkcs8(der: &[u8], password: &[u8]) -> Result<PrivateKeyDer<'static>, String> {
    let sealed = EncryptedPrivateKeyInfoRef::try_from(der).map_err(|error| {
        format!("its encryption is not supported ({error}); use `openssl pkcs8 -topk8 -v2 aes-256-cbc`")
    })?;
    let opened = sealed.decrypt(password).map_err(|_| WRONG.to_owned())?;
    Ok(PrivatePkcs8KeyDer::from(opened.as_bytes().to_vec()).into())
}

fn open_block(block: &Pem, how: &str, password: &[u8]) -> Result<PrivateKeyDer<'static>, String> {
    let (cipher, iv) = how.split_once(',').ok_or("its DEK-Info is no cipher with a vector")?;
    let iv = bytes(iv.trim()).ok_or("the vector in its DEK-Info is not hexadecimal")?;
    let sealed = block.contents();
    let opened = match cipher.trim() {
        "AES-128-CBC" => open::<Aes128>(sealed, &iv, password),
        "AES-192-CBC" => open::<Aes192>(sealed, &iv, password),
        "AES-256-CBC" => open::<Aes256>(sealed, &iv, password),
        "DES-EDE3-CBC" => open::<TdesEde3>(sealed, &iv, password),
        "DES-CBC" => open::<Des>(sealed, &iv, password),
        other => return Err(format!("its encryption {other} is not supported; use `openssl pkey -aes256`")),
    };
    let der = opened.ok_or(WRONG)?;
    match block.tag() {
        "RSA PRIVATE KEY" => Ok(PrivatePkcs1KeyDer::from(der).into()),
        "EC PRIVATE KEY" => Ok(PrivateSec1KeyDer::from(der).into()),
        "PRIVATE KEY" => Ok(PrivatePkcs8KeyDer::from(der).into()),
        other => Err(format!("a key of the kind {other:?} is not supported")),
    }
}

/// CBC with the key that OpenSSL makes of a password; `None` where the padding shows that it is the wrong one.
fn open<C: BlockCipherDecrypt + KeyInit>(sealed: &[u8], iv: &[u8], password: &[u8]) -> Option<Vec<u8>> {
    let key = key_of(password, iv.get(..SALT_BYTES)?, C::key_size());
    let cipher = cbc::Decryptor::<C>::new_from_slices(&key, iv).ok()?;
    cipher.decrypt_padded_vec::<Pkcs7>(sealed).ok()
}

/// `EVP_BytesToKey` of OpenSSL with MD5 and one round, which is what this form of encryption means.
fn key_of(password: &[u8], salt: &[u8], bytes_len: usize) -> Vec<u8> {
    let mut key = Vec::new();
    let mut last: Vec<u8> = Vec::new();
    while key.len() < bytes_len {
        last = Md5::new().chain_update(&last).chain_update(password).chain_update(salt).finalize().to_vec();
        key.extend_from_slice(&last);
    }
    key.truncate(bytes_len);
    key
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
    pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // One key of a curve, written by OpenSSL in each form with the password "pw".
    const PLAIN: &str = include_str!("fixtures/keys/plain.pem");
    const AES_128: &str = include_str!("fixtures/keys/aes-128.pem");
    const TRIPLE_DES: &str = include_str!("fixtures/keys/triple-des.pem");
    const PKCS8_AES: &str = include_str!("fixtures/keys/pkcs8-aes-256.pem");
    const PKCS8_TRIPLE_DES: &str = include_str!("fixtures/keys/pkcs8-triple-des.pem");
    const PKCS12: &str = include_str!("fixtures/keys/pkcs8-of-pkcs12.pem");

    #[test]
    fn every_form_holds_the_same_key() {
        let plain = read(PLAIN, None).expect("it is not encrypted");
        assert_eq!(read(PLAIN, Some("pw")).as_ref(), Ok(&plain), "a password too many is no fault");
        for text in [AES_128, TRIPLE_DES] {
            assert_eq!(read(text, Some("pw")).as_ref(), Ok(&plain));
        }
        let plain = plain.secret_der();
        let secret = &plain[7..7 + 32];
        for text in [PKCS8_AES, PKCS8_TRIPLE_DES] {
            let key = read(text, Some("pw")).expect("it opens");
            assert!(key.secret_der().windows(32).any(|window| window == secret));
        }
    }

    #[track_caller]
    fn check(text: &str, password: Option<&str>, expect: &str) {
        let why = read(text, password).expect_err("it does not open");
        assert!(why.contains(expect), "{why}");
    }

    #[test]
    fn what_does_not_open_is_said() {
        for text in [AES_128, TRIPLE_DES, PKCS8_AES, PKCS8_TRIPLE_DES] {
            check(text, Some("wrong"), "does not open");
            check(text, None, "`password` is not given");
            check(text, Some(""), "`password` is not given");
        }
        check(PKCS12, Some("pw"), "not supported");
        check(&AES_128.replace("AES-128-CBC", "RC2-CBC"), Some("pw"), "RC2-CBC is not supported");
        check(&AES_128.replace("CBC,2A", "CBC,zz"), Some("pw"), "hexadecimal");
        check(&AES_128.replace("CBC,2A67", "CBC,"), Some("pw"), "does not open");
        check(&AES_128.replace("EC PRIVATE", "DSA PRIVATE"), Some("pw"), "\"DSA PRIVATE KEY\"");
        check("", Some("pw"), "");
    }
}
