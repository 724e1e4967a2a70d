//! The event loop of an iteration: it ends when no promise job, timer or task is left.

use std::future::poll_fn;
use std::rc::Rc;

use futures_util::StreamExt;
use model::SystemClock;
use rquickjs::{Ctx, Value};

use crate::async_groups;
use crate::error::unwind;
use crate::state::VuState;
use crate::state::events::{Completion, TimerCall};
use crate::state::stop::StopReason;

/// The event that woke the loop.
enum Woke {
    Task(Completion),
    Timer,
}

/// Runs the loop until nothing is pending.
///
/// # Errors
/// An exception in a callback, or the VU was cancelled. An unhandled rejection stops the loop too and is
/// left for [`EventLoop::take_rejection`].
pub(crate) fn drive<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<()> {
    let result = drive_on(ctx, vu);
    async_groups::leave(vu);
    result
}

fn drive_on<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<()> {
    loop {
        async_groups::run_jobs(ctx, vu);
        if vu.stop.reason() != StopReason::None {
            return Err(unwind(ctx, &vu.stop, vu.stop.reason()));
        }
        if vu.events.is_idle() || !vu.events.rejections.borrow().is_empty() {
            return Ok(());
        }
        match wait(vu) {
            Err(vu::Interrupted) => return Err(unwind(ctx, &vu.stop, StopReason::Interrupted)),
            Ok(Woke::Task(completion)) => completion(ctx)?,
            Ok(Woke::Timer) => {
                if let Some(timer) = vu.events.take_timer(SystemClock::now()) {
                    async_groups::resume(vu, timer.group.as_ref());
                    call(ctx, timer)?;
                }
            }
        }
    }
}

fn wait(vu: &Rc<VuState>) -> Result<Woke, vu::Interrupted> {
    let next_timer = vu.events.next_timer();
    if next_timer.is_some_and(|at| at <= SystemClock::now()) {
        return Ok(Woke::Timer);
    }
    vu::block_on(async {
        // Nothing adds tasks meanwhile, because the VU's one stack waits here.
        let task = poll_fn(|cx| vu.events.tasks.borrow_mut().poll_next_unpin(cx));
        let timer = async {
            match next_timer {
                Some(at) => tokio::time::sleep(at.since(SystemClock::now())).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(completion) = task => Woke::Task(completion),
            () = timer => Woke::Timer,
        }
    })
}

fn call<'js>(ctx: &Ctx<'js>, timer: TimerCall) -> rquickjs::Result<()> {
    let callback = timer.callback.restore(ctx)?;
    let mut args = rquickjs::function::Args::new(ctx.clone(), timer.arguments.len());
    for argument in timer.arguments {
        args.push_arg(argument.restore(ctx)?)?;
    }
    vu::preempt::in_engine(|| callback.call_arg::<Value<'js>>(args)).map(drop)
}
