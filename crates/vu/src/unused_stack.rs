//! Memory of a stack below the frames in use, returned to the kernel.
#![expect(unsafe_code, reason = "the range holds no frame; the block states why")]

/// Memory below the caller's frame that stays: the red zone, and the frames of the calls made here.
const KEPT_BYTES: usize = 4096;

/// Returns the pages between `start`, the lowest address of the stack that the caller runs on, and the frames in use.
#[cfg(target_os = "linux")]
pub(crate) fn release(start: usize) {
    let here = std::ptr::from_ref(&start).addr();
    // SAFETY: asks for a number only.
    let page_bytes = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(KEPT_BYTES);
    let end = here.saturating_sub(KEPT_BYTES) / page_bytes * page_bytes;
    let Some(length) = end.checked_sub(start).filter(|length| *length > 0) else { return };
    // SAFETY: stacks grow down, so no frame lies in the range while this call is made on top of them. A signal handler that runs
    // before or after the call has its own frames there only while it runs.
    unsafe { libc::madvise(std::ptr::with_exposed_provenance_mut(start), length, libc::MADV_DONTNEED) };
}

/// Elsewhere the pages stay.
#[cfg(not(target_os = "linux"))]
pub(crate) fn release(_start: usize) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::hint::black_box;

    const STACK_BYTES: usize = 1 << 20;

    const LEVELS: usize = 300;

    /// Uses at least a quarter of a kilobyte of stack for each level.
    fn go_down(levels: usize) -> usize {
        let frame = black_box([levels; 32]);
        if levels == 0 { frame[0] } else { go_down(levels - 1) + black_box(frame)[1] }
    }

    /// Pages of the caller's stack that are in memory, from 900 KB below its frame up to the frame.
    fn resident_pages() -> usize {
        let mut pages = [0u8; 225];
        let here = std::ptr::from_ref(&pages).addr() / 4096 * 4096;
        let start = here - pages.len() * 4096;
        // SAFETY: the range lies within the stack, and there is a byte for each page.
        let status = unsafe {
            let start = std::ptr::with_exposed_provenance_mut(start);
            libc::mincore(start, pages.len() * 4096, pages.as_mut_ptr())
        };
        assert_eq!(status, 0);
        pages.iter().filter(|page| **page & 1 == 1).count()
    }

    #[test]
    fn a_deep_call_leaves_nothing_behind() {
        let body = || {
            let kept = black_box([7u8; 2000]);
            let sum = go_down(LEVELS);
            let deep = resident_pages();
            crate::release_stack();
            let after = resident_pages();
            assert!(kept.iter().all(|byte| *byte == 7), "frames in use stay");
            assert_eq!(go_down(LEVELS), sum, "the stack can be used again");
            (deep, after)
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (deep, after) = runtime.block_on(crate::coroutine(STACK_BYTES, body)).unwrap();
        assert!(deep > 15, "{deep}");
        assert!(after <= 3, "{after} of {deep} pages");
    }

    #[test]
    fn outside_of_a_coroutine_nothing_happens() {
        let kept = black_box([7u8; 2000]);
        crate::release_stack();
        assert!(kept.iter().all(|byte| *byte == 7));
    }
}
