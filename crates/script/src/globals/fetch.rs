//! `fetch`, `Headers`, `Request`, `Response` and `FormData` (WHATWG Fetch, XMLHttpRequest).

use std::rc::Rc;

use model::SystemClock;
use rquickjs::{Function, Value};

use super::lazy::Lazy;
use super::part::{self, Part};
use crate::js::{self, Args, NativeFn};
use crate::state::VuState;

pub(super) static PART: Part = Part::new("globals/fetch", include_str!("../../js/fetch.js"), NATIVES);

const NATIVES: &[(&str, NativeFn)] = &[
    ("encode", part::encode),
    ("decode", part::decode),
    ("boundary", boundary),
    ("send", crate::http::fetch::send),
];

pub(super) const FETCH: Lazy = Lazy { name: "fetch", build: |ctx, vu| PART.member(ctx, vu, "fetch") };
pub(super) const HEADERS: Lazy = Lazy { name: "Headers", build: |ctx, vu| PART.member(ctx, vu, "Headers") };
pub(super) const REQUEST: Lazy = Lazy { name: "Request", build: |ctx, vu| PART.member(ctx, vu, "Request") };
pub(super) const RESPONSE: Lazy =
    Lazy { name: "Response", build: |ctx, vu| PART.member(ctx, vu, "Response") };
pub(super) const FORM_DATA: Lazy =
    Lazy { name: "FormData", build: |ctx, vu| PART.member(ctx, vu, "FormData") };

/// The bytes and the content type of a `Blob`, `FormData` or `URLSearchParams`; `None` for anything else.
pub(crate) fn body_of(
    vu: &Rc<VuState>,
    value: &Value<'_>,
) -> rquickjs::Result<Option<(Vec<u8>, Option<String>)>> {
    let ctx = value.ctx();
    // Where none of the classes was ever made, there is no object of theirs.
    let is_known = |part: &Part| vu.builtin_objects.borrow().contains_key(part.name());
    if ![&PART, &super::blob::PART, &super::url::PART].into_iter().any(is_known) {
        return Ok(None);
    }
    let plain: Function<'_> = PART.object(ctx, vu)?.get("plainBody")?;
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
