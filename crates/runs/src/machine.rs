//! Facts about the machine that generates the load.

use runfile::{Calibration, Host};

/// Returns the facts of this machine; unknown ones are empty or zero.
pub fn facts(workers: usize, calibration: Option<Calibration>) -> Host {
    let names = rustix::system::uname();
    let text = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
    Host {
        name: text(names.nodename()),
        system: format!("{} {}", text(names.sysname()), text(names.machine())),
        kernel: text(names.release()),
        cores: std::thread::available_parallelism()
            .map_or(0, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX)),
        memory_bytes: memory_bytes().unwrap_or(0),
        memory_limit_bytes: memory_limit_bytes(),
        workers: u32::try_from(workers).unwrap_or(u32::MAX),
        calibration,
    }
}

fn memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Returns the memory limit of the process's cgroup (version 2), bytes. In a container the cgroup is mounted at the root.
fn memory_limit_bytes() -> Option<u64> {
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let path = own.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/");
    let candidates = [format!("/sys/fs/cgroup{path}/memory.max"), "/sys/fs/cgroup/memory.max".to_owned()];
    // "max" means no limit.
    candidates.iter().find_map(|path| std::fs::read_to_string(path).ok()?.trim().parse().ok())
}
