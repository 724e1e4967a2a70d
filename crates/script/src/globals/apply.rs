//! `push.apply()` and `String.fromCharCode.apply()` with long lists.
//!
//! The engine takes 65,535 arguments in a call, k6's takes as many as there are. Libraries that build bodies out of bytes
//! (jslib's `formdata`, base64 of before `b64encode`) pass a whole file that way, so these two functions get an `apply` of
//! their own, which calls in parts.

use std::rc::Rc;

use rquickjs::function::This;
use rquickjs::{Ctx, Function, Object, Value};

use crate::js::{self, Args};
use crate::state::VuState;

/// Arguments in one call; the engine's own limit is 65,535.
const PART: usize = 1 << 15;

/// Puts them there.
pub(super) fn install<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<()> {
    let globals = ctx.globals();
    let push: Object<'js> = prototype_of(ctx, "Array")?.get("push")?;
    js::set_natives(&push, vu, &[("apply", push_in_parts)])?;
    let from_char_code: Object<'js> = globals.get::<_, Object<'js>>("String")?.get("fromCharCode")?;
    js::set_natives(&from_char_code, vu, &[("apply", text_in_parts)])
}

fn prototype_of<'js>(ctx: &Ctx<'js>, class: &str) -> rquickjs::Result<Object<'js>> {
    ctx.globals().get::<_, Object<'js>>(class)?.get("prototype")
}

/// `push.apply(target, list)`: the target's new length.
fn push_in_parts<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    in_parts(args, |_, latest| Ok(latest))
}

/// `String.fromCharCode.apply(_, list)`: the text, joined by the engine, because a part may end within a character.
fn text_in_parts<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let concat: Function<'js> = prototype_of(args.ctx, "String")?.get("concat")?;
    in_parts(args, |known, part| concat.call((This(known), part)))
}

/// Applies the function that `apply` was read from to its list in parts, and folds what they give with `join`.
fn in_parts<'js>(
    args: &Args<'_, 'js>,
    join: impl Fn(Value<'js>, Value<'js>) -> rquickjs::Result<Value<'js>>,
) -> rquickjs::Result<Value<'js>> {
    let apply: Function<'js> = prototype_of(args.ctx, "Function")?.get("apply")?;
    let call = |list: Value<'js>| apply.call::<_, Value<'js>>((This(args.this()), args.get(0), list));
    let list = args.get(1);
    let length = match list.as_object() {
        Some(object) => object.get::<_, Option<f64>>("length").ok().flatten().unwrap_or_default(),
        None => 0.0,
    };
    if length <= PART as f64 {
        return call(list);
    }
    let slice: Function<'js> = prototype_of(args.ctx, "Array")?.get("slice")?;
    let mut result: Option<Value<'js>> = None;
    let mut start = 0.0;
    while start < length {
        let end = start + PART as f64;
        let latest = call(slice.call((This(list.clone()), start, end))?)?;
        result = Some(match result {
            Some(known) => join(known, latest)?,
            None => latest,
        });
        start = end;
    }
    Ok(result.unwrap_or_else(|| Value::new_undefined(args.ctx.clone())))
}
