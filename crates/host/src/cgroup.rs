//! CPU throttling of the process's cgroup by its quota.

use std::path::PathBuf;

use crate::files::{keyed, text};

/// The file that reports throttling, found once.
#[derive(Debug)]
pub(crate) struct Throttling(Option<Source>);

#[derive(Debug)]
struct Source {
    path: PathBuf,
    key: &'static str,
    /// Nanoseconds in its unit.
    unit_ns: u64,
}

impl Throttling {
    pub(crate) fn find() -> Throttling {
        let own = text("/proc/self/cgroup").unwrap_or_default();
        Throttling(candidates(&own).into_iter().find(|source| source.read_ns().is_some()))
    }

    /// Throttled time so far, in nanoseconds. `None` where the cgroup has no CPU quota.
    pub(crate) fn total_ns(&self) -> Option<u64> {
        self.0.as_ref()?.read_ns()
    }
}

impl Source {
    fn read_ns(&self) -> Option<u64> {
        let units = text(&self.path)?.lines().find_map(|line| keyed(line, "", self.key));
        Some(units?.saturating_mul(self.unit_ns))
    }
}

/// Where to look, by `/proc/self/cgroup`: version 2 first, then version 1, each as the group's own path and as a container
/// sees it, at the root (cgroups(7)).
fn candidates(own: &str) -> Vec<Source> {
    let path_of = |has: &dyn Fn(&str) -> bool| {
        let mut parts = own.lines().map(|line| line.splitn(3, ':').collect::<Vec<_>>());
        parts.find(|parts| parts.len() == 3 && has(parts[1])).map(|parts| parts[2].to_owned())
    };
    let unified = path_of(&|controllers| controllers.is_empty()).unwrap_or_default();
    let cpu = path_of(&|controllers| controllers.split(',').any(|one| one == "cpu")).unwrap_or_default();
    let second = |path: String| Source { path: path.into(), key: "throttled_usec", unit_ns: 1_000 };
    let first = |path: String| Source { path: path.into(), key: "throttled_time", unit_ns: 1 };
    vec![
        second(format!("/sys/fs/cgroup{unified}/cpu.stat")),
        second("/sys/fs/cgroup/cpu.stat".into()),
        first(format!("/sys/fs/cgroup/cpu{cpu}/cpu.stat")),
        first(format!("/sys/fs/cgroup/cpu,cpuacct{cpu}/cpu.stat")),
        first("/sys/fs/cgroup/cpu/cpu.stat".into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(own: &str, expect: [&str; 2]) {
        let paths: Vec<String> =
            candidates(own).iter().map(|source| source.path.display().to_string()).collect();
        assert_eq!([paths[0].as_str(), paths[2].as_str()], expect, "{own}");
    }

    #[test]
    fn both_versions_are_looked_for_in_the_groups_own_place() {
        check("0::/app.slice/x\n", ["/sys/fs/cgroup/app.slice/x/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat"]);
        check(
            "5:memory:/m\n4:cpu,cpuacct:/docker/a:b\n0::/\n",
            ["/sys/fs/cgroup//cpu.stat", "/sys/fs/cgroup/cpu/docker/a:b/cpu.stat"],
        );
        check("", ["/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat"]);
    }
}
