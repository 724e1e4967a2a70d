//! Random cases: a test, and the faults of its network and machines.

use std::time::Duration;

use model::SystemClock;

use crate::OnLoss;

/// SplitMix64: the same seed gives the same numbers on every machine.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// Nanoseconds from `low_ms` to `high_ms`, to the microsecond.
    pub(super) fn ms(&mut self, low_ms: u64, high_ms: u64) -> u64 {
        self.between(low_ms * 1000, high_ms * 1000) * 1000
    }

    /// True in `percent` of all cases.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.between(1, 100) <= percent
    }
}

/// A span of true time in nanoseconds.
pub(super) type Span = (u64, u64);

/// A test and its world.
pub(super) struct Case {
    pub(super) agents: Vec<Machine>,
    pub(super) agents_min: u32,
    pub(super) arm_timeout: Duration,
    pub(super) on_loss: OnLoss,
    pub(super) has_setup: bool,
    pub(super) has_teardown: bool,
    pub(super) setup_fails: bool,
    /// How long the scenarios take.
    pub(super) load_ns: u64,
    /// Longest time of a frame on its way.
    pub(super) delay_ns: u64,
    /// Frames that are overtaken by later ones, in percent.
    pub(super) overtaken: u64,
    /// Frames that arrive twice, in percent.
    pub(super) duplicates: u64,
    pub(super) hub_dies_ns: Option<u64>,
    /// When the user stops the run, and whether at once.
    pub(super) stop: Option<(u64, bool)>,
    pub(super) archive_bytes: usize,
}

/// One agent's machine.
#[derive(Clone, Debug, Default)]
pub(super) struct Machine {
    /// When it is started.
    pub(super) starts_ns: u64,
    /// The time that its clock shows at the true origin.
    pub(super) clock_offset_ns: i64,
    pub(super) drift_ppm: i64,
    /// How long it initialises VUs.
    pub(super) prepares_ns: u64,
    pub(super) dies_ns: Option<u64>,
    /// When a new process replaces one that died.
    pub(super) reborn_ns: Option<u64>,
    /// Whether it is such a process.
    pub(super) is_new: bool,
    /// While it stands still.
    pub(super) frozen: Option<Span>,
    /// While no frame arrives, although connections stand.
    pub(super) black_hole: Option<Span>,
    /// While connections are cut and none can be opened.
    pub(super) cut: Option<Span>,
    /// Whether its init code fails.
    pub(super) is_unfit: bool,
}

impl Case {
    pub(super) fn new(random: &mut Random) -> Case {
        let count = random.between(1, 5);
        let agents: Vec<Machine> = (0..count).map(|_| machine(random)).collect();
        let on_loss = match random.between(1, 4) {
            1 => OnLoss::Abort,
            2 => OnLoss::Continue,
            _ => OnLoss::Rebalance,
        };
        // A load that is taken over has to go on for longer than an agent takes to be lost.
        let long = if on_loss == OnLoss::Abort { 10 } else { 60 };
        Case {
            agents_min: if random.chance(30) { random.between(1, count) as u32 } else { count as u32 },
            agents,
            arm_timeout: Duration::from_millis(random.between(2_000, 12_000)),
            on_loss,
            has_setup: random.chance(40),
            has_teardown: random.chance(50),
            setup_fails: random.chance(5),
            load_ns: if random.chance(long) { random.ms(15_000, 60_000) } else { random.ms(300, 9_000) },
            delay_ns: if random.chance(30) { random.ms(20, 300) } else { random.ms(1, 10) },
            overtaken: if random.chance(30) { random.between(1, 10) } else { 0 },
            duplicates: if random.chance(30) { random.between(1, 30) } else { 0 },
            hub_dies_ns: random.chance(12).then(|| random.ms(0, 14_000)),
            stop: random.chance(15).then(|| (random.ms(0, 12_000), random.chance(40))),
            archive_bytes: random.between(0, 1 << 20) as usize,
        }
    }
}

fn machine(random: &mut Random) -> Machine {
    let mut span = |percent: u64, longest_ms: u64| {
        random.chance(percent).then(|| {
            let from = random.ms(0, 10_000);
            (from, from + random.ms(100, longest_ms))
        })
    };
    let (frozen, black_hole, cut) = (span(8, 20_000), span(8, 25_000), span(10, 20_000));
    let dies_ns = random.chance(8).then(|| random.ms(0, 12_000));
    let starts_ns = if random.chance(10) { random.ms(0, 15_000) } else { random.ms(0, 400) };
    let reborn_ns =
        dies_ns.filter(|at| *at > starts_ns && random.chance(60)).map(|at| at + random.ms(100, 8_000));
    Machine {
        starts_ns,
        clock_offset_ns: age_ns() + random.between(1, 1 << 50) as i64,
        drift_ppm: random.between(0, 400) as i64 - 200,
        prepares_ns: random.ms(1, 1_500),
        dies_ns,
        reborn_ns,
        frozen,
        black_hole,
        cut,
        is_unfit: random.chance(1),
        is_new: false,
    }
}

impl Machine {
    /// The machine of a process that replaces this one's. Its clock is as young as the process.
    pub(super) fn reborn(&self) -> Option<Machine> {
        let starts_ns = self.reborn_ns?;
        Some(Machine {
            starts_ns,
            clock_offset_ns: age_ns() - starts_ns as i64,
            drift_ppm: self.drift_ppm,
            prepares_ns: self.prepares_ns,
            is_new: true,
            ..Machine::default()
        })
    }
}

/// The time that the clock of a new process shows.
fn age_ns() -> i64 {
    SystemClock::AGE.as_nanos() as i64
}
