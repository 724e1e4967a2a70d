//! `k6/metrics`: metrics of the script's own.

use std::rc::Rc;

use model::{Mark, MetricId, MetricKind, SystemClock, ValueKind};
use rquickjs::function::Opt;
use rquickjs::{Ctx, Exception, Object, Value};

use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::state::{Phase, VuState};

pub(crate) const MODULE: Builtin = Builtin { name: "k6/metrics", build };

const CLASSES: &[(&str, NativeFn)] =
    &[("Counter", counter), ("Gauge", gauge), ("Rate", rate), ("Trend", trend)];

/// Longest metric name: one letter or underscore and up to 128 more characters.
const NAME_CHARS_MAX: usize = 129;

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    for (name, function) in CLASSES {
        module.set(*name, js::constructor(ctx, vu, name, *function)?)?;
    }
    Ok(module)
}

fn counter<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    declare(args, MetricKind::Counter)
}
fn gauge<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    declare(args, MetricKind::Gauge)
}
fn rate<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    declare(args, MetricKind::Rate)
}
fn trend<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    declare(args, MetricKind::Trend)
}

fn declare<'js>(args: &Args<'_, 'js>, kind: MetricKind) -> rquickjs::Result<Value<'js>> {
    let vu = args.vu;
    if vu.phase.get() != Phase::Init {
        return Err(args.error("metrics must be declared in the init context"));
    }
    let name = if args.given(0).is_some() { args.string(0)? } else { String::new() };
    if !is_name(&name) {
        return Err(args.error(format!(
            "Invalid metric name: '{name}'; names have up to 128 letters, digits and underscores and start with a letter"
        )));
    }
    let is_time = args.given(1).is_some_and(|value| js::to_bool(&value));
    let contains = if is_time { ValueKind::Time } else { ValueKind::Default };
    let id = vu.init.metrics.register(&name, kind, contains).map_err(|conflict| {
        let (kind, contains) = conflict.is;
        args.error(format!(
            "metric '{name}' already exists but with type {} ({}); one name has one type",
            kind.as_str(),
            contains.as_str()
        ))
    })?;
    let metric = match args.this().as_object().map(|target| target.get::<_, Object<'js>>("prototype")) {
        Some(Ok(prototype)) => {
            let object = Object::new(args.ctx.clone())?;
            object.set_prototype(Some(&prototype))?;
            object
        }
        _ => Object::new(args.ctx.clone())?,
    };
    metric.set("name", name.as_str())?;
    let vu = vu.clone();
    let add = move |ctx: Ctx<'js>, value: Opt<Value<'js>>, tags: Opt<Value<'js>>| {
        add(&ctx, &vu, id, kind, &name, value.0, tags.0)
    };
    metric.set("add", crate::js::closure(args.ctx, add)?.with_name("add")?)?;
    Ok(metric.into_value())
}

fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let first = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    first
        && (2..=NAME_CHARS_MAX).contains(&name.len())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn add<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    id: MetricId,
    kind: MetricKind,
    name: &str,
    value: Option<Value<'js>>,
    tags: Option<Value<'js>>,
) -> rquickjs::Result<bool> {
    if vu.phase.get() == Phase::Init {
        return Err(Exception::throw_message(
            ctx,
            "metrics must be used in the VU context, not in the init context",
        ));
    }
    let value = value.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    let number = match kind {
        _ if value.is_null() || value.is_undefined() => f64::NAN,
        // What is no number at all is refused; of the rest k6 asks whether it is true, and the text "0" is.
        MetricKind::Rate if !value.is_number() && !js::to_number(ctx, &value)?.is_nan() => {
            f64::from(js::to_bool(&value))
        }
        _ => js::to_number(ctx, &value)?,
    };
    let problem = if number.is_nan() {
        Some("a number or a boolean value is expected")
    } else if kind == MetricKind::Counter && number < 0.0 && !vu.is_strict() {
        Some("a counter only goes up")
    } else {
        None
    };
    if let Some(problem) = problem {
        let text = format!(
            "'{}' is an invalid value for metric '{name}', {problem}",
            crate::console::format_value(&value)
        );
        if vu.plan().is_some_and(|plan| plan.http.throw) {
            return Err(Exception::throw_type(ctx, &text));
        }
        vu.log(model::LogLevel::Warn, "", text);
        return Ok(false);
    }
    let mut set = vu.tags.borrow_mut().id(&vu.cache);
    if let Some(tags) = tags.filter(|tags| !tags.is_undefined() && !tags.is_null()) {
        set = vu.cache.extend(set, crate::js::tags::from_js(ctx, &tags)?);
    }
    vu.record(id, set, number, Mark::Measured, SystemClock::now());
    Ok(true)
}
