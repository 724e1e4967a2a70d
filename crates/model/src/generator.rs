//! Readings of the load generator and its machine during a run: evidence about the measurement, not about the target.

use crate::Instant;

macro_rules! vitals {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal, $unit:literal;)*) => {
        /// A thing that is read about the generator, once per window.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Vital {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Vital {
            /// All of them.
            pub const ALL: &[Vital] = &[$(Vital::$variant,)*];

            /// Its name in files.
            pub const fn as_str(self) -> &'static str {
                match self { $(Vital::$variant => $name,)* }
            }

            /// The unit of its values in files: `1` is a share, empty is a number of things.
            pub const fn unit(self) -> &'static str {
                match self { $(Vital::$variant => $unit,)* }
            }
        }
    };
}

vitals! {
    /// Share of the time that a worker thread had a core.
    WorkerCpu = "worker_cpu", "1";
    /// Share of the time that a worker thread wanted a core and had none.
    WorkerRunDelay = "worker_run_delay", "1";
    /// Share of one core that the process's other threads took.
    OtherCpu = "other_cpu", "1";
    /// Share of the machine's cores that were busy, by any process.
    HostCpu = "host_cpu", "1";
    /// Share of all cores that another virtual machine had.
    HostSteal = "host_steal", "1";
    /// Share of the time that the process was throttled because its cgroup's CPU quota was used up.
    Throttled = "throttled", "1";
    /// How much too late a thread woke that had asked to, at worst: milliseconds.
    TimerLag = "timer_lag", "ms";
    /// TCP sockets of the network namespace, those that wait out their end among them.
    Ports = "ports", "";
    /// How many local ports there are to connect from.
    PortsMax = "ports_max", "";
    /// File descriptors of the process.
    Descriptors = "descriptors", "";
    /// How many it may have.
    DescriptorsMax = "descriptors_max", "";
    /// TCP segments that the network namespace sent since the reading before.
    SegmentsSent = "segments_sent", "";
    /// TCP segments among them that were sent again.
    SegmentsRepeated = "segments_repeated", "";
    /// Requests for a connection that were sent again.
    SynRepeated = "syn_repeated", "";
    /// Connections that a listener of the network namespace refused because its accept queue was full.
    ListenDrops = "listen_drops", "";
    /// Memory of the process that is in RAM: bytes.
    Resident = "resident", "By";
}

impl Vital {
    /// The one with this name.
    pub fn named(name: &str) -> Option<Vital> {
        Vital::ALL.iter().copied().find(|vital| vital.as_str() == name)
    }
}

/// One value of one vital.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The reading.
    pub vital: Vital,
    /// Of which worker thread; `None` where it is the process's or the machine's.
    pub worker: Option<u16>,
    /// The value.
    pub value: f64,
}

/// Readings of the generator at the end of one window. A reading that failed is absent, not zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeneratorState {
    /// When it was read. What is a share or counts events is of the time since the reading before.
    pub at: Instant,
    /// The readings.
    pub readings: Vec<Reading>,
}

impl GeneratorState {
    /// The value of a vital; the largest one where each worker has its own.
    pub fn get(&self, vital: Vital) -> Option<f64> {
        let of_vital = self.readings.iter().filter(|reading| reading.vital == vital);
        of_vital.map(|reading| reading.value).reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vitals_have_names_of_their_own() {
        for vital in Vital::ALL {
            assert_eq!(Vital::named(vital.as_str()), Some(*vital));
        }
        assert_eq!(Vital::named("mood"), None);
    }

    #[test]
    fn the_worst_worker_counts_and_silence_is_no_zero() {
        let reading = |worker, value| Reading { vital: Vital::WorkerCpu, worker: Some(worker), value };
        let state = GeneratorState { at: Instant::ZERO, readings: vec![reading(0, 0.2), reading(1, 0.7)] };
        assert_eq!(state.get(Vital::WorkerCpu), Some(0.7));
        assert_eq!(state.get(Vital::Throttled), None);
    }
}
