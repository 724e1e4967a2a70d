//! The global scope of scripts, besides the language's own globals.

mod apply;
pub(crate) mod blob;
pub(crate) mod clone;
pub(crate) mod events;
pub(crate) mod performance;
pub(crate) mod streams;
pub(crate) mod text;
pub(crate) mod url;

use std::rc::Rc;
use std::time::Duration;

use rquickjs::{Ctx, Object, Persistent, Value};

use crate::js::registry::LazyGlobal;
use crate::js::{self, Args, NativeFn};
use crate::state::VuState;
use crate::state::events::TimerCall;

/// Longest `setTimeout`; browsers stop at 2^31 ms too.
const TIMER_MS_MAX: f64 = 2_147_483_647.0;

/// Puts them there.
pub(crate) fn install<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<()> {
    let globals = ctx.globals();
    js::scope::install(ctx)?;
    // The engine's own counts from its start, not from the epoch, and has no marks.
    globals.remove("performance")?;
    apply::install(ctx, vu)?;
    globals.set("global", globals.clone())?;
    globals.set("__VU", 0)?;
    let env = Object::new(ctx.clone())?;
    for (name, value) in vu.init.env_in_use.get().unwrap_or(&vu.init.env) {
        env.set(name.as_str(), value.as_str())?;
    }
    globals.set("__ENV", env)?;
    *vu.specimens.borrow_mut() = Some(crate::shapes::keep(ctx)?);
    Ok(())
}

/// A global that is a function of the host.
macro_rules! native_global {
    ($name:literal, $function:path) => {
        LazyGlobal { name: $name, build: |ctx, vu| Ok(js::native(ctx, vu, $name, $function)?.into_value()) }
    };
}

pub(crate) const REQUIRE: LazyGlobal = native_global!("require", crate::loader::commonjs::global_require);
pub(crate) const OPEN: LazyGlobal = native_global!("open", open);
pub(crate) const SET_TIMEOUT: LazyGlobal = native_global!("setTimeout", set_timeout);
pub(crate) const SET_INTERVAL: LazyGlobal = native_global!("setInterval", set_interval);
pub(crate) const CLEAR_TIMEOUT: LazyGlobal = native_global!("clearTimeout", clear_timer);
pub(crate) const CLEAR_INTERVAL: LazyGlobal = native_global!("clearInterval", clear_timer);

/// The timers; `k6/timers` has them too.
pub(crate) const TIMERS: &[(&str, NativeFn)] = &[
    ("setTimeout", set_timeout),
    ("setInterval", set_interval),
    ("clearTimeout", clear_timer),
    ("clearInterval", clear_timer),
];

/// Defines `__ITER`, which in k6 is no name at all before a VU's first iteration, nor in `setup()` and `teardown()`.
pub(crate) fn install_iteration<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<()> {
    js::getter(&ctx.globals(), vu, "__ITER", iteration)
}

/// `__ITER`: this VU's iterations before this one. It is worked out when it is read, because few scripts read it and every
/// iteration would have to set it.
fn iteration<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    match &*args.vu.call.borrow() {
        Some(call) => Ok(Value::new_number(args.ctx.clone(), call.vu_iteration as f64)),
        None => args.undefined(),
    }
}

/// `open(path, mode?)`: a file as text, or as an ArrayBuffer with `"b"`.
fn open<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    if args.vu.is_running() {
        return Err(
            args.error("the \"open()\" function is only available in the init stage (i.e. the global scope)")
        );
    }
    let path = args.string(0)?;
    crate::opening::caller(args.ctx, args.vu).may_read(&path).map_err(|text| args.error(text))?;
    let folder = crate::opening::folder(args.ctx, args.vu, &path);
    let bytes = args.vu.init.sources.open_in(folder.as_deref(), &path).map_err(|text| args.error(text))?;
    let is_binary = args.given(1).is_some() && args.string(1)?.contains('b');
    if is_binary {
        return js::array_buffer(args.ctx, &bytes);
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(rquickjs::String::from_str(args.ctx.clone(), &text)?.into_value())
}

pub(crate) fn set_timeout<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    start_timer(args, false)
}

fn set_interval<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    start_timer(args, true)
}

fn start_timer<'js>(args: &Args<'_, 'js>, repeats: bool) -> rquickjs::Result<Value<'js>> {
    let Some(callback) = args.get(0).into_function() else {
        return Err(args.type_error("the callback of a timer must be a function"));
    };
    let delay_ms = args.given(1).map_or(Ok(0.0), |delay| js::to_number(args.ctx, &delay))?;
    let delay_ms = if delay_ms.is_nan() { 0.0 } else { delay_ms.clamp(0.0, TIMER_MS_MAX) };
    let arguments = (2..args.len()).map(|index| Persistent::save(args.ctx, args.get(index))).collect();
    let delay = Duration::from_secs_f64(delay_ms / 1e3);
    // An interval of zero would never let the loop rest.
    let delay = if repeats { delay.max(Duration::from_millis(1)) } else { delay };
    let callback = Persistent::save(args.ctx, callback);
    let call = TimerCall { callback, arguments, group: crate::async_groups::current(args.vu) };
    match args.vu.events.start_timer(call, delay, repeats) {
        Some(id) => Ok(Value::new_number(args.ctx.clone(), id as f64)),
        None => Err(args.error("too many timers are pending")),
    }
}

fn clear_timer<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    if let Some(id) = args.get(0).as_number().filter(|id| *id >= 1.0) {
        args.vu.events.clear_timer(id as u64);
    }
    args.undefined()
}
