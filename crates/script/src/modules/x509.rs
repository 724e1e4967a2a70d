//! `k6/crypto/x509`: what certificates say.

use std::rc::Rc;

use crypto::x509::{self, Certificate, Name, PublicKey};
use crypto::{Curve, Error};
use rquickjs::{Array, Ctx, Function, Object, Value};

use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::state::VuState;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/crypto/x509", build };

const FUNCTIONS: &[(&str, NativeFn)] = &[
    ("parse", parse),
    ("getAltNames", |args| array(args.ctx, &certificate(args)?.alt_names).map(Array::into_value)),
    ("getIssuer", |args| issuer(args.ctx, &certificate(args)?.issuer).map(Object::into_value)),
    ("getSubject", |args| subject(args.ctx, &certificate(args)?.subject).map(Object::into_value)),
];

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    js::set_natives(&module, vu, FUNCTIONS)?;
    Ok(module)
}

fn certificate(args: &Args<'_, '_>) -> rquickjs::Result<Certificate> {
    let pem = match args.given(0) {
        None => Vec::new(),
        Some(value) if value.is_string() => args.string(0)?.into_bytes(),
        Some(value) => js::bytes_of(&value)
            .ok_or_else(|| args.type_error("a certificate is a string of PEM, or its bytes"))?,
    };
    x509::parse(&pem).map_err(|error: Error| args.error(format!("failed to {error}")))
}

/// `parse(pem)`
fn parse<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let certificate = certificate(args)?;
    let Some(key) = &certificate.public_key else {
        return Err(args.error("unsupported public key algorithm"));
    };
    let ctx = args.ctx;
    let object = Object::new(ctx.clone())?;
    object.set("subject", subject(ctx, &certificate.subject)?)?;
    object.set("issuer", issuer(ctx, &certificate.issuer)?)?;
    object.set("notBefore", certificate.not_before)?;
    object.set("notAfter", certificate.not_after)?;
    object.set("altNames", array(ctx, &certificate.alt_names)?)?;
    object.set("signatureAlgorithm", certificate.signature_algorithm)?;
    let fingerprint = Array::new(ctx.clone())?;
    for (index, byte) in certificate.fingerprint.iter().enumerate() {
        fingerprint.set(index, *byte)?;
    }
    object.set("fingerPrint", fingerprint)?;
    object.set("publicKey", public_key(ctx, key)?)?;
    Ok(object.into_value())
}

fn subject<'js>(ctx: &Ctx<'js>, name: &Name) -> rquickjs::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("commonName", name.common_name.as_str())?;
    object.set("country", name.country.as_str())?;
    object.set("postalCode", name.postal_code.as_str())?;
    object.set("stateOrProvinceName", name.state_or_province.as_str())?;
    object.set("localityName", name.locality.as_str())?;
    object.set("streetAddress", name.street_address.as_str())?;
    object.set("organizationName", name.organization.as_str())?;
    object.set("organizationalUnitName", array(ctx, &name.organizational_units)?)?;
    object.set("names", parts(ctx, name)?)?;
    Ok(object)
}

fn issuer<'js>(ctx: &Ctx<'js>, name: &Name) -> rquickjs::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("commonName", name.common_name.as_str())?;
    object.set("country", name.country.as_str())?;
    object.set("stateOrProvinceName", name.state_or_province.as_str())?;
    object.set("localityName", name.locality.as_str())?;
    object.set("organizationName", name.organization.as_str())?;
    object.set("names", parts(ctx, name)?)?;
    Ok(object)
}

fn parts<'js>(ctx: &Ctx<'js>, name: &Name) -> rquickjs::Result<Array<'js>> {
    let parts = Array::new(ctx.clone())?;
    for (index, (kind, value)) in name.parts.iter().enumerate() {
        let part = Object::new(ctx.clone())?;
        part.set("type", kind.as_str())?;
        part.set("value", value.as_str())?;
        parts.set(index, part)?;
    }
    Ok(parts)
}

fn array<'js>(ctx: &Ctx<'js>, texts: &[String]) -> rquickjs::Result<Array<'js>> {
    let array = Array::new(ctx.clone())?;
    for (index, text) in texts.iter().enumerate() {
        array.set(index, text.as_str())?;
    }
    Ok(array)
}

fn public_key<'js>(ctx: &Ctx<'js>, key: &PublicKey) -> rquickjs::Result<Object<'js>> {
    let numbers = Object::new(ctx.clone())?;
    let algorithm = match key {
        PublicKey::Rsa { n, e } => {
            numbers.set("n", bigint(ctx, n)?)?;
            numbers.set("e", *e as f64)?;
            "RSA"
        }
        PublicKey::Ecdsa { curve, point } => {
            numbers.set("curve", curve_object(ctx, *curve)?)?;
            numbers.set("x", bigint(ctx, &point.x)?)?;
            numbers.set("y", bigint(ctx, &point.y)?)?;
            "ECDSA"
        }
        PublicKey::Dsa { p, q, g, y } => {
            let parameters = Object::new(ctx.clone())?;
            for (name, number) in [("p", p), ("q", q), ("g", g)] {
                parameters.set(name, bigint(ctx, number)?)?;
                numbers.set(name, bigint(ctx, number)?)?;
            }
            numbers.set("parameters", parameters)?;
            numbers.set("y", bigint(ctx, y)?)?;
            "DSA"
        }
    };
    let object = Object::new(ctx.clone())?;
    object.set("algorithm", algorithm)?;
    object.set("key", numbers)?;
    Ok(object)
}

fn curve_object<'js>(ctx: &Ctx<'js>, curve: Curve) -> rquickjs::Result<Object<'js>> {
    let (name, bits) = match curve {
        Curve::P256 => ("P-256", 256),
        Curve::P384 => ("P-384", 384),
        Curve::P521 => ("P-521", 521),
    };
    let object = Object::new(ctx.clone())?;
    object.set("name", name)?;
    object.set("bitSize", bits)?;
    Ok(object)
}

/// A number that no double can hold.
fn bigint<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> rquickjs::Result<Value<'js>> {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let make: Function<'js> = ctx.globals().get("BigInt")?;
    make.call((format!("0x0{digits}"),))
}
