//! Compares with answers of another implementation, which `vectors.py` recorded.

use crypto::rsa::{Padding, PrivateNumbers, PublicNumbers, RsaPrivate, RsaPublic};
use crypto::{
    Curve, EcPrivate, EcPublic, Ed25519Private, Ed25519Public, Hash, X25519Private, X25519Public, aes,
};

/// One line's words.
struct Case<'a> {
    words: Vec<&'a str>,
}

impl Case<'_> {
    fn bytes(&self, index: usize) -> Vec<u8> {
        let word = self.words[index].trim_start_matches('-');
        let digit = |at: usize| word.as_bytes()[at] as char;
        (0..word.len() / 2)
            .map(|at| {
                (digit(2 * at).to_digit(16).unwrap() << 4 | digit(2 * at + 1).to_digit(16).unwrap()) as u8
            })
            .collect()
    }

    fn number(&self, index: usize) -> usize {
        self.words[index].parse().unwrap()
    }

    fn hash(&self, index: usize) -> Hash {
        let name = self.words[index];
        Hash::from_k6_name(name).or_else(|| Hash::from_web_name(name)).unwrap()
    }

    fn curve(&self, index: usize) -> Curve {
        Curve::from_web_name(self.words[index]).unwrap()
    }
}

/// Runs every line of one operation; there must be some.
fn check(operation: &str, run: fn(&Case<'_>)) {
    let lines = include_str!("vectors.txt").lines();
    let cases: Vec<Case<'_>> = lines
        .map(|line| Case { words: line.split(' ').collect() })
        .filter(|case| case.words[0] == operation)
        .collect();
    assert!(!cases.is_empty(), "no vectors of {operation}");
    cases.iter().for_each(run);
}

#[test]
fn digests() {
    check("digest", |case| {
        assert_eq!(case.hash(1).digest(&case.bytes(2)), case.bytes(3), "{}", case.words[1]);
    });
    // RFC 1320, A.5; Python's library has it no longer.
    assert_eq!(Hash::Md4.digest(b"abc")[..4], [0xa4, 0x48, 0x01, 0x7a]);
}

#[test]
fn a_hasher_goes_on_after_its_value() {
    let mut hasher = Hash::Sha1.hasher();
    hasher.update(b"a");
    assert_eq!(hasher.value(), Hash::Sha1.digest(b"a"));
    hasher.update(b"b");
    assert_eq!(hasher.value(), Hash::Sha1.digest(b"ab"));
}

#[test]
fn codes() {
    check("hmac", |case| {
        let (hash, key, message, code) = (case.hash(1), case.bytes(2), case.bytes(3), case.bytes(4));
        assert_eq!(hash.hmac(&key, &message), code, "{}", case.words[1]);
        assert!(hash.is_hmac(&key, &message, &code));
        assert!(!hash.is_hmac(&key, &message, &code[1..]));
    });
}

#[test]
fn cbc() {
    check("cbc", |case| {
        let (key, iv, text, sealed) = (case.bytes(1), case.bytes(2), case.bytes(3), case.bytes(4));
        assert_eq!(aes::encrypt_cbc(&key, &iv, &text), Ok(sealed.clone()));
        assert_eq!(aes::decrypt_cbc(&key, &iv, &sealed), Ok(text));
        assert!(aes::decrypt_cbc(&key, &iv, &sealed[1..]).is_err());
        assert!(aes::decrypt_cbc(&key, &iv[1..], &sealed).is_err());
        assert!(aes::decrypt_cbc(&key[1..], &iv, &sealed).is_err());
    });
}

#[test]
fn ctr() {
    check("ctr", |case| {
        let (key, start, bits) = (case.bytes(1), case.bytes(2), case.number(3) as u32);
        assert_eq!(aes::apply_ctr(&key, &start, bits, &case.bytes(4)), Ok(case.bytes(5)));
        assert!(aes::apply_ctr(&key, &start, 0, &[]).is_err());
        assert!(aes::apply_ctr(&key, &start, 1, &[0; 33]).is_err());
    });
}

#[test]
fn gcm() {
    check("gcm", |case| {
        let (key, iv, added, tag_bits) = (case.bytes(1), case.bytes(2), case.bytes(3), case.number(4));
        let (text, mut sealed) = (case.bytes(5), case.bytes(6));
        assert_eq!(aes::encrypt_gcm(&key, &iv, &added, tag_bits, &text), Ok(sealed.clone()));
        assert_eq!(aes::decrypt_gcm(&key, &iv, &added, tag_bits, &sealed), Ok(text));
        *sealed.last_mut().unwrap() ^= 1;
        assert!(aes::decrypt_gcm(&key, &iv, &added, tag_bits, &sealed).is_err());
        assert!(aes::decrypt_gcm(&key, &iv, &added, 33, &sealed).is_err());
        assert!(aes::decrypt_gcm(&key, &iv, &added, tag_bits, &[]).is_err());
    });
}

#[test]
fn wrapping() {
    check("wrap", |case| {
        let (key, text, mut wrapped) = (case.bytes(1), case.bytes(2), case.bytes(3));
        assert_eq!(aes::wrap(&key, &text), Ok(wrapped.clone()));
        assert_eq!(aes::unwrap(&key, &wrapped), Ok(text));
        wrapped[0] ^= 1;
        assert!(aes::unwrap(&key, &wrapped).is_err());
        assert!(aes::wrap(&key, &[0; 17]).is_err());
        assert!(aes::unwrap(&key, &[0; 3]).is_err());
    });
}

#[test]
fn derived_bits() {
    check("pbkdf2", |case| {
        let (hash, password, salt, iterations) = (case.hash(1), case.bytes(2), case.bytes(3), case.number(4));
        let bits = case.bytes(5);
        assert_eq!(crypto::pbkdf2(hash, &password, &salt, iterations as u32, bits.len()), Ok(bits));
    });
    check("hkdf", |case| {
        let (hash, secret, salt, info) = (case.hash(1), case.bytes(2), case.bytes(3), case.bytes(4));
        let bits = case.bytes(5);
        assert_eq!(crypto::hkdf(hash, &secret, &salt, &info, bits.len()), Ok(bits));
    });
    assert!(crypto::pbkdf2(Hash::Sha1, b"", b"", 0, 1).is_err());
    assert!(crypto::pbkdf2(Hash::Md5, b"", b"", 1, 1).is_err());
    assert!(crypto::hkdf(Hash::Sha1, b"", b"", b"", 255 * 20 + 1).is_err());
}

#[test]
fn agreed_keys() {
    check("agree", |case| {
        let curve = case.curve(1);
        let own = EcPrivate::from_pkcs8(curve, &case.bytes(2)).unwrap();
        let other = EcPublic::from_spki(curve, &case.bytes(3)).unwrap();
        assert_eq!(other.to_raw(), case.bytes(4));
        assert_eq!(other.to_spki().unwrap(), case.bytes(3));
        assert!(EcPublic::from_point(curve, &other.to_point()) == Ok(other.clone()));
        assert_eq!(own.to_pkcs8().unwrap(), case.bytes(2));
        assert_eq!(own.agree(&other).unwrap(), case.bytes(5));
        let copy = EcPrivate::from_raw(curve, &own.to_raw()).unwrap();
        assert!(copy.public() == own.public());
        assert!(EcPrivate::from_raw(curve, &vec![0; curve.field_bytes()]).is_err());
        assert!(EcPublic::from_raw(curve, &[4; 65]).is_err());
    });
    check("x25519", |case| {
        let own = X25519Private::from_pkcs8(&case.bytes(1)).unwrap();
        let other = X25519Public::from_spki(&case.bytes(2)).unwrap();
        assert_eq!(own.to_pkcs8(), case.bytes(1));
        assert_eq!(other.to_spki(), case.bytes(2));
        assert_eq!(own.agree(&other).unwrap(), case.bytes(3));
        assert!(own.agree(&X25519Public::from_raw(&[0; 32]).unwrap()).is_err());
    });
}

#[test]
fn keys_of_two_curves_agree_on_nothing() {
    let own = EcPrivate::generate(Curve::P256);
    assert!(own.agree(&EcPrivate::generate(Curve::P384).public()).is_err());
    assert!(EcPrivate::from_pkcs8(Curve::P384, &own.to_pkcs8().unwrap()).is_err());
}

#[test]
fn signatures_on_curves() {
    check("ecdsa", |case| {
        let (curve, hash) = (case.curve(1), case.hash(2));
        let private = EcPrivate::from_pkcs8(curve, &case.bytes(3)).unwrap();
        let public = EcPublic::from_spki(curve, &case.bytes(4)).unwrap();
        let (message, signature) = (case.bytes(5), case.bytes(6));
        assert_eq!(public.is_signature(hash, &message, &signature), Ok(true), "{:?}", case.words);
        let own = private.sign(hash, &message).unwrap();
        assert_eq!(own.len(), 2 * curve.field_bytes());
        assert_eq!(public.is_signature(hash, &message, &own), Ok(true));
        assert_eq!(public.is_signature(hash, &message[1..], &own), Ok(false));
        assert_eq!(public.is_signature(hash, &message, &own[1..]), Ok(false));
        assert!(private.sign(Hash::Md5, &message).is_err());
    });
    check("ed25519", |case| {
        let private = Ed25519Private::from_pkcs8(&case.bytes(1)).unwrap();
        let public = Ed25519Public::from_spki(&case.bytes(2)).unwrap();
        let (message, signature) = (case.bytes(3), case.bytes(4));
        assert_eq!(private.to_pkcs8().unwrap(), case.bytes(1));
        assert_eq!(public.to_spki().unwrap(), case.bytes(2));
        assert_eq!(private.sign(&message), signature);
        assert!(public.is_signature(&message, &signature));
        assert!(!public.is_signature(&message[1..], &signature));
    });
}

#[test]
fn signatures_with_rsa() {
    check("pkcs1", |case| {
        let (private, public) = rsa_keys(case, 2);
        let (hash, message, signature) = (case.hash(1), case.bytes(4), case.bytes(5));
        assert_eq!(private.sign(Padding::Pkcs1, hash, &message), Ok(signature.clone()));
        assert_eq!(public.is_signature(Padding::Pkcs1, hash, &message, &signature), Ok(true));
        assert_eq!(public.is_signature(Padding::Pkcs1, hash, &message[1..], &signature), Ok(false));
    });
    check("pss", |case| {
        let (private, public) = rsa_keys(case, 3);
        let (hash, message, signature) = (case.hash(1), case.bytes(5), case.bytes(6));
        let padding = Padding::Pss { salt_bytes: case.number(2) };
        assert_eq!(public.is_signature(padding, hash, &message, &signature), Ok(true));
        let own = private.sign(padding, hash, &message).unwrap();
        assert_eq!(public.is_signature(padding, hash, &message, &own), Ok(true));
        assert_eq!(public.is_signature(padding, hash, &message[1..], &own), Ok(false));
        assert!(private.sign(Padding::Pss { salt_bytes: usize::MAX }, hash, &message).is_err());
    });
}

#[test]
fn rsa_keys_and_texts() {
    check("rsa", |case| {
        let (private, public) = rsa_keys(case, 1);
        let numbers = private.to_numbers().unwrap();
        let expected = PrivateNumbers {
            public: PublicNumbers { n: case.bytes(3), e: case.bytes(4) },
            d: case.bytes(5),
            p: case.bytes(6),
            q: case.bytes(7),
            dp: case.bytes(8),
            dq: case.bytes(9),
            qi: case.bytes(10),
        };
        assert_eq!(numbers, expected);
        assert_eq!(RsaPrivate::from_numbers(&numbers).unwrap().to_pkcs8().unwrap(), case.bytes(1));
        assert_eq!(RsaPublic::from_numbers(&numbers.public).unwrap().to_spki().unwrap(), case.bytes(2));
        assert_eq!(public.modulus_bits(), 2048);
        assert!(RsaPrivate::from_numbers(&PrivateNumbers { d: vec![5], ..numbers }).is_err());
    });
    check("oaep", |case| {
        let (private, public) = rsa_keys(case, 2);
        let (hash, label, message) = (case.hash(1), case.bytes(4), case.bytes(5));
        assert_eq!(private.decrypt(hash, &label, &case.bytes(6)), Ok(message.clone()));
        let own = public.encrypt(hash, &label, &message).unwrap();
        assert_eq!(private.decrypt(hash, &label, &own), Ok(message));
        assert!(private.decrypt(hash, &label[1..], &own).is_err());
        assert!(public.encrypt(hash, &label, &[0; 256]).is_err());
    });
}

#[test]
fn rsa_keys_that_cannot_be() {
    for (modulus_bits, exponent) in
        [(1023, &[1, 0, 1][..]), (8193, &[1, 0, 1]), (1024, &[1, 0]), (1024, &[1])]
    {
        assert!(RsaPrivate::generate(modulus_bits, exponent).is_err(), "{modulus_bits} {exponent:?}");
    }
}

#[test]
fn a_made_rsa_key_is_read_again() {
    let made = RsaPrivate::generate(1024, &[0, 1, 0, 1]).unwrap();
    let again = RsaPrivate::from_pkcs8(&made.to_pkcs8().unwrap()).unwrap();
    assert_eq!(made.to_numbers(), again.to_numbers());
    assert_eq!(made.public().modulus_bits(), 1024);
}

fn rsa_keys(case: &Case<'_>, at: usize) -> (RsaPrivate, RsaPublic) {
    let private = RsaPrivate::from_pkcs8(&case.bytes(at)).unwrap();
    let public = RsaPublic::from_spki(&case.bytes(at + 1)).unwrap();
    assert!(private.public() == public);
    (private, public)
}
