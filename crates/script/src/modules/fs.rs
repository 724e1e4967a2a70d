//! `k6/experimental/fs`: files read piece by piece; their bytes are there once for all VUs.

use std::rc::Rc;

use rquickjs::{Ctx, Object, Value};

use crate::js::library::JsLibrary;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::state::VuState;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/experimental/fs", build };

pub(crate) static LIBRARY: JsLibrary = JsLibrary::new("modules/fs", include_str!("../../js/fs.js"), NATIVES);

const NATIVES: &[(&str, NativeFn)] = &[("open", open), ("bytes", bytes), ("isRunning", is_running)];

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    for name in ["open", "SeekMode"] {
        module.set(name, LIBRARY.member(ctx, vu, name)?)?;
    }
    Ok(module)
}

/// `open(path)`: `{ path, size }`, or `{ kind, problem }`.
fn open<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let path = args.string(0)?;
    let object = Object::new(args.ctx.clone())?;
    let sources = &args.vu.init.sources;
    let full = sources.path_of(&path);
    match crate::opening::read(args, &path) {
        Ok(bytes) => {
            object.set("path", full.to_string_lossy().as_ref())?;
            object.set("size", bytes.len() as f64)?;
        }
        Err(problem) => {
            let kind = if full.is_dir() { "InvalidResourceError" } else { "NotFoundError" };
            object.set("kind", kind)?;
            object.set("problem", problem)?;
        }
    }
    Ok(object.into_value())
}

/// `bytes(path, at, count)`: a piece of a file that is open.
fn bytes<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let whole = crate::opening::read(args, &args.string(0)?).map_err(|problem| args.error(problem))?;
    let (at, count) = (js::to_number(args.ctx, &args.get(1))?, js::to_number(args.ctx, &args.get(2))?);
    let from = (at as usize).min(whole.len());
    let piece = &whole[from..from.saturating_add(count as usize).min(whole.len())];
    js::byte_array(args.ctx, piece)
}

/// `isRunning()`: whether the init phase is over.
pub(super) fn is_running<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    Ok(Value::new_bool(args.ctx.clone(), args.vu.is_running()))
}
