//! The result of `setup()`, on its way to the VUs.

use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rquickjs::{Array, Ctx, Function, Value};

use crate::js::prelude::Prelude;
use crate::js::{self, Args, NativeFn};
use crate::state::VuState;

static PRELUDE: Prelude = Prelude::new("k6/setup", include_str!("../js/setup_data.js"));

const NATIVES: &[(&str, NativeFn)] = &[("base64", base64), ("cookie", cookie)];

/// Result of `setup()`, written as JSON.
pub(crate) enum SetupData {
    /// Nothing was returned.
    Nothing,
    /// JSON.
    Text(String),
    /// It holds what JSON cannot: what, and where.
    Refused(String),
}

/// Writes it as k6 does.
///
/// # Errors
/// A getter throws.
pub(crate) fn write<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>, value: Value<'js>) -> rquickjs::Result<SetupData> {
    if value.is_undefined() {
        return Ok(SetupData::Nothing);
    }
    let write: Function<'js> =
        PRELUDE.run(ctx, vu, NATIVES)?.into_function().ok_or(rquickjs::Error::Exception)?;
    let outcome: Array<'js> = write.call((value,))?;
    Ok(match outcome.get::<Option<String>>(1)? {
        Some(why) => SetupData::Refused(why),
        None => SetupData::Text(outcome.get(0)?),
    })
}

fn base64<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let text = STANDARD.encode(js::bytes_of(&args.get(0)).unwrap_or_default());
    rquickjs::IntoJs::into_js(text, args.ctx)
}

fn cookie<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    crate::http::after_setup(args.get(0))
}
