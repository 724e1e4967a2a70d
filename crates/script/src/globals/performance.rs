//! `performance` (High Resolution Time, User Timing).

use std::sync::OnceLock;

use model::{Epoch, SystemClock};
use rquickjs::Value;

use crate::js::library::JsLibrary;
use crate::js::registry::LazyGlobal;
use crate::js::{Args, NativeFn};

static LIBRARY: JsLibrary =
    JsLibrary::new("globals/performance", include_str!("../../js/performance.js"), NATIVES);

const NATIVES: &[(&str, NativeFn)] = &[("now", now), ("timeOrigin", time_origin)];

pub(crate) const PERFORMANCE: LazyGlobal =
    LazyGlobal { name: "performance", build: |ctx, vu| LIBRARY.member(ctx, vu, "performance") };

/// The time that all VUs of the process count from: when the first of them asked.
fn origin() -> &'static Epoch {
    static ORIGIN: OnceLock<Epoch> = OnceLock::new();
    ORIGIN.get_or_init(|| Epoch::anchor(&SystemClock))
}

/// `now()`: milliseconds since the time origin.
pub(super) fn now<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let origin = origin();
    Ok(Value::new_float(args.ctx.clone(), SystemClock::now().ms_since(origin.at)))
}

/// `timeOrigin()`: the origin in milliseconds since the Unix epoch.
fn time_origin<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    Ok(Value::new_float(args.ctx.clone(), origin().wall_unix_ns as f64 / 1e6))
}
