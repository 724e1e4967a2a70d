//! Preemption: a call of the script engine's own code gives the thread away, too, though it never asks whether it may go on.
//!
//! An engine asks between two operations of a script, and one operation may be a search through four thousand million holes of
//! an array. Where a slice goes on after its end, the signal that ended it comes again. If it interrupts the engine's machine
//! code, its handler suspends the coroutine then and there, as the kernel would suspend a thread: the interrupted frames
//! stay on the coroutine's own stack, and the return from the handler continues them.
//!
//! Between the coroutine's frames and the thread's other coroutines lies only what the thread shares: borrowed cells and locks of
//! the host, and the allocator. None of them is held where the interrupted instruction is the engine's and the engine
//! was called [by the script](in_engine), not [by a function of the host](out_of_engine).
#![expect(unsafe_code, reason = "reads what a signal has interrupted; each block states its invariant")]

use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::coroutine;

/// The C library's comparison of bytes, and what lies behind it: functions that look at texts and keep nothing. Sorts of texts spend
/// a quarter of their time there.
const COMPARISON_BYTES: usize = 2 << 10;

/// The engine's machine code, from the first address to the one after the last; empty until it is known.
static CODE_START: AtomicUsize = AtomicUsize::new(0);
static CODE_END: AtomicUsize = AtomicUsize::new(0);

/// Sets where the engine's machine code lies.
///
/// # Safety
/// All functions there are the engine's. They share nothing with other threads or coroutines but through calls of functions
/// that lie elsewhere, such as the allocator.
pub unsafe fn set_engine_code(code: Range<usize>) {
    CODE_START.store(code.start, Ordering::Relaxed);
    CODE_END.store(code.end, Ordering::Relaxed);
}

/// Calls the engine on behalf of a script: from here on the running coroutine may be suspended wherever it is in the engine's
/// own code. The caller holds nothing that other coroutines of its thread could need.
#[inline]
pub fn in_engine<R>(call: impl FnOnce() -> R) -> R {
    let _restored = coroutine::Mode::enter(true);
    call()
}

/// Runs a function of the host that a script has called: calls of the engine below it do not give the thread away.
#[inline]
pub fn out_of_engine<R>(call: impl FnOnce() -> R) -> R {
    let _restored = coroutine::Mode::enter(false);
    call()
}

