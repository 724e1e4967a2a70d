//! Running a client and measuring what it cost.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use model::SystemClock;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// Memory is looked at this often, and the end is noticed no later than this.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// So long the end is watched for more closely, so that short runs are timed well.
const LOOK_CLOSELY_FOR: Duration = Duration::from_secs(1);

/// How closely.
const LOOK_CLOSELY_EVERY: Duration = Duration::from_micros(500);

/// The cost of a process.
#[derive(Clone, Debug)]
pub(super) struct Cost {
    /// User and system time of the process and its threads, seconds.
    pub(super) cpu_s: f64,
    /// CPU of its threads when each was last seen, by name, in seconds; the first second is not observed.
    pub(super) threads_cpu_s: BTreeMap<String, f64>,
    /// From start to end, seconds.
    pub(super) wall_s: f64,
    /// Resident memory over time: seconds since the start, bytes.
    pub(super) resident: Vec<(f64, u64)>,
    /// The largest resident memory, bytes.
    pub(super) resident_max: u64,
    /// How it ended.
    pub(super) status: ExitStatus,
    /// Its stdout.
    pub(super) stdout: String,
    /// Its stderr.
    pub(super) stderr: String,
}

/// The mean of what lies between two moments of a series of (seconds, bytes); `None` where nothing does.
pub(super) fn mean_between(series: &[(f64, u64)], from_s: f64, to_s: f64) -> Option<f64> {
    let inside = series.iter().filter(|(at_s, _)| (from_s..to_s).contains(at_s));
    let (count, sum) = inside.fold((0u32, 0.0), |(count, sum), (_, bytes)| (count + 1, sum + *bytes as f64));
    (count > 0).then(|| sum / f64::from(count))
}

/// A command that runs on these cores only, as `taskset` writes them.
pub(super) fn pinned(cores: &str, program: &Path) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", cores]).arg(program);
    command
}

/// Runs the command to its end and measures it. `watch` is called with the time since the start, in seconds, as long
/// as it runs.
///
/// No other child of this process may end meanwhile: the kernel adds up the times of ended children.
pub(super) fn run(
    command: &mut Command,
    folder: &Path,
    limit: Duration,
    mut watch: impl FnMut(f64),
) -> anyhow::Result<Cost> {
    let (out, err) = (folder.join("stdout"), folder.join("stderr"));
    let name = format!("{command:?}");
    command.stdin(Stdio::null()).stdout(create(&out)?).stderr(create(&err)?);
    // The measured process stores its run as every user's does, beside the other files of the bench.
    command.env("PLIMSOLL_RUNS", folder.join("runs"));
    let cpu_before_s = ended_children_cpu_s()?;
    let start = SystemClock::now();
    let mut child = command.spawn().with_context(|| format!("start {name}"))?;
    let (mut resident, mut threads) = (Vec::new(), BTreeMap::new());
    let status = loop {
        if let Some(status) = child.try_wait().context("wait for a client")? {
            break status;
        }
        let elapsed = SystemClock::now().since(start);
        if elapsed > limit {
            stop(&mut child);
            bail!("end {name} within {} s", limit.as_secs());
        }
        if elapsed >= LOOK_CLOSELY_FOR {
            threads.extend(threads_cpu_s(child.id()));
        }
        resident.extend(resident_bytes(child.id()).map(|bytes| (elapsed.as_secs_f64(), bytes)));
        watch(elapsed.as_secs_f64());
        std::thread::sleep(if elapsed < LOOK_CLOSELY_FOR { LOOK_CLOSELY_EVERY } else { LOOK_EVERY });
    };
    let wall_s = SystemClock::now().since(start).as_secs_f64();
    Ok(Cost {
        cpu_s: ended_children_cpu_s()? - cpu_before_s,
        threads_cpu_s: by_name(threads),
        wall_s,
        resident_max: resident.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0),
        resident,
        status,
        stdout: read(&out)?,
        stderr: read(&err)?,
    })
}

fn create(path: &Path) -> anyhow::Result<File> {
    File::create(path).with_context(|| format!("create {}", path.display()))
}

fn read(path: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn stop(child: &mut Child) {
    // Both fail only if it ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}

/// User and system time of all children that ended and were waited for.
fn ended_children_cpu_s() -> anyhow::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("ask for the children's times")?;
    let microseconds = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(microseconds as f64 / 1e6)
}

/// CPU of each thread of a process so far, by its number: its name, and the seconds.
fn threads_cpu_s(pid: u32) -> Vec<(u64, (String, f64))> {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let one = |task: std::fs::DirEntry| {
        let number = task.file_name().to_str()?.parse().ok()?;
        let name = std::fs::read_to_string(task.path().join("comm")).ok()?;
        // Its first number is the time on a processor, nanoseconds.
        let times = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        let ran_ns: f64 = times.split(' ').next()?.parse().ok()?;
        Some((number, (name.trim().to_owned(), ran_ns / 1e9)))
    };
    tasks.filter_map(Result::ok).filter_map(one).collect()
}

fn by_name(threads: BTreeMap<u64, (String, f64)>) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for (name, cpu_s) in threads.into_values() {
        *sums.entry(name).or_default() += cpu_s;
    }
    sums
}

/// Resident memory of a process now; `None` once it ended.
fn resident_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_of_what_lies_between() {
        let series = [(1.0, 10), (2.0, 20), (3.0, 40), (4.0, 1000)];
        let check = |from_s, to_s, expect| {
            assert_eq!(mean_between(&series, from_s, to_s), expect, "{from_s}..{to_s}")
        };
        check(2.0, 4.0, Some(30.0));
        check(1.5, 2.5, Some(20.0));
        check(5.0, 6.0, None);
    }

    #[test]
    fn a_run_is_measured_and_a_long_one_is_stopped() {
        let folder = std::env::temp_dir().join(format!("plimsoll-process-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let shell = |script: &str, limit| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            run(&mut command, &folder, limit, |_| ())
        };
        let cost =
            shell("echo out; echo err >&2; sleep 0.1; exit 3", Duration::from_secs(20)).expect("it ends");
        assert_eq!(
            (cost.stdout.as_str(), cost.stderr.as_str(), cost.status.code()),
            ("out\n", "err\n", Some(3))
        );
        assert!(cost.wall_s >= 0.1 && cost.resident_max > 0, "{cost:?}");
        // The time of programs that the shell starts is not the shell's own.
        let busy = "end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do
            i=0; while [ $i -lt 10000 ]; do i=$((i + 1)); done
        done";
        let cost = shell(busy, Duration::from_secs(20)).expect("it ends");
        assert!(cost.threads_cpu_s["sh"] > 0.1, "{:?}", cost.threads_cpu_s);
        assert!(shell("sleep 30", Duration::from_millis(100)).is_err());
        std::fs::remove_dir_all(&folder).expect("the folder is removed");
    }
}
