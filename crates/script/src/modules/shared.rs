//! `plimsoll/shared`: counters, queues and maps of all VUs of a run.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use model::GoDuration;
use rquickjs::{Ctx, Object, Value};

use crate::error::unwind;
use crate::js::prelude::Prelude;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::shared_values::{Content, ENTRIES_DEFAULT, ENTRIES_MAX, Kind, NAMES_MAX, Shared};
use crate::state::VuState;
use crate::state::stop::StopReason;

pub(crate) const MODULE: Builtin = Builtin { name: "plimsoll/shared", build };

static PRELUDE: Prelude = Prelude::new("plimsoll/shared", include_str!("../../js/shared.js"));

/// The longest wait of `pop()`, as that of timers.
const WAIT_MAX: Duration = Duration::from_millis(2_147_483_647);

const NATIVES: &[(&str, NativeFn)] = &[
    ("declare", declare),
    ("add", add),
    ("exchange", exchange),
    ("push", push),
    ("pop", pop),
    ("size", size),
    ("mapSet", map_set),
    ("mapGet", map_get),
    ("mapKeys", map_keys),
    ("clear", clear),
];

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    if vu.binding().is_some_and(|binding| !binding.run.share.is_whole()) {
        return Err(js::go_error(
            ctx,
            "plimsoll/shared holds values of one process, and this test runs in several; run it with one agent and without \
             --execution-segment",
        ));
    }
    PRELUDE.run(ctx, vu, NATIVES)?.into_object().ok_or(rquickjs::Error::Exception)
}

/// `declare(kind, name, max)`: the number in this VU of a counter, queue or map, which is the same one for all that use the name.
fn declare<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let (kind, name) = (args.string(0)?, args.string(1)?);
    let Some((_, kind)) = Kind::NAMES.into_iter().find(|(known, _)| *known == kind) else {
        return Err(args.type_error("no such kind of shared value"));
    };
    let max = args.given(2).map(|max| js::to_number(args.ctx, &max)).transpose()?;
    let entries_max = match max {
        None => ENTRIES_DEFAULT,
        Some(max) if max >= 1.0 && max <= ENTRIES_MAX as f64 => max as usize,
        Some(max) => {
            return Err(args.type_error(format!("invalid max {max}: use a number from 1 to {ENTRIES_MAX}")));
        }
    };
    let shared = args.vu.init.shared_values.named(kind, name, entries_max).ok_or_else(|| {
        args.error(format!("more than {NAMES_MAX} names of shared values: use keys of a map instead"))
    })?;
    let mut known = args.vu.shared_values.borrow_mut();
    let number = known.iter().position(|known| Arc::ptr_eq(known, &shared)).unwrap_or_else(|| {
        known.push(shared);
        known.len() - 1
    });
    Ok(Value::new_number(args.ctx.clone(), number as f64))
}

/// The value that argument 0 names.
fn shared_of(args: &Args<'_, '_>) -> rquickjs::Result<Arc<Shared>> {
    if !args.vu.is_running() {
        return Err(args.error(
            "shared values can be used in setup(), iterations and teardown(), not in the init context",
        ));
    }
    let number = js::to_number(args.ctx, &args.get(0))? as usize;
    let known = args.vu.shared_values.borrow().get(number).cloned();
    known.ok_or_else(|| args.error("no such shared value"))
}

/// `add(counter, by)`: the sum.
fn add<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let by = js::to_number(args.ctx, &args.get(1))?;
    if !by.is_finite() {
        return Err(args.type_error(format!("add() takes a number, and {by} is none")));
    }
    let shared = shared_of(args)?;
    let mut content = shared.lock();
    let Content::Counter(value) = &mut *content else { return args.undefined() };
    *value += by;
    Ok(Value::new_number(args.ctx.clone(), *value))
}

/// `exchange(counter, value, expected?)`: sets the value, where it is `expected`; the value before.
fn exchange<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let to = js::to_number(args.ctx, &args.get(1))?;
    let expected = args.given(2).map(|expected| js::to_number(args.ctx, &expected)).transpose()?;
    if !to.is_finite() {
        return Err(args.type_error(format!("a counter holds a number, and {to} is none")));
    }
    let shared = shared_of(args)?;
    let mut content = shared.lock();
    let Content::Counter(value) = &mut *content else { return args.undefined() };
    let before = *value;
    if expected.is_none_or(|expected| expected == before) {
        *value = to;
    }
    Ok(Value::new_number(args.ctx.clone(), before))
}

