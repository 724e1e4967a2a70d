//! The capacity of a system from several levels of load: the maximum load, its interval, and the limit that ends it.

use crate::Grade;

/// The capacity of one variant of a system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capacity {
    /// The name of this variant among those measured side by side, such as `REPLICAS=2` or a version of the target; empty
    /// where there is one.
    pub variant: String,
    /// The unit of load.
    pub unit: LoadUnit,
    /// The levels of load that were measured, the lowest first; of one load in the order in which they were measured.
    pub levels: Vec<Level>,
    /// The objectives (SLOs) of the system, in the order of the settings.
    pub objectives: Vec<Objective>,
    /// The highest load that keeps all objectives; `None` without objectives, or where no level says anything.
    pub line: Option<Line>,
    /// The objective that is broken first: its place in `objectives`.
    pub binding: Option<usize>,
    /// The load to plan for.
    pub recommended: Option<Recommended>,
    /// The most that the system gets done, per second.
    pub ceiling: Option<Ceiling>,
    /// Where waiting begins, by each method.
    pub knees: Vec<Knee>,
    /// The method whose knee counts: its place in `knees`.
    pub knee: Option<usize>,
    /// The demand of one unit of work on each resource, ordered by which saturates first.
    pub demands: Vec<Demand>,
    /// The limiting resource; `None` where no observed resource comes near its limit.
    pub end: Option<End>,
    /// Whether the line was held on purpose.
    pub confirmation: Confirmation,
    /// Missing evidence and weaknesses of the answer.
    pub missing: Vec<Missing>,
}

/// The unit of load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LoadUnit {
    /// VUs that loop: a closed loop.
    #[default]
    Vus,
    /// Iterations started per second, whatever became of earlier ones.
    PerSecond,
}

impl LoadUnit {
    /// Its word for machines: `vus`, `per_second`.
    pub const fn as_str(self) -> &'static str {
        match self {
            LoadUnit::Vus => "vus",
            LoadUnit::PerSecond => "per_second",
        }
    }
}

/// One level of load.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The load.
    pub load: f64,
    /// Why it was measured.
    pub purpose: Purpose,
    /// The run, by its id; empty for a row of a table.
    pub run: String,
    /// Its name: the run's name, or its place in a table.
    pub name: String,
    /// VUs: those that looped, or those that were busy on average; `None` where that is unknown.
    pub vus: Option<f64>,
    /// Iterations finished per second, or whatever else the levels count as work.
    pub throughput_per_s: f64,
    /// Requests per second; `None` where they were not counted.
    pub requests_per_s: Option<f64>,
    /// The time that the levels are compared by, in seconds: the statistic of the first objective that is about a time, or
    /// the 95th percentile of `http_req_duration`.
    pub time_s: Option<f64>,
    /// The mean time of a piece of work, in seconds.
    pub mean_s: Option<f64>,
    /// The share of requests that failed.
    pub failed_share: Option<f64>,
    /// How long it was looked at, after its warm-up, in seconds.
    pub measured_s: Option<f64>,
    /// The validity grade of the measurement; `None` for a table, which has none.
    pub grade: Option<Grade>,
    /// Whether it decides anything. A level whose generator could not keep up does not.
    pub decides: bool,
    /// The measured values of the objectives, in their order.
    pub measured: Vec<Measured>,
    /// The judgement of the level.
    pub verdict: Verdict,
}

impl Level {
    /// Throughput ÷ time (L. Kleinrock, 1979); `None` without a time.
    pub fn power(&self) -> Option<f64> {
        self.time_s.filter(|time_s| *time_s > 0.0).map(|time_s| self.throughput_per_s / time_s)
    }
}

/// Why a level was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A load chosen by the user.
    #[default]
    Asked,
    /// To find the size of the line: each load is a multiple of the one before.
    Ramp,
    /// To narrow the line down.
    Narrow,
    /// To see the line's lower bound hold for longer.
    Hold,
    /// To see a load above the line break.
    Above,
    /// To see the load recover that was fine on the way up.
    Descent,
}