/// Gives the thread away if the signal has interrupted the engine's own code.
///
/// # Safety
/// To be called by the handler of a signal alone, with its last argument.
pub(crate) unsafe fn leave_engine(context: *mut c_void) {
    // SAFETY: promised by the caller.
    if !unsafe { Place::interrupted(context) }.is_some_and(|place| place.is_engines()) {
        return;
    }
    // The interrupted code may be about to read it.
    // SAFETY: it is the calling thread's own number.
    let errno = unsafe { *libc::__errno_location() };
    coroutine::preempt();
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// Where a signal has interrupted the thread.
struct Place {
    instruction: usize,
    /// Where the function returns to, if it has put nothing on the stack: such as one that compares bytes.
    returns_to: usize,
}

impl Place {
    /// # Safety
    /// As of [`leave_engine`].
    unsafe fn interrupted(context: *mut c_void) -> Option<Place> {
        let context = context.cast::<libc::ucontext_t>();
        // SAFETY: the kernel gives a handler a context of this type, which no other code refers to.
        let machine = &unsafe { context.as_ref() }?.uc_mcontext;
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        return {
            let register = |number: libc::c_int| machine.gregs[number as usize] as usize;
            let stack = register(libc::REG_RSP) as *const usize;
            // SAFETY: the interrupted function's stack begins there, and no stack begins at its end.
            let returns_to = unsafe { stack.read() };
            Some(Place { instruction: register(libc::REG_RIP), returns_to })
        };
        #[cfg(all(target_os = "linux", target_arch = "aarch64"))]
        return Some(Place { instruction: machine.pc as usize, returns_to: machine.regs[30] as usize });
        #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
        return {
            let _ = machine;
            None
        };
    }

    fn is_engines(&self) -> bool {
        let code = CODE_START.load(Ordering::Relaxed)..CODE_END.load(Ordering::Relaxed);
        let comparison = libc::memcmp as *const () as usize;
        let comparison = comparison..comparison + COMPARISON_BYTES;
        code.contains(&self.instruction)
            || (comparison.contains(&self.instruction) && code.contains(&self.returns_to))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;
    use std::sync::atomic::AtomicU64;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;
    use crate::{LeftBehind, Workers, coroutine, yield_now};

    const STACK: usize = 256 * 1024;

    // Stands for the engine: it looks at a number until that is zero, and asks no other code.
    // Global, because the tests may be in another unit of code than these instructions.
    #[cfg(target_arch = "x86_64")]
    std::arch::global_asm!(
        ".globl plimsoll_test_spin",
        ".globl plimsoll_test_spin_end",
        "plimsoll_test_spin:",
        "2:",
        "cmp qword ptr [rdi], 0",
        "jne 2b",
        "ret",
        "plimsoll_test_spin_end:",
    );
    #[cfg(target_arch = "aarch64")]
    std::arch::global_asm!(
        ".globl plimsoll_test_spin",
        ".globl plimsoll_test_spin_end",
        "plimsoll_test_spin:",
        "2:",
        "ldr x1, [x0]",
        "cbnz x1, 2b",
        "ret",
        "plimsoll_test_spin_end:",
    );

    unsafe extern "C" {
        #[link_name = "plimsoll_test_spin"]
        fn spin(left: *const Cell<u64>);
        #[link_name = "plimsoll_test_spin_end"]
        fn spin_end();
    }

    /// Runs `make` on a worker whose engine is [`spin`].
    fn on_worker<T: Send + 'static, F: Future<Output = T> + 'static>(
        make: impl FnOnce() -> F + Send + 'static,
    ) -> T {
        // SAFETY: these are the function's instructions, which share nothing.
        unsafe { set_engine_code(spin as *const () as usize..spin_end as *const () as usize) };
        let workers = Workers::start(1).unwrap();
        let (sender, results) = channel();
        workers.spawn(0, move || async move { sender.send(make().await).unwrap() });
        let result = results.recv_timeout(Duration::from_secs(60)).unwrap();
        workers.join();
        result
    }

    #[test]
    fn calls_that_ask_nobody_take_turns() {
        let log = on_worker(|| async {
            let log = Rc::new(RefCell::new(Vec::new()));
            let left = Rc::new([Cell::new(1), Cell::new(1)]);
            let spinning = [0, 1].map(|index| {
                let (log, left) = (log.clone(), left.clone());
                tokio::task::spawn_local(coroutine(STACK, move || {
                    // SAFETY: an own number, to see that it comes back as it was.
                    unsafe { *libc::__errno_location() = 100 + index as i32 };
                    let errno = in_engine(|| unsafe {
                        spin(&raw const left[index]);
                        *libc::__errno_location()
                    });
                    log.borrow_mut().push((index, errno));
                }))
            });
            // Each of these is served while both spin.
            for _ in 0..5 {
                crate::timer::sleep_until(model::SystemClock::now() + Duration::from_millis(5)).await;
                assert!(log.borrow().is_empty());
            }
            left[1].set(0);
            let [first, second] = spinning;
            second.await.unwrap().unwrap();
            left[0].set(0);
            first.await.unwrap().unwrap();
            log.take()
        });
        assert_eq!(log, [(1, 101), (0, 100)]);
    }

    #[test]
    fn functions_of_the_host_keep_the_thread() {
        let order = on_worker(|| async {
            let order = Rc::new(RefCell::new(Vec::new()));
            let (of_host, of_other) = (order.clone(), order.clone());
            let number: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(1)));
            // Several slices later.
            std::thread::spawn(|| {
                std::thread::sleep(Duration::from_millis(12));
                number.store(0, Ordering::Relaxed);
            });
            let host = tokio::task::spawn_local(coroutine(STACK, move || {
                in_engine(|| {
                    out_of_engine(|| {
                        let borrowed = of_host.borrow_mut();
                        // SAFETY: the number outlives the call.
                        unsafe { spin(number.as_ptr().cast()) };
                        drop(borrowed);
                    });
                    of_host.borrow_mut().push("host");
                });
            }));
            let other = tokio::task::spawn_local(async move { of_other.borrow_mut().push("other") });
            host.await.unwrap().unwrap();
            other.await.unwrap();
            order.take()
        });
        assert_eq!(order, ["host", "other"]);
    }

    #[test]
    fn one_that_is_called_off_and_does_not_end_is_left_behind() {
        let (is_left, others) = on_worker(|| async {
            // Leaked with the stack that waits for it.
            let left: &'static Cell<u64> = Box::leak(Box::new(Cell::new(1)));
            let stuck = coroutine(STACK, move || in_engine(|| unsafe { spin(left) }));
            let interrupter = stuck.interrupter();
            let stuck = tokio::task::spawn_local(stuck);
            crate::timer::sleep_until(model::SystemClock::now() + Duration::from_millis(10)).await;
            interrupter.interrupt();
            let is_left = stuck.await.unwrap().is_err_and(|payload| payload.is::<LeftBehind>());
            let other = coroutine(STACK, || {
                yield_now();
                crate::suspensions()
            });
            (is_left, tokio::task::spawn_local(other).await.unwrap().unwrap())
        });
        assert!(is_left);
        assert_eq!(others, 1);
    }
}
