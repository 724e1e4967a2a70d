//! The natives behind the standard's steps.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use crypto::rsa::Padding;
use crypto::{Curve, Error, Hash, aes};
use rquickjs::function::Constructor;
use rquickjs::{Ctx, Value};

use super::job::beside;
use super::key::{self, Material, material};
use crate::js::{self, Args, NativeFn};

/// All of them.
pub(super) const ALL: &[(&str, NativeFn)] = &[
    ("random", random),
    ("uuid", |args| js::string_from_bytes(args.ctx, crypto::random::uuid().as_bytes())),
    ("encodeUtf8", |args| buffer(args.ctx, args.string(0)?.into_bytes())),
    ("decodeUtf8", |args| js::string_from_bytes(args.ctx, &bytes(args, 0)?)),
    ("encodeBase64url", |args| {
        js::string_from_bytes(args.ctx, URL_SAFE_NO_PAD.encode(bytes(args, 0)?).as_bytes())
    }),
    ("decodeBase64url", decode_base64url),
    ("digest", |args| buffer(args.ctx, hash(args, 0)?.digest(&bytes(args, 1)?))),
    ("hmac", |args| buffer(args.ctx, hash(args, 0)?.hmac(&bytes(args, 1)?, &bytes(args, 2)?))),
    ("isHmac", is_hmac),
    ("cbc", |args| symmetric(args, aes::encrypt_cbc(&bytes(args, 0)?, &bytes(args, 1)?, &bytes(args, 2)?))),
    ("uncbc", |args| symmetric(args, aes::decrypt_cbc(&bytes(args, 0)?, &bytes(args, 1)?, &bytes(args, 2)?))),
    ("ctr", ctr),
    ("gcm", |args| gcm(args, aes::encrypt_gcm)),
    ("ungcm", |args| gcm(args, aes::decrypt_gcm)),
    ("wrap", |args| symmetric(args, aes::wrap(&bytes(args, 0)?, &bytes(args, 1)?))),
    ("unwrap", |args| symmetric(args, aes::unwrap(&bytes(args, 0)?, &bytes(args, 1)?))),
    ("pbkdf2", pbkdf2),
    ("hkdf", hkdf),
    ("generate", key::generate),
    ("readKey", key::read),
    ("readJwk", key::read_jwk),
    ("writeKey", key::write),
    ("writeJwk", key::write_jwk),
    ("rsaParameters", key::rsa_parameters),
    ("encryptOaep", encrypt_oaep),
    ("decryptOaep", decrypt_oaep),
    ("sign", sign),
    ("verify", verify),
    ("agree", agree),
];

/// A `DOMException` with the name that the standard has for this kind of failure.
pub(super) fn thrown(ctx: &Ctx<'_>, error: Error) -> rquickjs::Error {
    let name = match error {
        Error::Key(_) => "DataError",
        Error::Digest => "NotSupportedError",
        _ => "OperationError",
    };
    let made = || -> rquickjs::Result<Value<'_>> {
        let class: Constructor<'_> = ctx.globals().get("DOMException")?;
        class.construct((format!("failed to {error}"), name))
    };
    match made() {
        Ok(exception) => ctx.throw(exception),
        Err(error) => error,
    }
}

/// A result, its error thrown.
pub(super) fn checked<T>(args: &Args<'_, '_>, result: crypto::Result<T>) -> rquickjs::Result<T> {
    result.map_err(|error| thrown(args.ctx, error))
}

/// A copy of the bytes that argument `index` shows.
pub(super) fn bytes(args: &Args<'_, '_>, index: usize) -> rquickjs::Result<Vec<u8>> {
    js::bytes_of(&args.get(index)).ok_or_else(|| args.type_error("this is no ArrayBuffer and no view of one"))
}

/// The curve that argument `index` names.
pub(super) fn curve(args: &Args<'_, '_>, index: usize) -> rquickjs::Result<Curve> {
    Curve::from_web_name(&args.string(index)?).ok_or_else(|| args.type_error("this is no curve"))
}

fn hash(args: &Args<'_, '_>, index: usize) -> rquickjs::Result<Hash> {
    Hash::from_web_name(&args.string(index)?).ok_or_else(|| args.type_error("this is no digest"))
}

fn integer(args: &Args<'_, '_>, index: usize) -> rquickjs::Result<usize> {
    Ok(js::to_number(args.ctx, &args.get(index))? as usize)
}

fn buffer<'js>(ctx: &Ctx<'js>, bytes: Vec<u8>) -> rquickjs::Result<Value<'js>> {
    js::array_buffer(ctx, &bytes)
}

fn boolean<'js>(ctx: &Ctx<'js>, is_so: bool) -> rquickjs::Result<Value<'js>> {
    Ok(Value::new_bool(ctx.clone(), is_so))
}

/// `random(count)`
fn random<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    /// `getRandomValues()` gives no more, and no key is as long.
    const COUNT_MAX: usize = 1 << 20;
    let count = integer(args, 0)?;
    if count > COUNT_MAX {
        return Err(thrown(args.ctx, Error::Generate("it would be too long")));
    }
    buffer(args.ctx, crypto::random::bytes(count))
}

/// `decodeBase64url(text)`
fn decode_base64url<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    // Scripts pad it, which the standard does not; k6 takes both.
    let decoded = URL_SAFE_NO_PAD.decode(args.string(0)?.trim_end_matches('='));
    buffer(args.ctx, checked(args, decoded.map_err(|_| Error::Key("it is no base64url")))?)
}

