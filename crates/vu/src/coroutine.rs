//! The coroutine as a future, and blocking inside it.
#![expect(unsafe_code, reason = "switching stacks; each block states its invariant")]

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::ptr::NonNull;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{CoroutineResult, Yielder};
use model::Instant;

use crate::slices::{self, SLICE_MAX};
use crate::turns::{self, Place};

type Inner<T> = corosensei::Coroutine<(), (), std::thread::Result<T>, DefaultStack>;

/// Stacks kept per thread for the next coroutine of the same size.
const SPARE_STACKS_MAX: usize = 64;

/// How much of a suspended stack is asked for before it runs: the frames that a response comes back through.
#[cfg(target_arch = "x86_64")]
const FETCHED_BYTES: usize = 3072;

/// Of that, the part below the wait: the frame that suspends.
#[cfg(target_arch = "x86_64")]
const FETCHED_BELOW_BYTES: usize = 256;

thread_local! {
    /// The coroutine running on this thread now; null outside of one.
    static CURRENT: Cell<*const State> = const { Cell::new(std::ptr::null()) };
    static SPARE_STACKS: RefCell<Vec<(usize, DefaultStack)>> = const { RefCell::new(Vec::new()) };
}

/// State shared by a coroutine and its owners.
#[derive(Default)]
pub(crate) struct State {
    interrupted: Cell<bool>,
    /// How often it gave the thread away.
    suspensions: Cell<u64>,
    /// When its present slice was first asked about; `None` since it was resumed.
    slice_started: Cell<Option<Instant>>,
    /// Where it stands in the queue of those that compute, since it last gave the thread away without waiting.
    place: Cell<Place>,
    /// The number that the end of a slice sets; see [`crate::slices::Countdown`].
    count: Cell<Option<NonNull<c_int>>>,
    /// Whether the engine computes on behalf of the script: then the coroutine may be suspended in the middle of it.
    in_engine: Cell<bool>,
    /// Whether it is suspended there, and how often it was since it was called off.
    is_preempted: Cell<bool>,
    preempted_since_called_off: Cell<u32>,
    /// Wakes the task that polls the coroutine.
    waker: RefCell<Option<Waker>>,
    /// Set while the coroutine waits for a future, which lies on its stack.
    wait: Cell<Option<NonNull<dyn Wait>>>,
    /// Set once the body has begun: how to suspend it.
    yielder: Cell<Option<NonNull<Yielder<(), ()>>>>,
    stack_bytes: usize,
    /// The stack's lowest address.
    stack_limit: usize,
}

/// The error of a [`block_on`] that was called off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// The payload of a coroutine that was called off and went on within one call of the engine: its stack and all that it holds stay
/// where they are until the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftBehind;

/// Slices that a coroutine has after it was called off to end a call of the engine, half a second of computing.
const LAST_SLICES_MAX: u32 = 200;

/// A body on a stack of its own, as a future of what it returns. `Err` holds the payload of a panic, or [`LeftBehind`].
pub struct Coroutine<T> {
    inner: ManuallyDrop<Inner<T>>,
    state: Rc<State>,
}

/// Makes a coroutine; `body` begins at the first poll.
///
/// # Panics
/// No memory mapping is left for the stack; [`crate::coroutines_max`] gives the maximum number of coroutines.
pub fn coroutine<T: 'static>(stack_bytes: usize, body: impl FnOnce() -> T + 'static) -> Coroutine<T> {
    let stack = take_stack(stack_bytes);
    let state = Rc::new(State { stack_bytes, stack_limit: stack.limit().get(), ..State::default() });
    let inside = state.clone();
    let inner = Inner::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
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

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("stack_bytes", &self.stack_bytes).finish_non_exhaustive()
    }
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
        state.fetch_stack();
        state.remember_waker(context);
        // What is ready at once ends no slice: a body that waits only for such things computes all the same.
        let _slice = slices::Slice::begin();
        state.slice_started.set(None);
        if state.is_beyond_its_last_slice() {
            return Poll::Ready(Err(Box::new(LeftBehind)));
        }
        loop {
            if !state.has_turn() || state.poll_wait(context).is_pending() {
                break;
            }
            let _running = Running::enter(&state);
            match self.inner.resume(()) {
                CoroutineResult::Yield(()) if state.wait.get().is_some() => {}
                CoroutineResult::Yield(()) => {
                    turns::end_round();
                    break;
                }
                CoroutineResult::Return(result) => return Poll::Ready(result),
            }
        }
        state.suspensions.set(state.suspensions.get() + 1);
        Poll::Pending
    }
}