impl Purpose {
    /// All of them.
    pub const ALL: [Purpose; 6] =
        [Purpose::Asked, Purpose::Ramp, Purpose::Narrow, Purpose::Hold, Purpose::Above, Purpose::Descent];

    /// Its word for machines.
    pub const fn as_str(self) -> &'static str {
        match self {
            Purpose::Asked => "asked",
            Purpose::Ramp => "ramp",
            Purpose::Narrow => "narrow",
            Purpose::Hold => "hold",
            Purpose::Above => "above",
            Purpose::Descent => "descent",
        }
    }

    /// The purpose of this word.
    pub fn named(word: &str) -> Option<Purpose> {
        Purpose::ALL.into_iter().find(|purpose| purpose.as_str() == word)
    }
}

/// The judgement of a level of load, from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The lowest level: what the others are compared with.
    Baseline,
    /// More load brings more throughput, at a price worth it.
    Normal,
    /// Throughput ÷ time is at its largest (L. Kleinrock's power, 1979).
    Knee,
    /// Time grows faster than throughput.
    PastKnee,
    /// More load brings hardly more throughput.
    Saturated,
    /// An objective does not hold. Said before any word about saturation.
    SloExceeded,
    /// More load brings less throughput.
    Collapse,
    /// The measurement is of no use.
    Unknown,
}

impl Verdict {
    /// Its words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verdict::Baseline => "baseline",
            Verdict::Normal => "normal",
            Verdict::Knee => "knee",
            Verdict::PastKnee => "past the knee",
            Verdict::Saturated => "saturated",
            Verdict::SloExceeded => "SLO exceeded",
            Verdict::Collapse => "collapse",
            Verdict::Unknown => "unknown",
        }
    }

    /// Its name for machines.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Baseline => "baseline",
            Verdict::Normal => "normal",
            Verdict::Knee => "knee",
            Verdict::PastKnee => "past_knee",
            Verdict::Saturated => "saturated",
            Verdict::SloExceeded => "slo_exceeded",
            Verdict::Collapse => "collapse",
            Verdict::Unknown => "unknown",
        }
    }
}

/// Something that the system is held to.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    /// The metric: `http_req_duration`, `http_req_failed{name:login}`.
    pub selector: String,
    /// The condition as written: `p(95)<800`.
    pub condition: String,
    /// The statistic that is compared: `p(95)`, `rate`.
    pub statistic: String,
    /// With what: milliseconds of times, shares of rates.
    pub limit: f64,
    /// The unit of the limit.
    pub scale: Scale,
    /// The highest load that keeps this one.
    pub line: Option<Line>,
}

/// The unit of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scale {
    /// Milliseconds.
    Milliseconds,
    /// A share of 1.
    Share,
    /// Things, or things per second.
    #[default]
    Plain,
}

/// The measured value of an objective at a level.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The statistic in the unit of the limit; `None` where it lies among what failed or timed out, or nothing was measured.
    pub value: Option<f64>,
    /// The probability that the objective holds at this load, from what was seen: near 1 or near 0 is sure. `None` where
    /// nothing was seen.
    pub holds: Option<f64>,
}

/// From this probability on an objective holds surely, and up to its complement it surely does not.
pub const SURE: f64 = 0.95;

impl Measured {
    /// Whether the objective holds, more likely than not; `None` where nothing was seen.
    pub fn is_kept(&self) -> Option<bool> {
        self.holds.map(|holds| holds >= 0.5)
    }

    /// Whether that is sure.
    pub fn is_sure(&self) -> bool {
        self.holds.is_some_and(|holds| !(1.0 - SURE..SURE).contains(&holds))
    }
}

/// A number and where it lies with the confidence that its owner states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// The lower bound.
    pub lower: f64,
    /// The upper bound; infinite where nothing bounds it.
    pub upper: f64,
}

