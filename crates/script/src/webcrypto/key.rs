//! Keys of algorithms that have a public and a private half: read, made and written.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use crypto::rsa::{PrivateNumbers, PublicNumbers, RsaPrivate, RsaPublic};
use crypto::{EcPrivate, EcPublic, Ed25519Private, Ed25519Public, Error, Point, X25519Private, X25519Public};
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::{Class, Ctx, Object, Value};

use super::natives::{bytes, checked, curve, let_others_run};
use crate::js::{self, Args, js_lifetime};

/// Internal slots of a `CryptoKey`.
pub(crate) struct Key(pub(super) Arc<Material>);
js_lifetime!(Key);

pub(super) enum Material {
    EcPrivate(EcPrivate),
    EcPublic(EcPublic),
    RsaPrivate(RsaPrivate),
    RsaPublic(RsaPublic),
    EdPrivate(Ed25519Private),
    EdPublic(Ed25519Public),
    XPrivate(X25519Private),
    XPublic(X25519Public),
}

impl<'js> Trace<'js> for Key {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for Key {
    const NAME: &'static str = "KeyMaterial";
    type Mutable = Readable;

    fn constructor(_ctx: &Ctx<'js>) -> rquickjs::Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }
}

/// The key that argument `index` is.
pub(super) fn material(args: &Args<'_, '_>, index: usize) -> rquickjs::Result<Arc<Material>> {
    let object = args.get(index).into_object();
    match object.as_ref().and_then(Class::<Key>::from_object) {
        Some(key) => Ok(key.borrow().0.clone()),
        None => Err(args.type_error("this is not a key")),
    }
}

pub(super) fn value<'js>(ctx: &Ctx<'js>, material: Material) -> rquickjs::Result<Value<'js>> {
    Ok(Class::instance(ctx.clone(), Key(Arc::new(material)))?.into_value())
}

/// `{privateKey, publicKey}`
pub(super) fn pair<'js>(ctx: &Ctx<'js>, private: Material) -> rquickjs::Result<Value<'js>> {
    let public = match &private {
        Material::EcPrivate(key) => Material::EcPublic(key.public()),
        Material::RsaPrivate(key) => Material::RsaPublic(key.public()),
        Material::EdPrivate(key) => Material::EdPublic(key.public()),
        Material::XPrivate(key) => Material::XPublic(key.public()),
        _ => return Err(rquickjs::Error::Unknown),
    };
    let pair = Object::new(ctx.clone())?;
    pair.set("privateKey", value(ctx, private)?)?;
    pair.set("publicKey", value(ctx, public)?)?;
    Ok(pair.into_value())
}

/// `readKey(family, format, data, curve)`: families are EC, RSA, Ed25519 and X25519.
pub(super) fn read<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let (family, format, data) = (args.string(0)?, args.string(1)?, bytes(args, 2)?);
    let material = match (family.as_str(), format.as_str()) {
        ("EC", "raw") => EcPublic::from_raw(curve(args, 3)?, &data).map(Material::EcPublic),
        ("EC", "spki") => EcPublic::from_spki(curve(args, 3)?, &data).map(Material::EcPublic),
        ("EC", _) => EcPrivate::from_pkcs8(curve(args, 3)?, &data).map(Material::EcPrivate),
        ("RSA", "spki") => RsaPublic::from_spki(&data).map(Material::RsaPublic),
        ("RSA", _) => RsaPrivate::from_pkcs8(&data).map(Material::RsaPrivate),
        ("Ed25519", "raw") => Ed25519Public::from_raw(&data).map(Material::EdPublic),
        ("Ed25519", "spki") => Ed25519Public::from_spki(&data).map(Material::EdPublic),
        ("Ed25519", _) => Ed25519Private::from_pkcs8(&data).map(Material::EdPrivate),
        (_, "raw") => X25519Public::from_raw(&data).map(Material::XPublic),
        (_, "spki") => X25519Public::from_spki(&data).map(Material::XPublic),
        (_, _) => X25519Private::from_pkcs8(&data).map(Material::XPrivate),
    };
    value(args.ctx, checked(args, material)?)
}

/// `readJwk(family, jwk, curve)`
pub(super) fn read_jwk<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let family = args.string(0)?;
    let jwk = args.get(1).into_object().ok_or_else(|| args.type_error("this is not a JSON Web Key"))?;
    let is_private = jwk.contains_key("d")?;
    let number = |name: &str| number(args, &jwk, name);
    let material = match (family.as_str(), is_private) {
        ("RSA", false) => {
            let numbers = PublicNumbers { n: number("n")?, e: number("e")? };
            RsaPublic::from_numbers(&numbers).map(Material::RsaPublic)
        }
        ("RSA", true) => {
            let numbers = PrivateNumbers {
                public: PublicNumbers { n: number("n")?, e: number("e")? },
                d: number("d")?,
                p: number("p")?,
                q: number("q")?,
                dp: number("dp")?,
                dq: number("dq")?,
                qi: number("qi")?,
            };
            RsaPrivate::from_numbers(&numbers).map(Material::RsaPrivate)
        }
        ("EC", _) => {
            let curve = curve(args, 2)?;
            let point = Point { x: number("x")?, y: number("y")? };
            let public = EcPublic::from_point(curve, &point);
            if is_private {
                let private = EcPrivate::from_raw(curve, &number("d")?);
                same(private, public, EcPrivate::public).map(Material::EcPrivate)
            } else {
                public.map(Material::EcPublic)
            }
        }
        ("Ed25519", false) => Ed25519Public::from_raw(&number("x")?).map(Material::EdPublic),
        ("Ed25519", true) => {
            let (private, public) =
                (Ed25519Private::from_raw(&number("d")?), Ed25519Public::from_raw(&number("x")?));
            same(private, public, Ed25519Private::public).map(Material::EdPrivate)
        }
        (_, false) => X25519Public::from_raw(&number("x")?).map(Material::XPublic),
        (_, true) => {
            let (private, public) =
                (X25519Private::from_raw(&number("d")?), X25519Public::from_raw(&number("x")?));
            same(private, public, X25519Private::public).map(Material::XPrivate)
        }
    };
    value(args.ctx, checked(args, material)?)
}

