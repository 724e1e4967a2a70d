//! Memory and file descriptors of the process, and CPU time of its machine.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::process::{Resource, getrlimit};

use crate::files::{numbers, text};

/// Descriptors of the process now.
///
/// The folder's size is their number since Linux 6.2; before that it is zero, and counting ten thousand entries each second
/// would be felt.
pub(crate) fn descriptors() -> Option<u64> {
    fs::metadata("/proc/self/fd").ok().map(|folder| folder.size()).filter(|count| *count > 0)
}

/// How many it may have; `None` without a limit.
pub(crate) fn descriptors_max() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// Bytes of the process that are in RAM.
pub(crate) fn resident_bytes() -> Option<u64> {
    let pages = numbers(&text("/proc/self/statm")?).nth(1)?;
    Some(pages.saturating_mul(rustix::param::page_size() as u64))
}

/// CPU time of the machine's cores so far, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cores {
    pub(crate) total: u64,
    pub(crate) idle: u64,
    pub(crate) steal: u64,
}

pub(crate) fn cores() -> Option<Cores> {
    parse_cores(&text("/proc/stat")?)
}

fn parse_cores(text: &str) -> Option<Cores> {
    parse_ticks(text.lines().next()?.strip_prefix("cpu ")?)
}

/// A line: user, nice, system, idle, iowait, irq, softirq, steal, and guests that are in user already (proc(5)).
pub(crate) fn parse_ticks(line: &str) -> Option<Cores> {
    let ticks: Vec<u64> = numbers(line).take(8).collect();
    let [_, _, _, idle, iowait, ..] = ticks[..] else { return None };
    let total = ticks.iter().fold(0u64, |sum, tick| sum.saturating_add(*tick));
    Some(Cores { total, idle: idle.saturating_add(iowait), steal: ticks.get(7).copied().unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_told_apart() {
        let cores = Cores { total: 108, idle: 44, steal: 8 };
        assert_eq!(parse_cores("cpu  10 10 10 40 4 10 16 8 99 99\ncpu0 1\n"), Some(cores));
        assert_eq!(parse_cores("cpu  10 10\n"), None);
        assert_eq!(parse_cores(""), None);
    }

    #[test]
    fn this_process_has_memory_and_descriptors() {
        assert!(resident_bytes().is_some_and(|bytes| bytes > 100_000));
        assert!(descriptors().is_none_or(|count| count >= 3));
    }
}
