//! CPU, memory and network of a whole machine, over all its processes.

use crate::files::{column, keyed, numbers, text};
use crate::network::{self, Segments};
use crate::process::{Cores, parse_ticks};

/// Interfaces that are read.
const INTERFACES_MAX: usize = 16;
/// Cores that are read one by one.
const CORES_MAX: usize = 256;

/// One reading of the machine that this process runs on. Ticks and counters only grow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// All cores together.
    pub all: Ticks,
    /// Each core, by its number.
    pub cores: Vec<(u32, Ticks)>,
    /// Threads that run or could, if there was a core for them.
    pub runnable: Option<u64>,
    /// Threads that wait for a disk.
    pub blocked: Option<u64>,
    /// Bytes of RAM.
    pub memory_bytes_max: Option<u64>,
    /// Bytes of RAM that a new program could have.
    pub memory_bytes_available: Option<u64>,
    /// Microseconds in which some thread waited for a core (PSI).
    pub cpu_pressure_us: Option<u64>,
    /// Network interfaces.
    pub interfaces: Vec<Interface>,
    /// TCP counters in the network namespace of this process.
    pub tcp: Option<Tcp>,
}

/// CPU time of the cores, in ticks of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// All of them.
    pub total: u64,
    /// Those without work.
    pub idle: u64,
    /// Those that another virtual machine had.
    pub steal: u64,
}

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its name: `eth0`.
    pub name: String,
    /// Bytes that came in.
    pub bytes_in: u64,
    /// Bytes that went out.
    pub bytes_out: u64,
}

/// Counters of TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcp {
    /// Segments sent.
    pub segments_sent: u64,
    /// Segments sent again.
    pub segments_repeated: u64,
    /// Requests for a connection sent again.
    pub syn_repeated: u64,
    /// Connections dropped because a listener's accept queue was full.
    pub listen_drops: u64,
    /// Those among them for which the queue of finished handshakes was full.
    pub listen_overflows: Option<u64>,
    /// Connections that a listener took.
    pub passive_opens: Option<u64>,
}

impl Machine {
    /// Reads the kernel's files; `None` where there are none. Values missing from a file are absent.
    pub fn read() -> Option<Machine> {
        let mut machine = Machine::default();
        machine.take_stat(&text("/proc/stat")?)?;
        machine.take_memory(&text("/proc/meminfo").unwrap_or_default());
        machine.cpu_pressure_us = text("/proc/pressure/cpu").and_then(|text| pressure_us(&text));
        machine.interfaces = interfaces(&text("/proc/self/net/dev").unwrap_or_default());
        machine.tcp = network::segments().map(|segments| Tcp {
            listen_overflows: listen_overflows(),
            passive_opens: passive_opens(),
            ..Tcp::new(&segments)
        });
        Some(machine)
    }

    fn take_stat(&mut self, stat: &str) -> Option<()> {
        self.all = Ticks::new(parse_ticks(stat.lines().next()?.strip_prefix("cpu ")?)?);
        let cores = stat.lines().skip(1).map_while(|line| line.strip_prefix("cpu"));
        let core = |line: &str| {
            let (number, ticks) = line.split_once(' ')?;
            Some((number.parse().ok()?, Ticks::new(parse_ticks(ticks)?)))
        };
        self.cores = cores.take(CORES_MAX).filter_map(core).collect();
        let number = |title: &str| stat.lines().find_map(|line| numbers(line.strip_prefix(title)?).next());
        (self.runnable, self.blocked) = (number("procs_running "), number("procs_blocked "));
        Some(())
    }

    fn take_memory(&mut self, meminfo: &str) {
        let bytes = |title: &str| {
            let kib = meminfo.lines().find_map(|line| numbers(line.strip_prefix(title)?).next())?;
            Some(kib.saturating_mul(1024))
        };
        (self.memory_bytes_max, self.memory_bytes_available) = (bytes("MemTotal:"), bytes("MemAvailable:"));
    }
}

impl Ticks {
    fn new(cores: Cores) -> Ticks {
        Ticks { total: cores.total, idle: cores.idle, steal: cores.steal }
    }

