//! `k6`: check, fail, group, randomSeed, sleep.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use model::metric::builtin;
use model::{Instant, Mark, SystemClock, SystemTag, TagSetId};
use rquickjs::{Ctx, Function, Object, Persistent, Value};

use crate::async_groups;
use crate::error::unwind;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn, PropertyName};
use crate::layouts::Names;
use crate::state::VuState;
use crate::state::stop::StopReason;

pub(crate) const MODULE: Builtin = Builtin { name: "k6", build };

const FUNCTIONS: &[(&str, NativeFn)] =
    &[("check", check), ("fail", fail), ("group", group), ("randomSeed", random_seed), ("sleep", sleep)];

/// Separates the names of nested groups in the tag `group`; a name must not hold it.
const GROUP_SEPARATOR: &str = "::";

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    js::set_natives(&module, vu, FUNCTIONS)?;
    Ok(module)
}

/// `check(value, sets, tags?)`: whether every condition holds; each is a sample of `checks`.
fn check<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let vu = args.vu;
    if !vu.is_running() {
        return Err(args.error("Using check() in the init context is not supported"));
    }
    let Some(sets) = args.given(1) else {
        return Err(args.error("no checks provided to `check`"));
    };
    // Of anything else the properties are the conditions: a number has none, a text has its characters.
    let sets = match sets.try_into_object() {
        Ok(sets) => sets,
        Err(other) => js::to_object(args.ctx, &other)?,
    };
    let mut base = vu.tags.borrow_mut().id(&vu.cache);
    if let Some(tags) = args.given(2) {
        base = vu.cache.extend(base, crate::js::tags::from_js(args.ctx, &tags)?);
    }
    let has_tag = vu.plan().is_some_and(|plan| plan.system_tags.has(SystemTag::Check));
    let value = args.get(0);
    let at = SystemClock::now();
    let mut all_passed = true;
    let mut names = Names::default();
    js::each_property(&sets, |name, condition| {
        names.push_number(name.number());
        let tags = if has_tag { check_tags(args, base, name)? } else { base };
        let outcome = js::holds(&condition, &value);
        let passed = matches!(outcome, Ok(Some(true)));
        if matches!(outcome, Ok(None)) {
            let name = name.to_text()?;
            return Err(args.type_error(format!(
                "check \"{name}\" is an async function, and check() does not wait; await the value before the check"
            )));
        }
        if vu.stop.reason() == StopReason::None {
            vu.record(builtin::CHECKS, tags, f64::from(passed), Mark::Measured, at);
        }
        outcome?;
        all_passed &= passed;
        Ok(())
    })?;
    vu.check_layouts.note(&sets, &names)?;
    Ok(Value::new_bool(args.ctx.clone(), all_passed))
}

/// Sets remembered per VU. A script that makes up names pays for each.
const CHECK_TAGS_MAX: usize = 4096;

/// `base` with the tag `check`.
fn check_tags<'js>(
    args: &Args<'_, 'js>,
    base: TagSetId,
    name: &PropertyName<'_, 'js>,
) -> rquickjs::Result<TagSetId> {
    let tags = &args.vu.check_tags;
    let key = (name.number(), base);
    if let Some(known) = tags.known.borrow().get(&key) {
        return Ok(*known);
    }
    let text = name.to_text()?;
    if text.contains(GROUP_SEPARATOR) {
        return Err(args.error("group and check names may not contain '::'"));
    }
    let set = args.vu.cache.with_tag(base, "check", &text);
    if tags.known.borrow().len() >= CHECK_TAGS_MAX {
        tags.forget();
    }
    let names = tags.names.borrow().clone();
    let names = match names {
        Some(names) => names.restore(args.ctx)?,
        None => {
            let names = Object::new(args.ctx.clone())?;
            *tags.names.borrow_mut() = Some(Persistent::save(args.ctx, names.clone()));
            names
        }
    };
    names.set(text, true)?;
    tags.known.borrow_mut().insert(key, set);
    Ok(set)
}

