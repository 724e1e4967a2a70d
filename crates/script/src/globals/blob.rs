//! `Blob` and `File` (W3C File API). `k6/websockets` has `Blob` too.

use std::rc::Rc;

use rquickjs::{Ctx, Function, Value};

use crate::js;
use crate::js::library::{self, JsLibrary};
use crate::js::registry::LazyGlobal;
use crate::state::VuState;

pub(crate) static LIBRARY: JsLibrary = JsLibrary::new(
    "globals/blob",
    include_str!("../../js/blob.js"),
    &[("encode", library::encode), ("decode", library::decode)],
);

pub(crate) const BLOB: LazyGlobal = LazyGlobal { name: "Blob", build: class };
pub(crate) const FILE: LazyGlobal =
    LazyGlobal { name: "File", build: |ctx, vu| LIBRARY.member(ctx, vu, "File") };

/// The class `Blob` of this VU.
pub(crate) fn class<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Value<'js>> {
    LIBRARY.member(ctx, vu, "Blob")
}

/// The bytes of a `Blob`; `None` for anything else.
pub(crate) fn bytes_of(vu: &Rc<VuState>, value: &Value<'_>) -> rquickjs::Result<Option<Vec<u8>>> {
    if !value.is_object() {
        return Ok(None);
    }
    let ctx = value.ctx();
    // Where the class was never made there are no blobs.
    let Some(library) = LIBRARY.made(ctx, vu)? else { return Ok(None) };
    let bytes_of: Function<'_> = library.get("bytesOf")?;
    let bytes: Value<'_> = bytes_of.call((value.clone(),))?;
    Ok(js::bytes_of(&bytes))
}

/// A new `Blob` of these bytes.
pub(crate) fn new<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    bytes: &[u8],
    content_type: &str,
) -> rquickjs::Result<Value<'js>> {
    let make: Function<'js> = LIBRARY.object(ctx, vu)?.get("fromBytes")?;
    let bytes = js::byte_array(ctx, bytes)?;
    make.call((bytes, content_type))
}
