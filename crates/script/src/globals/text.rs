//! `TextEncoder` and `TextDecoder` (WHATWG Encoding), for UTF-8.

use rquickjs::{Object, TypedArray, Value};

use super::lazy::Lazy;
use crate::js::{self, Args};

pub(super) const ENCODER: Lazy = Lazy {
    name: "TextEncoder",
    build: |ctx, vu| Ok(js::constructor(ctx, vu, "TextEncoder", encoder)?.into_value()),
};

pub(super) const DECODER: Lazy = Lazy {
    name: "TextDecoder",
    build: |ctx, vu| Ok(js::constructor(ctx, vu, "TextDecoder", decoder)?.into_value()),
};

fn encoder<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let object = Object::new(args.ctx.clone())?;
    object.set("encoding", "utf-8")?;
    js::set_natives(&object, args.vu, &[("encode", encode)])?;
    Ok(object.into_value())
}

fn encode<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let text = if args.given(0).is_some() { args.string(0)? } else { String::new() };
    Ok(TypedArray::<u8>::new(args.ctx.clone(), text.into_bytes())?.into_value())
}

fn decoder<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let label = if args.given(0).is_some() { args.string(0)?.to_ascii_lowercase() } else { "utf-8".into() };
    if !matches!(label.trim(), "utf-8" | "utf8" | "unicode-1-1-utf-8") {
        let text = format!("the encoding \"{label}\" is not supported; utf-8 is");
        return Err(rquickjs::Exception::throw_range(args.ctx, &text));
    }
    let options = args.given(1).and_then(Value::into_object);
    let flag = |name: &str| match &options {
        Some(options) => options.get::<_, Value<'js>>(name).map(|value| js::to_bool(&value)),
        None => Ok(false),
    };
    let object = Object::new(args.ctx.clone())?;
    object.set("encoding", "utf-8")?;
    object.set("fatal", flag("fatal")?)?;
    object.set("ignoreBOM", flag("ignoreBOM")?)?;
    js::set_natives(&object, args.vu, &[("decode", decode)])?;
    Ok(object.into_value())
}

fn decode<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let bytes = args.given(0).and_then(|value| js::bytes_of(&value)).unwrap_or_default();
    let flag = |name: &str| -> rquickjs::Result<bool> {
        args.this()
            .as_object()
            .map_or(Ok(false), |this| this.get::<_, Option<bool>>(name).map(Option::unwrap_or_default))
    };
    let bytes =
        if flag("ignoreBOM")? { &bytes[..] } else { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes) };
    if flag("fatal")? && std::str::from_utf8(bytes).is_err() {
        return Err(args.type_error("the encoded data was not valid utf-8"));
    }
    Ok(rquickjs::String::from_str(args.ctx.clone(), &String::from_utf8_lossy(bytes))?.into_value())
}
