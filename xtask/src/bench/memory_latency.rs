//! How long the machine's memory takes to answer, which on a shared machine depends on its neighbours.

use std::hint::black_box;
use std::time::Duration;

use model::SystemClock;

/// More than a core's own caches hold, less than the cache that cores share: what neighbours take away first.
const BYTES: usize = 4 << 20;

/// A line of the cache, in places of the chain.
const LINE: usize = 64 / size_of::<usize>();

const HOPS: usize = 200_000;

/// So much slower than the fastest answer so far is a disturbed machine.
const DISTURBED: f64 = 1.5;

/// How often it is looked for.
const PAUSE: Duration = Duration::from_secs(2);

/// Asks the memory now and then.
pub(super) struct MemoryLatency {
    /// At the index of a line, the index of the next.
    chain: Vec<usize>,
    /// How long calmer moments are waited for, in all rounds together: a machine whose neighbours never rest is one, too.
    patience: Duration,
    waited: Duration,
    /// Nanoseconds of a load that depends on the one before it, each time it was measured.
    pub(super) seen_ns: Vec<f64>,
}

impl MemoryLatency {
    pub(super) fn new(patience: Duration) -> MemoryLatency {
        MemoryLatency { chain: chain(), patience, waited: Duration::ZERO, seen_ns: Vec::new() }
    }

    /// Waits for a moment at which memory answers about as fast as it ever did, until patience is at its end. What is
    /// measured next decides nothing of this: it is not known yet.
    pub(super) fn wait_for_calm(&mut self) {
        loop {
            let now_ns = self.measure_ns();
            let best_ns = self.seen_ns.iter().copied().fold(now_ns, f64::min);
            if now_ns <= best_ns * DISTURBED || self.waited >= self.patience {
                self.seen_ns.push(now_ns);
                return;
            }
            std::thread::sleep(PAUSE);
            self.waited += PAUSE;
        }
    }

    fn measure_ns(&self) -> f64 {
        let mut at = self.follow(0, self.chain.len() / LINE);
        let start = SystemClock::now();
        at = self.follow(at, HOPS);
        black_box(at);
        SystemClock::now().since(start).as_secs_f64() * 1e9 / HOPS as f64
    }

    fn follow(&self, from: usize, hops: usize) -> usize {
        (0..hops).fold(from, |at, _| self.chain[at])
    }
}

/// Seconds that the machine takes to provide a gigabyte of fresh memory. A virtual one may have to ask its host for each page.
pub(super) fn first_touch_s_per_gb() -> f64 {
    const GIGABYTE: usize = 1 << 30;
    const PAGE: usize = 4096;
    let start = SystemClock::now();
    // Zeros are asked for and not written: pages are given when they are touched.
    let mut memory = vec![0u8; GIGABYTE];
    memory.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
    black_box(&memory);
    SystemClock::now().since(start).as_secs_f64()
}

/// Every line once, in an order that no prefetcher guesses.
fn chain() -> Vec<usize> {
    let lines = BYTES / 64;
    let mut order: Vec<usize> = (0..lines).collect();
    let mut state = 1u64;
    for last in (1..lines).rev() {
        // Knuth's MMIX generator; its upper bits are good enough for a shuffle.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.swap(last, (state >> 33) as usize % (last + 1));
    }
    let mut chain = vec![0; lines * LINE];
    for (index, line) in order.iter().enumerate() {
        chain[line * LINE] = order[(index + 1) % lines] * LINE;
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_visits_every_line_once() {
        let memory = MemoryLatency::new(Duration::ZERO);
        let lines = memory.chain.len() / LINE;
        assert_eq!(memory.follow(0, lines), 0);
        assert!((1..lines).all(|hops| hops % 1000 != 0 || memory.follow(0, hops) != 0));
    }

    #[test]
    fn a_load_takes_time() {
        let mut memory = MemoryLatency::new(Duration::ZERO);
        memory.wait_for_calm();
        assert!(memory.seen_ns[0] > 0.5, "{:?}", memory.seen_ns);
    }
}
