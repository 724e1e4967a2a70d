//! The results of operational laws, with the numbers of their sentences.

use crate::capacity::Verdict;
use crate::diagnosis::codes;

codes! {
    /// A law that derives figures from others.
    Law {
        /// Relative change: after ÷ before − 1.
        Change = "change",
        /// Little's law: number under way = throughput × time.
        Little = "little",
        /// The change of an autocorrelated mean.
        Shift = "shift",
        /// The change of an error count.
        Errors = "errors",
        /// The utilisation law: demand per request.
        Demand = "demand",
        /// The asymptotic bounds of a closed system.
        AsymptoticBounds = "asymptotic-bounds",
        /// The load at which a response time crosses its limit.
        SloCrossing = "slo-crossing",
        /// The class of each load step.
        Ladder = "ladder",
        /// Throughput that falls under rising load.
        Collapse = "collapse",
        /// Busy slots by Little's law.
        Slots = "slots",
    }
}

codes! {
    /// The judgement of a change between two runs.
    ShiftVerdict {
        /// Significantly better.
        Improved = "improved",
        /// Significantly worse.
        Regressed = "regressed",
        /// Neither.
        Inconclusive = "inconclusive",
    }
}

/// The judgement of a claim that slots are exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotUse {
    /// Enough slots were free.
    Free,
    /// Almost all were busy.
    NearlyExhausted,
    /// More were busy than there are.
    Impossible,
}

/// The result of a law.
#[derive(Clone, Debug, PartialEq)]
pub enum LawClaim {
    /// Reported changes that match their figures.
    ChangesMatch {
        /// Their number.
        matching: usize,
        /// Changes that can be verified.
        verifiable: usize,
    },
    /// The number under way in a closed loop.
    InFlight {
        /// The run.
        run: String,
        /// Throughput × time.
        in_flight: f64,
        /// Threads.
        threads: f64,
    },
    /// The change of a mean.
    MeanShift {
        /// The run before.
        before: String,
        /// The run after.
        after: String,
        /// The change, percent.
        change_percent: f64,
        /// Its judgement.
        trend: ShiftVerdict,
    },
    /// The change of an error count.
    ErrorShift {
        /// The run before.
        before: String,
        /// The run after.
        after: String,
        /// Errors before.
        errors_before: f64,
        /// Errors after.
        errors_after: f64,
        /// Its judgement.
        trend: ShiftVerdict,
    },
    /// The CPU demand of a request, and the throughput that it allows.
    CpuDemand {
        /// The version.
        version: String,
        /// CPU time per request, seconds.
        per_request_s: f64,
        /// The throughput at which the processors saturate, per second.
        ceiling_per_s: f64,
    },
    /// The saturation throughput and the knee.
    Saturation {
        /// The lowest ceiling, per minute.
        low_per_min: f64,
        /// The highest ceiling, per minute.
        high_per_min: f64,
        /// The lowest knee, VUs.
        knee_low: f64,
        /// The highest knee, VUs.
        knee_high: f64,
    },
    /// The load at which p95 reaches a limit.
    Crossing {
        /// The limit, seconds.
        limit_s: f64,
        /// The load, VUs.
        vus: f64,
    },
    /// The class of each load step.
    Steps {
        /// VUs and class of each step.
        steps: Vec<(f64, Verdict)>,
    },
    /// Throughput falls although load rises.
    Collapse {
        /// The highest throughput, per second.
        best_per_s: f64,
        /// Its load, VUs.
        best_vus: f64,
        /// The throughput that it falls to, per second.
        fallen_per_s: f64,
        /// The load of that, VUs.
        fallen_vus: f64,
        /// The share that is lost, percent.
        lost_percent: f64,
    },
    /// The mean number of busy slots.
    BusySlots {
        /// The pool.
        pool: String,
        /// Busy slots.
        busy: f64,
        /// All slots.
        slots: f64,
        /// The judgement.
        used: SlotUse,
    },
}

impl LawClaim {
    /// The law that it follows from.
    pub const fn law(&self) -> Law {
        match self {
            LawClaim::ChangesMatch { .. } => Law::Change,
            LawClaim::InFlight { .. } => Law::Little,
            LawClaim::MeanShift { .. } => Law::Shift,
            LawClaim::ErrorShift { .. } => Law::Errors,
            LawClaim::CpuDemand { .. } => Law::Demand,
            LawClaim::Saturation { .. } => Law::AsymptoticBounds,
            LawClaim::Crossing { .. } => Law::SloCrossing,
            LawClaim::Steps { .. } => Law::Ladder,
            LawClaim::Collapse { .. } => Law::Collapse,
            LawClaim::BusySlots { .. } => Law::Slots,
        }
    }
}