/// The highest load that meets the SLOs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The load. Where no level broke the objective it is the highest that was measured, and its upper bound is infinite; where
    /// none kept it, the lowest, and its lower bound is 0.
    pub load: Estimate,
    /// Where it lies.
    pub place: Place,
    /// How it was found.
    pub method: LineMethod,
    /// The coverage of the interval, such as 0.95; 0 where the bounds are only the neighbouring levels.
    pub confidence: f64,
    /// Work per second at the line.
    pub throughput_per_s: f64,
}

/// Where the line lies among the levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Some levels keep the objective, some break it.
    Inside,
    /// All levels keep it.
    AboveAll,
    /// All levels break it.
    BelowAll,
}

impl Place {
    /// Its word for machines.
    pub const fn as_str(self) -> &'static str {
        match self {
            Place::Inside => "inside",
            Place::AboveAll => "above_all",
            Place::BelowAll => "below_all",
        }
    }
}

/// How a line is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineMethod {
    /// Between the two levels around it, of a statistic that only rises (isotonic).
    Isotonic,
    /// The logarithm of the share that breaks the limit, fitted over load; the interval is where the fit does not exclude the limit.
    LogLinear,
}

impl LineMethod {
    /// Its word for machines.
    pub const fn as_str(self) -> &'static str {
        match self {
            LineMethod::Isotonic => "isotonic",
            LineMethod::LogLinear => "log_linear",
        }
    }
}

/// The load to plan for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recommended {
    /// The load.
    pub load: f64,
    /// The same in VUs; `None` where that is unknown.
    pub vus: Option<f64>,
    /// Work per second at it.
    pub throughput_per_s: f64,
    /// Requests per second at it; `None` where they were not counted.
    pub requests_per_s: Option<f64>,
    /// The part of the line's lower bound that it is.
    pub head_room: f64,
}

/// The most that a system gets done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceiling {
    /// Work per second. The bounds are those of the fits that there are, or of the fit's own interval.
    pub per_s: Estimate,
    /// The least throughput of the levels on the plateau.
    pub plateau_least_per_s: f64,
    /// The largest.
    pub plateau_most_per_s: f64,
    /// The time that a VU needs for one unit of work without queueing, think time included, in seconds: load ÷ throughput of
    /// the lowest level of a closed loop; 0 for open ones.
    pub cycle_s: f64,
}

/// Where waiting begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Knee {
    /// How it was found.
    pub method: KneeMethod,
    /// The load; `None` with the reason in `why`.
    pub load: Option<Estimate>,
    /// Why there is none, continuing "no knee: "; empty where there is one.
    pub why: &'static str,
}

/// How a knee is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KneeMethod {
    /// Where the no-waiting line meets the ceiling (P. J. Denning and J. P. Buzen, 1978).
    AsymptoticBounds,
    /// Where throughput ÷ time is largest (L. Kleinrock, 1979).
    Power,
    /// Where throughput over load is farthest from its chord (V. Satopää et al., 2011).
    Kneedle,
    /// Where two straight lines fit throughput over load best.
    TwoSegments,
    /// Where N. J. Gunther's universal scalability law has its largest throughput.
    Usl,
}

impl KneeMethod {
    /// Its word for machines.
    pub const fn as_str(self) -> &'static str {
        match self {
            KneeMethod::AsymptoticBounds => "asymptotic_bounds",
            KneeMethod::Power => "power",
            KneeMethod::Kneedle => "kneedle",
            KneeMethod::TwoSegments => "two_segments",
            KneeMethod::Usl => "usl",
        }
    }
}

/// The demand of one unit of work on a resource: U = D · X + U0 over the levels.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// The resource: the source, the signal and the labels.
    pub resource: String,
    /// The unit of usage, in UCUM.
    pub unit: String,
    /// Usage per piece of work, D.
    pub per_work: Estimate,
    /// Usage without work, U0.
    pub idle: f64,
    /// The limit of the resource; `None` where no source reported one.
    pub limit: Option<f64>,
    /// The throughput at which it is used up, per second; `None` without a limit.
    pub ceiling_per_s: Option<Estimate>,
    /// How many levels were fitted.
    pub levels: usize,
    /// The share of the variance that the line explains, from 0 to 1.
    pub fit: f64,
    /// Usage at the highest level as a share of the limit; `None` without one.
    pub used_share: Option<f64>,
}

