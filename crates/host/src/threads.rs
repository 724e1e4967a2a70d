//! How much of a core each thread of the process had, and how long it waited for one.

use std::fs;

use crate::files::{numbers, text};

/// Threads that are looked at; further ones are left out.
const THREADS_MAX: usize = 4096;

/// A thread of the process.
#[derive(Debug)]
pub(crate) struct Thread {
    /// The number of the worker it is; `None` for any other.
    pub(crate) worker: Option<u16>,
    id: String,
}

/// CPU and scheduling times of a thread so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    /// On a core, nanoseconds.
    pub(crate) run_ns: u64,
    /// Ready to run and without a core, nanoseconds.
    pub(crate) delay_ns: u64,
}

/// The threads that there are now.
pub(crate) fn all() -> Vec<Thread> {
    let Ok(entries) = fs::read_dir("/proc/self/task") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let thread = |id: String| {
        let name = text(format!("/proc/self/task/{id}/comm")).unwrap_or_default();
        Thread { worker: worker(&name), id }
    };
    ids.take(THREADS_MAX).map(thread).collect()
}

/// The number in a worker thread's name.
fn worker(name: &str) -> Option<u16> {
    name.trim_end().strip_prefix("worker-")?.parse().ok()
}

impl Thread {
    /// Reads the times so far; `None` once the thread has ended, or where the kernel does not count them.
    pub(crate) fn times(&self) -> Option<Times> {
        schedstat(&text(format!("/proc/self/task/{}/schedstat", self.id))?)
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }
}

/// The first two of three numbers (Documentation/scheduler/sched-stats.rst).
fn schedstat(text: &str) -> Option<Times> {
    let mut numbers = numbers(text);
    Some(Times { run_ns: numbers.next()?, delay_ns: numbers.next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_known_by_its_name_and_its_times_by_their_order() {
        assert_eq!(worker("worker-12\n"), Some(12));
        assert_eq!(worker("plimsoll\n"), None);
        assert_eq!(schedstat("120 34 5\n"), Some(Times { run_ns: 120, delay_ns: 34 }));
        assert_eq!(schedstat("120\n"), None);
    }

    #[test]
    fn this_thread_has_used_a_core() {
        let busy_until = model::SystemClock::now() + std::time::Duration::from_millis(5);
        while model::SystemClock::now() < busy_until {}
        let run_ns: u64 = all().iter().filter_map(Thread::times).map(|times| times.run_ns).sum();
        assert!(run_ns > 1_000_000, "{run_ns}");
    }
}
