//! A reading of a machine as JSON, which `plimsoll host-agent` serves to other machines.

use host::{Interface, Machine, Tcp, Ticks};
use model::{Instant, SystemClock};
use serde::{Deserialize, Serialize};

use crate::lines::harmless;

/// Maximum number of cores and interfaces accepted from another machine, equal to the limits for this one.
const CORES_MAX: usize = 256;
const INTERFACES_MAX: usize = 16;
/// Maximum length of an interface's name; the kernel's have 15 characters (Linux, `IFNAMSIZ`).
const NAME_CHARS_MAX: usize = 40;

/// A received reading of another machine.
#[derive(Debug, PartialEq)]
pub(super) struct Received {
    /// Time of the reading by the machine's clock.
    pub(super) at: Instant,
    pub(super) machine: Machine,
    /// Number of cores and interfaces beyond the limits.
    pub(super) left_out: usize,
}

/// A reading as JSON.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Reading {
    /// Time of the reading by the machine's monotonic clock.
    at_ns: u64,
    all: TicksOf,
    cores: Vec<(u32, TicksOf)>,
    runnable: Option<u64>,
    blocked: Option<u64>,
    memory_bytes_max: Option<u64>,
    memory_bytes_available: Option<u64>,
    cpu_pressure_us: Option<u64>,
    interfaces: Vec<InterfaceOf>,
    tcp: Option<TcpOf>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct TicksOf {
    total: u64,
    idle: u64,
    steal: u64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct InterfaceOf {
    name: String,
    bytes_in: u64,
    bytes_out: u64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct TcpOf {
    segments_sent: u64,
    segments_repeated: u64,
    syn_repeated: u64,
    listen_drops: u64,
    listen_overflows: Option<u64>,
    /// Fields that earlier versions of the agent lack.
    passive_opens: Option<u64>,
}

/// Returns the current reading of this machine; `None` if its kernel does not provide it.
pub fn reading() -> Option<String> {
    let machine = Machine::read()?;
    serde_json::to_string(&written(SystemClock::now(), machine)).ok()
}

/// Parses a reading of another machine.
///
/// # Errors
/// The text is no reading.
pub(super) fn read(text: &str) -> Result<Received, serde_json::Error> {
    let reading: Reading = serde_json::from_str(text)?;
    let ticks = |of: TicksOf| Ticks { total: of.total, idle: of.idle, steal: of.steal };
    let interface = |of: InterfaceOf| {
        let name = harmless(&of.name, NAME_CHARS_MAX);
        Interface { name, bytes_in: of.bytes_in, bytes_out: of.bytes_out }
    };
    let tcp = |of: TcpOf| Tcp {
        segments_sent: of.segments_sent,
        segments_repeated: of.segments_repeated,
        syn_repeated: of.syn_repeated,
        listen_drops: of.listen_drops,
        listen_overflows: of.listen_overflows,
        passive_opens: of.passive_opens,
    };
    let left_out = reading.cores.len().saturating_sub(CORES_MAX)
        + reading.interfaces.len().saturating_sub(INTERFACES_MAX);
    let machine = Machine {
        all: ticks(reading.all),
        cores: reading.cores.into_iter().take(CORES_MAX).map(|(core, of)| (core, ticks(of))).collect(),
        runnable: reading.runnable,
        blocked: reading.blocked,
        memory_bytes_max: reading.memory_bytes_max,
        memory_bytes_available: reading.memory_bytes_available,
        cpu_pressure_us: reading.cpu_pressure_us,
        interfaces: reading.interfaces.into_iter().take(INTERFACES_MAX).map(interface).collect(),
        tcp: reading.tcp.map(tcp),
    };
    Ok(Received { at: Instant::from_ns(reading.at_ns), machine, left_out })
}

fn written(at: Instant, machine: Machine) -> Reading {
    let ticks = |of: Ticks| TicksOf { total: of.total, idle: of.idle, steal: of.steal };
    let interface =
        |of: Interface| InterfaceOf { name: of.name, bytes_in: of.bytes_in, bytes_out: of.bytes_out };
    let tcp = |of: Tcp| TcpOf {
        segments_sent: of.segments_sent,
        segments_repeated: of.segments_repeated,
        syn_repeated: of.syn_repeated,
        listen_drops: of.listen_drops,
        listen_overflows: of.listen_overflows,
        passive_opens: of.passive_opens,
    };
    Reading {
        at_ns: at.as_ns(),
        all: ticks(machine.all),
        cores: machine.cores.into_iter().map(|(core, of)| (core, ticks(of))).collect(),
        runnable: machine.runnable,
        blocked: machine.blocked,
        memory_bytes_max: machine.memory_bytes_max,
        memory_bytes_available: machine.memory_bytes_available,
        cpu_pressure_us: machine.cpu_pressure_us,
        interfaces: machine.interfaces.into_iter().map(interface).collect(),
        tcp: machine.tcp.map(tcp),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    #[test]
    fn a_reading_comes_back_as_it_was() {
        let machine = Machine::read().expect("the tests run on Linux");
        let at = Instant::from_ns(7);
        let text = serde_json::to_string(&written(at, machine.clone())).expect("a text");
        assert_eq!(read(&text).expect("a reading"), Received { at, machine, left_out: 0 });
        assert!(reading().is_some_and(|text| read(&text).is_ok()));
    }

    #[test]
    fn what_is_no_reading_is_refused_and_a_large_one_is_cut() {
        for text in ["", "{}", "[]", r#"{"at_ns":-1}"#, "<html>"] {
            assert!(read(text).is_err(), "{text}");
        }
        let ticks = Ticks { total: 1, idle: 1, steal: 0 };
        let machine = Machine { cores: vec![(0, ticks); CORES_MAX + 1], ..Machine::default() };
        let text = serde_json::to_string(&written(Instant::ZERO, machine)).expect("a text");
        let evidence = read(&text).expect("a reading");
        assert_eq!((evidence.machine.cores.len(), evidence.left_out), (CORES_MAX, 1));
    }

    fn ticks_of() -> impl Strategy<Value = TicksOf> {
        any::<(u64, u64, u64)>().prop_map(|(total, idle, steal)| TicksOf { total, idle, steal })
    }

    prop_compose! {
        /// Checks plausible ranges of a reading.
        fn claim()(
            (at_ns, runnable, blocked, cpu_pressure_us) in any::<(u64, Option<u64>, Option<u64>, Option<u64>)>(),
            (memory_bytes_max, memory_bytes_available) in any::<(Option<u64>, Option<u64>)>(),
            all in ticks_of(),
            cores in prop::collection::vec((0..4_u32, ticks_of()), 0..300),
            interfaces in prop::collection::vec((".{0,80}", any::<u64>(), any::<u64>()), 0..20),
            tcp in any::<Option<(u64, u64, u64, u64, Option<u64>, Option<u64>)>>(),
        ) -> Reading {
            let interface = |(name, bytes_in, bytes_out)| InterfaceOf { name, bytes_in, bytes_out };
            let tcp = tcp.map(|(segments_sent, segments_repeated, syn_repeated, listen_drops, listen_overflows, passive_opens)| {
                TcpOf { segments_sent, segments_repeated, syn_repeated, listen_drops, listen_overflows, passive_opens }
            });
            let interfaces = interfaces.into_iter().map(interface).collect();
            Reading {
                at_ns, all, cores, runnable, blocked, memory_bytes_max, memory_bytes_available, cpu_pressure_us, interfaces, tcp,
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn whatever_a_machine_claims_is_bounded(
            before in claim(),
            now in claim(),
            changes in prop::collection::vec((any::<Index>(), "."), 0..3),
        ) {
            let (before, now) = (serde_json::to_string(&before).expect("a text"), serde_json::to_string(&now).expect("a text"));
            let (before, evidence) = (read(&before).expect("a reading"), read(&now).expect("a reading"));
            prop_assert!(evidence.machine.cores.len() <= CORES_MAX && evidence.machine.interfaces.len() <= INTERFACES_MAX);
            for interface in &evidence.machine.interfaces {
                prop_assert!(interface.name.chars().count() <= NAME_CHARS_MAX, "{}", interface.name);
            }
            super::super::assert_bounded(&before.machine, &evidence.machine);
            let mut damaged: Vec<char> = now.chars().collect();
            for (place, other) in changes {
                let place = place.index(damaged.len());
                damaged.splice(place..=place, other.chars());
            }
            // The reading may be refused, but must not panic.
            let _ = read(&damaged.into_iter().collect::<String>());
        }
    }
}
