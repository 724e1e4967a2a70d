//! What detectors look at, and what they say in common.

use model::diagnosis::{
    CostClass, EvidenceQuery, ExemplarLink, Hypothesis, Measured, Missing, Prediction, Role, RuledOut,
};
use model::{Figure, FigureValue, Signal, SignalId, SignalRole, SpanKind, Strength, Unit};
use stats::normal_quantile;
use std::time::Duration;

use super::case::{Case, Level};
use super::ceilings::Ceiling;
use super::detectors::LABELS;
use super::paths::{Paths, Shown, Step, StepKey};
use super::stalls::Stalls;
use super::{ceilings, series, stalls};

/// Latency has grown with load where it is so many times that of the lowest load.
const GROWTH_MIN: f64 = 1.2;

/// Shares are never surer than this share of themselves: traces are of one run.
const RELATIVE_MIN: f64 = 0.1;

/// Less than this of a resource frees nothing, and no remedy frees more than that.
const FREED_MIN: f64 = 0.05;
const FREED_MAX: f64 = 0.95;

/// Waits for a turn of this share of the time say that what is waited for is all taken.
pub(super) const WAITS_MIN: f64 = 0.15;

/// What else differs from run to run, and how little is known of a ceiling, as shares of a rate.
const BETWEEN_RUNS: f64 = 0.05;
const OF_CEILING: f64 = 0.1;

/// Where no limit of anything was told, no more than so many times what goes through now is promised.
const PROMISED_MAX: f64 = 2.0;

/// The confidence of predictions.
const CONFIDENCE: f64 = 0.9;

/// A case, with what its traces add up to.
pub(super) struct View<'a> {
    /// All of it.
    pub(super) case: &'a Case,
    /// The index of the run that is looked at: that of the highest load.
    pub(super) run: usize,
    /// That run.
    pub(super) level: &'a Level,
    /// The run of the lowest load, where there is another.
    pub(super) low: Option<&'a Level>,
    /// What the traces of the run say.
    pub(super) paths: Paths,
    /// What those of the lowest load say, where it has any.
    pub(super) low_paths: Option<Paths>,
    /// The stalls of the service that stood still for longest, where one did.
    pub(super) stalls: Option<Stalls>,
}

/// What a remedy takes away: a share of the time of requests, and of the work of a resource that everybody waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gone {
    /// Of the time.
    pub(super) share: f64,
    /// Of the work.
    pub(super) freed: f64,
}

/// What a detector says.
pub(super) enum Says {
    /// It is so.
    Found(Box<Hypothesis>, Depth),
    /// It was looked at and is not so.
    RuledOut(RuledOut),
    /// It cannot be looked at.
    Missing(Missing),
}

/// How near a claim is to what somebody did, in ascending order: that a processor is at its limit follows from a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Depth {
    /// A resource is used up.
    Resource,
    /// Something takes the time, and nothing says that it should not.
    Part,
    /// Something that somebody wrote or set.
    Cause,
}

