//! The memory that a process may use: the machine's, or less where its cgroup has a limit.

use crate::files::text;

/// Bytes of RAM that the process may use; `None` where the kernel reports neither.
pub fn usable_memory_bytes() -> Option<u64> {
    let machine = text("/proc/meminfo").and_then(|text| total(&text));
    let own = text("/proc/self/cgroup").unwrap_or_default();
    let limits = candidates(&own).into_iter().filter_map(|path| text(path)?.trim().parse().ok());
    limits.chain(machine).min()
}

fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Files with limits, by `/proc/self/cgroup`: of version 2 in the group and all groups above it, each of which limits it too;
/// then of version 1. A container sees its own group at the root (cgroups(7)). A file without a limit holds a word, or a number
/// beyond any memory.
fn candidates(own: &str) -> Vec<String> {
    let path_of = |has: &dyn Fn(&str) -> bool| {
        let mut parts = own.lines().map(|line| line.splitn(3, ':').collect::<Vec<_>>());
        parts.find(|parts| parts.len() == 3 && has(parts[1])).map(|parts| parts[2].to_owned())
    };
    let unified = path_of(&|controllers| controllers.is_empty()).unwrap_or_default();
    let memory =
        path_of(&|controllers| controllers.split(',').any(|one| one == "memory")).unwrap_or_default();
    let above = |path: &str| -> Vec<String> {
        let ends = path.match_indices('/').map(|(end, _)| path[..end].to_owned());
        ends.chain([path.trim_end_matches('/').to_owned()]).collect()
    };
    let second = above(&unified).into_iter().map(|group| format!("/sys/fs/cgroup{group}/memory.max"));
    let first =
        above(&memory).into_iter().map(|group| format!("/sys/fs/cgroup/memory{group}/memory.limit_in_bytes"));
    second.chain(first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_looked_for_in_all_groups_above() {
        let paths = candidates("4:memory:/docker/x\n0::/a.slice/b\n");
        let expect = [
            "/sys/fs/cgroup/memory.max",
            "/sys/fs/cgroup/a.slice/memory.max",
            "/sys/fs/cgroup/a.slice/b/memory.max",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes",
        ];
        assert_eq!(paths, expect);
    }

    #[test]
    fn a_machine_has_memory() {
        assert_eq!(total("MemTotal:       16302000 kB\nMemFree: 1 kB\n"), Some(16_302_000 * 1024));
        assert!(usable_memory_bytes().is_some_and(|bytes| bytes > 1 << 20));
    }
}