/// `push(queue, json)`: whether there was capacity.
fn push<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let shared = shared_of(args)?;
    let is_taken = shared.push(args.string(1)?.into()).map_err(|text| args.error(text))?;
    Ok(Value::new_bool(args.ctx.clone(), is_taken))
}

/// `pop(queue, timeout?)`: the first value as JSON; waits for it at most so long. `undefined` where none came.
fn pop<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let shared = shared_of(args)?;
    let value = match (shared.pop(), args.given(1)) {
        (None, Some(timeout)) => {
            let timeout = timeout_of(args, &timeout)?;
            let waited = vu::block_on(async {
                tokio::select! {
                    biased;
                    value = shared.popped() => Some(value),
                    () = tokio::time::sleep(timeout) => None,
                }
            });
            let value =
                waited.map_err(|vu::Interrupted| unwind(args.ctx, &args.vu.stop, StopReason::Interrupted))?;
            args.vu.step_ended();
            value
        }
        (value, _) => value,
    };
    match value {
        Some(json) => js::string_from_bytes(args.ctx, json.as_bytes()),
        None => args.undefined(),
    }
}

/// Seconds, or a text with a unit.
fn timeout_of(args: &Args<'_, '_>, given: &Value<'_>) -> rquickjs::Result<Duration> {
    let seconds = match given.as_number() {
        Some(seconds) => Some(seconds),
        None => {
            let text = given.as_string().map(rquickjs::String::to_string).transpose()?.unwrap_or_default();
            // A number without a unit could be either seconds or milliseconds.
            let has_unit = text.parse::<f64>().is_err();
            GoDuration::parse(&text).filter(|_| has_unit).map(|duration| duration.ns as f64 / 1e9)
        }
    };
    match seconds {
        Some(seconds) if seconds >= 0.0 => Ok(Duration::from_secs_f64(seconds.min(WAIT_MAX.as_secs_f64()))),
        _ => Err(args.type_error("invalid timeout: use seconds, or a text with a unit such as \"500ms\"")),
    }
}

/// `size(value)`: entries of a queue or a map, or the value of a counter.
fn size<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let shared = shared_of(args)?;
    let size = match &*shared.lock() {
        Content::Counter(value) => *value,
        Content::Queue(queue) => queue.len() as f64,
        Content::Map(map) => map.len() as f64,
    };
    Ok(Value::new_number(args.ctx.clone(), size))
}

/// `mapSet(map, key, json?, onlyNew)`: sets or removes a key; the value before as JSON.
fn map_set<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let shared = shared_of(args)?;
    let value = args.given(2).map(|_| args.string(2)).transpose()?;
    let replaced = shared.replace(args.string(1)?.into(), value.map(Into::into), js::to_bool(&args.get(3)));
    json_or_undefined(args, replaced.map_err(|text| args.error(text))?)
}

/// `mapGet(map, key)`: its value as JSON.
fn map_get<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let shared = shared_of(args)?;
    let key = args.string(1)?;
    let value = match &*shared.lock() {
        Content::Map(map) => map.get(key.as_str()).cloned(),
        _ => None,
    };
    json_or_undefined(args, value)
}

fn json_or_undefined<'js>(args: &Args<'_, 'js>, json: Option<Box<str>>) -> rquickjs::Result<Value<'js>> {
    match json {
        Some(json) => js::string_from_bytes(args.ctx, json.as_bytes()),
        None => args.undefined(),
    }
}

/// `mapKeys(map)`: its keys in order.
fn map_keys<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let shared = shared_of(args)?;
    let keys: Vec<Box<str>> = match &*shared.lock() {
        Content::Map(map) => map.keys().cloned().collect(),
        _ => Vec::new(),
    };
    let made = rquickjs::Array::new(args.ctx.clone())?;
    for (index, key) in keys.iter().enumerate() {
        made.set(index, &**key)?;
    }
    Ok(made.into_value())
}

/// `clear(value)`
fn clear<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    shared_of(args)?.clear();
    args.undefined()
}
