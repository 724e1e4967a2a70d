//! One VU's JavaScript: its runtime, its limits, its modules.

use std::rc::Rc;
use std::sync::atomic::Ordering;

use rquickjs::{Context, Runtime};

use crate::error::ScriptError;
use crate::host::REGISTRY;
use crate::js::VuHandle;
use crate::loader::{HostLoader, HostResolver};
use crate::state::VuState;

/// Share of a coroutine's stack that JavaScript may use; the rest is for the natives it calls.
const STACK_SHARE: (usize, usize) = (3, 4);

/// The engine looks for garbage when the heap has grown to this; its own default.
const GC_THRESHOLD_BYTES_MIN: usize = 256 << 10;

/// VU 0 may have loaded what no other VU does; then its heap says nothing about theirs.
const GC_THRESHOLD_BYTES_MAX: usize = 4 << 20;

/// A runtime with one context. Freed in order: what holds JavaScript values goes before the runtime.
pub(crate) struct Vm {
    pub(crate) state: Rc<VuState>,
    /// Has the end of a slice interrupt the engine; it points into the context.
    _countdown: Option<vu::slices::Countdown>,
    pub(crate) context: Context,
    runtime: Runtime,
}

impl Vm {
    /// Makes the runtime; must be called on the coroutine that will run it.
    pub(crate) fn new(state: Rc<VuState>) -> Result<Vm, ScriptError> {
        let host = |error: rquickjs::Error| crate::error::host(&error, &state.stop);
        let runtime =
            Runtime::new_with_alloc(crate::js::heap::Heap::new(state.stop.memory.clone())).map_err(host)?;
        runtime.set_gc_threshold(gc_threshold_bytes(state.init.heap_bytes.load(Ordering::Relaxed)));
        if let Some(stack_bytes) = vu::stack_bytes() {
            runtime.set_max_stack_size(stack_bytes / STACK_SHARE.1 * STACK_SHARE.0);
        }
        runtime.set_loader(HostResolver(state.clone()), HostLoader(state.clone()));
        let for_interrupts = state.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || for_interrupts.must_stop())));
        let for_rejections = state.clone();
        runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, handled| {
            let track = || for_rejections.events.track_rejection(&ctx, promise, reason, handled);
            vu::preempt::out_of_engine(track);
        })));
        let has_all_parts = state.init.has_all_parts.load(Ordering::Relaxed);
        let (context, parts) = crate::js::intrinsics::context(&runtime, has_all_parts).map_err(host)?;
        state.parts.set(parts);
        context
            .with(|ctx| {
                ctx.store_userdata(VuHandle { vu: state.clone(), registry: &REGISTRY })
                    .map_err(|_| rquickjs::Error::Unknown)?;
                crate::globals::install(&ctx, &state)
            })
            .map_err(host)?;
        crate::js::code::set_engine_code();
        let countdown = context.with(|ctx| crate::js::countdown(&ctx));
        Ok(Vm { state, _countdown: countdown, context, runtime })
    }

    /// Bytes that the engine has allocated. Counting them visits every object, so this is not for every VU.
    pub(crate) fn heap_bytes(&self) -> usize {
        usize::try_from(self.runtime.memory_usage().malloc_size).unwrap_or(0)
    }
}

/// Where a VU first looks for garbage, given the heap of one whose init has run. Half as much again is where the engine
/// would look next, had it looked at the end of init. On the way there it would look five times at a heap of 1 MB, and find
/// nothing: what init makes, it keeps. That was a fifth of a big VU's start.
fn gc_threshold_bytes(heap_bytes: usize) -> usize {
    heap_bytes.saturating_add(heap_bytes / 2).clamp(GC_THRESHOLD_BYTES_MIN, GC_THRESHOLD_BYTES_MAX)
}

impl Drop for Vm {
    fn drop(&mut self) {
        self.state.forget_values();
        self.context.with(|ctx| {
            let _ = ctx.remove_userdata::<VuHandle>();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{MemoryAccount, MemoryLimits, MemoryPool};

    #[test]
    fn the_engines_count_is_where_it_is_looked_for() {
        // On the coroutine: the engine takes the stack that it is made on for its own.
        let has_count = vu::coroutine(256 * 1024, || {
            let context = Context::full(&Runtime::new().unwrap()).unwrap();
            context.with(|ctx| crate::js::countdown(&ctx).is_some())
        });
        let async_runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert!(async_runtime.block_on(has_count).unwrap());
    }

    /// Bytes that a runtime with so many contexts has from the allocator.
    fn held_bytes(contexts: usize) -> usize {
        let limits = MemoryLimits { vu_bytes: 1 << 40, process_bytes: 1 << 40 };
        let account = MemoryAccount::new(MemoryPool::new(limits));
        let runtime = Runtime::new_with_alloc(crate::js::heap::Heap::new(account.clone())).unwrap();
        let contexts: Vec<Context> = (0..contexts).map(|_| Context::full(&runtime).unwrap()).collect();
        let held_bytes = account.held_bytes();
        drop(contexts);
        held_bytes
    }

    /// The figures of decision 0026.
    #[test]
    fn the_engines_own_memory_is_what_it_was() {
        let of = [0, 1, 2, 8].map(held_bytes);
        println!("bytes of 0, 1, 2 and 8 contexts in a runtime: {of:?}");
        assert!(
            of[1] < 140_000,
            "{of:?}: have the engine ask for short blocks, too: when rquickjs-sys is compiled, CPATH must lead to \
             crates/script/engine, as .cargo/config.toml says (`cargo clean -p rquickjs-sys` compiles it anew)"
        );
        assert!(of[2] - of[1] < 70_000, "{of:?}");
    }

    #[test]
    fn garbage_is_looked_for_beyond_what_init_keeps() {
        let check = |heap_bytes: usize, expect: usize| {
            assert_eq!(gc_threshold_bytes(heap_bytes), expect, "{heap_bytes}");
        };
        check(0, 256 << 10);
        check(100 << 10, 256 << 10);
        check(1 << 20, 3 << 19);
        check(100 << 20, 4 << 20);
        check(usize::MAX, 4 << 20);
    }
}
