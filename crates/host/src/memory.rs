//! Memory that the process may use.

use std::path::PathBuf;

use crate::files::{numbers, text};

/// Memory that this process may use, in bytes: the machine's, or the limit of its cgroup or of one above it where that is
/// less. `None` where the kernel reports neither.
pub fn memory_bytes_max() -> Option<u64> {
    let own = text("/proc/self/cgroup").unwrap_or_default();
    let limits = candidates(&own).into_iter().filter_map(|path| numbers(&text(path)?).next());
    limits.chain(machine_bytes(&text("/proc/meminfo").unwrap_or_default())).min()
}

fn machine_bytes(meminfo: &str) -> Option<u64> {
    let kib = meminfo.lines().find_map(|line| numbers(line.strip_prefix("MemTotal:")?).next())?;
    Some(kib.saturating_mul(1024))
}

/// Files with a limit, by `/proc/self/cgroup`: of the group and of all above it, in version 2 and version 1, whose root is
/// the group itself in a container (cgroups(7)). Groups without a limit say `max`, or a number above every machine's memory.
fn candidates(own: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for line in own.lines() {
        let Some((controllers, path)) = line.split_once(':').and_then(|(_, rest)| rest.split_once(':'))
        else {
            continue;
        };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|one| one == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let groups = std::iter::successors(Some(path.trim_matches('/')), |path| {
            path.rsplit_once('/').map(|(above, _)| above).or((!path.is_empty()).then_some(""))
        });
        paths.extend(groups.map(|group| PathBuf::from(root).join(group).join(file)));
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_groups_above_count() {
        let check = |own: &str, expect: &[&str]| {
            let paths: Vec<String> = candidates(own).iter().map(|path| path.display().to_string()).collect();
            assert_eq!(paths, expect, "{own}");
        };
        check(
            "0::/a/b\n",
            ["/sys/fs/cgroup/a/b/memory.max", "/sys/fs/cgroup/a/memory.max", "/sys/fs/cgroup/memory.max"]
                .as_slice(),
        );
        check("0::/\n", &["/sys/fs/cgroup/memory.max"]);
        check(
            "5:cpuset,memory:/docker/x:y\n4:cpu,cpuacct:/z\n",
            &[
                "/sys/fs/cgroup/memory/docker/x:y/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            ],
        );
        check("", &[]);
    }

    #[test]
    fn the_machine_has_memory() {
        assert_eq!(machine_bytes("MemTotal:       2 kB\nMemFree: 1 kB\n"), Some(2048));
        assert_eq!(machine_bytes(""), None);
        assert!(memory_bytes_max().is_some_and(|bytes| bytes > 1 << 20));
    }
}
