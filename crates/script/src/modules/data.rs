//! `k6/data`: `SharedArray`, data that all VUs read and none copies.

use std::rc::Rc;
use std::sync::Arc;

use rquickjs::function::Args as CallArgs;
use rquickjs::{Array, Ctx, Exception, Function, Object, Value};

use crate::js::registry::Builtin;
use crate::js::{self, Args};
use crate::state::{Phase, VuState};

pub(crate) const MODULE: Builtin = Builtin { name: "k6/data", build };

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("SharedArray", js::constructor(ctx, vu, "SharedArray", shared_array)?)?;
    Ok(module)
}

/// `new SharedArray(name, fn)`: `fn` runs once per test; each element is kept as JSON text and parsed when read.
fn shared_array<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let vu = args.vu;
    if vu.phase.get() != Phase::Init {
        return Err(args.error("new SharedArray must be called in the init context"));
    }
    let name = args.string(0)?;
    if name.is_empty() {
        return Err(args.error("empty name provided to SharedArray's constructor"));
    }
    let Some(function) = args.get(1).into_function() else {
        return Err(args.error("a function is expected as the second argument of SharedArray's constructor"));
    };
    let known = lock(vu).get(&name).cloned();
    let elements = match known {
        Some(elements) => elements,
        None => {
            let elements = make(args, &function)?;
            lock(vu).entry(name).or_insert(elements).clone()
        }
    };
    proxy(args.ctx, elements)
}

/// The run's shared arrays, by name.
pub(super) fn lock(
    vu: &VuState,
) -> std::sync::MutexGuard<'_, std::collections::HashMap<String, Arc<[Box<str>]>>> {
    vu.init.shared_arrays.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn make<'js>(args: &Args<'_, 'js>, function: &Function<'js>) -> rquickjs::Result<Arc<[Box<str>]>> {
    let made: Value<'js> = function.call(())?;
    if made.is_promise() {
        return Err(args.error("SharedArray's constructor does not support async functions"));
    }
    let Some(array) = made.as_array() else {
        return Err(args.error("only arrays can be made into SharedArray"));
    };
    let mut elements = Vec::with_capacity(array.len());
    for element in array.iter::<Value<'js>>() {
        let text = args.ctx.json_stringify(element?)?.map(|text| text.to_string()).transpose()?;
        elements.push(text.unwrap_or_else(|| "null".into()).into_boxed_str());
    }
    Ok(elements.into())
}

/// An array that is none: reading an index parses the element, everything else is `Array.prototype`'s.
pub(super) fn proxy<'js>(ctx: &Ctx<'js>, elements: Arc<[Box<str>]>) -> rquickjs::Result<Value<'js>> {
    let handler = Object::new(ctx.clone())?;
    let for_get = elements.clone();
    let get = move |ctx: Ctx<'js>, target: Object<'js>, key: Value<'js>| -> rquickjs::Result<Value<'js>> {
        match element_key(&key) {
            Some(Key::Length) => Ok(Value::new_number(ctx, for_get.len() as f64)),
            Some(Key::Index(index)) => element(&ctx, &for_get, index),
            None => target.get(key),
        }
    };
    handler.set("get", crate::js::closure(ctx, get)?)?;
    let for_has = elements.clone();
    let has = move |target: Object<'js>, key: Value<'js>| -> rquickjs::Result<bool> {
        match element_key(&key) {
            Some(Key::Length) => Ok(true),
            Some(Key::Index(index)) => Ok(index < for_has.len()),
            None => target.contains_key(key),
        }
    };
    handler.set("has", crate::js::closure(ctx, has)?)?;
    let count = elements.len();
    let own_keys = move |ctx: Ctx<'js>| -> rquickjs::Result<Array<'js>> {
        let keys = Array::new(ctx)?;
        for index in 0..count {
            keys.set(index, index.to_string())?;
        }
        keys.set(count, "length")?;
        Ok(keys)
    };
    handler.set("ownKeys", crate::js::closure(ctx, own_keys)?)?;
    let describe =
        move |ctx: Ctx<'js>, _target: Object<'js>, key: Value<'js>| -> rquickjs::Result<Value<'js>> {
            let (value, enumerable) = match element_key(&key) {
                Some(Key::Index(index)) if index < elements.len() => (element(&ctx, &elements, index)?, true),
                Some(Key::Length) => (Value::new_number(ctx.clone(), elements.len() as f64), false),
                _ => return Ok(Value::new_undefined(ctx)),
            };
            let descriptor = Object::new(ctx)?;
            descriptor.set("value", value)?;
            descriptor.set("enumerable", enumerable)?;
            // The proxy's target has no such properties, and `length` is a plain writable one there.
            descriptor.set("configurable", enumerable)?;
            descriptor.set("writable", true)?;
            Ok(descriptor.into_value())
        };
    handler.set("getOwnPropertyDescriptor", crate::js::closure(ctx, describe)?)?;
    let refuse = |ctx: Ctx<'js>| -> rquickjs::Result<bool> {
        Err(Exception::throw_type(&ctx, "SharedArray is immutable"))
    };
    for trap in ["set", "deleteProperty", "defineProperty"] {
        handler.set(trap, crate::js::closure(ctx, refuse)?)?;
    }
    let constructor: rquickjs::function::Constructor<'js> = ctx.globals().get("Proxy")?;
    constructor.construct((Array::new(ctx.clone())?, handler))
}

enum Key {
    Length,
    Index(usize),
}

fn element_key(key: &Value<'_>) -> Option<Key> {
    let text = key.as_string()?.to_string().ok()?;
    if text == "length" { Some(Key::Length) } else { text.parse().ok().map(Key::Index) }
}

fn element<'js>(ctx: &Ctx<'js>, elements: &[Box<str>], index: usize) -> rquickjs::Result<Value<'js>> {
    let Some(text) = elements.get(index) else { return Ok(Value::new_undefined(ctx.clone())) };
    let value = ctx.json_parse(text.as_bytes())?;
    deep_freeze(ctx, &value)?;
    Ok(value)
}

/// Freezes an object and everything it holds.
pub(super) fn deep_freeze<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<()> {
    let Some(object) = value.as_object() else { return Ok(()) };
    for property in object.values::<Value<'js>>() {
        deep_freeze(ctx, &property?)?;
    }
    let freeze: Function<'js> = ctx.globals().get::<_, Object<'js>>("Object")?.get("freeze")?;
    let mut call = CallArgs::new(ctx.clone(), 1);
    call.push_arg(value.clone())?;
    freeze.call_arg::<Value<'js>>(call)?;
    Ok(())
}