/// `fail(message)`: ends the iteration with an error.
fn fail<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let message = if args.len() == 0 { String::new() } else { args.string(0)? };
    Err(args.error(message))
}

/// `group(name, fn)`: runs `fn` with the tag `group` extended, and measures it; an async function until its promise is
/// settled.
fn group<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let vu = args.vu;
    if !vu.is_running() {
        return Err(args.error("Using group() in the init context is not supported"));
    }
    let Some(function) = args.get(1).into_function() else {
        return Err(args.type_error("group() requires a callback as a second argument"));
    };
    let name = args.string(0)?;
    if name.contains(GROUP_SEPARATOR) {
        return Err(args.error("group and check names may not contain '::'"));
    }
    let is_async = is_async(&function)?;
    if is_async {
        async_groups::start(args.ctx, vu)?;
    }
    let outer = vu.tags.borrow().group();
    // A group without a name is none.
    let inner: Arc<str> =
        if name.is_empty() { outer.clone() } else { format!("{outer}{GROUP_SEPARATOR}{name}").into() };
    vu.tags.borrow_mut().set_group(inner.clone());
    let started = SystemClock::now();
    let result = vu::preempt::in_engine(|| function.call::<_, Value<'js>>(()));
    if !is_async {
        record_group(vu, started);
    }
    vu.tags.borrow_mut().set_group(outer);
    if !is_async {
        return result;
    }
    let vu_of_group = vu.clone();
    let settled = move || {
        let current = vu_of_group.tags.borrow().group();
        vu_of_group.tags.borrow_mut().enter_group(inner.clone());
        record_group(&vu_of_group, started);
        vu_of_group.tags.borrow_mut().enter_group(current);
    };
    async_groups::when_settled(args.ctx, vu, result?, crate::js::closure(args.ctx, settled)?)
}

/// Not inlined, so that its locals do not lie on the stack while the group runs.
#[inline(never)]
fn is_async<'js>(function: &Function<'js>) -> rquickjs::Result<bool> {
    let kind: String = function.get::<_, Object<'js>>("constructor")?.get("name")?;
    Ok(kind == "AsyncFunction")
}

/// Measures the current group, which ends now.
fn record_group(vu: &VuState, started: Instant) {
    let ended = SystemClock::now();
    if vu.stop.reason() == StopReason::None {
        let tags = vu.tags.borrow_mut().id(&vu.cache);
        vu.record(builtin::GROUP_DURATION, tags, ended.ms_since(started), Mark::Measured, ended);
    }
}

/// `sleep(seconds)`
pub(crate) fn sleep<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    /// Longer than any run; keeps infinity out of the timer.
    const SECONDS_MAX: f64 = 1e9;
    let seconds = js::to_number(args.ctx, &args.get(0))?;
    if seconds > 0.0 {
        let pause = tokio_sleep(Duration::from_secs_f64(seconds.min(SECONDS_MAX)));
        if vu::block_on(pause).is_err() {
            return Err(unwind(args.ctx, &args.vu.stop, StopReason::Interrupted));
        }
        args.vu.step_ended();
    }
    args.undefined()
}

async fn tokio_sleep(pause: Duration) {
    tokio::time::sleep(pause).await;
}

/// `randomSeed(integer)`: `Math.random` of this VU repeats from here on.
fn random_seed<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let seed = js::to_number(args.ctx, &args.get(0))?;
    args.vu.random_state.set(splitmix(seed as i64 as u64));
    let math: Object<'js> = args.ctx.globals().get("Math")?;
    math.set("random", js::native(args.ctx, args.vu, "random", seeded_random)?)?;
    args.undefined()
}

/// SplitMix64 (Steele, Lea, Flood 2014): one addition and three mixing steps, enough for test data.
fn seeded_random<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let state = args.vu.random_state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    args.vu.random_state.set(state);
    let fraction = (splitmix(state) >> 11) as f64 / (1_u64 << 53) as f64;
    Ok(Value::new_float(args.ctx.clone(), fraction))
}

const fn splitmix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