/// A detector.
pub(super) type Detector = fn(&View<'_>) -> Vec<Says>;

impl<'a> View<'a> {
    /// Of the run of the highest load, which is the last; none without a run.
    pub(super) fn of(case: &'a Case) -> Option<View<'a>> {
        let run = case.levels.len().checked_sub(1)?;
        let (level, low) = (&case.levels[run], case.levels.first().filter(|_| run > 0));
        let low_paths = low.map(|low| Paths::of(&low.traces)).filter(|paths| paths.traces > 0);
        let mut view =
            View { case, run, level, low, paths: Paths::of(&level.traces), low_paths, stalls: None };
        view.stalls = stalls::of(&view);
        Some(view)
    }

    /// How many requests, or tasks, each trace stands for: traces begin with what the test sent.
    pub(super) fn weight(&self) -> f64 {
        let sent = self.level.tasks.as_ref().map_or(self.level.requests.count, |tasks| tasks.done);
        (sent as f64 / self.paths.traces.max(1) as f64).max(1.0)
    }

    /// The share of the time that is outside of all spans: on the way, or at the door of a service that does not take it yet.
    pub(super) fn share_outside(&self) -> f64 {
        if self.paths.traces == 0 || self.level.tasks.is_some() { 0.0 } else { 1.0 - self.share_traced() }
    }

    /// The share of the time in which a service stands still, as the kernel tells or traces show.
    pub(super) fn share_still(&self) -> f64 {
        let told = self.sum_of_means(&[SignalId::ContainerThrottledTime]).unwrap_or(0.0);
        let seen = self.stalls.as_ref().map_or(0.0, |stalls| stalls.share);
        told.max(seen).clamp(0.0, 1.0)
    }

    /// The share of the time in which what waits inside a service waits for the service itself: it stands still, or it is held to
    /// a quota that it uses up in so many of its periods.
    pub(super) fn share_held(&self) -> f64 {
        let throttled = self.signals(&[SignalId::ContainerThrottled]).into_iter();
        let held = throttled.filter_map(|signal| series::mean(self.level, signal)).fold(0.0, f64::max);
        self.share_still().max(held).min(1.0)
    }

    /// The share of the time of requests that is waiting for a turn.
    pub(super) fn share_of_waits(&self) -> f64 {
        self.share_of_paths(waits_ns(&self.paths))
    }

    /// These signals, in the order of the evidence.
    pub(super) fn signals(&self, ids: &[SignalId]) -> Vec<&'a Signal> {
        let all = self.level.evidence.signals.iter();
        all.filter(|signal| signal.name.id().is_some_and(|id| ids.contains(&id))).collect()
    }

    /// The mean of each of these signals, added up.
    pub(super) fn sum_of_means(&self, ids: &[SignalId]) -> Option<f64> {
        let means = self.signals(ids).into_iter().filter_map(|signal| series::mean(self.level, signal));
        means.reduce(|a, b| a + b)
    }

    /// The highest sum of means among the signals of a role, which report the same thing.
    pub(super) fn highest_of_means(&self, role: SignalRole) -> Option<f64> {
        role.signals().into_iter().filter_map(|id| self.sum_of_means(&[id])).reduce(f64::max)
    }

    /// The question that asks for a signal again.
    pub(super) fn query(&self, signal: &Signal) -> EvidenceQuery {
        EvidenceQuery {
            source: signal.source.clone(),
            signal: signal.name.to_string(),
            text: signal.query.clone(),
            run: self.run,
            from: self.level.from(),
            to: self.level.to(),
            step: signal.step,
            points: series::inside(self.level, signal).len() as u64,
        }
    }

    /// Traces that show it.
    pub(super) fn exemplars(&self, slowest: &[Shown]) -> Vec<ExemplarLink> {
        let link = |one: &Shown| ExemplarLink::Trace {
            run: self.run,
            id: one.id,
            duration: Duration::from_nanos(one.length_ns),
        };
        slowest.iter().map(link).collect()
    }

    /// Of the time of what was finished, the share in which so many of those under way wait (Little's law: both are rates of
    /// the same throughput).
    pub(super) fn share_of_waiting(&self, waiting: f64) -> f64 {
        let in_flight = self.level.in_flight();
        if in_flight > 0.0 { (waiting / in_flight).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Of the time that the test measured, the share of so many nanoseconds of all critical paths.
    pub(super) fn share_of_paths(&self, ns: f64) -> f64 {
        self.paths.share(ns) * self.share_traced()
    }

    /// The share of the measured time that traces tell of: what lies outside of them is the network's, or nobody's.
    pub(super) fn share_traced(&self) -> f64 {
        match self.level.requests.mean_s {
            Some(mean_s) if self.level.tasks.is_none() && mean_s > 0.0 => {
                (self.paths.mean_s() / mean_s).clamp(0.0, 1.0)
            }
            _ => 1.0,
        }
    }

    /// What an operation explains: of the growth between the lowest load and the highest where latency grew, else of the time.
    pub(super) fn explained_by(&self, key: &StepKey, step: &Step) -> f64 {
        self.growth_of(key, step).unwrap_or_else(|| self.share_of_paths(step.own_ns))
    }

    fn growth_of(&self, key: &StepKey, step: &Step) -> Option<f64> {
        let low = self.low_paths.as_ref()?;
        let (mean_s, low_mean_s) = (self.paths.mean_s(), low.mean_s());
        if mean_s < low_mean_s * GROWTH_MIN {
            return None;
        }
        let per_trace = |step: &Step, paths: &Paths| step.own_ns / paths.traces.max(1) as f64 / 1e9;
        let before_s = low.steps.get(key).map_or(0.0, |step| per_trace(step, low));
        Some(((per_trace(step, &self.paths) - before_s) / (mean_s - low_mean_s)).clamp(0.0, 1.0))
    }

    /// How many times as long everything takes at the highest load as at the lowest; none with one load only.
    pub(super) fn growth(&self) -> Option<f64> {
        let (high_s, low_s) = (self.level.mean_s()?, self.low?.mean_s()?);
        (low_s > 0.0).then(|| high_s / low_s)
    }

    /// Whether more load makes it slower; none where nobody can tell.
    pub(super) fn grows(&self) -> Option<bool> {
        self.growth().map(|growth| growth >= GROWTH_MIN)
    }

    /// The interval of a share that so many traces show; without traces it is known by Little's law, of everything under way.
    pub(super) fn share_interval(&self, share: f64) -> (f64, f64) {
        let of_traces =
            |traces: f64| normal_quantile(0.5 + CONFIDENCE / 2.0) * (share * (1.0 - share) / traces).sqrt();
        let half = if self.paths.traces == 0 { 0.0 } else { of_traces(self.paths.traces as f64) };
        let half = half.max(share * RELATIVE_MIN);
        ((share - half).max(0.0), (share + half).min(1.0))
    }

    /// What follows where so much of the time is no longer there: more goes through where users go round and round, and what
    /// goes through is faster where it comes by plan.
    pub(super) fn without(&self, share: f64, change: &str) -> Option<Prediction> {
        let ceiling = ceilings::lowest_above(self, self.level.throughput_per_s());
        self.predicted((share, share), change, ceiling, None)
    }

    /// The same where what goes also frees so much of a resource that everybody waits for.
    pub(super) fn without_work(&self, gone: Gone, change: &str) -> Option<Prediction> {
        self.without_between(gone, gone, change)
    }

    /// The same where at least the one goes and at most the other. Where it frees next to nothing, it is only no longer there.
    pub(super) fn without_between(&self, least: Gone, most: Gone, change: &str) -> Option<Prediction> {
        if least.freed < FREED_MIN {
            return self.without(least.share, change);
        }
        self.predicted((least.share, most.share), change, None, Some((least.freed, most.freed)))
    }

    /// The same where so much of the time was spent while others waited for their turn: of their waits its part of all that is
    /// done goes with it (a queue is shared out by what each demands; utilisation law).
    pub(super) fn without_holding(&self, share: f64, change: &str) -> Option<Prediction> {
        let waits = self.share_of_waits();
        if waits < WAITS_MIN {
            return self.without(share, change);
        }
        let demand = (share / (self.share_traced() - waits).max(share)).min(1.0);
        self.without_work(Gone { share: (share + waits * demand).min(1.0), freed: demand }, change)
    }

    /// Of a resource with the share `freed` of its work gone, 1 / (1 - freed) times as much goes through (utilisation law), as long
    /// as there are users: as many go round as there are, and no faster than without any wait.
    fn predicted(
        &self,
        shares: (f64, f64),
        change: &str,
        ceiling: Option<Ceiling>,
        freed: Option<(f64, f64)>,
    ) -> Option<Prediction> {
        let (mean_s, through) = (self.level.mean_s()?, self.level.throughput_per_s());
        let share = shares.0.midpoint(shares.1);
        if mean_s <= 0.0 || through <= 0.0 || share <= 0.0 {
            return None;
        }
        let (low, high) = (self.share_interval(shares.0).0, self.share_interval(shares.1).1);
        let command = self.level.command.clone();
        let Some(vus) = self.level.closed_vus else {
            let after_s = |share: f64| mean_s * (1.0 - share);
            return Some(Prediction {
                change: change.to_owned(),
                now: Some(Measured::exact(Figure::new("mean time", mean_s, Unit::Seconds))),
                then: Some(Measured::within(
                    Figure::new("mean time", after_s(share), Unit::Seconds),
                    (after_s(high), after_s(low)),
                )),
                next_limit: "whatever takes most of the rest".to_owned(),
                wrong_if: format!("the mean time stays above {}", time(after_s(low))),
                command,
            });
        };
        let cycle_s = vus / through;
        let after = |share: f64| vus / (cycle_s - mean_s.min(cycle_s) * share).max(f64::MIN_POSITIVE);
        let cap = |rate: f64| ceiling.as_ref().map_or(rate, |ceiling| rate.min(ceiling.per_s.max(through)));
        let (mut least, mut most) = (cap(after(low)), cap(after(high)));
        let mut then = cap(after(share));
        if let Some(freed) = freed {
            let by_law = |freed: f64| (through / (1.0 - freed.min(FREED_MAX))).min(after(1.0));
            least = least.min(by_law(freed.0 * (1.0 - RELATIVE_MIN)) * (1.0 - OF_CEILING));
            most = most.max(by_law(freed.1 * (1.0 + RELATIVE_MIN)) * (1.0 + OF_CEILING));
            then = by_law(freed.0).midpoint(by_law(freed.1));
        } else if ceiling.as_ref().is_some_and(|ceiling| after(high) > ceiling.per_s) {
            (least, most) = (least.min(then * (1.0 - OF_CEILING)), most.max(then * (1.0 + OF_CEILING)));
        } else if ceiling.is_none() && least > through * PROMISED_MAX {
            // Something else limits on the way there, or nothing does: that is anywhere between.
            least = through * PROMISED_MAX;
            then = (least * most).sqrt();
        }
        (least, most) = (least * (1.0 - BETWEEN_RUNS), most * (1.0 + BETWEEN_RUNS));
        let next_limit = match &ceiling {
            Some(ceiling) if after(share) > ceiling.per_s => {
                format!("{}: {} at most", ceiling.name, Figure::new("", ceiling.per_s, Unit::PerSecond).value)
            }
            Some(ceiling) => {
                format!("the number of users; beyond them {} at {}", ceiling.name, rate(ceiling.per_s))
            }
            None if freed.is_some() => "the number of users, or what takes most of the rest".to_owned(),
            None => "not known: no use of a resource was told against its limit".to_owned(),
        };
        Some(Prediction {
            change: change.to_owned(),
            now: Some(Measured::exact(Figure::new("throughput", through, Unit::PerSecond))),
            then: Some(Measured::within(Figure::new("throughput", then, Unit::PerSecond), (least, most))),
            next_limit,
            wrong_if: format!("throughput stays below {}", rate(least)),
            command,
        })
    }
}

/// A span that waits for its turn.
pub(super) fn is_wait(key: &StepKey) -> bool {
    let operation = key.operation.to_lowercase();
    key.kind == SpanKind::Internal && ["wait", "queue"].iter().any(|word| operation.contains(word))
}

/// How long critical paths wait for a turn.
pub(super) fn waits_ns(paths: &Paths) -> f64 {
    paths.steps.iter().filter(|(key, _)| is_wait(key)).map(|(_, step)| step.own_ns).sum()
}

/// A hypothesis of which only the names are known.
pub(super) fn draft(detector: &'static str, label: &'static str, place: impl Into<String>) -> Hypothesis {
    debug_assert!(LABELS.contains(&label), "{label} is not among the labels");
    Hypothesis {
        detector,
        label,
        place: place.into(),
        title: String::new(),
        summary: String::new(),
        claim: String::new(),
        role: Role::Limits,
        strength: Strength::Pattern,
        explains: None,
        numbers: Vec::new(),
        demand: None,
        queries: Vec::new(),
        exemplars: Vec::new(),
        ruled_out: Vec::new(),
        flags: Vec::new(),
        caveats: Vec::new(),
        remedy: String::new(),
        cost: CostClass::Logic,
        prediction: None,
    }
}

/// A number and what it counts, as sure as it is.
pub(super) fn exact(name: &str, value: f64, unit: Unit) -> Measured {
    Measured::exact(Figure::new(name, value, unit))
}

/// What was looked at and is not so.
pub(super) fn not(what: &str, why: impl Into<String>, number: impl Into<String>) -> Says {
    Says::RuledOut(RuledOut { what: what.to_owned(), why: why.into(), number: number.into() })
}

/// What cannot be looked at.
pub(super) fn missing(what: &str, tells: &str, connect: &str) -> Says {
    Says::Missing(Missing { what: what.to_owned(), tells: tells.to_owned(), connect: connect.to_owned() })
}

/// Seconds, as people say them.
pub(super) fn time(seconds: f64) -> String {
    value(seconds, Unit::Seconds)
}

/// So many per second, as people say them.
pub(super) fn rate(per_s: f64) -> String {
    value(per_s, Unit::PerSecond)
}

/// A number of things, as people say it.
pub(super) fn count(count: f64) -> String {
    value(count, Unit::Count)
}

/// A share of 1 as percent, without decimals from ten on.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() >= 10.0 || percent == 0.0 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// Three digits are as many as a measurement of one run is worth.
fn value(value: f64, unit: Unit) -> String {
    // A sum of nothing is a zero below zero.
    let value = value + 0.0;
    let digits = if value.abs() > 0.0 && value.is_finite() {
        let scale = 10_f64.powi(2 - value.abs().log10().floor() as i32);
        (value * scale).round() / scale
    } else {
        value
    };
    FigureValue::Number { value: digits, unit }.to_string()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{flat, level, request, sampled, span};
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!([time(0.123_456), rate(421.43), count(69.227)], ["123 ms", "421/s", "69.2"]);
        assert_eq!([percent(0.634), percent(0.012), percent(0.0)], ["63 %", "1.2 %", "0 %"]);
    }

    #[test]
    fn users_who_go_round_go_faster_and_plans_do_not() {
        let mut level = level(10, 100, 0.1);
        let case = |level: &Level| Case { levels: vec![level.clone()] };
        let open = case(&level);
        let prediction = View::of(&open).expect("a run").without(0.5, "x").expect("a time");
        assert_eq!(prediction.then.expect("a time").figure, Figure::new("mean time", 0.05, Unit::Seconds));
        level.closed_vus = Some(20.0);
        let closed = case(&level);
        let prediction = View::of(&closed).expect("a run").without(0.5, "x").expect("a time");
        // A round of 200 ms, of which 50 ms go.
        let then = prediction.then.expect("a rate");
        assert_eq!(then.figure.value.to_string(), "133.3/s");
        let (low, high) = then.interval.expect("an interval");
        assert!(low < 133.0 && high > 134.0, "{low} {high}");
    }

    #[test]
    fn no_more_than_twice_as_much_is_promised_where_no_limit_was_told() {
        let mut level = level(10, 100, 0.1);
        level.closed_vus = Some(10.5);
        let of = |level: &Level, share| {
            let case = Case { levels: vec![level.clone()] };
            let prediction = View::of(&case).expect("a run").without(share, "x").expect("a rate");
            let then = prediction.then.expect("a rate");
            let FigureValue::Number { value, .. } = then.figure.value else { panic!("a number") };
            (value.round(), then.interval.map(|(low, high)| (low.round(), high.round())))
        };
        // A round of 105 ms, of which 90 ms go or less or more.
        assert_eq!(of(&level, 0.9), (592.0, Some((190.0, 1838.0))));
        assert_eq!(of(&level, 0.4), (162.0, Some((145.0, 181.0))));
        // A core of which a tenth is used bears ten times as much.
        level.evidence.signals = vec![flat("core_cpu", &[("core", "1")], 10, 0.1)];
        assert_eq!(of(&level, 0.9).0, 700.0);
    }

    #[test]
    fn what_is_held_while_others_wait_goes_with_its_part_of_their_waits() {
        let of = |number| {
            let mut spans = request("shop", "GET /", 100.0, &[("update app", 60.0, 40.0)]);
            spans.push(span(9, 1, "shop", "wait for a connection", 0.0, 60.0));
            sampled(number, spans)
        };
        let mut level = level(10, 100, 0.1);
        level.traces = (0..20).map(of).collect();
        level.closed_vus = Some(20.0);
        let case = Case { levels: vec![level] };
        let view = View::of(&case).expect("a run");
        let then = |prediction: Option<Prediction>| prediction.and_then(|it| it.then).expect("a rate");
        // A quarter of the 40 ms of work: with it a quarter of the waits would go, and a third more goes through.
        let held = then(view.without_holding(0.1, "x"));
        assert_eq!(held.figure.value.to_string(), "133.3/s");
        // All of the work: users go round in what they think.
        let all = then(view.without_holding(0.4, "x"));
        assert_eq!(all.figure.value.to_string(), "200/s");
        let (low, high) = all.interval.expect("an interval");
        assert!(low < 200.0 && high > 200.0 && high < 240.0, "{low} {high}");
    }

    #[test]
    fn growth_is_shared_out_among_what_grew() {
        let (mut low, mut high) = (level(10, 10, 0.05), level(10, 100, 0.1));
        low.traces =
            (0..9).map(|at| sampled(at, request("shop", "GET /", 50.0, &[("q", 0.0, 10.0)]))).collect();
        high.traces =
            (0..9).map(|at| sampled(at, request("shop", "GET /", 100.0, &[("q", 0.0, 50.0)]))).collect();
        let case = Case { levels: vec![low, high] };
        let view = View::of(&case).expect("a run");
        let told: Vec<_> = view
            .paths
            .steps
            .iter()
            .map(|(key, step)| (&*key.operation, view.explained_by(key, step)))
            .collect();
        assert_eq!(told[0].0, "GET /");
        assert!((told[0].1 - 0.2).abs() < 1e-9 && (told[1].1 - 0.8).abs() < 1e-9, "{told:?}");
        assert_eq!((view.growth(), view.grows()), (Some(2.0), Some(true)));
    }
}
