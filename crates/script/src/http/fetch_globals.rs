//! `fetch`, `Headers`, `Request`, `Response` and `FormData` (WHATWG Fetch, XMLHttpRequest).

use std::rc::Rc;

use model::SystemClock;
use rquickjs::{Function, Value};

use crate::js::library::{self, JsLibrary};
use crate::js::registry::LazyGlobal;
use crate::js::{self, Args, NativeFn};
use crate::state::VuState;

pub(crate) static LIBRARY: JsLibrary =
    JsLibrary::new("globals/fetch", include_str!("../../js/fetch.js"), NATIVES);

const NATIVES: &[(&str, NativeFn)] = &[
    ("encode", library::encode),
    ("decode", library::decode),
    ("boundary", boundary),
    ("send", super::fetch::send),
];

pub(crate) const FETCH: LazyGlobal =
    LazyGlobal { name: "fetch", build: |ctx, vu| LIBRARY.member(ctx, vu, "fetch") };
pub(crate) const HEADERS: LazyGlobal =
    LazyGlobal { name: "Headers", build: |ctx, vu| LIBRARY.member(ctx, vu, "Headers") };
pub(crate) const REQUEST: LazyGlobal =
    LazyGlobal { name: "Request", build: |ctx, vu| LIBRARY.member(ctx, vu, "Request") };
pub(crate) const RESPONSE: LazyGlobal =
    LazyGlobal { name: "Response", build: |ctx, vu| LIBRARY.member(ctx, vu, "Response") };
pub(crate) const FORM_DATA: LazyGlobal =
    LazyGlobal { name: "FormData", build: |ctx, vu| LIBRARY.member(ctx, vu, "FormData") };

/// The bytes and the content type of a `Blob`, `FormData` or `URLSearchParams`; `None` for anything else.
pub(crate) fn body_of(
    vu: &Rc<VuState>,
    value: &Value<'_>,
) -> rquickjs::Result<Option<(Vec<u8>, Option<String>)>> {
    let ctx = value.ctx();
    // Where none of the classes was ever made, there is no object of theirs.
    let is_known = |library: &JsLibrary| vu.builtin_objects.borrow().contains_key(library.name());
    if ![&LIBRARY, &crate::globals::blob::LIBRARY, &crate::globals::url::LIBRARY].into_iter().any(is_known) {
        return Ok(None);
    }
    let plain: Function<'_> = LIBRARY.object(ctx, vu)?.get("plainBody")?;
    let found: Value<'_> = plain.call((value.clone(),))?;
    let Some(found) = found.as_array() else { return Ok(None) };
    let (bytes, content_type): (Value<'_>, Option<String>) = (found.get(0)?, found.get(1)?);
    Ok(js::bytes_of(&bytes).map(|bytes| (bytes, content_type)))
}

/// `boundary()`: text that is unlikely to be in a form: the time in nanoseconds.
fn boundary<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let text = format!("{:020}", SystemClock::now().as_ns());
    Ok(rquickjs::String::from_str(args.ctx.clone(), &text)?.into_value())
}
