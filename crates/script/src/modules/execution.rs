//! `k6/execution`: what a script may know about its own run.

use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use model::plan::{Executor, Stage};
use model::{Instant, Scenario, SystemClock};
use rquickjs::{Array, Ctx, Exception, Object, Persistent, Value};

use super::data::deep_freeze;
use crate::error::unwind;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::state::stop::StopReason;
use crate::state::{Call, VuBinding, VuState};

pub(crate) const MODULE: Builtin = Builtin { name: "k6/execution", build };

const SCENARIO: &[(&str, NativeFn)] = &[
    ("name", |args| text(args, &scenario(args)?.0.name)),
    ("executor", |args| text(args, scenario(args)?.0.executor.as_str())),
    ("startTime", |args| number(args, scenario_start_ms(args)?)),
    ("progress", |args| number(args, scenario_progress(args)?)),
    ("iterationInInstance", |args| number(args, scenario(args)?.1.iteration_in_instance as f64)),
    ("iterationInTest", |args| number(args, scenario(args)?.1.iteration_in_test as f64)),
];

const INSTANCE: &[(&str, NativeFn)] = &[
    ("currentTestRunDuration", |args| {
        let began = Instant::from_ns(binding(args)?.run.progress.started_ns.load(Relaxed));
        number(args, if began == Instant::ZERO { 0.0 } else { SystemClock::now().ms_since(began) })
    }),
    ("iterationsCompleted", |args| {
        number(args, binding(args)?.run.progress.iterations_completed.load(Relaxed) as f64)
    }),
    ("iterationsInterrupted", |args| {
        number(args, binding(args)?.run.progress.iterations_interrupted.load(Relaxed) as f64)
    }),
    ("vusActive", |args| number(args, f64::from(binding(args)?.run.progress.vus_active.load(Relaxed)))),
    ("vusInitialized", |args| {
        number(args, f64::from(binding(args)?.run.progress.vus_initialized.load(Relaxed)))
    }),
];

const VU: &[(&str, NativeFn)] = &[
    ("idInInstance", |args| number(args, binding(args)?.id_in_instance as f64)),
    ("idInTest", |args| number(args, binding(args)?.id_in_test as f64)),
    ("iterationInInstance", |args| number(args, call(args).map_or(0, |call| call.vu_iteration) as f64)),
    ("iterationInScenario", |args| number(args, scenario(args)?.1.iteration_in_scenario as f64)),
];

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("scenario", with_getters(ctx, vu, SCENARIO)?)?;
    module.set("instance", with_getters(ctx, vu, INSTANCE)?)?;
    let tags = tag_map(ctx, vu)?;
    let metrics = Object::new(ctx.clone())?;
    metrics.set("tags", tags.clone())?;
    metrics.set("metadata", metadata_map(ctx, vu)?)?;
    let about_vu = with_getters(ctx, vu, VU)?;
    about_vu.set("tags", tags)?;
    about_vu.set("metrics", metrics)?;
    module.set("vu", about_vu)?;
    let test = Object::new(ctx.clone())?;
    js::set_natives(&test, vu, &[("abort", abort), ("fail", fail)])?;
    js::getter(&test, vu, "options", options)?;
    module.set("test", test)?;
    Ok(module)
}

fn with_getters<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    getters: &[(&str, NativeFn)],
) -> rquickjs::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, function) in getters {
        js::getter(&object, vu, name, *function)?;
    }
    Ok(object)
}

fn number<'js>(args: &Args<'_, 'js>, value: f64) -> rquickjs::Result<Value<'js>> {
    Ok(Value::new_number(args.ctx.clone(), value))
}

fn text<'js>(args: &Args<'_, 'js>, value: &str) -> rquickjs::Result<Value<'js>> {
    Ok(rquickjs::String::from_str(args.ctx.clone(), value)?.into_value())
}

fn call(args: &Args<'_, '_>) -> Option<Call> {
    args.vu.call.borrow().clone()
}