    /// The share of the time since an earlier reading in which there was work; `None` if no tick has passed.
    pub fn busy_since(&self, earlier: &Ticks) -> Option<f64> {
        let total = self.total.checked_sub(earlier.total).filter(|total| *total > 0)?;
        let idle = self.idle.saturating_sub(earlier.idle).min(total);
        Some((total - idle) as f64 / total as f64)
    }
}

impl Tcp {
    fn new(segments: &Segments) -> Tcp {
        Tcp {
            segments_sent: segments.sent,
            segments_repeated: segments.repeated,
            syn_repeated: segments.syn_repeated,
            listen_drops: segments.listen_drops,
            listen_overflows: None,
            passive_opens: None,
        }
    }
}

fn listen_overflows() -> Option<u64> {
    column(&text("/proc/self/net/netstat")?, "TcpExt:", "ListenOverflows")
}

/// In RFC 4022's words, tcpPassiveOpens.
fn passive_opens() -> Option<u64> {
    column(&text("/proc/self/net/snmp")?, "Tcp:", "PassiveOpens")
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=1234` (Documentation/accounting/psi.rst).
fn pressure_us(pressure: &str) -> Option<u64> {
    let spaced = pressure.replace('=', " ");
    keyed(&spaced, "some", "total")
}

/// Two lines of titles, then `eth0: bytes packets errs drop fifo frame compressed multicast bytes …` (proc(5)).
fn interfaces(dev: &str) -> Vec<Interface> {
    let interface = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        let numbers: Vec<u64> = numbers(rest).collect();
        let (bytes_in, bytes_out) = (*numbers.first()?, *numbers.get(8)?);
        Some(Interface { name: name.trim().to_owned(), bytes_in, bytes_out })
    };
    dev.lines().skip(2).filter_map(interface).take(INTERFACES_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_kernel_are_read() {
        let mut machine = Machine::default();
        let stat = "cpu  10 0 10 70 4 0 0 6 0 0\ncpu0 5 0 5 35 2 0 0 3 0 0\ncpu1 5 0 5 35 2 0 0 3 0 0\nintr 1\nprocs_running 3\nprocs_blocked 1\n";
        assert_eq!(machine.take_stat(stat), Some(()));
        assert_eq!(machine.all, Ticks { total: 100, idle: 74, steal: 6 });
        assert_eq!(machine.cores[1], (1, Ticks { total: 50, idle: 37, steal: 3 }));
        assert_eq!((machine.cores.len(), machine.runnable, machine.blocked), (2, Some(3), Some(1)));
        machine.take_memory("MemTotal:       2 kB\nMemFree: 1 kB\nMemAvailable:   1 kB\n");
        assert_eq!((machine.memory_bytes_max, machine.memory_bytes_available), (Some(2048), Some(1024)));
        assert_eq!(pressure_us("some avg10=0.00 avg60=0.00 avg300=0.00 total=77\nfull total=5\n"), Some(77));
        let dev = "Inter-| a\n face | b\n    lo: 10 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0\nbroken\n";
        assert_eq!(interfaces(dev), [Interface { name: "lo".to_owned(), bytes_in: 10, bytes_out: 20 }]);
        assert_eq!(Machine::default().take_stat("cpu  1 2\n"), None);
    }

    #[test]
    fn shares_are_of_the_time_between_two_readings() {
        let ticks = |total, idle| Ticks { total, idle, steal: 0 };
        assert_eq!(ticks(300, 150).busy_since(&ticks(100, 100)), Some(0.75));
        assert_eq!(ticks(300, 150).busy_since(&ticks(300, 150)), None);
        assert_eq!(ticks(100, 50).busy_since(&ticks(300, 150)), None);
    }

    #[test]
    fn this_machine_can_be_read() {
        let machine = Machine::read().expect("the tests run on Linux");
        assert!(machine.all.total > 0 && !machine.cores.is_empty(), "{machine:?}");
        assert!(machine.memory_bytes_available <= machine.memory_bytes_max, "{machine:?}");
        assert!(machine.interfaces.iter().any(|interface| interface.name == "lo"), "{machine:?}");
        assert!(machine.tcp.is_some_and(|tcp| tcp.passive_opens.is_some()), "{machine:?}");
    }
}