/// The limit that ends it.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// The resource, as in the demands.
    pub resource: String,
    /// The throughput at which it is used up, per second.
    pub ceiling_per_s: Estimate,
    /// How much of it was used at the highest level, as a share.
    pub used_share: f64,
}

/// Whether the line was held on purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Confirmation {
    /// Not attempted.
    #[default]
    Untried,
    /// The lower bound held.
    Held {
        /// The load.
        load: f64,
        /// For how long, in seconds.
        for_s: f64,
        /// Whether a load above the line broke, as it should; `None` where none was tried.
        above_broke: Option<bool>,
        /// Whether the system recovered on the way down; `None` where that was not tried.
        recovered: Option<bool>,
    },
    /// It did not.
    Broke {
        /// The load.
        load: f64,
    },
}

/// Evidence that is missing, or that makes an answer weaker than it looks.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    /// Nothing was asked of the system.
    Objectives,
    /// Fewer levels than an answer needs.
    Levels {
        /// How many there are.
        have: usize,
        /// How many it takes.
        needed: usize,
    },
    /// No level broke an objective, so the line may be anywhere above.
    LoadAbove,
    /// No level kept all objectives, so the line may be anywhere below.
    LoadBelow,
    /// Levels that decide nothing, because the generator could not keep up.
    ValidLevels {
        /// How many.
        count: usize,
    },
    /// Levels with a fault that does not touch all objectives; the others count with less weight.
    FullWeight {
        /// How many.
        count: usize,
    },
    /// An objective that was not measured at any level: its place in the objectives.
    Measurement {
        /// Which.
        objective: usize,
    },
    /// No server-side metrics were collected, so no resource can be named.
    Evidence,
    /// Resources were observed, but none of them with its limit.
    Limits,
    /// The line was not held for longer.
    Hold,
    /// Each level was measured once, so that how much runs differ is not known.
    Repeats,
    /// A statistic falls while the load rises, by more than chance: something else changed, too.
    Monotony,
    /// The knees of the methods lie further apart than a factor of two.
    Agreement,
    /// The time for load was over before the line was as narrow as it was to be.
    Budget,
}

impl Missing {
    /// Its word for machines.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Missing::Objectives => "objectives",
            Missing::Levels { .. } => "levels",
            Missing::LoadAbove => "load_above",
            Missing::LoadBelow => "load_below",
            Missing::ValidLevels { .. } => "valid_levels",
            Missing::FullWeight { .. } => "full_weight",
            Missing::Measurement { .. } => "measurement",
            Missing::Evidence => "evidence",
            Missing::Limits => "limits",
            Missing::Hold => "hold",
            Missing::Repeats => "repeats",
            Missing::Monotony => "monotony",
            Missing::Agreement => "agreement",
            Missing::Budget => "budget",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purposes_are_found_by_their_words() {
        for purpose in Purpose::ALL {
            assert_eq!(Purpose::named(purpose.as_str()), Some(purpose));
        }
        assert_eq!(Purpose::named("porpoise"), None);
    }

    #[test]
    fn what_is_seen_is_kept_or_broken_and_sure_or_not() {
        for (holds, is_kept, is_sure) in [
            (Some(0.99), Some(true), true),
            (Some(0.6), Some(true), false),
            (Some(0.4), Some(false), false),
            (Some(0.01), Some(false), true),
            (None, None, false),
        ] {
            let measured = Measured { value: None, holds };
            assert_eq!((measured.is_kept(), measured.is_sure()), (is_kept, is_sure), "{holds:?}");
        }
    }
}
