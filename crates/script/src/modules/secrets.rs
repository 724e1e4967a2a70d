//! `k6/secrets`: `get(key)` and `source(name).get(key)`.

use std::rc::Rc;
use std::sync::Arc;

use rquickjs::{Ctx, Function, Object, Persistent, Value};

use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::secrets::{Source, UrlSource};
use crate::state::VuState;
use crate::state::events::Completion;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/secrets", build };

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
    object.set("get", crate::js::closure(args.ctx, get)?.with_name("get")?)?;
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
    let known = match vu.init.secrets.source(source) {
        Ok(Source::Url(source)) => {
            let settle = [resolve, reject].map(|function| Persistent::save(ctx, function));
            ask(vu, source.clone(), key, settle);
            return Ok(promise.into_value());
        }
        Ok(Source::Known(known)) => known.get(&key).cloned().ok_or_else(|| "no value".to_owned()),
        Err(problem) => Err(problem),
    };
    settle(ctx, vu, known, resolve, reject)?;
    Ok(promise.into_value())
}

/// Asks a server, while the script goes on.
fn ask(vu: &Rc<VuState>, source: Arc<UrlSource>, key: String, functions: [Persistent<Function<'static>>; 2]) {
    let state = vu.clone();
    vu.events.spawn(Box::pin(async move {
        let answer = source.get(key).await;
        let completion: Completion = Box::new(move |ctx| {
            let [resolve, reject] = functions;
            settle(ctx, &state, answer, resolve.restore(ctx)?, reject.restore(ctx)?)
        });
        completion
    }));
}

fn settle<'js>(
    ctx: &Ctx<'js>,
    vu: &VuState,
    answer: Result<String, String>,
    resolve: Function<'js>,
    reject: Function<'js>,
) -> rquickjs::Result<()> {
    match answer.and_then(|secret| vu.init.secrets.reveal(secret)) {
        Ok(secret) => resolve.call((secret,)),
        Err(problem) => {
            let _ = js::go_error(ctx, &problem);
            reject.call((ctx.catch(),))
        }
    }
}
