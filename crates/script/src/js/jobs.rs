//! The engine's queue of jobs, as far as groups need it: see [`crate::async_groups`].

use rquickjs::{Ctx, Value, qjs};

use super::{to_string, vu_if_any};

/// From now on a job that names the current group is queued before whatever a fulfilled promise resumes.
pub(crate) fn hook_resolved_promises(ctx: &Ctx<'_>) {
    unsafe extern "C" fn hook(
        ctx: *mut qjs::JSContext,
        kind: qjs::JSPromiseHookType,
        _promise: qjs::JSValue,
        _parent: qjs::JSValue,
        _opaque: *mut std::ffi::c_void,
    ) {
        if kind != qjs::JSPromiseHookType_JS_PROMISE_HOOK_RESOLVE {
            return;
        }
        let Some(ctx) = std::ptr::NonNull::new(ctx) else { return };
        // SAFETY: the engine calls with a live context, which is counted for as long as it is looked at.
        let ctx = unsafe { Ctx::from_raw(ctx) };
        let Some(group) = vu_if_any(&ctx).map(|vu| vu.tags.borrow().group()) else { return };
        // Without memory for a job the engine has no more for the promise's own.
        let _ = enqueue_group(&ctx, &group);
    }
    // SAFETY: the runtime is alive, the function has the hook's type and needs nothing from the opaque pointer.
    unsafe {
        let runtime = qjs::JS_GetRuntime(ctx.as_raw().as_ptr());
        qjs::JS_SetPromiseHook(runtime, Some(hook), std::ptr::null_mut());
    }
}

/// Queues a job that says of the next one that it belongs to this group.
pub(crate) fn enqueue_group<'js>(ctx: &Ctx<'js>, group: &str) -> rquickjs::Result<()> {
    unsafe extern "C" fn job(
        ctx: *mut qjs::JSContext,
        count: std::ffi::c_int,
        arguments: *mut qjs::JSValue,
    ) -> qjs::JSValue {
        let context = std::ptr::NonNull::new(ctx).filter(|_| count == 1);
        if let Some(ctx) = context {
            // SAFETY: the engine calls with a live context, and with the one argument that the job was queued with, which
            // stays its own: a count is taken for the value.
            let (ctx, group) = unsafe {
                let ctx = Ctx::from_raw(ctx);
                let group = Value::from_raw(ctx.clone(), qjs::JS_DupValue(ctx.as_raw().as_ptr(), *arguments));
                (ctx, group)
            };
            if let (Some(vu), Ok(group)) = (vu_if_any(&ctx), to_string(&ctx, &group)) {
                vu.async_groups.set_next(group.into());
            }
        }
        qjs::JS_UNDEFINED
    }
    let group = rquickjs::String::from_str(ctx.clone(), group)?.into_value();
    let mut arguments = [group.as_raw()];
    // SAFETY: the argument belongs to `ctx`, and the engine takes a count of its own.
    let status = unsafe { qjs::JS_EnqueueJob(ctx.as_raw().as_ptr(), Some(job), 1, arguments.as_mut_ptr()) };
    if status < 0 { Err(rquickjs::Error::Exception) } else { Ok(()) }
}