/// `isHmac(hash, key, code, data)`
fn is_hmac<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    boolean(args.ctx, hash(args, 0)?.is_hmac(&bytes(args, 1)?, &bytes(args, 3)?, &bytes(args, 2)?))
}

fn symmetric<'js>(args: &Args<'_, 'js>, result: crypto::Result<Vec<u8>>) -> rquickjs::Result<Value<'js>> {
    buffer(args.ctx, checked(args, result)?)
}

/// `ctr(key, counter, counterBits, data)`, both ways.
fn ctr<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let counter_bits = integer(args, 2)? as u32;
    symmetric(args, aes::apply_ctr(&bytes(args, 0)?, &bytes(args, 1)?, counter_bits, &bytes(args, 3)?))
}

type Gcm = fn(&[u8], &[u8], &[u8], usize, &[u8]) -> crypto::Result<Vec<u8>>;

/// `gcm(key, iv, added, tagBits, data)`
fn gcm<'js>(args: &Args<'_, 'js>, apply: Gcm) -> rquickjs::Result<Value<'js>> {
    let (key, iv, added) = (bytes(args, 0)?, bytes(args, 1)?, bytes(args, 2)?);
    symmetric(args, apply(&key, &iv, &added, integer(args, 3)?, &bytes(args, 4)?))
}

/// `pbkdf2(hash, password, salt, iterations, count)`
fn pbkdf2<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    /// So many take about a millisecond.
    const ITERATIONS_MAX_HERE: usize = 1000;
    let (hash, password, salt) = (hash(args, 0)?, bytes(args, 1)?, bytes(args, 2)?);
    let (iterations, count) = (integer(args, 3)?, integer(args, 4)?);
    let work = move || crypto::pbkdf2(hash, &password, &salt, iterations as u32, count);
    if iterations.saturating_mul(count.div_ceil(32)) > ITERATIONS_MAX_HERE {
        return beside(args, work, buffer);
    }
    symmetric(args, work())
}

/// `hkdf(hash, secret, salt, info, count)`
fn hkdf<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let (hash, secret, salt, info) = (hash(args, 0)?, bytes(args, 1)?, bytes(args, 2)?, bytes(args, 3)?);
    symmetric(args, crypto::hkdf(hash, &secret, &salt, &info, integer(args, 4)?))
}

/// `encryptOaep(key, hash, label, data)`
fn encrypt_oaep<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let Material::RsaPublic(key) = &*material(args, 0)? else {
        return Err(args.type_error("this is not a public key of RSA"));
    };
    symmetric(args, key.encrypt(hash(args, 1)?, &bytes(args, 2)?, &bytes(args, 3)?))
}

/// `decryptOaep(key, hash, label, data)`
fn decrypt_oaep<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let key = material(args, 0)?;
    let (hash, label, data) = (hash(args, 1)?, bytes(args, 2)?, bytes(args, 3)?);
    let work = move || match &*key {
        Material::RsaPrivate(key) => key.decrypt(hash, &label, &data),
        _ => Err(Error::Decrypt("this is not a private key of RSA")),
    };
    beside(args, work, buffer)
}

/// `sign(key, hash, saltBytes, data)`: without a salt's length RSA is padded as PKCS #1 has it.
fn sign<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let key = material(args, 0)?;
    let data = bytes(args, 3)?;
    if let Material::EdPrivate(key) = &*key {
        return buffer(args.ctx, key.sign(&data));
    }
    let (hash, padding) = (hash(args, 1)?, padding(args)?);
    let work = move || match &*key {
        Material::EcPrivate(key) => key.sign(hash, &data),
        Material::RsaPrivate(key) => key.sign(padding, hash, &data),
        _ => Err(Error::Sign("this is not a private key that signs")),
    };
    if matches!(&*material(args, 0)?, Material::RsaPrivate(_)) {
        return beside(args, work, buffer);
    }
    let signature = work();
    let_others_run();
    symmetric(args, signature)
}

/// `verify(key, hash, saltBytes, signature, data)`
fn verify<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let key = material(args, 0)?;
    let (signature, data) = (bytes(args, 3)?, bytes(args, 4)?);
    let verified = match &*key {
        Material::EdPublic(key) => Ok(key.is_signature(&data, &signature)),
        Material::EcPublic(key) => key.is_signature(hash(args, 1)?, &data, &signature),
        Material::RsaPublic(key) => key.is_signature(padding(args)?, hash(args, 1)?, &data, &signature),
        _ => return Err(args.type_error("this is not a public key that signs")),
    };
    let_others_run();
    boolean(args.ctx, checked(args, verified)?)
}

/// Yields to other VUs. Operations of less than a millisecond run on the VU's own thread, because another would cost as
/// much; but a script may do thousands of them without ever waiting.
pub(super) fn let_others_run() {
    vu::yield_now();
}

fn padding(args: &Args<'_, '_>) -> rquickjs::Result<Padding> {
    match args.given(2) {
        Some(_) => Ok(Padding::Pss { salt_bytes: integer(args, 2)? }),
        None => Ok(Padding::Pkcs1),
    }
}

/// `agree(privateKey, publicKey)`
fn agree<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let secret = match (&*material(args, 0)?, &*material(args, 1)?) {
        (Material::EcPrivate(own), Material::EcPublic(other)) => own.agree(other),
        (Material::XPrivate(own), Material::XPublic(other)) => own.agree(other),
        _ => Err(Error::Derive("these are not a private and a public key of one kind")),
    };
    let_others_run();
    symmetric(args, secret)
}