fn binding<'a>(args: &'a Args<'_, '_>) -> rquickjs::Result<&'a VuBinding> {
    match args.vu.binding() {
        Some(binding) if args.vu.is_running() => Ok(binding),
        _ => Err(args.error("getting instance or VU information in the init context is not supported")),
    }
}

fn scenario<'a>(args: &'a Args<'_, '_>) -> rquickjs::Result<(&'a Scenario, Call)> {
    let plan = args.vu.plan();
    match (plan, call(args)) {
        (Some(plan), Some(call)) if args.vu.is_running() => {
            Ok((&plan.scenarios[usize::from(call.scenario.0)], call))
        }
        _ => Err(args.error("getting scenario information outside of the VU context is not supported")),
    }
}

fn scenario_start_ms(args: &Args<'_, '_>) -> rquickjs::Result<f64> {
    let (_, call) = scenario(args)?;
    let run = &binding(args)?.run;
    let started = run.progress.scenarios[usize::from(call.scenario.0)].started_ns.load(Relaxed);
    Ok((run.epoch.wall_unix_ns(Instant::from_ns(started)) / 1_000_000) as f64)
}

fn scenario_progress(args: &Args<'_, '_>) -> rquickjs::Result<f64> {
    let (scenario, call) = scenario(args)?;
    let progress = &binding(args)?.run.progress.scenarios[usize::from(call.scenario.0)];
    let of_count = |total: u64| progress.iterations_completed.load(Relaxed) as f64 / total.max(1) as f64;
    let of_time = |whole: Duration| {
        let started = Instant::from_ns(progress.started_ns.load(Relaxed));
        SystemClock::now().since(started).as_secs_f64() / whole.as_secs_f64().max(f64::MIN_POSITIVE)
    };
    let stages = |stages: &[Stage]| stages.iter().map(|stage| stage.duration).sum();
    let fraction = match &scenario.executor {
        Executor::SharedIterations { iterations, .. } => of_count(*iterations),
        Executor::PerVuIterations { vus, iterations, .. } => of_count(vus.saturating_mul(*iterations)),
        Executor::ConstantVus { duration, .. }
        | Executor::ConstantArrivalRate { duration, .. }
        | Executor::ExternallyControlled { duration, .. } => of_time(*duration),
        Executor::RampingVus { stages: all, .. } | Executor::RampingArrivalRate { stages: all, .. } => {
            of_time(stages(all))
        }
    };
    Ok(fraction.clamp(0.0, 1.0))
}

/// `test.abort(reason?)`: unwinds this VU and ends the test.
fn abort<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let mut reason = "test aborted".to_owned();
    if args.given(0).is_some() {
        reason = format!("{reason}: {}", args.string(0)?);
    }
    *args.vu.abort_reason.borrow_mut() = Some(reason.clone());
    if let Some(binding) = args.vu.binding() {
        binding.run.control.abort(&reason);
    }
    Err(unwind(args.ctx, &args.vu.stop, StopReason::Aborted))
}

/// `test.fail(reason?)`: the test goes on and counts as failed.
fn fail<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let reason = if args.given(0).is_some() { args.string(0)? } else { String::new() };
    binding(args)?.run.control.fail(&reason);
    args.undefined()
}

/// `test.options`: the consolidated options, frozen.
fn options<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let Some(plan) = args.vu.plan().filter(|_| args.vu.is_running()) else {
        return Err(args.error("getting test options in the init context is not supported"));
    };
    let known = args.vu.builtin_objects.borrow().get(OPTIONS_KEY).cloned();
    if let Some(known) = known {
        return Ok(known.restore(args.ctx)?.into_value());
    }
    let value = args.ctx.json_parse(plan.options_json.as_bytes())?;
    deep_freeze(args.ctx, &value)?;
    if let Some(object) = value.as_object() {
        let kept = Persistent::save(args.ctx, object.clone());
        args.vu.builtin_objects.borrow_mut().insert(OPTIONS_KEY, kept);
    }
    Ok(value)
}

const OPTIONS_KEY: &str = "k6/execution test.options";

