//! `k6/crypto`: digests and authentication codes.

use std::cell::RefCell;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use crypto::{Hash, Hasher, Mac};
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::{Class, Ctx, Object, Value};

use super::encoding::input;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn, js_lifetime};
use crate::state::VuState;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/crypto", build };

/// Bytes that `randomBytes()` makes at once.
const RANDOM_BYTES_MAX: f64 = (64 << 20) as f64;

const FUNCTIONS: &[(&str, NativeFn)] = &[
    ("md4", |args| one_shot(args, "md4", Hash::Md4)),
    ("md5", |args| one_shot(args, "md5", Hash::Md5)),
    ("ripemd160", |args| one_shot(args, "ripemd160", Hash::Ripemd160)),
    ("sha1", |args| one_shot(args, "sha1", Hash::Sha1)),
    ("sha256", |args| one_shot(args, "sha256", Hash::Sha256)),
    ("sha384", |args| one_shot(args, "sha384", Hash::Sha384)),
    ("sha512", |args| one_shot(args, "sha512", Hash::Sha512)),
    ("sha512_224", |args| one_shot(args, "sha512_224", Hash::Sha512_224)),
    ("sha512_256", |args| one_shot(args, "sha512_256", Hash::Sha512_256)),
    ("hmac", hmac),
    ("createHash", create_hash),
    ("createHMAC", create_hmac),
    ("randomBytes", random_bytes),
    ("hexEncode", hex_encode),
];

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    js::set_natives(&module, vu, FUNCTIONS)?;
    Ok(module)
}

/// `sha256(input, outputEncoding)` and its like.
fn one_shot<'js>(args: &Args<'_, 'js>, name: &str, hash: Hash) -> rquickjs::Result<Value<'js>> {
    let input = input(args, 0).map_err(|text| args.error(format!("{name} failed: {text}")))?;
    output(args, 1, hash.digest(&input))
}

/// `hmac(algorithm, secret, data, outputEncoding)`
fn hmac<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let hash = hash(args)?;
    let secret = input(args, 1).map_err(|text| args.error(text))?;
    let data = input(args, 2).map_err(|text| args.error(text))?;
    output(args, 3, hash.hmac(&secret, &data))
}

/// `createHash(algorithm)`
fn create_hash<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    object(args, Running::Hash(hash(args)?.hasher()))
}

/// `createHMAC(algorithm, secret)`
fn create_hmac<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let hash = hash(args)?;
    let secret = input(args, 1).map_err(|text| args.error(text))?;
    object(args, Running::Mac(hash.mac(&secret)))
}

/// `randomBytes(size)`
fn random_bytes<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let size = js::to_number(args.ctx, &args.get(0))?;
    // Not a number is no size either.
    if !(1.0..=RANDOM_BYTES_MAX).contains(&size) {
        return Err(args.error("invalid size"));
    }
    js::array_buffer(args.ctx, &crypto::random::bytes(size as usize))
}

/// `hexEncode(input)`
fn hex_encode<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let input = input(args, 0).map_err(|text| args.error(text))?;
    js::string_from_bytes(args.ctx, hex(&input).as_bytes())
}

/// The object that `createHash()` and `createHMAC()` return.
pub(crate) struct RunningHash(RefCell<Running>);
js_lifetime!(RunningHash);

enum Running {
    Hash(Hasher),
    Mac(Mac),
}

impl<'js> Trace<'js> for RunningHash {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for RunningHash {
    const NAME: &'static str = "Hasher";
    type Mutable = Readable;

    fn constructor(_ctx: &Ctx<'js>) -> rquickjs::Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }
}

fn object<'js>(args: &Args<'_, 'js>, running: Running) -> rquickjs::Result<Value<'js>> {
    let object = Class::instance(args.ctx.clone(), RunningHash(RefCell::new(running)))?.into_inner();
    js::set_natives(&object, args.vu, &[("update", update), ("digest", digest)])?;
    Ok(object.into_value())
}

fn this<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Class<'js, RunningHash>> {
    let object = args.this().into_object();
    object
        .and_then(|object| Class::from_object(&object))
        .ok_or_else(|| args.type_error("this is not a Hasher"))
}

/// `update(input)`
fn update<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let input = input(args, 0).map_err(|text| args.error(text))?;
    match &mut *this(args)?.borrow().0.borrow_mut() {
        Running::Hash(hasher) => hasher.update(&input),
        Running::Mac(mac) => mac.update(&input),
    }
    args.undefined()
}

/// `digest(outputEncoding)`: of everything so far; more may follow.
fn digest<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let value = match &*this(args)?.borrow().0.borrow() {
        Running::Hash(hasher) => hasher.value(),
        Running::Mac(mac) => mac.value(),
    };
    output(args, 0, value)
}

fn hash(args: &Args<'_, '_>) -> rquickjs::Result<Hash> {
    let name = args.string(0)?;
    Hash::from_k6_name(&name).ok_or_else(|| args.error(format!("invalid algorithm: {name}")))
}

/// Bytes in the encoding that argument `index` names.
fn output<'js>(args: &Args<'_, 'js>, index: usize, bytes: Vec<u8>) -> rquickjs::Result<Value<'js>> {
    let encoding = if args.given(index).is_some() { args.string(index)? } else { String::new() };
    let text = match encoding.as_str() {
        "hex" => hex(&bytes),
        "base64" => STANDARD.encode(&bytes),
        "base64url" => URL_SAFE.encode(&bytes),
        "base64rawurl" => URL_SAFE_NO_PAD.encode(&bytes),
        "binary" => return js::array_buffer(args.ctx, &bytes),
        _ => return Err(args.error(format!("invalid output encoding: {encoding}"))),
    };
    js::string_from_bytes(args.ctx, text.as_bytes())
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| DIGITS[usize::from(digit)] as char)
        .collect()
}
