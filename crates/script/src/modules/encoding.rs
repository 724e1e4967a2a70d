//! `k6/encoding`: base64 in its four forms.

use std::rc::Rc;

use base64::Engine as _;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use rquickjs::{Ctx, Object, Value};

use crate::js::registry::Builtin;
use crate::js::{self, Args};
use crate::state::VuState;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/encoding", build };

/// Bytes between two turns: a multiple of three, so that only the last piece is padded.
const PIECE_BYTES: usize = 48 << 10;

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    js::set_natives(&module, vu, &[("b64encode", encode), ("b64decode", decode)])?;
    Ok(module)
}

/// `b64encode(input, encoding?)`
fn encode<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let bytes = input(args, 0).map_err(|error| args.error(error))?;
    let engine = engine(args)?;
    let mut text = String::with_capacity(bytes.len() / 3 * 4 + 4);
    for piece in bytes.chunks(PIECE_BYTES) {
        engine.encode_string(piece, &mut text);
        args.pause()?;
    }
    Ok(rquickjs::String::from_str(args.ctx.clone(), &text)?.into_value())
}

/// A string's UTF-8, or bytes as they are. k6 takes no other views, whose bytes depend on the machine, and no other values.
pub(super) fn input(args: &Args<'_, '_>, index: usize) -> Result<Vec<u8>, String> {
    let value = args.get(index);
    if value.is_string() {
        return args.string(index).map(String::into_bytes).map_err(|error| error.to_string());
    }
    let is_bytes = value
        .as_object()
        .is_some_and(|object| object.as_array_buffer().is_some() || object.as_typed_array::<u8>().is_some());
    let bytes = if is_bytes { js::bytes_of(&value) } else { None };
    bytes.ok_or_else(|| format!("invalid type {}, expected string, []byte or ArrayBuffer", value.type_name()))
}

/// `b64decode(input, encoding?, format?)`: an ArrayBuffer, or a string when the format is `"s"`.
fn decode<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let input = args.string(0)?;
    // Line breaks are allowed anywhere, as in Go.
    let mut lines = Vec::with_capacity(input.len());
    for piece in input.as_bytes().chunks(PIECE_BYTES) {
        lines.extend(piece.iter().filter(|byte| !matches!(byte, b'\n' | b'\r')));
        args.pause()?;
    }
    let bytes =
        engine(args)?.decode(lines).map_err(|error| args.error(format!("illegal base64 data: {error}")))?;
    if args.given(2).is_some() && args.string(2)? == "s" {
        return Ok(
            rquickjs::String::from_str(args.ctx.clone(), &String::from_utf8_lossy(&bytes))?.into_value()
        );
    }
    js::array_buffer(args.ctx, &bytes)
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
