//! `TextEncoder` and `TextDecoder` (WHATWG Encoding), the decoder for every encoding that the web knows.

use std::cell::RefCell;

use encoding_rs::{Decoder, DecoderResult, Encoding};
use rquickjs::function::Opt;
use rquickjs::{Ctx, Exception, Object, Value};

use crate::js::registry::LazyGlobal;
use crate::js::{self, Args};

pub(crate) const ENCODER: LazyGlobal = LazyGlobal {
    name: "TextEncoder",
    build: |ctx, vu| Ok(js::constructor(ctx, vu, "TextEncoder", encoder)?.into_value()),
};

pub(crate) const DECODER: LazyGlobal = LazyGlobal {
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
    js::byte_array(args.ctx, text.as_bytes())
}

/// `new TextDecoder(label?, { fatal, ignoreBOM }?)`
fn decoder<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let label = if args.given(0).is_some() { args.string(0)? } else { "utf-8".into() };
    let encoding = Encoding::for_label_no_replacement(label.as_bytes()).ok_or_else(|| {
        Exception::throw_range(args.ctx, &format!("the encoding \"{label}\" is not supported"))
    })?;
    let options = args.given(1).and_then(Value::into_object);
    let (fatal, ignores_bom) = (flag(options.as_ref(), "fatal")?, flag(options.as_ref(), "ignoreBOM")?);
    let object = Object::new(args.ctx.clone())?;
    object.set("encoding", encoding.name().to_ascii_lowercase())?;
    object.set("fatal", fatal)?;
    object.set("ignoreBOM", ignores_bom)?;
    let fresh = move || {
        if ignores_bom {
            encoding.new_decoder_without_bom_handling()
        } else {
            encoding.new_decoder_with_bom_removal()
        }
    };
    let state = RefCell::new(fresh());
    let decode = move |ctx: Ctx<'js>, input: Opt<Value<'js>>, options: Opt<Value<'js>>| {
        let bytes = input.0.and_then(|value| js::bytes_of(&value)).unwrap_or_default();
        let streams = flag(options.0.as_ref().and_then(Value::as_object), "stream")?;
        let text = decode_with(&mut state.borrow_mut(), &bytes, fatal, !streams);
        if !streams || text.is_none() {
            *state.borrow_mut() = fresh();
        }
        match text {
            Some(text) => rquickjs::String::from_str(ctx, &text),
            None => Err(Exception::throw_type(
                &ctx,
                &format!("the encoded data was not valid {}", encoding.name()),
            )),
        }
    };
    object.set("decode", crate::js::closure(args.ctx, decode)?.with_name("decode")?)?;
    Ok(object.into_value())
}

fn flag(options: Option<&Object<'_>>, name: &str) -> rquickjs::Result<bool> {
    options.map_or(Ok(false), |options| options.get::<_, Value<'_>>(name).map(|value| js::to_bool(&value)))
}

/// Decodes the bytes; `None` where they are malformed and must not be.
fn decode_with(decoder: &mut Decoder, bytes: &[u8], fatal: bool, last: bool) -> Option<String> {
    let mut text = String::with_capacity(decoder.max_utf8_buffer_length(bytes.len())?);
    if fatal {
        let (result, _) = decoder.decode_to_string_without_replacement(bytes, &mut text, last);
        return (result == DecoderResult::InputEmpty).then_some(text);
    }
    // The capacity is enough for any bytes.
    let _ = decoder.decode_to_string(bytes, &mut text, last);
    Some(text)
}
