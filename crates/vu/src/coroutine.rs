//! The coroutine as a future, and blocking inside it.
#![expect(unsafe_code, reason = "switching stacks; each block states its invariant")]

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::ptr::NonNull;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use corosensei::stack::DefaultStack;
use corosensei::{CoroutineResult, Yielder};

type Inner<T> = corosensei::Coroutine<(), (), std::thread::Result<T>, DefaultStack>;

/// Stacks kept per thread for the next coroutine of the same size.
const SPARE_STACKS_MAX: usize = 64;

thread_local! {
    /// The coroutine running on this thread now; null outside of one.
    static CURRENT: Cell<*const State> = const { Cell::new(std::ptr::null()) };
    static SPARE_STACKS: RefCell<Vec<(usize, DefaultStack)>> = const { RefCell::new(Vec::new()) };
}

/// What a coroutine and those who hold it share.
#[derive(Default)]
struct State {
    interrupted: Cell<bool>,
    /// How often it gave the thread away.
    suspensions: Cell<u64>,
    /// Wakes the task that polls the coroutine.
    waker: RefCell<Option<Waker>>,
    /// Set while the coroutine runs: the context of the poll that resumed it, with its lifetime erased.
    context: Cell<Option<NonNull<Context<'static>>>>,
    /// Set once the body has begun: how to suspend it.
    yielder: Cell<Option<NonNull<Yielder<(), ()>>>>,
    stack_bytes: usize,
}

/// The error of a [`block_on`] that was called off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// A body on a stack of its own, as a future of what it returns. `Err` holds the payload of a panic.
pub struct Coroutine<T> {
    inner: ManuallyDrop<Inner<T>>,
    state: Rc<State>,
}

/// Makes a coroutine; `body` begins at the first poll.
///
/// # Panics
/// No memory mapping is left for the stack; [`crate::coroutines_max`] tells how many there are.
pub fn coroutine<T: 'static>(stack_bytes: usize, body: impl FnOnce() -> T + 'static) -> Coroutine<T> {
    let state = Rc::new(State { stack_bytes, ..State::default() });
    let inside = state.clone();
    let inner = Inner::with_stack(take_stack(stack_bytes), move |yielder: &Yielder<(), ()>, ()| {
        inside.yielder.set(Some(NonNull::from(yielder)));
        let result = catch_unwind(AssertUnwindSafe(body));
        inside.yielder.set(None);
        result
    });
    Coroutine { inner: ManuallyDrop::new(inner), state }
}

fn take_stack(stack_bytes: usize) -> DefaultStack {
    let spare = SPARE_STACKS.with_borrow_mut(|spares| {
        let position = spares.iter().position(|(size, _)| *size == stack_bytes)?;
        Some(spares.swap_remove(position).1)
    });
    spare.unwrap_or_else(|| {
        DefaultStack::new(stack_bytes).expect("the kernel has memory mappings left for a stack")
    })
}

impl<T> Coroutine<T> {
    /// A handle that calls the coroutine off from outside.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(self.state.clone())
    }
}

impl<T> Future for Coroutine<T> {
    type Output = std::thread::Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let state = self.state.clone();
        state.remember_waker(context);
        // The context outlives this poll, and `running` forgets it before the poll returns.
        let _running = Running::enter(&state, NonNull::from(context).cast());
        match self.inner.resume(()) {
            CoroutineResult::Yield(()) => Poll::Pending,
            CoroutineResult::Return(result) => Poll::Ready(result),
        }
    }
}

impl<T> Drop for Coroutine<T> {
    fn drop(&mut self) {
        // A suspended coroutine has C frames on its stack that must not be unwound and must not be freed under the
        // values that live there. It is leaked: this happens only when a process ends with VUs still running.
        if self.inner.started() && !self.inner.done() {
            return;
        }
        // SAFETY: taken once, here; nothing reads `inner` after drop.
        let inner = unsafe { ManuallyDrop::take(&mut self.inner) };
        if inner.done() {
            let (stack, size) = (inner.into_stack(), self.state.stack_bytes);
            SPARE_STACKS.with_borrow_mut(|spares| {
                if spares.len() < SPARE_STACKS_MAX {
                    spares.push((size, stack));
                }
            });
        }
    }
}

impl State {
    fn remember_waker(&self, context: &Context<'_>) {
        let mut waker = self.waker.borrow_mut();
        match waker.as_mut() {
            Some(known) => known.clone_from(context.waker()),
            None => *waker = Some(context.waker().clone()),
        }
    }

    fn suspend(&self) {
        self.suspensions.set(self.suspensions.get() + 1);
        let yielder = self.yielder.get().expect("only the running body suspends itself");
        // SAFETY: the yielder lives on this coroutine's stack from its first instruction to its last, and `yielder`
        // is set for exactly that time; we are running on that stack.
        unsafe { yielder.as_ref() }.suspend(());
    }

    fn poll<F: Future>(&self, future: Pin<&mut F>) -> Poll<F::Output> {
        let mut context = self.context.get().expect("a running coroutine was resumed by a poll");
        // SAFETY: `context` is set only while the poll that owns it is below us on the thread's stack, and no other
        // reference to it is used meanwhile: that poll waits in `resume`.
        future.poll(unsafe { context.as_mut() })
    }
}

/// Marks a coroutine as the running one, for the length of one resume.
struct Running<'a> {
    state: &'a State,
    before: *const State,
}

