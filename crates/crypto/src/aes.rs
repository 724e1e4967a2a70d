//! AES in the modes of the Web Cryptography API. A key is 16, 24 or 32 bytes.

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, KeyInit, KeyIvInit, StreamCipher};
use ghash::GHash;
use ghash::universal_hash::UniversalHash;

use crate::hash::is_equal;
use crate::{Error, Result};

/// Bytes of a block.
pub const BLOCK_BYTES: usize = 16;

/// Most bytes encrypted or decrypted at once. A script's values are far smaller, and a longer one would hold its thread.
const DATA_BYTES_MAX: usize = 1 << 30;

/// Names the cipher's type for an expression.
macro_rules! with_aes {
    ($key:expr, $refuse:expr, $C:ident => $body:expr) => {
        match $key.len() {
            16 => {
                type $C = aes::Aes128;
                $body
            }
            24 => {
                type $C = aes::Aes192;
                $body
            }
            32 => {
                type $C = aes::Aes256;
                $body
            }
            _ => return Err($refuse("a key of AES has 128, 192 or 256 bits")),
        }
    };
}

const KEY_IS_CHECKED: &str = "the key's length was just matched";

/// Encrypts with CBC and the padding of PKCS #7.
///
/// # Errors
/// The key's or the initialization vector's length.
pub fn encrypt_cbc(key: &[u8], iv: &[u8], data: &[u8]) -> Result<Vec<u8>> {
    let iv = block(iv).ok_or(Error::Encrypt("the initialization vector must have 16 bytes"))?;
    with_aes!(key, Error::Encrypt, C => {
        let cipher = cbc::Encryptor::<C>::new_from_slices(key, iv).expect(KEY_IS_CHECKED);
        Ok(cipher.encrypt_padded_vec::<Pkcs7>(data))
    })
}

/// The reverse of [`encrypt_cbc`].
///
/// # Errors
/// The key's, the initialization vector's or the data's length, or the padding.
pub fn decrypt_cbc(key: &[u8], iv: &[u8], data: &[u8]) -> Result<Vec<u8>> {
    let iv = block(iv).ok_or(Error::Decrypt("the initialization vector must have 16 bytes"))?;
    with_aes!(key, Error::Decrypt, C => {
        let cipher = cbc::Decryptor::<C>::new_from_slices(key, iv).expect(KEY_IS_CHECKED);
        cipher.decrypt_padded_vec::<Pkcs7>(data).map_err(|_| Error::Decrypt("the padding is wrong"))
    })
}

/// Encrypts or decrypts with CTR, whose counter is the last `counter_bits` (1 to 128) of the block `counter` and wraps
/// within them (NIST SP 800-38A, B.1).
///
/// # Errors
/// Lengths, or more data than the counter can count.
pub fn apply_ctr(key: &[u8], counter: &[u8], counter_bits: u32, data: &[u8]) -> Result<Vec<u8>> {
    let start = block(counter).ok_or(Error::Encrypt("the counter must have 16 bytes"))?;
    if !(1..=128).contains(&counter_bits) {
        return Err(Error::Encrypt("the counter's length must be 1 to 128 bits"));
    }
    let mask = u128::MAX >> (128 - counter_bits);
    let start = u128::from_be_bytes(*start);
    let blocks = data.len().div_ceil(BLOCK_BYTES) as u128;
    if blocks > 0 && blocks - 1 > mask {
        return Err(Error::Encrypt("the counter is too short for so much data"));
    }
    let mut data = data.to_vec();
    let blocks_to_wrap = (mask - (start & mask)).saturating_add(1);
    let before = usize::try_from(blocks_to_wrap.saturating_mul(BLOCK_BYTES as u128))
        .map_or(data.len(), |bytes| bytes.min(data.len()));
    let (first, wrapped) = data.split_at_mut(before);
    with_aes!(key, Error::Encrypt, C => {
        for (counter, part) in [(start, first), (start & !mask, wrapped)] {
            ctr::Ctr128BE::<C>::new_from_slices(key, &counter.to_be_bytes()).expect(KEY_IS_CHECKED).apply_keystream(part);
        }
    });
    Ok(data)
}

/// Encrypts with GCM; the tag comes last (NIST SP 800-38D).
///
/// # Errors
/// Lengths.
pub fn encrypt_gcm(key: &[u8], iv: &[u8], added: &[u8], tag_bits: usize, data: &[u8]) -> Result<Vec<u8>> {
    let gcm = Gcm::new(key, iv, Error::Encrypt)?;
    let tag_bytes = tag_bytes(tag_bits).ok_or(Error::Encrypt(TAG_LENGTH))?;
    if data.len() > DATA_BYTES_MAX {
        return Err(Error::Encrypt("too much data"));
    }
    let mut text = data.to_vec();
    gcm.apply(key, &mut text);
    let tag = gcm.tag(added, &text);
    text.extend_from_slice(&tag[..tag_bytes]);
    Ok(text)
}

/// The reverse of [`encrypt_gcm`].
///
/// # Errors
/// Lengths, or the tag is not that of this text.
pub fn decrypt_gcm(key: &[u8], iv: &[u8], added: &[u8], tag_bits: usize, data: &[u8]) -> Result<Vec<u8>> {
    let gcm = Gcm::new(key, iv, Error::Decrypt)?;
    let tag_bytes = tag_bytes(tag_bits).ok_or(Error::Decrypt(TAG_LENGTH))?;
    let text_bytes = data.len().checked_sub(tag_bytes).ok_or(Error::Decrypt("it is shorter than its tag"))?;
    let (text, tag) = data.split_at(text_bytes);
    if !is_equal(&gcm.tag(added, text)[..tag_bytes], tag) {
        return Err(Error::Decrypt("the tag is wrong"));
    }
    let mut text = text.to_vec();
    gcm.apply(key, &mut text);
    Ok(text)
}

