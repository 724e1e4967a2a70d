//! Which statuses count as success.

use std::rc::Rc;

use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::{Class, Ctx, Object, Value};

use crate::js::{self, Args, js_lifetime};
use crate::state::http::ResponseCallback;

/// The result of `expectedStatuses()`, opaque to scripts.
struct ExpectedStatuses(Rc<[(u16, u16)]>);
js_lifetime!(ExpectedStatuses);

impl<'js> Trace<'js> for ExpectedStatuses {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for ExpectedStatuses {
    const NAME: &'static str = "ExpectedStatuses";
    type Mutable = Readable;

    fn constructor(_ctx: &Ctx<'js>) -> rquickjs::Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }
}

/// `expectedStatuses(...)`: numbers and `{ min, max }`.
pub(crate) fn expected_statuses<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    if args.len() == 0 {
        return Err(args.error("no arguments"));
    }
    let mut ranges = Vec::with_capacity(args.len());
    for index in 0..args.len() {
        let value = args.get(index);
        let range = match value.as_object() {
            Some(object) => bound(args.ctx, object, "min")?.zip(bound(args.ctx, object, "max")?),
            None => {
                value.as_int().and_then(|status| u16::try_from(status).ok()).map(|status| (status, status))
            }
        };
        let Some(range) = range else {
            return Err(args.error(format!(
                "argument number {} to expectedStatuses was neither an integer nor an object like {{min:100, max:329}}",
                index + 1
            )));
        };
        ranges.push(range);
    }
    Ok(Class::instance(args.ctx.clone(), ExpectedStatuses(ranges.into()))?.into_value())
}

fn bound<'js>(ctx: &Ctx<'js>, object: &Object<'js>, name: &str) -> rquickjs::Result<Option<u16>> {
    let value: Value<'js> = object.get(name)?;
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    let number = js::to_number(ctx, &value)?;
    Ok((number.fract() == 0.0 && (0.0..=65_535.0).contains(&number)).then_some(number as u16))
}

/// `setResponseCallback(callback | null)`: for this VU from here on.
pub(crate) fn set_response_callback<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let callback = from_js(args, &args.get(0))?;
    *args.vu.http.callback.borrow_mut() = callback;
    args.undefined()
}

/// Reads a callback given by a script.
pub(crate) fn from_js<'js>(args: &Args<'_, 'js>, value: &Value<'js>) -> rquickjs::Result<ResponseCallback> {
    if value.is_null() {
        return Ok(ResponseCallback::Off);
    }
    statuses_of(value).ok_or_else(|| args.error("unsupported argument, expected http.expectedStatuses"))
}

/// Reads a result of `http.expectedStatuses()`.
pub(crate) fn statuses_of(value: &Value<'_>) -> Option<ResponseCallback> {
    let statuses = value.as_object().and_then(Class::<ExpectedStatuses>::from_object)?;
    let found = statuses.borrow().0.clone();
    Some(ResponseCallback::Statuses(found))
}