impl<'a> Running<'a> {
    fn enter(state: &'a State, context: NonNull<Context<'static>>) -> Running<'a> {
        state.context.set(Some(context));
        Running { state, before: CURRENT.replace(state) }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.state.context.set(None);
        CURRENT.set(self.before);
    }
}

/// Calls a coroutine off: its [`block_on`] returns `Err` now and until [`clear_interrupt`].
#[derive(Clone)]
pub struct Interrupter(Rc<State>);

impl Interrupter {
    /// Calls it off and wakes it.
    pub fn interrupt(&self) {
        self.0.interrupted.set(true);
        // Taken out first: waking may poll, and polling remembers the waker.
        let waker = self.0.waker.borrow().clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

fn with_current<R>(f: impl FnOnce(&State) -> R) -> Option<R> {
    let current = CURRENT.get();
    if current.is_null() {
        return None;
    }
    // SAFETY: `CURRENT` points to a state that the `poll` below us on this thread keeps alive and resets on its way
    // out; `f` runs within that poll, also when it suspends, because a suspended coroutine does not execute.
    Some(f(unsafe { &*current }))
}

/// Runs a future to its end, giving the thread to others while it waits.
///
/// # Errors
/// The coroutine was called off; the future is dropped.
///
/// # Panics
/// Called outside of a coroutine.
pub fn block_on<F: Future>(future: F) -> Result<F::Output, Interrupted> {
    let mut future = pin!(future);
    with_current(|state| {
        loop {
            if state.interrupted.get() {
                return Err(Interrupted);
            }
            if let Poll::Ready(value) = state.poll(future.as_mut()) {
                return Ok(value);
            }
            state.suspend();
        }
    })
    .expect("block_on is called inside a coroutine")
}

/// Like [`block_on`], deaf to interrupts: for waiting between iterations.
///
/// # Panics
/// Called outside of a coroutine.
pub fn block_on_always<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    with_current(|state| {
        loop {
            if let Poll::Ready(value) = state.poll(future.as_mut()) {
                return value;
            }
            state.suspend();
        }
    })
    .expect("block_on_always is called inside a coroutine")
}

/// Lets every other task of this thread run once; does nothing outside of a coroutine.
pub fn yield_now() {
    with_current(|state| {
        let waker = state.waker.borrow().clone();
        if let Some(waker) = waker {
            waker.wake();
        }
        state.suspend();
    });
}

/// How often the running coroutine has given the thread away; zero outside of one.
pub fn suspensions() -> u64 {
    with_current(|state| state.suspensions.get()).unwrap_or(0)
}

/// Whether the running coroutine was called off.
pub fn is_interrupted() -> bool {
    with_current(|state| state.interrupted.get()).unwrap_or(false)
}

/// Makes the running coroutine blockable again after an interrupt.
pub fn clear_interrupt() {
    with_current(|state| state.interrupted.set(false));
}

/// Whether the caller runs inside a coroutine.
pub fn in_coroutine() -> bool {
    !CURRENT.get().is_null()
}

/// Size of the running coroutine's stack.
pub fn stack_bytes() -> Option<usize> {
    with_current(|state| state.stack_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const STACK: usize = 64 * 1024;

    fn run<T: 'static>(body: impl FnOnce() -> T + 'static) -> std::thread::Result<T> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(coroutine(STACK, body))
    }

    #[test]
    fn blocks_without_blocking_the_thread() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let local = tokio::task::LocalSet::new();
        let log = Rc::new(RefCell::new(Vec::new()));
        for (name, ms) in [("slow", 20), ("quick", 1)] {
            let log = log.clone();
            local.spawn_local(coroutine(STACK, move || {
                block_on(tokio::time::sleep(Duration::from_millis(ms))).unwrap();
                log.borrow_mut().push(name);
            }));
        }
        runtime.block_on(local);
        assert_eq!(*log.borrow(), ["quick", "slow"]);
    }

    #[test]
    fn an_interrupt_ends_the_wait_and_can_be_cleared() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let local = tokio::task::LocalSet::new();
        let waiting = coroutine(STACK, || {
            let first = block_on(std::future::pending::<()>());
            let second = block_on(std::future::ready(()));
            clear_interrupt();
            (first, second, block_on(std::future::ready(())))
        });
        let interrupter = waiting.interrupter();
        let task = local.spawn_local(waiting);
        local.spawn_local(async move { interrupter.interrupt() });
        let result = runtime.block_on(local.run_until(task)).unwrap().unwrap();
        assert_eq!(result, (Err(Interrupted), Err(Interrupted), Ok(())));
    }

    #[test]
    fn a_panic_stays_inside() {
        let payload = run(|| panic!("boom")).unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"boom"));
    }

    #[test]
    fn yielding_lets_others_run() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let local = tokio::task::LocalSet::new();
        let log = Rc::new(RefCell::new(Vec::new()));
        for name in ["a", "b"] {
            let log = log.clone();
            local.spawn_local(coroutine(STACK, move || {
                for turn in 0..2 {
                    log.borrow_mut().push(format!("{name}{turn}"));
                    yield_now();
                    assert_eq!(suspensions(), turn + 1);
                }
            }));
        }
        runtime.block_on(local);
        assert_eq!(*log.borrow(), ["a0", "b0", "a1", "b1"]);
    }

    #[test]
    fn outside_of_a_coroutine_nothing_is_current() {
        assert!(!in_coroutine());
        assert!(!is_interrupted());
        assert_eq!(stack_bytes(), None);
    }
}