/// The private key, if the public one is its own.
fn same<P, Q: PartialEq>(
    private: crypto::Result<P>,
    public: crypto::Result<Q>,
    half: fn(&P) -> Q,
) -> crypto::Result<P> {
    let (private, public) = (private?, public?);
    if half(&private) == public { Ok(private) } else { Err(Error::Key("its public half is another key's")) }
}

/// A member of a JSON Web Key, decoded; missing ones are errors like malformed ones.
fn number(args: &Args<'_, '_>, jwk: &Object<'_>, name: &str) -> rquickjs::Result<Vec<u8>> {
    let text: Value<'_> = jwk.get(name)?;
    let decoded = match text.as_string() {
        Some(text) => URL_SAFE_NO_PAD.decode(text.to_string()?.trim_end_matches('=')).ok(),
        None => None,
    };
    checked(args, decoded.ok_or(Error::Key("a member of the JSON Web Key is missing or no base64url")))
}

/// `writeKey(key, format)`
pub(super) fn write<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let key = material(args, 0)?;
    let is_raw = args.string(1)? == "raw";
    let written = match &*key {
        Material::EcPrivate(key) => key.to_pkcs8(),
        Material::EcPublic(key) if is_raw => Ok(key.to_raw()),
        Material::EcPublic(key) => key.to_spki(),
        Material::RsaPrivate(key) => key.to_pkcs8(),
        Material::RsaPublic(key) => key.to_spki(),
        Material::EdPrivate(key) => key.to_pkcs8(),
        Material::EdPublic(key) if is_raw => Ok(key.to_raw()),
        Material::EdPublic(key) => key.to_spki(),
        Material::XPrivate(key) => Ok(key.to_pkcs8()),
        Material::XPublic(key) if is_raw => Ok(key.to_raw()),
        Material::XPublic(key) => Ok(key.to_spki()),
    };
    js::array_buffer(args.ctx, &checked(args, written)?)
}

/// `writeJwk(key)`: the members that the key itself decides.
pub(super) fn write_jwk<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let key = material(args, 0)?;
    let members: Vec<(&str, Vec<u8>)> = match &*key {
        Material::EcPublic(key) => point(key),
        Material::EcPrivate(key) => {
            let mut members = point(&key.public());
            members.push(("d", key.to_raw()));
            members
        }
        Material::RsaPublic(key) => {
            let numbers = checked(args, key.to_numbers())?;
            vec![("n", numbers.n), ("e", numbers.e)]
        }
        Material::RsaPrivate(key) => {
            let PrivateNumbers { public, d, p, q, dp, dq, qi } = checked(args, key.to_numbers())?;
            let (n, e) = (public.n, public.e);
            vec![("n", n), ("e", e), ("d", d), ("p", p), ("q", q), ("dp", dp), ("dq", dq), ("qi", qi)]
        }
        Material::EdPublic(key) => vec![("x", key.to_raw())],
        Material::EdPrivate(key) => vec![("x", key.public().to_raw()), ("d", key.to_raw())],
        Material::XPublic(key) => vec![("x", key.to_raw())],
        Material::XPrivate(key) => vec![("x", key.public().to_raw()), ("d", key.to_raw())],
    };
    let jwk = Object::new(args.ctx.clone())?;
    for (name, bytes) in members {
        jwk.set(name, URL_SAFE_NO_PAD.encode(bytes))?;
    }
    Ok(jwk.into_value())
}

fn point(key: &EcPublic) -> Vec<(&'static str, Vec<u8>)> {
    let point = key.to_point();
    vec![("x", point.x), ("y", point.y)]
}

/// `generate(family, parameter, exponent)`: the parameter is the curve's name, or the modulus' length in bits.
pub(super) fn generate<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let private = match args.string(0)?.as_str() {
        "EC" => Material::EcPrivate(EcPrivate::generate(curve(args, 1)?)),
        "Ed25519" => Material::EdPrivate(Ed25519Private::generate()),
        "X25519" => Material::XPrivate(X25519Private::generate()),
        _ => {
            let modulus_bits = js::to_number(args.ctx, &args.get(1))? as usize;
            let exponent = bytes(args, 2)?;
            let work = move || RsaPrivate::generate(modulus_bits, &exponent).map(Material::RsaPrivate);
            return super::job::beside(args, work, pair);
        }
    };
    let_others_run();
    pair(args.ctx, private)
}

/// `rsaParameters(key)`: `{modulusLength, publicExponent}`
pub(super) fn rsa_parameters<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let public = match &*material(args, 0)? {
        Material::RsaPublic(key) => key.clone(),
        Material::RsaPrivate(key) => key.public(),
        _ => return Err(args.type_error("this is not a key of RSA")),
    };
    let parameters = Object::new(args.ctx.clone())?;
    parameters.set("modulusLength", public.modulus_bits() as f64)?;
    let exponent = checked(args, public.to_numbers())?.e;
    parameters.set("publicExponent", js::byte_array(args.ctx, &exponent)?)?;
    Ok(parameters.into_value())
}
