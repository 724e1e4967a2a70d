//! `k6/secrets`: `get(key)` and `source(name).get(key)`.

use std::rc::Rc;

use rquickjs::{Ctx, Function, Object, Value};

use super::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::state::VuState;

pub(super) const MODULE: Builtin = Builtin { name: "k6/secrets", build };

const FUNCTIONS: &[(&str, NativeFn)] = &[("get", get), ("source", source)];

/// The source that `get()` asks.
const DEFAULT: &str = "default";

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    js::set_natives(&module, vu, FUNCTIONS)?;
    Ok(module)
}

/// `get(key)`: a promise of the secret.
fn get<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    promise(args.ctx, args.vu, DEFAULT, &args.get(0))
}

/// `source(name)`: another source than the default.
fn source<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let name = if args.given(0).is_some() { args.string(0)? } else { String::new() };
    args.vu.init.secrets.source(&name).map_err(|problem| args.error(problem))?;
    let object = Object::new(args.ctx.clone())?;
    let vu = args.vu.clone();
    let get = move |ctx: Ctx<'js>, key: rquickjs::function::Opt<Value<'js>>| {
        let key = key.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        promise(&ctx, &vu, &name, &key)
    };
    object.set("get", Function::new(args.ctx.clone(), get)?.with_name("get")?)?;
    Ok(object.into_value())
}

fn promise<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    source: &str,
    key: &Value<'js>,
) -> rquickjs::Result<Value<'js>> {
    let (promise, resolve, reject) = ctx.promise()?;
    let key = if key.is_undefined() { String::new() } else { js::to_string(ctx, key)? };
    match vu.init.secrets.get(source, &key) {
        Ok(value) => resolve.call::<_, ()>((value,))?,
        Err(problem) => {
            let _ = js::go_error(ctx, &problem);
            reject.call::<_, ()>((ctx.catch(),))?;
        }
    }
    Ok(promise.into_value())
}
