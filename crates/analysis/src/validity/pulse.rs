//! The generator's state in a second.

use model::{GeneratorState, Vital};

/// The generator in one second, in the numbers that rules compare; of several generators, the worst of each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pulse {
    /// Share of the time that the busiest worker had a core.
    pub(super) worker_cpu: Option<f64>,
    /// Share of the time that the worst served worker waited for one.
    pub(super) run_delay: Option<f64>,
    /// Share of the machine's cores that another virtual machine had.
    pub(super) steal: Option<f64>,
    /// Share of the time in which the cgroup was throttled.
    pub(super) throttled: Option<f64>,
    /// Milliseconds by which a timer was late.
    pub(super) timer_lag_ms: Option<f64>,
    /// Share of the local ports that are taken.
    pub(super) ports: Option<f64>,
    /// Share of the file descriptors that are taken.
    pub(super) descriptors: Option<f64>,
    /// TCP segments sent, those sent again among them.
    pub(super) segments: Option<f64>,
    /// Those sent again.
    pub(super) segments_repeated: Option<f64>,
}

impl Pulse {
    pub(super) fn new(state: &GeneratorState) -> Pulse {
        let share = |part, whole| {
            let whole = state.get(whole).filter(|whole| *whole > 0.0)?;
            Some(state.get(part)? / whole)
        };
        let repeated = state.get(Vital::SegmentsRepeated);
        Pulse {
            worker_cpu: state.get(Vital::WorkerCpu),
            run_delay: state.get(Vital::WorkerRunDelay),
            steal: state.get(Vital::HostSteal),
            throttled: state.get(Vital::Throttled),
            timer_lag_ms: state.get(Vital::TimerLag),
            ports: share(Vital::Ports, Vital::PortsMax),
            descriptors: share(Vital::Descriptors, Vital::DescriptorsMax),
            segments: state.get(Vital::SegmentsSent).zip(repeated).map(|(sent, again)| sent + again),
            segments_repeated: repeated,
        }
    }

    /// With another generator's, which was there at the same time.
    pub(super) fn worst_of(self, other: Pulse) -> Pulse {
        let worst = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
        Pulse {
            worker_cpu: worst(self.worker_cpu, other.worker_cpu),
            run_delay: worst(self.run_delay, other.run_delay),
            steal: worst(self.steal, other.steal),
            throttled: worst(self.throttled, other.throttled),
            timer_lag_ms: worst(self.timer_lag_ms, other.timer_lag_ms),
            ports: worst(self.ports, other.ports),
            descriptors: worst(self.descriptors, other.descriptors),
            segments: worst(self.segments, other.segments),
            segments_repeated: worst(self.segments_repeated, other.segments_repeated),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Instant, Reading};

    use super::*;

    #[test]
    fn shares_need_both_numbers_and_the_worst_generator_counts() {
        let state = |readings: &[(Vital, f64)]| GeneratorState {
            at: Instant::ZERO,
            readings: readings
                .iter()
                .map(|(vital, value)| Reading { vital: *vital, worker: None, value: *value })
                .collect(),
        };
        let one =
            Pulse::new(&state(&[(Vital::Ports, 50.0), (Vital::PortsMax, 200.0), (Vital::Descriptors, 9.0)]));
        assert_eq!((one.ports, one.descriptors), (Some(0.25), None));
        let two =
            Pulse::new(&state(&[(Vital::Ports, 10.0), (Vital::PortsMax, 20.0), (Vital::WorkerCpu, 0.1)]));
        let both = one.worst_of(two);
        assert_eq!((both.ports, both.worker_cpu), (Some(0.5), Some(0.1)));
    }
}