/// Wraps a key of 16 bytes or more, in steps of 8 (RFC 3394).
///
/// # Errors
/// Lengths.
pub fn wrap(key: &[u8], data: &[u8]) -> Result<Vec<u8>> {
    let refused = |_| Error::Encrypt("what is wrapped must have 16 bytes or more, in steps of 8");
    if data.len() < 16 {
        return Err(refused(()));
    }
    let mut wrapped = vec![0; data.len() + 8];
    with_aes!(key, Error::Encrypt, C => {
        let kek = aes_kw::AesKw::<C>::new_from_slice(key).expect(KEY_IS_CHECKED);
        kek.wrap_key(data, &mut wrapped).map_err(|_| refused(()))?;
    });
    Ok(wrapped)
}

/// The reverse of [`wrap`].
///
/// # Errors
/// Lengths, or it was not wrapped with this key.
pub fn unwrap(key: &[u8], data: &[u8]) -> Result<Vec<u8>> {
    let refused = |_| Error::Decrypt("it was not wrapped with this key");
    if data.len() < 24 {
        return Err(refused(()));
    }
    let mut unwrapped = vec![0; data.len() - 8];
    with_aes!(key, Error::Decrypt, C => {
        let kek = aes_kw::AesKw::<C>::new_from_slice(key).expect(KEY_IS_CHECKED);
        kek.unwrap_key(data, &mut unwrapped).map_err(|_| refused(()))?;
    });
    Ok(unwrapped)
}

const TAG_LENGTH: &str = "the tag's length must be 32, 64, 96, 104, 112, 120 or 128 bits";

fn tag_bytes(tag_bits: usize) -> Option<usize> {
    matches!(tag_bits, 32 | 64 | 96 | 104 | 112 | 120 | 128).then_some(tag_bits / 8)
}

fn block(bytes: &[u8]) -> Option<&[u8; BLOCK_BYTES]> {
    bytes.try_into().ok()
}

/// GCM of its parts. The library's own is made for vectors and tags of one length known beforehand; scripts choose both.
struct Gcm {
    ghash: GHash,
    /// The pre-counter block, J₀ of the standard.
    start: u128,
    /// The key stream's first block, which covers the tag.
    mask: [u8; BLOCK_BYTES],
}

impl Gcm {
    fn new(key: &[u8], iv: &[u8], refuse: fn(&'static str) -> Error) -> Result<Gcm> {
        if iv.is_empty() {
            return Err(refuse("the initialization vector is empty"));
        }
        with_aes!(key, refuse, C => {
            let cipher = C::new_from_slice(key).expect(KEY_IS_CHECKED);
            let mut subkey = [0; BLOCK_BYTES];
            cipher.encrypt_block((&mut subkey).into());
            let ghash = GHash::new((&subkey).into());
            let start = start_block(&ghash, iv);
            let mut mask = start.to_be_bytes();
            cipher.encrypt_block((&mut mask).into());
            Ok(Gcm { ghash, start, mask })
        })
    }

    /// Encrypts or decrypts.
    fn apply(&self, key: &[u8], text: &mut [u8]) {
        // Only the last 32 bits count and wrap.
        let low = (self.start as u32).wrapping_add(1);
        let counter = (self.start >> 32 << 32) | u128::from(low);
        let counter = counter.to_be_bytes();
        match key.len() {
            16 => ctr::Ctr32BE::<aes::Aes128>::new_from_slices(key, &counter)
                .expect(KEY_IS_CHECKED)
                .apply_keystream(text),
            24 => ctr::Ctr32BE::<aes::Aes192>::new_from_slices(key, &counter)
                .expect(KEY_IS_CHECKED)
                .apply_keystream(text),
            _ => ctr::Ctr32BE::<aes::Aes256>::new_from_slices(key, &counter)
                .expect(KEY_IS_CHECKED)
                .apply_keystream(text),
        }
    }

    fn tag(&self, added: &[u8], text: &[u8]) -> [u8; BLOCK_BYTES] {
        let mut ghash = self.ghash.clone();
        ghash.update_padded(added);
        ghash.update_padded(text);
        ghash.update(&[lengths(added.len(), text.len()).into()]);
        let mut tag: [u8; BLOCK_BYTES] = ghash.finalize().into();
        tag.iter_mut().zip(self.mask).for_each(|(tag, mask)| *tag ^= mask);
        tag
    }
}

fn start_block(ghash: &GHash, iv: &[u8]) -> u128 {
    if iv.len() == 12 {
        let mut start = [0; BLOCK_BYTES];
        start[..12].copy_from_slice(iv);
        start[15] = 1;
        return u128::from_be_bytes(start);
    }
    let mut ghash = ghash.clone();
    ghash.update_padded(iv);
    ghash.update(&[lengths(0, iv.len()).into()]);
    u128::from_be_bytes(ghash.finalize().into())
}

/// Two lengths in bits, as GCM's last block has them.
fn lengths(first_bytes: usize, second_bytes: usize) -> [u8; BLOCK_BYTES] {
    let mut block = [0; BLOCK_BYTES];
    block[..8].copy_from_slice(&(first_bytes as u64 * 8).to_be_bytes());
    block[8..].copy_from_slice(&(second_bytes as u64 * 8).to_be_bytes());
    block
}
