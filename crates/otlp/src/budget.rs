//! How much may be kept: so many spans in a run for each reason, let out as the run goes on, and the share of the sample.

use std::time::Duration;

use model::Instant;

/// Spans that one reason may keep.
#[derive(Debug)]
pub(crate) struct Allowance {
    spans_max: u64,
    spent: u64,
}

/// Share of an allowance that may be spent at once; the rest becomes due as the run goes on, so that a bad beginning leaves some
/// for what comes later.
const AT_ONCE: f64 = 0.2;

/// Seconds over which unspent allowance is spread.
const SURPLUS_LASTS_S: f64 = 20.0;

impl Allowance {
    pub(crate) fn new(spans_max: u64) -> Allowance {
        Allowance { spans_max, spent: 0 }
    }

    /// Reserves spans if the budget allows it. `progress` is the part of the run that is over.
    pub(crate) fn spend(&mut self, spans: usize, progress: f64) -> bool {
        let spent = self.spent + spans as u64;
        if spent as f64 > self.due(progress) {
            return false;
        }
        self.spent = spent;
        true
    }

    /// Spans left in the budget until the end of the run.
    pub(crate) fn left(&self) -> u64 {
        self.spans_max - self.spent
    }

    /// Spans per second that it can bear from now on.
    pub(crate) fn bearable_per_s(&self, progress: f64, expected: Duration) -> f64 {
        let surplus = self.due(progress) - self.spent as f64;
        let left_s = expected.as_secs_f64() * (1.0 - progress).max(0.0);
        let becomes_due = self.spans_max as f64 - self.due(progress);
        let drip_per_s = if left_s > 0.0 { becomes_due / left_s } else { 0.0 };
        surplus / SURPLUS_LASTS_S + drip_per_s
    }

    fn due(&self, progress: f64) -> f64 {
        self.spans_max as f64 * (AT_ONCE + (1.0 - AT_ONCE) * progress.clamp(0.0, 1.0))
    }
}

/// Which traces are in the sample. Their numbers decide, and nothing that is known of them, so that what the sample says about
/// all traces is right.
#[derive(Debug)]
pub(crate) struct Sample {
    share: f64,
    /// Spans received per second, smoothed; `None` until it was measured.
    spans_per_s: Option<f64>,
    measured: Instant,
    received: u64,
}

/// How often the share is set anew.
const MEASURED_EACH: Duration = Duration::from_secs(1);
/// Share of the budget to spend by the end: counts fluctuate, and the last spans should fit, too.
const SPENT_AT_END: f64 = 0.9;
/// Weight of the last second in the smoothed rate.
const WEIGHT_OF_LAST: f64 = 0.2;

impl Sample {
    pub(crate) fn new(began: Instant) -> Sample {
        Sample { share: 1.0, spans_per_s: None, measured: began, received: 0 }
    }

    /// The share that holds now.
    pub(crate) fn share(&self) -> f64 {
        self.share
    }

    /// Notes that a span came.
    pub(crate) fn received(&mut self) {
        self.received += 1;
    }

    /// Sets the share to what can be borne.
    pub(crate) fn adapt(&mut self, now: Instant, bearable_per_s: f64) {
        let elapsed = now.since(self.measured);
        if elapsed < MEASURED_EACH {
            return;
        }
        let last_per_s = self.received as f64 / elapsed.as_secs_f64();
        let before_per_s = self.spans_per_s.unwrap_or(last_per_s);
        let per_s = before_per_s + WEIGHT_OF_LAST * (last_per_s - before_per_s);
        (self.spans_per_s, self.measured, self.received) = (Some(per_s), now, 0);
        self.share = if per_s > bearable_per_s { bearable_per_s / per_s } else { 1.0 };
    }

    /// Sets the share for the last time, from the share of the remaining spans that fits.
    pub(crate) fn end(&mut self, fitting_share: f64) {
        self.share = (fitting_share * SPENT_AT_END).min(1.0);
    }

    /// Whether a trace of this number is in it.
    pub(crate) fn has(&self, id: u128) -> bool {
        (mixed(id) as f64) < self.share * 2_f64.powi(64)
    }
}

/// Numbers need not be random in every bit, so they are mixed (Steele, Lea and Flood, Fast Splittable Pseudorandom Number
/// Generators, 2014: the finalizer of SplitMix64).
fn mixed(id: u128) -> u64 {
    let mut z = (id as u64) ^ ((id >> 64) as u64).rotate_left(32) ^ 0x9e37_79b9_7f4a_7c15;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_ns(seconds * 1_000_000_000)
    }

    #[test]
    fn an_allowance_is_let_out_as_the_run_goes_on() {
        let mut allowance = Allowance::new(100);
        assert!(allowance.spend(20, 0.0));
        assert!(!allowance.spend(1, 0.0));
        assert!(allowance.spend(40, 0.5));
        assert!(!allowance.spend(41, 7.0), "never more than all of it");
        assert!(allowance.spend(40, 7.0));
    }

    #[test]
    fn what_is_due_is_spent_soon_and_the_rest_evenly() {
        let check = |spent: u64, progress: f64, expect_per_s: f64| {
            let allowance = Allowance { spent, ..Allowance::new(10_000) };
            let actual = allowance.bearable_per_s(progress, Duration::from_secs(100));
            assert!((actual - expect_per_s).abs() < 1e-6, "{spent}, {progress}: {actual}");
        };
        check(0, 0.0, 100.0 + 80.0);
        check(2_000, 0.0, 80.0);
        check(6_000, 0.5, 80.0);
        check(10_000, 1.0, 0.0);
        check(8_000, 3.0, 100.0);
    }

    #[test]
    fn the_share_is_what_can_be_borne() {
        let share = |per_s: u64, bearable_per_s: f64| {
            let mut sample = Sample::new(at(0));
            (0..per_s).for_each(|_| sample.received());
            sample.adapt(at(1), bearable_per_s);
            sample.share()
        };
        assert_eq!(share(100, 100.0), 1.0);
        assert_eq!(share(1_000, 100.0), 0.1);
        assert_eq!(share(0, 0.0), 1.0, "nothing costs nothing");
        assert_eq!(share(1, 0.0), 0.0);
    }

    #[test]
    fn a_share_of_the_numbers_is_in_the_sample_whatever_they_are_like() {
        let share = |numbers: &mut dyn Iterator<Item = u128>| {
            let sample = Sample { share: 0.25, ..Sample::new(at(0)) };
            numbers.filter(|id| sample.has(*id)).count() as f64 / 10_000.0
        };
        for (shift, expect) in [(0, 0.25), (40, 0.25), (64, 0.25), (100, 0.25)] {
            let actual = share(&mut (1..=10_000_u128).map(|id| id << shift));
            assert!((actual - expect).abs() < 0.02, "{shift}: {actual}");
        }
        let all = Sample::new(at(0));
        assert!((0..1_000).all(|id| all.has(id)) && all.has(u128::MAX));
    }
}
