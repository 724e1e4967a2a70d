//! All readings of one moment.

use std::collections::HashMap;

use model::{GeneratorState, Instant, Reading, SystemClock, Vital};

use crate::cgroup::Throttling;
use crate::network::{self, Segments};
use crate::process::{self, Cores};
use crate::threads::{self, Thread, Times};
use crate::timer::Watch;

/// Reads the generator's state; what is a rate is of the time since the reading before.
#[derive(Debug)]
pub struct Sampler {
    throttling: Throttling,
    watch: Option<Watch>,
    threads: Vec<Thread>,
    before: Before,
}

/// Counters as of the previous reading.
#[derive(Debug, Default)]
struct Before {
    at: Instant,
    threads: HashMap<String, Times>,
    throttled_ns: Option<u64>,
    segments: Option<Segments>,
    cores: Option<Cores>,
}

impl Sampler {
    /// Begins to watch; a thread of its own is part of it.
    pub fn start() -> Sampler {
        let mut sampler = Sampler {
            throttling: Throttling::find(),
            watch: Watch::start(),
            threads: Vec::new(),
            before: Before::default(),
        };
        sampler.reset();
        sampler
    }

    /// Forgets what was until now: the next reading is of the time from here.
    pub fn reset(&mut self) {
        let _ = self.take();
    }

    /// Returns the current gauges, and the increase of the counters since the last call.
    pub fn take(&mut self) -> GeneratorState {
        let now = SystemClock::now();
        let elapsed_ns = now.since(self.before.at).as_nanos() as f64;
        let mut state = GeneratorState { at: now, readings: Vec::with_capacity(24) };
        self.read_threads(&mut state, elapsed_ns);
        let throttled_ns = self.throttling.total_ns();
        let segments = network::segments();
        let cores = process::cores();
        let mut one = |vital, value: Option<f64>| {
            state.readings.extend(value.map(|value| Reading { vital, worker: None, value }));
        };
        let throttled = grown(self.before.throttled_ns, throttled_ns);
        one(Vital::Throttled, throttled.map(|ns| share(ns, elapsed_ns)));
        let lag_ns = self.watch.as_ref().map(|watch| watch.take_ns(now));
        one(Vital::TimerLag, lag_ns.map(|ns| ns as f64 / 1e6));
        one(Vital::Ports, network::sockets().map(|count| count as f64));
        one(Vital::PortsMax, network::ports().map(|count| count as f64));
        one(Vital::Descriptors, process::descriptors().map(|count| count as f64));
        one(Vital::DescriptorsMax, process::descriptors_max().map(|count| count as f64));
        one(Vital::Resident, process::resident_bytes().map(|bytes| bytes as f64));
        let grew = |field: fn(&Segments) -> u64| {
            grown(self.before.segments.as_ref().map(field), segments.as_ref().map(field))
                .map(|count| count as f64)
        };
        one(Vital::SegmentsSent, grew(|segments| segments.sent));
        one(Vital::SegmentsRepeated, grew(|segments| segments.repeated));
        one(Vital::SynRepeated, grew(|segments| segments.syn_repeated));
        one(Vital::ListenDrops, grew(|segments| segments.listen_drops));
        let [busy, steal] = shares_of_cores(self.before.cores, cores);
        one(Vital::HostCpu, busy);
        one(Vital::HostSteal, steal);
        self.before.at = now;
        (self.before.throttled_ns, self.before.segments, self.before.cores) = (throttled_ns, segments, cores);
        state
    }

    fn read_threads(&mut self, state: &mut GeneratorState, elapsed_ns: f64) {
        // Threads come and go at a run's begin and end; reading a list of some ten names finds the new ones.
        self.threads = threads::all();
        let mut times = HashMap::with_capacity(self.threads.len());
        let mut others_ns = None;
        for thread in &self.threads {
            let Some(now) = thread.times() else { continue };
            times.insert(thread.id().to_owned(), now);
            let Some(before) = self.before.threads.get(thread.id()) else { continue };
            let run_ns = now.run_ns.saturating_sub(before.run_ns);
            if thread.worker.is_none() {
                others_ns = Some(others_ns.unwrap_or(0) + run_ns);
                continue;
            }
            let delay_ns = now.delay_ns.saturating_sub(before.delay_ns);
            for (vital, ns) in [(Vital::WorkerCpu, run_ns), (Vital::WorkerRunDelay, delay_ns)] {
                let value = share(ns, elapsed_ns);
                state.readings.push(Reading { vital, worker: thread.worker, value });
            }
        }
        let others = others_ns.map(|ns| share(ns, elapsed_ns));
        let reading = |value| Reading { vital: Vital::OtherCpu, worker: None, value };
        state.readings.extend(others.map(reading));
        self.before.threads = times;
    }
}

/// A part of the time. Clocks of the kernel differ by a tick, which makes no thread busier than always.
fn share(ns: u64, elapsed_ns: f64) -> f64 {
    if elapsed_ns > 0.0 { ns as f64 / elapsed_ns } else { 0.0 }
}

/// By how much a counter grew; `None` where it was not read twice. One that went back was set anew.
fn grown(before: Option<u64>, now: Option<u64>) -> Option<u64> {
    now?.checked_sub(before?)
}

fn shares_of_cores(before: Option<Cores>, now: Option<Cores>) -> [Option<f64>; 2] {
    let (Some(before), Some(now)) = (before, now) else { return [None; 2] };
    let total = now.total.saturating_sub(before.total);
    if total == 0 {
        return [None; 2];
    }
    let of = |ticks: u64| Some(ticks.min(total) as f64 / total as f64);
    [of(total - now.idle.saturating_sub(before.idle).min(total)), of(now.steal.saturating_sub(before.steal))]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_busy_worker_is_seen_to_be_busy() {
        let worker = std::thread::Builder::new().name("worker-3".into());
        let is_over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let until = is_over.clone();
        let thread = worker.spawn(move || while !until.load(std::sync::atomic::Ordering::Relaxed) {});
        let mut sampler = Sampler::start();
        // A wait for a core counts when it ends: the one that goes on at the end must be short beside the whole.
        std::thread::sleep(Duration::from_secs(1));
        let state = sampler.take();
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        thread.expect("there are threads").join().expect("it only counts time");
        let of = |vital| state.readings.iter().find(|reading| reading.vital == vital);
        let busy = of(Vital::WorkerCpu).expect("the kernel counts it");
        assert_eq!(busy.worker, Some(3));
        let delay = state.get(Vital::WorkerRunDelay).expect("it comes with the other");
        // On a crowded machine it waits for a core instead of having one; together they are all the time.
        assert!((0.8..1.2).contains(&(busy.value + delay)), "{state:?}");
        assert!(state.get(Vital::TimerLag).is_some_and(|ms| ms < 10_000.0), "{state:?}");
    }

    #[test]
    fn what_was_not_read_twice_has_not_grown() {
        assert_eq!(grown(Some(3), Some(5)), Some(2));
        assert_eq!(grown(Some(5), Some(3)), None);
        assert_eq!(grown(None, Some(3)), None);
        let cores = |total, idle, steal| Some(Cores { total, idle, steal });
        assert_eq!(shares_of_cores(cores(0, 0, 0), cores(200, 150, 20)), [Some(0.25), Some(0.1)]);
        assert_eq!(shares_of_cores(cores(5, 0, 0), cores(5, 0, 0)), [None; 2]);
    }
}