/// `vu.tags`: a map that reads and writes the VU's tags.
fn tag_map<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Value<'js>> {
    live_map(
        ctx,
        vu,
        |vu, name| vu.tags.borrow().get(name).map(|value| value.to_string()),
        |vu, name, value| match value {
            Some(value) => vu.tags.borrow_mut().set(name, value),
            None => vu.tags.borrow_mut().remove(name),
        },
        |vu| vu.tags.borrow().all().into_iter().map(|(name, _)| name.to_string()).collect(),
    )
}

/// `vu.metrics.metadata`: as `vu.tags`, for facts that no threshold can use.
fn metadata_map<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Value<'js>> {
    live_map(
        ctx,
        vu,
        |vu, name| vu.script_metadata.borrow().get(name).map(|value| value.to_string()),
        |vu, name, value| {
            match value {
                Some(value) => vu.script_metadata.borrow_mut().insert(name.into(), value.into()),
                None => vu.script_metadata.borrow_mut().remove(name),
            };
            vu.refresh_metadata();
        },
        |vu| vu.script_metadata.borrow().keys().map(|name| name.to_string()).collect(),
    )
}

type Read = fn(&VuState, &str) -> Option<String>;
type Write = fn(&VuState, &str, Option<&str>);
type Names = fn(&VuState) -> Vec<String>;

fn live_map<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    read: Read,
    write: Write,
    names: Names,
) -> rquickjs::Result<Value<'js>> {
    let handler = Object::new(ctx.clone())?;
    let state = vu.clone();
    let get = move |ctx: Ctx<'js>, target: Object<'js>, key: Value<'js>| -> rquickjs::Result<Value<'js>> {
        let Some(name) = key.as_string() else { return target.get(key) };
        match read(&state, &name.to_string()?) {
            Some(value) => Ok(rquickjs::String::from_str(ctx, &value)?.into_value()),
            None => target.get(key),
        }
    };
    handler.set("get", crate::js::closure(ctx, get)?)?;
    let state = vu.clone();
    let set = move |ctx: Ctx<'js>,
                    _target: Object<'js>,
                    name: String,
                    value: Value<'js>|
          -> rquickjs::Result<bool> {
        if value.is_object() || value.is_null() || value.is_undefined() || value.is_symbol() {
            let text = format!(
                "invalid value for metric tag or metadata '{name}': only String, Boolean and Number types are accepted"
            );
            return Err(Exception::throw_type(&ctx, &text));
        }
        write(&state, &name, Some(&js::to_string(&ctx, &value)?));
        Ok(true)
    };
    handler.set("set", crate::js::closure(ctx, set)?)?;
    let state = vu.clone();
    let delete = move |_target: Object<'js>, name: String| -> bool {
        write(&state, &name, None);
        true
    };
    handler.set("deleteProperty", crate::js::closure(ctx, delete)?)?;
    let state = vu.clone();
    let own_keys = move |ctx: Ctx<'js>| -> rquickjs::Result<Array<'js>> {
        let keys = Array::new(ctx)?;
        for (index, name) in names(&state).into_iter().enumerate() {
            keys.set(index, name)?;
        }
        Ok(keys)
    };
    handler.set("ownKeys", crate::js::closure(ctx, own_keys)?)?;
    let state = vu.clone();
    let has = move |_target: Object<'js>, name: String| read(&state, &name).is_some();
    handler.set("has", crate::js::closure(ctx, has)?)?;
    let state = vu.clone();
    let describe = move |ctx: Ctx<'js>, _target: Object<'js>, name: String| -> rquickjs::Result<Value<'js>> {
        let Some(value) = read(&state, &name) else { return Ok(Value::new_undefined(ctx)) };
        let descriptor = Object::new(ctx)?;
        descriptor.set("value", value)?;
        for flag in ["enumerable", "configurable", "writable"] {
            descriptor.set(flag, true)?;
        }
        Ok(descriptor.into_value())
    };
    handler.set("getOwnPropertyDescriptor", crate::js::closure(ctx, describe)?)?;
    let constructor: rquickjs::function::Constructor<'js> = ctx.globals().get("Proxy")?;
    constructor.construct((Object::new(ctx.clone())?, handler))
}
