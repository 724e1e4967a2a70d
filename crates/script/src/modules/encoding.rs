//! `k6/encoding`: base64 in its four forms.

use std::rc::Rc;

use base64::Engine as _;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use rquickjs::{Ctx, Object, Value};

use super::Builtin;
use crate::js::{self, Args};
use crate::state::VuState;

pub(super) const MODULE: Builtin = Builtin { name: "k6/encoding", build };

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    js::set_natives(&module, vu, &[("b64encode", encode), ("b64decode", decode)])?;
    Ok(module)
}

/// `b64encode(input, encoding?)`
fn encode<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let input = args.get(0);
    let bytes = match js::bytes_of(&input) {
        Some(bytes) => bytes,
        None => js::to_string(args.ctx, &input)?.into_bytes(),
    };
    let text = engine(args)?.encode(bytes);
    Ok(rquickjs::String::from_str(args.ctx.clone(), &text)?.into_value())
}

/// `b64decode(input, encoding?, format?)`: an ArrayBuffer, or a string when the format is `"s"`.
fn decode<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let input = args.string(0)?;
    // Line breaks are allowed anywhere, as in Go.
    let input: String = input.chars().filter(|c| *c != '\n' && *c != '\r').collect();
    let bytes =
        engine(args)?.decode(input).map_err(|error| args.error(format!("illegal base64 data: {error}")))?;
    if args.given(2).is_some() && args.string(2)? == "s" {
        return Ok(
            rquickjs::String::from_str(args.ctx.clone(), &String::from_utf8_lossy(&bytes))?.into_value()
        );
    }
    Ok(rquickjs::ArrayBuffer::new(args.ctx.clone(), bytes)?.into_value())
}

fn engine(args: &Args<'_, '_>) -> rquickjs::Result<GeneralPurpose> {
    let name = if args.given(1).is_some() { args.string(1)? } else { "std".into() };
    Ok(match name.as_str() {
        "rawstd" => STANDARD_NO_PAD,
        "url" => URL_SAFE,
        "rawurl" => URL_SAFE_NO_PAD,
        // k6 takes every other name for the standard encoding too.
        _ => STANDARD,
    })
}