impl<T> Drop for Coroutine<T> {
    fn drop(&mut self) {
        // A suspended coroutine has C frames on its stack that must not be unwound and must not be freed under the
        // values that live there. It is leaked: this happens only to one that was left behind, and when a process ends with
        // VUs still running.
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

    /// Asks the processor for the part of the stack that the body will run on, if it goes on.
    ///
    /// Between two turns of a coroutine a hundred others have had the caches. The answer comes while the wait is polled,
    /// which mostly means a system call.
    fn fetch_stack(&self) {
        #[cfg(target_arch = "x86_64")]
        if let Some(wait) = self.wait.get() {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let first = wait.as_ptr().cast::<i8>().wrapping_sub(FETCHED_BELOW_BYTES);
            for offset in (0..FETCHED_BYTES).step_by(64) {
                // SAFETY: a prefetch reads nothing and cannot fault, wherever it points.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(offset)) };
            }
        }
    }

    /// Whether it may go on as far as the queue is concerned. Other events than its turn may wake it; one that was called
    /// off need not wait to hear of that.
    fn has_turn(&self) -> bool {
        self.place.get().has_come() || self.interrupted.get()
    }

    /// Gives the thread away until its turn among those that compute.
    fn wait_for_turn(&self) {
        let waker = self.waker.borrow().clone();
        if let Some(waker) = waker {
            self.place.set(turns::join_computing(&waker));
        }
        self.suspend();
        self.place.set(Place::default());
    }

    /// Whether it has been called off, and had its last slices within one call of the engine.
    fn is_beyond_its_last_slice(&self) -> bool {
        if !self.is_preempted.get() || !self.interrupted.get() {
            self.preempted_since_called_off.set(0);
            return false;
        }
        let slices = self.preempted_since_called_off.get() + 1;
        self.preempted_since_called_off.set(slices);
        slices > LAST_SLICES_MAX
    }

    fn suspend(&self) {
        let yielder = self.yielder.get().expect("only the running body suspends itself");
        // SAFETY: the yielder lives on this coroutine's stack from its first instruction to its last, and `yielder`
        // is set for exactly that time; we are running on that stack.
        unsafe { yielder.as_ref() }.suspend(());
    }

    /// Polls what the coroutine waits for; ready when there is nothing to wait for (any more).
    ///
    /// This happens on the stack of the coroutine's poller and not on the coroutine's own: that stack is shared by
    /// all coroutines of the thread, so it is in the processor's cache, and a hundred others are not.
    fn poll_wait(&self, context: &mut Context<'_>) -> Poll<()> {
        let Some(mut wait) = self.wait.get() else { return Poll::Ready(()) };
        // SAFETY: `wait` lies on the stack of this coroutine, which is suspended until it is resumed below us, and is
        // forgotten before that; no other reference to it exists meanwhile.
        let polled = unsafe { wait.as_mut() }.poll(self, context);
        if polled.is_ready() {
            self.wait.set(None);
        }
        polled
    }

    /// Gives the thread away until the future is ready; with `is_deaf`, interrupts do not end the wait.
    fn wait_for<F: Future>(&self, future: Pin<&mut F>, is_deaf: bool) -> Result<F::Output, Interrupted> {
        let mut waiting = Waiting { future, is_deaf, outcome: None };
        let wait: NonNull<dyn Wait + '_> = NonNull::from(&mut waiting);
        // SAFETY: only the lifetime is erased. `waiting` stays where it is until `suspend` returns, and by then the
        // pointer has been forgotten: the coroutine is resumed only after `poll_wait` was ready.
        self.wait
            .set(Some(unsafe { std::mem::transmute::<NonNull<dyn Wait + '_>, NonNull<dyn Wait>>(wait) }));
        self.suspend();
        match waiting.outcome.expect("a coroutine is resumed when its wait is over") {
            Ok(value) => value,
            Err(payload) => resume_unwind(payload),
        }
    }
}

/// A future that a coroutine waits for, whatever its type.
trait Wait {
    /// Ready when the coroutine can go on.
    fn poll(&mut self, state: &State, context: &mut Context<'_>) -> Poll<()>;
}

struct Waiting<'a, F: Future> {
    future: Pin<&'a mut F>,
    is_deaf: bool,
    outcome: Option<std::thread::Result<Result<F::Output, Interrupted>>>,
}

impl<F: Future> Wait for Waiting<'_, F> {
    fn poll(&mut self, state: &State, context: &mut Context<'_>) -> Poll<()> {
        if !self.is_deaf && state.interrupted.get() {
            self.outcome = Some(Ok(Err(Interrupted)));
            return Poll::Ready(());
        }
        // A panic belongs to the body that waits: it goes on there.
        match catch_unwind(AssertUnwindSafe(|| self.future.as_mut().poll(context))) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(value)) => self.outcome = Some(Ok(Ok(value))),
            Err(payload) => self.outcome = Some(Err(payload)),
        }
        Poll::Ready(())
    }
}

/// Marks a coroutine as the running one, for the length of one resume.
struct Running {
    before: *const State,
}

impl Running {
    fn enter(state: &State) -> Running {
        Running { before: CURRENT.replace(state) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
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

/// Runs a future to its end, giving the thread to others while it waits. The future is polled outside of the coroutine,
/// so it must not block itself.
///
/// # Errors
/// The coroutine was called off; the future is dropped.
///
/// # Panics
/// Called outside of a coroutine.
pub fn block_on<F: Future>(future: F) -> Result<F::Output, Interrupted> {
    let future = pin!(future);
    with_current(|state| state.wait_for(future, false)).expect("block_on is called inside a coroutine")
}

/// Like [`block_on`], deaf to interrupts: for waiting between iterations.
///
/// # Panics
/// Called outside of a coroutine.
pub fn block_on_always<F: Future>(future: F) -> F::Output {
    let future = pin!(future);
    let waited = with_current(|state| state.wait_for(future, true));
    waited.expect("block_on_always is called inside a coroutine").expect("it cannot be called off")
}

/// Lets the thread serve its timers and sockets and run the tasks that are ready, and goes on in its turn among the
/// coroutines that compute; does nothing outside of a coroutine.
pub fn yield_now() {
    with_current(State::wait_for_turn);
}

/// Yields as [`yield_now`] does if the coroutine has computed for a slice, given the time. To be asked now and then by
/// everything that may compute for long.
pub fn yield_after_slice(now: Instant) {
    with_current(|state| match state.slice_started.get() {
        _ if slices::is_over() => state.wait_for_turn(),
        None => state.slice_started.set(Some(now)),
        // Beside a machine that is busy the look at the workers may be late.
        Some(started) if now.since(started) >= SLICE_MAX => state.wait_for_turn(),
        Some(_) => {}
    });
}

/// Whether the engine computes on behalf of the script, for as long as this lives.
pub(crate) struct Mode {
    before: bool,
}

impl Mode {
    #[inline]
    pub(crate) fn enter(in_engine: bool) -> Mode {
        Mode { before: with_current(|state| state.in_engine.replace(in_engine)).unwrap_or(false) }
    }
}

impl Drop for Mode {
    #[inline]
    fn drop(&mut self) {
        with_current(|state| state.in_engine.set(self.before));
    }
}

/// Suspends the running coroutine if the engine computes on behalf of its script. For signal handlers that have interrupted the
/// engine's own code.
pub(crate) fn preempt() {
    with_current(|state| {
        if !state.in_engine.get() {
            return;
        }
        state.is_preempted.set(true);
        state.wait_for_turn();
        state.is_preempted.set(false);
    });
}

/// Ends the count of the running coroutine, if it has one. For signal handlers.
pub(crate) fn end_count() {
    let current = CURRENT.get();
    // SAFETY: as in `with_current`; the handler runs within the poll that keeps the state alive, on its thread.
    let count = unsafe { current.as_ref() }.and_then(|state| state.count.get());
    if let Some(count) = count {
        // SAFETY: the giver of the number promised that it lives until it is taken back, and may be written here.
        unsafe { count.as_ptr().write_volatile(1) };
    }
}

/// A number in a coroutine's state that [`end_count`] ends.
#[derive(Debug)]
pub(crate) struct CountSlot {
    state: Rc<State>,
    count: NonNull<c_int>,
}

impl CountSlot {
    pub(crate) fn of_current(count: NonNull<c_int>) -> Option<CountSlot> {
        with_current(|state| {
            let state = std::ptr::from_ref(state);
            // SAFETY: `CURRENT` comes from the `Rc` of a coroutine that is being polled, which holds a count of its own.
            let state = unsafe {
                Rc::increment_strong_count(state);
                Rc::from_raw(state)
            };
            state.count.set(Some(count));
            CountSlot { state, count }
        })
    }

    /// Forgets the number, unless another has replaced it.
    pub(crate) fn clear(&self) {
        if self.state.count.get() == Some(self.count) {
            self.state.count.set(None);
        }
    }
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

/// Returns the unused memory of the running coroutine's stack to the system: loading a script goes deeper than most iterations.
#[cold]
#[inline(never)]
pub fn shrink_stack() {
    with_current(|state| {
        let page_bytes = rustix::param::page_size();
        let from = state.stack_limit.next_multiple_of(page_bytes);
        let here = std::ptr::from_ref(&page_bytes).addr();
        // The call itself goes below this frame.
        let until = here.saturating_sub(page_bytes / 4) / page_bytes * page_bytes;
        if from >= until {
            return;
        }
        // SAFETY: the range is this stack's, below everything that is in use. Frames that come there later need no contents. Where the
        // system refuses, the memory stays.
        unsafe {
            libc::madvise(std::ptr::with_exposed_provenance_mut(from), until - from, libc::MADV_DONTNEED)
        };
    });
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
    fn a_panic_of_a_future_reaches_the_body_that_waits_for_it() {
        let caught = run(|| {
            let wait = || block_on(async { panic!("boom") });
            let payload = catch_unwind(AssertUnwindSafe(wait)).unwrap_err();
            payload.downcast_ref::<&str>().copied()
        });
        assert_eq!(caught.unwrap(), Some("boom"));
    }

    #[test]
    fn a_future_cannot_block() {
        let caught = run(|| block_on(async { block_on(std::future::ready(())).is_ok() }));
        assert!(caught.is_err());
        assert!(!run(|| block_on(async { in_coroutine() })).unwrap().unwrap());
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
    fn a_stack_gives_back_what_only_the_past_has_used() {
        const DEEP_BYTES: usize = 12 << 10;

        /// Fills a part of the stack, and returns its lowest address.
        #[inline(never)]
        fn go_deep() -> usize {
            let filled = std::hint::black_box([7_u8; DEEP_BYTES]);
            filled.as_ptr().expose_provenance()
        }

        let seen = run(|| {
            let kept = std::hint::black_box([5_u8; 100]);
            let address = go_deep();
            // SAFETY: the address is on this stack, which is mapped whole; nothing else runs on it.
            let look = || unsafe { std::ptr::with_exposed_provenance::<u8>(address).read_volatile() };
            let before = look();
            shrink_stack();
            (before, look(), kept == [5; 100], go_deep() == address)
        });
        assert_eq!(seen.unwrap(), (7, 0, true, true));
        shrink_stack();
    }

    #[test]
    fn outside_of_a_coroutine_nothing_is_current() {
        assert!(!in_coroutine());
        assert!(!is_interrupted());
        assert_eq!(stack_bytes(), None);
    }
}
