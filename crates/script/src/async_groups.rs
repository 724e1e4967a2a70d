//! Groups that outlast a call: what an async function does after an `await` still belongs to the group that it was started
//! in, as with the feature `async-metric-context` of [k6 v2.3](https://grafana.com/docs/k6/v2.3.x/using-k6/feature-flags/).
//!
//! The engine does not say on whose behalf it runs a job. So the first async group of a VU puts a `then` in place that
//! knows the group in which it was asked for; and because the engine resumes functions by jobs of its own, a job that
//! names the group is queued before each of those. VUs without async groups have none of it.

use std::rc::Rc;
use std::sync::Arc;

use rquickjs::{Ctx, Function, Persistent, Value};

use crate::js::prelude::Prelude;
use crate::js::{Args, NativeFn, jobs};
use crate::state::VuState;

static PRELUDE: Prelude = Prelude::new("k6/group", include_str!("../js/async_groups.js"));

const NATIVES: &[(&str, NativeFn)] = &[("group", group), ("enter", enter)];

/// Has groups follow promises from now on.
pub(crate) fn start<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<()> {
    if vu.async_groups.is_on() {
        return Ok(());
    }
    let made = PRELUDE.run(ctx, vu, NATIVES)?.into_function().ok_or(rquickjs::Error::Exception)?;
    *vu.async_groups.when_settled.borrow_mut() = Some(Persistent::save(ctx, made));
    jobs::hook_resolved_promises(ctx);
    vu.async_groups.is_on.set(true);
    Ok(())
}

/// A promise that is settled as `promise` is, after `settled` was called.
pub(crate) fn when_settled<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    promise: Value<'js>,
    settled: Function<'js>,
) -> rquickjs::Result<Value<'js>> {
    let known = vu.async_groups.when_settled.borrow().clone();
    match known {
        Some(function) => function.restore(ctx)?.call((promise, settled)),
        None => Ok(promise),
    }
}

/// Runs the engine's jobs until there are none, each in its group.
pub(crate) fn run_jobs(ctx: &Ctx<'_>, vu: &VuState) {
    loop {
        leave(vu);
        if !vu::preempt::in_engine(|| ctx.execute_pending_job()) {
            return;
        }
    }
}

/// Goes to the group of what comes next, or to none.
pub(crate) fn leave(vu: &VuState) {
    if !vu.async_groups.is_on() {
        return;
    }
    let next = vu.async_groups.next.borrow_mut().take();
    let mut tags = vu.tags.borrow_mut();
    let group = next.unwrap_or_else(|| tags.outermost_group());
    tags.enter_group(group);
}

/// The group that a callback registered now is to run in; `None` while there are no async groups.
pub(crate) fn current(vu: &VuState) -> Option<Arc<str>> {
    vu.async_groups.is_on().then(|| vu.tags.borrow().group())
}

/// Goes to the group that [`current`] gave.
pub(crate) fn resume(vu: &VuState, group: Option<&Arc<str>>) {
    if let Some(group) = group {
        vu.tags.borrow_mut().enter_group(group.clone());
    }
}

/// `group()`: the current group.
fn group<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let group = args.vu.tags.borrow().group();
    Ok(rquickjs::String::from_str(args.ctx.clone(), &group)?.into_value())
}

/// `enter(group)`: the running job belongs to this group, and so does what it resumes.
fn enter<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let group: Arc<str> = args.string(0)?.into();
    args.vu.tags.borrow_mut().enter_group(group.clone());
    jobs::enqueue_group(args.ctx, &group)?;
    args.undefined()
}
