//! `plimsoll/flow`: tasks that are submitted and then polled until they are done, which k6 has no word for.
//!
//! The script's side is in `js/flow.js`, the recording in [`tasks`]: the completion of a task is only known to lie
//! between two polls, and both ends are recorded.

mod tasks;

use std::rc::Rc;

use model::{GoDuration, Instant, SystemClock};
use rquickjs::{Ctx, Object, Value};

use self::tasks::{End, Named, Said};
use crate::js::prelude::Prelude;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::state::flow_metrics::Metrics;
use crate::state::{Phase, VuState};

pub(crate) const MODULE: Builtin = Builtin { name: "plimsoll/flow", build };

static PRELUDE: Prelude = Prelude::new("plimsoll/flow", include_str!("../js/flow.js"));

const NATIVES: &[(&str, NativeFn)] = &[
    ("begin", begin),
    ("submitted", submitted),
    ("polling", polling),
    ("left", left),
    ("answered", answered),
    ("judged", judged),
    ("end", end),
    ("rested", rested),
    ("milliseconds", milliseconds),
    ("now", now),
    ("sleep", crate::modules::sleep),
    ("setTimeout", crate::globals::set_timeout),
];

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let metrics = Metrics::declare(&vu.init.metrics).map_err(|text| js::go_error(ctx, &text))?;
    vu.tasks.set_metrics(metrics);
    PRELUDE.run(ctx, vu, NATIVES)?.into_object().ok_or(rquickjs::Error::Exception)
}

/// `begin(name, tags, outcomes)`: a task's number from now on.
fn begin<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let vu = args.vu;
    if !matches!(vu.phase.get(), Phase::Setup | Phase::Iterations | Phase::Teardown) {
        return Err(args.error("tasks are for setup(), iterations and teardown()"));
    }
    let mut tags = vu.tags.borrow_mut().id(&vu.cache);
    if let Some(given) = args.given(1) {
        tags = vu.cache.extend(tags, crate::js::tags::from_js(args.ctx, &given)?);
    }
    let name = args.given(0).map(|_| args.string(0)).transpose()?;
    let name = name.map(|name| vu.init.secrets.redact(&name).into_owned());
    if let Some(name) = &name {
        tags = vu.cache.with_tag(tags, "flow", name);
    }
    let declared: Vec<String> = match args.given(2) {
        Some(given) => given.get()?,
        None => Vec::new(),
    };
    let declared = declared.iter().map(|outcome| Box::from(&*vu.init.secrets.redact(outcome))).collect();
    match vu.tasks.begin(vu, began(vu), Named { tags, name }, declared) {
        Some(id) => Ok(Value::new_number(args.ctx.clone(), id.into())),
        None => Err(args.error(format!("a VU has at most {} tasks under way", tasks::OPEN_MAX))),
    }
}

/// When the wait for a task began: now, or when it was due. A task that comes first in an iteration of an arrival-rate
/// scenario was due with it, and what the generator was late by is part of what a user would have waited.
fn began(vu: &VuState) -> Instant {
    let due = vu.call.borrow().as_ref().and_then(|call| call.due);
    match due.filter(|due| vu.next_due.get() == Some(*due) && !vu.is_strict()) {
        Some(due) => due,
        None => SystemClock::now(),
    }
}

/// `submitted(id)`: the target has taken it.
fn submitted<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    args.vu.tasks.submitted(args.vu, id_of(args));
    args.undefined()
}

/// `polling(id)`: a poll begins.
fn polling<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    args.vu.tasks.polling(args.vu, id_of(args));
    args.undefined()
}

/// `left()`: the function of the script that submits or polls has returned, though what it began may still be under way.
fn left<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    args.vu.tasks.left();
    args.undefined()
}

/// `answered(id)`: the poll is over; what it says is found out next.
fn answered<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    args.vu.tasks.answered(id_of(args));
    args.undefined()
}

/// `judged(id, isAnswer, isDone)`: what the poll said.
fn judged<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let said = match (js::to_bool(&args.get(1)), js::to_bool(&args.get(2))) {
        (false, _) => Said::Nothing,
        (true, false) => Said::NotYet,
        (true, true) => Said::Done,
    };
    args.vu.tasks.judged(args.vu, id_of(args), said);
    args.undefined()
}

/// `end(id, how, outcome)`: the bounds of its duration in milliseconds, the upper one only where there is one.
fn end<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let how = args.string(1)?;
    let how = End::ALL.iter().copied().find(|end| end.as_str() == how).unwrap_or(End::Failed);
    let outcome = args.given(2).map(|outcome| js::to_string(args.ctx, &outcome)).transpose()?;
    let bounds = Object::new(args.ctx.clone())?;
    if let Some((lower_ms, upper_ms)) = args.vu.tasks.end(args.vu, id_of(args), how, outcome.as_deref()) {
        bounds.set("duration", upper_ms)?;
        bounds.set("durationLower", lower_ms)?;
    }
    Ok(bounds.into_value())
}

/// `rested()`: a pause is over, and the next request is due now.
fn rested<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    args.vu.step_ended();
    args.undefined()
}

/// `milliseconds(text)` of a length of time with its unit; `undefined` for what is none.
fn milliseconds<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let text = args.string(0)?;
    // Bare numbers are milliseconds in k6's options and seconds for sleep(): as texts they are neither.
    let has_unit = text.parse::<f64>().is_err();
    match GoDuration::parse(&text).filter(|_| has_unit) {
        Some(duration) => Ok(Value::new_number(args.ctx.clone(), duration.ns as f64 / 1e6)),
        None => args.undefined(),
    }
}

/// `now()`: milliseconds of a clock that only goes forward.
fn now<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    Ok(Value::new_number(args.ctx.clone(), SystemClock::now().ms_since(Instant::ZERO)))
}

fn id_of(args: &Args<'_, '_>) -> u32 {
    // Numbers of tasks begin at 1.
    args.get(0).as_number().map_or(0, |id| id as u32)
}
